"""Embedders for tests: what a text means is what a table says, so that likeness is exact."""

import threading
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.embeddings.embedder import Embedder
from tacit.embeddings.local import LocalEmbedder

Vector = NDArray[np.float32]


def minilm() -> Embedder:
    """The model that ships, for where it matters what people mean."""
    return LocalEmbedder()


class Table(Embedder):
    """A text means the sum of the words in it that the table knows; none of them: nothing else's
    meaning."""

    def __init__(
        self, words: Mapping[str, Sequence[float]], *, name: str = "table", dimension: int = 4, inline: bool = True
    ) -> None:
        self.name, self.dimension, self.inline = name, dimension, inline
        self.asked: list[str] = []
        self.down = False
        self.gate = threading.Event()  # held shut, the background waits before it
        self.gate.set()
        self._words = {word: np.array(vector, np.float32) for word, vector in words.items()}

    def embed(self, texts: Sequence[str]) -> Vector:
        if threading.current_thread().name == "tacit-indexing":
            assert self.gate.wait(60)
        if self.down:
            raise tacit.EmbeddingFailed("the table is away")
        self.asked += texts
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([self._meaning(text) for text in texts])

    def close(self) -> None:
        self.gate.set()

    def _meaning(self, text: str) -> Vector:
        vector = np.zeros(self.dimension, np.float32)
        for word, meaning in self._words.items():
            if word in text.lower().split():
                vector[: len(meaning)] += meaning
        if not vector.any():
            vector[-1] = 1.0
        unit: Vector = vector / np.linalg.norm(vector)
        return unit
