"""One YAML file and the environment, as one frozen record. Only the composition root reads it.

Each key is declared once, as a field below: its place gives its dotted name and its variable
(`db.sqlite.wal` is `TACIT_DB_SQLITE_WAL`). docs/settings.md says what every key means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast
from urllib.parse import unquote

from tacit import limits
from tacit.errors import InvalidInput, SettingsError
from tacit.identity.keys import external_key
from tacit.model import text

if TYPE_CHECKING:
    from yaml import Node

FILE_NAME = "tacit.yaml"
FILE_VARIABLE = "TACIT_CONFIG"
FOLDER_NAME = ".tacit"  # in the home folder
DATABASE_NAME = "tacit.sqlite"

FILE_MAX_BYTES = 1_000_000
DSN_MAX_CHARS = 4_096
CONNECTIONS_MAX_COUNT = 1_000
TTL_MAX_DAYS = 36_500
BUSY_TIMEOUT_MAX_MS = int(limits.WRITE_WAIT_MAX_SECONDS * 1_000)

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_WHOLE = re.compile(r"[0-9]{1,12}")
_DURATION = re.compile(r"(?=.)(?:([0-9]{1,5})h)?(?:([0-9]{1,5})m)?(?:([0-9]{1,5})s)?")
_CATEGORY = re.compile(r"[a-z][a-z0-9_-]*")
# What was written is repeated in a message only if it can be a word: never a URL with a password.
_WORD = re.compile(r"[\w.<-]{1,60}")
_QUOTED_WORD = re.compile(r" '[^'<\\]{2,}'")
_NULL = "tag:yaml.org,2002:null"
_PLAIN = {_NULL} | {f"tag:yaml.org,2002:{t}" for t in ("str", "int", "float", "bool", "timestamp")}
_URL = re.compile(r"[A-Za-z0-9+.-]+:/")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_DRIVER_OF_SCHEME = {
    "sqlite": "sqlite",
    "file": "sqlite",
    "postgresql": "postgres",
    "postgresql+psycopg": "postgres",
    "postgres": "postgres",
}
_SQLITE_PATH = re.compile(r"(?:sqlite:///|file://(?=/)|file:(?!//))([^?#]+)", re.IGNORECASE)
_LIBPQ_WORDS = re.compile(r"(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service)\s*=")
_SQLITE_FORMS = "a plain path, sqlite:///relative, sqlite:////absolute or file:path"
_POSTGRES_FORM = "postgresql://user@host/name"

# A value arrives as the text that was written, from the file and the environment alike. So
# `space: no` is the space "no", and a parser is needed once. It raises InvalidInput.
Parse = Callable[[str, str], object]


def _one_of(*words: str) -> Parse:
    def parse(key: str, value: str) -> str:
        if value not in words:
            raise InvalidInput(key, f"{_shown(value)} is not one of {', '.join(words)}")
        return value

    return parse


def _whole(low: int, high: int) -> Parse:
    def parse(key: str, value: str) -> int:
        if not _WHOLE.fullmatch(value) or not low <= int(value) <= high:
            raise InvalidInput(key, f"must be a whole number from {low} to {high}, in digits")
        return int(value)

    return parse


def _flag(key: str, value: str) -> bool:
    if value.lower() not in _TRUE | _FALSE:
        raise InvalidInput(key, f"{_shown(value)} is neither true nor false")
    return value.lower() in _TRUE


def _foreign_keys(key: str, value: str) -> bool:
    if not _flag(key, value):
        raise InvalidInput(
            key, "must stay true: the schema relies on foreign keys; remove this key"
        )
    return True


def _duration(key: str, value: str) -> timedelta:
    match = _DURATION.fullmatch(value)
    if match is None:
        raise InvalidInput(key, "is not a duration; write for example 0s, 30m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _category(key: str, value: str) -> str:
    name = text.identifier(key, value, limits.CATEGORY_MAX_CHARS)
    if not _CATEGORY.fullmatch(name):
        raise InvalidInput(key, "a category is lower-case letters, digits, - and _; rename it")
    return name


def _key(default: Any, parse: Parse, *, secret: bool = False) -> Any:
    return field(default=default, repr=not secret, metadata={"parse": parse})


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """Connections to the database, per process."""

    # At most this many are open at once.
    max_open_conns: int = _key(limits.POOL_MAX_CONNECTIONS, _whole(1, CONNECTIONS_MAX_COUNT))
    # PostgreSQL: this many stay open between requests. Never more than max_open_conns.
    max_idle_conns: int = _key(limits.POOL_MAX_CONNECTIONS, _whole(1, CONNECTIONS_MAX_COUNT))
    # PostgreSQL: a connection older than this is replaced. Zero: never.
    conn_max_lifetime: timedelta = _key(timedelta(0), _duration)  # noqa: RUF009 (a field)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSettings:
    # How long the file's lock is waited for at a stretch.
    busy_timeout_ms: int = _key(limits.SQLITE_BUSY_TIMEOUT_MS, _whole(0, BUSY_TIMEOUT_MAX_MS))
    # Write-ahead log: readers and the writer do not wait for each other.
    wal: bool = _key(True, _flag)
    # Always true; the key exists so that a file that says so is understood.
    foreign_keys: Literal[True] = _key(True, _foreign_keys)
    # What a power cut may cost; docs/settings.md has the promise of each level.
    synchronous: Literal["normal", "full", "extra"] = _key(
        "normal", _one_of("normal", "full", "extra")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DbSettings:
    # Which database.
    driver: Literal["sqlite", "postgres"] = _key("sqlite", _one_of("sqlite", "postgres"))
    # Where it is: a path or a URL. Empty: see `database_url`.
    dsn: str = _key("", lambda key, value: text.storable(key, value, DSN_MAX_CHARS), secret=True)
    pool: PoolSettings = field(default_factory=PoolSettings)
    sqlite: SqliteSettings = field(default_factory=SqliteSettings)
    # Bring the schema up to date when opening.
    automigrate: bool = _key(True, _flag)


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlDaysSettings:
    """Days until a memory of a fading kind fades."""

    context: int = _key(limits.KIND_TTL_DAYS["context"], _whole(1, TTL_MAX_DAYS))
    event: int = _key(limits.KIND_TTL_DAYS["event"], _whole(1, TTL_MAX_DAYS))
    task: int = _key(limits.KIND_TTL_DAYS["task"], _whole(1, TTL_MAX_DAYS))
    observation: int = _key(limits.KIND_TTL_DAYS["observation"], _whole(1, TTL_MAX_DAYS))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    # False: every view is the disabled one.
    enabled: bool = _key(True, _flag)
    # The tenant, where nobody says.
    space: str = _key("default", lambda _, value: text.space(value))
    # Further categories, beside the built-in ones.
    categories: tuple[str, ...] = _key((), _category)
    # Whether a linked person's earlier identities are read with their account.
    read: Literal["union", "canonical"] = _key("union", _one_of("union", "canonical"))
    # The external key of the one local person, whom the command line acts for. None: nobody.
    local_person: str | None = _key(
        None, lambda key, value: external_key(value, key) if value else None
    )
    ttl_days: TtlDaysSettings = field(default_factory=TtlDaysSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    db: DbSettings = field(default_factory=DbSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)


class _Value(NamedTuple):
    where: str  # file and line, or variable
    value: object


def key_names() -> tuple[str, ...]:
    """Every key, dotted."""
    return tuple(_fields())


def variable(key: str) -> str:
    """The environment variable of a dotted key."""
    return "TACIT_" + key.upper().replace(".", "_")


def load(
    path: Path | None = None, *, environ: Mapping[str, str], home: Path, cwd: Path
) -> Settings:
    """The environment over the file over the defaults; SettingsError for anything else in them."""
    file = _file(path, environ, home, cwd)
    found = dict(_in_file(file, _document(file), "")) if file else {}
    found |= _in_environment(environ)
    settings = cast(Settings, _built("", found))
    if settings.db.dsn:
        try:
            _url(settings.db, home, cwd)
        except InvalidInput as error:
            raise _wrong(found["db.dsn"].where, str(error)) from None
    return settings


def database_url(settings: Settings, home: Path, cwd: Path) -> str:
    """Where the database is, for SQLAlchemy: `db.dsn`; else the file at home, the file here, or
    a new one at home, whose folder this creates."""
    if settings.db.dsn:
        try:
            return _url(settings.db, home, cwd)
        except InvalidInput as error:
            raise SettingsError(str(error)) from None
    if settings.db.driver == "postgres":
        raise SettingsError(
            "db.dsn: is empty, but db.driver is postgres; set db.dsn in the settings file or "
            f"{variable('db.dsn')} to {_POSTGRES_FORM}"
        )
    at_home, here = home / FOLDER_NAME / DATABASE_NAME, cwd / DATABASE_NAME
    if not _present(at_home) and _present(here):
        return _sqlite_url(here)
    try:
        at_home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be created ({_reason(error)}); set db.dsn to the path of a database"
        raise _wrong(at_home.parent, problem) from None
    return _sqlite_url(at_home)


# The tree of records, by dotted names.


def _join(section: str, name: str) -> str:
    return f"{section}.{name}" if section else name


@cache
def _sections() -> Mapping[str, Any]:
    """Every record by its name; the whole is the one without a name."""
    found: dict[str, Any] = {"": Settings}
    waiting = [""]
    for section in waiting:
        for declared in fields(found[section]):
            if declared.default_factory is not MISSING:
                found[_join(section, declared.name)] = declared.default_factory
                waiting.append(_join(section, declared.name))
    return found


@cache
def _fields() -> Mapping[str, Field[Any]]:
    return {
        _join(section, declared.name): declared
        for section, record in _sections().items()
        for declared in fields(record)
        if declared.default_factory is MISSING
    }


def _names_in(section: str) -> list[str]:
    return [declared.name for declared in fields(_sections()[section])]


def _is_list(key: str) -> bool:
    return isinstance(_fields()[key].default, tuple)


def _built(section: str, found: Mapping[str, _Value]) -> object:
    given: dict[str, object] = {}
    for name in _names_in(section):
        key = _join(section, name)
        if key in _sections():
            given[name] = _built(key, found)
        elif key in found:
            given[name] = found[key].value
    return _sections()[section](**given)


# Where values come from.


def _file(path: Path | None, environ: Mapping[str, str], home: Path, cwd: Path) -> Path | None:
    named = str(path) if path is not None else environ.get(FILE_VARIABLE)
    if named is not None:
        if not named or _URL.match(named):  # it is not repeated: it may hold a password
            who = FILE_VARIABLE if path is None else "the settings file"
            raise SettingsError(f"{who}: is no file name; name a YAML file, or none at all")
        return _path(named, home, cwd)
    candidates = (cwd / FILE_NAME, home / FOLDER_NAME / FILE_NAME)
    return next((candidate for candidate in candidates if _present(candidate)), None)


def _present(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise _wrong(
            path, f"cannot be looked at ({_reason(error)}); check who may read it"
        ) from None
    return True


def _text_of(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            raw = stream.read(FILE_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise _wrong(file, f"cannot be read ({_reason(error)}); name a file that can be") from None
    if len(raw) > FILE_MAX_BYTES:
        raise _wrong(file, f"is longer than {FILE_MAX_BYTES:,} bytes; name a settings file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _wrong(f"{file}, line {line}", "is not UTF-8 text; save it as UTF-8") from None


def _document(file: Path) -> Node | None:
    """The YAML as nodes: they know their lines, and `no` is still the text that was written."""
    import yaml

    written = _text_of(file)
    try:
        return yaml.SafeLoader(written).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark else file
        # Words of the file are left out: they may be a password.
        problem = _QUOTED_WORD.sub("", str(error.problem))
        raise _wrong(where, f"is not valid YAML: {problem}; correct it there") from None
    except yaml.reader.ReaderError as error:
        line = written.count("\n", 0, error.position) + 1
        problem = f"contains the control character U+{error.character:04X}; remove it"
        raise _wrong(f"{file}, line {line}", problem) from None
    except (ValueError, OverflowError, RecursionError):
        problem = "is not valid YAML: an escape, a version or the nesting is out of range"
        raise _wrong(file, f"{problem}; write plain values") from None


def _is_null(node: Node) -> bool:
    return node.tag == _NULL and isinstance(node.value, str)


def _in_file(file: Path, node: Node | None, section: str) -> Iterator[tuple[str, _Value]]:
    from yaml import MappingNode, ScalarNode

    if node is None or _is_null(node):
        return
    if not isinstance(node, MappingNode):
        problem = f"expected keys with values: {', '.join(_names_in(section))}"
        raise _wrong(f"{file}, line {node.start_mark.line + 1}", section, problem)
    seen = set()
    for name, value in node.value:
        where = f"{file}, line {name.start_mark.line + 1}"
        if not isinstance(name, ScalarNode) or name.value not in _names_in(section):
            raise _unknown_key(where, section, str(name.value))
        key = _join(section, name.value)
        if key in seen:
            raise _wrong(where, key, "is here a second time; remove one of the two")
        seen.add(key)
        if key in _sections():
            yield from _in_file(file, value, key)
        elif not _is_null(value):
            yield key, _Value(where, _parsed(where, key, _written(where, key, value)))


def _written(where: str, key: str, node: Node) -> list[str]:
    from yaml import ScalarNode, SequenceNode

    items = node.value if _is_list(key) and isinstance(node, SequenceNode) else [node]
    if _is_list(key) is not isinstance(node, SequenceNode) or not all(
        isinstance(item, ScalarNode) and item.tag in _PLAIN for item in items
    ):
        expected = "a list, as in [recipe, travel]" if _is_list(key) else "one plain value"
        raise _wrong(where, key, f"expected {expected}")
    return [item.value for item in items]


def _in_environment(environ: Mapping[str, str]) -> dict[str, _Value]:
    found = {}
    key_of = {variable(key): key for key in key_names()}
    ours = tuple(variable(section) + "_" for section in _names_in(""))
    for name in sorted(environ):
        if name in key_of:
            key, value = key_of[name], environ[name]
            items = [item.strip() for item in value.split(",") if item.strip()]
            found[key] = _Value(name, _parsed(name, key, items if _is_list(key) else [value]))
        elif name.startswith(ours):
            raise _wrong(name, f"is not a setting; {_nearest(name, key_of)}")
    return found


def _parsed(where: str, key: str, written: list[str]) -> object:
    parse: Parse = _fields()[key].metadata["parse"]
    try:
        values = [parse(key, value) for value in written]
    except InvalidInput as error:
        raise _wrong(where, key, error.problem) from None
    return tuple(dict.fromkeys(values)) if _is_list(key) else values[0]


# Where the database is.


def _path(written: str, home: Path, cwd: Path) -> Path:
    if written.startswith("~/"):
        return home / written[2:].lstrip("/")
    return cwd / written


def _sqlite_url(path: Path) -> str:
    from sqlalchemy import URL

    return URL.create("sqlite", database=str(path)).render_as_string()


def _url(db: DbSettings, home: Path, cwd: Path) -> str:
    match = _SCHEME.match(db.dsn)
    scheme = match[1].lower() if match else ""
    driver = _DRIVER_OF_SCHEME.get(scheme) if scheme else "sqlite"
    if driver is None or _LIBPQ_WORDS.search(db.dsn):
        forms = f"{_SQLITE_FORMS}, or {_POSTGRES_FORM}"
        raise InvalidInput("db.dsn", f"is neither a path nor a known URL; write {forms}")
    if driver != db.driver:
        fix = _SQLITE_FORMS if db.driver == "sqlite" else _POSTGRES_FORM
        problem = f"is for {driver}, but db.driver is {db.driver}"
        raise InvalidInput("db.dsn", f"{problem}; set db.driver to {driver}, or db.dsn to {fix}")
    if driver == "postgres":
        return _postgres_url("postgresql" + db.dsn[len(scheme) :])
    match = _SQLITE_PATH.fullmatch(db.dsn)
    path = text.storable("db.dsn", unquote(match[1]), DSN_MAX_CHARS) if match else db.dsn
    if path in (":memory:", "sqlite://", "sqlite:///"):
        return "sqlite://"
    if scheme and match is None:
        # Parameters of SQLite's URIs (mode, cache, vfs…) would undo how Tacit opens the file.
        raise InvalidInput("db.dsn", f"cannot be opened; write {_SQLITE_FORMS}, without parameters")
    return _sqlite_url(_path(path, home, cwd))


def _postgres_url(url: str) -> str:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
        port = 5432 if parsed.port is None else parsed.port
        good = "@" not in (parsed.host or "") and 0 < port < 65_536 and not re.search(r"\s", url)
    except (ArgumentError, ValueError):
        good = False
    if not good:
        escapes = "in a password write %40 for @, %3A for :, %2F for / and %25 for %"
        raise InvalidInput("db.dsn", f"cannot be read as {_POSTGRES_FORM}; {escapes}")
    return url


# What is said about mistakes.


def _wrong(where: object, *parts: str) -> SettingsError:
    message = ": ".join(part for part in (str(where), *parts) if part)
    # A file name may hold bytes that cannot be printed.
    return SettingsError(message.encode("utf-8", "replace").decode())


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "its name cannot be used"


def _shown(value: str) -> str:
    return repr(value) if _WORD.fullmatch(value) else "that"


def _nearest(written: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(written, list(known), 1)
    return f"did you mean {near[0]}?" if near else "docs/settings.md lists them all"


def _unknown_key(where: str, section: str, name: str) -> SettingsError:
    if not _WORD.fullmatch(name):
        return _wrong(
            where, section, f"has an odd key; the keys are {', '.join(_names_in(section))}"
        )
    key = _join(section, name)
    if key in key_names():
        return _wrong(where, key, f"write {name.replace('.', ': and below it ')}:")
    known = [*key_names(), *filter(None, _sections())]
    return _wrong(where, key, f"is not a key; {_nearest(key.lower(), known)}")
