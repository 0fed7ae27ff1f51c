"""A client on bad days: what it tries again, when it gives up, and what it says then."""

import threading

import pytest

import tacit
from tacit import errors
from tacit.errors import KeyRefused, LanguageUnavailable
from tacit.memory import View
from tacit.wire import http_problem
from tests.client.scripted_server import DONE, FarSide, Paused, Reply, problem, refuses, says


def test_a_read_is_tried_again_while_the_server_is_busy(far: FarSide, view: View, paused: Paused) -> None:
    busy = refuses(errors.StoreBusy("later"), retry_after="3")
    far.script = [busy, Reply(b"<html>", 502, {"content-type": "text/html"})]

    assert view.stats().memories == 3
    assert len(far.asked) == 3
    assert 3 <= paused.seconds[0] < 4
    assert paused.seconds[1] < 1


def test_a_write_is_tried_again_under_one_name_so_that_it_is_done_once(far: FarSide, view: View) -> None:
    far.script = [Reply(b"", cut=True), refuses(errors.StoreBusy("later")), says(DONE), says(DONE)]
    view.remember("I live in Kyiv", importance=4)
    view.remember("I live in Kyiv", importance=4)
    names = [one.headers["idempotency-key"] for one in far.asked]

    assert names[0] == names[1] == names[2] != names[3]
    assert {one.body for one in far.asked} == {b'{"content": "I live in Kyiv", "importance": 4}'}


def test_what_would_be_done_twice_is_tried_once(far: FarSide, view: View) -> None:
    far.always = refuses(errors.StoreBusy("later"))
    with pytest.raises(tacit.StoreBusy):
        view.trace("I live in Kyiv", keep=True)
    with pytest.raises(tacit.StoreBusy):
        view.imports.add_lines(["{}"])

    assert len(far.asked) == 2


def test_what_surely_was_not_begun_is_tried_again_in_any_case(far: FarSide, view: View) -> None:
    far.script = [
        problem(http_problem("draining", "r1")),
        refuses(errors.TooManyRequests(1), retry_after="1"),
        says([{"stage": "kept", "says": "nothing"}]),
    ]
    view.trace("I live in Kyiv", keep=True)

    assert len(far.asked) == 3


def test_tries_come_to_an_end(far: FarSide, view: View) -> None:
    far.always = refuses(errors.StoreUnavailable("the database is away"))
    with pytest.raises(tacit.StoreUnavailable, match="the database is away"):
        view.stats()

    assert len(far.asked) == 4


def test_nobody_waits_for_longer_than_they_said(far: FarSide, view: View, paused: Paused) -> None:
    far.always = refuses(errors.TooManyRequests(60), retry_after="60")
    with pytest.raises(tacit.TooManyRequests) as refused:
        view.stats()

    assert refused.value.retry_after_seconds == 60
    assert paused.seconds == []


def test_a_server_that_says_nothing_is_left_in_time(far: FarSide) -> None:
    far.always = Reply(waits=True)
    with tacit.connect(far.url, timeout=0.2) as client, pytest.raises(tacit.StoreUnavailable, match=r"within 0\.2 s"):
        client.view("telegram:1").stats()


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (refuses(errors.InvalidInput("content", "is empty")), tacit.InvalidInput),
        (refuses(errors.SecretRefused("content", "password", "No.")), tacit.SecretRefused),
        (refuses(errors.Conflict("moved on")), tacit.Conflict),
        (refuses(errors.KeyRefused()), KeyRefused),
        (refuses(errors.NotAllowed()), tacit.NotAllowed),
        (refuses(errors.LanguageUnavailable("the model is away")), LanguageUnavailable),
        (problem(http_problem("precondition-failed", "r1")), tacit.Conflict),
        (problem(http_problem("too-large", "r1")), tacit.InvalidInput),
        (problem(http_problem("headers-too-large", "r1")), tacit.InvalidInput),
        (problem(http_problem("internal", "r1")), tacit.StoreError),
        (problem(http_problem("no-such-route", "r1")), tacit.StoreError),
        (problem(http_problem("misdirected", "r1")), tacit.StoreError),
        (Reply(b"", 302, {"location": "http://elsewhere/"}), tacit.StoreError),
        (Reply(b"<html>", 404, {"content-type": "text/html"}), tacit.StoreError),
        (Reply(b"<html>"), tacit.StoreError),
        (Reply(b"[" * 100_000), tacit.StoreError),
        (says({"memories": "many"}), tacit.StoreError),
        (says([]), tacit.StoreError),
        (says(None), tacit.StoreError),
    ],
)
def test_trouble_comes_as_the_error_that_the_library_would_raise(
    far: FarSide, view: View, reply: Reply, kind: type[Exception]
) -> None:
    far.always = reply
    with pytest.raises(kind) as met:
        view.stats()

    assert type(met.value) is kind
    assert len(far.asked) == 1


def test_an_export_that_breaks_off_is_not_taken_for_whole(far: FarSide, view: View) -> None:
    far.always = Reply(b"{}\n{}\n", cut=True)
    exported = view.audit.export_history()

    assert [next(exported), next(exported)] == ["{}", "{}"]
    with pytest.raises(tacit.StoreUnavailable, match="lost in the middle"):
        next(exported)


def test_a_closed_client_says_so_and_stops_waiting(far: FarSide) -> None:
    far.always = refuses(errors.StoreBusy("later"), retry_after="15")
    client = tacit.connect(far.url)
    view = client.view("telegram:1")
    closing = threading.Timer(0.2, client.close)
    closing.start()
    with pytest.raises(tacit.StoreUnavailable, match="closed"):
        view.stats()
    closing.join()
    with pytest.raises(tacit.StoreUnavailable, match="closed"):
        client.view("telegram:1").stats()

    assert len(far.asked) == 1
