"""Host and Origin: a web page must not reach a memory through somebody's browser."""

from dataclasses import replace

import pytest

from tacit.server.authentication import allowed_hosts, allowed_origins, is_host_allowed, is_loopback, is_origin_allowed
from tacit.settings import ConsoleSettings, ServerSettings, Settings

OURS = frozenset({"localhost", "127.0.0.1", "[::1]", "memory.example.org"})


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8377", "127.0.0.1:1", "[::1]", "[::1]:8377", "memory.example.org:443"]
)
def test_our_own_names_are_answered_on_any_port(host: str) -> None:
    assert is_host_allowed(host, OURS)


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "localhost.evil.example", "evil.example:8377", "localhost@evil",
     "memory.example.org.", "localhost:", "localhost:80:80", "::1", "[::1", "a b", "localhost\n",
     "localhost:8377\n", "localhost:٣"],
)  # fmt: skip
def test_no_other_name_is_answered(host: str | None) -> None:
    assert not is_host_allowed(host, OURS)


def test_the_names_are_those_of_this_machine_the_bind_and_the_settings() -> None:
    own = {"localhost", "127.0.0.1", "[::1]"}
    assert allowed_hosts(Settings()) == own
    for host, more in (("0.0.0.0", set()), ("::", set()), ("10.0.0.5", {"10.0.0.5"}), ("fd00::5", {"[fd00::5]"})):
        assert allowed_hosts(Settings(server=ServerSettings(host=host))) == own | more
    named = replace(Settings(), server=ServerSettings(allowed_hosts=("memory.example.org",)))
    assert allowed_hosts(named) == OURS


def test_where_people_reach_the_console_is_let_in_as_long_as_there_is_one() -> None:
    for url, host in (
        ("https://memory.example.org", "memory.example.org"),
        ("https://memory.example.org:8443", "memory.example.org"),
        ("http://[fd00::5]:80", "[fd00::5]"),
    ):
        there = Settings(console=ConsoleSettings(url=url))
        assert allowed_hosts(there) == {"localhost", "127.0.0.1", "[::1]", host}
        assert allowed_origins(there) == {url}
        assert is_origin_allowed(url, host, allowed=allowed_origins(there))
        assert not is_origin_allowed(f"{url}1", host, allowed=allowed_origins(there))
    off = Settings(console=ConsoleSettings(enabled=False, url="https://memory.example.org"))
    assert is_host_allowed("memory.example.org", allowed_hosts(off)) is False
    assert allowed_origins(off) == allowed_origins(Settings()) == frozenset()
    more = Settings(server=ServerSettings(allowed_origins=("https://app.example.org",)))
    assert allowed_origins(more) == {"https://app.example.org"}


@pytest.mark.parametrize(
    ("host", "only_here"),
    [("localhost", True), ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("[::1]", True),
     ("0.0.0.0", False), ("::", False), ("10.0.0.5", False), ("memory.example.org", False),
     ("localhost.evil.example", False), ("", False)],
)  # fmt: skip
def test_loopback_is_what_only_this_machine_reaches(host: str, only_here: bool) -> None:
    assert is_loopback(host) is only_here


def test_whoever_sends_no_origin_is_no_web_page() -> None:
    assert is_origin_allowed(None, "localhost:8377")


@pytest.mark.parametrize(
    ("origin", "host", "scheme"),
    [("http://localhost:8377", "localhost:8377", "http"),
     ("HTTP://LOCALHOST:8377", "localhost:8377", "http"),
     ("http://localhost", "localhost:80", "http"),
     ("https://memory.example.org", "memory.example.org", "https"),
     ("https://memory.example.org:443", "memory.example.org", "https"),
     ("http://[::1]:8377", "[::1]:8377", "http")],
)  # fmt: skip
def test_pages_of_our_own_may_ask(origin: str, host: str, scheme: str) -> None:
    assert is_origin_allowed(origin, host, scheme="https" if scheme == "https" else "http")


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", "http://localhost:8378", "https://localhost:8377",
     "http://localhost:8377.evil.example", "http://localhost:8377@evil.example",
     "http://localhost:8377/", "file://", "http://localhost"],
)  # fmt: skip
def test_pages_of_others_may_not(origin: str) -> None:
    assert not is_origin_allowed(origin, "localhost:8377")


def test_pages_that_the_settings_name_may_ask() -> None:
    allowed = ("https://app.example.org",)
    assert is_origin_allowed("https://app.example.org", "localhost:8377", allowed=allowed)
    assert not is_origin_allowed("http://app.example.org", "localhost:8377", allowed=allowed)
    assert not is_origin_allowed("https://app.example.org", None)
