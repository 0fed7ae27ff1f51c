"""Every command, for people and as JSON, on both databases."""

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tacit import Chat, Message, Requester
from tacit.bootstrap import open_memory
from tacit.cli.parser import COMMANDS
from tacit.settings import Settings
from tacit.settings.sections import LearnSettings
from tests.cli.conftest import Tacit
from tests.corpus import read_corpus

ALICE = ("--as", "telegram:1001", "--name", "Alice")
SettingsOf = Callable[[str], AbstractContextManager[None]]


class Case(NamedTuple):
    argv: str
    prints: str
    on_stderr: str
    fields: str  # of the JSON document


CASES = {word: Case(*columns) for word, *columns in read_corpus(Path(__file__).parent / "commands.tsv")}
CONVERSED = ("proposals", "approve", "decline", "waiting", "work", "quarantine", "revert")
KEEP_TURNS = {"TACIT_MEMORY_SESSIONS_KEEP": "true"}


def prepared(url: str, space: str) -> list[str]:
    """Alice's four memories, of which two are alike; and some links."""
    with open_memory(url, space=space, settings=Settings(), embedder=None) as memory:
        alice = Requester("telegram:1001", name="Alice")
        view = memory.view(alice, Chat.private(alice.key))
        ids = [view.remember(f"Fact {n}").id or "" for n in (1, 2)]
        view.remember("Sarah is my wife", about=["Sarah"])
        view.put("profile", "timezone", "Europe/Lisbon")
        for n in (1, 2):
            memory.admin.link(f"telegram:8{n}", f"acct:8{n}")
            memory.admin.merge_people(f"person:7777777{n}", "telegram:9")
        gone = view.erase(view.remember("gone").id).certificate
    Path("certificate").write_text(gone.to_json() if gone else "")
    Path("backup").write_text('{"content": "Sarah is my wife"}\n')
    Path("turns").write_text('{"role": "user", "content": "Hello"}\n' * 2)
    return ids


def conversed(url: str, space: str) -> tuple[list[str], list[str]]:
    """Two proposals, two things in quarantine, two memories, and two turns that wait."""
    careful = Settings(learn=LearnSettings(workers=0, confirm="new"))
    with open_memory(url, space=space, settings=careful, embedder=None) as memory:
        alice = Requester("telegram:1001", name="Alice")
        view = memory.view(alice, Chat.private(alice.key))
        view.learn([Message("user", f"My {who} is called Ana") for who in ("sister", "aunt")])
        view.learn([Message("user", f"Remember that I like {what}") for what in ("tea", "jazz")])
        view.learn([Message("tool", f"The {what} is open") for what in ("door", "vault")])
        memory.jobs.wait_for_learning()
        held = [one.id for one in memory.operator("root").quarantine.list()]
        asked = [one.id for one in view.proposals.list()]
        view.learn([Message("user", "I play the cello"), Message("user", "I live in Faro")])
    return asked, held


def test_every_command_has_a_case_here() -> None:
    elsewhere = {"chat", "demo", "mcp", "serve", "slack", "telegram"}  # they have their own
    assert {one.name for one in COMMANDS} - elsewhere == set(CASES)


@pytest.fixture
def settings_of(home: Path, tiny_model: dict[str, str]) -> SettingsOf:
    """What some commands need to be set."""
    files = {"TACIT_NOTES_ENABLED": "true", "TACIT_NOTES_DIR": str(home / "notes")}
    needed = {"record": KEEP_TURNS, "embedding": tiny_model, "reembed": tiny_model, "notes": files}

    @contextmanager
    def during(word: str) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patched:
            for name, value in needed.get(word, {}).items():
                patched.setenv(name, value)
            yield

    return during


def answers_both(tacit: Tacit, url: str, word: str) -> None:
    """In a space of its own, so that many commands can share a database."""
    case, here = CASES[word], (*ALICE, "--space", word)
    ids = prepared(url, word)
    asked, held = conversed(url, word) if word in CONVERSED else (ids, ids)
    for n, id in enumerate(ids, start=1):
        named = {"asked": asked[n - 1], "held": held[n - 1], "pet": ("cat", "dog")[n - 1]}
        argv = [word, *shlex.split(case.argv.format(id=id, n=n, other=ids[-n], **named))]
        if word == "restore":
            tacit("forget", id, *here)
        if n == 1:
            ran = tacit(*argv, *here)
            assert ran.code == 0, word
            assert re.fullmatch(case.on_stderr, ran.err), word
            assert re.fullmatch(case.prints.replace("{id}", id), ran.out, re.DOTALL), ran.out
        else:
            ran = tacit(*argv, *here, "--json")
            assert (ran.code, ran.err) == (0, ""), word
            assert list(ran.json) == case.fields.split(), word
    for file in ("out1", "out2"):
        Path(file).unlink(missing_ok=True)


@pytest.mark.parametrize("word", CASES)
def test_a_command_answers_people_in_lines_and_programs_in_json(
    on_file: Tacit, tmp_path: Path, word: str, settings_of: SettingsOf
) -> None:
    with settings_of(word):
        answers_both(on_file, str(tmp_path / "memory.sqlite"), word)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_every_command_answers_alike_on_postgresql(tacit: Tacit, database_url: str, settings_of: SettingsOf) -> None:
    for word in CASES:
        with settings_of(word):
            answers_both(tacit, database_url, word)


def test_what_a_memory_is_made_of_can_be_said_in_options(on_file: Tacit) -> None:
    fields = {
        "--kind": "preference", "--category": "goal", "--key": "k", "--visibility": "public_ok",
        "--sensitivity": "public", "--importance": "5", "--confidence": "0.5", "--tag": "warm",
        "--observed-at": "2026-01-01T00:00:00Z", "--expires-at": "2999-01-01T00:00:00+01:00",
        "--message": "m", "--agent": "a", "--run": "r", "--role": "user",
        "--about": "telegram:2002", "--withhold-from": "telegram:3003", "--data": '{"n": [1]}',
    }  # fmt: skip
    argv = [part for pair in fields.items() for part in pair]
    id = on_file("remember", "tea", "--pinned", "--no-portable", *argv, *ALICE, "--json").json["id"]
    shown = on_file("show", id, *ALICE, "--json").json
    memory, owners = shown["memory"], shown["owners"]
    plain = "kind category key visibility sensitivity importance confidence tags pinned subjects"
    assert [memory[name] for name in plain.split()] == [
        "preference", "goal", "k", "public_ok", "public", 5, 0.5, ["warm"], True,
        ["ext:telegram:2002"],
    ]  # fmt: skip
    assert memory["observed_at"] == "2026-01-01T00:00:00+00:00"
    assert memory["expires_at"] == "2998-12-31T23:00:00+00:00"
    assert [owners[n] for n in ("agent", "run", "role", "portable")] == ["a", "r", "user", False]
    assert owners["source"]["message"] == "m"
    assert owners["withheld_from"] == ["ext:telegram:3003"]
    assert memory["data"] == {"n": [1]}
    on_file("update", id, "--data", '{"n": 2}', *ALICE)
    assert '{"n": 2}' in on_file("show", id, *ALICE).out
    for wrong in ("nonsense", "[1]", "null"):
        assert on_file("update", id, "--data", wrong, *ALICE).code == 2


def test_a_stale_version_is_a_conflict(on_file: Tacit) -> None:
    id = on_file("remember", "tea", *ALICE, "--json").json["id"]
    assert on_file("update", id, "green tea", "--if-version", "1", *ALICE).code == 0
    ran = on_file("update", id, "black tea", "--if-version", "1", *ALICE)
    assert ran.code == 4
    assert ran.err == "tacit: the memory is at version 2 by now: read it again\n"
    assert on_file("show", id, *ALICE, "--json").json["memory"]["content"] == "green tea"


def test_a_listing_goes_on_where_it_stopped(on_file: Tacit) -> None:
    said = [on_file("remember", f"Fact {n}", *ALICE, "--json").json["id"] for n in range(5)]
    seen: list[str] = []
    more: list[str] = []
    while True:
        ran = on_file("list", "--limit", "2", *more, *ALICE)
        seen += [line.split()[0] for line in ran.out.splitlines()]
        onward = re.search(r"repeat the command with (--cursor \S+)", ran.err)
        if onward is None:
            break
        more = onward[1].split()
    assert seen == said[::-1]
