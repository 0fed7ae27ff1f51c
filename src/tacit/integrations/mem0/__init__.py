"""mem0's Python interface on Tacit: a script changes only its import."""

from typing import TYPE_CHECKING

from tacit.integrations.mem0.memory import AsyncMemory, Memory
from tacit.integrations.mem0.scope import ValidationError, person

__all__ = ["AsyncMemory", "Memory", "ValidationError", "person"]

_HOSTED = "is for mem0's hosted platform; use {instead} here, which needs no key"
_SECTIONS = "is not needed here; pass a dict to Memory.from_config: {'tacit': {'url': '…'}}"
_LEFT_OUT = {
    "MemoryClient": _HOSTED.format(instead="Memory"),
    "AsyncMemoryClient": _HOSTED.format(instead="AsyncMemory"),
    **dict.fromkeys(("MemoryConfig", "LlmConfig", "EmbedderConfig", "VectorStoreConfig", "RerankerConfig"), _SECTIONS),
}


if not TYPE_CHECKING:  # type checkers must still report unknown names

    def __getattr__(name: str) -> object:
        """Say what to use instead of a name of mem0 that is missing here."""
        if name in _LEFT_OUT:
            raise ImportError(f"{name} {_LEFT_OUT[name]}. See docs/mem0.md", name=__name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
