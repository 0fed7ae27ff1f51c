"""What the console may be set to: where people reach it, and for how long they stay signed in."""

from pathlib import Path

import pytest

from tacit.errors import SettingsError
from tacit.settings import ConsoleSettings
from tests.settings.test_settings import DEFAULTS, Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def console(place: Place, **variables: str) -> ConsoleSettings:
    place.environ = {f"TACIT_CONSOLE_{name}": value for name, value in variables.items()}
    return place.load().console


def test_unless_told_otherwise_it_is_there_and_has_no_address_of_its_own() -> None:
    assert DEFAULTS.console == ConsoleSettings(
        enabled=True, url="", link_minutes=10, idle_minutes=30, session_hours=12
    )


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("", ""),
        ("https://Memory.example.org", "https://memory.example.org"),
        ("https://memory.example.org/", "https://memory.example.org"),
        ("http://127.0.0.1:8377", "http://127.0.0.1:8377"),
        ("http://[::1]:8377/", "http://[::1]:8377"),
    ],
)
def test_its_address_is_that_of_a_server(place: Place, written: str, url: str) -> None:
    assert console(place, URL=written).url == url


@pytest.mark.parametrize(
    "written",
    ["memory.example.org", "https://x/console", "https://x//", "https://x?y", "https://me:key@x",
     "*", "https://", "javascript:alert(1)", "https://x\n"],
)  # fmt: skip
def test_what_is_no_address_of_a_server_is_told_and_not_repeated(
    place: Place, written: str
) -> None:
    with pytest.raises(SettingsError, match="with nothing after the host") as told:
        console(place, URL=written)
    assert written not in str(told.value).replace("https://memory.example.org", "")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("LINK_MINUTES", "0"),
        ("IDLE_MINUTES", "4"),
        ("IDLE_MINUTES", "1441"),
        ("SESSION_HOURS", "0"),
    ],
)
def test_nobody_stays_signed_in_for_ever(place: Place, name: str, written: str) -> None:
    with pytest.raises(SettingsError, match="must be a whole number from"):
        console(place, **{name: written})
