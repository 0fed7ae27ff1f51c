"""Embed memories that have no vector yet, in a background thread."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial

from tacit import limits
from tacit.embeddings.embedder import Embedder
from tacit.errors import EmbeddingFailed, StoreError
from tacit.records.results import EmbeddingStatus
from tacit.storage.store import Store
from tacit.storage.vectors import (
    Unembedded,
    begin_embedding_check,
    count_vectors,
    finish_embedding_check,
    list_unembedded,
    list_unembedded_spaces,
    save_vectors,
)
from tacit.telemetry.metrics import EMBEDDING_FAILURES

_log = logging.getLogger(__name__)


def embed_page(store: Store, embedder: Embedder, space: str, after: str) -> list[tuple[Unembedded, bytes]]:
    """Embed the next memories without a vector; the caller saves the vectors."""
    with store.database.read() as connection:
        most = limits.EMBEDDING_BATCH_COUNT
        some = list_unembedded(connection, space, embedder.name, after, most)
    vectors = embedder.embed([one.text for one in some]) if some else ()
    return [(one, row.tobytes()) for one, row in zip(some, vectors, strict=True)]


class VectorIndexer:
    """A background thread that embeds memories without a vector, and then ends."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._lock = threading.Lock()
        self._embedding_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._wake_requested = False
        self.failed = False
        self._closing = threading.Event()

    def wake(self) -> None:
        """Start the thread if it does not run: there may be memories to embed."""
        with self._lock:
            self._wake_requested = True
            if self._closing.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._run, name="tacit-indexing", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._wake_requested or self._closing.is_set():
                    self._thread = None
                    return
                self._wake_requested = False
            try:
                self.embed_missing(lambda _: None)
                self.failed = False
            except (EmbeddingFailed, StoreError) as error:
                # The next call of `wake` tries again; until then recall uses words only.
                self.failed = True
                _log.warning("vectors are still missing: %s", type(error).__name__)
                if isinstance(error, EmbeddingFailed):
                    self._store.meter.count(EMBEDDING_FAILURES, purpose="background")

    def embed_missing(self, progress: Callable[[int], None]) -> int:
        """Embed what is missing in every space. `progress` gets the number of vectors so far."""
        made = 0
        database, model = self._store.database, self._embedder.name
        with self._embedding_lock:  # otherwise two threads would embed the same memories
            with database.read() as connection:
                spaces = list_unembedded_spaces(connection, model)
            for space in spaces:
                made = self._embed_space(space, made, progress)
        return made

    def _embed_space(self, space: str, made: int, progress: Callable[[int], None]) -> int:
        """Repeat until no memory without a vector was written during a full pass."""
        database, model = self._store.database, self._embedder.name
        while not self._closing.is_set():
            database.write(lambda c: begin_embedding_check(c, space, model))
            begun = time.monotonic()
            made = self._embed_pages(space, made, progress)
            if not self._closing.is_set() and database.write(
                lambda c: finish_embedding_check(c, space, model, self._store.clock())
            ):
                break
            self._pause(begun)
        return made

    def _pause(self, begun: float) -> None:
        """In the background thread, leave half of the time to requests."""
        if threading.current_thread() is self._thread:
            took = time.monotonic() - begun
            self._closing.wait(min(took, limits.INDEXING_PAUSE_MAX_SECONDS))

    def _embed_pages(self, space: str, made: int, progress: Callable[[int], None]) -> int:
        database, model = self._store.database, self._embedder.name
        after = ""
        while not self._closing.is_set():
            begun = time.monotonic()
            found = embed_page(self._store, self._embedder, space, after)
            if not found or self._closing.is_set():
                break
            save = partial(save_vectors, dialect=database.dialect, space=space, model=model, made=found)
            made += database.write(save)
            after = found[-1][0].id
            progress(made)
            self._pause(begun)
        return made

    def status(self, space: str) -> EmbeddingStatus:
        with self._store.database.read() as connection:
            done, total = count_vectors(connection, space, self._embedder.name)
        with self._lock:
            running = self._thread is not None and self._thread.is_alive()
        return EmbeddingStatus(
            model=self._embedder.name, dimension=self._embedder.dimension, done=done, total=total, running=running
        )

    def close(self) -> None:
        self._closing.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            # Do not wait for a model that hangs; nothing is lost.
            thread.join(limits.CLOSE_WAIT_MAX_SECONDS)
