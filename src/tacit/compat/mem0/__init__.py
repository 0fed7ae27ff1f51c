"""mem0's Python interface, on Tacit: a script has to change its import and nothing else."""

from typing import TYPE_CHECKING

from tacit.compat.mem0.awaited import AsyncMemory
from tacit.compat.mem0.exceptions import ValidationError
from tacit.compat.mem0.memory import Memory
from tacit.compat.mem0.scope import person

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
