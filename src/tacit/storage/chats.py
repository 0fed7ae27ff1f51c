"""Store chats: their kind, their members and the ids they have had."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, bindparam, select

from tacit.clock import to_micros
from tacit.errors import Conflict, NotFound
from tacit.identity import RawRequest, StoredChat
from tacit.records.memory import ChatKind
from tacit.records.validation import fold_name
from tacit.storage import spaces
from tacit.storage.engine import fetch_mappings, fetch_rows, insert_missing, select_set, to_record, update_rows
from tacit.storage.schema import chat_members, chats_table, memories_table, person_names, subjects

if TYPE_CHECKING:
    from tacit.storage.memories import Transaction

_C = chats_table.c
_M = chat_members.c


_SPACE: Any = bindparam("space")
_SELECT_CHAT = select(chats_table).where(_C.space_id == _SPACE, _C.id == bindparam("id"))
_SELECT_EARLIER_IDS = select(_C.id, _C.migrated_to).where(
    _C.space_id == _SPACE, _C.migrated_to.in_(bindparam("ids", expanding=True))
)
_SELECT_MEMBERS = select(_M.person).where(_M.space_id == _SPACE, _M.chat == bindparam("id"), _M.left_at.is_(None))


def read_chat(connection: Connection, space: str, chat: str) -> StoredChat:
    """Read a chat under its newest id, with all known members."""
    row: dict[str, Any] | None = None
    newer: str | None = chat
    seen: set[str | None] = {None}
    while newer not in seen:
        seen.add(newer)
        found = fetch_mappings(connection, _SELECT_CHAT, {"space": space, "id": newer})
        row, newer = (found[0], found[0]["migrated_to"]) if found else (row, None)
    if row is None:
        return StoredChat(id=chat, chat_ids=frozenset({chat}))
    id = row["id"]
    members = fetch_rows(connection, _SELECT_MEMBERS, {"space": space, "id": id})
    return to_record(
        StoredChat,
        row,
        chat_ids=frozenset(read_chat_ids(connection, space, [id])[id]),
        members=frozenset(person for (person,) in members),
    )


def read_chat_ids(connection: Connection, space: str, newest: Collection[str]) -> dict[str, set[str]]:
    """Return every id that each chat has had, by its newest id, which is included."""
    newest_of = {id: id for id in newest}
    fringe = sorted(newest_of)
    while fringe:
        params = {"space": space, "ids": fringe}
        earlier = fetch_rows(connection, _SELECT_EARLIER_IDS, params)
        rows = [(id, newer) for id, newer in earlier if id not in newest_of]
        newest_of |= {id: newest_of[newer] for id, newer in rows}
        fringe = [id for id, _ in rows]
    found: dict[str, set[str]] = defaultdict(set)
    for id, now in newest_of.items():
        found[now].add(id)
    return found


def list_private_chats(connection: Connection, space: str, who: Collection[str]) -> set[str]:
    """List the private chats that these identities are or were in."""
    alone = (
        select(_M.chat)
        .join(chats_table, (_C.space_id == _M.space_id) & (_C.id == _M.chat))
        .where(_M.space_id == space, _M.person.in_(sorted(who)))
        .where(_C.kind == ChatKind.PRIVATE.value)
    )
    return select_set(connection, alone)


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


def register_chat(connection: Connection, space: str, asking: RawRequest, at: datetime) -> None:
    """Insert the chat and the people that an adapter reports; do nothing if all are known."""
    spaces.ensure_space(connection, space, at)
    spaces.lock_space(connection, space)
    known = read_chat(connection, space, asking.chat)
    changed = _register_people(connection, space, asking, at)
    if asking.vouched:  # otherwise, no adapter confirms that they are present
        if known.kind is None:
            _insert_chat(connection, space, asking.chat, asking.kind, at)
            changed = True
        new = asking.people - known.members
        if asking.kind is ChatKind.PRIVATE and known.members:
            new = frozenset()  # a private chat keeps its first owner, under any identity
        changed |= _add_members(connection, space, known.id, new, at)
        if asking.complete:
            gone = known.members - asking.people
            changed |= _remove_members(connection, space, known.id, gone, at)
    if changed:
        spaces.increment_identity_revision(connection, space)


def _register_people(connection: Connection, space: str, asking: RawRequest, at: datetime) -> bool:
    have = select(subjects.c.id).where(subjects.c.space_id == space, subjects.c.id.in_(sorted(asking.people)))
    missing = asking.people - select_set(connection, have)
    rows = [{"id": id, "created_at": at} for id in sorted(missing)]
    insert_missing(connection, subjects, space, rows)
    same = {"known_to": "", "created_at": at}
    names = [
        same | {"person": person, "kind": kind, "folded": fold_name(name), "name": name}
        for person, kind, name in asking.names
    ]
    insert_missing(connection, person_names, space, names)
    return bool(missing)


# Changes of groups. They run in `change_identities`, which locks the space.


def join_chat(tx: Transaction, chat: str, person: str) -> None:
    known = _require_group(tx, chat)
    if _add_members(tx.connection, tx.space, known.id, {person} - known.members, tx.at):
        spaces.increment_identity_revision(tx.connection, tx.space)


def leave_chat(tx: Transaction, chat: str, person: str | None) -> None:
    """Remove a person, or all members, from a chat."""
    known = read_chat(tx.connection, tx.space, chat)
    gone = known.members if person is None else {person} & known.members
    if _remove_members(tx.connection, tx.space, known.id, gone, tx.at):
        spaces.increment_identity_revision(tx.connection, tx.space)


def set_chat_confidential(tx: Transaction, chat: str, on: bool) -> None:
    """Set the flag of the chat and its copy on each memory of the chat."""
    rooms = sorted(_require_group(tx, chat).chat_ids)
    update_rows(tx.connection, chats_table, tx.space, _C.id.in_(rooms), confidential=on)
    learned_there = memories_table.c.learned_in.in_(rooms)
    update_rows(tx.connection, memories_table, tx.space, learned_there, confidential=on)
    spaces.increment_identity_revision(tx.connection, tx.space)


def migrate_chat(tx: Transaction, old: str, new: str) -> None:
    """Move a group to the new id that its channel assigned, with its memories and members."""
    known = _require_group(tx, old)
    if new in known.chat_ids:
        return
    there = read_chat(tx.connection, tx.space, new)
    if there.kind is not None and (there.kind is not ChatKind.GROUP or len(there.chat_ids) > 1):
        raise Conflict("the new chat id is already another chat's")
    _require_group(tx, new)
    update_rows(tx.connection, chats_table, tx.space, _C.id == known.id, migrated_to=new)
    _add_members(tx.connection, tx.space, new, known.members - there.members, tx.at)
    # End the memberships of the old id: members leave the group under the new id.
    _remove_members(tx.connection, tx.space, known.id, known.members, tx.at)
    if known.confidential or there.confidential:
        set_chat_confidential(tx, new, True)
    spaces.increment_identity_revision(tx.connection, tx.space)


def _require_group(tx: Transaction, chat: str) -> StoredChat:
    known = read_chat(tx.connection, tx.space, chat)
    if known.kind is None:
        _insert_chat(tx.connection, tx.space, chat, ChatKind.GROUP, tx.at)
        spaces.increment_identity_revision(tx.connection, tx.space)
        return read_chat(tx.connection, tx.space, chat)
    if known.kind is not ChatKind.GROUP:
        raise NotFound("group chat")
    return known


def _insert_chat(connection: Connection, space: str, id: str, kind: ChatKind, at: datetime) -> None:
    row = {"id": id, "kind": kind, "confidential": False, "migrated_to": None, "created_at": at}
    insert_missing(connection, chats_table, space, [row])


def _add_members(connection: Connection, space: str, chat: str, people: Collection[str], at: datetime) -> bool:
    same = {"chat": chat, "joined_at": at, "left_at": None}
    rows = [same | {"person": person} for person in sorted(people)]
    insert_missing(connection, chat_members, space, rows)
    if rows:
        # A member who joined and left at the same clock tick already has this row.
        these = (_M.chat == chat, _M.person.in_(sorted(people)), _M.joined_at == to_micros(at))
        update_rows(connection, chat_members, space, *these, left_at=None)
    return bool(rows)


def _remove_members(connection: Connection, space: str, chat: str, people: Collection[str], at: datetime) -> bool:
    these = (_M.chat == chat, _M.person.in_(sorted(people)), _M.left_at.is_(None))
    return bool(people) and update_rows(connection, chat_members, space, *these, left_at=at) > 0


# Memberships of a person, for that person only.


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    chat: str
    kind: str
    joined_at: datetime


def list_memberships(connection: Connection, space: str, who: Collection[str]) -> list[Membership]:
    """List the chats that these identities are in now, in the order they joined."""
    found = (
        select(_M.chat, _C.kind, _M.joined_at)
        .join(chats_table, (_C.space_id == _M.space_id) & (_C.id == _M.chat))
        .where(_M.space_id == space, _M.person.in_(sorted(who)), _M.left_at.is_(None))
        .order_by(_M.joined_at, _M.chat)
    )
    return [to_record(Membership, row) for row in connection.execute(found)]
