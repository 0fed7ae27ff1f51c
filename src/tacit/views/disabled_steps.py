"""The part of the view of nobody that keeps a graph's steps, and keeps none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tacit.records.checkpoints import GraphStep, StepValue, StepWrite, StoredGraphStep
from tacit.records.results import Page
from tacit.views.steps import Steps


@dataclass(frozen=True)
class NoSteps(Steps):
    _view: Any = None

    def save(self, step: GraphStep, values: Iterable[StepValue] = ()) -> None:
        return None

    def write(
        self,
        thread: str,
        ns: str,
        id: str,
        writes: Iterable[StepWrite],
        *,
        replace: bool = False,
    ) -> None:
        return None

    def find(self, thread: str, ns: str = "", id: str | None = None) -> StoredGraphStep | None:
        return None

    def page(
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
        return Page()

    def forget_thread(self, thread: str) -> None:
        return None

    def forget_runs(self, runs: Sequence[str]) -> None:
        return None

    def copy_thread(self, source: str, target: str) -> None:
        return None

    def prune(
        self, threads: Sequence[str], strategy: Literal["keep_latest", "delete"] = "keep_latest"
    ) -> None:
        return None


class DisabledStepping:
    def steps(self) -> Steps:
        return NoSteps()
