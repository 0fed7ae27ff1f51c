"""Erasures with a certificate, expiry and purges, backups and restores, on the command line."""

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tacit as library
from tacit.cli.output import ExitCode
from tests.cli.conftest import Tacit

ALICE = ("--as", "telegram:1001", "--name", "Alice")


def remembered(tacit: Tacit, text: str, *more: str) -> str:
    id: str = tacit("remember", text, *more, "--json").json["id"]
    return id


def test_a_certificate_is_written_verified_and_renewed(on_file: Tacit) -> None:
    id = remembered(on_file, "tea", *ALICE)
    assert on_file("erase", id, "--certificate", "done.json", "--yes", *ALICE).code == ExitCode.OK
    assert stat.S_IMODE(Path("done.json").stat().st_mode) == 0o600
    assert json.loads(Path("done.json").read_text())["complete"] is True
    assert on_file("certificate", "verify", "done.json").code == ExitCode.OK
    Path("forged.json").write_text(Path("done.json").read_text().replace("memory", "person"))
    ran = on_file("certificate", "verify", "forged.json")
    assert (ran.code, ran.out) == (ExitCode.ABSENT, "not genuine\n")
    assert on_file("certificate", "renew", "forged.json").code == ExitCode.USAGE
    Path("text").write_text("hello")
    assert on_file("certificate", "verify", "text").code == ExitCode.USAGE
    ran = on_file("certificate", "renew", "done.json")
    assert (ran.code, ran.out) == (ExitCode.OK, "complete: no database file holds the data\n")
    wrong = on_file("certificate", "verify", "done.json", "--certificate", "new.json")
    assert wrong.code == ExitCode.USAGE


def test_a_server_says_what_is_pending_and_a_certificate_is_renewed(on_file: Tacit, migrated_postgres_url: str) -> None:
    there = ("--db", migrated_postgres_url)
    id = remembered(on_file, "tea", *there, *ALICE)
    ran = on_file("erase", id, "--certificate", "done.json", "--yes", *there, *ALICE)
    assert ran.out == "erased  1 memory\n"
    assert "tacit maintain --rewrite" in ran.err
    done = json.loads(Path("done.json").read_text())
    assert (done["complete"], [one["where"] for one in done["pending"]]) == (False, ["pages"])
    assert "1 erasure: " in on_file("maintain", *there).err
    # Other tests on this server may hold back the horizon of VACUUM. The command then refuses to
    # call the tables rewritten, and says to run it again.
    for _ in range(10):
        ran = on_file("maintain", "--rewrite", *there)
        if "run it again" not in ran.out:
            break
    assert (ran.code, "rewrote the tables" in ran.out) == (ExitCode.OK, True), ran.out + ran.err
    ran = on_file("certificate", "renew", "done.json", "--certificate", "new.json", *there)
    assert (ran.code, ran.out) == (ExitCode.OK, "pending\n")
    assert "pg_switch_wal()" in ran.err
    new = json.loads(Path("new.json").read_text())
    assert [one["where"] for one in new["pending"]] == ["log"]
    assert on_file("certificate", "verify", "new.json", *there).code == ExitCode.OK


def test_no_certificate_of_what_was_not_erased(on_file: Tacit) -> None:
    absent = on_file("erase", "AAAAAAAA", "--certificate", "no.json", "--yes", *ALICE)
    assert absent.code == ExitCode.ABSENT
    assert not Path("no.json").exists()
    id = remembered(on_file, "tea", *ALICE)
    Path("taken").write_text("precious")
    taken = on_file("erase", id, "--certificate", "taken", "--yes", *ALICE)
    assert taken.code == ExitCode.USAGE
    assert Path("taken").read_text() == "precious"
    assert on_file("show", id, *ALICE).code == ExitCode.OK


def test_a_backup_restored_brings_back_what_was_not_erased_since(on_file: Tacit) -> None:
    id = remembered(on_file, "erased later", *ALICE)
    remembered(on_file, "stays", *ALICE)
    assert on_file("backup", "copy").code == ExitCode.OK
    assert on_file("backup", "copy").code == ExitCode.USAGE
    assert on_file("backup", "copy", "--overwrite").code == ExitCode.OK
    assert on_file("backup", "--verify", "copy", "--json").json["healthy"] is True
    on_file("erase", id, "--yes", *ALICE)
    remembered(on_file, "newer", *ALICE)
    done = on_file("restore", "--from", "copy", "--yes", "--json").json
    assert done["erasures"] == 1
    assert Path(done["aside"]).exists()
    found = on_file("list", *ALICE, "--json").json["memories"]
    assert [one["content"] for one in found] == ["stays"]


def test_what_is_no_backup_is_neither_verified_nor_restored(on_file: Tacit) -> None:
    Path("text").write_text("hello")
    assert on_file("backup", "--verify", "text").code == ExitCode.STORE
    assert on_file("restore", "--from", "text", "--yes").code == ExitCode.STORE


# Expiry and purges.


@pytest.mark.parametrize("database_url", ["sqlite-file", "postgres"], indirect=True)
def test_a_purge_waits_until_the_clock_is_confirmed(tacit: Tacit, database_url: str) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=40)
    alice = library.Requester("telegram:1001")
    with library.open(database_url, clock=lambda: long_ago, embedder=None) as memory:
        view = memory.view(alice, library.Chat.private(alice.key))
        id, other = (view.remember(f"Alice likes {what}").id for what in ("tea", "cocoa"))
        view.forget(id)
        view.forget(other)
        view.remember("Alice is in the kitchen", kind="context")
    for word in ("expire", "purge"):
        ran = tacit(word)
        assert ran.code == ExitCode.ABSENT
        assert "The clock jumped" in ran.err
        assert "--confirm-clock" in ran.err
        assert tacit(word, "--json").json["waits"] is True
    assert tacit("restore", id, *ALICE).code == 0
    assert tacit("forget", id, *ALICE).code == 0
    ran = tacit("purge", "--confirm-clock", "--json")
    assert (ran.code, ran.json) == (0, {"purged": 1, "postponed": 0, "waits": False})
    assert tacit("purge").out == "purged  0\n"
    ran = tacit("expire", "--json")
    assert (ran.code, ran.json["expired"]) == (0, 1)
    assert tacit("expire").out == "expired  nothing\n"
