"""Vectors worked out before anything is timed, and an embedder that only looks them up."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.embeddings.embedder import Embedder

Vectors = NDArray[np.float32]

DIMENSION = 384
_WORD = re.compile(r"\w+")


def word_vectors(texts: Sequence[str], dimension: int = DIMENSION) -> Vectors:
    """Texts that share words lie near each other: as much as a search for the nearest needs.

    Each word has a direction of its own, by a checksum of the word: no model, and the same numbers
    in every process.
    """
    directions: dict[str, Vectors] = {}
    found = np.empty((len(texts), dimension), dtype=np.float32)
    for n, text in enumerate(texts):
        words = _WORD.findall(text.lower()) or [""]
        for word in words:
            if word not in directions:
                chance = np.random.default_rng(zlib.crc32(word.encode()))
                directions[word] = chance.standard_normal(dimension).astype(np.float32)
        found[n] = np.sum([directions[word] for word in words], axis=0)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


class Precomputed(Embedder):
    """An embedder whose work was done before: what is timed with it is everything else."""

    def __init__(self, texts: Sequence[str], vectors: Vectors, name: str = "bench-precomputed") -> None:
        self.name, self.inline = name, True
        self.dimension: int = vectors.shape[1]
        self._vectors = vectors
        self._rows = {text: n for n, text in enumerate(texts)}

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._vectors[[self._rows[text] for text in texts]]

    def close(self) -> None:
        """Nothing is held."""


class Once(Embedder):
    """Each text is embedded once in a run, whoever asks for it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.dimension, self.inline = embedder.name, embedder.dimension, True
        self._known: dict[str, Vectors] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.embed(new), strict=True))
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([self._known[text] for text in texts])

    def close(self) -> None:
        self._embedder.close()


def default_embedder() -> Embedder:
    """The one that is used where nobody chooses another."""
    from tacit.embeddings import local

    return local.LocalEmbedder()
