"""What it costs to load the notes of a week, 7 days of 50 sessions: `make bench-notes`.

    python bench/notes_load.py [--days 7] [--sessions 50] [--rounds 15]

Once from the store, as a session begins, and once from the files: each as a ratio to reading the
same bytes of YAML with PyYAML's fastest loader, in turns in one run. A missed one makes the exit
code 1. PostgreSQL is the server in TACIT_TEST_POSTGRES.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import Any

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import yaml

import tacit
from bench.measure import Figure, compared
from bench.sentences import said
from tacit.memory import View
from tacit.notes.document import parse_note
from tacit.records.notes import NoteKind, NoteLink
from tacit.settings import NotesSettings, Settings
from tests.databases import PostgresDatabases

Figures = list[Figure]

DAYS, SESSIONS, ROUNDS = 7, 50, 15
AT_MOST = 3.0

_FIRST_DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
_GROUP_EVERY = 5  # of the sessions of a day one in so many is a group's
_ALICE = tacit.Requester("telegram:1001", name="Alice")
_BOB = tacit.Requester("telegram:2002", name="Bob")
_PRIVATE = tacit.Chat.private("telegram:1001")
_GROUP = tacit.Chat.group("telegram:-5", participants=[_ALICE, _BOB])


def _draft(number: int, words: Iterator[str]) -> tacit.SessionDraft:
    """A session as an agent would sum it up: eight things, and a link."""
    return tacit.SessionDraft(
        summary=next(words),
        topics=tuple(
            tacit.TopicDraft(
                topic=f"Matter {number}.{n}",
                users="Alice, Bob",
                when="09:00 UTC",
                event=next(words),
                result=next(words),
            )
            for n in range(2)
        ),
        facts=tuple(islice(words, 2)),
        tasks=tuple(tacit.TaskDraft(text=f"Do {number}: {next(words)}") for _ in range(3)),
        follow_ups=(tacit.TaskDraft(text=f"Ask {number}: {next(words)}", done=True),),
        links=(NoteLink(text="The day before", target=f"notes/{number}.md"),),
    )


@contextmanager
def week(url: str, root: Path, days: int, sessions: int) -> Iterator[View]:
    """Alice's private chat on the last of these days, with the files of all sessions on the disk
    and nobody watching them."""
    now = [_FIRST_DAY]
    words = cycle(said())
    notes = NotesSettings(enabled=True, dir=str(root), watch=False)
    with tacit.open(url, settings=Settings(notes=notes), clock=lambda: now[0], embedder=None) as memory:
        for day in range(days):
            for number in range(sessions):
                now[0] = _FIRST_DAY + timedelta(days=day, minutes=number)
                chat = _GROUP if number % _GROUP_EVERY == 0 else _PRIVATE
                view = memory.view(_ALICE, chat)
                view.sessions.end(draft=_draft(number, words), session=f"session {number}")
        memory.notes.sync()
        view = memory.view(_ALICE, _PRIVATE)
        assert isinstance(view, View)
        yield view


def as_yaml(note: bytes) -> bytes:
    """The same bytes, all of them YAML: the frontmatter as it is, and the body by lines. What that
    takes more is cut off at the end, and what is too little then is a comment."""
    head, _, body = note.decode().removeprefix("---\n").partition("---\n")
    lines = [f'- "{line}"\n' for line in body.splitlines() if line]
    text = head + "body:\n"
    for line in lines:
        if len((text + line).encode()) > len(note):
            break
        text += line
    short = len(note) - len(text.encode())
    return (text + "#" * (short - 1) + "\n" * (short > 0)).encode()


def measured(name: str, url: str, scratch: Path, days: int, sessions: int, rounds: int) -> Figures:
    root = scratch / "notes"
    with week(url, root, days, sessions) as view:
        files = sorted(root.glob("20*/*.md"))
        assert len(files) == days * sessions, "a session has no file"
        woken = view.sessions.begin("session 1")
        assert len(woken.recent) == days * sessions, "a session is not loaded"
        assert woken.today is not None
        assert woken.today.items
        copies = [file.with_suffix(".yaml") for file in files]
        for file, copy in zip(files, copies, strict=True):
            copy.write_bytes(as_yaml(file.read_bytes()))
        size = sum(copy.stat().st_size for copy in copies)
        assert size == sum(file.stat().st_size for file in files)

        def read_yaml() -> list[Any]:
            return [yaml.load(copy.read_bytes(), yaml.CSafeLoader) for copy in copies]

        sides: dict[str, Callable[[], object]] = {
            "begin_session": lambda: view.sessions.begin("session 1"),
            "files, whole": lambda: [parse_note(file.read_bytes(), NoteKind.SESSION) for file in files],
        }
        print(f"{name}: {len(files)} sessions of {days} days, {size:,} bytes", flush=True)
        found = []
        for what, ours in sides.items():
            figure = compared(f"  {what} / YAML ({name})", ours, read_yaml, rounds=rounds, at_most=AT_MOST)
            print(figure, flush=True)
            found.append(figure)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    size = (chosen.days, chosen.sessions, chosen.rounds)
    os.environ["TACIT_EMBEDDING_PROVIDER"] = "none"  # stores are filled without any model
    figures: Figures = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        figures += measured("SQLite", f"sqlite:///{folder}/load.db", folder, *size)
    server = os.environ.get("TACIT_TEST_POSTGRES")
    if server:
        databases = PostgresDatabases(server)
        url = databases.create()
        with tempfile.TemporaryDirectory() as scratch:
            figures += measured("PostgreSQL", url, Path(scratch), *size)
        databases.drop(url)
        databases.close()
    return 1 if any(one.missed for one in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
