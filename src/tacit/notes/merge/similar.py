"""Whether two wordings say the same, by words alone: numbers, names and denials must agree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tacit.learning.claims import has_negation
from tacit.learning.corrections.cues import load_cues
from tacit.learning.extraction.locale import Locale, guess_locale
from tacit.learning.extraction.locale import load_locale as tongue_of
from tacit.records.text import stem_words
from tacit.unicode import normalize_unicode

_ALIKE_MIN_SHARE = 0.75  # of the words of the longer one
_SHARED_MIN_COUNT = 2
_LOOKED_AT_MAX_CHARS = 2_000
_CACHED_COUNT = 8_192
_ENDS = " \t\n.,;!…"
_WORD = re.compile(r"[^\W_]+[+#]*")  # C++ and C# are two
_NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(?:[.,:/-]\d+)*%?")
_NAMED = re.compile(r"[^\W\d_][\w'’-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gist:
    """What a text is compared by."""

    keywords: frozenset[str]  # stems of the words that count
    numbers: tuple[str, ...]  # in their order
    names: tuple[str, ...]  # words with a capital inside the text, in their order
    denied: bool


def plain(text: str) -> str:
    """A text without case, spacing and a full stop: the same for what only looks different."""
    folded = normalize_unicode("NFKC", text).casefold()
    return " ".join(folded.split()).strip(_ENDS) or folded.strip()


def alike(one: str, other: str) -> bool:
    """All words that count of one are said by the other, which says little more; and no number,
    name or denial speaks against it."""
    first, second = gist(one), gist(other)
    few, many = sorted((first.keywords, second.keywords), key=len)
    return (
        few <= many
        and len(few) >= max(_SHARED_MIN_COUNT, _ALIKE_MIN_SHARE * len(many))
        and agree(first, second)
    )


def same_words(one: str, other: str) -> bool:
    """The same words that count, in any form and order of the rest."""
    if plain(one) == plain(other):
        return True
    first, second = gist(one), gist(other)
    return bool(first.keywords) and first.keywords == second.keywords and agree(first, second)


def says_less(one: str, other: str) -> bool:
    """Whether the other says all that one says, and more."""
    return gist(one).keywords < gist(other).keywords


@lru_cache(maxsize=_CACHED_COUNT)
def gist(text: str) -> Gist:
    seen = text[:_LOOKED_AT_MAX_CHARS]
    tongue = tongue_of(guess_locale(seen))
    return Gist(
        keywords=keywords(seen, tongue),
        numbers=tuple(_NUMBER.findall(seen)),
        names=_names(seen, tongue),
        denied=has_negation(seen, tongue),
    )


def keywords(text: str, tongue: Locale) -> frozenset[str]:
    """The stems of the words that count. Scripts without spaces are compared by their characters
    and pairs of them."""
    own, stem = tongue.words["small"], load_cues(tongue.code).stem
    found: set[str] = set()
    for word in _WORD.findall(normalize_unicode("NFC", text).casefold()):
        parts = [word] if word.isascii() else stem_words(word)
        if len(parts) > 1:
            found.update(parts)
        elif word not in own:
            found.add(stem(word))
    return frozenset(found)


def agree(one: Gist, other: Gist) -> bool:
    """Numbers, names and denials, each in their order."""
    return (one.numbers, one.names, one.denied) == (other.numbers, other.names, other.denied)


def _names(text: str, tongue: Locale) -> tuple[str, ...]:
    """Where a sentence begins, a capital says nothing, unless the word is known as a name. Where
    every noun has a capital, nouns count as names: their order must agree, too."""
    known = tongue.words["first_names"]
    found = []
    for match in _NAMED.finditer(text):
        word = match[0].replace("’", "'").partition("'")[0]
        if not word[0].isupper():
            continue
        before = text[: match.start()].rstrip(" *\"'“‘([")
        opens = not before or before[-1] in ".!?:;\n-–•"
        if not opens or word.casefold() in known:
            found.append(word.casefold())
    return tuple(found)
