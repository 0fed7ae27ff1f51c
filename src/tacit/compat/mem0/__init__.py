"""mem0's Python interface, on Tacit: a script has to change its import and nothing else."""

from tacit.compat.mem0.awaited import AsyncMemory
from tacit.compat.mem0.exceptions import ValidationError
from tacit.compat.mem0.memory import Memory
from tacit.compat.mem0.scope import person

__all__ = ["AsyncMemory", "Memory", "ValidationError", "person"]
