"""Define View, memory as one requester may use it in one chat: the only way to read or write."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, NoneType
from typing import Self

from tacit.telemetry.metrics import register_operations
from tacit.view.account import Account
from tacit.view.audience import Audience, ViewExplain
from tacit.view.audit import Audit
from tacit.view.checkpoints import Checkpoints
from tacit.view.context import Dispatch, Operation, Repeat, list_operations, resource
from tacit.view.idempotency import DisabledDispatch, IdempotentDispatch, MeasuredDispatch, run_once
from tacit.view.learning import ViewLearning
from tacit.view.memories import ViewMemories
from tacit.view.notes import Files, Sessions
from tacit.view.people import People
from tacit.view.proposals import Proposals
from tacit.view.recall import ViewRecall
from tacit.view.search import ViewSearch
from tacit.view.transfer import Imports, ViewExport


class View(ViewMemories, ViewSearch, ViewRecall, ViewLearning, ViewExplain, ViewExport):
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
        return None if self._dispatch is None else self._dispatch.why_disabled

    def once(self, key: str) -> Self:
        """Return the same view for one write that may be sent twice.

        Within a day, a repeat of the same call under the same key is answered from the first, and
        nothing is done again. Raises NotFound if the result was erased since, and Conflict for
        another call under the key. Keys belong to one person; use a random one for each write.
        """
        dispatch = self._dispatch
        return type(self)(self._context, run_once(key) if dispatch is None else dispatch.once(key))


def disabled_view(why: str) -> View:
    """Return a view without memory: reads are empty, writes do nothing, and `why` is the reason."""
    return remote_view(DisabledDispatch(why))


def remote_view(dispatch: Dispatch) -> View:
    """Return a view whose operations this dispatch answers, without a context of their own."""
    return View(None, dispatch)  # type: ignore[arg-type]


_LOCAL_DISPATCHES = (NoneType, DisabledDispatch, IdempotentDispatch, MeasuredDispatch)


def is_remote(view: View) -> bool:
    """Return whether another process has the memory of this view open."""
    return not isinstance(view._dispatch, _LOCAL_DISPATCHES)


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
