"""Memories as rows of a real database: what its queries return against what `decide` allows.

Four ways lead to a memory: the listing, the search for words, its id, and the glance on the driver.
Each is asked the same questions. Some rows carry words that nobody can read; the rules then take
the strict default, and the query has to take the same one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, select, update

from tacit.errors import DisclosureBreach
from tacit.policy.rules import decide, predicate_parameters, shape_of_request
from tacit.records.memory import ChatKind, Memory, Purpose, Sensitivity, State, Visibility
from tacit.records.request import Request
from tacit.storage import memories, memory_reads, search, spaces
from tacit.storage.schema import memories_table
from tacit.storage.search import ListFilter
from tacit.storage.store import FAST_PATH_MISS, Store, get_memory_fast
from tests.policy.cells import (
    ELSEWHERE,
    HERE,
    HERE_BEFORE,
    NO_PROVENANCE,
    NOW,
    PEOPLE,
    PRIVATE_LEARNED,
    SARAH,
    SPACE,
    Fields,
    Person,
    group_learned,
    memory,
    request,
    withheld,
)
from tests.policy.matrix import Tally

OTHER_SPACE = "next-door"
UNREADABLE = "?"
EVERY_CONTENT_HAS = ("fact",)
EVERYTHING_COUNT = 1_000_000
_CHUNK_COUNT = 500
_ASKED_BY_ID_COUNT = 6
_WORDS = ("visibility", "sensitivity", "state", "learned_kind")  # columns that can be misspelt


@dataclass(frozen=True)
class Kept:
    written: Memory  # as the store's own writer takes it
    seen: Memory  # as the rules have to see it, with None for every word that was spoiled
    spoiled: tuple[str, ...] = ()


@dataclass
class Asked(Tally):
    """What the queries answered, beside what `decide` says."""

    requests: int = 0
    returned: int = 0
    by_id: int = 0
    glances: int = 0

    def __iadd__(self, other: Tally) -> Asked:
        super().__iadd__(other)
        if isinstance(other, Asked):
            self.requests += other.requests
            self.returned += other.returned
            self.by_id += other.by_id
            self.glances += other.glances
        return self


@dataclass(frozen=True)
class Dice:
    """Varied memories and requests, the same ones for the same seed."""

    seed: int
    roll: random.Random = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "roll", random.Random(self.seed))

    def somebody(self) -> str:
        return self.roll.choice(self.roll.choice(PEOPLE).now)

    def several(self, most: int) -> frozenset[str]:
        return frozenset(self.somebody() for _ in range(self.roll.randint(0, most)))

    def kept(self, number: int) -> Kept:
        written = memory(
            id=f"{number:08d}",
            space=OTHER_SPACE if self.roll.random() < 0.04 else SPACE,
            created_at=NOW - timedelta(minutes=self.roll.randint(1, 999)),
            content=f"Fact number {number}",
            **self.fields(),
        )
        spoiled = tuple(name for name in _WORDS if self.roll.random() < 0.03)
        gaps: Fields = dict.fromkeys(spoiled)
        return Kept(written, replace(written, **gaps), spoiled)

    def fields(self) -> Fields:
        choice = self.roll.choice
        rooms = [group_learned(room) for room in (HERE, HERE, HERE_BEFORE, ELSEWHERE)]
        ends = (NOW, NOW + timedelta(microseconds=1), NOW + timedelta(days=2), *[None] * 9)
        hidden = [withheld()] * 5
        hidden += [withheld(choice(choice(PEOPLE).ever)), withheld(SARAH)]
        hidden += [withheld(self.somebody(), self.somebody())]
        found: Fields = {
            "owner": choice([None, self.somebody(), self.somebody()]),
            "speaker": choice([None, self.somebody(), self.somebody()]),
            "subjects": self.several(3),
            "heard_by": self.several(7),
            "confidential": choice([False, False, True]),
            "visibility": choice([*Visibility, Visibility.PUBLIC_OK]),
            "sensitivity": choice([*Sensitivity, Sensitivity.PUBLIC, Sensitivity.PUBLIC]),
            "portable": choice([True, True, False]),
            "inferred": choice([False] * 7 + [True]),
            "state": choice([State.ACTIVE] * 12 + [*State]),
            "expires_at": choice(ends),
            "overridden": choice([False] * 9 + [True]),
        }
        return found | choice([NO_PROVENANCE, PRIVATE_LEARNED, *rooms]) | choice(hidden)

    def request(self) -> Request:
        choice = self.roll.choice
        everybody: list[Person | None] = [*PEOPLE, *PEOPLE, None]
        kind = choice((*[ChatKind.PRIVATE] * 3, *[ChatKind.GROUP] * 3, ChatKind.UNKNOWN))
        company = (0, 0, 0, 1) if kind is ChatKind.PRIVATE else (0, 1, 1, 2, 3)
        others = self.roll.sample(PEOPLE, choice(company))
        rooms = choice(((HERE, HERE_BEFORE), (HERE,), (ELSEWHERE,)))
        return request(
            choice(everybody),
            kind,
            others,
            complete=choice((False, True)),
            purpose=choice((*[Purpose.RECALL] * 6, Purpose.MANAGE)),
            chat=rooms[0],
            rooms=rooms,
            union=choice((True, True, False)),
            at=choice((NOW, NOW, NOW - timedelta(microseconds=1), NOW + timedelta(days=1))),
        )


def fill(store: Store, kept: Sequence[Kept]) -> None:
    """Write the rows as every write does, then misspell the words that are to be unreadable."""
    for space in (SPACE, OTHER_SPACE):
        of_space = [one for one in kept if one.written.space == space]
        for start in range(0, len(of_space), _CHUNK_COUNT):
            chunk = of_space[start : start + _CHUNK_COUNT]
            store.write_as(space, "system", partial(_add, chunk=chunk))


def _add(w: memories.Transaction, chunk: Sequence[Kept]) -> None:
    for one in chunk:
        memories.insert_memory(w, one.written)
    m = memories_table.c
    for name in _WORDS:
        ids = [one.written.id for one in chunk if name in one.spoiled]
        if ids:
            spoil = update(memories_table).where(m.space_id == w.space, m.id.in_(ids))
            w.connection.execute(spoil.values({name: UNREADABLE}))


def ask(store: Store, kept: Sequence[Kept], asked: Sequence[Request], seed: int) -> Asked:
    """Every request as the real queries answer it, against `decide` on every memory."""
    tally = Asked()
    roll = random.Random(seed)
    if store.database.dialect.defers_fts_index:
        search.update_fts_index(store.database)
    for question in asked:
        rules = {
            one.written.id: decision.rule
            for one in kept
            if (decision := _decision(question, one, tally)) is not None and decision.allowed
        }
        tally.requests += 1
        tally.cells += len(kept)
        tally.returned += len(rules)
        ids = roll.sample(sorted(rules), min(len(rules), _ASKED_BY_ID_COUNT // 2))
        ids += [one.written.id for one in roll.sample(kept, _ASKED_BY_ID_COUNT // 2)]
        with store.database.read() as connection:
            for problem in _problems(store, connection, question, rules, ids, tally):
                tally.mismatches.append(f"{problem}: {question}")
    return tally


def _decision(question: Request, one: Kept, tally: Tally) -> Any:
    """What the rules say of a memory that is there for this request at all."""
    decision = decide(question, one.seen)
    tally.rules[decision.rule] += 1
    overridden = one.seen.overridden and question.purpose is not Purpose.MANAGE
    return None if overridden or one.seen.space != question.space else decision


def _problems(
    store: Store, connection: Connection, question: Request, rules: dict[str, str], ids: Sequence[str], tally: Asked
) -> Iterator[str]:
    """Each way of asking, and how its answer differs from the rules, if it does."""
    audiences, dialect = store.audiences, store.database.dialect
    right = sorted(rules.items())
    try:
        for wanted in (ListFilter(), ListFilter(words=EVERY_CONTENT_HAS)):
            page = search.list_memories(connection, audiences, dialect, question, wanted, EVERYTHING_COUNT)
            listed = sorted((found.id, decision.rule) for found, decision in page)
            if listed != right:
                yield f"{wanted} lists otherwise: {sorted(set(listed) ^ set(right))[:5]}"
        chosen = set()
        if (shape := shape_of_request(question)) is not None:
            which = select(memories_table.c.id).where(memory_reads.any_branch_condition(shape))
            chosen = set(connection.execute(which, predicate_parameters(question)).scalars())
        if chosen != set(rules):
            yield f"the condition differs in {sorted(chosen ^ set(rules))[:5]}"
        rev = spaces.identity_revision(connection, question.space)
        for id in ids:
            tally.by_id += 1
            found = memory_reads.get_memory(connection, audiences, question, id)
            if (found[1].rule if found else None) != rules.get(id):
                yield f"{id} by its id is {found and found[1]}, not {rules.get(id)}"
            glanced = get_memory_fast(store.database, audiences, (rev, question), "id", {"id": id})
            if glanced is FAST_PATH_MISS:
                continue
            tally.glances += 1
            if (glanced[1].rule if glanced else None) != rules.get(id):
                yield f"{id} at a glance is {glanced and glanced[1]}, not {rules.get(id)}"
    except DisclosureBreach as breach:
        yield str(breach)
