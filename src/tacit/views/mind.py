"""Everything that one open memory shares between its views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tacit.embedding.port import Embedder
from tacit.errors import InvalidInput
from tacit.model.results import Embedding
from tacit.prompt.keep import Blocks
from tacit.recall.indexing import Indexing
from tacit.recall.recollection import Recollection
from tacit.store.core import Store


@dataclass(frozen=True, slots=True)
class Mind:
    store: Store
    embedder: Embedder | None
    recollection: Recollection = field(init=False)
    blocks: Blocks = field(init=False)
    indexing: Indexing | None = field(init=False)

    def __post_init__(self) -> None:
        recollection = Recollection(self.store, self.embedder)
        indexing = Indexing(self.store, self.embedder) if self.embedder is not None else None
        object.__setattr__(self, "recollection", recollection)
        object.__setattr__(self, "blocks", Blocks(recollection, self.store.audiences))
        object.__setattr__(self, "indexing", indexing)
        if indexing is not None:
            indexing.wake()

    @property
    def has_gap(self) -> bool:
        """Vectors are missing because a model did not answer, and nobody is at it."""
        return self.indexing is not None and self.indexing.failed

    def mind_the_gap(self) -> None:
        """Something was written without a vector: let it be made in the background."""
        if self.indexing is not None:
            self.indexing.wake()

    def embedding(self, space: str) -> Embedding:
        if self.indexing is None:
            return Embedding(model=None, dimension=0, done=0, total=0, running=False)
        return self.indexing.status(space)

    def reembed(self, progress: Callable[[int], None]) -> int:
        if self.indexing is None:
            raise InvalidInput("embedding", "no model is set; choose one with embedding.provider")
        return self.indexing.finish(progress)

    def close(self) -> None:
        try:
            if self.indexing is not None:
                self.indexing.close()
        finally:
            self.store.close()
            if self.embedder is not None:
                self.embedder.close()
