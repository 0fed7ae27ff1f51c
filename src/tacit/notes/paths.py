"""Map notes to safe file paths and back."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import date

from tacit import limits
from tacit.errors import InvalidInput, NoteOutside
from tacit.records.notes import NoteKind, NoteRef

# Which paths a note may have: relative, of few and ordinary names, the same on every system.

_ORDINARY = re.compile(r"[\w=~. -]+", re.ASCII)
_FORBIDDEN = frozenset('\\:<>"|?*')
# Control, invisible and unencodable characters and line breaks: some file systems ignore these, and
# then two names are one.
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
_RESERVED = frozenset(("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))
_DEVICES = _RESERVED | {"conin$", "conout$", "clock$"}


def split_path(path: object) -> tuple[str, ...]:
    """Split a path into its names, from the folder down to the file. Raises `NoteOutside`."""
    if not isinstance(path, str) or not path:
        raise NoteOutside("must be the path of a note in the folder, like 2026-01-31/morning.md")
    if len(path) > limits.NOTE_PATH_MAX_BYTES:
        raise NoteOutside("is too long; use shorter names")
    names = tuple(path.split("/"))
    if len(names) > limits.NOTE_DEPTH_MAX_COUNT:
        raise NoteOutside(f"has more than {limits.NOTE_DEPTH_MAX_COUNT} names; put it higher")
    for name in names:
        wrong = find_name_fault(name)
        if wrong is not None:
            raise NoteOutside(wrong)
    if len(path.encode()) > limits.NOTE_PATH_MAX_BYTES:
        raise NoteOutside("is too long; use shorter names")
    return names


def find_name_fault(name: str) -> str | None:
    """Return why no note may have this name in its path, or None."""
    if not name:
        return "must be relative to the notes folder, with one / between names"
    if name.startswith("."):
        return "a name begins with a dot; use one that does not"
    if name != name.strip() or name.endswith("."):
        return "a name begins or ends with a space, or ends with a dot; leave these out"
    if _ORDINARY.fullmatch(name) is None and any(map(_is_invisible, name)):
        return 'a name holds one of \\ : < > " | ? * or a character that cannot be seen'
    if len(name.encode()) > limits.NOTE_NAME_MAX_BYTES:
        return f"a name is longer than {limits.NOTE_NAME_MAX_BYTES} bytes; use a shorter one"
    if fold_file_name(name).split(".", 1)[0].rstrip() in _DEVICES:
        return "a name is that of a device on some systems; use another"
    return None


def _is_invisible(char: str) -> bool:
    return char in _FORBIDDEN or unicodedata.category(char) in _INVISIBLE_CATEGORIES


def fold_file_name(name: str) -> str:
    """Fold a name: names that some file system treats as equal fold alike."""
    plain = unicodedata.normalize("NFKD", name)
    return unicodedata.normalize("NFKD", plain.casefold())


def is_same_name(name: str, other: str) -> bool:
    """Report whether a file system that normalizes names would return one for the other."""
    return unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", other)


# Names of notes as paths: two different names never share a path, on any file system.

DEFAULT_SPACE = "default"
LONG_TERM_FOLDER = "_longterms"
SPACES_FOLDER = "_spaces"
INDEX_FILE = "_index.md"
PAGE_SUFFIXES = (".md", ".txt")

_ESCAPES = [f"~{byte:02x}" for byte in range(256)]  # by byte
for _char in "abcdefghijklmnopqrstuvwxyz0123456789-.":
    _ESCAPES[ord(_char)] = _char
for _char in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
    _ESCAPES[ord(_char)] = f"={_char.lower()}"
_ESCAPES[ord(":")] = "_"
_ESCAPE = re.compile(rb"~([0-9a-f]{2})|=([a-z])|_")
_ENCODED = re.compile(rb"(?:~[0-9a-f]{2}|=[a-z]|[a-z0-9._-])+")
_SHORTENED = re.compile(r".*~~[0-9a-f]{40}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def encode_name(name: str) -> str:
    """Encode a name as a file or folder name. A long one is cut and gets a hash."""
    whole = "".join(_escape_bytes(name))
    if len(whole) <= limits.NOTE_ENCODED_NAME_MAX_BYTES:
        return whole
    kept, size = [], 0
    for part in _escape_bytes(name):
        size += len(part)
        if size > limits.NOTE_SHORTENED_NAME_BYTES:
            break
        kept.append(part)
    return "".join(kept) + "~~" + hashlib.sha256(name.encode()).hexdigest()[:40]


def decode_name(name: str) -> str | None:
    """Decode a name; None where it was cut, or is no encoding."""
    found = _unescape_name(name)
    return found if found is not None and encode_name(found) == name else None


def is_shortened(name: str) -> bool:
    """Report whether a name was cut: only the frontmatter has the whole one."""
    return _SHORTENED.fullmatch(name) is not None


def note_path(place: NoteRef, space: str = DEFAULT_SPACE) -> str:
    """Return the path of a note, from the root of the notes folder."""
    if place.kind is NoteKind.SESSION:
        if place.day is None or not place.session:
            raise InvalidInput("place", "a session's note has a day and a session")
        path = f"{place.day.isoformat()}/{encode_name(place.session)}.md"
    else:
        if not place.subject:
            raise InvalidInput("place", "this note belongs to a person: name the subject")
        name = INDEX_FILE if place.kind is NoteKind.LONG_TERM else check_page_name(place.name)
        path = f"{LONG_TERM_FOLDER}/{encode_name(place.subject)}/{name}"
    return space_prefix(space) + path


def space_prefix(space: str) -> str:
    """Return the path prefix of a space's files. The name is never cut: only the path tells it."""
    return "" if space == DEFAULT_SPACE else f"{SPACES_FOLDER}/{''.join(_escape_bytes(space))}/"


def parse_note_path(path: str) -> tuple[str, NoteRef] | None:
    """Return the space and the note of a path; None where no note may be.

    Cut parts (subject, session) are None: the frontmatter has them.
    """
    space, parts = DEFAULT_SPACE, path.split("/")
    if parts[0] == SPACES_FOLDER:
        if len(parts) < 4:
            return None
        named = _unescape_name(parts[1])
        if named is None or space_prefix(named) != f"{SPACES_FOLDER}/{parts[1]}/":
            return None
        space, parts = named, parts[2:]
    of_person = parts[0] == LONG_TERM_FOLDER
    place = _parse_subject_path(parts) if of_person else _parse_session_path(parts)
    return None if place is None else (space, place)


def check_page_name(name: object) -> str:
    """Check the name of a page, which is kept as it is where that is safe on every system.

    It may be in one folder beside the index.
    """
    text = name if isinstance(name, str) else ""
    parts = text.split("/")
    if not text.endswith(PAGE_SUFFIXES):
        raise InvalidInput("name", "a page is a .md or .txt file: name it like ideas.md")
    if len(parts) > 2:
        raise InvalidInput("name", "lies too deep: put it into one folder at most")
    if fold_file_name(parts[-1]) == INDEX_FILE:
        raise InvalidInput("name", "is the name of an index: choose another")
    for part in parts:
        wrong = find_name_fault(part)
        if wrong is not None or part != unicodedata.normalize("NFC", part):
            raise InvalidInput("name", wrong or "is not in the usual form of Unicode: use NFC")
    return text


def _parse_subject_path(parts: list[str]) -> NoteRef | None:
    if len(parts) not in (3, 4):
        return None
    subject = decode_name(parts[1])
    if not subject and not is_shortened(parts[1]):
        return None
    if parts[2:] == [INDEX_FILE]:
        return NoteRef(kind=NoteKind.LONG_TERM, subject=subject)
    try:
        return NoteRef(kind=NoteKind.PAGE, subject=subject, name=check_page_name("/".join(parts[2:])))
    except InvalidInput:
        return None


def _parse_session_path(parts: list[str]) -> NoteRef | None:
    if len(parts) != 2 or not _DAY.fullmatch(parts[0]) or not parts[1].endswith(".md"):
        return None
    stem = parts[1].removesuffix(".md")
    session = decode_name(stem)
    if not session and not is_shortened(stem):
        return None
    try:
        day = date.fromisoformat(parts[0])
    except ValueError:
        return None
    return NoteRef(kind=NoteKind.SESSION, day=day, session=session)


def _escape_bytes(name: str) -> list[str]:
    """Encode each byte so that it survives case folding and Unicode normalization."""
    data = name.encode()
    out = [_ESCAPES[byte] for byte in data]
    if data[:1] == b"." or name.split(".", 1)[0].lower() in _RESERVED:
        out[0] = f"~{data[0]:02x}"
    if data[-1:] == b".":
        out[-1] = f"~{data[-1]:02x}"
    return out


def _unescape_name(name: str) -> str | None:
    def unescape(found: re.Match[bytes]) -> bytes:
        code, upper = found.groups()
        return bytes([int(code, 16)]) if code else upper.upper() if upper else b":"

    data = name.encode("utf-8", "replace")
    if _ENCODED.fullmatch(data) is None:
        return None
    try:
        return _ESCAPE.sub(unescape, data).decode()
    except UnicodeDecodeError:
        return None
