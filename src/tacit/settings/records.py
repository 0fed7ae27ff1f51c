"""Every key, declared once: its place gives its dotted name and its variable.

`db.sqlite.wal` is `TACIT_DB_SQLITE_WAL`. docs/settings.md says what every key means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import timedelta
from functools import cache
from typing import Any, Literal

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity.keys import external_key
from tacit.model import text
from tacit.settings.mistakes import shown

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_WHOLE = re.compile(r"[0-9]{1,12}")
_DURATION = re.compile(r"(?=.)(?:([0-9]{1,5})h)?(?:([0-9]{1,5})m)?(?:([0-9]{1,5})s)?")
_CATEGORY = re.compile(r"[a-z][a-z0-9_-]*")

# A value arrives as the text that was written, from the file and the environment alike. So
# `space: no` is the space "no", and a parser is needed once. It raises InvalidInput.
Parse = Callable[[str, str], object]


def _one_of(*words: str) -> Parse:
    def parse(key: str, value: str) -> str:
        if value not in words:
            raise InvalidInput(key, f"{shown(value)} is not one of {', '.join(words)}")
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
        raise InvalidInput(key, f"{shown(value)} is neither true nor false")
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
    max_open_conns: int = _key(limits.POOL_MAX_CONNECTIONS, _whole(1, limits.CONNECTIONS_MAX_COUNT))
    # PostgreSQL: this many stay open between requests. Never more than max_open_conns.
    max_idle_conns: int = _key(limits.POOL_MAX_CONNECTIONS, _whole(1, limits.CONNECTIONS_MAX_COUNT))
    # PostgreSQL: a connection older than this is replaced. Zero: never.
    conn_max_lifetime: timedelta = _key(timedelta(0), _duration)  # noqa: RUF009 (a field)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSettings:
    # How long the file's lock is waited for at a stretch.
    busy_timeout_ms: int = _key(
        limits.SQLITE_BUSY_TIMEOUT_MS, _whole(0, limits.BUSY_TIMEOUT_MAX_MS)
    )
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
    dsn: str = _key(
        "", lambda key, value: text.storable(key, value, limits.DSN_MAX_CHARS), secret=True
    )
    pool: PoolSettings = field(default_factory=PoolSettings)
    sqlite: SqliteSettings = field(default_factory=SqliteSettings)
    # Bring the schema up to date when opening.
    automigrate: bool = _key(True, _flag)


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlDaysSettings:
    """Days until a memory of a fading kind fades."""

    context: int = _key(limits.KIND_TTL_DAYS["context"], _whole(1, limits.TTL_MAX_DAYS))
    event: int = _key(limits.KIND_TTL_DAYS["event"], _whole(1, limits.TTL_MAX_DAYS))
    task: int = _key(limits.KIND_TTL_DAYS["task"], _whole(1, limits.TTL_MAX_DAYS))
    observation: int = _key(limits.KIND_TTL_DAYS["observation"], _whole(1, limits.TTL_MAX_DAYS))


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


def key_names() -> tuple[str, ...]:
    """Every key, dotted."""
    return tuple(declared())


def variable(key: str) -> str:
    """The environment variable of a dotted key."""
    return "TACIT_" + key.upper().replace(".", "_")


def join(section: str, name: str) -> str:
    return f"{section}.{name}" if section else name


@cache
def sections() -> Mapping[str, Any]:
    """Every record by its name; the whole is the one without a name."""
    found: dict[str, Any] = {"": Settings}
    waiting = [""]
    for section in waiting:
        for one in fields(found[section]):
            if one.default_factory is not MISSING:
                found[join(section, one.name)] = one.default_factory
                waiting.append(join(section, one.name))
    return found


@cache
def declared() -> Mapping[str, Field[Any]]:
    return {
        join(section, one.name): one
        for section, record in sections().items()
        for one in fields(record)
        if one.default_factory is MISSING
    }


def names_in(section: str) -> list[str]:
    return [one.name for one in fields(sections()[section])]


def is_list(key: str) -> bool:
    return isinstance(declared()[key].default, tuple)
