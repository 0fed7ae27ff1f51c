"""What time does: the sweep, and the purge."""

from __future__ import annotations

from tacit.facade.opened import Opened
from tacit.lifecycle import clock_guard
from tacit.lifecycle.expiry import build_expire_task
from tacit.lifecycle.purge import build_purge_task
from tacit.lifecycle.tasks import StepProgress, run_task
from tacit.records import validation
from tacit.records.results import Expired, Purged

_WAITS = (
    "the clock leapt since the last sweep, or there was none for long: if it is right now, "
    "say so with purge(confirm_clock=True), or tacit purge --confirm-clock"
)


class MemoryAgeing(Opened):
    def expire(self) -> Expired:
        """Put out of mind what is past its time, unused or more than the settings allow, and let go
        of turns, proposals and notes that were kept for a while; now and here."""
        done = run_task(build_expire_task(self._storage, self._runtime.upkeep), self._space)
        count = done.counts.get
        return Expired(
            expired=count("expired", 0),
            faded=count("faded", 0),
            evicted=count("evicted", 0),
            turns=count("turns", 0),
            proposals=count("proposals", 0),
            cleared=count("stale", 0) + count("changes", 0),
            waits=_waits(done),
        )

    def purge(self, confirm_clock: bool = False) -> Purged:
        """Remove for good what was forgotten, or expired, long enough ago. Where the clock leapt
        this waits, unless you vouch for it: what it says now is right."""
        if validation.parse_bool("confirm_clock", confirm_clock):
            self._storage.write_as(self._space, "system", clock_guard.accept_clock)
        done = run_task(build_purge_task(self._storage, self._runtime.upkeep), self._space)
        return Purged(
            count=done.counts.get("purged", 0),
            postponed=done.counts.get("postponed", 0),
            waits=_waits(done),
        )


def _waits(done: StepProgress) -> str | None:
    return _WAITS if clock_guard.WAITS_FOR_CLOCK in done.counts else None
