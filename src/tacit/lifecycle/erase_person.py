"""Erasing a person: all that is theirs and all that they were here; or all that is about them,
whoever owns it. Both are an operator's to do: what is said behind somebody's back is not even
known to them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlalchemy import ColumnElement, Table, delete, or_, select, update

from tacit.identity.external_keys import EXTERNAL_PREFIX
from tacit.lifecycle import tombstones
from tacit.lifecycle.erase import erase_owned, remove, remove_settled
from tacit.lifecycle.tombstones import Noted, Removal
from tacit.records.memory import ChatKind, HistoryEvent
from tacit.storage import (
    access_log,
    checkpoints,
    erasures,
    memories,
    notes,
    people,
    revisions,
    spaces,
)
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import effective_subjects
from tacit.storage.schema import (
    api_keys,
    audience_people,
    blocks,
    chat_members,
    chats_table,
    declined,
    done_once,
    events,
    history_table,
    learning_days,
    link_tries,
    memories_table,
    memory_people,
    memory_versions,
    partitions_table,
    people_table,
    person_names,
    proposals,
    reflections,
    subjects,
    thread_revisions,
)

SOMEBODY = "somebody"  # in the history of what is others', in the place of who is gone
_AT_ONCE_COUNT = 500
_M = memories_table.c


def erase_person(w: Transaction, identities: Collection[str]) -> Noted:
    removal = Removal(scope="person", people=set(identities))
    take_person(w, removal, identities)
    return tombstones.record(w, removal)


def erase_about(w: Transaction, identities: Collection[str]) -> Noted:
    removal = Removal(scope="subject", people=set(identities))
    take_about(w, removal, identities)
    return tombstones.record(w, removal)


def take_person(w: Transaction, removal: Removal, identities: Collection[str]) -> None:
    """Their memories, the names they go by and gave, what they were asked, where they were, and the
    keys by which others ask for them; and which operators looked at them.

    Links stay, and so do the names of listeners of what others said: they are what keeps a memory
    withheld from every identity a person ever had.
    """
    who = sorted(identities)
    rooms, threads = _places(w, who)
    removal.counts.update(notes.erase_notes(w, who, rooms))
    erase_owned(w, removal, who)
    _take_learning(w, removal, who)
    _take_words(w, removal, who)
    n, c, p, s, e = person_names.c, chat_members.c, people_table.c, subjects.c, events.c
    _drop(w, removal, person_names, or_(n.person.in_(who), n.known_to.in_(who)))
    removal.counts["same_people"] += people.delete_merges(w.connection, w.space, who)
    _drop(w, removal, chat_members, c.person.in_(who))
    left = select(c.chat).where(c.space_id == w.space)
    _drop(w, removal, chats_table, chats_table.c.id.in_(rooms), chats_table.c.id.not_in(left))
    _drop(w, removal, people_table, or_(p.created_by.in_(who), p.id.in_(who)))
    _drop(w, removal, subjects, s.id.in_(who))
    _drop(w, removal, done_once, done_once.c.person.in_(who))
    _drop(w, removal, link_tries, link_tries.c.person.in_(who))
    outside = [one.removeprefix(f"{EXTERNAL_PREFIX}:") for one in who]  # as a key names them
    _drop(w, removal, api_keys, api_keys.c.requester.in_([*who, *outside]))
    removal.counts["looks"] += access_log.delete_access_log_of_people(w.connection, w.space, who)
    _drop(w, removal, blocks, blocks.c.thread.in_(threads))
    _drop(w, removal, thread_revisions, thread_revisions.c.thread.in_(threads))
    _drop(w, removal, events, or_(e.owner.in_(who), e.thread.in_(threads)))
    sets = _drop_unheard(w, removal, who)
    doors = [*map(revisions.person_path, who), *map(revisions.chat_path, rooms)]
    doors += map(revisions.audience_path, sets)
    _drop(w, removal, partitions_table, partitions_table.c.door.in_(doors))
    spaces.increment_identity_revision(w.connection, w.space)


def take_about(w: Transaction, removal: Removal, identities: Collection[str]) -> None:
    """Every memory about them, in any of its wordings, and what others call them."""
    who = sorted(identities)
    remove_settled(w, removal, erasures.list_memories_about(w.connection, w.space, who))
    n, p, m = person_names.c, people_table.c, memory_people.c
    _drop(w, removal, person_names, n.person.in_(who), n.known_to != "")
    removal.counts["same_people"] += people.delete_merges(w.connection, w.space, who)
    named = select(m.person).where(m.space_id == w.space, m.person.in_(who))
    _drop(w, removal, people_table, p.id.in_(who), p.id.not_in(named))
    spaces.increment_identity_revision(w.connection, w.space)


def _places(w: Transaction, who: list[str]) -> tuple[list[str], list[str]]:
    """Their private chats, and the conversations there."""
    c = chat_members.c
    alone = (
        select(c.chat)
        .join(chats_table, (chats_table.c.space_id == c.space_id) & (chats_table.c.id == c.chat))
        .where(
            c.space_id == w.space, c.person.in_(who), chats_table.c.kind == ChatKind.PRIVATE.value
        )
    )
    rooms = sorted(set(w.connection.execute(alone).scalars()))
    there = select(_M.thread).where(
        _M.space_id == w.space,
        _M.owner.in_(who),
        _M.learned_in.in_(rooms),
        _M.thread.is_not(None),
    )
    threads = set(w.connection.execute(there.distinct()).scalars())
    return rooms, sorted({one for one in threads if one} | set(rooms))


def _take_learning(w: Transaction, removal: Removal, who: list[str]) -> None:
    """What they were asked, what they said no to, and how much was learned from them."""
    a = proposals.c
    asked = select(a.memory_id).where(a.space_id == w.space, a.concerns.in_(who))
    remove(w, removal, w.connection.execute(asked).scalars().all())
    _drop(w, removal, declined, declined.c.concerns.in_(who))
    _drop(w, removal, learning_days, learning_days.c.owner.in_(who))
    _drop(w, removal, reflections, reflections.c.owner.in_(who))


def _take_words(w: Transaction, removal: Removal, who: list[str]) -> None:
    """What they said for a room goes; of what is another's, it is not told that they said it."""
    said = select(_M.id, _M.owner, _M.is_turn).where(_M.space_id == w.space, _M.speaker.in_(who))
    rows = w.connection.execute(said).all()
    remove(w, removal, [row.id for row in rows if row.owner is None or row.is_turn])
    for row in rows:
        memory = (
            memories.get_for_update(w, row.id)
            if row.owner is not None and not row.is_turn
            else None
        )
        if memory is not None:
            unsaid = replace(memory, speaker=None, subjects=effective_subjects(memory))
            memories.update_fields(w, unsaid, HistoryEvent.UPDATE, None, {"fields": "speaker"})
    v, h, space = memory_versions.c, history_table.c, w.space
    changes = (
        (memory_versions, v.speaker, None),
        (memory_versions, v.actor, SOMEBODY),
        (history_table, h.actor, SOMEBODY),
    )
    for table, column, value in changes:
        theirs = (table.c.space_id == space, column.in_(who))
        w.connection.execute(update(table).where(*theirs).values({column: value}))


def _drop_unheard(w: Transaction, removal: Removal, who: list[str]) -> list[str]:
    """Sets of listeners that nothing refers to any more."""
    a = audience_people.c
    referring = (memories_table, memory_versions, *checkpoints.STEP_TABLES)
    sets = select(a.audience).where(
        a.space_id == w.space,
        a.person.in_(who),
        *(
            a.audience.not_in(
                select(one.c.heard).where(one.c.space_id == w.space, one.c.heard.is_not(None))
            )
            for one in referring
        ),
    )
    unused = sorted(set(w.connection.execute(sets).scalars()))
    for start in range(0, len(unused), _AT_ONCE_COUNT):
        some = unused[start : start + _AT_ONCE_COUNT]
        _drop(w, removal, audience_people, a.audience.in_(some))
    return unused


def _drop(w: Transaction, removal: Removal, table: Table, *which: ColumnElement[bool]) -> None:
    done = w.connection.execute(delete(table).where(table.c.space_id == w.space, *which))
    removal.counts[table.name] += done.rowcount
