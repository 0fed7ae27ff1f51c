"""Record what people say as episodes, and keep each under the same holds as what is learned from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from tacit import limits
from tacit.identity import RawRequest
from tacit.learning.composition import (
    Ttls,
    compute_expiry,
    find_floor,
    has_unidentified_person,
    list_listeners,
    stricter_sensitivity,
)
from tacit.learning.extraction.sentences import HoldScope
from tacit.learning.facts import Hold, StatedFact
from tacit.learning.reconciliation import ReconcileDecision, ReconcileOutcome
from tacit.learning.turns import HeldMessage, QueuedTurn, find_withheld_people
from tacit.records.conversation import Role
from tacit.records.memory import ChatKind, HistoryEvent, Kind, Memory, Sensitivity, Source, State, Trust, Visibility
from tacit.records.queries import memory_position
from tacit.storage import episodes, memories, queue, relations
from tacit.storage.learned_facts import normalized_digest
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import AudienceCache

# An episode is a turn of a conversation, kept word for word, so that recall can quote it.
#
# It has the provenance of its chat, and the disclosure of a personal memory: in private only
# its owner may see it; a turn of a group is shown there to its speaker, and in private to those who
# heard it. A hold in the text ("don't tell Quinn") applies to the turn as to the facts learned from
# it. The lexicon decides whether the turn is sensitive. An expired turn is not shown, and the next
# sweep deletes it.

EPISODE_CATEGORY = "conversation"
_KEPT_HERE = (Hold.ROOM, Hold.PRIVATE)


def record_episodes(tx: Transaction, kept: Sequence[HeldMessage], session: str | None, keep_days: int) -> list[str]:
    """Insert an episode for each message, under its holds."""
    ids = []
    for one in kept:
        turn = _turn(tx, one, session, keep_days)
        memories.insert_turn(tx, turn)
        ids.append(turn.id)
    return ids


def _turn(tx: Transaction, kept: HeldMessage, session: str | None, keep_days: int) -> Memory:
    said, request = kept.said, tx.request
    when = said.at or tx.at
    withheld, unclear = find_withheld_people(tx, kept.scope.withheld_from)
    in_group = request.kind is ChatKind.GROUP
    learned = request.kind if in_group or request.private else None
    # The requester is the speaker only of their own messages.
    own = said.role is Role.USER and said.name is None
    return Memory(
        id=memories.draw_memory_id(tx),
        space=tx.space,
        owner=request.subject,
        speaker=request.subject if own else None,
        subjects=frozenset(),
        learned_in=request.chat if learned else None,
        learned_kind=learned,
        heard_by=list_listeners(tx),
        confidential=in_group and (request.confidential or kept.scope.hold in _KEPT_HERE),
        kind=Kind.OBSERVATION,
        category=EPISODE_CATEGORY,
        key=None,
        slot=None,
        content=said.content,
        version=1,
        visibility=Visibility.ROOM if in_group and not unclear else Visibility.PRIVATE_ONLY,
        sensitivity=find_floor(f"{said.content} ", Sensitivity.PERSONAL),
        portable=False,
        withheld_from=withheld,
        withheld_unknown=has_unidentified_person(tx, withheld),
        inferred=False,
        trust=Trust.STATED if said.role is Role.USER else Trust.UNTRUSTED,
        importance=limits.IMPORTANCE_DEFAULT,
        confidence=None,
        pinned=False,
        tags=(),
        source=Source(channel=request.channel, chat=request.chat, message=said.id),
        thread=tx.thread,
        agent=None,
        run=None,
        role=said.role.value,
        created_at=tx.at,
        updated_at=tx.at,
        observed_at=when,
        expires_at=tx.at + timedelta(days=keep_days),
        last_accessed_at=None,
        access_count=0,
        state=State.ACTIVE,
        purge_at=None,
        superseded_by=None,
        overridden=False,
        session=session or f"{tx.thread} {when.date().isoformat()}",
        name=said.name,
    )


# An episode and the memories learned from it share their holds. Otherwise the episode would say
# what the memory withholds, or a memory learned later would say what the episode withholds.


def link_memory(tx: Transaction, memory_id: str, episode_ids: Sequence[str]) -> None:
    """Link a memory to the requester's own episodes that it was learned from."""
    relations.insert_source_turns(tx, memory_id, episode_ids)
    memory = memories.get_for_update(tx, memory_id)
    if memory is not None:
        protect_episodes(tx, memory)


def protect_episodes(tx: Transaction, memory: Memory) -> None:
    """Show the episodes that a memory was learned from to no more people than the memory."""
    for episode in memories.lock_memories(tx, sorted(episodes.list_sources(tx, [memory.id]))):
        protected = replace(
            episode,
            sensitivity=stricter_sensitivity(episode.sensitivity, memory.sensitivity),
            visibility=min(episode.visibility, memory.visibility, key=lambda one: one.rank),
            withheld_from=episode.withheld_from | memory.withheld_from,
            withheld_unknown=episode.withheld_unknown or memory.withheld_unknown,
            confidential=episode.confidential or memory.confidential,
        )
        if protected != episode:
            memories.update_episode(tx, protected)


# Learn again, for example with a better model. What is known stays as it is: an episode adds what it
# says and was not understood, but nothing that was forgotten, replaced or corrected since.


def queue_again(
    connection: Connection, audiences: AudienceCache, space: str, at: datetime, after: tuple[int, str] | None
) -> tuple[int, tuple[int, str] | None]:
    """Queue the next episodes for learning; return how many, and where the next begin; None at the end."""
    found = episodes.list_spoken(connection, audiences, space, at, after, limits.PAGE_MAX_COUNT)
    threads: dict[tuple[str, str], list[str]] = {}
    for one in found:
        if one.owner is not None and one.learned_in is not None:
            threads.setdefault((one.thread or one.learned_in, one.owner), []).append(_build_turn(one).pack())
    for (thread, owner), payloads in threads.items():
        queue.insert_thread_jobs(connection, space, thread, owner, payloads, at, at)
    last = memory_position(found[-1]) if len(found) == limits.PAGE_MAX_COUNT else None
    return sum(map(len, threads.values())), last


def _build_turn(episode: Memory) -> QueuedTurn:
    assert episode.learned_in is not None
    return QueuedTurn(
        text=episode.content,
        role=Role.USER,
        said_at=episode.observed_at or episode.created_at,
        message=episode.source.message,
        agent=episode.agent,
        # What was said before is no longer known: a bare reply must not pass for a statement.
        before=(f"{Role.ASSISTANT}: ...",),
        # Nobody counts as present because of this: the episode has the audience of its time.
        asking=RawRequest(
            subject=episode.owner,
            chat=episode.learned_in,
            kind=episode.learned_kind or ChatKind.UNKNOWN,
            participants=frozenset(),
            complete=False,
            vouched=False,
        ),
        present=episode.heard_by,
        confidential=episode.confidential,
        recorded=episode.id,
        again=True,
    )


def drop_known_decisions(
    tx: Transaction, episode: Memory, decisions: Sequence[ReconcileDecision], ttls: Ttls
) -> list[ReconcileDecision]:
    """Return the decisions without those that would undo what happened since the episode was learned."""
    learned = episodes.read_learned(tx.connection, tx.space, [episode.id])
    if any(one.state in (State.FORGOTTEN, State.PENDING, State.QUARANTINED) for one in learned):
        return []
    slots, wordings = episodes.read_ended_slots(tx, episode.id), episodes.read_wordings(tx, episode.id)
    digests = set(map(normalized_digest, wordings))

    def is_settled(one: ReconcileDecision) -> bool:
        if one.outcome is ReconcileOutcome.SAME:
            return False
        if one.outcome is not ReconcileOutcome.NEW:
            return any(old.updated_at >= episode.created_at for old in (one.old, *one.also) if old is not None)
        is_known = normalized_digest(one.content) in digests
        return is_known or (one.statement is not None and one.statement.slot in slots)

    return [one for one in decisions if not is_settled(one) and not _is_past(tx, episode, one.statement, ttls)]


def _is_past(tx: Transaction, episode: Memory, said: StatedFact | None, ttls: Ttls) -> bool:
    """Whether what was said would have expired by now."""
    if said is None:
        return False
    expires = said.expires_at or compute_expiry(said.kind or Kind.KNOWLEDGE, episode.created_at, ttls)
    return expires is not None and expires <= tx.at


def lock_source(tx: Transaction, turn: QueuedTurn) -> Memory | None:
    """Lock and return the episode of a queued turn; None without one, or if it was deleted."""
    return None if turn.recorded is None else memories.get_for_update(tx, turn.recorded)


def find_last_episode(tx: Transaction, within: timedelta) -> Memory | None:
    """Find and lock what the requester said last in this thread, if that is not long ago."""
    id = episodes.find_newest(tx, tx.at - within)
    return None if id is None else memories.get_for_update(tx, id)


def hold_episode(tx: Transaction, episode: Memory, scope: HoldScope) -> None:
    """Apply a hold that was said afterwards to an episode and to what was learned from it."""
    withheld, unclear = find_withheld_people(tx, scope.withheld_from)
    kept_here = scope.hold in _KEPT_HERE

    def hold(memory: Memory) -> Memory:
        in_group = memory.learned_kind is ChatKind.GROUP
        alone = unclear or (kept_here and not in_group)
        return replace(
            memory,
            withheld_from=memory.withheld_from | withheld,
            withheld_unknown=has_unidentified_person(tx, memory.withheld_from | withheld),
            confidential=memory.confidential or (in_group and kept_here),
            visibility=Visibility.PRIVATE_ONLY if alone else memory.visibility,
        )

    memories.update_episode(tx, hold(episode))
    for memory in memories.lock_memories(tx, sorted(episodes.list_derived(tx, [episode.id]))):
        changed = replace(hold(memory), updated_at=tx.at)
        memories.update_fields(tx, changed, HistoryEvent.UPDATE, None, {"fields": "withheld_from"})
