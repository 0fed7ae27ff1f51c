"""mem0's Python interface on Tacit: a script changes its import and nothing else."""

from typing import TYPE_CHECKING

from tacit.integrations.mem0.memory import AsyncMemory, Memory
from tacit.integrations.mem0.scope import ValidationError, person

__all__ = ["AsyncMemory", "Memory", "ValidationError", "person"]

_HOSTED = "is for mem0's hosted platform; use {instead} here: it opens a memory, and needs no key"
_SECTIONS = "is not needed here; hand a dict to Memory.from_config: {'tacit': {'url': '…'}}"
_LEFT_OUT = {
    "MemoryClient": _HOSTED.format(instead="Memory"),
    "AsyncMemoryClient": _HOSTED.format(instead="AsyncMemory"),
    **dict.fromkeys(
        ("MemoryConfig", "LlmConfig", "EmbedderConfig", "VectorStoreConfig", "RerankerConfig"),
        _SECTIONS,
    ),
}


if not TYPE_CHECKING:  # a name that is not here stays a mistake to whoever checks types

    def __getattr__(name: str) -> object:
        """What mem0 has and this has not: `from … import` tells what to use instead."""
        if name in _LEFT_OUT:
            raise ImportError(f"{name} {_LEFT_OUT[name]}. docs/mem0.md says more", name=__name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
