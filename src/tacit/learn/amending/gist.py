"""What is known, and the clauses of a message, in outline. Both are read alike: the speaker's name
counts as "I"."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from tacit.learn.amending.clause import OWNED, Gist, finite, finite_at
from tacit.learn.amending.cues import Cues, cues
from tacit.learn.amending.outline import outline
from tacit.learn.amending.restate import restated_known
from tacit.learn.amending.typed import Token, tokens
from tacit.learn.reading.tongue import Tongue, tongue

_NOUN_MAX_COUNT = 3  # words
_KEPT_MAX_COUNT = 4096  # outlines of what is known
_WORD = re.compile(r"[^\W_]+")
_STOPS = frozenset(",;.!?()-:\n")


@lru_cache(maxsize=_KEPT_MAX_COUNT)
def known_gist(content: str, speaker: str, code: str) -> Gist:
    """What is known, in outline. Kept, for it is asked for with every message."""
    own, language = cues(code), tongue(code)
    content = restated_known(content, code)
    nobody = language.texts["nobody"]
    untold = content.startswith((f"{nobody} ", f"{nobody}'"))  # told before they had a name
    speaker = nobody if untold else speaker
    nameless = speaker == nobody and content.startswith(f"{nobody} ")
    theirs = language.texts["nobodys"] if nameless else None
    words = _as_speaker(tokens(content, own), speaker, own, theirs)
    return outline(content, words, own, language)


@lru_cache(maxsize=_KEPT_MAX_COUNT)
def words_of(content: str, code: str) -> frozenset[str]:
    """The stems of what is known: far cheaper than its outline, and enough to pass over most."""
    own = cues(code)
    return frozenset(map(own.stem, _WORD.findall(content.casefold())))


@lru_cache(maxsize=_KEPT_MAX_COUNT)
def fields_of(content: str, code: str) -> frozenset[str]:
    """The fields of a life that what is known is about, by the names of their topics."""
    text = restated_known(content, code)
    return frozenset(topic.name for topic in cues(code).topics if topic.known.search(text))


def _as_speaker(
    words: tuple[Token, ...], speaker: str, own: Cues, theirs: str | None
) -> tuple[Token, ...]:
    """`theirs` is the word for "my" where the speaker has no name to be told by."""
    names = [name.casefold() for name in speaker.split()]
    first = min(own.words["speaker_word"], default="i")
    mine = min(own.words["mine_word"], default="my")
    found: list[Token] = []
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
        owns = follows in (OWNED, "'")
        found.append(_renamed(word, mine if owns else first))
        position += count + owns
    return tuple(found)


def _names_at(words: tuple[Token, ...], position: int, names: list[str]) -> int:
    for count in (len(names), 1):
        if names and [w.low for w in words[position : position + count]] == names[:count]:
            return count
    return 0


def _renamed(word: Token, low: str) -> Token:
    return Token(
        text=word.text, low=low, stem=low, start=word.start, end=word.end, first=word.first
    )


def clauses_of(text: str, own: Cues, language: Tongue) -> list[Gist]:
    """The clauses of a message in outline."""
    words = tokens(text, own)
    found: list[Gist] = []
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


def _within(words: tuple[Token, ...], position: int, own: Cues) -> bool:
    """A full stop behind a title, and a hyphen inside a word, end nothing."""
    if words[position].text == "-":
        return words[position].start == words[position - 1].end if position else False
    return words[position].text == "." and words[position - 1].low in own.words["titles"]


def _reasons(words: tuple[Token, ...], position: int, own: Cues) -> bool:
    """ "So team dinner's at …": what follows "so" has a verb of its own before long."""
    if words[position].low not in own.words["reasoning"]:
        return False
    ahead = range(position + 2, min(len(words), position + 2 + _NOUN_MAX_COUNT))
    return any(finite_at(words, at, own) for at in ahead)


def _opens(words: tuple[Token, ...], position: int, own: Cues) -> bool:
    if position >= len(words):
        return False
    word = words[position]
    lists = ("speaker", "mine", "theirs", "pronouns", "articles")
    if any(word.low in own.words[name] for name in lists):
        return True
    if word.stem in own.words["verbs"] or word.low in own.words["adverbs"]:
        return True
    following = words[position + 1] if position + 1 < len(words) else None
    return following is not None and finite(following, own)


def _clause(text: str, words: tuple[Token, ...], own: Cues, language: Tongue) -> list[Gist]:
    return [outline(text, words, own, language)] if words else []


def fragment(text: str, words: tuple[Token, ...], own: Cues, language: Tongue) -> Gist:
    """Words that are no clause, only a value."""
    found = outline(text, words, own, language)
    return replace(found, subject=(), plain=(), verb=None, start=0, end=len(words))
