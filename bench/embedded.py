"""The three figures of the embedded default: a write, a read by key, and the import."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import tacit
from bench import bare
from bench.measure import Figure, compared

ALICE = tacit.Requester("telegram:1001", name="Alice")
CHAT = tacit.Chat.private("telegram:1001")

_WRITES_PER_ROUND = 100
_WRITE_ROUNDS = 15
_KEYS = 1_000
_GETS_PER_ROUND = 250
_GET_ROUNDS = 40
_IMPORTS = 9


def _facts() -> Iterator[str]:
    for n in count():
        yield f"Fact number {n}: the {n % 97} o'clock train to Lisbon leaves from platform {n % 13}"


def remember_against_bare(folder: Path) -> Figure:
    """Two files that begin as copies of one another grow by the same rows, without vectors: the
    other side makes none."""
    ours, theirs = folder / "ours.db", folder / "theirs.db"
    with tacit.open(f"sqlite:///{ours}", embedder=None) as memory:
        first = memory.view(ALICE, CHAT).remember("The first fact of all, about trains")
        assert first.id is not None
    shutil.copy(ours, theirs)
    writer = bare.BareWriter(connection := bare.connect(theirs), first.id)
    facts = (writer.prepare(f"bare{n:04}", fact) for n, fact in enumerate(_facts()))
    prepared = [list(islice(facts, _WRITES_PER_ROUND)) for _ in range(_WRITE_ROUNDS)]
    rounds_ours, rounds_theirs = iter(prepared), iter(prepared)
    with tacit.open(f"sqlite:///{ours}", embedder=None) as memory:
        view = memory.view(ALICE, CHAT)

        def remember() -> None:
            for one in next(rounds_ours):
                view.remember(one.content)

        def write() -> None:
            for one in next(rounds_theirs):
                writer.write(one)

        figure = compared(
            "remember / the same rows in a bare sqlite3 transaction",
            remember,
            write,
            rounds=_WRITE_ROUNDS,
            acts=_WRITES_PER_ROUND,
            at_most=5,
        )
    connection.close()
    assert bare.counted(ours) == bare.counted(theirs), "the two sides wrote different rows"
    return figure


def get_against_bare(folder: Path) -> Figure:
    path = folder / "keys.db"
    with tacit.open(f"sqlite:///{path}") as memory:
        view = memory.view(ALICE, CHAT)
        keys = [f"field-{n:04}" for n in range(_KEYS)]
        for key in keys:
            view.put("profile", key, f"the value of {key}")
        connection = bare.connect(path)
        statement = bare.by_key(connection)
        turns_ours, turns_theirs = _cycled(keys), _cycled(keys)

        def get() -> None:
            for key in islice(turns_ours, _GETS_PER_ROUND):
                assert view.get("profile", key) is not None

        def select() -> None:
            for key in islice(turns_theirs, _GETS_PER_ROUND):
                values = ("default", "ext:telegram:1001", "profile", key)
                assert connection.execute(statement, values).fetchone() is not None

        get()
        select()
        figure = compared(
            "get by key / a bare sqlite3 SELECT of the same row",
            get,
            select,
            rounds=_GET_ROUNDS,
            acts=_GETS_PER_ROUND,
            at_most=10,
        )
        connection.close()
    return figure


def _cycled(keys: list[str]) -> Iterator[str]:
    while True:
        yield from keys


def import_against_sqlalchemy() -> list[Figure]:
    """In fresh processes, without the interpreter's own start. Nothing is loaded until a memory
    is opened, so what an opened one has loaded is printed too."""
    statements = {
        "ours": "import tacit",
        "theirs": "import sqlalchemy",
        "opened": "import tacit; tacit.open('sqlite://').close()",
    }
    times: dict[str, list[float]] = {name: [] for name in statements}
    for statement in statements.values():
        _timed(statement)  # the first time, files are read from the disk
    for _ in range(_IMPORTS):
        for name, statement in statements.items():
            times[name].append(_timed(statement))
    ours, theirs, opened = times.values()
    return [
        Figure(what="import tacit / import sqlalchemy", ours=ours, theirs=theirs, at_most=1.5),
        Figure(what="import tacit and open a new memory / import sqlalchemy", ours=opened, theirs=theirs),
    ]


def _timed(statement: str) -> float:
    program = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return float(done.stdout)
