"""Declare every setting once: type, default, limits and description.

The place of a field gives its dotted key (`db.sqlite.wal`) and its environment variable
(`TACIT_DB_SQLITE_WAL`). The parser follows from the type, unless `parse` names one; the reference
in docs/settings.md and tacit.example.yaml are generated from the descriptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Literal

from tacit import limits
from tacit.records.memory import CATEGORIES
from tacit.settings import parsers
from tacit.settings.parsers import Parse

RAG_LENGTH_DEFAULT_COUNT = 30
_BLOCK_LOWEST_CHARS = 2_000  # space for one memory of any length
_DAYS = (1, limits.TTL_MAX_DAYS)
_PORT = (0, limits.PORT_MAX)


def setting(
    default: Any,
    description: str,
    *,
    parse: Parse | None = None,
    within: tuple[float, float] | None = None,
    secret: bool = False,
) -> Any:
    """Declare a setting. A secret, or a value that people put secrets into, stays out of `repr`."""
    about = {"description": description, "parse": parse, "within": within}
    return field(default=default, repr=not secret, metadata=about)


def _secret_variable(default: str, description: str) -> Any:
    """Declare the name of an environment variable that holds a secret."""
    return setting(default, description, parse=parsers.required_variable_name, secret=True)


def _address(description: str, secret_key: str, example: str = "https://host/v1") -> Any:
    """Declare the URL of an endpoint. People put secrets into URLs; these belong under `secret_key`."""
    return setting("", description, parse=parsers.address(secret_key, example), secret=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    max_open_conns: int = setting(
        limits.POOL_MAX_CONNECTIONS,
        "Maximum number of open connections per process. With 1, reads and writes take turns.",
        within=(1, limits.CONNECTIONS_MAX_COUNT),
    )
    max_idle_conns: int = setting(
        limits.POOL_MAX_CONNECTIONS,
        "PostgreSQL: connections kept open between requests, at most `max_open_conns`. SQLite keeps all.",
        within=(1, limits.CONNECTIONS_MAX_COUNT),
    )
    conn_max_lifetime: timedelta = setting(  # noqa: RUF009 (a field)
        timedelta(0), "PostgreSQL: replace connections older than this (`45s`, `30m`, `1h30m`). `0s`: never."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSettings:
    busy_timeout_ms: int = setting(
        limits.SQLITE_BUSY_TIMEOUT_MS,
        "How long SQLite waits for the lock of another process before Tacit tries again.",
        within=(0, limits.BUSY_TIMEOUT_MAX_MS),
    )
    cache_mib: int = setting(
        limits.SQLITE_CACHE_MIB, "Page cache of each connection.", within=(1, limits.SQLITE_CACHE_MAX_MIB)
    )
    wal: bool = setting(
        True,
        "Use a write-ahead log, so that readers and the writer do not block each other. Turn it "
        "off only on file systems that do not support it, such as network folders.",
    )
    foreign_keys: Literal[True] = setting(
        True,
        "Must be `true`: the schema relies on foreign keys.",
        parse=parsers.always_true("the schema relies on foreign keys"),
    )
    synchronous: Literal["normal", "full", "extra"] = setting(
        "normal", "See [what survives a power cut](#what-survives-a-power-cut)."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DbSettings:
    driver: Literal["sqlite", "postgres"] = setting("sqlite", "The database. `postgres` needs the `postgres` extra.")
    dsn: str = setting(
        "",
        "Path or URL of the database; see [which database is opened](#which-database-is-opened).",
        parse=parsers.dsn,
        secret=True,
    )
    pool: PoolSettings = field(default_factory=PoolSettings)
    sqlite: SqliteSettings = field(default_factory=SqliteSettings)
    automigrate: bool = setting(True, "Migrate the schema when opening the database.")


def _days_of(kind: str) -> Any:
    days = limits.KIND_TTL_DAYS[kind]
    return setting(days, "Days until a memory of this kind expires.", within=_DAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlDaysSettings:
    context: int = _days_of("context")
    event: int = _days_of("event")
    task: int = _days_of("task")
    observation: int = _days_of("observation")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsSettings:
    keep: bool = setting(
        True,
        "Keep what people say word for word, as [episodes](recall.md#episodes), so that recall can quote "
        "them. `false`: what is not understood as a fact is lost, for `tacit learn --again` too. Never "
        "where memory is disabled.",
    )
    retention_days: int = setting(90, "Days until an episode is deleted.", within=_DAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    enabled: bool = setting(
        True, "`false`: nothing is read or stored. Even when `true`, a request without an identity has no memory."
    )
    space: str = setting("default", "The tenant of requests that name none.", parse=parsers.space)
    categories: tuple[str, ...] = setting(
        (),
        "Categories in addition to the built-in ones: lower-case letters, digits, `-` and `_`.",
        parse=parsers.category,
    )
    read: Literal["union", "canonical"] = setting(
        "union",
        "`union`: read what a person said before linking an account together with that account. "
        "`canonical`: read the account only.",
    )
    local_person: str | None = setting(
        None,
        "External key (`telegram:123`, `acct:42`) of the local person, for whom the command line "
        "acts without `--as`. Unset: memory is disabled there.",
        parse=parsers.optional_external_key,
    )
    ttl_days: TtlDaysSettings = field(default_factory=TtlDaysSettings)
    sessions: SessionsSettings = field(default_factory=SessionsSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    provider: Literal["auto", "local", "folder", "endpoint", "none"] = setting(
        "auto", "Which model embeds texts; see [which model finds by meaning](#which-model-finds-by-meaning)."
    )
    folder: str = setting(
        "", "`folder`: path of a folder with an ONNX model and its `tokenizer.json`.", parse=parsers.path
    )
    url: str = _address(
        "`endpoint`: its URL, such as `https://host/v1`, with nothing after the path.", "embedding.api_key"
    )
    model: str = setting("", "`endpoint`: the name of the model.", parse=parsers.label)
    api_key: str = setting(
        "",
        "`endpoint`: the API key, if it needs one. Prefer the variable to a file.",
        parse=parsers.api_key,
        secret=True,
    )
    dimension: int = setting(
        0,
        "`endpoint`: the dimension to request. `0`: the default of the model.",
        within=(0, limits.EMBEDDING_DIMENSION_MAX_COUNT),
    )
    threads: int = setting(
        limits.EMBEDDING_THREADS_DEFAULT_COUNT,
        "`auto`, `local`, `folder`: CPU threads per text.",
        within=(1, limits.EMBEDDING_THREADS_MAX_COUNT),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageSettings:
    provider: Literal["none", "openai", "anthropic"] = setting(
        "none",
        "The language model that learns. `openai` is the API or any compatible server; see "
        "[which model learns](#which-model-learns).",
    )
    model: str = setting("", "The name of the model.", parse=parsers.label)
    base_url: str = _address(
        "Such as `https://host/v1`, with nothing after the path. Empty: the URL of the provider.",
        "language.api_key_env",
    )
    api_key_env: str = setting(
        "",
        "**Name** of the environment variable that holds the API key, such as `OPENAI_API_KEY`; "
        "it must not begin with `TACIT_`. A server of your own may need none.",
        parse=parsers.variable_name,
        secret=True,
    )
    timeout_seconds: float = setting(
        limits.LANGUAGE_TIMEOUT_DEFAULT_SECONDS,
        "Timeout of one request, including retries, pauses and repairs.",
        within=(limits.LANGUAGE_TIMEOUT_MIN_SECONDS, limits.LANGUAGE_TIMEOUT_MAX_SECONDS),
    )
    retries: int = setting(
        limits.LANGUAGE_RETRIES_DEFAULT_COUNT,
        "Retries after a transient failure.",
        within=(0, limits.LANGUAGE_RETRIES_MAX_COUNT),
    )
    max_output_tokens: int = setting(
        limits.LANGUAGE_OUTPUT_DEFAULT_TOKENS,
        "Maximum tokens of one answer.",
        within=(1, limits.LANGUAGE_OUTPUT_MAX_TOKENS),
    )
    temperature: float | None = setting(
        limits.LANGUAGE_TEMPERATURE_DEFAULT,
        "Not sent to models that accept none. Empty: the default of the model.",
        within=(0, limits.LANGUAGE_TEMPERATURE_MAX),
    )
    output: Literal["auto", "tool", "schema", "prompt"] = setting(
        "auto", "How structured answers are requested; see [language models](language.md#how-an-answer-is-asked-for)."
    )
    price_in_per_million: float = setting(
        0.0, "Price of a million input tokens, in your currency.", within=(0, limits.LANGUAGE_PRICE_MAX_PER_MILLION)
    )
    price_out_per_million: float = setting(
        0.0, "Price of a million output tokens, in your currency.", within=(0, limits.LANGUAGE_PRICE_MAX_PER_MILLION)
    )
    tokens_per_day: int | None = setting(
        None,
        "Tokens that each space may use per day (UTC). Empty: no limit.",
        within=(0, limits.LANGUAGE_TOKENS_MAX_PER_DAY),
    )
    cost_per_day: float | None = setting(
        None,
        "Cost that each space may incur per day (UTC), in the currency of the prices, which it needs. Empty: no limit.",
        within=(0, limits.LANGUAGE_COST_MAX_PER_DAY),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    tokenizer: str = setting(
        "",
        "Path of the `tokenizer.json` that counts `budget_tokens`. Empty: tokens are estimated, "
        "within 20 % on ordinary text.",
        parse=parsers.path,
    )
    link_min: float = setting(0.6, "Minimum similarity of related memories.", within=(0, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSettings:
    style: Literal["memory", "filtered", "summary"] = setting(
        "memory",
        "How a block is written: `memory` (headings), `filtered` (keys and values) or `summary` "
        "(long-term memories and recent sessions of [notes](notes.md), limited by "
        "`notes.items_max`).",
    )
    items_max: int = setting(limits.BLOCK_ITEMS_MAX_COUNT, "Maximum memories in a block.", within=(1, 1_000))
    chars_max: int = setting(
        limits.BLOCK_MAX_CHARS,
        "Maximum characters of a block, headings included.",
        within=(_BLOCK_LOWEST_CHARS, 1_000_000),
    )
    conversation_gap: timedelta = setting(  # noqa: RUF009 (a field)
        timedelta(hours=1),
        "Build a new block when none was requested for this long: a new conversation began. `0s`: every time.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnSettings:
    enabled: bool = setting(True, "`false`: learn nothing from conversations; explicit `remember` still works.")
    confirm: Literal["never", "new", "always"] = setting(
        "never",
        "Ask before storing what was mentioned in passing: never, for new facts (not for changes) "
        "or always. What a person asks to remember is stored at once.",
    )
    daily_max_count: int = setting(
        limits.LEARN_WRITES_DEFAULT_PER_DAY,
        "Maximum memories learned per person and day.",
        within=(1, limits.LEARN_WRITES_MAX_PER_DAY),
    )
    min_chars: int = setting(
        limits.LEARN_TURN_MIN_DEFAULT_CHARS,
        "Messages shorter than this are read by rules only, not by the language model.",
        within=(0, limits.LEARN_TURN_MIN_MAX_CHARS),
    )
    debounce_seconds: int = setting(
        limits.LEARN_DEBOUNCE_DEFAULT_SECONDS,
        "How long a thread must be quiet before the language model reads it. Rules do not wait.",
        within=(0, limits.LEARN_DEBOUNCE_MAX_SECONDS),
    )
    workers: int = setting(
        limits.LEARN_WORKERS_DEFAULT_COUNT,
        "Learning threads of this process. `0`: leave it to another process, such as "
        "`tacit work`. Short commands have none.",
        within=(0, limits.LEARN_WORKERS_MAX_COUNT),
    )
    locale: str = setting(
        "auto",
        "Language of the learning rules, such as `en` or `de`. `auto`: detect it per message.",
        parse=parsers.locale,
    )
    quarantine: bool = setting(
        True,
        "Quarantine what reads like an instruction or comes from a tool: it is stored with its "
        "source, and not recalled.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleSettings:
    fade_after_days: int = setting(
        limits.FADE_AFTER_DEFAULT_DAYS,
        "Days without use after which an unimportant memory [fades](lifecycle.md).",
        within=_DAYS,
    )
    fade_below_importance: int = setting(
        limits.FADE_BELOW_DEFAULT_IMPORTANCE,
        "Only memories less important than this fade: 1 is none, 6 is all.",
        within=(limits.IMPORTANCE_MIN, limits.IMPORTANCE_MAX + 1),
    )
    max_entries: int | None = setting(
        None,
        "Maximum active memories per owner; the least used beyond it are forgotten. Empty: no limit.",
        within=(1, limits.MEMORIES_PER_OWNER_MAX_COUNT),
    )
    restorable_days: int = setting(
        limits.RESTORABLE_DAYS, "Days for which a forgotten or expired memory can be restored.", within=_DAYS
    )


def _period(task: str, does: str) -> Any:
    default = timedelta(hours=limits.JOBS_EVERY_HOURS[task])
    allowed = f"{parsers.PERIOD_RANGE}, or `off`"
    return setting(default, f"How often to {does}: {allowed}.", parse=parsers.period)


@dataclass(frozen=True, slots=True, kw_only=True)
class EverySettings:
    """Intervals of the scheduled tasks of a space. None: the task is not scheduled."""

    expire: timedelta | None = _period(  # noqa: RUF009 (a field)
        "expire", "forget memories that expired, faded or exceed `lifecycle.max_entries`"
    )
    purge: timedelta | None = _period(  # noqa: RUF009 (a field)
        "purge", "purge memories that can no longer be restored"
    )
    consolidate: timedelta | None = _period(  # noqa: RUF009 (a field)
        "consolidate", "merge duplicate memories"
    )
    reflect: timedelta | None = _period(  # noqa: RUF009 (a field)
        "reflect", "infer insights about people, where `reflect` allows it"
    )
    reembed: timedelta | None = _period(  # noqa: RUF009 (a field)
        "reembed", "embed memories that have no vector"
    )
    summarise: timedelta | None = _period(  # noqa: RUF009 (a field)
        "summarise", "summarize finished conversations, where `reflect` allows it"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsSettings:
    every: EverySettings = field(default_factory=EverySettings)
    on_open: bool = setting(
        True,
        "Run overdue `expire` and `purge` tasks in the background when a process with `learn.workers` opens a memory.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseSettings:
    journal: str = setting(
        "",
        "Path of the [erasure journal](erasure.md#the-journal), which repeats erasures in a "
        "restored backup. Empty: next to a SQLite file; none for PostgreSQL.",
        parse=parsers.path,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateSettings:
    enabled: bool = setting(True, "Merge memories that [say the same](consolidation.md) and have the same audience.")
    pairs_per_day: int = setting(
        limits.CONSOLIDATE_PAIRS_PER_DAY,
        "Pairs per person and day that the language model compares.",
        within=(0, limits.CONSOLIDATE_PAIRS_MAX_PER_DAY),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectSettings:
    enabled: bool = setting(
        False,
        "Let the language model infer [insights](consolidation.md#reflection) about a person from "
        "their private conversations.",
    )
    insight_days: int = setting(limits.INSIGHT_DAYS, "Days until an insight expires.", within=_DAYS)
    summaries: bool = setting(
        False,
        "Let it [summarize](consolidation.md#summaries) finished private conversations; needs `memory.sessions.keep`.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesSettings:
    enabled: bool = setting(
        False,
        "Mirror sessions and long-term memories as [Markdown files](notes.md) that people read "
        "and edit; needs the `notes` extra.",
    )
    dir: str = setting(
        "", "Folder of these files. Empty: `notes` next to a SQLite file; PostgreSQL needs a path.", parse=parsers.path
    )
    watch: bool = setting(
        True,
        "Mirror changes within a second while a process has the memory open. `false`: when it "
        "opens and closes, and with `tacit notes sync`.",
    )
    short_term_days: int = setting(
        limits.NOTE_DAYS_DEFAULT,
        "Days of sessions that a new session starts with, today included.",
        within=(1, limits.NOTE_DAYS_MAX),
    )
    items_max: int = setting(
        limits.NOTE_ITEMS_SHOWN_DEFAULT_COUNT,
        "Maximum lines of a block in the style `summary`.",
        within=(1, limits.NOTE_ITEMS_SHOWN_MAX_COUNT),
    )
    forget_at_once_max: int = setting(
        limits.NOTE_FORGET_AT_ONCE_DEFAULT_COUNT,
        "Lines removed from the files at once that are forgotten without [confirmation](notes.md#when-much-is-gone).",
        within=(0, limits.NOTE_FORGET_AT_ONCE_MAX_COUNT),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsSettings:
    keep_days: int = setting(
        limits.EVENTS_KEEP_DEFAULT_DAYS,
        "Days for which [event counts](metrics.md#events) are kept. `0`: none are recorded.",
        within=(0, limits.EVENTS_KEEP_MAX_DAYS),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    exporter: Literal["off", "prometheus", "opentelemetry"] = setting(
        "off", "Where [metrics](metrics.md#metrics) go. Both exporters need the `metrics` extra."
    )
    port: int = setting(
        limits.METRICS_DEFAULT_PORT,
        "`prometheus`: port on this machine at which `tacit metrics` and `tacit work` are scraped. "
        "`0`: `tacit work` is not.",
        within=_PORT,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    host: str = setting(
        limits.SERVER_DEFAULT_HOST,
        "Where [`tacit serve`](deploy.md) listens: a name or an address. Except on this machine, "
        "it starts only if there are API keys.",
        parse=parsers.host,
    )
    port: int = setting(limits.SERVER_DEFAULT_PORT, "`0`: a free port, which is printed on stderr.", within=_PORT)
    local: bool = setting(
        True,
        "Treat a request from this machine without an API key as the local person "
        "(`memory.local_person`, or `local:me`). Set `false` "
        "[behind a proxy](deploy.md#behind-a-proxy), where every request comes from this machine.",
    )
    allowed_hosts: tuple[str, ...] = setting(
        (),
        "Accepted `Host` headers, without port or wildcard, in addition to `localhost`, "
        "`127.0.0.1`, `[::1]` and `server.host`.",
        parse=parsers.allowed_host,
    )
    allowed_origins: tuple[str, ...] = setting(
        (),
        "Origins of web pages that may send requests, such as `https://app.example.org`, in "
        "addition to the server's own.",
        parse=parsers.origin,
    )
    body_max_bytes: int = setting(
        limits.SERVER_BODY_MAX_BYTES,
        "Maximum request body, counted while it is read. Imports may have 67108864.",
        within=(limits.SERVER_BODY_LOWEST_BYTES, limits.SERVER_BODY_HIGHEST_BYTES),
    )
    rate_per_minute: int = setting(
        limits.SERVER_RATE_PER_MINUTE,
        "Requests per minute of one API key, or of the local person, in each process. A key may have its own limit.",
        within=(1, limits.SERVER_RATE_HIGHEST_PER_MINUTE),
    )
    threads: int = setting(
        limits.SERVER_THREADS_COUNT, "Concurrent requests per process.", within=(1, limits.SERVER_THREADS_MAX_COUNT)
    )
    workers: int = setting(1, "Processes. More than one needs PostgreSQL.", within=(1, limits.SERVER_WORKERS_MAX_COUNT))
    drain_seconds: int = setting(
        limits.SERVER_DRAIN_SECONDS,
        "How long a server that stops waits for running requests.",
        within=(0, limits.SERVER_DRAIN_MAX_SECONDS),
    )
    log: Literal["auto", "json", "plain"] = setting(
        "auto",
        "Format of the request log on stderr, [without content](deploy.md#logs): `auto` is `plain` "
        "on a terminal and `json` elsewhere.",
    )
    mcp: bool = setting(True, "Serve MCP tools at `/mcp`.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings:
    enabled: bool = setting(True, "Serve the [console](console.md) at `/`.")
    url: str = setting(
        "",
        "Public URL of the console, such as `https://memory.example.org`, for links that bots "
        "send and behind a proxy. Its host and origin are accepted as if listed in "
        "`server.allowed_hosts` and `server.allowed_origins`. Empty: links point to `server.host` "
        "and `server.port`, and bots send none.",
        parse=parsers.console_url,
    )
    link_minutes: int = setting(
        limits.SIGN_IN_DEFAULT_MINUTES, "Lifetime of a one-time sign-in link.", within=(1, limits.SIGN_IN_MAX_MINUTES)
    )
    idle_minutes: int = setting(
        limits.WEB_SESSION_IDLE_DEFAULT_MINUTES,
        "Sign out after this long without a request.",
        within=(limits.WEB_SESSION_IDLE_MIN_MINUTES, limits.WEB_SESSION_IDLE_MAX_MINUTES),
    )
    session_hours: int = setting(
        limits.WEB_SESSION_DEFAULT_HOURS,
        "Sign out after this long in any case.",
        within=(1, limits.WEB_SESSION_MAX_HOURS),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    instructions: str = setting(
        "",
        "Instructions for the model of your [bots](chat.md), after the built-in rules: up to 20000 characters.",
        parse=parsers.instructions,
    )
    consent: Literal["auto", "buttons"] = setting(
        "auto",
        "How consent is requested: `auto` (by the model in its own words; without a model, with buttons) or `buttons`.",
    )
    confirm: Literal["never", "new", "always"] = setting("new", "Replaces `learn.confirm` in bots and `tacit chat`.")
    recent: int = setting(
        limits.CHAT_RECENT_DEFAULT_COUNT,
        "Earlier messages of the chat that the model sees. They are kept in the process only.",
        within=(0, limits.CHAT_RECENT_MAX_COUNT),
    )
    recall_calls: int = setting(
        limits.CHAT_RECALLS_DEFAULT_COUNT,
        "How often the model may call recall for one answer.",
        within=(0, limits.CHAT_RECALLS_MAX_COUNT),
    )
    recall_tokens: int = setting(
        limits.CHAT_RECALL_DEFAULT_TOKENS,
        "Maximum tokens that these calls return together; estimated, within 20 % on ordinary text.",
        within=(1, limits.CHAT_RECALL_MAX_TOKENS),
    )
    threads: int = setting(
        limits.CHAT_THREADS_DEFAULT_COUNT, "Chats handled concurrently.", within=(1, limits.CHAT_THREADS_MAX_COUNT)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSettings:
    token_env: str = _secret_variable(
        "TELEGRAM_BOT_TOKEN",
        "**Name** of the environment variable that holds the bot token; it must not begin with `TACIT_`.",
    )
    api_url: str = _address(
        "URL of the Bot API, such as `https://host`, with nothing after the path. Empty: Telegram's.",
        "telegram.token_env",
        "https://host",
    )
    mode: Literal["polling", "webhook"] = setting(
        "polling", "`polling`: the bot fetches updates. `webhook`: Telegram posts them to `telegram.webhook_url`."
    )
    webhook_url: str = _address(
        "`webhook`: the URL that Telegram calls, such as `https://bot.example.org/telegram`.",
        "telegram.secret_env",
        "https://bot.example.org/telegram",
    )
    secret_env: str = _secret_variable(
        "TELEGRAM_WEBHOOK_SECRET",
        "`webhook`: **name** of the variable that holds the secret token of Telegram's requests.",
    )
    host: str = setting(
        limits.SERVER_DEFAULT_HOST, "`webhook`: where the bot listens, behind a proxy.", parse=parsers.host
    )
    port: int = setting(limits.TELEGRAM_DEFAULT_PORT, "`0`: a free port.", within=_PORT)
    allowed_chats: tuple[str, ...] = setting(
        (),
        "Answer only these chats, as `/id` prints them: `telegram:-1001234567890`. Empty: every "
        "chat. `/id` works in every chat.",
        parse=parsers.telegram_chat,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSettings:
    token_env: str = _secret_variable(
        "SLACK_BOT_TOKEN",
        "**Name** of the environment variable that holds the bot token; it must not begin with `TACIT_`.",
    )
    secret_env: str = _secret_variable(
        "SLACK_SIGNING_SECRET", "**Name** of the variable that holds the signing secret."
    )
    api_url: str = _address(
        "URL of the Web API, such as `https://host/api`, with nothing after the path. Empty: Slack's.",
        "slack.token_env",
        "https://host/api",
    )
    host: str = setting(limits.SERVER_DEFAULT_HOST, "Where the bot listens, behind a proxy.", parse=parsers.host)
    port: int = setting(limits.SLACK_DEFAULT_PORT, "`0`: a free port.", within=_PORT)
    allowed_chats: tuple[str, ...] = setting(
        (),
        "Answer only these chats, as `/id` prints them: `slack:T0123456789:C0123456789`. Empty: "
        "every chat. `/id` works in every chat.",
        parse=parsers.slack_chat,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CategorySetting:
    """How memories of one category get into a prompt."""

    name: str
    context: Literal["all", "rag"] = "all"  # all: in the block. rag: by recall only.
    rag_length: int = RAG_LENGTH_DEFAULT_COUNT  # rag: at most this many


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
    # Only a settings file can hold these two. A category without an entry is in the block.
    categories: tuple[CategorySetting, ...] = ()
    # Agent → categories it may use. If empty, every agent may use every category; otherwise an
    # agent without an entry may use none.
    allowlists: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        # A copy, so that the caller's dictionary cannot change the settings later.
        object.__setattr__(self, "allowlists", MappingProxyType(dict(self.allowlists)))


def category_names(settings: Settings) -> tuple[str, ...]:
    """List every known category: the built-in ones and each that the settings name."""
    listed = [name for names in settings.allowlists.values() for name in names]
    used = [one.name for one in settings.categories]
    return tuple(dict.fromkeys((*CATEGORIES, *settings.memory.categories, *used, *listed)))
