"""Every combination of request and memory in a small world, `decide` against the oracle.

Each person goes by another identity in each field, so that every cell also asks whether
identities are told together.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import product
from math import ceil, prod
from typing import Any

from tacit.policy.rules import decide
from tacit.records.memory import ChatKind, Memory, Purpose, Sensitivity, State, Visibility
from tacit.records.request import Request
from tests.policy.cells import (
    ALICE,
    BOB,
    CAROL,
    ELSEWHERE,
    GROUP,
    HERE,
    HERE_BEFORE,
    LAPSED,
    NO_PROVENANCE,
    NOW,
    PRIVATE_LEARNED,
    SARAH,
    Fields,
    Person,
    group_learned,
    memory,
    request,
    withheld,
)
from tests.policy.oracle import RULES, expected


def one(name: str, *values: Any) -> tuple[Fields, ...]:
    return tuple({name: value} for value in values)


def sets(name: str, *values: tuple[str, ...]) -> tuple[Fields, ...]:
    """Sets of identities; an empty one among them is nobody."""
    return tuple({name: frozenset(value) - {""}} for value in values)


@dataclass(frozen=True)
class Product:
    """All combinations of some choices of fields, reached by number."""

    choices: tuple[tuple[Fields, ...], ...]

    def __len__(self) -> int:
        return prod(map(len, self.choices))

    def __getitem__(self, number: int) -> Fields:
        found: Fields = {}
        for values in self.choices:
            number, which = divmod(number, len(values))
            found.update(values[which])
        return found


_A, _B, _C = ALICE, BOB, CAROL


@dataclass(frozen=True, eq=False)
class World:
    """Every one of some requests meets every one of some memories."""

    name: str
    requests: tuple[Request, ...]
    memories: Product

    @property
    def cells(self) -> int:
        return len(self.requests) * len(self.memories)


def _asked(
    requesters: Iterable[Person | None],
    purposes: Iterable[Purpose] = (Purpose.RECALL,),
    unions: Iterable[bool] = (True,),
) -> tuple[Request, ...]:
    """In every kind of chat, with any of Bob and Carol there; each request once."""
    company: tuple[tuple[Person, ...], ...] = ((), (_B,), (_C,), (_B, _C))
    every = [
        request(who, kind, others, complete=complete, purpose=purpose, union=union)
        for who, kind, others, complete, purpose, union in product(
            requesters, ChatKind, company, (False, True), purposes, unions
        )
    ]
    return tuple(asked for n, asked in enumerate(every) if asked not in every[:n])


# What the long rules turn on: each field with each word it can hold, for one person who asks.
RULED = World(
    "recall of what is active",
    _asked([ALICE]),
    Product(
        (
            one("owner", None, _A.now[0], _B.now[1]),
            one("speaker", None, _A.now[1], _B.now[0]),
            sets("subjects", (), (_A.now[2],), (_B.now[0],), (_A.now[0], _B.now[1]), (_A.id, _C.id)),
            (NO_PROVENANCE, PRIVATE_LEARNED, group_learned(HERE_BEFORE), group_learned(ELSEWHERE)),
            sets("heard_by", *product(("", _A.now[1]), ("", _B.now[1]), ("", _C.id))),
            one("confidential", False, True),
            one("visibility", *Visibility),
            one("sensitivity", *Sensitivity),
            one("portable", False, True),
            one("inferred", False, True),
            (withheld(), withheld(_B.past[0]), withheld(_A.past[0]), withheld(SARAH)),
        )
    ),
)
# What the short rules turn on: who asks, what for, and whether the memory is still there.
STATES = World(
    "any purpose, any requester, any state",
    _asked([None, ALICE, BOB], Purpose, (True, False)),
    Product(
        (
            one("owner", None, _A.now[1], _B.now[0]),
            one("speaker", None, _A.now[2]),
            sets("subjects", (_A.now[0],), (_B.now[1], _C.id)),
            (NO_PROVENANCE, PRIVATE_LEARNED, group_learned(HERE), group_learned(ELSEWHERE)),
            sets("heard_by", (), (_A.now[0], _B.now[0], _C.id)),
            one("visibility", Visibility.ROOM, Visibility.PUBLIC_OK),
            one("sensitivity", Sensitivity.PUBLIC, Sensitivity.PERSONAL),
            (withheld(), withheld(_C.past[0])),
            (*one("state", *State), LAPSED, {"expires_at": NOW + timedelta(microseconds=1)}),
        )
    ),
)
# Every field missing, or there.
GAPS = World(
    "missing fields",
    _asked([None, ALICE], Purpose),
    Product(
        (
            one("owner", None, _A.now[1]),
            one("speaker", None, _A.now[2], _B.now[1]),
            ({"subjects": None}, *sets("subjects", (_A.now[0],))),
            (NO_PROVENANCE, {"learned_in": HERE}, {"learned_kind": GROUP}, group_learned(HERE)),
            ({"heard_by": None}, *sets("heard_by", (_A.now[1], _B.now[0]))),
            one("confidential", None, True),
            one("visibility", None, Visibility.PUBLIC_OK),
            one("sensitivity", None, Sensitivity.PUBLIC),
            one("portable", None, True),
            one("inferred", None, False),
            ({"withheld_from": None}, withheld(_B.now[0])),
            one("state", None, State.ACTIVE),
        )
    ),
)
WORLDS = (RULED, STATES, GAPS)


@dataclass
class Tally:
    """What a walk found."""

    cells: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    mismatches: list[str] = field(default_factory=list)

    def __iadd__(self, other: Tally) -> Tally:
        self.cells += other.cells
        self.rules += other.rules
        self.mismatches += other.mismatches
        return self

    @property
    def unreached(self) -> list[str]:
        return [name for name in RULES if not self.rules[name]]


def compare(asked: Sequence[Request], kept: Iterable[Memory]) -> Tally:
    """`decide` against the oracle, on every pair of these."""
    tally = Tally()
    for stored in kept:
        for question in asked:
            decision = decide(question, stored)
            rule = expected(question, stored)
            tally.rules[decision.rule] += 1
            if decision.rule != rule or decision.allowed is not RULES[rule]:
                tally.mismatches.append(f"{decision} is not {rule}: {question} {stored}")
        tally.cells += len(asked)
    return tally


def walk(world: World, numbers: Iterable[int]) -> Tally:
    return compare(world.requests, (memory(**world.memories[number]) for number in numbers))


def sample(world: World, cells: int, seed: int = 1) -> Sequence[int]:
    """Numbers of memories for so many cells, the same each time; all where there are no more."""
    count, total = ceil(cells / len(world.requests)), len(world.memories)
    return range(total) if count >= total else random.Random(seed).sample(range(total), count)
