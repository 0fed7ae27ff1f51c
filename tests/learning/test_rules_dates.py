"""Dates: relative ones are made absolute in the speaker's zone, recurring ones are left alone."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.facts import StatedFact

SUNDAY = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)
WEDNESDAY = datetime(2026, 11, 11, 15, 0, tzinfo=UTC)


def only(text: str, said_at: datetime = SUNDAY, code: str = "en") -> StatedFact:
    (found,) = extract_by_rules(text, "Alice", said_at, load_locale(code))
    return found


@pytest.mark.parametrize(
    ("when", "written", "day"),
    [
        ("tomorrow", "on 16 November 2026", "2026-11-16"),
        ("on Friday", "on 20 November 2026", "2026-11-20"),
        ("this Friday", "on 20 November 2026", "2026-11-20"),
        ("next Friday", "on 20 November 2026", "2026-11-20"),
        ("in three days", "on 18 November 2026", "2026-11-18"),
        ("in 2 weeks", "around 29 November 2026", "2026-11-29"),
        ("next week", "in the week of 16 November 2026", "2026-11-16"),
        ("next weekend", "on the weekend of 21 November 2026", "2026-11-21"),
        ("next month", "in December 2026", "2026-12-01"),
        ("next year", "in 2027", "2027-01-01"),
        ("in May", "in May 2027", "2027-05-01"),
        ("on 3 December", "on 3 December 2026", "2026-12-03"),
        ("on December 3rd", "on 3 December 2026", "2026-12-03"),
        ("on the 3rd of December", "on 3 December 2026", "2026-12-03"),
        ("on 4 January", "on 4 January 2027", "2027-01-04"),
        ("on 2027-02-01", "on 1 February 2027", "2027-02-01"),
        ("on 17/2/2027", "on 17 February 2027", "2027-02-17"),
        ("on Friday at 3pm", "on 20 November 2026 at 15:00", "2026-11-20"),
        ("on the 20th", "on 20 November 2026", "2026-11-20"),
        ("by the end of March", "by March 2027", "2027-03-01"),
    ],
)
def test_a_date_is_made_absolute(when: str, written: str, day: str) -> None:
    found = only(f"I'm flying to Rome {when}")
    assert found.content == f"Alice is flying to Rome {written}"
    assert found.observed_at is not None
    assert f"{found.observed_at:%Y-%m-%d}" == day


def test_next_friday_is_that_of_the_next_week_while_this_one_is_to_come() -> None:
    assert "20 November" in only("I'm flying to Rome next Friday", WEDNESDAY).content
    assert "13 November" in only("I'm flying to Rome on Friday", WEDNESDAY).content


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("We moved to Porto in March", "in March 2026"),
        ("We moved to Porto in December", "in December 2025"),
        ("We moved to Porto two years ago", "in 2024"),
        ("We moved to Porto last month", "in October 2026"),
        ("We had dinner with Sarah on Tuesday", "on 10 November 2026"),
        ("I've been vegan since March", "since March 2026"),
    ],
)
def test_what_happened_lies_behind(text: str, written: str) -> None:
    assert only(text).content.endswith(written)


def test_what_somebody_told_may_still_be_to_come() -> None:
    assert only("Maya told us she's moving to Lisbon in January").content.endswith("2027")


def test_the_day_is_that_of_the_speaker() -> None:
    late = datetime(2026, 11, 15, 23, 30, tzinfo=ZoneInfo("America/New_York"))
    found = only("I'm flying to Rome tomorrow", late)
    assert "16 November 2026" in found.content
    assert found.observed_at is not None
    assert found.observed_at.tzinfo is late.tzinfo
    assert only("I'm flying to Rome tomorrow", late.astimezone(UTC)).content.endswith("17 November 2026")


@pytest.mark.parametrize("text", ["My birthday is May 4", "our anniversary is June 10", "I was born on 3 May 1990"])
def test_what_comes_back_every_year_has_no_time_of_its_own(text: str) -> None:
    assert only(text).observed_at is None


def test_a_birthday_on_saturday_has_a_day_and_a_date() -> None:
    found = only("It's my birthday on Saturday")
    assert found.content == "Alice's birthday is on 21 November 2026"
    assert (found.slot, found.value) == ("birthday", "11-21")


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("I run every morning", "runs every morning"),
        ("I play football every Wednesday", "football every Wednesday"),
        ("I work from home on Fridays", "from home on Fridays"),
        ("I go to the gym every Tuesday and Thursday", "every Tuesday and Thursday"),
    ],
)
def test_what_recurs_is_left_as_it_was_said(text: str, ending: str) -> None:
    assert only(text).observed_at is None
    assert only(text).content.endswith(ending)


@pytest.mark.parametrize(
    "text",
    [
        "I need to finish the report",
        "I have to go",
        "I'm flying to Rome",
        "I have an appointment",
        "I need to finish the report today",
    ],
)
def test_a_plan_without_a_day_or_for_today_is_not_kept(text: str) -> None:
    assert extract_by_rules(text, "Alice", SUNDAY, load_locale("en")) == []


@pytest.mark.parametrize("text", ["My exam is on 31 February", "My exam is on 2026-13-45"])
def test_a_day_that_does_not_exist_is_no_date(text: str) -> None:
    assert extract_by_rules(text, "Alice", SUNDAY, load_locale("en")) == []


def test_the_end_of_time_is_no_error() -> None:
    late = datetime(9999, 12, 31, 23, 0, tzinfo=UTC)
    early = datetime(1, 1, 1, tzinfo=UTC)
    for text in ("I'm flying to Rome tomorrow", "We moved to Porto three years ago"):
        extract_by_rules(text, "Alice", late, load_locale("en"))
        extract_by_rules(text, "Alice", early, load_locale("en"))


def test_a_leap_day_is_found_in_a_leap_year() -> None:
    assert "29 February 2028" in only("My exam is on 29 February").content


@pytest.mark.parametrize(
    ("when", "written"),
    [
        ("morgen", "am 16. November 2026"),
        ("am Freitag", "am 20. November 2026"),
        ("im Mai", "im Mai 2027"),
        ("am 3. Dezember", "am 3. Dezember 2026"),
        ("nächste Woche", "in der Woche vom 16. November 2026"),
        ("am 3.12.2026", "am 3. Dezember 2026"),
    ],
)
def test_german_dates(when: str, written: str) -> None:
    assert written in only(f"Ich fliege {when} nach Rom", code="de").content
