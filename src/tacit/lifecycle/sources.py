"""What something was learned from: a chat, one message in it, an agent or a role; and which
wordings of a memory learning made."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from sqlalchemy import ColumnElement, Connection, and_, select

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity import external_keys
from tacit.learning.turns import QueuedTurn
from tacit.records import validation
from tacit.records.conversation import Role
from tacit.records.memory import HistoryEvent, Memory
from tacit.storage.chats import read_chat
from tacit.storage.memories import Transaction
from tacit.storage.schema import history_table, memories_table

FORMS = "a chat (telegram:-100), a message (telegram:-100/42), agent:NAME or role:tool"
_AGENT, _ROLE, _IMPORT = "agent:", "role:", "import:"
AS_VERSION = "as_version"  # in a history: the wording is that of an earlier version
_M = memories_table.c
_H = history_table.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A source, as it was named. `rooms` are the ids that its chat has had. One that is `own` is
    what these identities of one person handed over, and nobody else, in the categories that
    somebody who asks for them may use."""

    chat: str | None = None
    message: str | None = None
    agent: str | None = None
    role: Role | None = None
    chat_ids: Collection[str] = field(default=())
    identities: Collection[str] | None = None  # None: whoever's it is
    categories: Collection[str] | None = None  # None: all categories

    def resolve_chat(self, connection: Connection, space: str) -> Origin:
        """The same, under every id that the channel gave the chat."""
        if self.chat is None:
            return self
        rooms = read_chat(connection, space, self.chat).chat_ids
        return replace(self, chat_ids=sorted(rooms | {self.chat}))

    @property
    def row_filter(self) -> ColumnElement[bool]:
        """Memories whose wording is from here, whoever's it is."""
        if self.agent is not None:
            return _M.agent == self.agent
        if self.role is not None:
            return _M.role == self.role.value
        here = _M.source_chat.in_(self.chat_ids)
        return here if self.message is None else and_(here, _M.source_message == self.message)

    def matches_memory(self, memory: Memory) -> bool:
        """As `rows`, of one memory; and whether it is theirs whom it is asked for."""
        source = memory.source
        if self.categories is not None and memory.category not in self.categories:
            return False
        # What nobody said, a tool's answer say, is from whoever it was kept for.
        if self.identities is not None and (memory.speaker or memory.owner) not in self.identities:
            return False
        return self._matches(source.chat, source.message, memory.agent, memory.role)

    def matches_turn(self, turn: QueuedTurn) -> bool:
        if self.categories is not None and (
            turn.only is None or not set(turn.only) <= set(self.categories)
        ):
            return False
        if self.identities is not None and turn.asking.subject not in self.identities:
            return False
        return self._matches(turn.asking.chat, turn.message, turn.agent, turn.role.value)

    def _matches(
        self, chat: str | None, message: str | None, agent: str | None, role: str | None
    ) -> bool:
        if self.agent is not None:
            return agent == self.agent
        if self.role is not None:
            return role == self.role
        return chat in self.chat_ids and self.message in (None, message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One version of a memory, and whether learning made it."""

    version: int
    at: int
    learned: bool


def parse(source: object) -> Origin:
    name = validation.parse_identifier("source", source, 2 * limits.LABEL_MAX_CHARS)
    if name.startswith(_AGENT):
        agent = validation.parse_identifier(
            "source", name.removeprefix(_AGENT), limits.LABEL_MAX_CHARS
        )
        return Origin(agent=agent)
    if name.startswith(_ROLE):
        return Origin(role=validation.parse_enum("source", name.removeprefix(_ROLE), Role))
    if name.startswith(_IMPORT):
        raise InvalidInput("source", f"imports are not told apart yet; name {FORMS}")
    chat, slash, message = name.partition("/")
    try:
        room = external_keys.parse_chat_id(chat)
    except InvalidInput:
        raise InvalidInput("source", f"is not known; name {FORMS}") from None
    if not slash:
        return Origin(chat=room)
    return Origin(
        chat=room, message=validation.parse_identifier("source", message, limits.LABEL_MAX_CHARS)
    )


def wordings(w: Transaction, memory: Memory) -> list[Wording]:
    """From the entries of a history that brought another wording, oldest first. Learning says why;
    what people and operators write is for them to explain."""
    entries = (
        select(_H.version, _H.actor, _H.detail, _H.at)
        .where(
            _H.space_id == w.space,
            _H.memory_id == memory.id,
            _H.event.in_([HistoryEvent.ADD.value, HistoryEvent.UPDATE.value]),
        )
        .order_by(_H.seq)
    )
    found: dict[int, Wording] = {}
    for row in w.connection.execute(entries):
        detail = json.loads(row.detail)
        if "fields" in detail:
            continue
        by_learning = "why" in detail and not row.actor.startswith("operator:")
        if AS_VERSION in detail:  # what was put back is as good as it was
            # A version that has other data, and no other words, is in the wording before it.
            before = max(one for one in found if one <= int(detail[AS_VERSION]))
            by_learning = found[before].learned
        found[row.version] = Wording(version=row.version, at=row.at, learned=by_learning)
    return list(found.values())
