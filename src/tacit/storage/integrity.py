"""Find rows that break an invariant, and full-text documents that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    ForeignKeyConstraint,
    Select,
    Table,
    and_,
    case,
    exists,
    false,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
    union,
)
from sqlalchemy.sql.expression import ColumnElement, FromClause

from tacit.identity import Identities
from tacit.policy.rules import ROLE_MENTIONED, ROLE_SUBJECT, ROLE_WITHHELD
from tacit.records.memory import ChatKind, Memory, State, Trust
from tacit.storage.dialect import Dialect, fts_document, fts_lexemes
from tacit.storage.engine import delete_rows, run_statements, select_set
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import AUDIENCE_INDEX, MEMORY_COLUMNS, to_memory, to_row
from tacit.storage.schema import (
    audience_people,
    change_log,
    chats_table,
    history_table,
    identity_links,
    learned_facts_table,
    memories_table,
    memory_people,
    memory_versions,
    metadata,
    proposals,
    thread_revisions,
)
from tacit.storage.search import FTS_INDEX, FTS_ROWS, LAST_INDEXED
from tacit.storage.spaces import acl_tokens_of_memory, restamp_memories, to_link

# Invariants of stored rows, as queries that return the rows that break them.
#
# For `tacit doctor` only: these reads skip the predicate.

_PAGE_COUNT = 1_000
_M = memories_table.c
_V = memory_versions.c
_H = history_table.c
_P = memory_people.c
_T = thread_revisions.c
_C = change_log.c
_A = audience_people.c
_L = learned_facts_table.c
_IS_MEMORY = _M.is_turn.is_(False)


def _has_row(table: Table, *conditions: Any) -> Any:
    """Test whether a memory has such a row in the table."""
    of = (table.c.space_id == _M.space_id, table.c.memory_id == _M.id)
    return exists().where(*of, *conditions)


_SELECT_MEMORY = select(_M.space_id, _M.id)
_VERSION_COUNT = select(func.count()).where(_V.space_id == _M.space_id, _V.memory_id == _M.id).scalar_subquery()
_NEWEST_CHANGE = select(func.max(_C.rev)).where(_C.space_id == _T.space_id, _C.thread == _T.thread).scalar_subquery()
_HAS_PERSON = or_(_M.owner.is_not(None), _M.speaker.is_not(None))
_HAS_SUBJECT = _has_row(memory_people, _P.role.in_([ROLE_SUBJECT, ROLE_MENTIONED]))

WITHOUT_CURRENT_VERSION = _SELECT_MEMORY.where(
    _IS_MEMORY, not_(_has_row(memory_versions, _V.version == _M.version, _V.content == _M.content))
)
VERSION_GAPS = _SELECT_MEMORY.where(_IS_MEMORY, _M.version != _VERSION_COUNT)
WITHOUT_HISTORY = _SELECT_MEMORY.where(_IS_MEMORY, not_(_has_row(history_table, _H.event == "ADD")))
WITHOUT_SUBJECT = _SELECT_MEMORY.where(_HAS_PERSON, not_(_HAS_SUBJECT))
UNINDEXED_WITHHELD = _SELECT_MEMORY.where(_M.has_withheld != _has_row(memory_people, _P.role == ROLE_WITHHELD))
STALE_THREADS = select(_T.space_id, _T.thread).where(_T.rev < _NEWEST_CHANGE)

# Invariants of every row, on both databases, by the description of a violation.
INVARIANTS: dict[str, Select[Any]] = {
    "memories without their current version": WITHOUT_CURRENT_VERSION,
    "memories with a gap in their versions": VERSION_GAPS,
    "memories without history": WITHOUT_HISTORY,
    "memories without a subject": WITHOUT_SUBJECT,
    "memories whose withheld people are not indexed": UNINDEXED_WITHHELD,
    "threads whose revision is behind their changes": STALE_THREADS,
}

# Forgotten and expired memories have a purge date; active, pending and quarantined ones have none.
_IS_RETIRED = _M.state.in_([State.FORGOTTEN.value, State.EXPIRED.value])
_IS_KEPT = _M.state.in_([State.ACTIVE.value, State.PENDING.value, State.QUARANTINED.value])
WRONG_PURGE_DATE = _SELECT_MEMORY.where(
    _IS_MEMORY, or_(and_(_IS_RETIRED, _M.purge_at.is_(None)), and_(_IS_KEPT, _M.purge_at.is_not(None)))
)
PENDING_WITHOUT_PROPOSAL = _SELECT_MEMORY.where(_M.state == State.PENDING.value, not_(_has_row(proposals)))
ANSWERED_PROPOSALS = _SELECT_MEMORY.where(_M.state != State.PENDING.value, _has_row(proposals))
WITHOUT_SPEAKER = select(_M.space_id, _M.id, _M.owner, _M.subjects, _M.role).where(
    _IS_MEMORY,
    _M.speaker.is_(None),
    _M.owner.is_not(None),
    _M.inferred.is_(False),
    _M.trust == Trust.STATED.value,
    _M.learned_kind == ChatKind.PRIVATE.value,
)
_CHAT = chats_table.c
CHAT_MISMATCH = select(_M.space_id, _M.id, _CHAT.confidential).where(
    _CHAT.space_id == _M.space_id, _CHAT.id == _M.learned_in, _CHAT.confidential != _M.confidential
)
_OTHER = memories_table.alias("other")
SUCCESSORS = select(
    _M.space_id,
    _M.id,
    _M.superseded_by,
    _M.updated_at,
    exists().where(_OTHER.c.space_id == _M.space_id, _OTHER.c.id == _M.superseded_by).label("has_successor"),
).where(_M.superseded_by.is_not(None))
_HOLDER = case((_M.owner.is_(None), _M.learned_in), else_=_M.owner)
_SLOT = (_M.space_id, _M.owner, _HOLDER.label("holder"), _M.category, _M.key)
DUPLICATE_KEYS = (
    select(*_SLOT)
    .where(_M.key.is_not(None), _M.state == State.ACTIVE.value)
    .group_by(_M.space_id, _M.owner, _HOLDER, _M.category, _M.key)
    .having(func.count() > 1)
)
_NEGATED = case((_L.negated, 1), else_=0)
DUPLICATE_SLOTS = (
    select(_L.space_id, _L.owner, _L.slot)
    .join(memories_table, and_(_M.space_id == _L.space_id, _M.id == _L.memory_id))
    .where(_L.slot.is_not(None), _M.state == State.ACTIVE.value, _IS_MEMORY)
    .group_by(_L.space_id, _L.owner, _L.slot)
    .having(or_(func.min(_L.value) != func.max(_L.value), func.min(_NEGATED) != func.max(_NEGATED)))
)
_SELECT_AUDIENCES = union(
    select(_M.space_id, _M.audience).where(_M.audience.is_not(None)),
    select(_V.space_id, _V.audience).where(_V.audience.is_not(None)),
).subquery()


def list_broken_rows(connection: Connection, statement: Select[Any], space: str) -> list[Any]:
    """List the rows of a space that break an invariant."""
    of_space = next(iter(statement.selected_columns)) == space
    return list(connection.execute(statement.where(of_space)))


def count_broken_rows(connection: Connection, statement: Select[Any]) -> int:
    """Count the rows of all spaces that break an invariant."""
    count = select(func.count()).select_from(statement.subquery())
    return int(connection.execute(count).scalar_one())


def iterate_memory_pages(connection: Connection, statement: Select[Any], space: str) -> Iterator[list[Any]]:
    """Yield pages of a statement on memories, in id order; the id is its first column."""
    page = statement.where(_M.space_id == space).order_by(_M.id).limit(_PAGE_COUNT)
    found = list(connection.execute(page))
    while found:
        yield found
        found = list(connection.execute(page.where(_M.id > found[-1][0])))


def load_all_identities(connection: Connection, space: str) -> Identities:
    """Load all links that a space ever had."""
    links = select(identity_links).where(identity_links.c.space_id == space)
    return Identities(tuple(to_link(row) for row in connection.execute(links)))


def list_dependents() -> Iterator[tuple[Table, str]]:
    """Yield every table and column with a foreign key to a memory."""
    for table in metadata.sorted_tables:
        for constraint in table.constraints:
            if isinstance(constraint, ForeignKeyConstraint):
                for element in constraint.elements:
                    if element.column is _M.id:
                        yield table, element.parent.name


def _orphans(space: str, table: Table, column: str) -> tuple[ColumnElement[bool], ...]:
    of = table.c[column]
    there = exists().where(_M.space_id == table.c.space_id, _M.id == of)
    return table.c.space_id == space, of.is_not(None), not_(there)


def list_orphans(connection: Connection, space: str, table: Table, column: str) -> list[str]:
    """List ids of deleted memories that this table still refers to."""
    gone = select(table.c[column]).where(*_orphans(space, table, column)).distinct()
    return list(connection.execute(gone).scalars())


def delete_orphans(connection: Connection, space: str, table: Table, column: str, ids: Iterable[str]) -> int:
    which = (*_orphans(space, table, column), table.c[column].in_(list(ids)))
    return delete_rows(connection, table, space, *which)


def read_audiences(connection: Connection, space: str) -> dict[str, list[str]]:
    """Return every audience with its people."""
    found: dict[str, list[str]] = {}
    people = select(_A.audience, _A.person).where(_A.space_id == space)
    for audience, person in connection.execute(people):
        found.setdefault(audience, []).append(person)
    return found


def list_referenced_audiences(connection: Connection, space: str) -> set[str]:
    """Return the audiences that a memory, or an earlier version of one, refers to."""
    sets = select(_SELECT_AUDIENCES.c.audience).where(_SELECT_AUDIENCES.c.space_id == space)
    return select_set(connection, sets)


# Full-text documents, compared with the content of their memories.

_ID_FIRST = (_M.id, *MEMORY_COLUMNS)
_NOBODY: frozenset[str] = frozenset()
# Documents of deleted memories, and documents without a row in fts_rows.
_SELECT_STRAY = (
    text(
        "SELECT r.number FROM fts_rows r WHERE r.space_id = :space AND NOT EXISTS "
        "(SELECT 1 FROM memories m WHERE m.space_id = r.space_id AND m.id = r.memory_id)"
    ),
    text(
        "SELECT w.id FROM fts_index_content w WHERE :space IS NOT NULL AND NOT EXISTS "
        "(SELECT 1 FROM fts_rows r WHERE r.number = w.id)"
    ),
)
_HAS_MEMORY = text(
    "SELECT 1 FROM fts_rows r JOIN memories m "
    "ON m.space_id = r.space_id AND m.id = r.memory_id WHERE r.number = :number"
)
_DELETE_DOCUMENT = (
    text("DELETE FROM fts_index WHERE rowid = :number"),
    text("DELETE FROM fts_rows WHERE number = :number"),
)


def _document_columns(dialect: Dialect) -> tuple[FromClause, Sequence[ColumnElement[Any]]]:
    """Return the table and columns of the documents: separate tables, or a column of the memory."""
    if dialect.name == "sqlite":
        of = (FTS_ROWS.c.space_id == _M.space_id) & (FTS_ROWS.c.memory_id == _M.id)
        joined = memories_table.outerjoin(FTS_ROWS, of).outerjoin(FTS_INDEX, FTS_INDEX.c.rowid == FTS_ROWS.c.number)
        waits = func.coalesce(FTS_ROWS.c.number > LAST_INDEXED, false())
        return joined, (FTS_INDEX.c.content, FTS_INDEX.c.acl_tokens, FTS_INDEX.c.owner_words, waits)
    return memories_table, (literal_column("tsvector_to_array(memories.fts_document)"),)


def list_stale_documents(connection: Connection, dialect: Dialect, space: str) -> Iterator[str]:
    """Yield ids of memories whose document is missing or differs from their content."""
    source, kept = _document_columns(dialect)
    statement = select(*_ID_FIRST, *kept).select_from(source)
    width = len(_ID_FIRST)
    for page in iterate_memory_pages(connection, statement, space):
        for row in page:
            memory = to_memory(row[1:width], _NOBODY)
            if not _is_document_current(memory, row[1 + AUDIENCE_INDEX], row[width:]):
                yield memory.id


def _is_document_current(memory: Memory, audience: str | None, indexed: Sequence[Any]) -> bool:
    words = fts_document(memory)
    if len(indexed) == 1:
        return set(indexed[0] or ()) == set(fts_lexemes(words))
    *found, waits = indexed
    said, own = map(" ".join, words)
    return bool(waits) or found == [said, acl_tokens_of_memory(memory, audience), own]


def list_stray_documents(connection: Connection, dialect: Dialect, space: str) -> list[int]:
    """List documents without a memory. Only SQLite stores documents apart from memories."""
    if dialect.name != "sqlite":
        return []
    found = (connection.execute(one, {"space": space}).scalars() for one in _SELECT_STRAY)
    return sorted({int(number) for some in found for number in some})


def delete_stray_document(connection: Connection, number: int) -> bool:
    """Delete a stray document, unless a memory uses it by now."""
    if connection.execute(_HAS_MEMORY, {"number": number}).first() is not None:
        return False
    for statement in _DELETE_DOCUMENT:
        connection.execute(statement, {"number": number})
    return True


def reindex_memory(tx: Transaction, memory: Memory, audience: str | None) -> None:
    """Build the document of a memory again."""
    through = acl_tokens_of_memory(memory, audience)
    tx.dialect.unindex_words(tx.connection, tx.space, [memory.id])
    # The first statement inserts the memory itself, which exists.
    _, *words = tx.dialect.insert_memory_statements(to_row(memory, audience), memory.content)
    run_statements(tx.connection, words)
    tx.dialect.reindex_words(tx.connection, memory, through)
    restamp_memories(tx.connection, tx.space, [memory.id])
