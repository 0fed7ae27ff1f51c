"""Define View, memory as one requester may use it in one chat: the only way to read or write."""

from __future__ import annotations

from typing import Self

from tacit.telemetry.metrics import Meter
from tacit.view.account import ViewAccount
from tacit.view.audience import ViewAudience
from tacit.view.audit import ViewActivity, ViewHistoryExport
from tacit.view.checkpoints import ViewCheckpoints, ViewGraphSteps
from tacit.view.context import ViewContext
from tacit.view.dispatch import (
    DisabledDispatch,
    IdempotentDispatch,
    MeasuredDispatch,
    parse_idempotency_key,
)
from tacit.view.learning import ViewLearning
from tacit.view.notes import ViewFiles, ViewSessions
from tacit.view.people import ViewPeople
from tacit.view.reads import ViewGraph, ViewSearch
from tacit.view.recall import ViewRecall
from tacit.view.transfer import ViewExport, ViewImports
from tacit.view.writes import ViewWrites


class View(
    ViewExport,
    ViewHistoryExport,
    ViewAudience,
    ViewRecall,
    ViewWrites,
    ViewPeople,
    ViewLearning,
    ViewSessions,
    ViewFiles,
    ViewCheckpoints,
    ViewGraphSteps,
    ViewAccount,
    ViewSearch,
    ViewGraph,
    ViewActivity,
    ViewImports,
):
    """Made by `Memory.view`. Cheap: nothing is read until you ask."""

    __slots__ = ()

    @property
    def enabled(self) -> bool:
        return self.why_disabled is None

    @property
    def why_disabled(self) -> str | None:
        dispatch = self._dispatch
        return dispatch.why if isinstance(dispatch, DisabledDispatch) else None

    def once(self, key: str) -> Self:
        """Return the same view for one write that may be sent twice: within a day, a repeat of the
        same call under the same key is answered from the first, and nothing is done again. What was
        erased since is NotFound; another call under the key is a Conflict. Keys belong to one
        person; take a random one for each write."""
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
    """Return a view without memory: reads are empty, writes do nothing, and it says why."""
    return View(None, DisabledDispatch(why))  # type: ignore[arg-type]
