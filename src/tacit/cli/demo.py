"""The demo: one memory, three chats, and what is disclosed in each."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tacit
from tacit.errors import DisclosureBreach

if TYPE_CHECKING:
    from tacit.memory import Memory, View

ALICE = tacit.Requester("telegram:1001", name="Alice")
BOB = tacit.Requester("telegram:2002", name="Bob")
CAROL = tacit.Requester("telegram:3003", name="Carol")
NAMES_BY_KEY = {person.key: person.name or "" for person in (ALICE, BOB, CAROL)}

ALICES_CHAT = tacit.Chat.private(ALICE.key)
BOBS_CHAT = tacit.Chat.private(BOB.key)
GROUP = tacit.Chat.group("telegram:-5", [ALICE, BOB, CAROL], complete=True)

_LENT = {"visibility": "public_ok"}
_STATEMENTS: tuple[tuple[tacit.Requester, tacit.Chat, str, dict[str, Any]], ...] = (
    (ALICE, ALICES_CHAT, "Alice saves up for a houseboat", {}),
    (ALICE, ALICES_CHAT, "Alice lives in Lisbon", {**_LENT, "sensitivity": "public"}),
    (ALICE, ALICES_CHAT, "Saturday: a surprise for Bob", {**_LENT, "about": [BOB.key], "withheld_from": [BOB.key]}),
    (ALICE, ALICES_CHAT, "Alice sees a heart specialist", {**_LENT, "sensitivity": "sensitive"}),
    (ALICE, GROUP, "Bob brings the lemon cake", {"about": [BOB.key], "visibility": "room"}),
    (BOB, BOBS_CHAT, "Bob is looking for a new job", {}),
)
_CHATS = (
    ("Alice's private chat", ALICES_CHAT, ALICE),
    ("The group: Alice, Bob and Carol", GROUP, BOB),
    ("Bob's private chat", BOBS_CHAT, BOB),
)
_NEXT_COMMANDS = (
    ("remember something", ["remember", "Sarah is my wife", "--as", "local:me"]),
    ("recall it in private", ["recall", "who is my wife?", "--as", "local:me"]),
    ("it stays hidden in a group", ["list", "--as", "local:me", "--chat", "telegram:-7", "--with", "telegram:456"]),
)
_COLUMNS_MAX_COUNT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStatement:
    """One stored memory of the demo."""

    id: str
    by: str
    where: str
    content: str
    marked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoVerdict:
    """Whether one memory is disclosed in one chat, and by which rule."""

    id: str
    content: str
    said: bool
    rule: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoChat:
    title: str
    asks: str
    verdicts: tuple[DemoVerdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStory:
    told: tuple[DemoStatement, ...]
    rooms: tuple[DemoChat, ...]


def play_story() -> DemoStory:
    """Play the demo on a temporary SQLite file with default settings."""
    from tacit.settings import Settings

    with tempfile.TemporaryDirectory(prefix="tacit-demo-") as folder:
        path = str(Path(folder) / "demo.sqlite")
        # The demo recalls nothing, so it needs no embedding model.
        with tacit.open(path, settings=Settings(), embedder=None) as memory:
            return build_story(memory)


def build_story(memory: Memory) -> DemoStory:
    told, owners = [], {}
    for person, chat, content, fields in _STATEMENTS:
        done = memory.view(person, chat).remember(content, **fields)
        assert done.id is not None
        owners[done.id] = memory.view(person, tacit.Chat.private(person.key))
        told.append(_build_statement(person, chat, owners[done.id].show(done.id)))
    rooms = tuple(_build_chat(memory, owners, told, *room) for room in _CHATS)
    return DemoStory(told=tuple(told), rooms=rooms)


def _build_statement(person: tacit.Requester, chat: tacit.Chat, kept: Any) -> DemoStatement:
    marks = [kept.visibility.value]
    if kept.sensitivity == tacit.Sensitivity.SENSITIVE:
        marks.append(kept.sensitivity.value)
    hidden = sorted(NAMES_BY_KEY[who.removeprefix("ext:")] for who in kept.withheld_from)
    marks.extend(f"withheld from {name}" for name in hidden)
    return DemoStatement(
        id=kept.id,
        by=NAMES_BY_KEY[person.key],
        where="group" if chat is GROUP else "private",
        content=kept.content,
        marked=", ".join(marks),
    )


def _build_chat(
    memory: Memory,
    owners: dict[str, View],
    told: list[DemoStatement],
    title: str,
    chat: tacit.Chat,
    asks: tacit.Requester,
) -> DemoChat:
    heard = {found.id for found in memory.view(asks, chat).list()}
    verdicts = []
    for one in told:
        why = owners[one.id].explain(one.id, chat, asks)
        if why.allowed is not (one.id in heard):
            raise DisclosureBreach("the demo showed a memory that the rules withhold")
        verdicts.append(DemoVerdict(id=one.id, content=one.content, said=why.allowed, rule=why.rule, because=why.says))
    return DemoChat(title=title, asks=NAMES_BY_KEY[asks.key], verdicts=tuple(verdicts))


def format_story(story: DemoStory) -> Iterator[str]:
    columns = min(_COLUMNS_MAX_COUNT, shutil.get_terminal_size((_COLUMNS_MAX_COUNT, 24)).columns)
    widest = max(len(one.content) for one in story.told)
    yield "Alice and Bob share an assistant. What they told it, and its visibility:"
    yield ""
    for one in story.told:
        yield f"  {one.by + ', ' + one.where:<14}  {one.content:<{widest}}  {one.marked}"
    for room in story.rooms:
        yield ""
        head = f"── {room.title} ── {room.asks} asks: what do you know? "
        yield head + "─" * max(0, columns - len(head))
        for verb, said in (("says", True), ("unsaid", False)):
            for verdict in room.verdicts:
                if verdict.said is said:
                    start = f"  {verb:<6}  {verdict.content:<{widest}}  {verdict.rule:<3}  "
                    width, below = max(columns, len(start) + 20), " " * len(start)
                    yield from textwrap.wrap(verdict.because, width, initial_indent=start, subsequent_indent=below)
                    verb = ""
    yield ""
    yield "One memory, three chats, and no secret disclosed. Your turn:"
    for why, command in _NEXT_COMMANDS:
        yield ""
        yield f"  {why}:"
        yield f"    {shlex.join([_find_program_name(), *command])}"


def _find_program_name() -> str:
    """Return the name of this program, or its path if it is not on PATH."""
    called = Path(sys.argv[0])
    found = shutil.which("tacit")
    if called.name != "tacit" or (found and Path(found).resolve() == called.resolve()):
        return "tacit"
    return sys.argv[0]
