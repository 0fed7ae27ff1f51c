"""A space with something of everything in it, and ways to look at and break its rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, text

import tacit
from tacit.memory import Memory
from tacit.settings import Settings
from tacit.settings.sections import LearnSettings, MemorySettings, SessionsSettings
from tacit.storage.schema import metadata
from tests.contract.lessons import told
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, group, index_words, kept, private

ACCOUNT = "acct:alice"
SETTINGS = Settings(
    memory=MemorySettings(sessions=SessionsSettings(keep=True, retention_days=7)), learn=LearnSettings(workers=0)
)


def live(memory: Memory, clock: SetClock) -> None:
    """People write, correct, forget, link, withhold, learn and leave."""
    alone, room = private(memory, ALICE), group(memory, ALICE)
    room.remember("The release is on Friday", for_room=True)
    first = kept(alone, "Alice lives in Lisbon", slot="home")
    clock.forward(seconds=1)
    alone.update(first, "Alice lives in Porto")
    alone.remember("Alice likes tea", visibility="public_ok", sensitivity="public")
    index_words(memory)
    alone.remember("A surprise for Bob", about=["telegram:2002"], withheld_from=["Bob"])
    alone.remember("Zoe is the new neighbour", about=["Zoe"])
    gone = kept(room, "Bob brings the cake", about=["telegram:2002"])
    alone.relate(first, gone)
    alone.forget(gone)
    clock.forward(seconds=1)
    alone.put("profile", "city", "Lisbon")
    room.put("profile", "city", "Porto")
    alone.record([tacit.Message("user", "I was at the sea"), tacit.Message("assistant", "Nice")])
    told(memory, alone, "My favourite colour is green.")
    told(memory, private(memory, BOB), "I live in Berlin.")
    told(memory, group(memory, BOB), "I live in Munich now.")
    memory.admin.link(ALICE.key, ACCOUNT)
    private(memory, tacit.Requester(ACCOUNT)).put("profile", "city", "Faro")
    group(memory, CAROL, "telegram:-200", here=(ALICE, CAROL)).remember("Secret plans")
    memory.chats.set_confidential("telegram:-200")
    memory.chats.leave("telegram:-100", BOB.key)


def dump(memory: Memory) -> dict[str, list[str]]:
    """Every row of every table, as text."""
    names = [*metadata.tables]
    with memory._storage.database.read() as connection:
        if connection.dialect.name == "sqlite":
            names += ["fts_rows", "fts_index"]
        return {
            name: sorted(str(tuple(row)) for row in connection.execute(text(f"SELECT * FROM {name}"))) for name in names
        }


@contextmanager
def unguarded(memory: Memory) -> Iterator[Connection]:
    """A connection on which no foreign key holds, each statement on its own."""
    with memory._storage.database.autocommit_connection() as connection:
        sqlite = connection.dialect.name == "sqlite"
        off, on = (
            ("PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys = ON")
            if sqlite
            else ("SET session_replication_role = replica", "RESET session_replication_role")
        )
        connection.exec_driver_sql(off)
        try:
            yield connection
        finally:
            connection.exec_driver_sql(on)


def break_(memory: Memory, *statements: str, **values: Any) -> None:
    with unguarded(memory) as connection:
        for statement in statements:
            done = connection.execute(text(statement), values)
            if not statement.startswith("DROP"):
                assert done.rowcount != 0, statement


def one(memory: Memory, statement: str, **values: Any) -> Any:
    with memory._storage.database.read() as connection:
        return connection.execute(text(statement), values).scalar_one()
