"""Whatever the public API takes and answers travels as JSON, and comes back the same."""

import inspect
import json
import types
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import errors
from tacit.records import accounts, conversation, memory, notes, request, results
from tacit.records.memory import Memory
from tacit.records.results import Page
from tacit.wire import (
    WireFormatError,
    decode,
    encode,
    error_from_problem,
    error_status,
    http_problem,
    problem_from_error,
)

MODULES = (request, results, memory, conversation, notes, accounts, results, results)
# Taken and never given: a server reads it as it reads what people write (`model.imports.incoming`).
SENT_ONLY = {tacit.ImportItem}
RECORDS = sorted(
    {
        found
        for module in (*MODULES, tacit)
        for found in vars(module).values()
        if inspect.isclass(found) and is_dataclass(found)
    }
    - SENT_ONLY,
    key=lambda one: (one.__module__, one.__name__),
)
ERRORS = [found for found in vars(errors).values() if inspect.isclass(found)]
HIDDEN = {
    errors.TacitError,
    errors.SettingsError,
    errors.MissingExtra,
    errors.StoreError,
    errors.SchemaMismatch,
    errors.ErasureForged,
    errors.DisclosureBreach,
}
MADE: dict[type, Any] = {
    errors.InvalidInput: lambda words: errors.InvalidInput("content", words),
    errors.SecretRefused: lambda words: errors.SecretRefused("content", "password", words),
    errors.NoteMoved: lambda _: errors.NoteMoved(),
    errors.KeyRefused: lambda _: errors.KeyRefused(),
    errors.SignInRefused: lambda _: errors.SignInRefused(),
    errors.NotAllowed: lambda _: errors.NotAllowed(),
    errors.TooManyRequests: lambda _: errors.TooManyRequests(3),
    errors.MissingExtra: lambda words: errors.MissingExtra("client", words),
    errors.LanguageUnavailable: lambda words: errors.LanguageUnavailable(words, 1.5),
}

ZONES = st.builds(timezone, st.integers(-23, 23).map(lambda hours: timedelta(hours=hours)))
MOMENTS = st.builds(
    lambda at, zone: at.astimezone(zone),
    st.integers(0, 10**10).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    ZONES,
)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=8),
    int: st.integers(),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    datetime: MOMENTS,
    date: st.dates(),
    type(None): st.none(),
    Any: st.none() | st.integers() | st.lists(st.text(max_size=3), max_size=2),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Anything that a type can hold."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if isinstance(hint, TypeVar):
        return PLAIN[Any]
    if origin in (Union, types.UnionType):
        return st.one_of(*map(values, inside))
    if origin is Literal:
        return st.sampled_from(inside)
    if inspect.isclass(hint) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    if is_dataclass(hint):
        return records(hint)
    if origin is tuple and inside[-1] is not Ellipsis:
        return st.tuples(*map(values, inside))
    many = values(inside[-1] if origin not in (tuple, frozenset) else inside[0])
    if origin is tuple:
        return st.lists(many, max_size=2).map(tuple)
    if origin is frozenset:
        return st.frozensets(many, max_size=3)
    if origin is list:
        return st.lists(many, max_size=2)
    return st.dictionaries(st.text(max_size=4), many, max_size=2)


def records(cls: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls)
    return st.deferred(lambda: st.builds(cls, **{one.name: values(hints[one.name]) for one in fields(cls)}))


def travelled(what: Any, value: object) -> Any:
    return decode(what, json.loads(json.dumps(encode(value), allow_nan=False)))


@pytest.mark.parametrize("cls", RECORDS, ids=lambda one: one.__name__)
@settings(max_examples=12)
@given(data=st.data())
def test_every_record_comes_back_as_it_was_sent(cls: type, data: st.DataObject) -> None:
    record = data.draw(records(cls))

    assert travelled(cls, record) == record


def test_a_page_comes_back_with_what_is_on_it() -> None:
    page = Page(items=(accounts.Person(id="a", names=(), identities=frozenset({"x", "b"})),))

    assert travelled(Page[accounts.Person], page) == page
    assert encode(page)["items"][0]["identities"] == ["b", "x"]


def test_fields_that_are_not_known_yet_are_passed_over() -> None:
    told = {**encode(results.Recorded(ids=("a",))), "from_the_future": 1}

    assert decode(results.Recorded, told) == results.Recorded(ids=("a",))


@pytest.mark.parametrize(
    ("what", "value", "at"),
    [
        (Page[Memory], {"items": [{"id": "a"}]}, "items.space"),
        (results.Recorded, {"ids": "abc"}, "ids"),
        (results.Recorded, {"ids": [1]}, "ids"),
        (results.Recorded, [], ""),
        (results.Accepted, {"turns": True}, "turns"),
        (results.Change, {"revision": 1.0}, "revision"),
        (results.JobStatus, {"task": "expire", "state": "asleep"}, "state"),
        (results.JobRun, {"started_at": "yesterday"}, "started_at"),
        (results.Stats, {"by_kind": {"a": "b"}}, "by_kind.a"),
    ],
)
def test_what_has_another_form_is_refused_and_said_where(what: Any, value: object, at: str) -> None:
    with pytest.raises(WireFormatError) as refused:
        decode(what, value)

    assert refused.value.path == at


@pytest.mark.parametrize("value", [object(), float("nan"), float("inf"), b"x", {1: 2}])
def test_what_json_cannot_say_is_not_sent(value: object) -> None:
    with pytest.raises(WireFormatError):
        encode(value)


def made(kind: Any, words: str) -> errors.TacitError:
    error: errors.TacitError = MADE.get(kind, kind)(words)
    return error


@pytest.mark.parametrize("kind", ERRORS, ids=lambda one: one.__name__)
@settings(max_examples=10)
@given(words=st.text(max_size=20))
def test_every_error_comes_back_with_its_words(kind: type, words: str) -> None:
    sent = made(kind, words)
    problem = json.loads(json.dumps(problem_from_error(sent, "r1")))
    if kind in HIDDEN:
        assert problem == http_problem("internal", "r1")
        assert error_from_problem(problem) is None
        return
    met = error_from_problem(problem)

    assert type(met) is kind
    assert str(met) == str(sent)
    assert vars(met) == vars(sent)


def test_an_error_that_nobody_expected_tells_nothing() -> None:
    told = problem_from_error(KeyError("telegram:1001"), "r1")

    assert told == {"type": "urn:tacit:problem:internal", "title": "Internal", "status": 500, "request_id": "r1"}


def test_an_error_says_what_it_is_in_the_form_of_rfc_9457() -> None:
    told = problem_from_error(errors.NotFound(), "r1")

    assert told == {
        "type": "urn:tacit:problem:not-found",
        "title": "Not found",
        "status": 404,
        "detail": "no such memory here",
        "request_id": "r1",
    }
    assert problem_from_error(errors.Conflict("moved on"), "r1", suggestion={"id": "a"})["suggestion"] == {"id": "a"}
    assert error_status(errors.StoreBusy("later")) == error_status(errors.StoreUnavailable("no")) == 503


def test_an_answer_sets_nothing_of_an_error_but_what_errors_have() -> None:
    told = {**problem_from_error(errors.NotFound(), "r1"), "args": ["x"], "__class__": "x", "kind": "k"}
    met = error_from_problem(told)

    assert str(met) == "no such memory here"
    assert vars(met) == {"kind": "k"}
