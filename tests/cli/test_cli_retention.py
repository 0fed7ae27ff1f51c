"""Sweeps and purges on the command line, and a clock that has to be vouched for."""

from datetime import UTC, datetime, timedelta

import pytest

import tacit as library
from tests.cli.conftest import Tacit

ALICE = ("--as", "telegram:1001", "--name", "Alice")


def written_days_ago(url: str, days: int) -> str:
    """Something forgotten, and something that has expired since."""
    then = datetime.now(UTC) - timedelta(days=days)
    with library.open(url, clock=lambda: then, embedder=None) as memory:
        view = memory.view(
            library.Requester("telegram:1001"), library.Chat.private("telegram:1001")
        )
        id: str = view.remember("Alice likes tea").id
        view.forget(id)
        view.remember("Alice is in the kitchen", kind="context")
    return id


@pytest.mark.parametrize("database_url", ["sqlite-file", "postgres"], indirect=True)
def test_a_purge_waits_until_somebody_vouches_for_the_clock(
    tacit: Tacit, database_url: str
) -> None:
    id = written_days_ago(database_url, 40)
    for word in ("expire", "purge"):
        ran = tacit(word)
        assert ran.code == 1
        assert "The clock jumped" in ran.err
        assert "--confirm-clock" in ran.err
        assert tacit(word, "--json").json["waits"] is True
    assert tacit("restore", id, *ALICE).code == 0
    assert tacit("forget", id, *ALICE).code == 0
    ran = tacit("purge", "--confirm-clock", "--json")
    assert (ran.code, ran.json) == (0, {"purged": 0, "postponed": 0, "waits": False})
    ran = tacit("expire", "--json")
    assert ran.code == 0
    assert ran.json["expired"] == 1
    assert tacit("expire").out == "expired  nothing\n"


@pytest.mark.parametrize("database_url", ["sqlite-file"], indirect=True)
def test_a_purge_says_how_much_went(tacit: Tacit, database_url: str) -> None:
    written_days_ago(database_url, 40)
    assert tacit("purge", "--confirm-clock").out == "purged  1\n"
    assert tacit("purge").out == "purged  0\n"
