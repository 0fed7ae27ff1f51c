"""Which embedder the settings ask for. Each adapter is imported only when it is the one."""

from __future__ import annotations

from pathlib import Path

from tacit import limits
from tacit.embedding.port import Embedder
from tacit.errors import InvalidInput

# Per provider, the settings that mean something to it.
_USED = {
    "auto": set[str](),
    "local": set[str](),
    "folder": {"folder"},
    "endpoint": {"url", "model", "api_key", "dimension"},
}
PROVIDERS = (*_USED, "none")


def embedder(
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
    if provider not in PROVIDERS:
        raise InvalidInput("embedding.provider", f"choose one of {', '.join(PROVIDERS)}")
    if provider == "none":
        return None
    given = {"folder": folder, "url": url, "model": model, "api_key": api_key}
    _refuse_unused(provider, {**given, "dimension": dimension})
    if provider == "folder":
        from tacit.embedding.folder import FolderEmbedder

        return FolderEmbedder(Path(_needed("folder", folder)), threads=threads)
    if provider == "endpoint":
        from tacit.embedding.endpoint import EndpointEmbedder

        return EndpointEmbedder(
            str(_needed("url", url)),
            str(_needed("model", model)),
            api_key=api_key,
            dimension=dimension or None,
        )
    from tacit.embedding.local import LocalEmbedder, installed

    if provider == "auto" and not installed():
        return None
    return LocalEmbedder(threads=threads)


def _refuse_unused(provider: str, given: dict[str, object]) -> None:
    for name, value in given.items():
        if value and name not in _USED[provider]:
            meant = next(other for other, names in _USED.items() if name in names)
            raise InvalidInput(
                f"embedding.{name}",
                f"is not used by the provider {provider}: remove it, or set embedding.provider "
                f"to {meant}",
            )


def _needed(name: str, value: str | Path | None) -> str | Path:
    if value is None or not str(value).strip():
        raise InvalidInput(f"embedding.{name}", "is needed by this provider: set it")
    return value
