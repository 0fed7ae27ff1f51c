"""Hold what all views of one open memory share: storage, models, workers and caches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from tacit.embeddings.embedder import Embedder
from tacit.errors import InvalidInput
from tacit.jobs.scheduler import TASKS_AT_OPENING, PeriodicRunner, SchedulerThreads, build_tasks
from tacit.jobs.worker import LearningWorkers
from tacit.learning.pipeline import LearningOptions, LearningPipeline
from tacit.lifecycle.tasks import LifecycleOptions, TaskStep
from tacit.llm.budget import Allowance
from tacit.llm.language_model import LanguageModel
from tacit.prompts.block import BlockCache
from tacit.records.results import EmbeddingStatus
from tacit.retrieval.indexer import VectorIndexer
from tacit.retrieval.retriever import Retriever
from tacit.storage import queue
from tacit.storage.store import Store

if TYPE_CHECKING:  # imported only if notes are mirrored as files
    from tacit.notes.mirror import MirrorThread


@dataclass(frozen=True, slots=True)
class Runtime:
    storage: Store
    embedder: Embedder | None
    learning: LearningOptions | None = None  # None: nothing is learned from conversations
    learner_threads: int = 0  # threads of this process that learn
    upkeep: LifecycleOptions = field(default_factory=LifecycleOptions)
    mirroring: MirrorThread | None = None  # None: notes are not mirrored as files
    model: LanguageModel | None = None  # set even if nothing is learned
    allowance: Allowance = field(default_factory=Allowance)  # daily budget of each space
    retriever: Retriever = field(init=False)
    blocks: BlockCache = field(init=False)
    indexing: VectorIndexer | None = field(init=False)
    pipeline: LearningPipeline | None = field(init=False)
    tasks: dict[str, TaskStep] = field(init=False)
    _workers: list[LearningWorkers] = field(init=False, default_factory=list)
    _scheduler: SchedulerThreads = field(init=False)
    _start_lock: Lock = field(init=False, default_factory=Lock)

    def __post_init__(self) -> None:
        recollection = Retriever(self.storage, self.embedder)
        indexing = VectorIndexer(self.storage, self.embedder) if self.embedder is not None else None
        object.__setattr__(self, "retriever", recollection)
        object.__setattr__(self, "blocks", BlockCache(recollection, self.storage.audiences))
        object.__setattr__(self, "indexing", indexing)
        path = (
            LearningPipeline(self.storage, recollection, self.learning)
            if self.learning is not None
            else None
        )
        object.__setattr__(self, "pipeline", path)
        parts = (self.storage, recollection, self.embedder, self.learning, self.upkeep)
        object.__setattr__(self, "tasks", build_tasks(*parts))
        object.__setattr__(self, "_scheduler", SchedulerThreads(self.periodic_runner))
        if self.mirroring is not None:
            self.mirroring.mirror.written = self.wake_indexer
            self.storage.after_erasure.append(self.mirroring.mirror.remove_erased)
        if indexing is not None:
            indexing.wake()
        if path is not None and self._has_queued_turns():
            self.wake_learners()

    @property
    def has_missing_vectors(self) -> bool:
        """Return whether vectors are missing after a model failure and no thread creates them."""
        return self.indexing is not None and self.indexing.failed

    def wake_indexer(self) -> None:
        """Wake the indexer: a memory was written without a vector."""
        if self.indexing is not None:
            self.indexing.wake()

    def embedding(self, space: str) -> EmbeddingStatus:
        if self.indexing is None:
            return EmbeddingStatus(model=None, dimension=0, done=0, total=0, running=False)
        return self.indexing.status(space)

    def reembed(self, progress: Callable[[int], None]) -> int:
        if self.indexing is None:
            raise InvalidInput("embedding", "no model is set; choose one with embedding.provider")
        return self.indexing.embed_missing(progress)

    def wake_learners(self) -> None:
        """Wake the learning threads; start them at the first call."""
        if self.pipeline is None or not self.learner_threads:
            return
        with self._start_lock:
            if not self._workers:
                self._workers.append(LearningWorkers(self.pipeline, self.learner_threads))
        self._workers[0].wake()

    def _has_queued_turns(self) -> bool:
        with self.storage.database.read() as connection:
            return queue.has_waiting_jobs(connection)

    def periodic_runner(self) -> PeriodicRunner:
        """Return a runner for scheduled tasks."""
        return PeriodicRunner(self.storage, self.tasks, self.upkeep.intervals)

    def start_background_work(self) -> None:
        """Start the threads for learning and for scheduled tasks; they run until close."""
        self.wake_learners()
        self._scheduler.start(max(1, self.learner_threads))

    def run_overdue_tasks(self, space: str) -> None:
        """Run overdue tasks of a newly opened space, if this process has background threads."""
        known = [
            one for one in TASKS_AT_OPENING if one in self.tasks and one in self.upkeep.intervals
        ]
        if not self.upkeep.runs_on_open or not self.learner_threads or not known:
            return
        with self.storage.database.read() as connection:
            overdue = queue.has_overdue_tasks(connection, space, known, self.storage.clock())
        if overdue:
            self._scheduler.run_overdue(space)

    def start_note_sync(self) -> None:
        """Read files that were edited while the memory was closed, and start watching them."""
        if self.mirroring is not None:
            self.mirroring.start()

    def close(self) -> None:
        try:
            if self.model is not None:
                self.model.close()  # ends waiting model calls
            for workers in self._workers:
                workers.close()
            self._scheduler.close()
            if self.mirroring is not None:
                self.mirroring.close()  # after all writers
            if self.indexing is not None:
                self.indexing.close()
        finally:
            self.storage.close()
            if self.embedder is not None:
                self.embedder.close()
