"""Answer for a disabled view, measure operations, and run writes at most once per key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from tacit import limits
from tacit.errors import InvalidInput, TacitError
from tacit.records import validation
from tacit.storage import idempotency
from tacit.storage.idempotency import IdempotencyKey, IdempotentResult
from tacit.storage.memories import Transaction
from tacit.telemetry.metrics import Meter, measure_operation
from tacit.view.context import ViewContext
from tacit.view.idempotency import bind_arguments, fingerprint_call, hash_idempotency_key
from tacit.view.operations import Arguments, Operation, Repeat, Resource, signature_of

Work = Callable[[Transaction], Any]


@dataclass(frozen=True, slots=True)
class DisabledDispatch:
    """The dispatch of a disabled view: reads are empty, writes do nothing.

    A view is disabled if it has no requester, or if memory is switched off.
    """

    why: str

    def invoke(
        self, operation: Operation, resource: Resource, args: tuple[Any, ...], named: Arguments
    ) -> Any:
        signature_of(operation).bind(resource, *args, **named)  # may raise TypeError
        return operation.disabled_outcome()


@dataclass(frozen=True, slots=True)
class IdempotentDispatch:
    """The dispatch that runs a write at most once under this key.

    It refuses a write without a replay rule.
    """

    key: str

    def invoke(
        self, operation: Operation, resource: Resource, args: tuple[Any, ...], named: Arguments
    ) -> Any:
        kind, context = type(resource), resource._context
        if operation.repeat is Repeat.HARMLESS:
            return operation.method(kind(context), *args, **named)
        if operation.replay is None:
            guarded = replace(context, guard=_refuse_write)
            return operation.method(kind(guarded), *args, **named)
        arguments = bind_arguments(operation.method, args, named)
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

    def _wanted(
        self, operation: Operation, context: ViewContext, arguments: Arguments
    ) -> IdempotencyKey:
        where = {
            "chat": context.raw_request.chat,
            "thread": context.thread,
            "agent": context.agent,
        }
        call = {"word": operation.name, "where": where, "asked": arguments}
        return IdempotencyKey(
            token=hash_idempotency_key(self.key), fingerprint=fingerprint_call(self.key, call)
        )


@dataclass(frozen=True, slots=True)
class MeasuredDispatch:
    """The dispatch that counts and times each operation. Created only if a meter is on."""

    meter: Meter
    inner: IdempotentDispatch | None = None

    def invoke(
        self, operation: Operation, resource: Resource, args: tuple[Any, ...], named: Arguments
    ) -> Any:
        if operation.lines:
            return self._measure_lines(operation, resource, args, named)
        with measure_operation(self.meter, operation.measured_as):
            return self._run(operation, resource, args, named)

    def _run(
        self, operation: Operation, resource: Resource, args: tuple[Any, ...], named: Arguments
    ) -> Any:
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


def parse_idempotency_key(key: object) -> str:
    return validation.parse_identifier("once", key, limits.IDEMPOTENCY_KEY_MAX_CHARS)


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
            idempotency.insert_result(
                tx, subject, self.wanted, *replay.record(made, self.arguments)
            )
            return made

        return at_most_once


def _refuse_write(_: Work) -> NoReturn:
    raise InvalidInput("once", "does not cover this; leave the key out")
