"""Backups of a memory that is in use."""

from __future__ import annotations

from pathlib import Path

from tacit.facade.opened import Opened
from tacit.lifecycle.backup import create_backup
from tacit.records import validation
from tacit.records.results import Backup


class MemorySaving(Opened):
    def backup(self, path: str | Path, *, overwrite: bool = False) -> Backup:
        """A copy of a SQLite database, made while others read and write, and checked. What is in
        use as a backup already is left alone unless told otherwise. `tacit restore --from` puts it
        in place of a database, and erases again what was erased since."""
        again = validation.parse_bool("overwrite", overwrite)
        self._storage.accesses.flush()
        return create_backup(self._storage.database, path, overwrite=again)
