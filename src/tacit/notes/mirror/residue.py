"""What is left of erased memories in a file that nobody can read as a note."""

from __future__ import annotations

import re

from tacit.storage import notes
from tacit.storage.memories import Transaction

_NAMED = re.compile(rb"<!--[ \t]{0,8}([A-Za-z0-9]{8})(?:[ \t]{1,8}conflict)?[ \t]{0,8}-->")
_INDENTED = (b" ", b"\t")


def without_erased(w: Transaction, data: bytes) -> bytes:
    """The same bytes without the bullets of what was erased, each with the lines that are indented
    below it. Everything else stays as it is, since nobody knows what it is."""
    kept: list[bytes] = []
    dropping = False
    for line in data.splitlines(keepends=True):
        named = [match.decode() for match in _NAMED.findall(line)]
        if any(notes.is_tombstoned(w, id) for id in named):
            dropping = True
        elif not (dropping and line.startswith(_INDENTED) and line.strip()):
            dropping = False
            kept.append(line)
    return b"".join(kept)
