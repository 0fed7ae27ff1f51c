"""Revert what was learned from a source, a message or an import."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.identity import parse_chat_id
from tacit.learning.turns import LEARN_JOB, QueuedTurn, unpack_turn
from tacit.lifecycle.forget import forget_insights, forget_memory
from tacit.lifecycle.purge import purge_memories
from tacit.policy.rules import decide
from tacit.records import validation
from tacit.records.conversation import Role
from tacit.records.drafts import RevertedImport
from tacit.records.memory import HistoryEvent, Memory, State, Trust
from tacit.records.results import Reverted
from tacit.storage import episodes, imports, learned_facts, memories, retention
from tacit.storage.chats import read_chat
from tacit.storage.engine import delete_rows, select_set
from tacit.storage.erasures import hard_delete
from tacit.storage.learned_facts import StoredFact
from tacit.storage.memories import Transaction, update_key_precedence
from tacit.storage.memory_reads import to_sensitivity, to_visibility
from tacit.storage.memory_reads import unpack_people as people
from tacit.storage.schema import history_table, jobs, learned_facts_table, memories_table, memory_versions
from tacit.storage.spaces import load_identities

# What a memory was learned from (a chat, a message, an agent or a role), and which of its versions
# learning made.

SOURCE_FORMS = "a chat (telegram:-100), a message (telegram:-100/42), agent:NAME or role:tool"
_AGENT_PREFIX, _ROLE_PREFIX, _IMPORT_PREFIX = "agent:", "role:", "import:"
AS_VERSION = "as_version"  # key in a history entry: the wording is that of an earlier version
_M = memories_table.c
_H = history_table.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A source as the caller named it.

    `chat_ids` are the ids that its chat has had. With `identities` only what these identities of
    one person handed over counts, in the categories that the requester may use.
    """

    chat: str | None = None
    message: str | None = None
    agent: str | None = None
    role: Role | None = None
    chat_ids: Collection[str] = field(default=())
    identities: Collection[str] | None = None  # None: of any person
    categories: Collection[str] | None = None  # None: all categories

    def resolve_chat(self, connection: Connection, space: str) -> Origin:
        """Add every id that the channel gave the chat."""
        if self.chat is None:
            return self
        chats = read_chat(connection, space, self.chat).chat_ids
        return replace(self, chat_ids=sorted(chats | {self.chat}))

    @property
    def row_filter(self) -> ColumnElement[bool]:
        """Return a filter for memories whose wording is from here, of any owner."""
        if self.agent is not None:
            return _M.agent == self.agent
        if self.role is not None:
            return _M.role == self.role.value
        here = _M.source_chat.in_(self.chat_ids)
        return here if self.message is None else and_(here, _M.source_message == self.message)

    def matches_memory(self, memory: Memory) -> bool:
        """Report whether a memory is from here and belongs to the requested identities."""
        source = memory.source
        if self.categories is not None and memory.category not in self.categories:
            return False
        # What no person said, such as a tool's answer, comes from the person it was stored for.
        if self.identities is not None and (memory.speaker or memory.owner) not in self.identities:
            return False
        return self._matches(source.chat, source.message, memory.agent, memory.role)

    def matches_turn(self, turn: QueuedTurn) -> bool:
        if self.categories is not None and (turn.only is None or not set(turn.only) <= set(self.categories)):
            return False
        if self.identities is not None and turn.asking.subject not in self.identities:
            return False
        return self._matches(turn.asking.chat, turn.message, turn.agent, turn.role.value)

    def _matches(self, chat: str | None, message: str | None, agent: str | None, role: str | None) -> bool:
        if self.agent is not None:
            return agent == self.agent
        if self.role is not None:
            return role == self.role
        return chat in self.chat_ids and self.message in (None, message)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingVersion:
    """One version of a memory, and whether learning made it."""

    version: int
    at: int
    learned: bool


def parse_source(source: object) -> Origin:
    name = validation.parse_identifier("source", source, 2 * limits.LABEL_MAX_CHARS)
    parse_label = partial(validation.parse_identifier, "source", max_chars=limits.LABEL_MAX_CHARS)
    if name.startswith(_AGENT_PREFIX):
        return Origin(agent=parse_label(name.removeprefix(_AGENT_PREFIX)))
    if name.startswith(_ROLE_PREFIX):
        return Origin(role=validation.parse_enum("source", name.removeprefix(_ROLE_PREFIX), Role))
    if name.startswith(_IMPORT_PREFIX):
        raise InvalidInput("source", f"imports are not told apart yet; name {SOURCE_FORMS}")
    chat, slash, message = name.partition("/")
    try:
        room = parse_chat_id(chat)
    except InvalidInput:
        raise InvalidInput("source", f"is not known; name {SOURCE_FORMS}") from None
    return Origin(chat=room, message=parse_label(message) if slash else None)


def list_learned_wordings(tx: Transaction, memory: Memory) -> list[WordingVersion]:
    """List the versions of a memory, oldest first, and which ones learning made.

    Read from the history entries with a new wording: learning records a reason, people and
    operators need not.
    """
    entries = (
        select(_H.version, _H.actor, _H.detail, _H.at)
        .where(
            _H.space_id == tx.space,
            _H.memory_id == memory.id,
            _H.event.in_([HistoryEvent.ADD.value, HistoryEvent.UPDATE.value]),
        )
        .order_by(_H.seq)
    )
    found: dict[int, WordingVersion] = {}
    for row in tx.connection.execute(entries):
        detail = json.loads(row.detail)
        if "fields" in detail:
            continue
        by_learning = "why" in detail and not row.actor.startswith("operator:")
        if AS_VERSION in detail:  # a restored version is as good as the original
            # A version with new data and the same content belongs to the wording before it.
            before = max(one for one in found if one <= int(detail[AS_VERSION]))
            by_learning = found[before].learned
        found[row.version] = WordingVersion(version=row.version, at=row.at, learned=by_learning)
    return list(found.values())


# Revert: undo what was learned from one source, except where a person said otherwise since. A
# memory that the source made is forgotten; one that it only reworded gets its earlier version back;
# what either had superseded is restored. What a person stated later stays. An operator reverts any
# source; a person can unlearn one message of their own.

_MEMORIES_AT_ONCE_COUNT = 100
_TURNS_AT_ONCE_COUNT = 500
_L = learned_facts_table.c
_J = jobs.c
_V = memory_versions.c
_REVERTIBLE_STATES = tuple(state for state in State if state is not State.FORGOTTEN)
# The reason must not name the source: everyone who sees a memory may read its history.
_FORGET_REASON = "what was learned from its source was reverted"
_REWORD_REASON = "the earlier wording; the source of the later one was reverted"
_RESTORE_REASON = "what had replaced it was reverted"

T = TypeVar("T")
RunTransaction = Callable[[Callable[[Transaction], T]], T]


@dataclass(frozen=True, slots=True)
class _RevertTally:
    """Collect ids, so that what two steps find counts once."""

    forgotten: set[str] = field(default_factory=set)
    reworded: set[str] = field(default_factory=set)
    restored: set[str] = field(default_factory=set)
    proposals: set[str] = field(default_factory=set)
    turns: set[tuple[str, int]] = field(default_factory=set)
    recorded: set[str] = field(default_factory=set)

    def add(self, other: _RevertTally) -> None:
        for one in fields(self):
            getattr(self, one.name).update(getattr(other, one.name))

    def to_result(self) -> Reverted:
        return Reverted(**{one.name: len(getattr(self, one.name)) for one in fields(self)})


# Reverts one batch; returns where the next one begins, None at the end.
_RevertPart = Callable[[Transaction, Origin, Any], tuple[_RevertTally, Any]]


class _DryRun(Exception):
    def __init__(self, came: Any) -> None:
        super().__init__()
        self.came = came


def revert_source(act: RunTransaction[Any], origin: Origin, *, dry_run: bool) -> Reverted:
    """Revert a source; `act` runs one batch per transaction.

    Queued turns come first, so that nothing more is learned from the source meanwhile.
    """
    whole = _RevertTally()
    for part in (_revert_turns, _revert_memories):
        after: Any = None
        while True:

            def work(tx: Transaction, part: _RevertPart = part, after: Any = after) -> tuple[_RevertTally, Any]:
                came = part(tx, origin.resolve_chat(tx.connection, tx.space), after)
                if dry_run:
                    raise _DryRun(came)
                return came

            try:
                done, after = act(work)
            except _DryRun as rehearsed:
                done, after = rehearsed.came
            whole.add(done)
            if after is None:
                break
    return whole.to_result()


def unlearn_message(tx: Transaction, message: str, only: Collection[str] | None) -> Reverted:
    """Undo, in this transaction, what the requester said in one message of this chat.

    The recorded turn goes as well. Restored memories are counted only as far as the requester may
    see them here.
    """
    named = Origin(chat=tx.request.chat, message=message, identities=tx.request.own_identities, categories=only)
    origin = named.resolve_chat(tx.connection, tx.space)
    done = _RevertTally()
    queued = select(_J.thread, _J.seq, _J.payload).where(
        _J.space_id == tx.space, _J.kind == LEARN_JOB, _J.owner.in_(sorted(tx.request.own_identities))
    )
    _delete_queued_turns(tx, origin, tx.connection.execute(queued).all(), done)
    for memory in memories.lock_memories(tx, _find_own(tx, origin)):
        if not origin.matches_memory(memory):
            continue
        if memory.is_turn:
            done.recorded.add(memory.id)
        elif memory.state in _REVERTIBLE_STATES:
            _undo_memory(tx, origin, memory, done)
    purge_memories(tx, sorted(done.recorded))
    restored = memories.lock_memories(tx, sorted(done.restored))
    told = {memory.id for memory in restored if decide(tx.request, memory).allowed}
    return replace(done, restored=told).to_result()


def unlearn_episode(tx: Transaction, episode: Memory) -> None:
    """Delete an episode, and forget what was learned from it alone. If it still waits to be learned, it is not."""
    for memory in memories.lock_memories(tx, sorted(episodes.list_derived(tx, [episode.id]))):
        if episodes.list_sources(tx, [memory.id]) == {episode.id}:
            forget_memory(tx, memory)
    purge_memories(tx, [episode.id])


def _find_own(tx: Transaction, origin: Origin) -> list[str]:
    """List own memories by owner and by speaker: an index serves each."""
    own = sorted(origin.identities or ())
    theirs = _M.owner.in_(own)
    others = _M.speaker.in_(own) & or_(_M.owner.is_(None), _M.owner != _M.speaker)
    found: set[str] = set()
    for which in (theirs, others):
        rows = select(_M.id).where(_M.space_id == tx.space, which, origin.row_filter)
        found |= select_set(tx.connection, rows)
    return sorted(found)


def _revert_turns(tx: Transaction, origin: Origin, after: tuple[str, int] | None) -> tuple[_RevertTally, Any]:
    """Delete queued turns of the source. A worker that learns one of them finds its job gone."""
    thread, seq = after or ("", -1)
    later = or_(_J.thread > thread, (_J.thread == thread) & (_J.seq > seq))
    waiting = (
        select(_J.thread, _J.seq, _J.payload)
        .where(_J.space_id == tx.space, _J.kind == LEARN_JOB, later)
        .order_by(_J.thread, _J.seq)
        .limit(_TURNS_AT_ONCE_COUNT)
    )
    rows = tx.connection.execute(waiting).all()
    done = _RevertTally()
    _delete_queued_turns(tx, origin, rows, done)
    purge_memories(tx, sorted(done.recorded))
    more = len(rows) == _TURNS_AT_ONCE_COUNT
    return done, (rows[-1].thread, rows[-1].seq) if more else None


def _delete_queued_turns(tx: Transaction, origin: Origin, rows: Iterable[Any], done: _RevertTally) -> None:
    for row in rows:
        turn = unpack_turn(row.payload)
        if origin.matches_turn(turn):
            one = (_J.thread == row.thread, _J.seq == row.seq)
            if delete_rows(tx.connection, jobs, tx.space, *one):
                done.turns.add((row.thread, row.seq))
                if turn.recorded is not None:
                    done.recorded.add(turn.recorded)


def _revert_memories(tx: Transaction, origin: Origin, after: str | None) -> tuple[_RevertTally, Any]:
    learned = select(_L.memory_id).where(_L.space_id == _M.space_id, _L.memory_id == _M.id)
    found = (
        select(_M.id)
        .where(
            _M.space_id == tx.space,
            _M.is_turn.is_(False),
            _M.id > (after or ""),
            _M.state.in_([state.value for state in _REVERTIBLE_STATES]),
            or_(learned.exists(), _M.trust == Trust.UNTRUSTED.value),
            origin.row_filter,
        )
        .order_by(_M.id)
        .limit(_MEMORIES_AT_ONCE_COUNT)
    )
    ids = list(tx.connection.execute(found).scalars())
    done = _RevertTally()
    for memory in memories.lock_memories(tx, ids):
        if memory.state in _REVERTIBLE_STATES and origin.matches_memory(memory):
            _undo_memory(tx, origin, memory, done)
    return done, ids[-1] if len(ids) == _MEMORIES_AT_ONCE_COUNT else None


def _undo_memory(tx: Transaction, origin: Origin, memory: Memory, done: _RevertTally) -> None:
    first = _first_reverted_wording(tx, origin, memory)
    if first is None:
        return
    if memory.state is State.PENDING:
        learned_facts.delete_proposal(tx, memory.id)
        said = episodes.list_sources(tx, [memory.id])
        hard_delete(tx, [memory.id, *sorted(said)])
        done.recorded.update(said)
        done.proposals.add(memory.id)
    elif first.version == 1:
        _forget_reverted(tx, memory, done)
        if memory.state is not State.SUPERSEDED:
            _restore_superseded(tx, origin, memory.id, done, since=0)
    elif memory.state is not State.SUPERSEDED:  # that one returns with its successor, or not at all
        _restore_wording(tx, memory, first.version - 1, done)
        _restore_superseded(tx, origin, memory.id, done, since=first.at)


def _first_reverted_wording(tx: Transaction, origin: Origin, memory: Memory) -> WordingVersion | None:
    """Return the first version of the current wording that is from this source, or None.

    All versions of a memory come from one chat. Of agent and role only the last is stored and
    stands for the earlier ones; each version has its own message. A person who takes back their
    message also takes back what a tool wrote because of it; to an operator that is the person's own
    statement.
    """
    if not origin.matches_memory(memory):
        return None
    first = None
    for wording in reversed(list_learned_wordings(tx, memory)):
        if not wording.learned and origin.identities is None:
            break
        first = wording
        if origin.message is not None:
            break
    return first


def _forget_reverted(tx: Transaction, memory: Memory, done: _RevertTally) -> None:
    gone = replace(
        memory, state=State.FORGOTTEN, purge_at=tx.at + timedelta(days=limits.RESTORABLE_DAYS), updated_at=tx.at
    )
    told = "deleted" if memory.state is State.ACTIVE else None
    memories.update_fields(replace(tx, why=_FORGET_REASON), gone, HistoryEvent.DELETE, told)
    done.forgotten.add(memory.id)


def _restore_wording(tx: Transaction, memory: Memory, version: int, done: _RevertTally) -> None:
    """Restore an earlier wording with the stricter of its former and its current visibility."""
    which = (_V.space_id == tx.space, _V.memory_id == memory.id, _V.version == version)
    then = tx.connection.execute(select(memory_versions).where(*which)).one()
    heard = tx.audiences.get_people(tx.connection, tx.space, [then.audience])[then.audience]
    back = replace(
        memory,
        content=then.content,
        data=memory.data if _has_same_data(tx, memory, version) else None,
        version=memory.version + 1,
        speaker=then.speaker,
        subjects=people(then.subjects),
        heard_by=heard,
        visibility=min(memory.visibility, to_visibility(then.visibility), key=lambda v: v.rank),
        sensitivity=max(memory.sensitivity, to_sensitivity(then.sensitivity), key=lambda s: s.rank),
        portable=memory.portable and bool(then.portable),
        source=replace(memory.source, message=None),
        agent=None,
        role=None,
        state=State.ACTIVE,
        superseded_by=None,
        updated_at=tx.at,
    )
    memories.update_content(replace(tx, why=_REWORD_REASON), back, {AS_VERSION: str(version)})
    _reset_learned_fact(tx, back)
    update_owner_key(tx, back.owner, back.category, back.key)
    done.reworded.add(memory.id)


def _has_same_data(tx: Transaction, memory: Memory, version: int) -> bool:
    """Report whether data is unchanged since that version: older data is not stored."""
    since = select(_H.detail).where(_H.space_id == tx.space, _H.memory_id == memory.id, _H.version > version)
    details = map(json.loads, tx.connection.execute(since).scalars())
    return not any("data" in (one.get("fields"), one.get("also")) for one in details)


def _reset_learned_fact(tx: Transaction, memory: Memory) -> None:
    """Reset what learning compares the memory by: it described the other wording."""
    whose = memory.owner or memory.learned_in or ""
    of_themselves = not memory.subjects or memory.owner in memory.subjects
    fact = StoredFact(slot=memory.slot, value=None, negated=False, about_speaker=of_themselves, about="[]")
    learned_facts.save_fact(tx, memory.id, whose, memory.content, fact)


def _restore_superseded(tx: Transaction, origin: Origin, id: str, done: _RevertTally, since: int) -> None:
    """Restore what a memory superseded from then on.

    A superseded memory that is from the source as well is forgotten, and its own predecessor
    restored.
    """
    gave_way = select(_M.id).where(_M.space_id == tx.space, _M.superseded_by == id, _M.updated_at >= since)
    for memory in memories.lock_memories(tx, tx.connection.execute(gave_way).scalars().all()):
        if memory.superseded_by != id:
            continue
        first = _first_reverted_wording(tx, origin, memory)
        if memory.state is State.FORGOTTEN:  # reverted before
            _restore_superseded(tx, origin, memory.id, done, since=0)
        elif memory.state is not State.SUPERSEDED or memories.is_key_taken(tx, memory):
            continue
        elif first is None:
            _restore_reverted(tx, memory, done)
        elif first.version > 1:
            _restore_wording(tx, memory, first.version - 1, done)
        else:
            _forget_reverted(tx, memory, done)
            _restore_superseded(tx, origin, memory.id, done, since=0)


def _restore_reverted(tx: Transaction, memory: Memory, done: _RevertTally) -> None:
    back = replace(memory, state=State.ACTIVE, superseded_by=None, updated_at=tx.at)
    memories.update_fields(replace(tx, why=_RESTORE_REASON), back, HistoryEvent.RESTORE, "restored")
    update_owner_key(tx, back.owner, back.category, back.key)
    done.restored.add(memory.id)


def update_owner_key(tx: Transaction, owner: str | None, category: str, key: str | None) -> None:
    """Choose which value of a key holds among the owner's identities; nothing without a key."""
    if key is not None and owner is not None:
        owners = load_identities(tx.connection, tx.space, [owner]).current_identities(owner)
        update_key_precedence(tx.connection, tx.space, sorted(owners), category, key)


# Revert an import: forget what it made, except what was changed since.

_IMPORTED_AT_ONCE_COUNT = 200
_IMPORT_REVERTED_REASON = "its import was reverted"


def revert_import_step(tx: Transaction, run: str, restorable_days: int) -> tuple[RevertedImport, bool]:
    """Revert one batch of an import; return the result so far and whether more is left.

    Progress is stored with the run: a later call continues it and reports the whole, and nothing is
    imported under its name meanwhile.
    """
    imports.lock_imports(tx)
    found = imports.find_imports(tx.connection, tx.space, tx.request.own_identities, run)
    if not found:
        raise NotFound("import")
    newest = found[0]
    some = imports.list_imported(tx, run, _IMPORTED_AT_ONCE_COUNT)
    ids = [one.memory_id for one in some if one.is_untouched]
    until = tx.at + timedelta(days=restorable_days)
    retention.forget_memories(tx, ids, until, _IMPORT_REVERTED_REASON)
    forget_insights(tx, ids, restorable_days)
    gone = [one.token for one in some if one.is_untouched]
    left = [one.token for one in some if not one.is_untouched]
    imports.mark_undone(tx, run, gone, left)
    forgotten = newest.forgotten + len(gone)
    changed = newest.changed + sum(one.is_changed for one in some)
    more = len(some) == _IMPORTED_AT_ONCE_COUNT
    if some or any(one.run.reverted_at is None for one in found):
        state = {"reverting": more, "reverted_at": None if more else tx.at}
        for one in found:
            imports.update_import(tx, one, state)
        imports.update_import(tx, newest, {"forgotten": forgotten, "changed": changed})
    return RevertedImport(run=run, forgotten=forgotten, changed=changed), more
