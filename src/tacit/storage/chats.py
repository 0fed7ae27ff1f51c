"""Store chats: their kind, their members and the ids they have had."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from tacit.clock import from_micros, to_micros
from tacit.errors import Conflict, NotFound
from tacit.identity import RawRequest, StoredChat
from tacit.records.memory import ChatKind
from tacit.records.validation import fold_name
from tacit.storage import spaces
from tacit.storage.dialect import Dialect
from tacit.storage.schema import chat_members, chats_table, memories_table, person_names, subjects

# Chats: their kind, their members with the time they joined, and the ids they have had.

_SELECT_CHAT = select(chats_table).where(
    chats_table.c.space_id == bindparam("space"), chats_table.c.id == bindparam("id")
)
_SELECT_EARLIER_IDS = select(chats_table.c.id).where(
    chats_table.c.space_id == bindparam("space"), chats_table.c.migrated_to == bindparam("id")
)
_SELECT_MEMBERS = select(chat_members.c.person).where(
    chat_members.c.space_id == bindparam("space"),
    chat_members.c.chat == bindparam("id"),
    chat_members.c.left_at.is_(None),
)


def read_chat(connection: Connection, space: str, chat: str) -> StoredChat:
    """Read a chat under its newest id, with all known members."""
    row = connection.execute(_SELECT_CHAT, {"space": space, "id": chat}).one_or_none()
    if row is None:
        return StoredChat(id=chat, chat_ids=frozenset({chat}))
    seen = {chat}
    while row.migrated_to is not None and row.migrated_to not in seen:
        seen.add(row.migrated_to)
        newer = connection.execute(
            _SELECT_CHAT, {"space": space, "id": row.migrated_to}
        ).one_or_none()
        if newer is None:
            break
        row = newer
    rooms = {row.id}
    fringe = [row.id]
    while fringe:
        found = connection.execute(
            _SELECT_EARLIER_IDS, {"space": space, "id": fringe.pop()}
        ).scalars()
        for earlier in found:
            if earlier not in rooms:
                rooms.add(earlier)
                fringe.append(earlier)
    members = connection.execute(_SELECT_MEMBERS, {"space": space, "id": row.id}).scalars()
    return StoredChat(
        id=row.id,
        kind=ChatKind(row.kind),
        confidential=row.confidential,
        chat_ids=frozenset(rooms),
        members=frozenset(members),
    )


def is_chat_known(connection: Connection, space: str, asking: RawRequest) -> bool:
    """Return whether `register_chat` would have nothing to write."""
    known = read_chat(connection, space, asking.chat)
    if known.kind is None or not known.members:
        return False
    if asking.kind is not ChatKind.PRIVATE and not asking.people <= known.members:
        return False
    if asking.complete and known.members != asking.people:
        return False
    n = person_names.c
    named = select(n.person, n.kind, n.name).where(
        n.space_id == space, n.person.in_(sorted(asking.people)), n.known_to == ""
    )
    return set(asking.names) <= {tuple(row) for row in connection.execute(named)}


def register_chat(
    connection: Connection, dialect: Dialect, space: str, asking: RawRequest, at: datetime
) -> None:
    """Insert the chat and the people that an adapter reports; do nothing if all are known."""
    spaces.ensure_space(connection, dialect, space, at)
    dialect.lock_space(connection, space)
    known = read_chat(connection, space, asking.chat)
    now = to_micros(at)
    changed = _register_people(connection, dialect, space, asking, now)
    if not asking.vouched:  # no adapter confirms that they are present
        if changed:
            spaces.increment_identity_revision(connection, space)
        return
    if known.kind is None:
        _insert_chat(connection, dialect, space, asking.chat, asking.kind, now)
        changed = True
    new = asking.people - known.members
    if asking.kind is ChatKind.PRIVATE and known.members:
        new = frozenset()  # a private chat keeps its first owner, under any identity
    changed |= _add_members(connection, dialect, space, known.id, new, now)
    if asking.complete:
        changed |= _remove_members(connection, space, known.id, known.members - asking.people, now)
    if changed:
        spaces.increment_identity_revision(connection, space)


def _register_people(
    connection: Connection, dialect: Dialect, space: str, asking: RawRequest, now: int
) -> bool:
    have = select(subjects.c.id).where(
        subjects.c.space_id == space, subjects.c.id.in_(sorted(asking.people))
    )
    missing = asking.people - set(connection.execute(have).scalars())
    rows = [{"space_id": space, "id": id, "created_at": now} for id in sorted(missing)]
    dialect.insert_missing(connection, subjects, rows)
    names = [
        {
            "space_id": space,
            "person": person,
            "kind": kind,
            "folded": fold_name(name),
            "known_to": "",
            "name": name,
            "created_at": now,
        }
        for person, kind, name in asking.names
    ]
    dialect.insert_missing(connection, person_names, names)
    return bool(missing)


def join_chat(
    connection: Connection, dialect: Dialect, space: str, chat: str, person: str, at: datetime
) -> None:
    known = _require_group(connection, dialect, space, chat, at)
    if _add_members(connection, dialect, space, known.id, {person} - known.members, to_micros(at)):
        spaces.increment_identity_revision(connection, space)


def leave_chat(
    connection: Connection,
    dialect: Dialect,
    space: str,
    chat: str,
    person: str | None,  # None: all members
    at: datetime,
) -> None:
    dialect.lock_space(connection, space)
    known = read_chat(connection, space, chat)
    gone = known.members if person is None else {person} & known.members
    if _remove_members(connection, space, known.id, gone, to_micros(at)):
        spaces.increment_identity_revision(connection, space)


def set_chat_confidential(
    connection: Connection, dialect: Dialect, space: str, chat: str, on: bool, at: datetime
) -> None:
    """Set the flag of the chat and its copy on each memory of the chat."""
    known = _require_group(connection, dialect, space, chat, at)
    rooms = sorted(known.chat_ids)
    c, m = chats_table.c, memories_table.c
    connection.execute(
        update(chats_table).where(c.space_id == space, c.id.in_(rooms)).values(confidential=on)
    )
    connection.execute(
        update(memories_table)
        .where(m.space_id == space, m.learned_in.in_(rooms))
        .values(confidential=on)
    )
    spaces.increment_identity_revision(connection, space)


def migrate_chat(
    connection: Connection, dialect: Dialect, space: str, old: str, new: str, at: datetime
) -> None:
    """Move a group to the new id that its channel assigned, with its memories and members."""
    known = _require_group(connection, dialect, space, old, at)
    if new in known.chat_ids:
        return
    there = read_chat(connection, space, new)
    if there.kind is not None and (there.kind is not ChatKind.GROUP or len(there.chat_ids) > 1):
        raise Conflict("the new chat id is already another chat's")
    _require_group(connection, dialect, space, new, at)
    c = chats_table.c
    flag = known.confidential or there.confidential
    connection.execute(
        update(chats_table).where(c.space_id == space, c.id == known.id).values(migrated_to=new)
    )
    now = to_micros(at)
    _add_members(connection, dialect, space, new, known.members - there.members, now)
    # End the memberships of the old id: members leave the group under the new id.
    _remove_members(connection, space, known.id, known.members, now)
    if flag:
        set_chat_confidential(connection, dialect, space, new, True, at)
    spaces.increment_identity_revision(connection, space)


def _require_group(
    connection: Connection, dialect: Dialect, space: str, chat: str, at: datetime
) -> StoredChat:
    spaces.ensure_space(connection, dialect, space, at)
    dialect.lock_space(connection, space)
    known = read_chat(connection, space, chat)
    if known.kind is None:
        _insert_chat(connection, dialect, space, chat, ChatKind.GROUP, to_micros(at))
        spaces.increment_identity_revision(connection, space)
        return read_chat(connection, space, chat)
    if known.kind is not ChatKind.GROUP:
        raise NotFound("group chat")
    return known


def _insert_chat(
    connection: Connection, dialect: Dialect, space: str, id: str, kind: ChatKind, now: int
) -> None:
    row = {
        "space_id": space,
        "id": id,
        "kind": kind.value,
        "confidential": False,
        "migrated_to": None,
        "created_at": now,
    }
    dialect.insert_missing(connection, chats_table, [row])


def _add_members(
    connection: Connection,
    dialect: Dialect,
    space: str,
    chat: str,
    people: Iterable[str],
    now: int,
) -> bool:
    rows = [
        {"space_id": space, "chat": chat, "person": person, "joined_at": now, "left_at": None}
        for person in sorted(people)
    ]
    dialect.insert_missing(connection, chat_members, rows)
    if rows:
        # A member who joined and left at the same clock tick already has this row.
        c = chat_members.c
        connection.execute(
            update(chat_members)
            .where(
                c.space_id == space,
                c.chat == chat,
                c.person.in_([row["person"] for row in rows]),
                c.joined_at == now,
            )
            .values(left_at=None)
        )
    return bool(rows)


def _remove_members(
    connection: Connection, space: str, chat: str, people: Iterable[str], now: int
) -> bool:
    gone = sorted(people)
    if gone:
        c = chat_members.c
        connection.execute(
            update(chat_members)
            .where(c.space_id == space, c.chat == chat, c.person.in_(gone), c.left_at.is_(None))
            .values(left_at=now)
        )
    return bool(gone)


# Memberships of a person, for that person only.

_C = chat_members.c
_H = chats_table.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    chat: str
    kind: str
    joined_at: datetime


def list_memberships(connection: Connection, space: str, who: Collection[str]) -> list[Membership]:
    """List the chats that these identities are in now, in the order they joined."""
    found = (
        select(_C.chat, _H.kind, _C.joined_at)
        .join(chats_table, (_H.space_id == _C.space_id) & (_H.id == _C.chat))
        .where(_C.space_id == space, _C.person.in_(sorted(who)), _C.left_at.is_(None))
        .order_by(_C.joined_at, _C.chat)
    )
    return [
        Membership(chat=row.chat, kind=row.kind, joined_at=from_micros(row.joined_at))
        for row in connection.execute(found)
    ]
