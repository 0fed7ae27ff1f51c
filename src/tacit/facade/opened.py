"""What every part of an open memory works with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tacit.records import validation
from tacit.storage.memories import Transaction
from tacit.views.access import Policy
from tacit.views.mind import Mind

T = TypeVar("T")


class Opened:
    """One space of an open database."""

    def __init__(
        self, mind: Mind, policy: Policy, *, space: str = "default", enabled: bool = True
    ) -> None:
        self._runtime = mind
        self._storage = mind.storage
        self._options = policy
        self._space = validation.parse_space(space)
        self._enabled = enabled

    def _write_identities(self, work: Callable[[Transaction], T]) -> T:
        """A change of people, links or chats."""
        return self._storage.change_identities(self._space, "system", work)
