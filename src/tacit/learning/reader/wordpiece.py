"""Split texts into the word pieces of uncased English BERT, with their places in the text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

_UNKNOWN = "[UNK]"
_WORD_MAX_CHARS = 100
_CACHED_WORDS_MAX_COUNT = 20_000


@dataclass(frozen=True, slots=True)
class WordPieces:
    """A text as numbers of word pieces; each piece with the place of its first character and the one after its last."""

    ids: list[int]
    places: list[tuple[int, int]]


class WordPieceTokenizer:
    """Gives the same pieces as the tokenizer that the models were trained with (a test compares them)."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._unknown = numbers[_UNKNOWN]
        self._cut = lru_cache(_CACHED_WORDS_MAX_COUNT)(self._cut_word)

    def tokenize(self, text: str) -> WordPieces:
        ids: list[int] = []
        places: list[tuple[int, int]] = []
        for word, origin in _words(text):
            for number, start, stop in self._cut(word[: _WORD_MAX_CHARS + 1]):
                ids.append(number)
                last = len(word) if stop > _WORD_MAX_CHARS else stop
                places.append((origin[start], origin[last - 1] + 1))
        return WordPieces(ids, places)

    def _cut_word(self, word: str) -> tuple[tuple[int, int, int], ...]:
        """Cut a word into the longest known pieces from the left; a word that cannot be cut is unknown as a whole."""
        whole = ((self._unknown, 0, len(word)),)
        if len(word) > _WORD_MAX_CHARS:
            return whole
        pieces: list[tuple[int, int, int]] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            stops = range(len(word), start, -1)
            found = next((stop for stop in stops if mark + word[start:stop] in self._numbers), None)
            if found is None:
                return whole
            pieces.append((self._numbers[mark + word[start:found]], start, found))
            start = found
        return tuple(pieces)


def _words(text: str) -> Iterator[tuple[str, list[int]]]:
    """Yield each word in lower case without accents, and for each of its characters the place in the text."""
    word: list[str] = []
    origin: list[int] = []
    for place, original in enumerate(text):
        for char in _folded(original):
            if char == " ":
                alone, ends = False, True
            else:
                alone = ends = _stands_alone(char)
            if ends and word:
                yield "".join(word), origin
                word, origin = [], []
            if alone:
                yield char, [place]
            elif char != " ":
                word.append(char)
                origin.append(place)
    if word:
        yield "".join(word), origin


@lru_cache(4_096)
def _folded(char: str) -> str:
    """A character in lower case without accents; every space is plain, and control characters are left out."""
    if char in "\t\n\r" or unicodedata.category(char).startswith("Z"):
        return " "
    if char in "\x00\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Cn", "Co"):
        return ""
    bare = "".join(one for one in unicodedata.normalize("NFD", char) if unicodedata.category(one) != "Mn")
    return bare.lower()


@lru_cache(4_096)
def _stands_alone(char: str) -> bool:
    """Whether a character is a word of its own: punctuation, and what Chinese is written with."""
    code = ord(char)
    if char.isascii():
        return not char.isalnum() and code > 32
    if unicodedata.category(char).startswith("P"):
        return True
    return any(first <= code <= last for first, last in _IDEOGRAPHS)


_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
