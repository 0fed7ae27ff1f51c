"""Save the state of agents: one checkpoint per thread, and the steps of LangGraph graphs."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import InvalidInput, NotFound
from tacit.records import checkpoints as steps
from tacit.records import validation
from tacit.records.checkpoints import Checkpoint, GraphStep, StepValue, StepWrite, StoredGraphStep, dump_checkpoint
from tacit.records.request import Request
from tacit.records.results import Page
from tacit.storage import checkpoints
from tacit.storage.checkpoints import StepAccess, StepTarget, StoredCheckpoint
from tacit.storage.idempotency import IdempotentResult
from tacit.storage.memories import Transaction
from tacit.storage.store import FAST_PATH_MISS
from tacit.view import context as operations
from tacit.view.context import Arguments, Replay, Resource, ViewContext, read, resource, write
from tacit.view.idempotency import NOTHING


class GraphSteps(Resource, name="checkpoints.steps", measured_as="checkpoints_steps"):
    """The steps of one person's graphs.

    In a private chat, only that person can read them. In a group, that person can read them in the
    same chat, and only while every person present was also present when they were saved.
    """

    @operations.write(disabled=None)
    def save(self, step: GraphStep, values: Iterable[StepValue] = ()) -> None:
        """Insert a step with the values that are new in it; replace a step with the same id."""
        changed = tuple(values)
        metadata = steps.check_step(step)
        steps.check_step_parts(changed)
        to = self._build_target(step.thread, step.ns, step.parent)
        at = self._insert_rows(to, lambda same: checkpoints.step_inserts(same, step, metadata, changed))
        context, me = self._context, self._context.raw_request.subject
        if at is not None and self._context.permitted_categories is None and me is not None:
            key = (context.space, me, step.thread, step.ns)
            context.storage.recent_steps.add_saved(key, step, metadata, changed, at)

    @operations.write(disabled=None)
    def write(self, thread: str, ns: str, id: str, writes: Iterable[StepWrite], *, replace: bool = False) -> None:
        """Insert what a task wrote after a step.

        An earlier write with the same number is kept, or replaced if `replace` is set.
        """
        written = tuple(writes)
        to = self._build_target(steps.parse_thread(thread), steps.parse_namespace(ns), steps.parse_step_name("id", id))
        steps.check_step_parts(written)
        if written:
            self._insert_rows(to, lambda same: checkpoints.write_inserts(same, id, written, replace))
            if replace and self._context.raw_request.subject is not None:
                key = (self._context.space, self._context.raw_request.subject, thread, ns)
                self._context.storage.recent_steps.remove(key)

    @operations.read(disabled=None)
    def find(self, thread: str, ns: str = "", id: str | None = None) -> StoredGraphStep | None:
        """Return one step; without an id, the newest."""
        where = (
            steps.parse_thread(thread),
            steps.parse_namespace(ns),
            None if id is None else steps.parse_step_name("id", id),
        )
        context = self._context
        kept = context.storage.requests.get_cached(context.space, context.raw_request, union=context.options.union)
        if kept is not None and self._context.permitted_categories is None:
            found = checkpoints.get_step_fast(context.storage.database, context.storage.recent_steps, kept, *where)
            if found is not FAST_PATH_MISS:
                return found

        def work(connection: Connection, request: Request) -> StoredGraphStep | None:
            access = self._read_access(connection, request, where[0])
            return None if access is None else checkpoints.find_step(connection, access, *where)

        return context.read(work)

    @operations.read(disabled=Page)
    def list(
        self,
        thread: str | None = None,
        ns: str | None = None,
        id: str | None = None,
        *,
        before: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> Page[StoredGraphStep]:
        """List steps of one thread or of all threads, newest first.

        `before` limits the list to earlier ids, `metadata` to steps with these metadata values.
        """
        most = validation.parse_int("limit", limit, 1, limits.STEPS_PAGE_MAX_COUNT)
        wanted = {
            name: check(one)
            for name, check, one in (
                ("thread", steps.parse_thread, thread),
                ("ns", steps.parse_namespace, ns),
                ("id", lambda one: steps.parse_step_name("id", one), id),
                ("before", lambda one: steps.parse_step_name("before", one), before),
            )
            if one is not None
        }
        asked = None if metadata is None else json.loads(steps.dump_metadata(metadata))
        after = _decode_step_cursor(cursor)
        return self._context.read(lambda c, r: self._list_steps(c, r, wanted, asked, after, most))

    @operations.write(disabled=None)
    def delete_thread(self, thread: str) -> None:
        self.prune([thread], "delete")

    @operations.write(disabled=None)
    def delete_runs(self, runs: Sequence[str]) -> None:
        """Delete the steps of these runs in every thread."""
        named = steps.parse_step_names("runs", runs, lambda one: steps.parse_step_name("runs", one))
        if named:
            self._context.write(lambda tx: checkpoints.delete_runs(tx, named, self._context.permitted_categories))

    @operations.write(disabled=None)
    def copy_thread(self, source: str, target: str) -> None:
        """Copy a whole thread under another name."""
        there, here = steps.parse_thread(source), steps.parse_thread(target)
        if there != here:
            self._context.write(lambda tx: checkpoints.copy_thread(tx, there, here, self._context.permitted_categories))

    @operations.write(disabled=None)
    def prune(self, threads: Sequence[str], strategy: Literal["keep_latest", "delete"] = "keep_latest") -> None:
        """Delete old steps of these threads: keep the newest of each namespace, or none."""
        if strategy not in ("keep_latest", "delete"):
            raise InvalidInput("strategy", "is not one of keep_latest, delete")
        named = steps.parse_step_names("threads", threads, steps.parse_thread)
        if strategy == "delete":
            if named:
                self._context.write(
                    lambda tx: checkpoints.delete_threads(tx, named, self._context.permitted_categories)
                )
            return
        for one in named:  # one transaction per thread
            self._context.write(
                partial(checkpoints.prune_thread, thread=one, allowed=self._context.permitted_categories)
            )

    def _build_target(self, thread: str, ns: str, before: str | None) -> StepTarget:
        allowed = self._context.permitted_categories
        named = None if allowed is None else json.dumps(sorted(allowed))
        return StepTarget(thread=thread, ns=ns, parent=before, categories=named)

    def _insert_rows(self, to: StepTarget, rows: checkpoints.StepStatements) -> int | None:
        """Insert rows; return the time of the write if the fast path was used, else None."""
        context = self._context
        where = (context.storage, context.space, context.raw_request)
        plain = context.guard is None
        at = checkpoints.insert_steps_fast(*where, to, rows) if plain else None
        if at is None:
            context.write(lambda tx: checkpoints.insert_steps(tx, to, rows))
        return at

    def _read_access(self, connection: Connection, request: Request, thread: str | None) -> StepAccess | None:
        audiences = self._context.storage.audiences
        return checkpoints.read_step_access(connection, audiences, request, self._context.permitted_categories, thread)

    def _list_steps(
        self,
        connection: Connection,
        request: Request,
        wanted: Mapping[str, str],
        asked: Mapping[str, Any] | None,
        after: tuple[str, str, str] | None,
        most: int,
    ) -> Page[StoredGraphStep]:
        access = self._read_access(connection, request, wanted.get("thread"))
        if access is None:
            return Page()
        chosen: list[tuple[str, str, str]] = []
        at_once = most + 1 if asked is None else _SCANNED_PER_QUERY_COUNT
        required = (asked or {}).items()
        while len(chosen) <= most:
            rows = checkpoints.list_step_rows(connection, access, wanted, after, at_once)
            for id, thread, ns, metadata in rows:
                after = (id, thread, ns)
                held = json.loads(metadata) if required else {}
                if all(held.get(name) == one for name, one in required):
                    chosen.append(after)
            if len(rows) < at_once:
                break
        found = [checkpoints.find_step(connection, access, thread, ns, id) for id, thread, ns in chosen[:most]]
        cursor = json.dumps(chosen[most - 1]) if len(chosen) > most else None
        return Page(items=tuple(one for one in found if one is not None), cursor=cursor)


def _replay_checkpoint(context: ViewContext, done: IdempotentResult, asked: Arguments) -> Checkpoint:
    """Return the checkpoint as it was saved, from the arguments of the call.

    A newer version may have replaced it since. Raises NotFound if the checkpoint was deleted.
    """
    kept = Checkpoints(context).get(asked["thread"])
    if kept is None or kept.version < done.result["version"]:
        raise NotFound("checkpoint")
    return Checkpoint(
        thread=kept.thread,
        data=json.loads(dump_checkpoint(asked["data"])),
        version=done.result["version"],
        updated_at=from_micros(done.result["updated_at"]),
    )


CHECKPOINT = Replay(
    record=lambda made, _: ({"version": made.version, "updated_at": to_micros(made.updated_at)}, ()),
    replay=_replay_checkpoint,
)
_NO_CHECKPOINT = Checkpoint(thread="", data=None, version=0, updated_at=from_micros(0))


class Checkpoints(Resource, name="checkpoints"):
    """The saved state of agents: one value for each person and thread."""

    steps = resource(GraphSteps)  # for tacit.integrations.langgraph.Checkpointer(view)

    @write("PUT /api/checkpoints/{thread:rest}", disabled=_NO_CHECKPOINT, replay=CHECKPOINT)
    def save(self, data: Any, *, thread: str | None = None, version: int | None = None) -> Checkpoint:
        """Save the state of an agent, any JSON value without secrets; replace the earlier one.

        Without `thread`, the thread is that of this view. `version` is the version you read, or 0
        for none; raises Conflict if the stored version differs. Works in a private chat only.
        """
        where = self._checkpoint_thread(thread)
        whole = dump_checkpoint(data)
        if version is not None:
            validation.parse_int("version", version, 0, limits.REVISION_MAX)

        def work(tx: Transaction) -> Checkpoint:
            _require_private(tx.request)
            return checkpoints.save_checkpoint(tx, where, whole, self._context.permitted_categories, version)

        return self._context.write(work)

    @read("GET /api/checkpoints/{thread:rest}", disabled=None)
    def get(self, thread: str | None = None) -> Checkpoint | None:
        """Return the saved checkpoint; None if there is none, and outside a private chat."""
        where = self._checkpoint_thread(thread)

        def work(connection: Connection, request: Request) -> Checkpoint | None:
            kept = self._find_checkpoint(connection, request, where) if request.private else None
            return None if kept is None else kept.checkpoint

        return self._context.read(work)

    @write("DELETE /api/checkpoints/{thread:rest}", disabled=None, replay=NOTHING)
    def delete(self, thread: str | None = None) -> None:
        """Delete the checkpoint at once, if there is one. Works in a private chat only."""
        where = self._checkpoint_thread(thread)

        def work(tx: Transaction) -> None:
            _require_private(tx.request)
            if self._find_checkpoint(tx.connection, tx.request, where) is not None:
                mine = tx.request.own_identities
                checkpoints.delete_checkpoints(tx.connection, tx.space, mine, where)

        self._context.write(work)

    def _find_checkpoint(self, connection: Connection, request: Request, thread: str) -> StoredCheckpoint | None:
        """Return the checkpoint, if this agent may use it."""
        kept = checkpoints.find_checkpoint(connection, request.space, request.own_identities, thread)
        allowed = self._context.permitted_categories
        return kept if kept is not None and kept.is_open_to(allowed) else None

    def _checkpoint_thread(self, thread: object) -> str:
        named = validation.parse_optional_label("thread", thread)
        return named or self._context.thread


def _require_private(request: Request) -> None:
    if not request.private:
        raise InvalidInput("checkpoint", "works in a private chat only")


_SCANNED_PER_QUERY_COUNT = 500  # steps read per query while filtering by metadata


def step_to_plain(found: StoredGraphStep) -> dict[str, Any]:
    """Convert a step to plain values for an export; serialized bytes become base64."""
    step = found.step
    return {
        "type": "step",
        "thread": step.thread,
        "namespace": step.ns,
        "id": step.id,
        "saved_at": None if step.saved_at is None else step.saved_at.isoformat(),
        "metadata": dict(step.metadata),
        **_payload_to_plain(step),
        "values": [{"channel": one.channel, **_payload_to_plain(one)} for one in found.values],
        "writes": [{"channel": one.channel, "task": one.task, **_payload_to_plain(one)} for one in found.writes],
    }


def _payload_to_plain(part: GraphStep | StepValue | StepWrite) -> dict[str, str]:
    return {"format": part.type, "data": base64.b64encode(part.data).decode()}


def _decode_step_cursor(cursor: str | None) -> tuple[str, str, str] | None:
    if cursor is None:
        return None
    try:
        id, thread, ns = json.loads(cursor)
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("cursor", "is not one that a page gave") from None
    return (steps.parse_step_name("cursor", id), steps.parse_thread(thread), steps.parse_namespace(ns))
