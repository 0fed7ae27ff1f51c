"""Acts on a whole space: erase, forget, count, maintain, make vectors."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from tacit.facade.opened import Opened
from tacit.identity import keys
from tacit.lifecycle import erase as erasing
from tacit.lifecycle import forget as forgetting
from tacit.lifecycle.maintain import maintain
from tacit.model.results import Embedding, Erased, Maintained, Stats
from tacit.store import counts, identities, spaces
from tacit.store.writes import Writing


class MemoryWhole(Opened):
    def erase_subject(self, subject: str) -> Erased:
        """Everything that belongs to a person, under the identities they have now."""
        who = keys.subject(subject)

        def work(w: Writing) -> int:
            now = identities.around(w.connection, w.space, [who]).now(who)
            count = erasing.erase_person(w, now)
            spaces.touch(w.connection, w.space)
            return count

        count = self._store.change(self._space, "system", work)
        return Erased(count=count, complete=erasing.scrub(self._store.database))

    def forget_subject(self, subject: str) -> int:
        """Forget everything that belongs to a person; restorable for 30 days."""
        who = keys.subject(subject)

        def work(w: Writing) -> int:
            now = identities.around(w.connection, w.space, [who]).now(who)
            return forgetting.forget_owned(w, now)

        return self._store.act(self._space, "system", work)

    def erase_space(self) -> Erased:
        """The whole space, for good."""

        def work(connection: Connection) -> int:
            self._store.database.dialect.lock_space(connection, self._space)
            return erasing.erase_space(connection, self._store.database, self._space)

        count = self._store.database.write(work)
        return Erased(count=count, complete=erasing.scrub(self._store.database))

    def stats(self) -> Stats:
        """Counts of the whole space, for its operator."""
        with self._store.database.read() as connection:
            return counts.of_space(connection, self._space, self._store.clock())

    def maintain(self) -> Maintained:
        """Check, analyse and compact the database."""
        self._store.accesses.flush()
        return maintain(self._store.database)

    def embedding(self) -> Embedding:
        """Which model makes the vectors, and how far it has come."""
        return self._mind.embedding(self._space)

    def reembed(self, progress: Callable[[int], None] = lambda _: None) -> int:
        """Make every vector that is missing, now; otherwise it happens in the background. Says how
        many were made, and `progress` hears of it on the way."""
        return self._mind.reembed(progress)
