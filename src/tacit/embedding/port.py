"""What recall needs from an embedder: texts in, unit vectors out, and a name for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tacit import limits
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Safe to call from several threads. Every failure is an `EmbeddingFailed`.

    A text gives the same vector whatever it is embedded together with, as far as the adapter can
    see to it: the local ones promise the same bytes, an endpoint whatever it does.
    """

    name: str
    """Stored beside each vector; two embedders with one name give comparable vectors."""

    dimension: int
    """The length of a vector. 0 only for an endpoint that was not told, until its first answer."""

    inline: bool
    """Quick enough that a write may wait for it; if not, vectors are made in the background."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """What is stored: one row of length 1 for each text, in order; (0, dimension) for none.
        Zeros stand for a text that the model cannot read: recall then goes by its words."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """What is asked: one vector of length 1. Some models mark questions; most do not."""
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    def close(self) -> None:
        """Let go of connections. Calling it twice is harmless."""
        ...


def checked_threads(threads: int) -> int:
    most = limits.EMBEDDING_THREADS_MAX_COUNT
    if not 1 <= threads <= most:
        raise InvalidInput("threads", f"is {threads}; choose 1 to {most}")
    return threads
