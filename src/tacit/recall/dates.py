"""When: dates as words that can be asked for, and the times that questions and answers name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import MAXYEAR, date, datetime

import numpy as np
from numpy.typing import NDArray

from tacit.records.text import stem_word

MICROS_A_DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()
_MONTHS = [
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
]  # fmt: skip
_STEMS = [stem_word(month) for month in _MONTHS]
_MONTH = "|".join(_MONTHS)
_TELLS_TIME = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|ago|last|next|recently|since|weekend|weeks?|months?"
    rf"|years?|days?|this morning|(?:mon|tues|wednes|thurs|fri|satur|sun)day|{_MONTH}"
    r"|\d{4}|\d+(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
_ASKS_WHEN = re.compile(
    r"^\W*(?:since )?when\b|\bhow (?:long|often)\b|\b(?:what|which) (?:date|day|month|year|week)\b",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NAMED_MONTH = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?({_MONTH})\b"
    r"(?:,? (\d{1,2})(?:st|nd|rd|th)?\b)?",
    re.IGNORECASE,
)
_DAYS_SCALE = 4.0  # a date this many days off counts 1/e
_TOLD_LATER_DAYS = 31  # what happened in a month is often told in the next one

# Year, month and day, as far as they are named.
Day = tuple[int | None, int | None, int | None]
Floats = NDArray[np.float32]
Whole = NDArray[np.int64]


def date_terms(moment: datetime) -> list[str]:
    """The date as words that stand in the index beside what was said then. Not the day: bare
    numbers mean other things."""
    return [_STEMS[moment.month - 1], str(moment.year)]


def tells_time(text: str) -> bool:
    return _TELLS_TIME.search(text) is not None


def asks_when(text: str) -> bool:
    return _ASKS_WHEN.search(text) is not None


def day_named(text: str) -> Day | None:
    iso = _ISO_DAY.search(text)
    if iso:
        return _possible(int(iso[1]), int(iso[2]), int(iso[3]))
    year = _YEAR.search(text)
    month: int | None = None
    day: int | None = None
    for match in _NAMED_MONTH.finditer(text):
        number = match[1] or match[3]
        # May and march are verbs too: a month has a capital, or a number beside it.
        if number or match[2][0].isupper():
            month = _MONTHS.index(match[2].lower()) + 1
            day = int(number) if number else None
            break
    if month is None and year is None:
        return None
    return _possible(int(year[0]) if year else None, month, day)


def _possible(year: int | None, month: int | None, day: int | None) -> Day:
    if month is None or not 1 <= month <= 12:
        return year, None, None
    return year, month, day if day is not None and 1 <= day <= 31 else None


def near(named: Day, moments: Whole) -> Floats:
    """1 for what was said at the time named, less around it, half for a year alone."""
    year, month, day = named
    if not len(moments):
        return np.zeros(0, np.float32)
    days = moments // MICROS_A_DAY + _EPOCH
    if year is not None:
        years: Iterable[int] = (year,)
    else:
        first, last = (date.fromordinal(int(one)).year for one in (days.min(), days.max()))
        years = range(first, min(last, MAXYEAR - 1) + 1)
    found = np.zeros(len(days), np.float32)
    for one in years:
        found = np.maximum(found, _near_in(one, month, day, days))
    return found


def _near_in(year: int, month: int | None, day: int | None, days: Whole) -> Floats:
    if month is None:
        inside = (days >= date(year, 1, 1).toordinal()) & (days <= date(year, 12, 31).toordinal())
        return (0.5 * inside).astype(np.float32)
    first = date(year, month, 1).toordinal()
    if day is not None:
        off = np.abs(days - (first + day - 1)).astype(np.float32)
        return np.asarray(np.exp(-off / np.float32(_DAYS_SCALE)), np.float32)
    last = date(year + month // 12, month % 12 + 1, 1).toordinal() - 1
    during: Floats = ((days >= first) & (days <= last)).astype(np.float32)
    later: Floats = ((days > last) & (days <= last + _TOLD_LATER_DAYS)).astype(np.float32)
    found: Floats = during + np.float32(0.5) * later
    return found
