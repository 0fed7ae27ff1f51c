"""Define View, memory as one requester may use it in one chat: the only way to read or write."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from tacit.telemetry.metrics import Meter, register_operations
from tacit.view.account import Account
from tacit.view.audience import Audience, ViewExplain
from tacit.view.audit import Audit
from tacit.view.checkpoints import Checkpoints
from tacit.view.context import Operation, Repeat, ViewContext, list_operations, resource
from tacit.view.idempotency import (
    DisabledDispatch,
    IdempotentDispatch,
    MeasuredDispatch,
    parse_idempotency_key,
)
from tacit.view.learning import ViewLearning
from tacit.view.memories import ViewReads, ViewWrites
from tacit.view.notes import Files, Sessions
from tacit.view.people import People
from tacit.view.proposals import Proposals
from tacit.view.recall import ViewRecall
from tacit.view.search import ViewGraph, ViewSearch
from tacit.view.transfer import Imports, ViewExport


class View(
    ViewReads, ViewSearch, ViewGraph, ViewRecall, ViewWrites, ViewLearning, ViewExplain, ViewExport
):
    """Memory as one requester may use it in one chat. Made by `Memory.view`.

    Creating a view is cheap: it reads nothing until you call a method.
    """

    proposals = resource(Proposals)
    people = resource(People)
    account = resource(Account)
    sessions = resource(Sessions)
    files = resource(Files)
    checkpoints = resource(Checkpoints)
    imports = resource(Imports)
    audience = resource(Audience)
    audit = resource(Audit)

    @property
    def enabled(self) -> bool:
        return self.why_disabled is None

    @property
    def why_disabled(self) -> str | None:
        dispatch = self._dispatch
        return dispatch.why if isinstance(dispatch, DisabledDispatch) else None

    def once(self, key: str) -> Self:
        """Return the same view for one write that may be sent twice.

        Within a day, a repeat of the same call under the same key is answered from the first, and
        nothing is done again. Raises NotFound if the result was erased since, and Conflict for
        another call under the key. Keys belong to one person; use a random one for each write.
        """
        dispatch = self._dispatch
        if isinstance(dispatch, DisabledDispatch):
            return self
        keyed = IdempotentDispatch(parse_idempotency_key(key))
        if isinstance(dispatch, MeasuredDispatch):
            return type(self)(self._context, MeasuredDispatch(dispatch.meter, keyed))
        return type(self)(self._context, keyed)


def open_view(context: ViewContext, meter: Meter) -> View:
    return View(context, MeasuredDispatch(meter) if meter.on else None)


def disabled_view(why: str) -> View:
    """Return a view without memory: reads are empty, writes do nothing, and `why` is the reason."""
    return View(None, DisabledDispatch(why))  # type: ignore[arg-type]


# Every operation by its full name.


def _collect() -> Mapping[str, Operation]:
    found: dict[str, Operation] = {}
    for operation in list_operations(View):
        assert operation.name not in found, f"{operation.name} is declared twice"
        replayed = operation.repeat is Repeat.REPLAYED
        assert replayed == (operation.replay is not None), f"{operation.name}: replay and repeat"
        found[operation.name] = operation
    return MappingProxyType(found)


VIEW_OPERATIONS = _collect()
register_operations(operation.measured_as for operation in VIEW_OPERATIONS.values())
