"""Declare every setting once: its place gives its dotted name and its variable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import IPv6Address
from types import MappingProxyType
from typing import Any, Literal

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity.external_keys import parse_external_key
from tacit.records import validation
from tacit.records.memory import CATEGORIES
from tacit.settings import values
from tacit.settings.values import CategorySetting, Parse, read_allowlists, read_categories

# The settings of upkeep.


def plain_setting(default: Any, parse: Parse) -> Any:
    return field(default=default, metadata={"parse": parse})


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsSettings:
    # Days for which counts of what happened can be asked for. Zero: none are kept.
    keep_days: int = plain_setting(
        limits.EVENTS_KEEP_DEFAULT_DAYS, values.whole(0, limits.EVENTS_KEEP_MAX_DAYS)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    # Who is told how much is done, how long it takes and what fails.
    exporter: Literal["off", "prometheus", "opentelemetry"] = plain_setting(
        "off", values.one_of("off", "prometheus", "opentelemetry")
    )
    # prometheus: where `tacit metrics` and `tacit work` can be scraped, on this machine alone.
    # Zero: `tacit work` cannot.
    port: int = plain_setting(limits.METRICS_DEFAULT_PORT, values.whole(0, limits.PORT_MAX))


def _parse_period(key: str, value: str) -> timedelta | None:
    """How often, or not at all."""
    if value == "off":
        return None
    low, high = limits.JOBS_EVERY_MIN_SECONDS, limits.JOBS_EVERY_MAX_SECONDS
    found = values.duration(key, value)
    if not low <= found.total_seconds() <= high:
        problem = f"must be {low // 60}m to {high // 3_600}h, or off; write for example 30m or 24h"
        raise InvalidInput(key, problem)
    return found


def _period_setting(task: str) -> Any:
    return plain_setting(timedelta(hours=limits.JOBS_EVERY_HOURS[task]), _parse_period)


@dataclass(frozen=True, slots=True, kw_only=True)
class EverySettings:
    """How often each task comes round in a space. None: not by itself."""

    expire: timedelta | None = _period_setting("expire")  # noqa: RUF009 (a field)
    purge: timedelta | None = _period_setting("purge")  # noqa: RUF009 (a field)
    consolidate: timedelta | None = _period_setting("consolidate")  # noqa: RUF009 (a field)
    reflect: timedelta | None = _period_setting("reflect")  # noqa: RUF009 (a field)
    reembed: timedelta | None = _period_setting("reembed")  # noqa: RUF009 (a field)
    summarise: timedelta | None = _period_setting("summarise")  # noqa: RUF009 (a field)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsSettings:
    every: EverySettings = field(default_factory=EverySettings)
    # Whether a process that opens a memory catches up on what is overdue of expire and purge.
    on_open: bool = plain_setting(True, values.flag)


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleSettings:
    """How memories age. Days of fading kinds are in memory.ttl_days."""

    # What nobody used for so long fades, if its importance is below the threshold.
    fade_after_days: int = plain_setting(
        limits.FADE_AFTER_DEFAULT_DAYS, values.whole(1, limits.TTL_MAX_DAYS)
    )
    fade_below_importance: int = plain_setting(
        limits.FADE_BELOW_DEFAULT_IMPORTANCE,
        values.whole(limits.IMPORTANCE_MIN, limits.IMPORTANCE_MAX + 1),
    )
    # Active memories of one owner; the least used beyond are forgotten. None: no cap.
    max_entries: int | None = plain_setting(
        None, values.optional(values.whole(1, limits.MEMORIES_PER_OWNER_MAX_COUNT))
    )
    # For so long what was forgotten, or has expired, can be restored.
    restorable_days: int = plain_setting(
        limits.RESTORABLE_DAYS, values.whole(1, limits.TTL_MAX_DAYS)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseSettings:
    # The journal of erasures, which a restored backup is put right with. Empty: beside a SQLite
    # file, and none for PostgreSQL.
    journal: str = plain_setting("", values.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateSettings:
    """How memories that say the same become one."""

    # False: nothing is merged.
    enabled: bool = plain_setting(True, values.flag)
    # Pairs that a language model is asked about, of one person in one day. Zero: none.
    pairs_per_day: int = plain_setting(
        limits.CONSOLIDATE_PAIRS_PER_DAY, values.whole(0, limits.CONSOLIDATE_PAIRS_MAX_PER_DAY)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesSettings:
    """Memories as Markdown files that people read and edit."""

    # False: no files are written or read. Sessions are kept in the store all the same.
    enabled: bool = plain_setting(False, values.flag)
    # Where the files are. Empty: `notes` beside a SQLite file; PostgreSQL needs a path.
    dir: str = plain_setting("", values.path)
    # Whether a process that has a memory open mirrors what changes within a second.
    watch: bool = plain_setting(True, values.flag)
    # Days of sessions that a new one starts with, today among them.
    short_term_days: int = plain_setting(
        limits.NOTE_DAYS_DEFAULT, values.whole(1, limits.NOTE_DAYS_MAX)
    )
    # Lines of a block in the style of summaries.
    items_max: int = plain_setting(
        limits.NOTE_ITEMS_SHOWN_DEFAULT_COUNT, values.whole(1, limits.NOTE_ITEMS_SHOWN_MAX_COUNT)
    )
    # Lines that may be gone from the files at once before they are asked about.
    forget_at_once_max: int = plain_setting(
        limits.NOTE_FORGET_AT_ONCE_DEFAULT_COUNT,
        values.whole(0, limits.NOTE_FORGET_AT_ONCE_MAX_COUNT),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectSettings:
    """What a language model concludes from what people say in private."""

    # Insights about a person, from their own words.
    enabled: bool = plain_setting(False, values.flag)
    # Days until an insight goes.
    insight_days: int = plain_setting(limits.INSIGHT_DAYS, values.whole(1, limits.TTL_MAX_DAYS))
    # Summaries of private conversations that have ended, where turns are kept.
    summaries: bool = plain_setting(False, values.flag)


# The settings of `tacit serve`.

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
_PORT = re.compile(r":[0-9]{1,5}")
_ORIGIN = re.compile(r"(https?)://([^/?#@]+)")


def parse_host(key: str, value: str) -> str:
    """Where to listen: a name or an address, without a port."""
    if _HOST.fullmatch(value):
        return value.lower()
    bare = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    if _is_ipv6(bare):
        return bare.lower()
    raise InvalidInput(key, "is not a host; write a name or an address, as in 127.0.0.1")


def parse_allowed_host(key: str, value: str) -> str:
    """As it stands in a Host header, without its port."""
    if value.startswith("[") and value.endswith("]") and _is_ipv6(value[1:-1]):
        return value.lower()
    if _HOST.fullmatch(value):
        return value.lower()
    fix = "write a name without scheme, port and wildcard, as in memory.example.org"
    raise InvalidInput(key, f"is not a host; {fix}")


def parse_origin(key: str, value: str) -> str:
    """As a browser sends it: scheme, host, and the port where it is not the usual one."""
    found = _ORIGIN.fullmatch(value)
    if found is not None:
        rest = found[2]
        port = _PORT.search(rest, rest.rfind("]") + 1)
        named = rest[: port.start()] if port else rest
        if (port is None or port.end() == len(rest)) and _is_host(key, named):
            return value.lower()
    raise InvalidInput(key, "is not an origin; write it as in https://app.example.org")


def _is_ipv6(value: str) -> bool:
    try:
        IPv6Address(value)
    except ValueError:
        return False
    return True


def _is_host(key: str, value: str) -> bool:
    try:
        parse_allowed_host(key, value)
    except InvalidInput:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How memory is served to others: who may reach it, and how much of it at once."""

    # Anywhere but on this machine it does not start before there are keys.
    host: str = plain_setting(limits.SERVER_DEFAULT_HOST, parse_host)
    # Zero: one that is free.
    port: int = plain_setting(limits.SERVER_DEFAULT_PORT, values.whole(0, limits.PORT_MAX))
    # Whether who asks on this machine without a key is the one local person. Behind a proxy
    # everybody seems to be on this machine.
    local: bool = plain_setting(True, values.flag)
    # Names in Host headers that are answered, beside this machine's own and `host`.
    allowed_hosts: tuple[str, ...] = plain_setting((), parse_allowed_host)
    # Web pages of these origins may ask, beside those that come from here.
    allowed_origins: tuple[str, ...] = plain_setting((), parse_origin)
    # Of one request, counted while it is read. What is imported may be larger.
    body_max_bytes: int = plain_setting(
        limits.SERVER_BODY_MAX_BYTES,
        values.whole(limits.SERVER_BODY_LOWEST_BYTES, limits.SERVER_BODY_HIGHEST_BYTES),
    )
    # Of one key, or of the one local person, in each process. A key may have its own.
    rate_per_minute: int = plain_setting(
        limits.SERVER_RATE_PER_MINUTE, values.whole(1, limits.SERVER_RATE_HIGHEST_PER_MINUTE)
    )
    # Requests that are worked on at the same time, in each process.
    threads: int = plain_setting(
        limits.SERVER_THREADS_COUNT, values.whole(1, limits.SERVER_THREADS_MAX_COUNT)
    )
    # Processes. More than one needs PostgreSQL.
    workers: int = plain_setting(1, values.whole(1, limits.SERVER_WORKERS_MAX_COUNT))
    # For so long a server that was told to stop finishes what it has begun.
    drain_seconds: int = plain_setting(
        limits.SERVER_DRAIN_SECONDS, values.whole(0, limits.SERVER_DRAIN_MAX_SECONDS)
    )
    # One line for each request, without anything that somebody said or is called.
    log: Literal["json", "plain"] = plain_setting("json", values.one_of("json", "plain"))
    # Whether models reach their tools at /mcp.
    mcp: bool = plain_setting(True, values.flag)


# The settings of the console: pages where people see what is remembered.


def parse_console_url(key: str, value: str) -> str:
    """Scheme and host: what leads there begins with it. Its pages know of no folder above them."""
    if not value:
        return ""
    try:
        return parse_origin(key, value.removesuffix("/"))
    except InvalidInput:
        fix = "write it as in https://memory.example.org, with nothing after the host"
        raise InvalidInput(key, f"is not the address of a server; {fix}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings:
    # Whether `tacit serve` has the pages, at /.
    enabled: bool = plain_setting(True, values.flag)
    # By which people reach them: for links that bots send, and behind a proxy. Empty: none, and
    # links lead to where the server listens.
    url: str = plain_setting("", parse_console_url)
    # For so long a one-time link works.
    link_minutes: int = plain_setting(
        limits.SIGN_IN_DEFAULT_MINUTES, values.whole(1, limits.SIGN_IN_MAX_MINUTES)
    )
    # Who does nothing for so long is signed out.
    idle_minutes: int = plain_setting(
        limits.WEB_SESSION_IDLE_DEFAULT_MINUTES,
        values.whole(limits.WEB_SESSION_IDLE_MIN_MINUTES, limits.WEB_SESSION_IDLE_MAX_MINUTES),
    )
    # And after so long everybody is.
    session_hours: int = plain_setting(
        limits.WEB_SESSION_DEFAULT_HOURS, values.whole(1, limits.WEB_SESSION_MAX_HOURS)
    )


# The settings of conversations: of the agent, and of each channel that it is reached through.


def _bot_setting(default: Any, parse: Parse, *, secret: bool = False) -> Any:
    return field(default=default, repr=not secret, metadata={"parse": parse})


def _parse_instructions(key: str, value: str) -> str:
    return validation.check_storable(key, value, limits.CHAT_INSTRUCTIONS_MAX_CHARS)


# Words in capitals, with _ between them. Few secrets look like that; anything else may be one.
_VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9]{0,15}(?:_[A-Z0-9]{1,16}){1,7}")


def describe_variable(key: str, name: str) -> str:
    """A variable, as it may be told to the operator: by its name, unless somebody may have written
    a secret in the place of that."""
    return name if _VARIABLE_NAME.fullmatch(name) else f"the variable that {key} names"


def _parse_variable_name(key: str, value: str) -> str:
    """A bot cannot do without its secrets, so there is always a variable that holds them."""
    if not value:
        raise InvalidInput(key, "is empty; write the name of a variable of the environment")
    return values.variable_name(key, value)


def _chat_parser(channel: str, form: str, like: str) -> Parse:
    """A chat as `/id` tells it there, with its channel before it or without."""
    shape = re.compile(form)

    def parse(key: str, value: str) -> str:
        own = value.removeprefix(f"{channel}:")
        if not shape.fullmatch(own):
            fix = f"write what /id tells there, as in {channel}:{like}"
            raise InvalidInput(key, f"is not a chat; {fix}")
        return f"{channel}:{own}"

    return parse


_TELEGRAM_CHAT = _chat_parser("telegram", r"-?[1-9][0-9]{0,18}", "-1001234567890")
_SLACK_CHAT = _chat_parser("slack", r"[A-Z0-9]{1,64}:[A-Z0-9]{1,64}", "T0123456789:C0123456789")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    """How the agent talks and asks, whichever channel it is reached through."""

    # What the operator tells the model, after our own rules.
    instructions: str = _bot_setting("", _parse_instructions)
    # Who asks whether something may be kept. auto: the model where there is one, else buttons.
    consent: Literal["auto", "buttons"] = _bot_setting("auto", values.one_of("auto", "buttons"))
    # In place of `learn.confirm`, where a conversation is held here: there is somebody to ask.
    confirm: Literal["never", "new", "always"] = _bot_setting(
        "new", values.one_of("never", "new", "always")
    )
    # Messages of a chat that the model is shown before the one it answers.
    recent: int = _bot_setting(
        limits.CHAT_RECENT_DEFAULT_COUNT, values.whole(0, limits.CHAT_RECENT_MAX_COUNT)
    )
    # How often the model may look something up for one answer, and how much that may bring.
    recall_calls: int = _bot_setting(
        limits.CHAT_RECALLS_DEFAULT_COUNT, values.whole(0, limits.CHAT_RECALLS_MAX_COUNT)
    )
    recall_tokens: int = _bot_setting(
        limits.CHAT_RECALL_DEFAULT_TOKENS, values.whole(1, limits.CHAT_RECALL_MAX_TOKENS)
    )
    # Chats that are worked on at the same time.
    threads: int = _bot_setting(
        limits.CHAT_THREADS_DEFAULT_COUNT, values.whole(1, limits.CHAT_THREADS_MAX_COUNT)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSettings:
    """Secrets are in variables of their own; here are the names of these."""

    token_env: str = _bot_setting("TELEGRAM_BOT_TOKEN", _parse_variable_name, secret=True)
    # Of the Bot API. Empty: Telegram's own. Hidden, because people write tokens into addresses.
    api_url: str = _bot_setting(
        "", values.address("telegram.token_env", "https://host"), secret=True
    )
    # Whether we ask for updates, or are told.
    mode: Literal["polling", "webhook"] = _bot_setting(
        "polling", values.one_of("polling", "webhook")
    )
    # webhook: where Telegram reaches us.
    webhook_url: str = _bot_setting(
        "", values.address("telegram.secret_env", "https://bot.example.org/telegram"), secret=True
    )
    # webhook: holds what proves that it is Telegram that tells us.
    secret_env: str = _bot_setting("TELEGRAM_WEBHOOK_SECRET", _parse_variable_name, secret=True)
    # webhook: where we listen for what a proxy passes on. Zero: a port that is free.
    host: str = _bot_setting(limits.SERVER_DEFAULT_HOST, parse_host)
    port: int = _bot_setting(limits.TELEGRAM_DEFAULT_PORT, values.whole(0, limits.PORT_MAX))
    # The only chats that are answered; none at all: every chat is. `/id` is answered anywhere.
    allowed_chats: tuple[str, ...] = _bot_setting((), _TELEGRAM_CHAT)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSettings:
    """Secrets are in variables of their own; here are the names of these."""

    token_env: str = _bot_setting("SLACK_BOT_TOKEN", _parse_variable_name, secret=True)
    # Holds what Slack signs its requests with.
    secret_env: str = _bot_setting("SLACK_SIGNING_SECRET", _parse_variable_name, secret=True)
    # Of the Web API. Empty: Slack's own.
    api_url: str = _bot_setting(
        "", values.address("slack.token_env", "https://host/api"), secret=True
    )
    # Where we listen for what a proxy passes on. Zero: a port that is free.
    host: str = _bot_setting(limits.SERVER_DEFAULT_HOST, parse_host)
    port: int = _bot_setting(limits.SLACK_DEFAULT_PORT, values.whole(0, limits.PORT_MAX))
    # The only chats that are answered; none at all: every chat is. `/id` is answered anywhere.
    allowed_chats: tuple[str, ...] = _bot_setting((), _SLACK_CHAT)


def find_telegram_mistake(telegram: TelegramSettings) -> InvalidInput | None:
    """What a mode needs and does not find; None if the keys go together."""
    if telegram.mode == "webhook" and not telegram.webhook_url:
        return InvalidInput(
            "telegram.webhook_url",
            "is empty, but telegram.mode is webhook; set telegram.webhook_url or "
            "TACIT_TELEGRAM_WEBHOOK_URL to the address that Telegram is to call",
        )
    return None


# Every key, declared once: its place gives its dotted name and its variable.
#
# `db.sqlite.wal` is `TACIT_DB_SQLITE_WAL`. docs/settings.md says what every key means.

SESSIONS_RETENTION_DEFAULT_DAYS = 30
LINK_MIN_DEFAULT = 0.6
BLOCK_ITEMS_HIGHEST_COUNT = 1_000
BLOCK_LOWEST_CHARS = 2_000  # room for one memory, however it is written
BLOCK_HIGHEST_CHARS = 1_000_000
CONVERSATION_GAP_DEFAULT = timedelta(hours=1)


def _setting(default: Any, parse: Parse, *, secret: bool = False) -> Any:
    return field(default=default, repr=not secret, metadata={"parse": parse})


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """Connections to the database, per process."""

    # At most this many are open at once.
    max_open_conns: int = _setting(
        limits.POOL_MAX_CONNECTIONS, values.whole(1, limits.CONNECTIONS_MAX_COUNT)
    )
    # PostgreSQL: this many stay open between requests. Never more than max_open_conns.
    max_idle_conns: int = _setting(
        limits.POOL_MAX_CONNECTIONS, values.whole(1, limits.CONNECTIONS_MAX_COUNT)
    )
    # PostgreSQL: a connection older than this is replaced. Zero: never.
    conn_max_lifetime: timedelta = _setting(timedelta(0), values.duration)  # noqa: RUF009 (a field)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSettings:
    # How long the file's lock is waited for at a stretch.
    busy_timeout_ms: int = _setting(
        limits.SQLITE_BUSY_TIMEOUT_MS, values.whole(0, limits.BUSY_TIMEOUT_MAX_MS)
    )
    # Of the file, kept at hand by each connection.
    cache_mib: int = _setting(limits.SQLITE_CACHE_MIB, values.whole(1, limits.SQLITE_CACHE_MAX_MIB))
    # Write-ahead log: readers and the writer do not wait for each other.
    wal: bool = _setting(True, values.flag)
    # Always true; the key exists so that a file that says so is understood.
    foreign_keys: Literal[True] = _setting(
        True, values.always_true("the schema relies on foreign keys")
    )
    # What a power cut may cost; docs/settings.md has the promise of each level.
    synchronous: Literal["normal", "full", "extra"] = _setting(
        "normal", values.one_of("normal", "full", "extra")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DbSettings:
    # Which database.
    driver: Literal["sqlite", "postgres"] = _setting("sqlite", values.one_of("sqlite", "postgres"))
    # Where it is: a path or a URL. Empty: see `database_url`.
    dsn: str = _setting("", values.dsn, secret=True)
    pool: PoolSettings = field(default_factory=PoolSettings)
    sqlite: SqliteSettings = field(default_factory=SqliteSettings)
    # Bring the schema up to date when opening.
    automigrate: bool = _setting(True, values.flag)


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlDaysSettings:
    """Days until a memory of a fading kind fades."""

    context: int = _setting(limits.KIND_TTL_DAYS["context"], values.whole(1, limits.TTL_MAX_DAYS))
    event: int = _setting(limits.KIND_TTL_DAYS["event"], values.whole(1, limits.TTL_MAX_DAYS))
    task: int = _setting(limits.KIND_TTL_DAYS["task"], values.whole(1, limits.TTL_MAX_DAYS))
    observation: int = _setting(
        limits.KIND_TTL_DAYS["observation"], values.whole(1, limits.TTL_MAX_DAYS)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsSettings:
    """Conversations as they were said."""

    # Keep the turns of conversations, beside what was learnt from them.
    keep: bool = _setting(False, values.flag)
    # Days until a turn goes.
    retention_days: int = _setting(
        SESSIONS_RETENTION_DEFAULT_DAYS, values.whole(1, limits.TTL_MAX_DAYS)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    # False: every view is the disabled one.
    enabled: bool = _setting(True, values.flag)
    # The tenant, where nobody says.
    space: str = _setting("default", lambda _, value: validation.parse_space(value))
    # Further categories, beside the built-in ones.
    categories: tuple[str, ...] = _setting((), values.category)
    # Whether a linked person's earlier identities are read with their account.
    read: Literal["union", "canonical"] = _setting("union", values.one_of("union", "canonical"))
    # The external key of the one local person, whom the command line acts for. None: nobody.
    local_person: str | None = _setting(
        None, lambda key, value: parse_external_key(value, key) if value else None
    )
    ttl_days: TtlDaysSettings = field(default_factory=TtlDaysSettings)
    sessions: SessionsSettings = field(default_factory=SessionsSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """Who turns texts into vectors. Which keys go with which provider: `embedding_mistake`."""

    # auto: the local model where its extra is installed, otherwise words alone.
    provider: Literal["auto", "local", "folder", "endpoint", "none"] = _setting(
        "auto", values.one_of("auto", "local", "folder", "endpoint", "none")
    )
    # folder: where an ONNX model and its tokenizer are.
    folder: str = _setting("", values.path)
    # endpoint: its address. Hidden like the key, because people write keys into addresses.
    url: str = _setting("", values.address("embedding.api_key"), secret=True)
    # endpoint: the model to ask for, by the endpoint's name for it.
    model: str = _setting("", values.label)
    api_key: str = _setting("", values.api_key, secret=True)
    # endpoint: the length of vectors to ask for. Zero: the model's own.
    dimension: int = _setting(0, values.whole(0, limits.EMBEDDING_DIMENSION_MAX_COUNT))
    # auto, local, folder: processor threads for one text.
    threads: int = _setting(
        limits.EMBEDDING_THREADS_DEFAULT_COUNT,
        values.whole(1, limits.EMBEDDING_THREADS_MAX_COUNT),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageSettings:
    """Which language model learns, and at what price. What goes together: `language_mistake`."""

    # none: learning goes by rules alone.
    provider: Literal["none", "openai", "anthropic"] = _setting(
        "none", values.one_of("none", "openai", "anthropic")
    )
    # By the endpoint's name for it.
    model: str = _setting("", values.label)
    # Empty: the provider's own. Hidden, because people write keys into addresses.
    base_url: str = _setting("", values.address("language.api_key_env"), secret=True)
    # The name of the variable that holds the key. Hidden, because people write keys here too.
    api_key_env: str = _setting("", values.variable_name, secret=True)
    # Of one question, with all that is tried for it.
    timeout_seconds: float = _setting(
        limits.LANGUAGE_TIMEOUT_DEFAULT_SECONDS,
        values.number(limits.LANGUAGE_TIMEOUT_MIN_SECONDS, limits.LANGUAGE_TIMEOUT_MAX_SECONDS),
    )
    retries: int = _setting(
        limits.LANGUAGE_RETRIES_DEFAULT_COUNT, values.whole(0, limits.LANGUAGE_RETRIES_MAX_COUNT)
    )
    max_output_tokens: int = _setting(
        limits.LANGUAGE_OUTPUT_DEFAULT_TOKENS, values.whole(1, limits.LANGUAGE_OUTPUT_MAX_TOKENS)
    )
    # None: the model's own.
    temperature: float | None = _setting(
        limits.LANGUAGE_TEMPERATURE_DEFAULT,
        values.optional(values.number(0, limits.LANGUAGE_TEMPERATURE_MAX)),
    )
    # How the answer is asked for; docs/language.md says which server knows which.
    output: Literal["auto", "tool", "schema", "prompt"] = _setting(
        "auto", values.one_of("auto", "tool", "schema", "prompt")
    )
    # In the operator's currency.
    price_in_per_million: float = _setting(
        0.0, values.number(0, limits.LANGUAGE_PRICE_MAX_PER_MILLION)
    )
    price_out_per_million: float = _setting(
        0.0, values.number(0, limits.LANGUAGE_PRICE_MAX_PER_MILLION)
    )
    # Of each space. None: no bound.
    tokens_per_day: int | None = _setting(
        None, values.optional(values.whole(0, limits.LANGUAGE_TOKENS_MAX_PER_DAY))
    )
    cost_per_day: float | None = _setting(
        None, values.optional(values.number(0, limits.LANGUAGE_COST_MAX_PER_DAY))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    # The tokenizer.json that counts tokens. Empty: they are estimated.
    tokenizer: str = _setting("", values.path)
    # From this likeness on, two memories are related.
    link_min: float = _setting(LINK_MIN_DEFAULT, values.fraction)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSettings:
    style: Literal["memory", "filtered", "summary"] = _setting(
        "memory", values.one_of("memory", "filtered", "summary")
    )
    # At most so many memories, and so many characters with everything around them.
    items_max: int = _setting(
        limits.BLOCK_ITEMS_MAX_COUNT, values.whole(1, BLOCK_ITEMS_HIGHEST_COUNT)
    )
    chars_max: int = _setting(
        limits.BLOCK_MAX_CHARS, values.whole(BLOCK_LOWEST_CHARS, BLOCK_HIGHEST_CHARS)
    )
    # After so long without a block a new conversation begins, and its block is put together anew.
    conversation_gap: timedelta = _setting(CONVERSATION_GAP_DEFAULT, values.duration)  # noqa: RUF009


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnSettings:
    """How conversations become memories."""

    # False: nothing is learned from conversations; `remember` still works.
    enabled: bool = _setting(True, values.flag)
    # Which of what was said in passing is asked about before it is kept.
    confirm: Literal["never", "new", "always"] = _setting(
        "never", values.one_of("never", "new", "always")
    )
    # Writes for one person in one day.
    daily_max_count: int = _setting(
        limits.LEARN_WRITES_DEFAULT_PER_DAY, values.whole(1, limits.LEARN_WRITES_MAX_PER_DAY)
    )
    # A shorter turn is not learned from, unless it asks to be remembered.
    min_chars: int = _setting(
        limits.LEARN_TURN_MIN_DEFAULT_CHARS, values.whole(0, limits.LEARN_TURN_MIN_MAX_CHARS)
    )
    # Where a language model learns: for how long a thread must be still before it is asked.
    debounce_seconds: int = _setting(
        limits.LEARN_DEBOUNCE_DEFAULT_SECONDS, values.whole(0, limits.LEARN_DEBOUNCE_MAX_SECONDS)
    )
    # Threads of this process that learn. Zero: another process does it.
    workers: int = _setting(
        limits.LEARN_WORKERS_DEFAULT_COUNT, values.whole(0, limits.LEARN_WORKERS_MAX_COUNT)
    )
    # The language that rules read. auto: found out for each message.
    tongue: str = _setting("auto", values.locale)
    # Whether what reads like an instruction, or comes from a tool, waits to be looked at.
    quarantine: bool = _setting(True, values.flag)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    db: DbSettings = field(default_factory=DbSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    language: LanguageSettings = field(default_factory=LanguageSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    prompt: PromptSettings = field(default_factory=PromptSettings)
    learn: LearnSettings = field(default_factory=LearnSettings)
    lifecycle: LifecycleSettings = field(default_factory=LifecycleSettings)
    jobs: JobsSettings = field(default_factory=JobsSettings)
    erase: EraseSettings = field(default_factory=EraseSettings)
    consolidate: ConsolidateSettings = field(default_factory=ConsolidateSettings)
    reflect: ReflectSettings = field(default_factory=ReflectSettings)
    notes: NotesSettings = field(default_factory=NotesSettings)
    events: EventsSettings = field(default_factory=EventsSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    console: ConsoleSettings = field(default_factory=ConsoleSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    telegram: TelegramSettings = field(default_factory=TelegramSettings)
    slack: SlackSettings = field(default_factory=SlackSettings)
    # How categories come into a prompt; those that are not here come as a whole.
    categories: tuple[CategorySetting, ...] = field(default=(), metadata={"read": read_categories})
    # Agent → the categories it may use. None at all: every agent may use every category. Otherwise
    # an agent that is not here may use nothing.
    allowlists: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict, hash=False, metadata={"read": read_allowlists}
    )

    def __post_init__(self) -> None:
        # Nobody keeps a way to change them.
        object.__setattr__(self, "allowlists", MappingProxyType(dict(self.allowlists)))


def category_names(settings: Settings) -> tuple[str, ...]:
    """Every known category: the built-in ones, and each that the settings name anywhere."""
    listed = [name for names in settings.allowlists.values() for name in names]
    used = [one.name for one in settings.categories]
    return tuple(dict.fromkeys((*CATEGORIES, *settings.memory.categories, *used, *listed)))
