"""Who asks, and where: identities, chats, and what nobody learns about others."""

import shlex
from pathlib import Path

import pytest

from tacit import Chat, Requester
from tacit.cli import inputs
from tacit.cli.parser import COMMANDS, parse_arguments
from tacit.errors import InvalidInput
from tacit.records.memory import ChatKind
from tests.cli.conftest import Tacit
from tests.cli.test_cli import CASES

ALICE = ("--as", "telegram:1001")
MALLORY = ("--as", "telegram:6666")
GROUP = ("--chat", "telegram:-5", "--with", "telegram:1001", "--with", "telegram:6666")
NOBODYS = "AAAAAAAA"

NEED_NOBODY = {
    "link", "unlink", "links", "merge", "unmerge", "spaces", "maintain", "embedding", "reembed",
    "doctor", "waiting", "jobs", "work", "quarantine", "revert", "demo", "certificate", "backup",
    "expire", "purge", "consolidate", "reflect", "summarise", "events", "metrics",
    "notes", "keys", "serve", "console", "chat", "slack", "telegram",
}  # fmt: skip


@pytest.mark.parametrize("word", [one.name for one in COMMANDS if one.name not in NEED_NOBODY])
def test_without_an_identity_memory_is_disabled_and_says_how_to_name_one(bare: Tacit, home: Path, word: str) -> None:
    named = dict.fromkeys(("id", "other", "asked"), NOBODYS)
    options = CASES[word].argv.format(n=1, pet="cat", **named) if word in CASES else ""
    argv = ["--db", "memory.sqlite", word, *shlex.split(options)]
    ran = bare(*argv)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("tacit: Memory is disabled: no requester.")
    assert "--as telegram:123" in ran.err
    assert list(home.iterdir()) == []  # nothing was opened, let alone created
    told = bare(*argv, "--json")
    assert (told.code, told.out) == (3, "")
    assert (told.error["type"], told.error["exit"]) == ("MemoryDisabled", 3)


def test_a_switched_off_memory_is_disabled_for_everybody(on_file: Tacit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_MEMORY_ENABLED", "false")
    ran = on_file("remember", "tea", *ALICE)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "tacit: memory is switched off: set memory.enabled to true\n"


def test_the_local_person_of_the_settings_is_who_asks(on_file: Tacit, home: Path) -> None:
    (home / "tacit.yaml").write_text("memory: {local_person: 'telegram:1001'}\n")
    on_file("remember", "Alice likes tea")
    on_file("remember", "Mallory likes tea", *MALLORY)
    assert "Alice likes tea" in on_file("list").out
    assert "Mallory" not in on_file("list").out
    assert "Alice likes tea" in on_file("list", *ALICE).out
    assert on_file("list", "--chat", "private").code == 0
    ran = on_file("list", "--chat", "telegram:-5")  # in private only
    assert (ran.code, ran.out) == (2, "")
    assert "specify --as" in ran.err


ACTS = [
    "show {id}", "update {id} mine", "update {id} mine --if-version 1", "forget {id}",
    "restore {id}", "erase {id} --yes", "history {id}", "explain {id}",
    "explain {id} --asked-by telegram:1001", "visibility {id} private_only",
    "visibility {id} public_ok", "withhold {id} telegram:1001", "pin {id}", "pin {id} --off",
    "relate {id} {own}", "relate {own} {id}", "erase {id} --turns --yes",
]  # fmt: skip


@pytest.mark.parametrize("database_url", ["sqlite-file", "postgres"], indirect=True)
def test_what_is_somebody_elses_answers_exactly_like_what_does_not_exist(tacit: Tacit) -> None:
    alices = tacit("remember", "houseboat", *ALICE, "--json").json["id"]
    forgotten = tacit("remember", "rowing boat", *ALICE, "--json").json["id"]
    tacit("forget", forgotten, *ALICE)
    own = tacit("remember", "hello", *MALLORY, *GROUP, "--json").json["id"]
    for act in ACTS:
        for where, id in (((), alices), (GROUP, alices), (("--json",), forgotten)):
            absent = tacit(*act.format(id=NOBODYS, own=own).split(), *MALLORY, *where)
            assert (absent.code, absent.out) == (1, ""), act
            assert tacit(*act.format(id=id, own=own).split(), *MALLORY, *where) == absent, act
    assert tacit("show", alices, *ALICE, "--json").json["memory"]["content"] == "houseboat"
    for word in ("list", "recall boat", "recall boat --why --turns --json", "query boat --full",
                 "block", "fresh boat --since 0", "about telegram:1001", "people", "stats",
                 "delta"):  # fmt: skip
        for where in ((), GROUP):
            heard = tacit(*word.split(), *MALLORY, *where)
            assert "houseboat" not in heard.out + heard.err
            assert alices not in heard.out + heard.err
    assert tacit("export", *MALLORY).out.count("\n") == 1


def room(*argv: str) -> Chat:
    args = parse_arguments(["list", "--as", "telegram:1001", *argv])
    asking = inputs.parse_requester(args, None)
    assert asking is not None
    return inputs.parse_chat(args, asking)


@pytest.mark.parametrize(
    ("argv", "kind", "id"),
    [
        ("", ChatKind.PRIVATE, "telegram:1001"),
        ("--chat private", ChatKind.PRIVATE, "telegram:1001"),
        ("--chat telegram:1001", ChatKind.PRIVATE, "telegram:1001"),
        ("--chat slack:T1:D5", ChatKind.PRIVATE, "slack:T1:D5"),
        ("--chat telegram:-5", ChatKind.GROUP, "telegram:-5"),
        ("--chat slack:T1:C5", ChatKind.GROUP, "slack:T1:C5"),
        ("--chat slack:T1:G5", ChatKind.GROUP, "slack:T1:G5"),
        ("--chat irc:room --with irc:bob", ChatKind.GROUP, "irc:room"),
        ("--chat irc:room --everybody", ChatKind.GROUP, "irc:room"),
        ("--chat irc:room", ChatKind.UNKNOWN, "irc:room"),
        ("--chat telegram:2002", ChatKind.UNKNOWN, "telegram:2002"),
        ("--chat irc:room --chat-kind private", ChatKind.PRIVATE, "irc:room"),
        ("--chat irc:room --chat-kind group", ChatKind.GROUP, "irc:room"),
        ("--chat telegram:-5 --chat-kind unknown", ChatKind.UNKNOWN, "telegram:-5"),
    ],
)
def test_the_kind_of_a_chat_is_told_by_its_id(argv: str, kind: ChatKind, id: str) -> None:
    chat = room(*argv.split())
    assert (chat.kind, chat.id) == (kind, id)


def test_those_in_a_group_are_the_one_who_asks_and_those_named() -> None:
    chat = room("--chat", "telegram:-5", "--with", "telegram:2,Bob, Jr.", "--with", "telegram:3")
    assert chat.participants == (
        Requester("telegram:1001"),
        Requester("telegram:2", name="Bob, Jr."),
        Requester("telegram:3"),
    )
    assert not chat.complete
    assert room("--chat", "telegram:-5", "--everybody").complete


@pytest.mark.parametrize(
    "argv",
    [
        "--with telegram:2",
        "--everybody",
        "--chat-kind group",
        "--chat-kind unknown",
        "--chat irc:room --chat-kind private --with irc:bob",
    ],
)
def test_a_room_that_makes_no_sense_is_refused(argv: str) -> None:
    with pytest.raises(InvalidInput):
        room(*argv.split())


def test_options_stand_before_or_after_the_command() -> None:
    args = parse_arguments(["--db", "a", "--with", "x:1", "--json", "list", "--db", "b", "--with", "x:2"])
    assert (args.db, args.participants, args.json) == ("b", ["x:1", "x:2"], True)
    assert parse_arguments(["--as", "x:1", "list"]).requester == "x:1"
    assert parse_arguments(["list", "--as", "x:1"]).requester == "x:1"
