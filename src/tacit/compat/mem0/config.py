"""mem0's configuration: what of it counts here, and a word about the rest.

Models, indexes and their places are Tacit's settings. What is read from mem0's sections is the
name of its collection, because people rely on two collections not knowing of each other.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.errors import InvalidInput
from tacit.records import validation

SPACE = "mem0"  # also what mem0 calls its collection, where nobody names another
_OURS = ("url", "space")
_SETTLED = frozenset({"tacit", "version"})  # every answer has the shape of v1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where memories are kept; None: as `tacit.open` decides."""

    url: str | None = None
    space: str = SPACE


def place_of(config: object, space: str | None = None) -> Place:
    """`space` is one that the caller names beside the configuration."""
    sections = _sections(config)
    ours = sections.get("tacit") or {}
    if not isinstance(ours, Mapping) or not set(ours) <= set(_OURS):
        raise InvalidInput("config", f"its part tacit takes {' and '.join(_OURS)}")
    url = ours.get("url")
    if url is not None and not isinstance(url, str):
        raise InvalidInput("config", "its tacit.url is text, such as sqlite:///memory.db")
    left = sorted(name for name in sections if name not in _SETTLED)
    if left:
        warnings.warn(
            f"Tacit's own settings decide about {', '.join(left)}; nothing of it is used"
            f"{' but the name of the collection' if 'vector_store' in left else ''}. "
            "docs/settings.md says what can be set",
            stacklevel=_calls(),
        )
    return Place(
        url=url, space=validation.parse_space(space or ours.get("space") or _space(sections))
    )


def _calls() -> int:
    """How far it is from a warning to whoever made the memory, in one way or another."""
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("tacit.compat"):
        frame, count = frame.f_back, count + 1
    return count


def _sections(config: object) -> Mapping[str, Any]:
    if config is None:
        return {}
    if isinstance(config, Mapping):
        return config
    dump = getattr(config, "model_dump", None)  # mem0's own MemoryConfig
    if callable(dump):
        found = dump(exclude_unset=True)
        if isinstance(found, Mapping):
            return found
    raise InvalidInput("config", f"expected a dict of sections, got {type(config).__name__}")


def _space(sections: Mapping[str, Any]) -> str:
    store = sections.get("vector_store")
    inside = store.get("config") if isinstance(store, Mapping) else None
    name = inside.get("collection_name") if isinstance(inside, Mapping) else None
    if name is None or name == SPACE:
        return SPACE
    try:
        return validation.parse_space(f"{SPACE}-{name}")
    except InvalidInput:
        raise InvalidInput(
            "collection_name",
            "makes no name for a space; name one: {'tacit': {'space': 'my-app'}}",
        ) from None
