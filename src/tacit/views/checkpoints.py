"""The part of a view that keeps an agent's own state: one value for a person and a thread."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.checkpoints import Checkpoint, dump_checkpoint
from tacit.records.request import Request
from tacit.storage import checkpoints
from tacit.storage.memories import Transaction
from tacit.views.access import Access


class ViewCheckpoints(Access):
    def save_checkpoint(
        self, data: Any, *, thread: str | None = None, version: int | None = None
    ) -> Checkpoint:
        """Keep where an agent has got to, in place of what it saved before: any JSON value without
        secrets. Without a thread it is this view's. `version` is the one you read, or 0 for none:
        if it moved on, Conflict. In a private chat only."""
        where = self._checkpoint_thread(thread)
        whole = dump_checkpoint(data)
        if version is not None:
            validation.parse_int("version", version, 0, limits.REVISION_MAX)

        def work(w: Transaction) -> Checkpoint:
            _require_private(w.request)
            return checkpoints.save_checkpoint(
                w, where, whole, self._allowed_categories(self._agent), version
            )

        return self._write(work)

    def checkpoint(self, thread: str | None = None) -> Checkpoint | None:
        """What was saved last; None where nothing is, and where others listen."""
        where = self._checkpoint_thread(thread)

        def work(connection: Connection, request: Request) -> Checkpoint | None:
            if not request.private:
                return None
            kept = checkpoints.find_checkpoint(
                connection, self._space, request.own_identities, where
            )
            seen = kept is not None and kept.is_open_to(self._allowed_categories(self._agent))
            return kept.checkpoint if kept is not None and seen else None

        return self._read(work)

    def forget_checkpoint(self, thread: str | None = None) -> None:
        """Gone at once, whether or not there was one. In a private chat only."""
        where = self._checkpoint_thread(thread)

        def work(w: Transaction) -> None:
            _require_private(w.request)
            mine, allowed = w.request.own_identities, self._allowed_categories(self._agent)
            kept = checkpoints.find_checkpoint(w.connection, w.space, mine, where)
            if kept is not None and kept.is_open_to(allowed):
                checkpoints.delete_checkpoints(w.connection, w.space, mine, where)

        self._write(work)

    def _checkpoint_thread(self, thread: object) -> str:
        named = validation.parse_optional_identifier("thread", thread, limits.LABEL_MAX_CHARS)
        return named or self._thread


def _require_private(request: Request) -> None:
    if not request.private:
        raise InvalidInput("checkpoint", "works in a private chat only")
