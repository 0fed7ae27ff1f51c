"""`tacit doctor`: told first, mended if asked, and an exit code that says what is left."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tacit.cli.output import ExitCode
from tests.cli.conftest import Tacit

REMEMBER = ("remember", "I like tea", "--as", "telegram:1001")


def _break(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(statement)


def test_trouble_is_told_with_what_repair_would_do_and_is_code_1(
    on_file: Tacit, tmp_path: Path
) -> None:
    on_file(*REMEMBER)
    _break(tmp_path / "memory.sqlite", "DELETE FROM memory_people")
    told = on_file("doctor")
    assert told.code == ExitCode.ABSENT
    assert told.out.startswith("people  1: memories are not indexed")
    assert "(1 repairable)\n  repair files them again" in told.out
    assert told.out.endswith("unhealthy\n")
    assert "tea" not in told.out
    assert on_file("doctor").out == told.out  # nothing was changed


def test_repair_mends_and_is_code_0(on_file: Tacit, tmp_path: Path) -> None:
    on_file(*REMEMBER)
    _break(tmp_path / "memory.sqlite", "DELETE FROM memory_people")
    mended = on_file("doctor", "--repair", "--json")
    assert mended.code == ExitCode.OK
    (finding,) = mended.json["findings"]
    assert (finding["check"], finding["count"], finding["repaired"]) == ("people", 1, 1)
    assert on_file("doctor").out == "healthy\n"


def test_one_check_is_named_and_a_wrong_name_refused(on_file: Tacit, tmp_path: Path) -> None:
    on_file(*REMEMBER)
    _break(tmp_path / "memory.sqlite", "DELETE FROM memory_people")
    assert on_file("doctor", "--check", "words", "--check", "history").code == ExitCode.OK
    wrong = on_file("doctor", "--check", "nonsense")
    assert wrong.code == ExitCode.USAGE
    assert "missing-vectors" in wrong.err
