"""Names of notes as paths: two that differ never share one, on any file system."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import date

from tacit import limits
from tacit.errors import InvalidInput
from tacit.notes.disk import safe_paths
from tacit.records.notes import NoteKind, NoteRef

DEFAULT_SPACE = "default"
LONG_TERMS = "_longterms"
SPACES = "_spaces"
INDEX = "_index.md"
PAGE_SUFFIXES = (".md", ".txt")

_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-.")
_UPPER = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_RESERVED = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)))
)
_ESCAPE = re.compile(rb"~([0-9a-f]{2})|=([a-z])|(_)|([a-z0-9.-])")
_SHORTENED = re.compile(r".*~~[0-9a-f]{40}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def encode(name: str) -> str:
    """One name of a file or folder for one name. A long one is cut and told apart by its hash."""
    whole = "".join(_escaped(name))
    if len(whole) <= limits.NOTE_ENCODED_NAME_MAX_BYTES:
        return whole
    kept, size = [], 0
    for part in _escaped(name):
        size += len(part)
        if size > limits.NOTE_SHORTENED_NAME_BYTES:
            break
        kept.append(part)
    return "".join(kept) + "~~" + hashlib.sha256(name.encode()).hexdigest()[:40]


def decode(name: str) -> str | None:
    """What was encoded; None where it was cut, or where nothing is encoded like this."""
    found = _unescaped(name)
    return found if found is not None and encode(found) == name else None


def is_shortened(name: str) -> bool:
    """Whether it is the name of a longer one, which only the frontmatter knows."""
    return _SHORTENED.fullmatch(name) is not None


def path_of(place: NoteRef, space: str = DEFAULT_SPACE) -> str:
    """Where a note lies, from the root of the notes folder."""
    if place.kind is NoteKind.SESSION:
        if place.day is None or not place.session:
            raise InvalidInput("place", "a session's note has a day and a session")
        path = f"{place.day.isoformat()}/{encode(place.session)}.md"
    else:
        if not place.subject:
            raise InvalidInput("place", "this note belongs to somebody: name the subject")
        name = INDEX if place.kind is NoteKind.LONG_TERM else page_name(place.name)
        path = f"{LONG_TERMS}/{encode(place.subject)}/{name}"
    return path if space == DEFAULT_SPACE else f"{SPACES}/{_space_folder(space)}/{path}"


def place_of(path: str) -> tuple[str, NoteRef] | None:
    """Which note lies there, and in which space; None where no note of ours may lie. What was cut
    short in the path (subject, session) is None in the place: the frontmatter has it."""
    space, parts = DEFAULT_SPACE, path.split("/")
    if parts[0] == SPACES:
        if len(parts) < 4:
            return None
        named = _space_of(parts[1])
        if named is None or named == DEFAULT_SPACE:
            return None
        space, parts = named, parts[2:]
    if parts[0] == LONG_TERMS:
        place = _beside_a_subject(parts)
    else:
        place = _session(parts)
    return None if place is None else (space, place)


def page_name(name: object) -> str:
    """The name of a page is what people see of it: it is kept as it is, where it is safe
    everywhere. It may lie in one folder beside the index."""
    text = name if isinstance(name, str) else ""
    parts = text.split("/")
    if not text.endswith(PAGE_SUFFIXES):
        raise InvalidInput("name", "a page is a .md or .txt file: name it like ideas.md")
    if len(parts) > 2:
        raise InvalidInput("name", "lies too deep: put it into one folder at most")
    if safe_paths.folded(parts[-1]) == INDEX:
        raise InvalidInput("name", "is the name of an index: choose another")
    for part in parts:
        wrong = safe_paths.fault(part)
        if wrong is not None or part != unicodedata.normalize("NFC", part):
            raise InvalidInput("name", wrong or "is not in the usual form of Unicode: use NFC")
    return text


def _beside_a_subject(parts: list[str]) -> NoteRef | None:
    if len(parts) not in (3, 4):
        return None
    subject = decode(parts[1])
    if not subject and not is_shortened(parts[1]):
        return None
    if parts[2:] == [INDEX]:
        return NoteRef(kind=NoteKind.LONG_TERM, subject=subject)
    try:
        return NoteRef(kind=NoteKind.PAGE, subject=subject, name=page_name("/".join(parts[2:])))
    except InvalidInput:
        return None


def _session(parts: list[str]) -> NoteRef | None:
    if len(parts) != 2 or not _DAY.fullmatch(parts[0]) or not parts[1].endswith(".md"):
        return None
    stem = parts[1].removesuffix(".md")
    session = decode(stem)
    if not session and not is_shortened(stem):
        return None
    try:
        day = date.fromisoformat(parts[0])
    except ValueError:
        return None
    return NoteRef(kind=NoteKind.SESSION, day=day, session=session)


def _space_folder(space: str) -> str:
    """Names of spaces are short, and nothing but the path tells them: never cut."""
    return "".join(_escaped(space))


def _space_of(name: str) -> str | None:
    found = _unescaped(name)
    return found if found and _space_folder(found) == name else None


def _escaped(name: str) -> list[str]:
    """Each byte in a form that survives case folding and Unicode normalisation."""
    data = name.encode()
    out = [_letter(byte) for byte in data]
    if data[:1] == b".":
        out[0] = _hex(data[0])
    if data[-1:] == b".":
        out[-1] = _hex(data[-1])
    if name.split(".", 1)[0].lower() in _RESERVED:
        out[0] = _hex(data[0])
    return out


def _letter(byte: int) -> str:
    if byte in _SAFE:
        return chr(byte)
    if byte == ord(":"):
        return "_"
    return f"={chr(byte).lower()}" if byte in _UPPER else _hex(byte)


def _hex(byte: int) -> str:
    return f"~{byte:02x}"


def _unescaped(name: str) -> str | None:
    data, out, at = name.encode("utf-8", "replace"), bytearray(), 0
    while at < len(data):
        found = _ESCAPE.match(data, at)
        if found is None:
            return None
        code, upper, colon, plain = found.groups()
        if code:
            out.append(int(code, 16))
        else:
            out += upper.upper() if upper else b":" if colon else plain
        at = found.end()
    try:
        return out.decode() or None
    except UnicodeDecodeError:
        return None
