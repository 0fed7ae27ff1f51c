"""What was seen of the files of notes, as plain records."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from typing import Final, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Tells a file from what it was before, mostly: two edits within one tick of the file system's
    clock, of one size, look alike."""

    mtime_ns: int
    size: int
    inode: int

    @classmethod
    def from_stat(cls, what: os.stat_result) -> Self:
        return cls(mtime_ns=what.st_mtime_ns, size=what.st_size, inode=what.st_ino)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    data: bytes
    stamp: Stamp


class Whatever(Enum):
    """Says that a caller does not mind what is there."""

    ANY = "any"


ANY: Final = Whatever.ANY
Expected = Stamp | Read | Whatever | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What lies in the folder: paths with `/`, relative to it. Names with a leading dot are not
    looked at (ours, `.git`, `.obsidian`)."""

    files: dict[str, Stamp]
    refused: dict[str, str]  # link | hard_link | special | closed | name | deep: never read
    folders: tuple[str, ...]  # the root is ""
