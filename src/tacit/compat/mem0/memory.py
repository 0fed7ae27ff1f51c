"""mem0's `Memory`, word for word, on a memory of Tacit's.

Each user of mem0's is a person in a private chat of their own, so that the rules of disclosure
hold here as everywhere: what one of them told is found for them, and for nobody else.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tacit.compat.mem0 import adding, finding, shapes
from tacit.compat.mem0.config import place_of
from tacit.compat.mem0.exceptions import ValidationError
from tacit.compat.mem0.messages import read
from tacit.compat.mem0.metadata import UNSAID, Given, given, metadata_with
from tacit.compat.mem0.scope import NAMES, Scope, meant, scope_of
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.records import drafts
from tacit.records.memory import Memory as Record
from tacit.records.memory import State

if TYPE_CHECKING:
    import tacit.memory

Item = dict[str, Any]

_log = logging.getLogger(__name__)
# What earlier versions of mem0 take in `search` and `get_all`, beside what it takes now.
_OLDER = frozenset({*NAMES, "actor_id", "limit"})
_TRIES_COUNT = 10
_PAST = "is past: the memory comes back with a later one, or with None, and not with words alone"
_ELSEWHERE = "is of mem0's hosted platform, and not of its open-source memory; leave it out"


class Memory:
    def __init__(
        self,
        config: object = None,
        *,
        memory: tacit.memory.Memory | None = None,
        space: str | None = None,
    ) -> None:
        """A memory of its own, opened as the configuration or else the settings say; or one that
        is open, which then stays open. It keeps to one space, `mem0` unless told otherwise."""
        place = place_of(config, space)
        self._opened = None
        if memory is None:
            import tacit

            memory = self._opened = tacit.open(place.url)
        self._memory = memory.space(place.space)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        return cls(config_dict)

    def add(
        self,
        messages: object,
        *,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: object = None,
        expiration_date: object = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, list[Item]]:
        """Keep what was said. With `infer`, what is worth it; without, every message as it is."""
        if timestamp is not None:
            raise InvalidInput("timestamp", _ELSEWHERE)
        more = given(metadata, UNSAID if expiration_date is None else expiration_date)
        scope = scope_of(
            {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, "VALIDATION_001"
        )
        if memory_type not in (None, adding.PROCEDURAL):
            raise ValidationError(
                "memory_type", f"takes {adding.PROCEDURAL} alone, or nothing", "VALIDATION_002"
            )
        said = read(messages)
        if memory_type == adding.PROCEDURAL and scope.agent is not None:
            made = adding.add_procedure(self._memory, scope, said, more, prompt)
        else:
            how = adding.add_learned if infer else adding.add_raw
            made = how(self._memory, scope, said, more)
        return {"results": made}

    def search(
        self,
        /,
        query: str,
        *,
        top_k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = False,
        explain: bool = False,
        reference_date: object = None,
        show_expired: bool = False,
        **older: Any,
    ) -> dict[str, list[Item]]:
        """What comes to mind for a question, strongest first."""
        del rerank  # recall has ranked it
        if reference_date is not None:
            raise InvalidInput("reference_date", _ELSEWHERE)
        asked = finding.wanted(filters, _older(older), top_k, show_expired)
        found = finding.searched(self._memory, query, asked, threshold, explain=bool(explain))
        return {"results": found}

    def get_all(
        self,
        /,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        show_expired: bool = False,
        **older: Any,
    ) -> dict[str, list[Item]]:
        """Newest first."""
        asked = finding.wanted(filters, _older(older), top_k, show_expired)
        return {"results": finding.listed(self._memory, asked)}

    def get(self, memory_id: str) -> Item | None:
        found = self._find(memory_id)
        return None if found is None else shapes.alone(found[0], found[1])

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: object = UNSAID,
        data: str | None = None,
    ) -> dict[str, str]:
        """Other words, further metadata, another date; `data` is an older name for the words. None
        for a date: it never expires."""
        words = text if text is not None else data
        more = given(metadata, expiration_date)
        if words is None and metadata is None and more.expires_at is None:
            raise InvalidInput("update", "name at least one of text, metadata and expiration_date")
        for left in reversed(range(_TRIES_COUNT)):
            try:
                self._update(memory_id, words, more)
                break
            except Conflict:  # somebody was quicker, and what they said counts, too
                if left == 0:
                    raise
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Out of mind; its history stays, until it is purged."""
        scope, record = self._get(memory_id)
        try:
            adding.view_of(self._memory, scope, acting=False).forget(record.id)
        except NotFound:
            raise _absent() from None
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
    ) -> dict[str, str]:
        scope = scope_of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        view = adding.view_of(self._memory, scope, acting=False)
        for one in finding.own(view):
            if scope.holds(one):
                view.forget(one.id)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Item]:
        """What became of it, oldest first; also when it is deleted."""
        named = meant(memory_id)
        if named is None:
            return []
        scope, id = named
        view = adding.view_of(self._memory, scope, acting=False)
        try:
            return shapes.history(memory_id, view.show(id), view.history(id))
        except NotFound:
            return []

    def reset(self) -> None:
        """Erase everything in the space, for good."""
        self._memory.erase_space()

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _update(self, memory_id: object, words: str | None, more: Given) -> None:
        """Where it is still as it was read: what is said now is added to the metadata it had."""
        scope, record = self._get(memory_id)
        whole = metadata_with(record, more) if more.data else None
        drafts.parse_draft({"content": words, "data": whole}, ())  # before anything comes back
        view = adding.view_of(self._memory, scope, acting=False)
        try:
            if record.state is State.EXPIRED:
                if more.expires_at is None:
                    raise InvalidInput("expiration_date", _PAST)
                view.restore(record.id)
            seen = None if whole is None else record.version
            view.update(record.id, words, data=whole, expires_at=more.expires_at, if_version=seen)
        except NotFound:
            raise _absent() from None

    def _find(self, memory_id: object) -> tuple[Scope, Record] | None:
        """A memory that is there for mem0: kept, or expired. What was replaced, waits for a yes or
        was set aside is not."""
        named = meant(memory_id)
        if named is None:
            return None
        scope, id = named
        try:
            record = adding.view_of(self._memory, scope, acting=False).show(id)
        except NotFound:
            return None
        return (scope, record) if record.state in finding.STANDING else None

    def _get(self, memory_id: object) -> tuple[Scope, Record]:
        found = self._find(memory_id)
        if found is None:
            raise _absent()
        return found


def _absent() -> InvalidInput:
    return InvalidInput("memory_id", "no such memory; take an id that add, search or get_all gave")


def _older(given: Mapping[str, Any]) -> dict[str, Any]:
    """Names that nobody knows are left alone, as mem0 leaves them."""
    for name in given.keys() - _OLDER:
        _log.warning("%s is nothing that is used here", name)
    return {name: value for name, value in given.items() if name in _OLDER and value is not None}
