"""Normalize Unicode text in linear time and undo disguises before a text is checked."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

# The standard library sorts a run of combining marks by insertion: half a million marks in one
# request would take minutes. No writing system puts more than a few marks on a letter, so marks
# after the 64th of a run are dropped before normalization. This applies to text that is compared,
# searched or shown; stored text stays as written.

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
COMBINING_MARKS_MAX_COUNT = 64  # in a row, counted after decomposition
# `re` treats no combining mark as a letter or digit, except two that become marks when normalized.
# A mark decomposes into at most two, so a run of half the limit cannot exceed the limit.
_MARK_RUN = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{COMBINING_MARKS_MAX_COUNT // 2 + 1},}}")


def normalize_unicode(form: NormalForm, text: str) -> str:
    """Normalize like `unicodedata.normalize`, keeping at most 64 combining marks in a row."""
    if text.isascii():
        return text
    return unicodedata.normalize(form, _MARK_RUN.sub(_limit_marks, text))


def _limit_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    count = 0
    for char in run[0]:
        parts = unicodedata.normalize("NFKD", char)
        if not unicodedata.combining(parts[0]):
            count = 0
        elif (count := count + len(parts)) > COMBINING_MARKS_MAX_COUNT:
            continue
        kept.append(char)
    return "".join(kept)


# Text as a reader sees it, used by checks and never stored.

# Controls, soft hyphen, joiners, direction marks, tags, fillers and variation selectors.
INVISIBLE_CHARS = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff"
)
_INVISIBLE_RUN = re.compile(f"[{INVISIBLE_CHARS}]+")
_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")
# NFKC does not map these characters to the ones that they look like.
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2236\ua789\u02d0", ":"),
        **dict.fromkeys("\u2044\u2215", "/"),
        "\u2800": " ",
        # Ligatures of a whole sentence: NFKC would expand them to 18 and 8 letters.
        "\ufdfa": "\u0635",
        "\ufdfb": "\u062c",
        "\u2028": "\n",
        "\u2029": "\n",
    }
)
_LATIN = re.compile(r"[A-Za-z]")
_LETTERS = re.compile(r"[^\W\d_]+")
_HOMOGLYPHS = str.maketrans(
    "\u0430\u0410\u0412\u0441\u0421\u0435\u0415\u041d\u0456\u0406\u0458\u0408\u041a\u043a\u041c"
    "\u043e\u041e\u0440\u0420\u0455\u0405\u0422\u0445\u0425\u0443\u0423\u04bb\u0501\u051b\u051d"
    "\u03b1\u0391\u0392\u0395\u0397\u0399\u03b9\u039a\u03ba\u039c\u039d\u03bf\u039f\u03a1\u03c1"
    "\u03a4\u03a7\u03a5\u03bd\u0131",
    "aABcCeEHiIjJKkMoOpPsSTxXyYhdqwaABEHIiKkMNoOPpTXYvi",
)


def strip_invisible(text: str) -> str:
    """Remove invisible characters."""
    return _INVISIBLE_RUN.sub("", text)


def list_readings(text: str) -> tuple[str, ...]:
    """Return the text as a reader sees it, in two variants if invisible characters may split words.

    One variant removes the invisible characters, the other replaces them by spaces.
    """
    if text.isascii() and not _INVISIBLE_RUN.search(text):
        return (text,)
    joined = _normalize_reading(_INVISIBLE_RUN.sub("", text))
    parted = _normalize_reading(_INVISIBLE_RUN.sub(" ", text))
    return (joined,) if joined == parted else (joined, parted)


def _normalize_reading(text: str) -> str:
    text = normalize_unicode("NFKC", text.translate(_LOOKALIKES))
    text = _FOREIGN_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    return _LETTERS.sub(_unify_script, text)


def _unify_script(word: re.Match[str]) -> str:
    """Map homoglyphs to Latin in a word that mixes scripts; a wholly Cyrillic word stays."""
    letters = word[0]
    if letters.isascii() or not _LATIN.search(letters):
        return letters
    return letters.translate(_HOMOGLYPHS)
