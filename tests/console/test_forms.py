"""What a form holds is read field by field, and what is wrong is said of its field."""

from datetime import UTC, datetime, timedelta

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tacit.console import labels, requests, sessions
from tacit.console.sessions import FlashMessage
from tacit.errors import Conflict, InvalidInput
from tacit.records.memory import Visibility
from tacit.settings import Settings

NOW = datetime(2026, 3, 14, 9, 5, tzinfo=UTC)


def test_what_is_wrong_is_told_as_a_sentence_without_names_of_fields() -> None:
    said = {
        "That is empty; write something": InvalidInput("scopes", "is empty; write something"),
        "Type the word erase": InvalidInput("word", "type the word erase"),
        "The memory is at version 3": Conflict("the memory is at version 3"),
    }
    for sentence, error in said.items():
        assert labels.error_sentence(error) == sentence


def test_fields_are_read_as_what_they_are() -> None:
    form = requests.parse_form(b"words=+t%C3%A9+&id=a&id=b&id=a&on=1&n=7&day=2026-03-14&v=room&text=a%0D%0Ab")
    assert form.line("words") == "té"
    assert form.line("nothing") is None
    assert form.many("id") == ("a", "b")
    assert form.flag("on")
    assert not form.flag("off")
    assert form.integer("n", 1, 1, 10) == 7
    assert form.text("text") == "a\nb"
    assert form.choice("v", Visibility) is Visibility.ROOM
    assert form.since("day") == datetime(2026, 3, 14, tzinfo=UTC)
    assert form.until("day") == datetime(2026, 3, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"x=2026-13-01", lambda form: form.since("x")),
        (b"x=0001-01-01", lambda form: form.since("x")),
        (b"x=eleven", lambda form: form.integer("x", 1, 1, 10)),
        (b"x=11", lambda form: form.integer("x", 1, 1, 10)),
        (b"x=\xc2\xb2", lambda form: form.integer("x", 1, 1, 10)),
        (b"x=loud", lambda form: form.choice("x", Visibility)),
        (b"x=a&x=b", lambda form: form.line("x")),
        (b"x=" + b"a" * 3_000, lambda form: form.line("x")),
    ],
)
def test_what_is_wrong_is_said_of_its_field(written, read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput) as wrong:
        read(requests.parse_form(written))
    assert wrong.value.field == "x"


@pytest.mark.parametrize(
    ("apart", "says"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=3), "3 days ago"),
        (timedelta(days=60), "2 months ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(days=-3), "in 3 days"),
        (timedelta(seconds=-3), "in a moment"),
    ],
)
def test_ages_are_said_as_people_say_them(apart: timedelta, says: str) -> None:
    assert labels.format_age(NOW - apart, NOW) == says
    assert labels.format_date_time(NOW) == "14 March 2026, 09:05 UTC"


def test_a_name_of_a_control_holds_no_mark_that_turns_text_round() -> None:
    assert labels.single_line("a\u202eb\n\u2066c") == "a b c"
    assert labels.single_line("word " * 40, 20) == "word word word word…"


def request(cookie: str = "") -> Request:
    headers = [(b"cookie", cookie.encode())] if cookie else []
    return Request({"type": "http", "headers": headers, "scheme": "http", "path": "/"})


def test_what_the_next_page_says_is_believed_only_from_us() -> None:
    answer = Response()
    note = FlashMessage(key="forgotten", ids=("k3Xq81Zb", "no good"), count=2)
    sessions.set_flash(answer, request(), Settings(), "sitting", note)
    sent = answer.headers["set-cookie"].partition(";")[0]
    assert sessions.read_flash(request(sent), "sitting") == FlashMessage(key="forgotten", ids=("k3Xq81Zb",), count=2)
    assert sessions.read_flash(request(sent), "another") is None
    assert sessions.read_flash(request(sent.replace("forgotten", "erased")), "sitting") is None
    assert sessions.read_flash(request(f"{sent}; {sent}"), "sitting") is None
    assert sessions.read_flash(request(), "sitting") is None
