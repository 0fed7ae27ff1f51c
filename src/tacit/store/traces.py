"""Whether a database was written to, told by its files: where nothing happens, to ask the database
itself twice a second is work too."""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import Engine

# The time of a file moves by ticks of the system: two writes in one tick look like one.
_TICK_NS = 100_000_000
_Stamp = tuple[tuple[int, int], ...]


class Traces:
    """What nobody wrote to since it was looked at, by any process, need not be looked at again."""

    def __init__(self, engine: Engine) -> None:
        url = engine.url
        path = url.database if url.get_backend_name() == "sqlite" else None
        self._paths = (Path(path), Path(f"{path}-wal")) if path and path != ":memory:" else ()
        self._looked_at: _Stamp = ()
        self._now: _Stamp = ()

    def is_unchanged(self) -> bool:
        """Whether nothing was written since the last look that `looked` told of. A database that is
        no file never says so."""
        self._now = tuple(map(_stamp, self._paths))
        return bool(self._now) and self._now == self._looked_at

    def mark_seen(self) -> None:
        """Everything that was there when `none_since` was asked has been seen."""
        still = time.time_ns() - _TICK_NS
        settled = all(modified < still for modified, _ in self._now)
        self._looked_at = self._now if settled else ()

    def reset(self) -> None:
        """The next look is no look in vain."""
        self._looked_at = ()


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
