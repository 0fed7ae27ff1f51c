"""What a server may be set to: where it listens, and by which names and pages it is asked."""

from pathlib import Path

import pytest

from tacit.errors import SettingsError
from tacit.settings import ServerSettings
from tests.settings.test_settings import DEFAULTS, Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def served(place: Place, **variables: str) -> ServerSettings:
    place.environ = {f"TACIT_SERVER_{name}": value for name, value in variables.items()}
    return place.load().server


def test_unless_told_otherwise_it_serves_this_machine_alone() -> None:
    assert DEFAULTS.server == ServerSettings(
        host="127.0.0.1",
        port=8377,
        local=True,
        allowed_hosts=(),
        allowed_origins=(),
        body_max_bytes=1024 * 1024,
        rate_per_minute=600,
        threads=4,
        workers=1,
        drain_seconds=10,
        log="auto",
        mcp=True,
    )


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("localhost", "localhost"),
        ("Memory.Example.org", "memory.example.org"),
        ("0.0.0.0", "0.0.0.0"),
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("fe80::1:2", "fe80::1:2"),
    ],
)
def test_a_host_is_a_name_or_an_address(place: Place, written: str, host: str) -> None:
    assert served(place, HOST=written).host == host


@pytest.mark.parametrize(
    "written", ["", "http://x", "x:80", "a b", "-x", "x/", "[::1", "a" * 300, "127.0.0.1:8377", ":"]
)
def test_what_is_no_host_is_told(place: Place, written: str) -> None:
    with pytest.raises(SettingsError, match=r"server\.host: is not a host"):
        served(place, HOST=written)


def test_names_and_origins_are_lists_without_capitals(place: Place) -> None:
    found = served(
        place,
        ALLOWED_HOSTS="Memory.example.org, [::2]",
        ALLOWED_ORIGINS="https://App.example.org,http://localhost:3000,http://[::1]:80",
    )
    assert found.allowed_hosts == ("memory.example.org", "[::2]")
    assert found.allowed_origins == (
        "https://app.example.org",
        "http://localhost:3000",
        "http://[::1]:80",
    )


@pytest.mark.parametrize("written", ["*", "*.example.org", "x:80", "https://x", "::1", "a/b"])
def test_what_is_no_name_of_a_host_header_is_told(place: Place, written: str) -> None:
    with pytest.raises(SettingsError, match="without scheme, port and wildcard"):
        served(place, ALLOWED_HOSTS=written)


@pytest.mark.parametrize(
    "written",
    ["*", "null", "x", "https://", "https://x/", "https://x/y", "https://u@x", "https://x:", "ws://x",
     "https://x:123456", "https://x:80:80", "https://x?y", "https://*.x"],
)  # fmt: skip
def test_what_is_no_origin_is_told(place: Place, written: str) -> None:
    with pytest.raises(SettingsError, match="is not an origin"):
        served(place, ALLOWED_ORIGINS=written)
