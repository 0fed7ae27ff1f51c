"""Gauges that several open memories of one process share."""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock

from tacit.errors import TacitError
from tacit.telemetry.measures import Measure
from tacit.telemetry.port import Read, Stop

Words = tuple[str, ...]  # in the order of the measure's labels


class Watches:
    def __init__(self) -> None:
        self._lock = Lock()
        self._reads: list[tuple[Measure, Hashable, Read]] = []

    def add(self, what: Measure, whose: Hashable, read: Read) -> Stop:
        one = (what, whose, read)
        with self._lock:
            self._reads.append(one)

        def stop() -> None:
            with self._lock:
                self._reads[:] = [other for other in self._reads if other is not one]

        return stop

    def values(self, what: Measure) -> dict[Words, float]:
        """Those of different databases add up; one that does not answer tells nothing."""
        with self._lock:
            reads = {whose: read for measure, whose, read in self._reads if measure is what}
        found: dict[Words, float] = {}
        for read in reads.values():
            try:
                values = list(read())
            except TacitError:
                continue
            for words, value in values:
                key = tuple(what.check_labels(words).values())
                found[key] = found.get(key, 0.0) + value
        return found
