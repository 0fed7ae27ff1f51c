"""What all of an operator's words stand on: acts under their name, and looks that are noted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from tacit import limits
from tacit.errors import StoreBusy
from tacit.storage import access_log, search
from tacit.storage.access_log import LoggedMemory
from tacit.storage.memories import Transaction
from tacit.storage.store import Store
from tacit.views.access import Policy
from tacit.views.mind import Mind

T = TypeVar("T")


@dataclass(frozen=True)
class OperatorAccess:
    _runtime: Mind
    _space: str
    _actor: str
    _options: Policy

    @property
    def _storage(self) -> Store:
        return self._runtime.storage

    def _write(self, work: Callable[[Transaction], T]) -> T:
        return self._storage.write_as(self._space, self._actor, work)

    def _read_logged(
        self,
        word: str,
        work: Callable[[Transaction], tuple[T, Iterable[LoggedMemory]]],
        concerned: Callable[[Transaction, T], Iterable[str]] = lambda *_: (),
    ) -> T:
        """What `work` found, noted in its own transaction with those whose memories it showed,
        which it names beside it, and who else is concerned: what cannot be noted is not shown."""

        def noted(w: Transaction) -> T:
            found, shown = work(w)
            access_log.insert_access_log_entry(w, self._actor, word, shown, concerned(w, found))
            return found

        for _ in range(limits.INDEX_CATCH_UPS_MAX_COUNT):
            try:
                return self._write(noted)
            except search.IndexStale:
                search.update_fts_index(self._storage.database)
        raise StoreBusy("others write faster than their words are indexed; try again")
