"""Files of JSON lines, from a path or from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tacit import limits
from tacit.errors import InvalidInput

STDIN = "-"
_BOM = b"\xef\xbb\xbf"


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    if name == STDIN:
        if sys.stdin is None:
            raise InvalidInput("file", "there is no standard input to read")
        yield sys.stdin.buffer
        return
    if "\0" in name:
        raise InvalidInput("file", "is no file name")
    with Path(name).open("rb") as file:
        yield file


def lines(source: BinaryIO) -> Iterator[str]:
    """Line by line, never more of one than is allowed. What is not UTF-8 is refused as text."""
    most = limits.IMPORT_LINE_MAX_BYTES + 1
    first = True
    while raw := source.readline(most + 1):
        rest = raw
        while len(rest) > most and not rest.endswith(b"\n"):
            rest = source.readline(most + 1)
        yield (raw.removeprefix(_BOM) if first else raw).decode("utf-8", "surrogateescape")
        first = False
