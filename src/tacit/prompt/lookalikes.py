"""The word of our fence in every spelling that looks like it: cases, scripts, accents, dashes."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Letters of other scripts that are drawn like the Latin ones; Unicode does not decompose these.
_DRAWN_ALIKE = {
    "t": "\u03c4\u03a4\u0442\u0422\u04ac\u04ad\u2ca6\u2ca7\u13a2\u1d1b",
    "a": "\u03b1\u0391\u0430\u0410\u0251\u2c80\u2c81\u13aa\u1d00",
    "c": "\u0441\u0421\u03f2\u03f9\u2ca4\u2ca5\u13df\u1d04",
    "i": "\u0456\u0406\u03b9\u0399\u0131\u04c0\u04cf\u01c0\u2c92\u2c93\u13a5\u026alL1|",
    "m": "\u043c\u041c\u039c\u2c98\u2c99\u13b7\u1d0d",
    "e": "\u0435\u0415\u03b5\u0395\u0454\u0404\u04bc\u04bd\u2c88\u2c89\u13ac\u1d07\u212e",
    "o": "\u043e\u041e\u03bf\u039f\u0585\u0555\u2c9e\u2c9f\u1d0f0",
    "r": "\u0433\u0413\u1d26\u2c84\u2c85\u13a1\u0280",
    "y": "\u0443\u0423\u03b3\u03a5\u04ae\u04af\u2ca8\u2ca9\u13a9\u028f",
}
# Blocks whose letters decompose to Latin ones: accents, fullwidth, circled, squared, mathematical.
_DECOMPOSING = (
    (0xC0, 0x250),
    (0x1E00, 0x1F00),
    (0x2100, 0x2190),
    (0x249C, 0x24EA),
    (0xFF21, 0xFF5B),
    (0x1D400, 0x1D7CC),
    (0x1F110, 0x1F150),
)
_MARKS = "[\u0300-\u036f\u200c\u200d\u20e3\ufe0f]*"
_DASHES = "[-_.~\u00b7\u2010-\u2015\u2043\u2212\u30fc\u4e00\ufe58\ufe63\uff0d]"


@cache
def pattern(first: str, second: str) -> re.Pattern[str]:
    """Two words joined by something like a dash. Joined by a space they are only words."""
    alike = {letter: {letter, letter.upper(), *drawn} for letter, drawn in _DRAWN_ALIKE.items()}
    for start, end in _DECOMPOSING:
        for point in range(start, end):
            plain = unicodedata.normalize("NFKD", chr(point)).strip("()")[:1].lower()
            if plain in alike:
                alike[plain].add(chr(point))

    def word(letters: str) -> str:
        classes = ("".join(map(re.escape, sorted(alike[letter]))) for letter in letters)
        return "".join(f"[{chars}]{_MARKS}" for chars in classes)

    return re.compile(rf"{word(first)}\s*{_DASHES}+\s*{word(second)}")
