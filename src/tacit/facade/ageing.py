"""What time does: the sweep, and the purge."""

from __future__ import annotations

from tacit.facade.opened import Opened
from tacit.lifecycle import leap
from tacit.lifecycle.expire import sweeping
from tacit.lifecycle.progress import Progress, run
from tacit.lifecycle.purge import purging
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
        done = run(sweeping(self._storage, self._runtime.upkeep), self._space)
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
            self._storage.write_as(self._space, "system", leap.vouch)
        done = run(purging(self._storage, self._runtime.upkeep), self._space)
        return Purged(
            count=done.counts.get("purged", 0),
            postponed=done.counts.get("postponed", 0),
            waits=_waits(done),
        )


def _waits(done: Progress) -> str | None:
    return _WAITS if leap.WAITS in done.counts else None
