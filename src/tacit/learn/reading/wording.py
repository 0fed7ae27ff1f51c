"""The words of a clause and the lists that they are looked up in: what open frames share."""

from __future__ import annotations

import re

from tacit.learn.reading.tongue import Tongue

OBJECT_MAX_COUNT = 24  # words
MARK = re.compile(r"⟦[dt]\d⟧")
_TOKEN = re.compile(r"⟦[dt]\d⟧|[^\s,]+")


class Wording:
    """A clause, or what follows its subject, as words in lower case."""

    def __init__(self, text: str, tongue: Tongue) -> None:
        self.tongue = tongue
        found = [word.strip("'.") for word in _TOKEN.findall(text)]
        self.words = [word.lower() for word in found]
        capital = tongue.texts["names"] == "capital"
        self.proper = {word.lower() for word in found if capital and word[:1].isupper()}

    def _listed(self, name: str) -> frozenset[str]:
        return self.tongue.words[name]

    def _tags(self, word: str) -> frozenset[str]:
        return self.tongue.frames.get(word, frozenset())

    def _adverb(self, word: str) -> bool:
        return word in self._listed("adverbs") or self.tongue.has("manner", word)

    def _vague(self, words: list[str]) -> bool:
        """Whether it is left open what is meant, or is about the talk itself."""
        never, talk = self._listed("open_never"), self._listed("open_talk")
        return any(word in never or word in talk for word in words)

    def _weighs(self, rest: list[str]) -> bool:
        """Whether anything is said beside the dates."""
        return any(not MARK.fullmatch(word) for word in rest)
