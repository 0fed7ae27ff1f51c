"""Which paths a note may have: relative, of few and ordinary names, the same everywhere."""

from __future__ import annotations

import re
import unicodedata

from tacit import limits
from tacit.errors import NoteOutside

_ORDINARY = re.compile(r"[\w=~. -]+", re.ASCII)
_FORBIDDEN = frozenset('\\:<>"|?*')
# Controls, what cannot be seen or encoded, and what breaks lines: some file systems ignore these,
# and then two names are one.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)}
)


def parts(path: object) -> tuple[str, ...]:
    """The names of a path, from the folder down to the file. Raises `NoteOutside`."""
    if not isinstance(path, str) or not path:
        raise NoteOutside("must be the path of a note in the folder, like 2026-01-31/morning.md")
    if len(path) > limits.NOTE_PATH_MAX_BYTES:
        raise NoteOutside("is too long; use shorter names")
    names = tuple(path.split("/"))
    if len(names) > limits.NOTE_DEPTH_MAX_COUNT:
        raise NoteOutside(f"has more than {limits.NOTE_DEPTH_MAX_COUNT} names; put it higher")
    for name in names:
        wrong = fault(name)
        if wrong is not None:
            raise NoteOutside(wrong)
    if len(path.encode()) > limits.NOTE_PATH_MAX_BYTES:
        raise NoteOutside("is too long; use shorter names")
    return names


def fault(name: str) -> str | None:
    """Why no note may have this name in its path, or None."""
    if not name:
        return "must be relative to the folder of notes, with one / between names"
    if name.startswith("."):
        return "a name begins with a dot; use one that does not"
    if name != name.strip() or name.endswith("."):
        return "a name begins or ends with a space, or ends with a dot; leave these out"
    if _ORDINARY.fullmatch(name) is None and any(map(_is_odd, name)):
        return 'a name holds one of \\ : < > " | ? * or a character that cannot be seen'
    if len(name.encode()) > limits.NOTE_NAME_MAX_BYTES:
        return f"a name is longer than {limits.NOTE_NAME_MAX_BYTES} bytes; use a shorter one"
    if folded(name).split(".", 1)[0].rstrip() in _DEVICES:
        return "a name is that of a device on some systems; use another"
    return None


def _is_odd(char: str) -> bool:
    return char in _FORBIDDEN or unicodedata.category(char) in _UNSEEN


def folded(name: str) -> str:
    """Names that some file system takes for one are alike in this."""
    plain = unicodedata.normalize("NFKD", name)
    return unicodedata.normalize("NFKD", plain.casefold())


def same(name: str, other: str) -> bool:
    """Whether a file system that writes names in its own way would give one back for the other."""
    return unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", other)
