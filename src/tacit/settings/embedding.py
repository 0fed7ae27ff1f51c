"""Which keys of `embedding` go together. Each alone may be right, and the whole mean nothing."""

from __future__ import annotations

from tacit.errors import InvalidInput
from tacit.settings.keys import variable
from tacit.settings.records import EmbeddingSettings

# Per provider, the keys it needs and those it has a use for. `none` may have all of them, so that
# switching off is one change; `threads` says nothing about which provider was meant.
_NEEDED = {"folder": ("folder",), "endpoint": ("url", "model")}
_USED = {
    "auto": (),
    "local": (),
    "folder": ("folder",),
    "endpoint": ("url", "model", "api_key", "dimension"),
    "none": ("folder", "url", "model", "api_key", "dimension"),
}
_LIKE = {
    "folder": "the path of a folder with an ONNX model and its tokenizer.json",
    "url": "the endpoint's address, as in https://host/v1",
    "model": "the endpoint's name of the model",
}


def embedding_mistake(embedding: EmbeddingSettings) -> InvalidInput | None:
    """The first key that is missing or means nothing, with the fix; None if they go together."""
    provider = embedding.provider
    for name in _NEEDED.get(provider, ()):
        if not getattr(embedding, name):
            key = f"embedding.{name}"
            return InvalidInput(
                key,
                f"is empty, but embedding.provider is {provider}; set {key} or {variable(key)} "
                f"to {_LIKE[name]}",
            )
    for name in _USED["none"]:
        if getattr(embedding, name) and name not in _USED[provider]:
            meant = "folder" if name == "folder" else "endpoint"
            return InvalidInput(
                f"embedding.{name}",
                f"is set, but embedding.provider is {provider}, which does not use it; remove it, "
                f"or set embedding.provider to {meant}",
            )
    return None
