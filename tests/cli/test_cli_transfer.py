"""Memories that move: exports that are whole, imports that keep what is good."""

import sqlite3
import stat
from pathlib import Path

import pytest

from tacit.cli.output import ExitCode
from tests.cli.conftest import Ran, Tacit

ALICE = ("--as", "telegram:1001")


def exported(ran: Ran) -> list[str]:
    assert ran.code == 0
    return ran.out.splitlines()


@pytest.mark.parametrize("database_url", ["sqlite-file", "postgres"], indirect=True)
def test_an_export_can_be_imported_elsewhere(tacit: Tacit, tmp_path: Path) -> None:
    tacit("remember", "Grüße,\n世界", *ALICE)
    id = tacit("put", "profile", "timezone", "Europe/Lisbon", *ALICE, "--json").json["id"]
    tacit("update", id, "Europe/Porto", *ALICE)
    lines = exported(tacit("export", *ALICE))
    assert lines == exported(tacit("export", *ALICE, "--json"))
    stdin = "\n".join(lines).encode()
    ran = tacit("import", "-", *ALICE, "--space", "other", stdin=stdin)
    assert ran.out == "imported  2 new, 0 already here, 0 refused\n"
    there = tacit("list", *ALICE, "--space", "other", "--json").json["memories"]
    assert {m["content"] for m in there} == {"Grüße,\n世界", "Europe/Porto"}
    again = tacit("import", "-", *ALICE, "--space", "other", stdin=stdin)
    assert again.out == "imported  0 new, 2 already here, 0 refused\n"


def test_a_bad_line_of_an_import_is_refused_and_the_others_are_kept(on_file: Tacit) -> None:
    lines = [
        b'\xef\xbb\xbf{"content": "one"}', b"{", b"[]", b'{"content": ""}', b'{"content": "\xff"}',
        b'{"content": "' + b"x" * 3_000_000 + b'"}', b'{"content": "two", "confidence": 7}',
        b'{"content": "a\\u0000"}', b'{"content": "\\ud800"}', b"[" * 100_000, b"",
        '{"content": "three\u2028lines"}'.encode(),
    ]  # fmt: skip
    ran = on_file("import", "-", *ALICE, stdin=b"\n".join(lines))
    assert ran.code == ExitCode.ABSENT
    assert ran.out == "imported  2 new, 0 already here, 9 refused\n"
    assert [line.split(":")[0] for line in ran.err.splitlines()] == [f"line {n}" for n in range(2, 11)]
    kept = on_file("list", *ALICE, "--json").json["memories"]
    assert [m["content"] for m in kept] == ["three\u2028lines", "one"]


def test_an_export_goes_to_a_new_file_that_only_its_owner_reads(on_file: Tacit, home: Path) -> None:
    on_file("remember", "tea", *ALICE)
    assert on_file("export", "--output", "mine.jsonl", *ALICE).code == 0
    assert stat.S_IMODE((home / "mine.jsonl").stat().st_mode) == 0o600
    (home / "link.jsonl").symlink_to("elsewhere")
    for taken in ("mine.jsonl", "link.jsonl"):
        ran = on_file("export", "--output", taken, *ALICE)
        assert (ran.code, ran.out) == (2, "")
    assert not (home / "elsewhere").exists()
    assert on_file("export", "--output", "no/such/folder", *ALICE).code == ExitCode.SETUP


def test_store_trouble_ends_an_import_instead_of_refusing_its_lines(on_file: Tacit, tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "memory.sqlite")
    database.execute("ALTER TABLE memory_versions RENAME TO elsewhere")
    database.close()
    ran = on_file("import", "-", *ALICE, stdin=b'{"content": "one"}\n')
    assert (ran.code, ran.out) == (ExitCode.STORE, "")
