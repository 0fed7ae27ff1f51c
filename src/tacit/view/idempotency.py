"""Answer for a disabled view, measure operations, and run writes at most once per key."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, date, datetime
from enum import Enum
from itertools import islice
from operator import itemgetter
from typing import Any, NoReturn

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput, NotFound, TacitError
from tacit.lifecycle import erasure as erasing
from tacit.lifecycle import erasure_records
from tacit.lifecycle.erasure_records import RecordedErasure
from tacit.records import validation
from tacit.records.memory import State
from tacit.records.request import Request
from tacit.records.results import Erased, Recorded, Remembered
from tacit.storage import erasures, idempotency, learned_facts
from tacit.storage.idempotency import IdempotencyKey, IdempotentResult
from tacit.storage.memories import Transaction
from tacit.telemetry.metrics import Meter, measure_operation
from tacit.view.context import Arguments, Operation, Repeat, Replay, Resource, ViewContext, bind_arguments

# The fingerprint of a call: equal for the same operation with the same arguments.

_TOKEN_HMAC_KEY = b"tacit: done once"
_REUSABLE_TYPES = (str, bytes, Mapping, list, tuple, set, frozenset)
# Items read of a one-shot iterable: more than any operation takes.
_MATERIALIZED_MAX_COUNT = limits.PARTICIPANTS_MAX_COUNT + 1


def hash_idempotency_key(key: str) -> str:
    return hmac.digest(_TOKEN_HMAC_KEY, key.encode(), "sha256").hex()


def fingerprint_call(key: str, asked: Mapping[str, Any]) -> str:
    """Hash a call with its idempotency key, so that equal calls have equal hashes.

    The key is not stored, so the arguments cannot be guessed from the hash.
    """
    try:
        told = json.dumps(_to_canonical(asked), sort_keys=True)
    except (RecursionError, ValueError, OverflowError):  # the operation refuses such arguments
        told = "?"
    return hmac.digest(key.encode(), told.encode(), hashlib.sha256).hex()


def materialize(arguments: Arguments) -> Arguments:
    """Turn one-shot iterables into lists, so that they can be read twice."""
    return {name: _materialize(value) for name, value in arguments.items()}


def _materialize(value: Any) -> Any:
    once = isinstance(value, Iterable) and not isinstance(value, _REUSABLE_TYPES)
    return list(islice(value, _MATERIALIZED_MAX_COUNT)) if once else value


def _to_canonical(value: Any) -> Any:
    """Convert a value to JSON, with its type where JSON would not distinguish two types."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _to_canonical(value.value)
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return {"int": f"{value:x}"}
    if isinstance(value, float):
        return {"float": repr(float(value))}
    if isinstance(value, datetime):
        moment = value.astimezone(UTC) if value.tzinfo is not None else value
        return {"at": moment.isoformat()}
    if isinstance(value, date):
        return {"day": value.isoformat()}
    if isinstance(value, Mapping):
        pairs = [[json.dumps(_to_canonical(k), sort_keys=True), _to_canonical(v)] for k, v in value.items()]
        return {"map": sorted(pairs, key=itemgetter(0))}
    if isinstance(value, list | tuple):
        return [_to_canonical(one) for one in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted(json.dumps(_to_canonical(one), sort_keys=True) for one in value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {"fields": {one.name: _to_canonical(getattr(value, one.name)) for one in fields(value)}}
    return {"type": type(value).__qualname__}  # no operation of a view takes this type


# How the outcome of each kind of write is recorded, and a repeat answered from the record.
#
# No text is recorded: a repeat reads it through the view of the caller.

StoredOutcome = tuple[Mapping[str, Any], Sequence[str | None]]  # plain strings and numbers; ids of memories


def _is_still_visible(context: ViewContext, connection: Connection, request: Request, id: str) -> bool:
    """Return whether the requester may know of this memory: owns it, or may see it here."""
    memory = learned_facts.get_proposed_memory(connection, context.storage.audiences, context.space, id)
    if memory is None or not context.may_use(memory):
        return False
    if memory.owner in request.own_identities:
        return True
    try:
        context.get_visible(connection, request, id)
    except NotFound:
        return False
    return True


def list_visible_ids(context: ViewContext, done: IdempotentResult) -> dict[int, str]:
    """Return the recorded memories that the requester may still see."""

    def work(connection: Connection, request: Request) -> dict[int, str]:
        ids = sorted(done.ids.items())
        return {place: id for place, id in ids if _is_still_visible(context, connection, request, id)}

    return context.read(work)


def _record_remembered(made: Remembered, _: Arguments) -> StoredOutcome:
    state = None if made.state is None else made.state.value
    told = {"state": state, "version": made.version, "created": made.created}
    return told, (made.id, made.supersedes)


def _replay_remembered(context: ViewContext, done: IdempotentResult, _: Arguments) -> Remembered:
    ids = list_visible_ids(context, done)
    if 0 not in ids:
        raise NotFound
    state = done.result["state"]
    return Remembered(
        id=ids[0],
        state=None if state is None else State(state),
        version=done.result["version"],
        created=done.result["created"],
        supersedes=ids.get(1),
    )


def _replay_episodes(context: ViewContext, done: IdempotentResult, _: Arguments) -> Recorded:
    ids = list_visible_ids(context, done)
    if not ids:
        raise NotFound
    return Recorded(ids=tuple(ids.values()))


def record_count(made: int, _: Arguments) -> StoredOutcome:
    return {"count": made}, ()


def _record_changed(_: None, asked: Arguments) -> StoredOutcome:
    ids = [asked[name] for name in ("id", "other") if name in asked]
    return {"ids": len(ids)}, ids


def _replay_changed(context: ViewContext, done: IdempotentResult, _: Arguments) -> None:
    if len(list_visible_ids(context, done)) < done.result["ids"]:
        raise NotFound


def record_nothing(_: Any, __: Arguments) -> StoredOutcome:
    return {}, ()


def _record_erased(made: RecordedErasure, _: Arguments) -> StoredOutcome:
    whole = made.counts == made.erasure.counts
    return {"erasure": made.erasure.id, "count": made.count, "whole": whole}, ()


def _replay_erased(context: ViewContext, done: IdempotentResult, _: Arguments) -> Erased:
    """Return the erasure; finish the parts of it that a lock delayed."""

    def work(connection: Connection, _: Request) -> RecordedErasure:
        erasure = erasures.get_erasure(connection, context.space, done.result["erasure"])
        secret = erasures.list_space_secrets(connection).get(context.space)
        if erasure is None or secret is None:
            raise NotFound
        return RecordedErasure(
            erasure=erasure,
            key=erasure_records.derive_certificate_key(secret),
            count=done.result["count"],
            counts=erasure.counts if done.result["whole"] else {"memories": 1},
        )

    return erasing.finish_erasure(context.storage, context.read(work), again=True)


REMEMBERED = Replay(record=_record_remembered, replay=_replay_remembered)
EPISODES = Replay(record=lambda made, _: ({}, tuple(made)), replay=_replay_episodes)
CHANGED = Replay(record=_record_changed, replay=_replay_changed)
FORGOTTEN = Replay(record=_record_changed, replay=lambda *_: None)
COUNT = Replay(record=record_count, replay=lambda _, done, __: done.result["count"])
ERASED = Replay(record=_record_erased, replay=_replay_erased)
NOTHING = Replay(record=record_nothing, replay=lambda *_: None)


# What stands between the call of an operation and its method.

Work = Callable[[Transaction], Any]


@dataclass(frozen=True, slots=True)
class DisabledDispatch:
    """The dispatch of a disabled view: reads are empty, writes do nothing.

    A view is disabled if it has no requester, or if memory is switched off.
    """

    why_disabled: str

    def once(self, _: str) -> DisabledDispatch:
        return self

    def invoke(self, operation: Operation, _: Resource, args: tuple[Any, ...], named: Arguments) -> Any:
        bind_arguments(operation.method, args, named)  # may raise TypeError
        return operation.disabled_outcome()


@dataclass(frozen=True, slots=True)
class IdempotentDispatch:
    """The dispatch that runs a write at most once under this key.

    It refuses a write without a replay rule.
    """

    key: str
    why_disabled: None = None

    def once(self, key: str) -> IdempotentDispatch:
        return run_once(key)

    def invoke(self, operation: Operation, resource: Resource, args: tuple[Any, ...], named: Arguments) -> Any:
        kind, context = type(resource), resource._context
        if operation.repeat is Repeat.HARMLESS:
            return operation.method(kind(context), *args, **named)
        if operation.replay is None:
            guarded = replace(context, guard=_refuse_write)
            return operation.method(kind(guarded), *args, **named)
        arguments = materialize(bind_arguments(operation.method, args, named))
        wanted = self._wanted(operation, context, arguments)
        # Look up the record first: a repeat then needs neither vectors nor a model.
        done = context.read(lambda c, r: idempotency.find_result(c, r, wanted))
        if done is None:
            guarded = replace(context, guard=_RecordOnce(operation, arguments, wanted, context))
            try:
                return operation.method(kind(guarded), **arguments)
            except _RepeatedCall as repeated:
                done = repeated.done
        return operation.replay.replay(context, done, arguments)

    def _wanted(self, operation: Operation, context: ViewContext, arguments: Arguments) -> IdempotencyKey:
        where = {"chat": context.raw_request.chat, "thread": context.thread, "agent": context.agent}
        call = {"word": operation.name, "where": where, "asked": arguments}
        return IdempotencyKey(token=hash_idempotency_key(self.key), fingerprint=fingerprint_call(self.key, call))


@dataclass(frozen=True, slots=True)
class MeasuredDispatch:
    """The dispatch that counts and times each operation. Created only if a meter is on."""

    meter: Meter
    inner: IdempotentDispatch | None = None
    why_disabled: None = None

    def once(self, key: str) -> MeasuredDispatch:
        return MeasuredDispatch(self.meter, run_once(key))

    def invoke(self, operation: Operation, resource: Resource, args: tuple[Any, ...], named: Arguments) -> Any:
        if operation.lines:
            return self._measure_lines(operation, resource, args, named)
        with measure_operation(self.meter, operation.measured_as):
            return self._run(operation, resource, args, named)

    def _run(self, operation: Operation, resource: Resource, args: tuple[Any, ...], named: Arguments) -> Any:
        if self.inner is not None:
            return self.inner.invoke(operation, resource, args, named)
        return operation.method(type(resource)(resource._context), *args, **named)

    def _measure_lines(
        self, operation: Operation, resource: Resource, args: tuple[Any, ...], named: Arguments
    ) -> Iterator[Any]:
        """Measure from the first line to the last, including the time the reader takes."""
        try:
            lines = self._run(operation, resource, args, named)
        except TacitError:
            with measure_operation(self.meter, operation.measured_as):
                raise
        return _time_lines(self.meter, operation.measured_as, lines)


def _time_lines(meter: Meter, name: str, lines: Iterator[Any]) -> Iterator[Any]:
    with measure_operation(meter, name):
        yield from lines


def run_once(key: object) -> IdempotentDispatch:
    return IdempotentDispatch(validation.parse_identifier("once", key, limits.IDEMPOTENCY_KEY_MAX_CHARS))


class _RepeatedCall(Exception):
    """The same call was recorded meanwhile. Rolls the transaction back; not a failure."""

    def __init__(self, done: IdempotentResult) -> None:
        super().__init__()
        self.done = done


@dataclass(frozen=True, slots=True)
class _RecordOnce:
    """A guard of the transaction of a write, by its idempotency key.

    Under the lock of the key, it finds the record of an earlier call, or inserts that of this one.
    """

    operation: Operation
    arguments: Arguments
    wanted: IdempotencyKey
    context: ViewContext

    def __call__(self, work: Work) -> Work:
        replay = self.operation.replay
        assert replay is not None

        def at_most_once(tx: Transaction) -> Any:
            idempotency.lock_idempotency_key(tx, self.wanted)
            done = idempotency.find_result(tx.connection, tx.request, self.wanted)
            if done is not None:
                raise _RepeatedCall(done)
            made = work(tx)
            subject = self.context.raw_request.subject
            idempotency.insert_result(tx, subject, self.wanted, *replay.record(made, self.arguments))
            return made

        return at_most_once


def _refuse_write(_: Work) -> NoReturn:
    raise InvalidInput("once", "does not cover this; leave the key out")
