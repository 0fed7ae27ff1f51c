"""The story of the three rooms, played on a database of its own. Nothing in it is written down
beforehand but what people say: what each room hears, and by which rule, is asked of the memory."""

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
    from tacit.memory import DisabledView, Memory, View

ALICE = tacit.Requester("telegram:1001", name="Alice")
BOB = tacit.Requester("telegram:2002", name="Bob")
CAROL = tacit.Requester("telegram:3003", name="Carol")
PEOPLE = {person.key: person.name or "" for person in (ALICE, BOB, CAROL)}

ALICES_CHAT = tacit.Chat.private(ALICE.key)
BOBS_CHAT = tacit.Chat.private(BOB.key)
GROUP = tacit.Chat.group("telegram:-5", [ALICE, BOB, CAROL], complete=True)

_SAID: tuple[tuple[tacit.Requester, tacit.Chat, str, dict[str, Any]], ...] = (
    (ALICE, ALICES_CHAT, "Alice saves up for a houseboat", {}),
    (
        ALICE,
        ALICES_CHAT,
        "Alice lives in Lisbon",
        {"visibility": "public_ok", "sensitivity": "public"},
    ),
    (
        ALICE,
        ALICES_CHAT,
        "Saturday: a surprise for Bob",
        {"about": [BOB.key], "visibility": "public_ok", "withheld_from": [BOB.key]},
    ),
    (
        ALICE,
        ALICES_CHAT,
        "Alice sees a heart specialist",
        {"visibility": "public_ok", "sensitivity": "sensitive"},
    ),
    (ALICE, GROUP, "Bob brings the lemon cake", {"about": [BOB.key], "visibility": "room"}),
    (BOB, BOBS_CHAT, "Bob is looking for a new job", {}),
)
_ROOMS = (
    ("Alice's private chat", ALICES_CHAT, ALICE),
    ("The group: Alice, Bob and Carol", GROUP, BOB),
    ("Bob's private chat", BOBS_CHAT, BOB),
)
_NEXT = (
    ("keep something, as yourself", ["remember", "Sarah is my wife", "--as", "local:me"]),
    ("it comes to mind in private", ["recall", "who is my wife?", "--as", "local:me"]),
    (
        "and not where others listen",
        ["list", "--as", "local:me", "--chat", "telegram:-7", "--with", "telegram:456"],
    ),
)
_MOST_COLUMNS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One thing somebody said, as it was kept."""

    id: str
    by: str
    where: str
    content: str
    marked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What becomes of it in one room, as its owner is told."""

    id: str
    content: str
    said: bool
    rule: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    title: str
    asks: str
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    told: tuple[Told, ...]
    rooms: tuple[Room, ...]


def play() -> Story:
    """On a temporary SQLite file, with the default settings, whatever the user's own are."""
    from tacit.settings import Settings

    with tempfile.TemporaryDirectory(prefix="tacit-demo-") as folder:
        path = str(Path(folder) / "demo.sqlite")
        # Nothing here is searched for, so no model needs to be loaded.
        with tacit.open(path, settings=Settings(), embedder=None) as memory:
            return tell(memory)


def tell(memory: Memory) -> Story:
    told, owners = [], {}
    for person, chat, content, fields in _SAID:
        done = memory.view(person, chat).remember(content, **fields)
        assert done.id is not None
        owners[done.id] = memory.view(person, tacit.Chat.private(person.key))
        told.append(_told(person, chat, owners[done.id].show(done.id)))
    rooms = tuple(_room(memory, owners, told, *room) for room in _ROOMS)
    return Story(told=tuple(told), rooms=rooms)


def _told(person: tacit.Requester, chat: tacit.Chat, kept: Any) -> Told:
    marks = [kept.visibility.value]
    if kept.sensitivity == tacit.Sensitivity.SENSITIVE:
        marks.append(kept.sensitivity.value)
    hidden = sorted(PEOPLE[who.removeprefix("ext:")] for who in kept.withheld_from)
    marks.extend(f"withheld from {name}" for name in hidden)
    return Told(
        id=kept.id,
        by=PEOPLE[person.key],
        where="group" if chat is GROUP else "private",
        content=kept.content,
        marked=", ".join(marks),
    )


def _room(
    memory: Memory,
    owners: dict[str, View | DisabledView],
    told: list[Told],
    title: str,
    chat: tacit.Chat,
    asks: tacit.Requester,
) -> Room:
    heard = {found.id for found in memory.view(asks, chat).list()}
    verdicts = []
    for one in told:
        why = owners[one.id].explain(one.id, chat, asks)
        if why.allowed is not (one.id in heard):
            raise DisclosureBreach("the demo heard something else than the rules say")
        verdicts.append(
            Verdict(
                id=one.id, content=one.content, said=why.allowed, rule=why.rule, because=why.says
            )
        )
    return Room(title=title, asks=PEOPLE[asks.key], verdicts=tuple(verdicts))


def lines(story: Story) -> Iterator[str]:
    columns = min(_MOST_COLUMNS, shutil.get_terminal_size((_MOST_COLUMNS, 24)).columns)
    widest = max(len(one.content) for one in story.told)
    yield "Alice and Bob share an assistant. What they told it, and how far that may go:"
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
                    yield from _wrapped(start, verdict.because, columns)
                    verb = ""
    yield ""
    yield "One memory, three rooms, and no secret told. Your turn:"
    for why, command in _NEXT:
        yield ""
        yield f"  {why}:"
        yield f"    {shlex.join([_program(), *command])}"


def _wrapped(start: str, text: str, columns: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(columns, len(start) + 20),
        initial_indent=start,
        subsequent_indent=" " * len(start),
    )


def _program() -> str:
    """How this program is called from here: by its name where that is enough, else by its path."""
    called = Path(sys.argv[0])
    found = shutil.which("tacit")
    if called.name != "tacit" or (found and Path(found).resolve() == called.resolve()):
        return "tacit"
    return sys.argv[0]
