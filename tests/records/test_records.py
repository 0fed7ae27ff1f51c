"""Parsing at the edge: a value comes back usable, or a typed error does. Without a database."""

import math
from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import InvalidInput
from tacit.records import drafts, queries, validation
from tacit.records.drafts import Draft
from tacit.records.memory import CATEGORIES, State
from tacit.records.results import Maintained, Page, Remembered

ANYTHING = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.lists(st.text()))


def test_records_cannot_be_changed() -> None:
    done = Remembered(id="AAAAAAAA", state=State.ACTIVE, version=1, created=True)
    for thing in (done, tacit.Requester("telegram:1"), tacit.Chat.private("telegram:1"), Draft()):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, fields(thing)[0].name, "other")


@given(ANYTHING)
def test_any_content_is_kept_as_it_is_or_refused(value: Any) -> None:
    try:
        kept = validation.parse_content(value)
    except InvalidInput as error:
        assert error.field == "content"  # noqa: PT017 (only some values are refused)
        return
    assert kept == value
    assert kept.strip()
    kept.encode()


@given(ANYTHING)
def test_any_identifier_can_be_seen_or_is_refused(value: Any) -> None:
    try:
        kept = validation.parse_identifier("key", value, 50)
    except InvalidInput as error:
        assert error.field == "key"  # noqa: PT017 (only some values are refused)
        return
    assert kept == validation.parse_identifier("key", kept, 100)
    assert kept == kept.strip() != ""
    assert kept.isprintable() or " " in kept or any(c.isspace() for c in kept)


@pytest.mark.parametrize("length", [limits.CONTENT_MAX_CHARS, limits.CONTENT_MAX_CHARS + 1])
def test_content_ends_where_its_limit_is(length: int) -> None:
    if length <= limits.CONTENT_MAX_CHARS:
        assert len(validation.parse_content("é" * length)) == length
    else:
        with pytest.raises(InvalidInput, match="16,001"):
            validation.parse_content("é" * length)


def test_two_spellings_that_look_alike_are_one_identifier() -> None:
    assert validation.parse_identifier("key", "cafe\N{COMBINING ACUTE ACCENT}", 50) == "café"


@given(st.text())
def test_folding_a_name_twice_changes_nothing_more(name: str) -> None:
    once = validation.fold_name(name)
    assert len(once) <= limits.NAME_MAX_CHARS
    assert "  " not in once


@pytest.mark.parametrize("spelling", ["Sarah", "SARAH", "  sarah ", "Ｓａｒａｈ", "sarah"])
def test_spellings_of_a_name_fold_together(spelling: str) -> None:
    assert validation.fold_name(spelling) == "sarah"


@given(ANYTHING)
def test_what_a_channel_shows_is_cleaned_and_never_refused(name: Any) -> None:
    shown = validation.clean_display_name(name)
    assert len(shown) <= limits.NAME_MAX_CHARS
    assert shown == shown.strip()
    if shown:
        assert validation.parse_identifier("name", shown, limits.NAME_MAX_CHARS) == shown


@given(ANYTHING)
def test_only_eight_letters_and_digits_are_an_id(value: Any) -> None:
    kept = validation.parse_memory_id(value)
    assert kept is None or (kept == value and len(kept) == 8 and kept.isascii() and kept.isalnum())


@pytest.mark.parametrize("value", [7, -0.1, 1.0001, math.nan, math.inf, True, "1", None, 10**400])
def test_what_is_no_fraction_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="confidence"):
        validation.parse_fraction("confidence", value)


@pytest.mark.parametrize("value", [0, 6, True, False, 3.0, "3", None, math.nan])
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="importance"):
        validation.parse_int("importance", value, 1, 5)


class Vague(tzinfo):
    """A time zone that does not know its own offset."""

    def utcoffset(self, _: datetime | None) -> timedelta | None:
        return None

    def dst(self, _: datetime | None) -> timedelta | None:
        return None

    def tzname(self, _: datetime | None) -> str:
        return "somewhere"


def test_a_time_is_aware_and_becomes_utc() -> None:
    there = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=9)))
    assert validation.parse_datetime("observed_at", there) == there
    assert validation.parse_datetime("observed_at", there).tzinfo is UTC
    naive = there.replace(tzinfo=None)
    for value in (naive, naive.replace(tzinfo=Vague()), "2026-01-01", 5, None, there.date()):
        with pytest.raises(InvalidInput, match="observed_at"):
            validation.parse_datetime("observed_at", value)
    edge = datetime.min.replace(tzinfo=timezone(timedelta(hours=9)))
    with pytest.raises(InvalidInput, match="too far"):
        validation.parse_datetime("observed_at", edge)


@given(st.datetimes(timezones=st.just(UTC)))
def test_micros_keep_a_time_exactly(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


def test_tags_are_a_set_in_the_order_of_the_alphabet() -> None:
    assert validation.parse_tags(["b", "a", "b"]) == ("a", "b")
    assert validation.parse_tags([]) == ()
    assert len(validation.parse_tags([str(number) for number in range(32)])) == 32
    for bad in ("tag", 5, None, [5], [""], [" a"], ["x" * 65], [str(n) for n in range(33)]):
        with pytest.raises(InvalidInput, match="tags"):
            validation.parse_tags(bad)


@given(ANYTHING)
def test_any_cursor_is_ours_or_refused(value: Any) -> None:
    try:
        found = queries.decode_cursor(value)
    except InvalidInput as error:
        assert error.field == "cursor"  # noqa: PT017 (only some values are refused)
        return
    assert found is None or validation.parse_memory_id(found[1]) == found[1]


def test_a_draft_knows_what_was_said_and_what_was_not() -> None:
    said = drafts.parse_draft({"content": "x", "pinned": False, "importance": None}, CATEGORIES)
    assert said.given_fields >= {"content", "pinned"}
    assert "importance" not in said.given_fields
    assert said.pinned is False


def test_a_draft_names_the_field_that_is_wrong() -> None:
    for values, field in (
        ({"nonsense": 1}, "nonsense"),
        ({"created_at": datetime.now(UTC)}, "created_at"),
        ({"trust": "stated"}, "trust"),
        ({"category": "nonsense"}, "category"),
        ({"about": "Sarah"}, "about"),
        ({"about": ["x"] * 65}, "about"),
        ({"withheld_from": range(10**12)}, "withheld_from"),
    ):
        with pytest.raises(InvalidInput) as caught:
            drafts.parse_draft(dict(values), CATEGORIES)
        assert caught.value.field == field


def test_errors_are_one_tree_and_name_what_to_do() -> None:
    for name in tacit.__all__:
        thing = getattr(tacit, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            assert issubclass(thing, tacit.TacitError)
    error = InvalidInput("key", "is empty; write one")
    assert (str(error), error.field, error.problem) == ("key: is empty; write one", "key", "is empty; write one")
    assert isinstance(error, ValueError)
    assert str(tacit.NotFound()) == "no such memory here"
    assert str(tacit.MissingExtra("postgres", "PostgreSQL")) == (
        "the extra `postgres` is needed for PostgreSQL: in Tacit's folder, pip install '.[postgres]'"
    )


def test_results_say_whether_they_hold() -> None:
    assert not Remembered(id="", state=None, version=0, created=False)
    assert Maintained(problems=(), did=()).healthy
    assert not Maintained(problems=("x",), did=()).healthy
    assert list(Page(items=(1, 2))) == [1, 2]
