"""Bad input of every kind: an exit code and one message, never a traceback, nothing written."""

import shlex
import sqlite3
import sys
from pathlib import Path

import pytest

from tacit import limits
from tacit.cli.output import ExitCode, find_exit_code
from tacit.errors import Conflict, EmbeddingFailed, MissingExtra, NotFound, StoreBusy, TacitError
from tests.cli.conftest import Tacit
from tests.corpus import check_each, read_corpus

ALICE = ("--as", "telegram:1001")
ZERO_WIDTH, RIGHT_TO_LEFT = "\u200b", "\u202e"
REFUSED = Path(__file__).parent / "refused.tsv"
TOO_LONG = [
    ("remember", "x" * 1_000_000),
    ("remember", "tea", "--importance", "9" * 5000),
    ("put", "goal", "k" * 201, "v"),
    ("recall", "x" * (limits.QUERY_MAX_CHARS + 1)),
    ("recall", "tea", "--top-k", str(limits.RECALL_MAX_COUNT + 1)),
]
KEYS = ["", "1001", "telegram:", "telegram:x", "telegram:-5", "ext:telegram:1", "person:AAAAAAAA",
        "telegram:1" + ZERO_WIDTH, RIGHT_TO_LEFT + "telegram:1", "tele gram:1", "slack:T1",
        "a:\0", "a:" + "x" * 300, "';--:1", "a:\ud800"]  # fmt: skip
IDS = ["", "A", "AAAAAAAAA", "../../etc", "'; --", "A" * 1_000_000, "AAAAAAA\0",
       "AAAAAAA" + ZERO_WIDTH, "ÄÄÄÄÄÄÄÄ", "\ud800" * 8]  # fmt: skip


def test_what_cannot_be_used_is_refused_with_code_2(on_file: Tacit) -> None:
    cases = [(tuple(shlex.split(line)), "".join(told)) for line, *told in read_corpus(REFUSED)]

    def is_refused(case: tuple[tuple[str, ...], str]) -> bool:
        argv, told = case
        ran = on_file(*argv, *ALICE)
        as_json = on_file(*argv, *ALICE, "--json")
        return (
            (ran.code, ran.out, as_json.code, as_json.out) == (2, "", 2, "")
            and ran.err.startswith("tacit: ")
            and told in ran.err
            and len(ran.err) < 7_000  # as long as the help
            and as_json.error["exit"] == ExitCode.USAGE
        )

    check_each([*cases, *((argv, "") for argv in TOO_LONG)], is_refused)
    assert on_file("stats", "--whole-space", "--json").json["memories"] == 0


def test_an_identity_that_is_none_is_refused_with_code_2(on_file: Tacit) -> None:
    for key in KEYS:
        ran = on_file("remember", "tea", f"--as={key}")
        assert (ran.code, ran.out) == (2, ""), key
    assert on_file("stats", "--whole-space", "--json").json["memories"] == 0


def test_an_id_that_is_none_does_not_exist(on_file: Tacit) -> None:
    for id in IDS:
        for word in ("show", "forget", "history", "explain", "restore", "pin"):
            ran = on_file(word, *ALICE, "--", id)
            assert (ran.code, ran.out, ran.err) == (1, "", "tacit: no such memory here\n"), id


TEXTS = [
    "'; DROP TABLE memories; --", "tea AND coffee", '"tea', "tea*", "owner:alice", "NEAR(a b)",
    "-tea", "--json", "100%_", "👩\u200d👧 世界 ما", "a\tb\r\nc", "\\", "{id}", "$(ls)",
]  # fmt: skip


@pytest.mark.parametrize("database_url", ["sqlite-file", "postgres"], indirect=True)
def test_text_that_looks_like_a_command_is_kept_and_found_as_text(tacit: Tacit) -> None:
    for text in TEXTS:
        id = tacit("remember", "--json", *ALICE, "--", text).json["id"]
        assert tacit("show", id, *ALICE, "--json").json["memory"]["content"] == text
        assert tacit("recall", *ALICE, "--", text).code == 0
    for key in ("100%_", "'; --", "-k", "世界"):
        assert tacit("put", "goal", *ALICE, "--", key, "tea").code == 0
    found = tacit("recall", "--top-k", "10", "--json", *ALICE, "--", "tea AND").json["recalled"]
    assert "tea AND coffee" in [one["memory"]["content"] for one in found]
    assert len(tacit("list", "--prefix", "100%", *ALICE, "--json").json["memories"]) == 1
    assert tacit("list", "--prefix", "%", *ALICE, "--json").json["memories"] == []


def test_text_may_come_on_standard_input(on_file: Tacit) -> None:
    id = on_file("remember", "-", *ALICE, "--json", stdin="Grüße\nWelt\n".encode()).json["id"]
    assert on_file("show", id, *ALICE, "--json").json["memory"]["content"] == "Grüße\nWelt"
    assert on_file("update", id, "-", *ALICE, stdin=b"tea\r\n").code == 0
    assert on_file("show", id, *ALICE, "--json").json["memory"]["content"] == "tea"
    longest = "é" * limits.CONTENT_MAX_CHARS
    assert on_file("put", "goal", "k", "-", *ALICE, stdin=longest.encode()).code == 0
    for wrong in (b"", b"\xff", b"x" * 1_000_000, longest.encode() + b"x", b"a\0"):
        ran = on_file("remember", "-", *ALICE, stdin=wrong)
        assert (ran.code, ran.out) == (2, "")


def test_a_file_that_cannot_be_read_is_code_6(on_file: Tacit, home: Path) -> None:
    assert on_file("import", "no-such-file", *ALICE).err == ("tacit: no-such-file: No such file or directory\n")
    assert on_file("import", ".", *ALICE).code == ExitCode.SETUP
    assert on_file("list", "--config", "no-such-file", *ALICE).code == ExitCode.SETUP
    assert on_file("list", "--config", "", *ALICE).code == ExitCode.SETUP
    (home / "tacit.yaml").write_text("memory: {enabled: maybe}\n")
    ran = on_file("list", *ALICE, "--json")
    assert (ran.code, ran.error["type"]) == (ExitCode.SETUP, "SettingsError")


def test_a_database_that_cannot_be_used_is_code_5(bare: Tacit, home: Path) -> None:
    (home / "garbage").write_text("this is no database, whatever its name may say\n" * 50)
    for url in ("garbage", ".", "nope://x", "garbage/below", "sqlite:////proc/nope/x",
                "postgresql://nobody@127.0.0.1:1/none"):  # fmt: skip
        ran = bare("--db", url, "list", *ALICE)
        assert (ran.code, ran.out) == (ExitCode.STORE, ""), url
        assert bare("--db", url, "list", *ALICE, "--json").error["exit"] == ExitCode.STORE


def test_a_newer_database_is_left_alone(on_file: Tacit, tmp_path: Path) -> None:
    on_file("remember", "tea", *ALICE)
    database = sqlite3.connect(tmp_path / "memory.sqlite")
    database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.commit()
    database.close()
    ran = on_file("list", *ALICE, "--json")
    assert (ran.code, ran.error["type"]) == (ExitCode.STORE, "SchemaMismatch")


def test_without_automigrate_only_maintain_migrates(bare: Tacit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_DB_AUTOMIGRATE", "false")
    assert bare("list", *ALICE).code == ExitCode.STORE
    assert bare("maintain", "--migrate").code == ExitCode.OK
    assert bare("list", *ALICE).code == ExitCode.OK


def test_trouble_that_maintain_finds_is_code_5(on_file: Tacit, tmp_path: Path) -> None:
    on_file("remember", "tea", *ALICE)
    database = sqlite3.connect(tmp_path / "memory.sqlite")
    database.execute("DELETE FROM history")
    database.commit()
    database.close()
    ran = on_file("maintain")
    assert ran.code == ExitCode.STORE
    assert "1 memories without history" in ran.out
    assert not on_file("maintain", "--json").json["healthy"]


def test_a_missing_extra_is_code_6(bare: Tacit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    ran = bare("--db", "postgresql://localhost/none", "list", *ALICE)
    assert ran.code == ExitCode.SETUP
    assert "pip install '.[postgres]'" in ran.err


def test_a_key_that_is_taken_is_a_conflict(on_file: Tacit) -> None:
    id = on_file("put", "goal", "k", "tea", *ALICE, "--json").json["id"]
    on_file("forget", id, *ALICE)
    on_file("put", "goal", "k", "coffee", *ALICE)
    assert on_file("restore", id, *ALICE).code == ExitCode.CONFLICT
    on_file("link", "telegram:1", "acct:1")
    assert on_file("link", "telegram:1", "acct:2").code == ExitCode.CONFLICT
    assert on_file("unlink", "telegram:2").code == ExitCode.ABSENT


def test_what_nobody_foresaw_is_a_bug_and_still_no_traceback(
    on_file: Tacit, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tacit.cli import main

    monkeypatch.setattr(sys, "stdin", object())
    assert main(["remember", "-", *ALICE]) == ExitCode.BUG
    assert capsys.readouterr().err == ("tacit: This is a bug in Tacit (AttributeError). Please report it.\n")


def test_every_error_has_its_exit_code() -> None:
    assert find_exit_code(NotFound()) is ExitCode.ABSENT
    assert find_exit_code(TacitError()) is ExitCode.ABSENT
    assert find_exit_code(Conflict()) is ExitCode.CONFLICT
    assert find_exit_code(StoreBusy()) is ExitCode.STORE
    assert find_exit_code(MissingExtra("x", "y")) is ExitCode.SETUP
    assert find_exit_code(EmbeddingFailed()) is ExitCode.SETUP
    assert find_exit_code(KeyError()) is ExitCode.BUG
