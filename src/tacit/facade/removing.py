"""Erasing as an operator: a person, everything about a person, a space; and doing it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from tacit.errors import InvalidInput
from tacit.facade.opened import Opened
from tacit.identity import external_keys
from tacit.lifecycle import erasure, erasure_records, erasure_replay
from tacit.lifecycle.erasure_records import RecordedErasure
from tacit.records.results import Certificate, Erased
from tacit.storage import spaces
from tacit.storage.memories import Transaction


class MemoryRemoving(Opened):
    def erase_subject(self, subject: str) -> Erased:
        """Everything that belongs to a person, under the identities they have now: what they said,
        the names they go by, and where they were."""
        return self._erase_people(external_keys.parse_subject(subject), erasure.erase_person)

    def erase_about(self, person: str) -> Erased:
        """Everything that is about a person, whoever owns it. An operator's act: a person erases
        what they may hear about themselves, and is not told of anything else."""
        who = external_keys.parse_identity(person, "person")
        if who is None:
            raise InvalidInput("person", "is a name; use a key such as telegram:123 or person:…")
        return self._erase_people(who, erasure.erase_subject)

    def erase_space(self) -> Erased:
        """The whole space, for good."""
        store, space = self._storage, self._space
        done = store.database.write(lambda c: erasure.erase_space(c, store, space))
        store.events.discard(space)
        store.api_keys.clear()
        mirrored = self._runtime.mirroring is None or self._runtime.mirroring.mirror.remove_space(
            space
        )
        if done is None:
            return Erased(count=0, complete=erasure.scrub_files(store.database) and mirrored)
        return erasure.finish_erasure(store, done, mirrored=mirrored)

    def replay_erasures(self, lines: Iterable[str] | Path | str) -> Erased:
        """Do again, in all spaces of a restored database, what a journal of erasures tells: its
        lines, or where it is. What was done here before is left alone; a line that is not as it
        was signed is refused, and nothing is done."""
        if not isinstance(lines, str | Path):
            return erasure_replay.replay_lines(self._storage, lines)
        try:
            return erasure_replay.replay_lines(
                self._storage, erasure_records.read_journal_lines(Path(lines))
            )
        except (OSError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("lines", "that file cannot be read; name a journal") from None

    def verify_certificate(self, text: str) -> bool:
        """Whether this space, or one that was erased from this database, issued it as it is."""
        with self._storage.database.read() as connection:
            return erasure_records.verify_certificate(connection, self._space, text)

    def renew_certificate(self, text: str) -> Certificate:
        """The same certificate, with what is pending now; one that is not genuine is refused."""
        store = self._storage
        with store.database.read() as connection:
            issued, mirrored = erasure_records.find_certified_erasure(connection, self._space, text)
        done = erasure.finish_erasure(store, issued, again=True, mirrored=mirrored)
        assert done.certificate is not None
        return done.certificate

    def _erase_people(
        self, who: str, how: Callable[[Transaction, frozenset[str]], RecordedErasure]
    ) -> Erased:
        named: list[frozenset[str]] = []

        def work(w: Transaction) -> RecordedErasure:
            now = spaces.load_identities(w.connection, w.space, [who]).current_identities(who)
            named[:] = [now]
            return how(w, now)

        done = self._storage.change_identities(self._space, "system", work)
        self._storage.api_keys.clear()  # those that acted for them are gone too
        if how is erasure.erase_person:
            self._storage.events.discard(self._space, (), owners=named[0])
        return erasure.finish_erasure(self._storage, done)
