"""What is tidied up: merged, thought about, summed up. It happens in the background as well."""

from __future__ import annotations

from tacit import limits
from tacit.facade.opened import Opened
from tacit.lifecycle import consolidation, tasks
from tacit.lifecycle.consolidation import build_consolidate_task
from tacit.lifecycle.reflection import build_reflect_task, build_summarize_task
from tacit.llm.budget import Allowance
from tacit.llm.language_model import LanguageModel
from tacit.records import validation
from tacit.records.results import Consolidated, Reflected, Summarised

_NO_MODEL = "no language model is set: choose one with language.provider"
_OFF = "it is switched off: set {} to true"


class MemoryTidying(Opened):
    def consolidate(self) -> Consolidated:
        """Merge what people have twice: the same words, the same slot, and with a language model
        what says the same in other words. Only what reaches the same people is merged, nothing is
        lost, and `undo_consolidation` takes it back."""
        model, allowance = self._model_and_allowance()
        upkeep = self._runtime.upkeep
        self._storage.accesses.flush()
        work = build_consolidate_task(
            self._storage, self._runtime.retriever, upkeep, model, allowance
        )
        counts = tasks.run_task(work, self._space).counts
        skipped = "" if upkeep.consolidate_enabled else _OFF.format("consolidate.enabled")
        if not skipped and model is None:
            skipped = _NO_MODEL
        return Consolidated(
            run=str(counts["run"]),
            merged=counts.get("merged", 0),
            certain=counts.get("certain", 0),
            pairs=counts.get("pairs", 0),
            asked=counts.get("asked", 0),
            left=counts.get("left", 0),
            skipped=skipped,
        )

    def undo_consolidation(self, run: str) -> int:
        """Everything that a run merged stands again as it was, unless somebody changed it since, or
        forgot what it was merged into. Says how many memories that are."""
        name = validation.parse_identifier("run", run, limits.LABEL_MAX_CHARS)
        with self._storage.database.read() as connection:
            merged = consolidation.list_merges(connection, self._space, name)
        return sum(
            self._storage.write_as(
                self._space,
                "system",
                lambda w, kept=kept: consolidation.undo_merges(w, name, kept, merged[kept]),  # type: ignore[misc]
            )
            for kept in consolidation.order_outermost_first(merged)
        )

    def reflect(self) -> Reflected:
        """Think about people, each at most once a day: insights from what they said in private."""
        model, allowance = self._model_and_allowance()
        upkeep = self._runtime.upkeep
        self._storage.accesses.flush()
        counts = tasks.run_task(
            build_reflect_task(self._storage, upkeep, model, allowance), self._space
        ).counts
        if counts.get("insights"):
            self._runtime.wake_indexer()
        return Reflected(
            people=counts.get("people", 0),
            insights=counts.get("insights", 0),
            refused=counts.get("refused", 0),
            left=counts.get("left", 0),
            skipped=_skipped(model, "reflect.enabled", on=upkeep.reflect_enabled),
        )

    def summarise(self) -> Summarised:
        """Sum up the private conversations that have ended, where turns are kept."""
        model, allowance = self._model_and_allowance()
        upkeep = self._runtime.upkeep
        counts = tasks.run_task(
            build_summarize_task(self._storage, upkeep, model, allowance), self._space
        ).counts
        if counts.get("summaries"):
            self._runtime.wake_indexer()
        return Summarised(
            sessions=counts.get("sessions", 0),
            summaries=counts.get("summaries", 0),
            refused=counts.get("refused", 0),
            left=counts.get("left", 0),
            skipped=_skipped(model, "reflect.summaries", on=upkeep.reflect_summaries),
        )

    def _model_and_allowance(self) -> tuple[LanguageModel | None, Allowance]:
        learning = self._runtime.learning
        if learning is None:
            return None, Allowance()
        return learning.model, learning.allowance


def _skipped(model: LanguageModel | None, setting: str, *, on: bool) -> str:
    if not on:
        return _OFF.format(setting)
    return _NO_MODEL if model is None else ""
