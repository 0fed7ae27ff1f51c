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


# What recall needs from an embedder: texts in, unit vectors out, and a name for them.


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


def check_threads(threads: int) -> int:
    most = limits.EMBEDDING_THREADS_MAX_COUNT
    if not 1 <= threads <= most:
        raise InvalidInput("threads", f"is {threads}; choose 1 to {most}")
    return threads


# Which embedder the settings ask for. Each adapter is imported only when it is the one.

# Per provider, the settings that mean something to it.
_SETTINGS_BY_PROVIDER = {
    "auto": set[str](),
    "local": set[str](),
    "folder": {"folder"},
    "endpoint": {"url", "model", "api_key", "dimension"},
}
EMBEDDING_PROVIDERS = (*_SETTINGS_BY_PROVIDER, "none")


def create_embedder(
    provider: str,
    *,
    folder: str | Path | None = None,
    url: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
    dimension: int | None = None,
    threads: int = limits.EMBEDDING_THREADS_DEFAULT_COUNT,
) -> Embedder | None:
    """The embedder, or None for recall by words alone: asked for, or all that `auto` can find.

    Empty text and zero are as good as None, which is how settings say that nothing is set.
    A setting that the provider has no use for is refused, because somebody meant something by it;
    only `none` takes them all, so that switching off is one change.
    """
    if provider not in EMBEDDING_PROVIDERS:
        raise InvalidInput("embedding.provider", f"choose one of {', '.join(EMBEDDING_PROVIDERS)}")
    if provider == "none":
        return None
    given = {"folder": folder, "url": url, "model": model, "api_key": api_key}
    _refuse_unused(provider, {**given, "dimension": dimension})
    if provider == "folder":
        from tacit.embeddings.onnx_model import FolderEmbedder

        return FolderEmbedder(Path(_require_setting("folder", folder)), threads=threads)
    if provider == "endpoint":
        from tacit.embeddings.endpoint import EndpointEmbedder

        return EndpointEmbedder(
            str(_require_setting("url", url)),
            str(_require_setting("model", model)),
            api_key=api_key,
            dimension=dimension or None,
        )
    from tacit.embeddings.local import LocalEmbedder, is_local_model_installed

    if provider == "auto" and not is_local_model_installed():
        return None
    return LocalEmbedder(threads=threads)


def _refuse_unused(provider: str, given: dict[str, object]) -> None:
    for name, value in given.items():
        if value and name not in _SETTINGS_BY_PROVIDER[provider]:
            meant = next(other for other, names in _SETTINGS_BY_PROVIDER.items() if name in names)
            raise InvalidInput(
                f"embedding.{name}",
                f"is not used by the provider {provider}: remove it, or set embedding.provider "
                f"to {meant}",
            )


def _require_setting(name: str, value: str | Path | None) -> str | Path:
    if value is None or not str(value).strip():
        raise InvalidInput(f"embedding.{name}", "is needed by this provider: set it")
    return value
