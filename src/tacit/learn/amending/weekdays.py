"""The day that a date in full falls on."""

from __future__ import annotations

import re
from datetime import date

from tacit.learn.reading.tongue import Tongue

_FULL = re.compile(r"(?P<day>\d{1,2})\.? (?P<month>\w+) (?P<year>\d{4})")


def day_of(said: str, tongue: Tongue) -> date | None:
    """ "17 June 2025"; None where it is no date in full, or no date at all."""
    match = _FULL.search(said)
    month = tongue.dates.words["months"].get(match["month"].casefold()) if match else None
    if match is None or not isinstance(month, int):
        return None
    try:
        return date(int(match["year"]), month, int(match["day"]))
    except ValueError:
        return None
