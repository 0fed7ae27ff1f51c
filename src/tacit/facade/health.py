"""Whether a space is in order, and putting it in order."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.facade.opened import Opened
from tacit.lifecycle.doctor.check import Patient
from tacit.lifecycle.doctor.examine import examine
from tacit.model import text
from tacit.model.upkeep import Diagnosis


class MemoryHealth(Opened):
    def doctor(self, *, repair: bool = False, checks: Sequence[str] | None = None) -> Diagnosis:
        """Look through this space for what is wrong with it. Nothing is changed unless `repair`;
        then each change stands in the history of its memory. An operator's act: it tells how much
        of what is wrong, and nothing that people said."""
        mind = self._mind
        sure = text.flag("repair", repair)
        patient = Patient(
            store=self._store,
            space=self._space,
            model=mind.embedder.name if mind.embedder is not None else None,
            embed=(lambda: mind.reembed(lambda _: None)) if mind.embedder is not None else None,
            wake=mind.accepted,
        )
        return examine(patient, repair=sure, names=checks)
