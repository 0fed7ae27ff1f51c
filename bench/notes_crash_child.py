"""The process that `bench/notes_crash.py` kills: it writes notes until then."""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from pathlib import Path

from tacit.notes.folder import NotesFolder

FOLDERS, FILES = 4, 5
_BODY_MAX_BYTES = 200_000


def content(path: str, version: int, chance: random.Random) -> bytes:
    """Says of itself what it is, and whether all of it is there."""
    body = chance.randbytes(chance.randint(0, _BODY_MAX_BYTES)).hex().encode()
    head = f"{path.rpartition('/')[2]} {version}\n".encode()
    return head + body + b"\n" + hashlib.sha256(head + body).hexdigest().encode() + b"\n"


def version_of(path: str, data: bytes) -> int | None:
    """None where it is not whole, or another file."""
    rest, _, seal = data.removesuffix(b"\n").rpartition(b"\n")
    head, _, body = rest.partition(b"\n")
    if hashlib.sha256(head + b"\n" + body).hexdigest().encode() != seal:
        return None
    name, _, number = head.decode().partition(" ")
    return int(number) if name == path.rpartition("/")[2] else None


def main() -> None:
    """Writes until it is killed. Says what it is about to do, and what it has done."""
    root, who, first, seed = sys.argv[1:]
    chance, version = random.Random(int(seed)), int(first)
    with NotesFolder(Path(root)) as folder:
        _say(ready=True)
        while True:
            version += 1
            path = f"{who}-{chance.randrange(FOLDERS)}/{chance.randrange(FILES)}.md"
            if chance.random() < 0.15:
                _say(path=path, intent=None)
                folder.remove(path)
                _say(path=path, done=None)
                continue
            data = content(path, version, chance)
            _say(path=path, intent=version)
            folder.write(path, data, expected=folder.read(path))
            _say(path=path, done=version)


def _say(**what: object) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")
