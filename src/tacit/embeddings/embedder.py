"""The embedder interface, and the embedder that the settings select."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tacit import limits
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors. Safe to call from several threads.

    Every failure is an `EmbeddingFailed`. A local model gives a text the same bytes, whichever
    texts it is embedded with; an endpoint may not.
    """

    name: str
    """Stored beside each vector; embedders with the same name give comparable vectors."""

    dimension: int
    """The length of a vector; 0 until the first answer of an endpoint without this setting."""

    inline: bool
    """Whether a write may wait for it; if not, vectors are made in the background."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to store: one unit vector per text, in order; (0, dimension) for none.

        A row of zeros stands for a text that the model cannot read: recall then uses its words.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question as a unit vector. Some models need a prefix for questions."""
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    def close(self) -> None:
        """Close connections. Idempotent."""
        ...


def check_threads(threads: int) -> int:
    most = limits.EMBEDDING_THREADS_MAX_COUNT
    if not 1 <= threads <= most:
        raise InvalidInput("threads", f"is {threads}; choose 1 to {most}")
    return threads


def create_embedder(
    provider: str,
    *,
    folder: Path | None = None,
    url: str = "",
    model: str = "",
    api_key: str | None = None,
    dimension: int | None = None,
    threads: int = limits.EMBEDDING_THREADS_DEFAULT_COUNT,
) -> Embedder | None:
    """Return the embedder of a provider, or None for recall by words alone.

    `auto` returns None if the local model is not installed.
    """
    if provider == "none":
        return None
    if provider == "folder":
        from tacit.embeddings.local import FolderEmbedder

        return FolderEmbedder(folder or Path(), threads=threads)
    if provider == "endpoint":
        from tacit.embeddings.endpoint import EndpointEmbedder

        return EndpointEmbedder(url, model, api_key=api_key, dimension=dimension)
    from tacit.embeddings.local import LocalEmbedder, is_local_model_installed

    if provider == "auto" and not is_local_model_installed():
        return None
    return LocalEmbedder(threads=threads)
