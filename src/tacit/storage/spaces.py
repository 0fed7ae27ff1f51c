"""Create ids, load identities, and read and increment the revisions that caches are checked against."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import CompoundSelect, Connection, TextClause, bindparam, select, text, union_all

from tacit import limits
from tacit.identity import Identities
from tacit.policy.rules import AccessPath, predicate_parameters, select_audiences
from tacit.records.accounts import Link
from tacit.records.memory import Memory, State
from tacit.records.request import Request
from tacit.storage.engine import (
    AT_ONCE_COUNT,
    chunks,
    fetch_rows,
    insert_missing,
    run_statements,
    to_record,
    update_rows,
)
from tacit.storage.memory_reads import effective_subjects
from tacit.storage.schema import (
    POLICY_TABLES,
    audience_people,
    identity_links,
    memories_table,
    memory_people,
    note_files,
    note_items,
    note_lines,
    notes_table,
    revisions_table,
    spaces_table,
    tombstones,
)

if TYPE_CHECKING:
    from tacit.storage.memories import Transaction

# Ids, and the keyed digests that prevent an erased id from being used again.

# In ASCII order: ids of later seconds sort after ids of earlier seconds.
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SECOND_CHARS = 5  # enough for 29 years; then they repeat
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def new_id() -> str:
    return _encode_base62(secrets.randbelow(len(_ALPHABET) ** limits.ID_CHARS), limits.ID_CHARS)


def new_memory_id(at: datetime) -> str:
    """Return an id that starts with the second of creation, followed by random characters.

    Memories written one after the other are adjacent in every index. The id reveals no more than
    the record, which holds the time too.
    """
    rest = limits.ID_CHARS - _SECOND_CHARS
    return _second_prefix(at.replace(microsecond=0)) + _encode_base62(secrets.randbelow(len(_ALPHABET) ** rest), rest)


def id_range_of_second(at: datetime) -> tuple[str, str]:
    """Return the first and the last id that a memory created in this second may have."""
    rest = limits.ID_CHARS - _SECOND_CHARS
    begun = _second_prefix(at.replace(microsecond=0))
    return begun + _ALPHABET[0] * rest, begun + _ALPHABET[-1] * rest


@lru_cache(maxsize=4)
def _second_prefix(at: datetime) -> str:
    seconds = (at - _EPOCH) // _SECOND % len(_ALPHABET) ** _SECOND_CHARS
    return _encode_base62(seconds, _SECOND_CHARS)


def _encode_base62(number: int, count: int) -> str:
    chars = []
    for _ in range(count):
        number, at = divmod(number, len(_ALPHABET))
        chars.append(_ALPHABET[at])
    return "".join(reversed(chars))


def keyed_digest(secret: str, id: str) -> str:
    """Return a keyed hash that identifies an id without revealing it.

    The key is stored only in the row of the space.
    """
    return hmac.digest(bytes.fromhex(secret), id.encode(), "sha256").hex()


# Spaces, and the identity revision, which grows with each change of people, links or chats.

_SELECT_IDENTITY_REVISION = select(spaces_table.c.identity_rev).where(spaces_table.c.space_id == bindparam("space"))
_HAS_TOMBSTONES = select(tombstones.c.digest).where(tombstones.c.space_id == spaces_table.c.space_id).exists()
_SELECT_LOCKED_STATE = (
    select(spaces_table.c.identity_rev, spaces_table.c.secret, _HAS_TOMBSTONES)
    .where(spaces_table.c.space_id == bindparam("space"))
    .with_for_update(read=True)
)


class SpaceState(NamedTuple):
    identity_revision: int
    secret: str
    has_tombstones: bool  # an id was erased and must not be used again


def ensure_space(connection: Connection, space: str, at: datetime) -> None:
    row = {
        "secret": secrets.token_hex(32),
        # Random, so that it differs from the revision of an erased space of this name: caches
        # compare it.
        "identity_rev": secrets.randbits(60) + 1,
        "created_at": at,
    }
    insert_missing(connection, spaces_table, space, [row])


def identity_revision(connection: Connection, space: str) -> int:
    """Return the identity revision, or 0 if the space has no row."""
    found = fetch_rows(connection, _SELECT_IDENTITY_REVISION, {"space": space})
    return int(found[0][0]) if found else 0


def increment_identity_revision(connection: Connection, space: str) -> None:
    """Increment the identity revision, which makes every cached request stale."""
    rev = spaces_table.c.identity_rev
    update_rows(connection, spaces_table, space, identity_rev=rev + 1)


def lock_space_for_write(connection: Connection, space: str, at: datetime) -> SpaceState:
    """Lock the identities of a space until the transaction ends, and return its state."""
    params = {"space": space}
    if not (found := fetch_rows(connection, _SELECT_LOCKED_STATE, params)):
        ensure_space(connection, space, at)
        found = fetch_rows(connection, _SELECT_LOCKED_STATE, params)
    ((rev, secret, erased),) = found
    return SpaceState(rev, secret, bool(erased))


def lock_space(connection: Connection, space: str) -> None:
    """Lock for a change of people, links or chats: wait for writes that rely on them."""
    row = select(spaces_table.c.space_id).where(spaces_table.c.space_id == space)
    connection.execute(row.with_for_update())


def list_spaces(connection: Connection) -> list[str]:
    s = spaces_table.c.space_id
    return list(connection.execute(select(s).order_by(s)).scalars())


# Load the identities that links connect with given ones.

_K = identity_links.c
_LINKS_AROUND = union_all(
    *(
        select(identity_links).where(_K.space_id == bindparam("space"), end.in_(bindparam("ids", expanding=True)))
        for end in (_K.source, _K.target)
    )
)


def load_identities(connection: Connection, space: str, identities: Iterable[str]) -> Identities:
    """Load every link, past or present, that reaches these identities over verified links."""
    found: dict[str, Link] = {}
    reached: set[str] = set()
    fringe = set(identities)
    most = len(fringe) + limits.IDENTITIES_PER_PERSON_MAX_COUNT * max(1, len(fringe))
    while fringe and len(reached) <= most:
        rows = connection.execute(_LINKS_AROUND, {"space": space, "ids": sorted(fringe)}).all()
        reached |= fringe
        fringe = set()
        for row in rows:
            link = to_link(row)
            found[link.id] = link
            if link.was_verified:
                fringe |= {link.source, link.target} - reached
    return Identities(tuple(found.values()))


def list_link_history(connection: Connection, space: str, identity: str) -> list[Link]:
    """List all links of an identity, past or present, the oldest first."""
    rows = connection.execute(_LINKS_AROUND, {"space": space, "ids": [identity]})
    links = {link.id: link for link in map(to_link, rows)}
    return sorted(links.values(), key=lambda link: (link.created_at, link.id))


def to_link(row: Any) -> Link:
    return to_record(Link, row)


# ACL tokens: the access paths of a memory, indexed with its words.
#
# A full-text index lists every memory that contains a word, of all owners. Each memory is therefore
# indexed with a token for its owner, its speaker, its subjects, its chat and its audience. A search
# combines the words with the tokens of its branch, so its cost depends on the permitted memories
# only.

_AUDIENCES_MAX_COUNT = 300  # above this, a search by the words alone is cheaper


def acl_tokens_of_memory(memory: Memory, audience: str | None) -> str:
    people = effective_subjects(memory) | {memory.owner, memory.speaker} - {None}
    named = [("person", person) for person in people]
    named += [("room", memory.learned_in), ("heard", audience)]
    return " ".join(sorted(_acl_token(memory.space, kind, name) for kind, name in named if name))


def acl_tokens_of_request(connection: Connection, request: Request, path: AccessPath) -> list[str] | None:
    """Return the tokens of an access path, or None if there are too many.

    The list is never empty: without an access path, no memory matches. With None, the condition of
    the branch still filters the rows.
    """
    params = predicate_parameters(request)
    asked = select_audiences(path, request, POLICY_TABLES)
    if asked is not None:
        most = asked.limit(_AUDIENCES_MAX_COUNT + 1)
        sets = connection.execute(most, params).scalars().all()
        many = len(sets) > _AUDIENCES_MAX_COUNT
        return None if many else _acl_tokens(request.space, "heard", sets)
    if path is AccessPath.ROOM:
        return _acl_tokens(request.space, "room", params["p_rooms"])
    return _acl_tokens(request.space, "person", params["p_me" if path is AccessPath.ME else "p_here"])


def _acl_tokens(space: str, kind: str, names: Iterable[str]) -> list[str]:
    return [_acl_token(space, kind, name) for name in names] or [_acl_token(space, kind, "")]


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def _acl_token(space: str, kind: str, name: str) -> str:
    """Hash a name into one ASCII word."""
    return "x" + hashlib.sha256(f"{space}\n{kind}\n{name}".encode()).hexdigest()[:16]


# Revisions of access paths: a person, a chat, an audience.
#
# A process caches a result with the revisions of its access paths. They are read again in the
# snapshot of the rows, so a write by another process is seen at once.

_P = revisions_table.c
_A = audience_people.c
_M = memories_table.c
_W = memory_people.c
NOTES_PATH = "n:notes"  # not an access path: incremented when a note changes

Revisions = dict[str, tuple[int, int]]  # access path → (revision, revision of the last removal)


def person_path(identity: str) -> str:
    return f"p:{identity}"


def chat_path(chat: str) -> str:
    return f"r:{chat}"


def audience_path(audience: str) -> str:
    """Return the id of the audience itself, so that an index joins the two tables."""
    return audience


def is_audience_path(path: str) -> bool:
    return not path.startswith(("p:", "r:", "n:"))


def home_path(owner: str | None, learned_in: str | None) -> str:
    """Return the access path that a memory is stored under: its owner's, or that of the chat that owns it."""
    return person_path(owner) if owner else chat_path(learned_in or "")


def home_path_of(memory: Memory) -> str:
    return home_path(memory.owner, memory.learned_in)


def access_paths_of(memory: Memory, audience: str | None) -> set[str]:
    """Return all access paths of a memory, including its home path."""
    people = effective_subjects(memory) | {memory.owner, memory.speaker}
    paths = {person_path(one) for one in people if one} | {home_path_of(memory)}
    if memory.learned_in:
        paths.add(chat_path(memory.learned_in))
    if audience:
        paths.add(audience_path(audience))
    return paths


_SELECT_STORED = select(_M.id, _M.owner, _M.speaker, _M.learned_in, _M.audience).where(
    _M.space_id == bindparam("space"), _M.id.in_(bindparam("ids", expanding=True))
)
_SELECT_STORED_PEOPLE = select(_W.person).where(
    _W.space_id == bindparam("space"), _W.memory_id.in_(bindparam("ids", expanding=True))
)


def stored_access_paths(connection: Connection, space: str, ids: Collection[str]) -> set[str]:
    """Return the stored access paths of memories, before they are changed or deleted."""
    params = {"space": space, "ids": sorted(ids)}
    paths = set(map(person_path, connection.execute(_SELECT_STORED_PEOPLE, params).scalars()))
    for row in connection.execute(_SELECT_STORED, params):
        paths |= {person_path(one) for one in (row.owner, row.speaker) if one}
        paths.add(home_path(row.owner, row.learned_in))
        if row.learned_in:
            paths.add(chat_path(row.learned_in))
        if row.audience:
            paths.add(audience_path(row.audience))
    return paths


def increment_revisions(
    connection: Connection, space: str, paths: Iterable[str], *, removing: bool = False
) -> dict[str, int]:
    """Increment these revisions and return the new ones.

    Rows are locked in a fixed order, so that two writers never deadlock.
    """
    revisions: dict[str, int] = {}
    for names in chunks(set(paths)):
        # A random start: no revision of this name had it before its space was erased.
        params: dict[str, Any] = {"space": space, "new": secrets.randbits(60) + 1}
        params |= {f"d{number}": name for number, name in enumerate(names)}
        statement = _increment_statement(len(names))
        revisions |= dict(fetch_rows(connection, statement, params))
        if removing:
            where = _P.access_path.in_(names)
            update_rows(connection, revisions_table, space, where, cleared_rev=_P.rev)
    return revisions


def restamp_memories(connection: Connection, space: str, ids: Collection[str]) -> None:
    """Stamp memories with the new revision of their home path, because rows that depend on them changed."""
    revisions = increment_revisions(connection, space, stored_access_paths(connection, space, ids))
    for row in connection.execute(_SELECT_STORED, {"space": space, "ids": sorted(ids)}).all():
        stamp = revisions[home_path(row.owner, row.learned_in)]
        update_rows(connection, memories_table, space, _M.id == row.id, stamp=stamp)


@lru_cache(maxsize=AT_ONCE_COUNT)
def _increment_statement(count: int) -> TextClause:
    rows = ", ".join(f"(:space, :d{number}, :new, :new)" for number in range(count))
    return text(
        f"INSERT INTO revisions (space_id, access_path, rev, cleared_rev) VALUES {rows} "  # noqa: S608
        "ON CONFLICT (space_id, access_path) DO UPDATE SET rev = revisions.rev + 1 RETURNING access_path, rev"
    )


_SELECT_REVISIONS = union_all(
    select(_P.access_path, _P.rev, _P.cleared_rev).where(
        _P.space_id == bindparam("p_space"), _P.access_path.in_(bindparam("paths", expanding=True))
    ),
    # Audiences that contain the requester; this includes those with everyone present.
    select(_P.access_path, _P.rev, _P.cleared_rev)
    .join(audience_people, (_P.space_id == _A.space_id) & (_P.access_path == _A.audience))
    .where(_A.space_id == bindparam("p_space"), _A.person.in_(bindparam("p_me", expanding=True))),
)


_SELECT_REVISION = select(_P.rev, _P.cleared_rev).where(
    _P.space_id == bindparam("space"), _P.access_path == bindparam("path")
)


def person_revision(connection: Connection, space: str, owner: str) -> tuple[int, int]:
    """Return the revision of one person's access path."""
    found = fetch_rows(connection, _SELECT_REVISION, {"space": space, "path": person_path(owner)})
    return found[0] if found else (0, 0)


def read_revisions(connection: Connection, request: Request) -> Revisions:
    """Return the revisions of every access path of this request, in this snapshot."""
    params = predicate_parameters(request)
    people = set(params["p_me"]) | (set() if request.private else set(params["p_here"]))
    paths = [person_path(one) for one in people] + [chat_path(one) for one in params["p_rooms"]]
    named = {"p_space": request.space, "p_me": params["p_me"], "paths": sorted(paths)}
    rows = fetch_rows(connection, _SELECT_REVISIONS, named)
    return {path: (rev, cleared_rev) for path, rev, cleared_rev in rows}


# Links between memories and notes: a change of a memory changes its notes.
#
# A write collects the notes it changed and stamps them once, as its last step. A holder of the
# notes revision therefore never waits for a memory, and ten items cost one revision.

_N = notes_table.c
_I = note_items.c
_F = note_files.c
_L = note_lines.c
_SPACE: Any = bindparam("space")
_IDS: Any = bindparam("ids", expanding=True)


def _select_notes_with(of_item: Any, of_summary: Any) -> CompoundSelect[Any]:
    return union_all(
        select(_I.path).where(_I.space_id == _SPACE, of_item), select(_N.path).where(_N.space_id == _SPACE, of_summary)
    )


_NOTES_WITH_MEMORY = _select_notes_with(_I.memory_id == bindparam("id"), _N.summary_id == bindparam("id"))
_NOTES_WITH_MEMORIES = _select_notes_with(_I.memory_id.in_(_IDS), _N.summary_id.in_(_IDS))
_FILES_WITH_MEMORIES = (
    select(_L.path).where(_L.space_id == _SPACE, _L.memory_id.in_(_IDS)).distinct()
)  # includes files not updated since the memory left the note
_COPY_ITEM = text(
    "INSERT INTO note_items (space_id, path, memory_id, section, position, added_on) "
    "SELECT space_id, path, :new, section, position, added_on FROM note_items "
    "WHERE space_id = :space AND path = :path AND memory_id = :old ON CONFLICT DO NOTHING"
)


def update_note_links(tx: Transaction, memory: Memory) -> None:
    """Mark the notes of a changed memory; a memory without notes costs two index lookups."""
    for (path,) in fetch_rows(tx.connection, _NOTES_WITH_MEMORY, {"space": tx.space, "id": memory.id}):
        superseded = tx.changed_notes.setdefault(path, set())
        if memory.state is State.SUPERSEDED and memory.superseded_by:
            superseded.add(memory.id)


def update_note_links_of_many(tx: Transaction, ids: Sequence[str]) -> set[str]:
    """Mark the notes of many changed memories, and return their paths."""
    params = {"space": tx.space, "ids": list(ids)}
    paths = set(tx.connection.execute(_NOTES_WITH_MEMORIES, params).scalars())
    mark_notes_changed(tx, paths)
    return paths


def remove_note_links(tx: Transaction, ids: Sequence[str]) -> None:
    """Unlink memories from notes before they are deleted, and invalidate the file states."""
    params = {"space": tx.space, "ids": list(ids)}
    paths = update_note_links_of_many(tx, ids) | set(tx.connection.execute(_FILES_WITH_MEMORIES, params).scalars())
    if not paths:
        return
    mark_notes_changed(tx, paths)
    update_rows(tx.connection, notes_table, tx.space, _N.summary_id.in_(params["ids"]), summary_id=None)
    for some in chunks(paths):
        update_rows(tx.connection, note_files, tx.space, _F.path.in_(some), stamp=-1)


def mark_notes_changed(tx: Transaction, paths: Collection[str]) -> None:
    for path in paths:
        tx.changed_notes.setdefault(path, set())


def stamp_changed_notes(tx: Transaction) -> None:
    """Stamp all notes changed by this write with one revision, at the end of the write.

    The next revision waits for this write, so a reader of a revision sees every change up to it.
    """
    for path, superseded in sorted(tx.changed_notes.items()):
        for id in sorted(superseded):
            _replace_superseded(tx, path, id)
    stamp = increment_revisions(tx.connection, tx.space, [NOTES_PATH])[NOTES_PATH]
    for paths in chunks(tx.changed_notes):
        update_rows(tx.connection, notes_table, tx.space, _N.path.in_(paths), stamp=stamp)
    tx.changed_notes.clear()


def _replace_superseded(tx: Transaction, path: str, id: str) -> None:
    """Insert the successor of a superseded memory at its position, if both have the same home.

    The old memory keeps its row: if the successor is reverted, it is shown in its position again.
    """
    row = _select_home(tx, id)
    after = None if row is None or row.superseded_by is None else _select_home(tx, row.superseded_by)
    if row is None or after is None or not _is_same_home(tx, row, after):
        return
    params = {"space": tx.space, "path": path, "old": id, "new": row.superseded_by}
    run_statements(tx.connection, [(_COPY_ITEM, params)])
    which = (_N.path == path, _N.summary_id == id)
    update_rows(tx.connection, notes_table, tx.space, *which, summary_id=row.superseded_by)


def _select_home(tx: Transaction, id: str) -> Any:
    one = select(_M.owner, _M.learned_in, _M.superseded_by)
    return tx.connection.execute(one.where(_M.space_id == tx.space, _M.id == id)).first()


def _is_same_home(tx: Transaction, before: Any, after: Any) -> bool:
    if before.owner is None or after.owner is None:
        return bool(before.owner == after.owner and before.learned_in == after.learned_in)
    known = load_identities(tx.connection, tx.space, [before.owner])
    return after.owner in known.current_identities(before.owner)
