"""`tacit import --from` and `tacit imports`: asked first, told as it goes, and taken back."""

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.cli import main
from tacit.cli.output import ExitCode
from tacit.cli.transfer import IMPORT_FORMATS
from tacit.transfer.importers import ImportFormat, sources
from tests.cli.conftest import Tacit
from tests.transfer.conftest import SAMPLES

MARA = ("--as", "telegram:1001")
MEM0 = ("import", str(SAMPLES / "mem0.json"), "--from", "mem0", *MARA)
PREVIEWED = "preview  3 new, 0 already here, 0 refused, 0 not readable"
Say = Callable[[str], None]


def test_the_formats_of_the_command_are_the_formats() -> None:
    assert list(IMPORT_FORMATS) == list(ImportFormat)


def test_off_a_terminal_it_tells_what_would_come_and_stops(on_file: Tacit) -> None:
    ran = on_file(*MEM0)
    assert ran.code == ExitCode.ABSENT
    assert ran.out.splitlines()[0] == PREVIEWED
    assert "Plays the cello in the Tuesday orchestra" in ran.out
    assert ran.err == "Nothing was imported. Confirm with --yes.\n"
    found = on_file(*MEM0, "--json").json
    assert (found["done"], found["new"], found["total"]) == (False, 3, 3)
    assert found["shown"][0]["content"] == "Prefers window seats on long train rides"
    assert on_file("stats", *MARA, "--json").json["memories"] == 0


def test_with_a_yes_it_is_imported_listed_and_reverted_as_one(on_file: Tacit) -> None:
    ran = on_file(*MEM0, "--yes")
    assert (ran.code, ran.err) == (0, "3 of 3\n")
    done, how = ran.out.splitlines()
    assert done == "imported  3 new, 0 already here, 0 refused, 0 not readable"
    found = re.fullmatch(r"  undo with `tacit (imports --revert mem0-[0-9a-f]{12})`", how)
    assert found is not None
    listed = on_file("imports", *MARA).out
    assert re.fullmatch(r"mem0-\w{12}  complete  mem0  .* UTC  3 new, 0 already here, 0 refused\n", listed)
    again = on_file(*MEM0, "--yes", "--json").json
    assert (again["done"], again["created"], again["already"]) == (True, 0, 3)
    nothing_new = on_file(*MEM0)
    assert (nothing_new.code, nothing_new.err.splitlines()[-1]) == (0, "Nothing was imported. It has no new memories.")
    gone = on_file(*found[1].split(), *MARA)
    assert gone.out.endswith("  3 memories forgotten; restorable for 30 days\n")
    listed = on_file("imports", *MARA).out
    assert re.match(r"mem0-\w{12}  reverted \S+ \S+ UTC  mem0", listed)
    again = on_file(*found[1].split(), *MARA)
    assert (again.code, again.out) == (0, "")
    assert re.fullmatch(r"Already reverted, .* UTC. Nothing was changed.\n", again.err)
    assert on_file(*found[1].split(), *MARA, "--json").json["already"] is True
    assert on_file("list", *MARA, "--json").json["memories"] == []


class Typed(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def at_terminal(on_file: Tacit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    def say(answer: str) -> None:
        monkeypatch.setattr(sys, "stdin", Typed(answer))
        main(["--db", str(tmp_path / "memory.sqlite"), *MEM0])

    return say


@pytest.mark.parametrize(("answer", "kept"), [("y\n", 3), ("\n", 0), ("", 0)])
def test_at_a_terminal_it_asks(
    at_terminal: Say, on_file: Tacit, capsys: pytest.CaptureFixture[str], answer: str, kept: int
) -> None:
    at_terminal(answer)
    told = capsys.readouterr().err
    assert told.startswith(PREVIEWED)
    assert "import 3? It can be reverted as one. [y/N] " in told
    assert len(on_file("list", *MARA, "--json").json["memories"]) == kept


def test_an_import_that_is_interrupted_says_how_to_go_on(
    on_file: Tacit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "many.txt"
    path.write_text("".join(f"- Fact {n}\n" for n in range(450)))
    argv = ("import", str(path), "--from", "claude", "--run", "moving in", "--yes", *MARA)
    calls = iter(range(10))
    tell = sources._record_refused

    def interrupted(*given: object) -> None:
        tell(*given)  # type: ignore[arg-type]
        if next(calls) == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sources, "_record_refused", interrupted)
        ran = on_file(*argv)
    assert (ran.code, ran.out) == (ExitCode.INTERRUPTED, "")
    assert ran.err == (
        "200 of 450\n"
        "The import is incomplete. Repeat the command to continue, or undo it with\n"
        "`tacit imports --revert 'moving in'`.\n"
    )
    assert "stopped at 400 of 450" in on_file("imports", *MARA).out
    assert on_file(*argv).out.startswith("imported  50 new, 400 already here")
    assert "450 new, 0 already here, 0 refused" in on_file("imports", *MARA).out


def test_options_of_an_import_from_elsewhere_need_one(on_file: Tacit, tmp_path: Path) -> None:
    for option in (("--yes",), ("--run", "x"), ("--only", "x")):
        ran = on_file("import", "file", *option, *MARA)
        assert (ran.code, ran.err) == (2, "tacit: import: --only, --run and --yes require --from\n")
    assert on_file("import", "no such file", "--from", "mem0", *MARA).code == ExitCode.SETUP
    ran = on_file("import", str(tmp_path), "--from", "mem0", *MARA)
    assert (ran.code, ran.err) == (2, "tacit: path: is a folder; name the file in it\n")


def test_of_several_users_one_has_to_be_named(on_file: Tacit, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text('{"memory": "Likes tea", "user_id": "mara"}\n{"memory": "Likes gin", "user_id": "otto"}\n')
    argv = ("import", str(path), "--from", "mem0", "--yes", *MARA)
    ran = on_file(*argv)
    assert (ran.code, ran.out) == (2, "")
    assert "memories of several users" in ran.err
    nobody = on_file(*argv[:-3], *MARA, "--only", "bob")
    assert nobody.code == on_file(*argv, "--only", "bob").code == ExitCode.ABSENT
    assert nobody.err.endswith("No memories found in it. Check the format and --only.\n")
    assert on_file(*argv, "--only", "mara", "--json").json["created"] == 1
    (memory,) = on_file("list", *MARA, "--json").json["memories"]
    assert memory["content"] == "Likes tea"


def test_a_file_of_another_memory_without_a_format_is_told_of_formats(on_file: Tacit, tmp_path: Path) -> None:
    ran = on_file("import", str(SAMPLES / "chatgpt.txt"), *MARA)
    assert ran.code == ExitCode.ABSENT
    last = "For an export of another system, add --from " + "|".join(IMPORT_FORMATS) + "."
    assert ran.err.splitlines()[-1] == last
