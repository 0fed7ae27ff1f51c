"""Words as recall compares them: folded, split, stop words dropped, English endings removed.

Any script passes through: runs of Han, kana and Hangul become single characters and pairs.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from tacit.unicode_forms import normalize

_WORD_MAX_CHARS = 64
_CACHED_WORDS_COUNT = 65_536
_ACCENT_CLASS_MIN = 200

# Function words of questions and chat. Kept short of content: "no", "more", "first" stay out of it.
STOP_WORDS = frozenset(
    """
    a about above after again against all am an and any are as at be because been before being
    below between both but by can could did do does doing down during each few for from further had
    has have having he her here hers herself him himself his how i if in into is it its itself just
    me most my myself of off on once only or other our ours ourselves out over own same she should
    so some such than that the their theirs them themselves then there these they this those
    through to too under until up us very was we were what when where which while who whom whose
    why will with would you your yours yourself yourselves s t d m re ve ll don didn doesn isn aren
    wasn weren hasn haven hadn won wouldn couldn shouldn
    """.split()  # noqa: SIM905 (a list of words reads better as one)
)

_CJK = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_WIDE = _CJK + "\U00020000-\U0003134f"
_SYMBOL = "\u2600-\u27bf\U0001f300-\U0001faff"  # an emoji says something by itself
_PIECE = re.compile(rf"[{_CJK_WIDE}]+|[^\W_{_CJK_WIDE}]+|[{_SYMBOL}]")
_IS_CJK = re.compile(rf"[{_CJK_WIDE}]")
_PLAIN = re.compile(r"[a-z]+\Z")


def fold(text: str) -> str:
    """Lower case without accents, so that 'Café' and 'cafe' are one word."""
    if text.isascii():
        return text.lower()
    parts = normalize("NFKD", text.casefold())
    # Only marks above and below letters go: voiced kana and Indic vowels are other letters.
    bare = "".join(one for one in parts if unicodedata.combining(one) < _ACCENT_CLASS_MIN)
    return normalize("NFC", bare)


def words(text: str) -> list[str]:
    """The folded words of a text in order, stop words and all; a run of CJK is one word."""
    return [one[:_WORD_MAX_CHARS] for one in _PIECE.findall(fold(text))]


def stems(text: str) -> list[str]:
    """The terms of a text in order, repeated as often as they are said."""
    found: list[str] = []
    for piece in _PIECE.findall(fold(text)):
        if piece in STOP_WORDS:
            continue
        if piece.isascii() or not _IS_CJK.match(piece):
            found.append(stem(piece[:_WORD_MAX_CHARS]))
        else:
            found.extend(piece)
            found.extend(piece[at : at + 2] for at in range(len(piece) - 1))
    return found


@lru_cache(maxsize=_CACHED_WORDS_COUNT)
def stem(word: str) -> str:
    """An English word without its ending, after Porter (1980); anything else as it is."""
    if len(word) <= 2 or not _PLAIN.match(word):
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _swapped(word, _DOUBLE_ENDINGS)
    word = _swapped(word, _FULL_ENDINGS)
    word = _bare(word)
    return _tidied(word)


_DOUBLE_ENDINGS = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_FULL_ENDINGS = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_LAST_ENDINGS = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti",
    "ous", "ive", "ize", "al", "er", "ic", "ou",
)  # fmt: skip


def _shape(part: str) -> str:
    """Consonants as c, vowels as v; y is a vowel after a consonant."""
    shape = ""
    for at, letter in enumerate(part):
        vowel = letter in "aeiou" or (letter == "y" and at > 0 and shape[-1] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(part: str) -> int:
    """How many times a vowel is followed by a consonant: roughly, the syllables closed."""
    return _shape(part).count("vc")


def _has_vowel(part: str) -> bool:
    return "v" in _shape(part)


def _ends_short(part: str) -> bool:
    """Consonant, vowel, consonant at the end, as in 'hop', where an e may have been dropped."""
    return _shape(part).endswith("cvc") and part[-1] not in "wxy"


def _ends_double(part: str) -> bool:
    return len(part) > 1 and part[-1] == part[-2] and _shape(part)[-1] == "c"


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        part = word[: -len(ending)]
        if word.endswith(ending) and _has_vowel(part):
            return _mended(part)
    return word


def _mended(part: str) -> str:
    """What is left of 'hoping' and 'hopping' once the ending is off."""
    if part.endswith(("at", "bl", "iz")):
        return part + "e"
    if _ends_double(part) and part[-1] not in "lsz":
        return part[:-1]
    if _measure(part) == 1 and _ends_short(part):
        return part + "e"
    return part


def _swapped(word: str, endings: dict[str, str]) -> str:
    for size in range(min(7, len(word) - 1), 1, -1):
        ending = word[-size:]
        if ending in endings:
            part = word[:-size]
            return part + endings[ending] if _measure(part) > 0 else word
    return word


def _bare(word: str) -> str:
    for ending in _LAST_ENDINGS:
        if word.endswith(ending):
            part = word[: -len(ending)]
            if ending == "ion" and not part.endswith(("s", "t")):
                return word
            return part if _measure(part) > 1 else word
    return word


def _tidied(word: str) -> str:
    if word.endswith("e"):
        part = word[:-1]
        size = _measure(part)
        if size > 1 or (size == 1 and not _ends_short(part)):
            word = part
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
