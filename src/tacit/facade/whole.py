"""Acts on a whole space: forget, count, maintain, make vectors."""

from __future__ import annotations

from collections.abc import Callable

from tacit.facade.opened import Opened
from tacit.identity import external_keys
from tacit.lifecycle import forget as forgetting
from tacit.lifecycle.backup import maintain_database
from tacit.records.results import EmbeddingStatus, Maintained, Stats
from tacit.storage import auth, search, spaces
from tacit.storage.memories import Transaction


class MemoryWhole(Opened):
    def forget_subject(self, subject: str) -> int:
        """Forget everything that belongs to a person; restorable for 30 days. Wherever they are
        signed in, they are signed out."""
        who = external_keys.parse_subject(subject)

        def work(w: Transaction) -> int:
            now = spaces.load_identities(w.connection, w.space, [who]).current_identities(who)
            auth.end_web_sessions(w.connection, w.space, now)
            return forgetting.forget_owned(w, now, self._options.restorable_days)

        return self._storage.write_as(self._space, "system", work)

    def stats(self) -> Stats:
        """Counts of the whole space, for its operator."""
        with self._storage.database.read() as connection:
            return search.read_space_stats(connection, self._space, self._storage.clock())

    def maintain(self, *, rewrite: bool = False) -> Maintained:
        """Check, analyse and compact the database. `rewrite` writes every table of a PostgreSQL
        anew (VACUUM FULL), so that no page holds what was erased; others wait meanwhile."""
        self._storage.accesses.flush()
        return maintain_database(self._storage.database, rewrite=rewrite)

    def embedding(self) -> EmbeddingStatus:
        """Which model makes the vectors, and how far it has come."""
        return self._runtime.embedding(self._space)

    def reembed(self, progress: Callable[[int], None] = lambda _: None) -> int:
        """Make every vector that is missing, now; otherwise it happens in the background. Says how
        many were made, and `progress` hears of it on the way."""
        return self._runtime.reembed(progress)
