"""What a form holds is read field by field, and what is wrong is said of its field."""

from datetime import UTC, datetime

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tacit.console import requests, sessions
from tacit.console.sessions import FlashMessage
from tacit.errors import InvalidInput
from tacit.records.memory import Visibility
from tacit.settings import Settings


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
