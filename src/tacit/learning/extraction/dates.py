"""Find dates and times in a clause and resolve them against the time it was said."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from tacit.learning.extraction.locale import Locale

# Dates and times in a clause: found, made absolute in the speaker's zone, and written out.

_DATES_MAX_COUNT = 4
_YEARS_MAX_COUNT = 150
RELATIVE_DATES = frozenset({"named", "weekday", "offset", "period", "season"})
# A bare hour, what comes back, and how long something has lasted.
_UNDATED = frozenset({"hour", "recurring", "lasting"})
_SPACES = re.compile(r"\s{2,}")
_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DateMention:
    """One date or time of a clause. `at` is None for what comes back, and for a bare hour."""

    mark: str  # what stands for it in the text that forms are matched with
    said: str
    text: str  # as content says it
    at: datetime | None
    iso: str  # "1990-05-03", "05-03", "2026-05", "2026": the value of a slot
    full: bool  # a day at least, not a month or a year
    today: bool
    relative: bool = False  # said from the day it was said on: "next Friday"
    weekly: bool = False  # comes back: "on Mondays", "every evening"
    hour: bool = False  # a bare time of the day, or one that recurs


def mark_dates(
    text: str, said_at: datetime, locale: Locale, *, past: bool
) -> tuple[str, list[DateMention]]:
    """The text with a mark for every date and time in it, and what the marks mean."""
    found: list[DateMention] = []
    if not may_hold_date(text, locale):
        return _SPACES.sub(" ", text), found
    for form in locale.dates.forms:
        position = 0
        while len(found) < _DATES_MAX_COUNT:
            match = form.match.search(text, position)
            if match is None:
                break
            read = _Reading(match, form.means, said_at, locale, past).read(len(found))
            if read is None:
                position = match.end()
                continue
            found.append(read)
            text = f"{text[: match.start()]}{read.mark}{text[match.end() :]}"
            position = match.start() + len(read.mark)
    return _SPACES.sub(" ", text), found


def may_hold_date(text: str, locale: Locale) -> bool:
    """Whether a text may hold a date at all: looking for one costs most of reading a clause."""
    known = locale.words["date_words"]
    return (
        not known
        or _DIGIT.search(text) is not None
        or not known.isdisjoint(_WORDS.findall(text.lower()))
    )


def spell_dates(text: str, whens: list[DateMention], *, as_said: bool) -> str:
    """The marks written out again, absolute, or as they were said where a date recurs."""
    for when in whens:
        text = text.replace(when.mark, when.said if as_said and not when.relative else when.text)
    return text


class _Reading:
    """One match of one date form, against the moment it was said."""

    def __init__(
        self, match: re.Match[str], means: str, said_at: datetime, locale: Locale, past: bool
    ) -> None:
        self.match, self.means, self.said_at = match, means, said_at
        self.groups = {k: v.casefold() for k, v in match.groupdict().items() if v}
        self.locale = locale
        prep = self.groups.get("prep", "")
        back, on = prep in locale.words["backward"], prep in locale.words["forward"]
        self.past = back or (past and not on)

    def read(self, number: int) -> DateMention | None:
        said = self.match[0]
        if self.means in _UNDATED:
            return DateMention(
                mark=f"⟦t{number}⟧",
                said=said,
                text=said,
                at=None,
                iso=said,
                full=False,
                today=False,
                weekly=self.means == "recurring",
                hour=self.means != "lasting",
            )
        try:
            day, grain, year_said = self._day()
            clock = self._clock()
        except (ValueError, OverflowError, KeyError):
            return None
        if abs(day.year - self.said_at.year) > _YEARS_MAX_COUNT:
            return None
        at = datetime.combine(day, clock or time(), tzinfo=self.said_at.tzinfo)
        return DateMention(
            mark=f"⟦d{number}⟧",
            said=said,
            text=self._written(day, grain, clock),
            at=at,
            iso=_iso(day, grain, year_said),
            full=grain in ("day", "evening", "about"),
            today=day == self.said_at.date() and grain != "year",
            relative=self.means in RELATIVE_DATES,
        )

    def _number(self, group: str, among: str) -> int:
        word = self.groups[group].rstrip(".")
        if word.isdecimal():
            return int(word)
        return int(self.locale.dates.words[among][word])

    def _day(self) -> tuple[date, str, bool]:
        """The day, how exactly it is known, and whether a year was said."""
        today = self.said_at.date()
        if self.means == "named":  # today, tomorrow, the day after tomorrow
            grain = "evening" if self.groups["named"] in self.locale.words["evenings"] else "day"
            return today + timedelta(days=self._number("named", "named")), grain, True
        if self.means == "weekday":
            return self._weekday(today), "day", True
        if self.means == "offset":  # in two weeks, three days ago
            sign = -1 if "ago" in self.groups else 1
            return self._shifted(today, sign * self._number("n", "numbers"))
        if self.means == "period":  # next week, last year, this weekend
            return self._period(today)
        if self.means == "season":  # in autumn, since last spring
            return self._season(today), "season", True
        if "year" in self.groups and "month" not in self.groups:
            return date(int(self.groups["year"]), 1, 1), "year", True
        return self._calendar(today)

    def _calendar(self, today: date) -> tuple[date, str, bool]:
        if "month" not in self.groups:
            return self._day_of_month(today), "day", True
        month = self._number("month", "months")
        day = self._number("day", "numbers") if "day" in self.groups else None
        if "year" in self.groups:
            year = int(self.groups["year"])
            return date(year, month, day or 1), "day" if day else "month", True
        year = today.year
        if day == 29 and month == 2:
            year += 0 if calendar.isleap(year) else 4 - year % 4
        found = date(year, month, day or 1)
        toward = self._number("toward", "which") if "toward" in self.groups else 0
        past = toward < 0 if toward else self.past
        last = found if day else date(year, month, calendar.monthrange(year, month)[1])
        if past and found > today:
            found = found.replace(year=year - 1)
        elif not past and last < today:
            found = found.replace(year=year + 1)
        return found, "day" if day else "month", False

    def _season(self, today: date) -> date:
        month = self._number("season", "seasons")
        if "year" in self.groups:
            return date(int(self.groups["year"]), month, 1)
        first = date(today.year, month, 1)
        over = _months_on(first, 3) <= today
        which = self._number("toward", "which") if "toward" in self.groups else 0
        if which < 0 or (self.past and not which):
            return first if first <= today and (over or not which) else _months_on(first, -12)
        return _months_on(first, 12) if over or (which > 0 and first <= today) else first

    def _day_of_month(self, today: date) -> date:
        day = self._number("day", "numbers")
        first = today.replace(day=1)
        found = first.replace(day=day)
        if self.past and found > today:
            return _months_on(first, -1).replace(day=day)
        return _months_on(first, 1).replace(day=day) if not self.past and found < today else found

    def _weekday(self, today: date) -> date:
        wanted = self._number("weekday", "weekdays")
        which = self._number("which", "which") if "which" in self.groups else None
        ahead = (wanted - today.weekday()) % 7
        if which == -1 or (which is None and self.past):
            return today - timedelta(days=(today.weekday() - wanted) % 7 or 7)
        if which == 1:  # that of the next week, where this week's is still to come
            return (
                today
                + timedelta(days=ahead or 7)
                + timedelta(days=7 if wanted > today.weekday() else 0)
            )
        return today + timedelta(days=ahead if which == 0 else ahead or 7)

    def _shifted(self, today: date, n: int) -> tuple[date, str, bool]:
        unit = str(self.locale.dates.words["units"][self.groups["unit"]])
        if unit == "day":
            return today + timedelta(days=n), "day", True
        if unit == "week":
            return today + timedelta(weeks=n), "about", True
        if unit == "month":
            return _months_on(today, n), "month", True
        return date(today.year + n, 1, 1), "year", True

    def _period(self, today: date) -> tuple[date, str, bool]:
        unit = str(self.locale.dates.words["units"][self.groups["unit"]])
        n = self._number("which", "which")
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=n)
        if unit == "weekend":
            return monday + timedelta(days=5), "weekend", True
        if unit == "week":
            return monday, "week", True
        if unit == "month":
            return _months_on(today, n), "month", True
        if unit == "year":
            return date(today.year + n, 1, 1), "year", True
        raise ValueError(unit)

    def _clock(self) -> time | None:
        if "hour" not in self.groups:
            return None
        hour, minute = int(self.groups["hour"]), int(self.groups.get("minute", 0))
        half = self.groups.get("half", "").replace(".", "")
        if half and half == self.locale.texts["afternoon"] and hour < 12:
            hour += 12
        elif half and half != self.locale.texts["afternoon"] and hour == 12:
            hour = 0
        elif not half and 0 < hour < int(self.locale.texts.get("waking", 0)):
            hour += 0 if self.groups["hour"].startswith("0") else 12
        return time(hour, minute)

    def _written(self, day: date, grain: str, clock: time | None) -> str:
        say = self.locale.dates.say
        prep = self.groups.get("prep", "")
        template = say[grain]
        if prep in self.locale.dates.kept:
            template = f"{prep} {say[f'{grain}_bare']}"
        month = self.locale.dates.months[day.month - 1]
        season = self.match["season"] if "season" in self.groups else ""
        written = template.format(day=day.day, month=month, year=day.year, season=season)
        if "part" in self.groups:
            written += say["part"].format(part=self.groups["part"])
        return written + (say["clock"].format(clock=f"{clock:%H:%M}") if clock else "")


def _months_on(today: date, n: int) -> date:
    months = today.year * 12 + today.month - 1 + n
    return date(months // 12, months % 12 + 1, 1)


def _iso(day: date, grain: str, year_said: bool) -> str:
    if grain == "year":
        return str(day.year)
    if grain in ("month", "season"):
        return f"{day:%Y-%m}" if year_said else f"{day:%m}"
    return f"{day:%Y-%m-%d}" if year_said else f"{day:%m-%d}"


# What the dates of a clause say about how long it holds.


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseTiming:
    """What the dates of a clause say about how long it holds."""

    ahead: bool  # a day to come
    behind: bool  # a day that is over
    stay: bool  # a week, a month or a year that is over
    weekly: bool  # it comes back
    since: bool  # it has lasted: "for ten years", "since May"
    hour: bool

    @property
    def dated(self) -> bool:
        return self.ahead or self.behind


def read_timing(whens: list[DateMention], said_at: datetime, locale: Locale) -> ClauseTiming:
    at = [when for when in whens if when.at and not when.today]
    ahead = [when for when in at if when.at and when.at > said_at]
    began = [when for when in at if when.said.split()[0].lower() in locale.words["backward"]]
    lasted = [when for when in whens if when.at is None and not when.weekly and not when.hour]
    return ClauseTiming(
        ahead=bool(ahead),
        behind=len(at) > len(ahead),
        stay=any(not when.full for when in at if when not in ahead),
        weekly=any(when.weekly for when in whens),
        since=bool(began or lasted),
        hour=any(when.hour for when in whens),
    )
