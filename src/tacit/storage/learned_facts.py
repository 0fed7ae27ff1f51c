"""Store facts that learning compares, proposals, refusals and usage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, or_, select, text

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.llm.budget import Usage
from tacit.policy.rules import ROLE_MENTIONED, ROLE_SUBJECT, sql_literal
from tacit.records.memory import Memory, State, Trust
from tacit.storage.engine import (
    Database,
    delete_rows,
    fetch_rows,
    insert_missing,
    insert_statement,
    run_statements,
    to_record,
    update_rows,
    upsert,
)
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import MEMORY_COLUMNS, AudienceCache, unpack_people
from tacit.storage.schema import (
    declined_proposals,
    learned_facts_table,
    learning_days,
    llm_usage,
    memories_table,
    memory_people,
    proposals,
)
from tacit.text import split_terms

# What learning compares of memories: the normalized wording and the slot.

_M = memories_table.c
_L = learned_facts_table.c
_P = memory_people.c
_SELECT_FACTS = (
    select(
        _M.id,
        _M.owner,
        _M.category,
        _M.content,
        _M.slot,
        _M.subjects,
        _M.created_at,
        _M.updated_at,
        _L.content_digest,
        _L.slot.label("learned_slot"),
        _L.value,
        _L.negated,
        _L.about_speaker,
        _L.about,
    )
    .select_from(memories_table.outerjoin(learned_facts_table, (_L.space_id == _M.space_id) & (_L.memory_id == _M.id)))
    .where(
        _M.space_id == bindparam("space"),
        _M.state == State.ACTIVE.value,
        _M.is_turn.is_(False),
        # A memory with a key and data belongs to a program. Learning must not change its content,
        # which would no longer match the data.
        or_(_M.key.is_(None), _M.data.is_(None)),
    )
)
_SELECT_OWNERS_FACTS = _SELECT_FACTS.where(_M.owner.in_(bindparam("owners", expanding=True)))
_NEWEST_FIRST = (_M.created_at.desc(), _M.id.desc())
_SELECT_NEWEST_FACTS = _SELECT_OWNERS_FACTS.order_by(*_NEWEST_FIRST).limit(bindparam("most"))
_SELECT_FACT = _SELECT_OWNERS_FACTS.where(_M.id == bindparam("id"))
_SELECT_CHAT_FACTS = (
    _SELECT_FACTS.where(_M.owner.is_(None), _M.learned_in.in_(bindparam("rooms", expanding=True)))
    .order_by(*_NEWEST_FIRST)
    .limit(bindparam("most"))
)
_SELECT_SIMILAR_FACTS = _SELECT_OWNERS_FACTS.where(
    _L.owner.in_(bindparam("owners", expanding=True)),
    or_(
        _L.content_digest.in_(bindparam("content_digest", expanding=True)),
        _L.slot.in_(bindparam("slots", expanding=True)),
    ),
).limit(bindparam("most"))
_SELECT_HEARSAY = (
    _SELECT_FACTS.join(memory_people, (_P.space_id == _M.space_id) & (_P.memory_id == _M.id))
    .where(
        _P.person.in_(bindparam("people", expanding=True)),
        _P.role.in_([sql_literal(ROLE_SUBJECT), sql_literal(ROLE_MENTIONED)]),
        _M.trust == Trust.HEARSAY.value,
        _L.slot == bindparam("slot"),
    )
    .limit(bindparam("most"))
)
_INSERT_FACT = insert_statement(learned_facts_table)


class StoredFact(NamedTuple):
    """Hold what learning compares of a memory; `about` is as `pack_mentions` returns it."""

    slot: str | None
    about_speaker: bool
    value: str | None = None
    negated: bool = False
    about: str = "[]"


class ComparedMemory(NamedTuple):
    """Hold the part of an active memory that learning compares.

    Not a dataclass: one is built for every known memory in each turn.
    """

    id: str
    owner: str | None
    category: str
    content: str
    subjects: frozenset[str]
    created_at: int
    updated_at: datetime
    content_digest: str  # of the normalized wording
    fact: StoredFact


@lru_cache(maxsize=4_096)
def normalized_digest(content: str) -> str:
    """Hash the words only: case, punctuation and spaces make no difference."""
    return hashlib.sha256(" ".join(split_terms(content)).encode()).hexdigest()[:32]


def list_newest_facts(connection: Connection, space: str, owners: Collection[str], most: int) -> list[ComparedMemory]:
    return _fetch_facts(connection, _SELECT_NEWEST_FACTS, space, owners=owners, most=most)


def list_chat_facts(connection: Connection, space: str, rooms: Collection[str], most: int) -> list[ComparedMemory]:
    """List the newest facts that these chats own."""
    return _fetch_facts(connection, _SELECT_CHAT_FACTS, space, rooms=rooms, most=most)


def get_fact(connection: Connection, space: str, owners: Collection[str], id: str) -> ComparedMemory | None:
    found = _fetch_facts(connection, _SELECT_FACT, space, owners=owners, id=id)
    return found[0] if found else None


def list_similar_facts(
    connection: Connection,
    space: str,
    owners: Collection[str],
    content_digests: Collection[str],
    slots: Collection[str],
    most: int,
) -> list[ComparedMemory]:
    """List facts of these owners with the same wording or in one of these slots, of any age."""
    digests = {"content_digest": content_digests, "slots": slots}
    return _fetch_facts(connection, _SELECT_SIMILAR_FACTS, space, owners=owners, **digests, most=most)


def list_hearsay(
    connection: Connection, space: str, about: Collection[str], slot: str, most: int
) -> list[ComparedMemory]:
    """List what other people said about a person in one slot."""
    return _fetch_facts(connection, _SELECT_HEARSAY, space, people=about, slot=slot, most=most)


def save_fact(
    tx: Transaction, memory_id: str, owner: str, content: str, fact: StoredFact, *, new: bool = False
) -> None:
    """Save the fact of a memory. Replace the stored one unless the memory is `new`."""
    if not new:
        delete_rows(tx.connection, learned_facts_table, tx.space, _L.memory_id == memory_id)
    row = {
        "space_id": tx.space,
        "memory_id": memory_id,
        "owner": owner,
        "content_digest": normalized_digest(content),
        **fact._asdict(),
    }
    run_statements(tx.connection, [(_INSERT_FACT, row)])


def pack_mentions(mentions: Sequence[Sequence[str | None]]) -> str:
    return json.dumps([list(one) for one in mentions], ensure_ascii=False)


def unpack_mentions(text: str) -> list[tuple[str, str | None, str | None, str | None]]:
    if text == "[]":
        return []
    return [(one[0], one[1], one[2], one[3]) for one in json.loads(text)]


def _fetch_facts(
    connection: Connection, statement: Select[Any], space: str, **params: int | str | Collection[str]
) -> list[ComparedMemory]:
    given = {name: one if isinstance(one, (int, str)) else sorted(one) for name, one in params.items()}
    rows = fetch_rows(connection, statement, {"space": space, **given})
    return [_to_compared_memory(row) for row in rows]


@lru_cache(maxsize=4_096)
def _to_compared_memory(row: tuple[Any, ...]) -> ComparedMemory:
    """Convert a row; cached, because most rows are the same in the next turn."""
    id, owner, category, content, named, about_whom, created_at, updated_at, *known = row
    content_digest, slot, value, negated, about_speaker, about = known
    subjects = unpack_people(about_whom)
    if content_digest is None:  # stored as stated, not parsed into a fact
        own = not subjects or owner in subjects
        content_digest, fact = normalized_digest(content), StoredFact(slot=named, about_speaker=own)
    else:
        fact = StoredFact(slot, bool(about_speaker), value, bool(negated), about)
    at = from_micros(updated_at)
    return ComparedMemory(id, owner, category, content, subjects, created_at, at, content_digest, fact)


# Proposals that wait for consent, and refusals.

_PROPOSAL = proposals.c
_D = declined_proposals.c
_SELECT_SAME_FACT = select(_L.memory_id).where(
    _L.space_id == bindparam("space"),
    _L.owner.in_(bindparam("who", expanding=True)),
    _L.content_digest == bindparam("digest"),
)
_SELECT_REFUSAL = select(_D.content_digest).where(
    _D.space_id == bindparam("space"),
    _D.concerns.in_(bindparam("who", expanding=True)),
    _D.content_digest == bindparam("digest"),
    _D.until > bindparam("now"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingProposal:
    memory_id: str
    concerns: str
    reason: str
    replaces: str | None
    signals: int
    created_at: datetime
    expires_at: datetime


def insert_proposal(
    tx: Transaction, memory_id: str, concerns: str, reason: str, replaces: str | None, signals: int
) -> None:
    row = {
        "memory_id": memory_id,
        "concerns": concerns,
        "reason": reason,
        "replaces": replaces,
        "signals": signals,
        "created_at": tx.at,
        "expires_at": tx.at + timedelta(days=limits.PROPOSAL_DAYS),
    }
    insert_missing(tx.connection, proposals, tx.space, [row])


def list_proposals(connection: Connection, space: str, who: Collection[str], now: datetime) -> list[PendingProposal]:
    waiting = (
        select(proposals)
        .where(_PROPOSAL.space_id == space, _PROPOSAL.concerns.in_(sorted(who)), _PROPOSAL.expires_at > to_micros(now))
        .order_by(_PROPOSAL.created_at, _PROPOSAL.memory_id)
    )
    return [to_record(PendingProposal, row) for row in connection.execute(waiting)]


def get_proposed_memory(connection: Connection, audiences: AudienceCache, space: str, id: str) -> Memory | None:
    """Return the memory of a proposal. The caller checks the disclosure rules."""
    proposed = select(*MEMORY_COLUMNS).where(_M.space_id == space, _M.id == id)
    rows = connection.execute(proposed).all()
    return next(iter(audiences.to_memories(connection, space, rows)), None)


def find_same_proposal(tx: Transaction, who: Collection[str], content_digest: str) -> PendingProposal | None:
    """Return a waiting proposal with the same wording."""
    params = {"space": tx.space, "who": sorted(who), "digest": content_digest}
    ids = {id for (id,) in fetch_rows(tx.connection, _SELECT_SAME_FACT, params)}
    found = list_proposals(tx.connection, tx.space, who, tx.at) if ids else []
    return next((one for one in found if one.memory_id in ids), None)


def add_proposal_signal(tx: Transaction, memory_id: str) -> None:
    more = {"signals": _PROPOSAL.signals + 1}
    update_rows(tx.connection, proposals, tx.space, _PROPOSAL.memory_id == memory_id, **more)


def delete_proposal(tx: Transaction, memory_id: str) -> None:
    """Delete a proposal that was answered."""
    delete_rows(tx.connection, proposals, tx.space, _PROPOSAL.memory_id == memory_id)


def insert_refusal(tx: Transaction, concerns: str, content_digest: str) -> None:
    """Record a refusal as a hash, so that learning does not ask again for a while."""
    until = to_micros(tx.at + timedelta(days=limits.DECLINED_PROPOSAL_KEEP_DAYS))
    row = {"space_id": tx.space, "concerns": concerns, "content_digest": content_digest}
    upsert(tx.connection, declined_proposals, {**row, "until": until})


def is_declined(tx: Transaction, who: Collection[str], content_digest: str) -> bool:
    params = {"space": tx.space, "who": sorted(who), "digest": content_digest}
    return bool(fetch_rows(tx.connection, _SELECT_REFUSAL, {**params, "now": to_micros(tx.at)}))


def list_expired_proposals(connection: Connection, space: str, now: datetime, most: int) -> list[str]:
    """List the memories whose proposals were not answered in time."""
    expired = select(_PROPOSAL.memory_id).where(_PROPOSAL.space_id == space, _PROPOSAL.expires_at <= to_micros(now))
    return list(connection.execute(expired.limit(most)).scalars())


# Usage of learning and of language models, counted across processes.

_U = llm_usage.c
_DAYS = learning_days.c
# These run for every turn: compiled once, on the driver.
_INCREMENT_LEARNED = text(
    "INSERT INTO learning_days (space_id, owner, day, writes) VALUES (:space, :owner, :day, 1) "
    "ON CONFLICT (space_id, owner, day) DO UPDATE SET writes = learning_days.writes + 1"
)
_MARK_LAST_TURN = text(
    "INSERT INTO learning_days (space_id, owner, day, writes, last_turn_at) "
    "VALUES (:space, :owner, :day, 0, :at) "
    "ON CONFLICT (space_id, owner, day) DO UPDATE SET last_turn_at = CASE "
    "WHEN learning_days.last_turn_at >= excluded.last_turn_at "
    "THEN learning_days.last_turn_at + 1 ELSE excluded.last_turn_at END"
)
_SELECT_DAY = select(_DAYS.writes, _DAYS.last_turn_at).where(
    _DAYS.space_id == bindparam("space"), _DAYS.owner == bindparam("owner"), _DAYS.day == bindparam("day")
)


@dataclass(frozen=True, slots=True)
class DatabaseLedger:
    """Implement `llm.budget.Ledger` for all processes that share the database."""

    database: Database

    def spent(self, space: str, day: date) -> Usage:
        with self.database.read() as connection:
            return read_llm_usage(connection, space, day)

    def add(self, space: str, day: date, usage: Usage) -> None:
        key = {"space_id": space, "day": day.isoformat()}
        counts = {"requests": 1, **asdict(usage)}
        sums = {name: _U[name] + count for name, count in counts.items()}
        self.database.write(lambda c: upsert(c, llm_usage, {**key, **counts}, **sums))


def read_llm_usage(connection: Connection, space: str, day: date) -> Usage:
    found = select(_U.tokens_in, _U.tokens_out, _U.cost_micros).where(_U.space_id == space, _U.day == day.isoformat())
    row = connection.execute(found).first()
    return Usage() if row is None else to_record(Usage, row)


def count_learned_on(connection: Connection, space: str, owner: str, day: date) -> int:
    """Count the writes that learning made for an owner on a day."""
    return _read_day(connection, space, owner, day)[0]


def increment_learned(connection: Connection, space: str, owner: str, day: date) -> None:
    params = {"space": space, "owner": owner, "day": day.isoformat()}
    run_statements(connection, [(_INCREMENT_LEARNED, params)])


def mark_last_turn(connection: Connection, space: str, owner: str | None, at: datetime) -> None:
    """Record that learning read a turn of the owner.

    Statements of earlier turns are then no longer the owner's last, even if the clock did not
    advance.
    """
    if owner is not None:
        day = at.date().isoformat()
        params = {"space": space, "owner": owner, "day": day, "at": to_micros(at)}
        run_statements(connection, [(_MARK_LAST_TURN, params)])


def last_turn_at(connection: Connection, space: str, owner: str | None, day: date) -> datetime | None:
    """Return when the owner's last turn of a day was read; None if there was none."""
    at = None if owner is None else _read_day(connection, space, owner, day)[1]
    return None if at is None else from_micros(at)


def _read_day(connection: Connection, space: str, owner: str, day: date) -> tuple[int, int | None]:
    """Return the number of writes, and when the last turn was read."""
    params = {"space": space, "owner": owner, "day": day.isoformat()}
    for writes, last_turn in fetch_rows(connection, _SELECT_DAY, params):
        return writes, last_turn
    return 0, None
