"""Unicode normal forms in time that grows with the length of a text, whatever it is made of.

The standard library sorts a run of combining marks by insertion: half a million of them in one
request would take it minutes. No writing system puts more than a few marks on a letter, so what
stands after the 64th of a run is left out before a text is normalised. Only what is compared,
searched or shown is normalised with this; what is kept stays as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
MARKS_MAX_COUNT = 64  # in a row, as they are when they are taken apart
# No combining mark is a letter or a digit to `re`, but for two that become one when normalised.
# Each is taken apart into two at most, so that a shorter run holds no more than that many.
_RUN = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{MARKS_MAX_COUNT // 2 + 1},}}")


def normalize(form: Form, text: str) -> str:
    """As `unicodedata.normalize`, of a text with at most 64 combining marks in a row."""
    if text.isascii():
        return text
    return unicodedata.normalize(form, _RUN.sub(_first_marks, text))


def _first_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    count = 0
    for char in run[0]:
        parts = unicodedata.normalize("NFKD", char)
        if not unicodedata.combining(parts[0]):
            count = 0
        elif (count := count + len(parts)) > MARKS_MAX_COUNT:
            continue
        kept.append(char)
    return "".join(kept)
