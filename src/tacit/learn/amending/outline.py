"""Reads a clause from left to right: its subject, its verb, and the rest."""

from __future__ import annotations

from tacit.learn.amending.clause import OWNED, Gist, finite, finite_at
from tacit.learn.amending.cues import Cues
from tacit.learn.amending.typed import Token, Value, values
from tacit.learn.reading.tongue import Tongue

_SUBJECT_MAX_COUNT = 8  # words


def outline(text: str, words: tuple[Token, ...], own: Cues, language: Tongue) -> Gist:
    reading = _Reader(text, words, own)
    return reading.gist(values(words, own, language))


class _Reader:
    """Reads the subject, the verb and the rest of one clause, from left to right."""

    def __init__(self, text: str, words: tuple[Token, ...], own: Cues) -> None:
        self.text, self.words, self.own = text, words, own
        self.at = 0
        self.verb_at = -1  # where the verb of a noun is
        self.speaks = self.referring = self.owned = False
        self.negated = self.role = self.past = False
        self.other: str | None = None
        self.subject: tuple[Token, ...] = ()

    def gist(self, found: tuple[Value, ...]) -> Gist:
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

    def _turned_round(self, found: tuple[Value, ...], verb: str, end: int) -> Gist:
        """ "Ivo is my boss" says of the boss that it is Ivo."""
        holder = self.subject
        first = self.words.index(holder[0])
        self.at += 1
        self.subject = self._nouns(self.words[self.at : end])
        self.owned = self.role = True
        return self._made(found, verb, None, first, first + len(holder))

    def _made(
        self,
        found: tuple[Value, ...],
        verb: str | None,
        preposition: str | None,
        start: int,
        end: int,
    ) -> Gist:
        small = self.own.words["small"]
        return Gist(
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
        while self.at < len(self.words) and any(
            self.words[self.at].low in self.own.words[name] for name in lists
        ):
            self.at += 1

    def _skip_to_subject(self) -> None:
        """ "As of May my rate is …", "believe it or not I like …": the subject comes later."""
        own = self.own.words
        opens = self.own.among("speaker", "mine", "articles", "theirs", "pronouns")
        led = self._low() in own["leading"] and not finite_at(self.words, self.at + 1, self.own)
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
        elif self._low() in own.words["pronouns"] and finite_at(self.words, self.at + 1, own):
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
        return known and not finite_at(self.words, self.at + 1, self.own)

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
            if word.low in (OWNED, "'") and position:
                self.other = nouns[position - 1].stem
        self.subject = self._nouns(nouns)
        self.at = self.verb_at = verb

    def _nouns(self, words: tuple[Token, ...]) -> tuple[Token, ...]:
        own = self.own.words
        dropped = self.own.among(
            "articles", "theirs", "passing_mods", "adverbs", "mine", "joining", "titles"
        )
        found = tuple(word for word in words if word.low not in dropped and word.low[:1].isalnum())
        # "The launch date" is when the launch is.
        return found[:-1] if len(found) > 1 and found[-1].stem in own["hollow"] else found

    def _verb_after(self, start: int) -> int | None:
        """Where the verb of a noun is: a finite form if there is one, else any verb."""
        window = range(start + 1, min(len(self.words), start + _SUBJECT_MAX_COUNT))
        for position in window:
            if finite_at(self.words, position, self.own):
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
                # "I've got two dogs" says that somebody has them.
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

    def _is_verb(self, word: Token, before: str | None) -> bool:
        if word.stem not in self.own.words["verbs"]:
            known = finite(word, self.own) or (bool(self.subject) and self.at == self.verb_at)
            return before is None and (known or self._after_speaker(word))
        return before is None or before in self.own.words["before_verbs"] or self._participle(word)

    def _after_speaker(self, word: Token) -> bool:
        """ "We rehearse at the hall": what follows "I" or "we" is a verb, whatever it is."""
        own = self.own.words
        if not self.speaks or not self.at or not word.low.isalpha():
            return False
        if self.words[self.at - 1].low not in own["nominative"]:
            return False
        lists = ("small", "prepositions", "articles", "joining")
        return not any(word.low in own[name] for name in lists)

    def _begun(self, word: Token) -> str:
        """ "Gone back to preferring tea" is about what is preferred."""
        if word.stem in self.own.words["phasal"]:
            for position in range(self.at, min(len(self.words), self.at + 3)):
                ahead = self.words[position]
                if self._participle(ahead) and ahead.stem in self.own.words["verbs"]:
                    self.at = position + 1
                    return ahead.stem
        return word.stem

    def _participle(self, word: Token) -> bool:
        low = word.low
        return low.endswith(tuple(self.own.words["participles"])) or low in self.own.irregular

    def _happened(self, word: Token) -> bool:
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
