"""Outline a clause: its subject, its verb and what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from tacit.learning.corrections.cues import (
    CorrectionCues,
    TypedValue,
    WordToken,
    find_values,
    load_cues,
    restate_known,
    tokenize,
)
from tacit.learning.extraction.locale import Locale, load_locale

# The outline of a clause: whom or what it is about, its verb, and what it says of them.

POSSESSIVE_ENDING = "'s"
_FINITE_MIN_CHARS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseOutline:
    text: str
    words: tuple[WordToken, ...]
    speaks: bool  # the speaker is its subject, or no person is named: "sold the car"
    referring: bool  # its subject is a pronoun, which another clause explains
    owned: bool  # its subject is the speaker's: "my phone"
    other: str | None  # its subject is another person's: "Karim's phone"
    subject: tuple[str, ...]  # stems, () for the speaker and for pronouns
    plain: tuple[str, ...]  # the subject as it was written
    verb: str | None  # its stem
    negated: bool
    preposition: str | None
    start: int  # where what it says begins, as a position among the words
    end: int
    explained: bool  # the clause before told what its pronoun means
    role: bool  # said the other way round: "Ivo is my boss"
    past: bool  # it tells of something that happened: "bought a tent"
    settings: frozenset[str]  # "at work", "in the evening"
    sides: frozenset[str]  # "work" of "work phone"
    added: bool  # "also", "too": it stands beside the rest
    over: bool  # it was so once: "used to live in Leeds"
    values: tuple[TypedValue, ...]
    stems: frozenset[str]  # of the words that tell something

    @property
    def said(self) -> tuple[WordToken, ...]:
        return self.words[self.start : self.end]

    @property
    def stated(self) -> bool:
        """Whether it says of whom or what it tells, in words of its own message."""
        named = bool(self.subject) and (not self.referring or self.explained)
        left_out = self.past and not self.referring  # "sold the boat"
        return self.verb is not None and (self.speaks or named or left_out)

    @property
    def segment(self) -> str:
        return self.text[self.words[0].start : self.words[-1].end] if self.words else ""

    @property
    def said_text(self) -> str:
        if self.start >= self.end:
            return ""
        return self.text[self.words[self.start].start : self.words[self.end - 1].end]


def is_finite(word: WordToken, own: CorrectionCues) -> bool:
    if word.low in own.words["be"] or word.low in own.words["auxiliaries"]:
        return True
    if word.low.endswith(tuple(own.words["finite_any"])) and len(word.low) > _FINITE_MIN_CHARS:
        return True
    inflected = word.low.endswith(tuple(own.words["finite_endings"])) or word.low in own.irregular
    return inflected and word.stem in own.words["verbs"]


def is_finite_at(words: tuple[WordToken, ...], position: int, own: CorrectionCues) -> bool:
    if position >= len(words):
        return False
    word = words[position]
    if word.low != POSSESSIVE_ENDING:
        return is_finite(word, own)
    before, after = words[position - 1], words[position + 1] if position + 1 < len(words) else None
    if before.low in own.words["pronouns"]:
        return True
    if after is None:
        return False
    return after.low in own.words["after_is"] or _participle_at(words, position + 1, own)


def _participle_at(words: tuple[WordToken, ...], position: int, own: CorrectionCues) -> bool:
    """ "Tim's retired", and not "Tim's shared flat"."""
    low = words[position].low
    aged = low.isdecimal() or low in own.words["number_words"]
    past = low.endswith("ed") and len(low) > _FINITE_MIN_CHARS
    if not (aged or past or low in own.words["done"]):
        return False
    ahead = words[position + 1] if position + 1 < len(words) else None
    if ahead is None or not ahead.low[:1].isalnum():
        return True
    plain = own.among("small", "prepositions", "adverbs")
    return ahead.low in plain


# Reads a clause from left to right: its subject, its verb, and the rest.

_SUBJECT_MAX_COUNT = 8  # words


def outline_clause(text: str, words: tuple[WordToken, ...], own: CorrectionCues, language: Locale) -> ClauseOutline:
    reading = _Reader(text, words, own)
    return reading.gist(find_values(words, own, language))


class _Reader:
    """Reads the subject, the verb and the rest of one clause, from left to right."""

    def __init__(self, text: str, words: tuple[WordToken, ...], own: CorrectionCues) -> None:
        self.text, self.words, self.own = text, words, own
        self.at = 0
        self.verb_at = -1  # where the verb of a noun is
        self.speaks = self.referring = self.owned = False
        self.negated = self.role = self.past = False
        self.other: str | None = None
        self.subject: tuple[WordToken, ...] = ()

    def gist(self, found: tuple[TypedValue, ...]) -> ClauseOutline:
        own = self.own
        self._skip("openers")
        self._skip_to_subject()
        self._read_subject()
        verb = self._read_verb()
        if verb in own.words["moved_me"] and self._low() in own.words["speaker"]:
            # "They put me on the day shift" says where the speaker is.
            self.speaks, self.subject, verb = True, (), min(own.words["being"])
            self.referring = self.past = False
            self.at += 1
        if not self.speaks and self._low() in own.words["nominative"]:
            self.speaks, self.subject = True, ()  # "Morgens trinke ich Kaffee"
            self.at += 1
        preposition = None
        if verb in own.words["posted"] and self._low() in own.words["as"]:
            verb = min(own.words["being"])  # who works as a nurse is one
            self.at += 1
        elif self._low() in own.words["prepositions"]:
            preposition = self._low()
            self.at += 1
        self._skip("fillers")
        start, end = self.at, self._end()
        if (
            verb in own.words["being"]
            and preposition is None
            and self.subject
            and not self.owned
            and self._low() in own.words["mine"]
        ):
            return self._turned_round(found, verb, end)
        return self._made(found, verb, preposition, start, end)

    def _turned_round(self, found: tuple[TypedValue, ...], verb: str, end: int) -> ClauseOutline:
        """ "Ivo is my boss" says of the boss that it is Ivo."""
        holder = self.subject
        first = self.words.index(holder[0])
        self.at += 1
        self.subject = self._nouns(self.words[self.at : end])
        self.owned = self.role = True
        return self._made(found, verb, None, first, first + len(holder))

    def _made(
        self, found: tuple[TypedValue, ...], verb: str | None, preposition: str | None, start: int, end: int
    ) -> ClauseOutline:
        small = self.own.words["small"]
        return ClauseOutline(
            text=self.text,
            words=self.words,
            speaks=self.speaks,
            referring=self.referring,
            owned=self.owned,
            other=self.other,
            subject=tuple(word.stem for word in self.subject),
            plain=tuple(word.text for word in self.subject),
            verb=verb,
            negated=self.negated,
            preposition=preposition,
            start=start,
            end=max(start, end),
            explained=False,
            role=self.role,
            past=self.past,
            settings=self._found("setting"),
            sides=self._found("side"),
            added=self.own.has("additive", self._text()),
            over=self.own.has("once", self._text()),
            values=found,
            stems=frozenset(
                word.stem
                for word in self.words
                if word.low not in small and word.low[:1].isalnum() and len(word.low) > 1
            ),
        )

    def _found(self, pattern: str) -> frozenset[str]:
        matches = self.own.patterns[pattern].finditer(self._text())
        return frozenset(match[0].casefold() for match in matches)

    def _text(self) -> str:
        return self.text[self.words[0].start : self.words[-1].end] if self.words else ""

    def _low(self, ahead: int = 0) -> str:
        position = self.at + ahead
        return self.words[position].low if position < len(self.words) else ""

    def _skip(self, *lists: str) -> None:
        while self.at < len(self.words) and any(self.words[self.at].low in self.own.words[name] for name in lists):
            self.at += 1

    def _skip_to_subject(self) -> None:
        """ "As of May my rate is …", "believe it or not I like …": the subject comes later."""
        own = self.own.words
        opens = self.own.among("speaker", "mine", "articles", "theirs", "pronouns")
        led = self._low() in own["leading"] and not is_finite_at(self.words, self.at + 1, self.own)
        if self._low() in opens and not led:
            return
        later = self.own.among("nominative", "mine") if led else own["nominative"]
        for position in range(self.at + 1, min(len(self.words), self.at + _SUBJECT_MAX_COUNT)):
            if self.words[position].low in later:
                self.at = position
                return

    def _read_subject(self) -> None:
        own = self.own
        if self._low() in own.words["speaker"]:
            self.speaks = True
            self.at += 1
        elif self._low() in own.words["pronouns"] and is_finite_at(self.words, self.at + 1, own):
            self.referring = True
            self.at += 1
        elif self.at < len(self.words) and self._first_is_verb():
            # "Sold the car" is the speaker's; "move the meeting" is an order.
            word = self.words[self.at]
            self.speaks = self._happened(word) or self._participle(word)
        else:
            self._read_noun()

    def _first_is_verb(self) -> bool:
        word = self.words[self.at]
        known = word.stem in self.own.words["verbs"] and word.low not in self.own.words["be"]
        if word.low.endswith(tuple(self.own.words["third_endings"])):
            return False  # "works for me" says it of something else
        return known and not is_finite_at(self.words, self.at + 1, self.own)

    def _read_noun(self) -> None:
        if self._low() in self.own.words["mine"]:
            self.owned = True
            self.at += 1
        verb = self._verb_after(self.at)
        if verb is None:
            if self.owned or self._low() in self.own.words["passing_mods"]:
                self.subject = self._nouns(self.words[self.at :])
                self.at = len(self.words)
            return
        nouns = self.words[self.at : verb]
        for position, word in enumerate(nouns):
            if word.low in (POSSESSIVE_ENDING, "'") and position:
                self.other = nouns[position - 1].stem
        self.subject = self._nouns(nouns)
        self.at = self.verb_at = verb

    def _nouns(self, words: tuple[WordToken, ...]) -> tuple[WordToken, ...]:
        own = self.own.words
        dropped = self.own.among("articles", "theirs", "passing_mods", "adverbs", "mine", "joining", "titles")
        found = tuple(word for word in words if word.low not in dropped and word.low[:1].isalnum())
        # "The launch date" is when the launch is.
        return found[:-1] if len(found) > 1 and found[-1].stem in own["hollow"] else found

    def _verb_after(self, start: int) -> int | None:
        """Where the verb of a noun is: a finite form if there is one, else any verb."""
        window = range(start + 1, min(len(self.words), start + _SUBJECT_MAX_COUNT))
        for position in window:
            if is_finite_at(self.words, position, self.own):
                return position
        for position in window:
            if self.words[position].stem in self.own.words["verbs"]:
                return position
        # An unknown verb: "the choir rehearses at …".
        endings, plain = tuple(self.own.words["third_endings"]), self.own.words["prepositions"]
        for position in window:
            ahead = self.words[position + 1].low if position + 1 < len(self.words) else ""
            if self.words[position].low.endswith(endings) and ahead in plain:
                return position
        return None

    def _read_verb(self) -> str | None:
        own = self.own
        verb: str | None = None
        while self.at < len(self.words):
            word = self.words[self.at]
            if word.low in own.words["negations"]:
                self.negated = True
            elif word.low in own.words["adverbs"]:
                pass
            elif word.low in own.words["auxiliaries"] or word.low in own.words["be"]:
                # "I've got two dogs" says that a person has them.
                has = verb in own.words["having"]
                self.past = word.low in own.words["past"] and not has
                verb = verb if has else word.stem
            elif self._is_verb(word, verb):
                self.at += 1
                self.past = verb is None and self._happened(word)
                particle = self._low() if word.stem in own.words["phrasal"] else ""
                self._skip("particles")
                while self._low() in own.among("adverbs", "negations"):
                    self.negated = self.negated or self._low() in own.words["negations"]
                    self.at += 1
                begun = self._begun(word)
                whole = particle in own.words["particles"] and begun == word.stem
                return f"{word.stem} {particle}" if whole else begun  # getting up is no getting
            else:
                break
            self.at += 1
        return verb

    def _is_verb(self, word: WordToken, before: str | None) -> bool:
        if word.stem not in self.own.words["verbs"]:
            known = is_finite(word, self.own) or (bool(self.subject) and self.at == self.verb_at)
            return before is None and (known or self._after_speaker(word))
        return before is None or before in self.own.words["before_verbs"] or self._participle(word)

    def _after_speaker(self, word: WordToken) -> bool:
        """ "We rehearse at the hall": what follows "I" or "we" is a verb, whatever it is."""
        own = self.own.words
        if not self.speaks or not self.at or not word.low.isalpha():
            return False
        if self.words[self.at - 1].low not in own["nominative"]:
            return False
        lists = ("small", "prepositions", "articles", "joining")
        return not any(word.low in own[name] for name in lists)

    def _begun(self, word: WordToken) -> str:
        """ "Gone back to preferring tea" is about what is preferred."""
        if word.stem in self.own.words["phasal"]:
            for position in range(self.at, min(len(self.words), self.at + 3)):
                ahead = self.words[position]
                if self._participle(ahead) and ahead.stem in self.own.words["verbs"]:
                    self.at = position + 1
                    return ahead.stem
        return word.stem

    def _participle(self, word: WordToken) -> bool:
        low = word.low
        return low.endswith(tuple(self.own.words["participles"])) or low in self.own.irregular

    def _happened(self, word: WordToken) -> bool:
        return word.low.endswith("ed") or word.low in self.own.words["past"]

    def _end(self) -> int:
        if self.at >= len(self.words):
            return self.at
        # From the first word of what is said on: a tail has something before it.
        start = self.words[self.at].start
        last = self.own.patterns["tail"].search(self.text, start, self.words[-1].end)
        stop = last.start() if last else self.words[-1].end
        end = self.at
        while end < len(self.words) and self.words[end].end <= stop:
            end += 1
        while end > self.at and not self.words[end - 1].low[-1:].isalnum():
            end -= 1
        return end


# What is known, and the clauses of a message, in outline. Both are read alike: the speaker's name
# counts as "I".

_NOUN_MAX_COUNT = 3  # words
_KEPT_MAX_COUNT = 4096  # outlines of what is known
_WORD = re.compile(r"[^\W_]+")
_STOPS = frozenset(",;.!?()-:\n")


@lru_cache(maxsize=_KEPT_MAX_COUNT)
def outline_known(content: str, speaker: str, code: str) -> ClauseOutline:
    """What is known, in outline. Kept, for it is asked for with every message."""
    own, language = load_cues(code), load_locale(code)
    content = restate_known(content, code)
    user = language.texts["unnamed"]
    untold = content.startswith((f"{user} ", f"{user}'"))  # told before they had a name
    speaker = user if untold else speaker
    nameless = speaker == user and content.startswith(f"{user} ")
    theirs = language.texts["unnamed_own"] if nameless else None
    words = _as_speaker(tokenize(content, own), speaker, own, theirs)
    return outline_clause(content, words, own, language)


@lru_cache(maxsize=_KEPT_MAX_COUNT)
def find_known_stems(content: str, code: str) -> frozenset[str]:
    """The stems of what is known: far cheaper than its outline, and enough to pass over most."""
    own = load_cues(code)
    return frozenset(map(own.stem, _WORD.findall(content.casefold())))


@lru_cache(maxsize=_KEPT_MAX_COUNT)
def find_known_topics(content: str, code: str) -> frozenset[str]:
    """The fields of a life that what is known is about, by the names of their topics."""
    text = restate_known(content, code)
    return frozenset(topic.name for topic in load_cues(code).topics if topic.known.search(text))


def _as_speaker(
    words: tuple[WordToken, ...], speaker: str, own: CorrectionCues, theirs: str | None
) -> tuple[WordToken, ...]:
    """`theirs` is the word for "my" where the speaker has no name to be told by."""
    names = [name.casefold() for name in speaker.split()]
    first = min(own.words["speaker_word"], default="i")
    mine = min(own.words["mine_word"], default="my")
    found: list[WordToken] = []
    position = 0
    while position < len(words):
        word = words[position]
        count = _names_at(words, position, names)
        if not count:
            bare = word.low.rstrip("'")
            owns = bool(names) and bare in (f"{names[-1]}s", f"{names[0]}s")
            owns = bool(own.words["owned_by_s"]) and owns
            # "Gus' car", "Gus Orme's car".
            owns = owns or (bare != word.low and bool(names) and bare in (names[-1], names[0]))
            found.append(_renamed(word, mine) if owns or word.low == theirs else word)
            position += 1
            continue
        follows = words[position + count].low if position + count < len(words) else ""
        owns = follows in (POSSESSIVE_ENDING, "'")
        found.append(_renamed(word, mine if owns else first))
        position += count + owns
    return tuple(found)


def _names_at(words: tuple[WordToken, ...], position: int, names: list[str]) -> int:
    for count in (len(names), 1):
        if names and [tx.low for tx in words[position : position + count]] == names[:count]:
            return count
    return 0


def _renamed(word: WordToken, low: str) -> WordToken:
    return WordToken(text=word.text, low=low, stem=low, start=word.start, end=word.end, first=word.first)


def outline_clauses(text: str, own: CorrectionCues, language: Locale) -> list[ClauseOutline]:
    """The clauses of a message in outline."""
    words = tokenize(text, own)
    found: list[ClauseOutline] = []
    start = 0
    for position, word in enumerate(words):
        if (word.text in _STOPS and not _within(words, position, own)) or (
            position > start
            and word.low in own.words["joining"]
            and (_opens(words, position + 1, own) or _reasons(words, position, own))
        ):
            found += _clause(text, words[start:position], own, language)
            start = position + 1
    return found + _clause(text, words[start:], own, language)


def _within(words: tuple[WordToken, ...], position: int, own: CorrectionCues) -> bool:
    """A full stop behind a title, and a hyphen inside a word, end nothing."""
    if words[position].text == "-":
        return words[position].start == words[position - 1].end if position else False
    return words[position].text == "." and words[position - 1].low in own.words["titles"]


def _reasons(words: tuple[WordToken, ...], position: int, own: CorrectionCues) -> bool:
    """ "So team dinner's at …": what follows "so" has a verb of its own before long."""
    if words[position].low not in own.words["reasoning"]:
        return False
    ahead = range(position + 2, min(len(words), position + 2 + _NOUN_MAX_COUNT))
    return any(is_finite_at(words, at, own) for at in ahead)


def _opens(words: tuple[WordToken, ...], position: int, own: CorrectionCues) -> bool:
    if position >= len(words):
        return False
    word = words[position]
    lists = ("speaker", "mine", "theirs", "pronouns", "articles")
    if any(word.low in own.words[name] for name in lists):
        return True
    if word.stem in own.words["verbs"] or word.low in own.words["adverbs"]:
        return True
    following = words[position + 1] if position + 1 < len(words) else None
    return following is not None and is_finite(following, own)


def _clause(text: str, words: tuple[WordToken, ...], own: CorrectionCues, language: Locale) -> list[ClauseOutline]:
    return [outline_clause(text, words, own, language)] if words else []


def outline_fragment(text: str, words: tuple[WordToken, ...], own: CorrectionCues, language: Locale) -> ClauseOutline:
    """Words that are no clause, only a value."""
    found = outline_clause(text, words, own, language)
    return replace(found, subject=(), plain=(), verb=None, start=0, end=len(words))
