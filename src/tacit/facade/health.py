"""Whether a space is in order, and putting it in order."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.errors import StoreError
from tacit.facade.opened import Opened
from tacit.lifecycle.doctor.check import DoctorContext
from tacit.lifecycle.doctor.examination import examine_space
from tacit.records import validation
from tacit.records.results import Diagnosis, Finding
from tacit.storage import spaces


class MemoryHealth(Opened):
    def answers(self) -> bool:
        """Whether the database can be read from, now: for whoever decides where to ask."""
        try:
            with self._storage.database.read() as connection:
                spaces.identity_revision(connection, self._space)
        except StoreError:
            return False
        return True

    def doctor(self, *, repair: bool = False, checks: Sequence[str] | None = None) -> Diagnosis:
        """Look through this space for what is wrong with it. Nothing is changed unless `repair`;
        then each change stands in the history of its memory. An operator's act: it tells how much
        of what is wrong, and nothing that people said."""
        mind = self._runtime
        sure = validation.parse_bool("repair", repair)
        named, of_notes = self._split_checks(checks)
        patient = DoctorContext(
            store=self._storage,
            space=self._space,
            model=mind.embedder.name if mind.embedder is not None else None,
            embed=(lambda: mind.reembed(lambda _: None)) if mind.embedder is not None else None,
            wake=mind.wake_learners,
        )
        found = examine_space(patient, repair=sure, names=named)
        return Diagnosis(findings=(*found.findings, *self._examine_notes(of_notes, repair=sure)))

    def _split_checks(
        self, checks: Sequence[str] | None
    ) -> tuple[Sequence[str] | None, frozenset[str]]:
        """Those of the store, and those of notes, which come after it."""
        if self._runtime.mirroring is None:
            return checks, frozenset()
        from tacit.notes.mirror import NOTES_CHECK_NAMES

        if checks is None:
            return None, frozenset(NOTES_CHECK_NAMES)
        if not isinstance(checks, list | tuple | set | frozenset):
            return checks, frozenset()
        return [one for one in checks if one not in NOTES_CHECK_NAMES], frozenset(
            NOTES_CHECK_NAMES
        ) & {*checks}

    def _examine_notes(self, names: frozenset[str], *, repair: bool) -> tuple[Finding, ...]:
        if self._runtime.mirroring is None or not names:
            return ()
        from tacit.notes.mirror import check_notes

        return check_notes(self._runtime.mirroring.mirror, self._space, names, repair=repair)
