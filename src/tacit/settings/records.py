"""Every key, declared once: its place gives its dotted name and its variable.

`db.sqlite.wal` is `TACIT_DB_SQLITE_WAL`. docs/settings.md says what every key means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Literal

from tacit import limits
from tacit.identity.external_keys import parse_external_key
from tacit.records import validation
from tacit.records.memory import CATEGORIES
from tacit.settings import values
from tacit.settings.categories import CategorySetting, read_allowlists, read_categories
from tacit.settings.chat import ChatSettings, SlackSettings, TelegramSettings
from tacit.settings.console import ConsoleSettings
from tacit.settings.server import ServerSettings
from tacit.settings.upkeep import (
    ConsolidateSettings,
    EraseSettings,
    EventsSettings,
    JobsSettings,
    LifecycleSettings,
    MetricsSettings,
    NotesSettings,
    ReflectSettings,
)
from tacit.settings.values import Parse

SESSIONS_RETENTION_DEFAULT_DAYS = 30
LINK_MIN_DEFAULT = 0.6
BLOCK_ITEMS_HIGHEST_COUNT = 1_000
BLOCK_LOWEST_CHARS = 2_000  # room for one memory, however it is written
BLOCK_HIGHEST_CHARS = 1_000_000
CONVERSATION_GAP_DEFAULT = timedelta(hours=1)


def _key(default: Any, parse: Parse, *, secret: bool = False) -> Any:
    return field(default=default, repr=not secret, metadata={"parse": parse})


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """Connections to the database, per process."""

    # At most this many are open at once.
    max_open_conns: int = _key(
        limits.POOL_MAX_CONNECTIONS, values.whole(1, limits.CONNECTIONS_MAX_COUNT)
    )
    # PostgreSQL: this many stay open between requests. Never more than max_open_conns.
    max_idle_conns: int = _key(
        limits.POOL_MAX_CONNECTIONS, values.whole(1, limits.CONNECTIONS_MAX_COUNT)
    )
    # PostgreSQL: a connection older than this is replaced. Zero: never.
    conn_max_lifetime: timedelta = _key(timedelta(0), values.duration)  # noqa: RUF009 (a field)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSettings:
    # How long the file's lock is waited for at a stretch.
    busy_timeout_ms: int = _key(
        limits.SQLITE_BUSY_TIMEOUT_MS, values.whole(0, limits.BUSY_TIMEOUT_MAX_MS)
    )
    # Of the file, kept at hand by each connection.
    cache_mib: int = _key(limits.SQLITE_CACHE_MIB, values.whole(1, limits.SQLITE_CACHE_MAX_MIB))
    # Write-ahead log: readers and the writer do not wait for each other.
    wal: bool = _key(True, values.flag)
    # Always true; the key exists so that a file that says so is understood.
    foreign_keys: Literal[True] = _key(
        True, values.always_true("the schema relies on foreign keys")
    )
    # What a power cut may cost; docs/settings.md has the promise of each level.
    synchronous: Literal["normal", "full", "extra"] = _key(
        "normal", values.one_of("normal", "full", "extra")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DbSettings:
    # Which database.
    driver: Literal["sqlite", "postgres"] = _key("sqlite", values.one_of("sqlite", "postgres"))
    # Where it is: a path or a URL. Empty: see `database_url`.
    dsn: str = _key("", values.dsn, secret=True)
    pool: PoolSettings = field(default_factory=PoolSettings)
    sqlite: SqliteSettings = field(default_factory=SqliteSettings)
    # Bring the schema up to date when opening.
    automigrate: bool = _key(True, values.flag)


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlDaysSettings:
    """Days until a memory of a fading kind fades."""

    context: int = _key(limits.KIND_TTL_DAYS["context"], values.whole(1, limits.TTL_MAX_DAYS))
    event: int = _key(limits.KIND_TTL_DAYS["event"], values.whole(1, limits.TTL_MAX_DAYS))
    task: int = _key(limits.KIND_TTL_DAYS["task"], values.whole(1, limits.TTL_MAX_DAYS))
    observation: int = _key(
        limits.KIND_TTL_DAYS["observation"], values.whole(1, limits.TTL_MAX_DAYS)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsSettings:
    """Conversations as they were said."""

    # Keep the turns of conversations, beside what was learnt from them.
    keep: bool = _key(False, values.flag)
    # Days until a turn goes.
    retention_days: int = _key(
        SESSIONS_RETENTION_DEFAULT_DAYS, values.whole(1, limits.TTL_MAX_DAYS)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    # False: every view is the disabled one.
    enabled: bool = _key(True, values.flag)
    # The tenant, where nobody says.
    space: str = _key("default", lambda _, value: validation.parse_space(value))
    # Further categories, beside the built-in ones.
    categories: tuple[str, ...] = _key((), values.category)
    # Whether a linked person's earlier identities are read with their account.
    read: Literal["union", "canonical"] = _key("union", values.one_of("union", "canonical"))
    # The external key of the one local person, whom the command line acts for. None: nobody.
    local_person: str | None = _key(
        None, lambda key, value: parse_external_key(value, key) if value else None
    )
    ttl_days: TtlDaysSettings = field(default_factory=TtlDaysSettings)
    sessions: SessionsSettings = field(default_factory=SessionsSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """Who turns texts into vectors. Which keys go with which provider: `embedding_mistake`."""

    # auto: the local model where its extra is installed, otherwise words alone.
    provider: Literal["auto", "local", "folder", "endpoint", "none"] = _key(
        "auto", values.one_of("auto", "local", "folder", "endpoint", "none")
    )
    # folder: where an ONNX model and its tokenizer are.
    folder: str = _key("", values.path)
    # endpoint: its address. Hidden like the key, because people write keys into addresses.
    url: str = _key("", values.address("embedding.api_key"), secret=True)
    # endpoint: the model to ask for, by the endpoint's name for it.
    model: str = _key("", values.label)
    api_key: str = _key("", values.api_key, secret=True)
    # endpoint: the length of vectors to ask for. Zero: the model's own.
    dimension: int = _key(0, values.whole(0, limits.EMBEDDING_DIMENSION_MAX_COUNT))
    # auto, local, folder: processor threads for one text.
    threads: int = _key(
        limits.EMBEDDING_THREADS_DEFAULT_COUNT,
        values.whole(1, limits.EMBEDDING_THREADS_MAX_COUNT),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageSettings:
    """Which language model learns, and at what price. What goes together: `language_mistake`."""

    # none: learning goes by rules alone.
    provider: Literal["none", "openai", "anthropic"] = _key(
        "none", values.one_of("none", "openai", "anthropic")
    )
    # By the endpoint's name for it.
    model: str = _key("", values.label)
    # Empty: the provider's own. Hidden, because people write keys into addresses.
    base_url: str = _key("", values.address("language.api_key_env"), secret=True)
    # The name of the variable that holds the key. Hidden, because people write keys here too.
    api_key_env: str = _key("", values.variable_name, secret=True)
    # Of one question, with all that is tried for it.
    timeout_seconds: float = _key(
        limits.LANGUAGE_TIMEOUT_DEFAULT_SECONDS,
        values.number(limits.LANGUAGE_TIMEOUT_MIN_SECONDS, limits.LANGUAGE_TIMEOUT_MAX_SECONDS),
    )
    retries: int = _key(
        limits.LANGUAGE_RETRIES_DEFAULT_COUNT, values.whole(0, limits.LANGUAGE_RETRIES_MAX_COUNT)
    )
    max_output_tokens: int = _key(
        limits.LANGUAGE_OUTPUT_DEFAULT_TOKENS, values.whole(1, limits.LANGUAGE_OUTPUT_MAX_TOKENS)
    )
    # None: the model's own.
    temperature: float | None = _key(
        limits.LANGUAGE_TEMPERATURE_DEFAULT,
        values.or_nothing(values.number(0, limits.LANGUAGE_TEMPERATURE_MAX)),
    )
    # How the answer is asked for; docs/language.md says which server knows which.
    output: Literal["auto", "tool", "schema", "prompt"] = _key(
        "auto", values.one_of("auto", "tool", "schema", "prompt")
    )
    # In the operator's currency.
    price_in_per_million: float = _key(0.0, values.number(0, limits.LANGUAGE_PRICE_MAX_PER_MILLION))
    price_out_per_million: float = _key(
        0.0, values.number(0, limits.LANGUAGE_PRICE_MAX_PER_MILLION)
    )
    # Of each space. None: no bound.
    tokens_per_day: int | None = _key(
        None, values.or_nothing(values.whole(0, limits.LANGUAGE_TOKENS_MAX_PER_DAY))
    )
    cost_per_day: float | None = _key(
        None, values.or_nothing(values.number(0, limits.LANGUAGE_COST_MAX_PER_DAY))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    # The tokenizer.json that counts tokens. Empty: they are estimated.
    tokenizer: str = _key("", values.path)
    # From this likeness on, two memories are related.
    link_min: float = _key(LINK_MIN_DEFAULT, values.fraction)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSettings:
    style: Literal["memory", "filtered", "summary"] = _key(
        "memory", values.one_of("memory", "filtered", "summary")
    )
    # At most so many memories, and so many characters with everything around them.
    items_max: int = _key(limits.BLOCK_ITEMS_MAX_COUNT, values.whole(1, BLOCK_ITEMS_HIGHEST_COUNT))
    chars_max: int = _key(
        limits.BLOCK_MAX_CHARS, values.whole(BLOCK_LOWEST_CHARS, BLOCK_HIGHEST_CHARS)
    )
    # After so long without a block a new conversation begins, and its block is put together anew.
    conversation_gap: timedelta = _key(CONVERSATION_GAP_DEFAULT, values.duration)  # noqa: RUF009


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnSettings:
    """How conversations become memories."""

    # False: nothing is learned from conversations; `remember` still works.
    enabled: bool = _key(True, values.flag)
    # Which of what was said in passing is asked about before it is kept.
    confirm: Literal["never", "new", "always"] = _key(
        "never", values.one_of("never", "new", "always")
    )
    # Writes for one person in one day.
    daily_max_count: int = _key(
        limits.LEARN_WRITES_DEFAULT_PER_DAY, values.whole(1, limits.LEARN_WRITES_MAX_PER_DAY)
    )
    # A shorter turn is not learned from, unless it asks to be remembered.
    min_chars: int = _key(
        limits.LEARN_TURN_MIN_DEFAULT_CHARS, values.whole(0, limits.LEARN_TURN_MIN_MAX_CHARS)
    )
    # Where a language model learns: for how long a thread must be still before it is asked.
    debounce_seconds: int = _key(
        limits.LEARN_DEBOUNCE_DEFAULT_SECONDS, values.whole(0, limits.LEARN_DEBOUNCE_MAX_SECONDS)
    )
    # Threads of this process that learn. Zero: another process does it.
    workers: int = _key(
        limits.LEARN_WORKERS_DEFAULT_COUNT, values.whole(0, limits.LEARN_WORKERS_MAX_COUNT)
    )
    # The language that rules read. auto: found out for each message.
    tongue: str = _key("auto", values.tongue)
    # Whether what reads like an instruction, or comes from a tool, waits to be looked at.
    quarantine: bool = _key(True, values.flag)


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
