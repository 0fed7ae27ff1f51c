"""Read the settings and build an open memory from them: the composition root."""

from __future__ import annotations

import os
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tacit import settings as settings_
from tacit.clock import Clock, system_clock
from tacit.embeddings.embedder import Embedder, create_embedder
from tacit.errors import InvalidInput, SettingsError
from tacit.learning.extraction.locale import check_locale
from tacit.learning.pipeline import LearningOptions
from tacit.learning.reconciliation import Confirm
from tacit.lifecycle.backup import check_backup_file, check_restored_database, install_backup
from tacit.lifecycle.erasure_records import journal_path
from tacit.lifecycle.erasure_replay import replay_journal
from tacit.lifecycle.tasks import LifecycleOptions
from tacit.llm.budget import Allowance, Prices
from tacit.llm.endpoint import EndpointModel, create_allowance, read_api_key
from tacit.llm.language_model import LanguageModel, MeasuredLanguageModel
from tacit.memory import Memory
from tacit.prompts.block import Style
from tacit.records.results import Backup, Restored
from tacit.records.token_counts import estimate_tokens, load_token_counter
from tacit.records.validation import parse_space
from tacit.settings import Settings
from tacit.storage.backend import DatabaseOptions, database_file, migrate_schema, open_database, require_current_schema
from tacit.storage.engine import Database
from tacit.storage.store import Store
from tacit.telemetry.metrics import create_meter
from tacit.telemetry.spans import RequestTracer, create_tracer
from tacit.view.context import Runtime, ViewOptions

if TYPE_CHECKING:
    from tacit.notes.mirror import MirrorThread


def load_settings(path: Path | None = None) -> Settings:
    return settings_.load(path, environ=os.environ, home=Path.home(), cwd=Path.cwd())


def open_memory(
    url: str | Path | None = None,
    *,
    space: str | None = None,
    settings: Settings | None = None,
    clock: Clock = system_clock,
    embedder: Embedder | Literal["by settings"] | None = "by settings",
    mirror: bool = True,
) -> Memory:
    """Open a memory. Without `mirror`, note files are only read and written on request."""
    chosen = settings or load_settings()
    settings_.check_together(chosen)  # settings that a program made are not checked yet
    url = _resolve_url(url, chosen)
    policy = _build_view_options(chosen)
    maker = _build_embedder(chosen) if embedder == "by settings" else embedder
    meter = create_meter(chosen.metrics.exporter)
    model, allowed = _build_llm(chosen)
    if model is not None and meter.on:
        model = MeasuredLanguageModel(model, meter)
    learning = _build_learning(chosen, model, allowed) if chosen.learn.enabled else None
    database = open_database(url, _build_engine_options(chosen))
    try:
        (migrate_schema if chosen.db.automigrate else require_current_schema)(database)
    except BaseException:
        database.close()
        raise
    journal = _journal_path(chosen, database)
    days = chosen.events.keep_days
    store = Store(database, clock, meter=meter, keep_events_days=days, journal=journal)
    try:
        replay_journal(store)  # before any read
    except BaseException:
        store.close()
        raise
    try:
        mirroring = _build_note_sync(chosen, store) if chosen.notes.enabled else None
    except BaseException:
        store.close()
        raise
    workers, upkeep = chosen.learn.workers, _build_upkeep(chosen)
    runtime = Runtime(store, maker, learning, workers, upkeep, mirroring, model, allowed)
    where, enabled = space or chosen.memory.space, chosen.memory.enabled
    memory = Memory(runtime, policy, parse_space(where), enabled)
    if enabled:
        if mirror:
            runtime.start_note_sync()
        runtime.run_overdue_tasks(where)
    return memory


def request_spans(settings: Settings) -> RequestTracer:
    """Create the tracer of server requests; it uses the exporter of the metrics."""
    return create_tracer(settings.metrics.exporter)


def restore_backup(
    path: str | Path, url: str | Path | None = None, *, settings: Settings | None = None, clock: Clock = system_clock
) -> Restored:
    """Replace a SQLite database with a backup, and repeat later erasures before any read.

    The previous files are kept aside. No other process may have the database open.
    """
    chosen = settings or load_settings()
    place = _resolve_url(url, chosen)
    file = database_file(place)
    if file is None:
        raise InvalidInput("db", "is not a SQLite file; restore PostgreSQL with its own tools")
    aside, before = install_backup(_parse_backup_path(path), file)
    current = replace(_without_background_work(chosen), db=replace(chosen.db, automigrate=True))
    open_memory(place, settings=current, clock=clock, embedder=None).close()
    _, counts = check_backup_file(file)
    again = counts["erasures"] - before.get("erasures", 0)
    return Restored(path=str(file), aside=None if aside is None else str(aside), counts=counts, erasures=again)


def verify_backup(
    where: str | Path | None, *, journal: str | Path | None = None, settings: Settings | None = None
) -> Backup:
    """Check a backup file, or a database that was restored from one. With a journal, repeat the
    erasures that it lists."""
    chosen = settings or load_settings()
    place = _resolve_url(where, chosen)
    file = database_file(place)
    used = file is not None and file.with_name(file.name + "-wal").exists()
    if file is not None and journal is None and not used:
        schema, counts = check_backup_file(_parse_backup_path(file))
        size = file.stat().st_size
        return Backup(path=str(file), schema=schema, counts=counts, size_bytes=size)
    if file is not None and not used:
        check_backup_file(_parse_backup_path(file))
    again = 0
    if journal is not None:
        with open_memory(place, settings=_without_background_work(chosen), embedder=None) as memory:
            again = memory.admin.replay_erasures(Path(journal)).count
    database = open_database(place, _build_engine_options(chosen))
    try:
        shown = database.engine.url.render_as_string(hide_password=True)
        return replace(check_restored_database(database, shown), erased_again=again)
    finally:
        database.close()


def _without_background_work(settings: Settings) -> Settings:
    """Return settings without learning, jobs and notes, for work on a copy."""
    learn, jobs = replace(settings.learn, workers=0), replace(settings.jobs, on_open=False)
    return replace(settings, learn=learn, jobs=jobs, notes=replace(settings.notes, enabled=False))


def _resolve_url(url: str | Path | None, settings: Settings) -> str:
    if isinstance(url, Path):
        return str(url)
    if url is None:
        return settings_.database_url(settings, Path.home(), Path.cwd())
    if not isinstance(url, str):
        raise InvalidInput("url", "expected sqlite:///path, a path, or postgresql://…")
    return url


def _parse_backup_path(path: object) -> Path:
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InvalidInput("path", "is not a file name")
    return Path(path)


def _build_view_options(settings: Settings) -> ViewOptions:
    sessions, prompt = settings.memory.sessions, settings.prompt
    counted_by = settings.recall.tokenizer
    return ViewOptions(
        categories=settings_.category_names(settings),
        ttl_days=asdict(settings.memory.ttl_days),
        union=settings.memory.read == "union",
        link_min=settings.recall.link_min,
        turns_days=sessions.retention_days if sessions.keep else None,
        count_tokens=load_token_counter(str(_resolve_path(counted_by))) if counted_by else estimate_tokens,
        style=Style(prompt.style),
        items_max=prompt.items_max,
        chars_max=prompt.chars_max,
        conversation_gap=prompt.conversation_gap,
        recall_only_limits={one.name: one.rag_length for one in settings.categories if one.context == "rag"},
        allowlists=settings.allowlists,
        restorable_days=settings.lifecycle.restorable_days,
        note_days=settings.notes.short_term_days,
        note_items_max=settings.notes.items_max,
        sign_in_minutes=settings.console.link_minutes,
        web_session_idle_minutes=settings.console.idle_minutes,
        web_session_hours=settings.console.session_hours,
    )


def _build_learning(settings: Settings, model: LanguageModel | None, allowed: Allowance) -> LearningOptions:
    chosen = settings.learn
    return LearningOptions(
        ttls=asdict(settings.memory.ttl_days),
        link_min=settings.recall.link_min,
        confirm=Confirm(chosen.confirm),
        daily_max=chosen.daily_max_count,
        min_chars=chosen.min_chars,
        debounce_seconds=chosen.debounce_seconds,
        locale=check_locale(chosen.locale),
        quarantine=chosen.quarantine,
        model=model,
        allowance=allowed,
    )


def _build_upkeep(settings: Settings) -> LifecycleOptions:
    every = settings.jobs.every
    periods = {one.name: getattr(every, one.name) for one in fields(every)}
    return LifecycleOptions(
        intervals={task: period for task, period in periods.items() if period is not None},
        runs_on_open=settings.jobs.on_open,
        **asdict(settings.lifecycle),
        consolidate_enabled=settings.consolidate.enabled,
        consolidate_pairs_per_day=settings.consolidate.pairs_per_day,
        reflect_enabled=settings.reflect.enabled,
        reflect_insight_days=settings.reflect.insight_days,
        reflect_summaries=settings.reflect.summaries,
        summary_days=settings.memory.ttl_days.event,
    )


def _build_embedder(settings: Settings) -> Embedder | None:
    chosen = settings.embedding
    # Turn off the telemetry of onnxruntime, which reads this variable when it is imported later.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    return create_embedder(
        chosen.provider,
        folder=_resolve_path(chosen.folder) if chosen.folder else None,
        url=chosen.url,
        model=chosen.model,
        api_key=chosen.api_key or None,
        dimension=chosen.dimension or None,
        threads=chosen.threads,
    )


def _build_llm(settings: Settings) -> tuple[LanguageModel | None, Allowance]:
    """Create the language model, if one is set, and the daily budget of each space."""
    chosen = settings.language
    prices = Prices(in_per_million=chosen.price_in_per_million, out_per_million=chosen.price_out_per_million)
    if chosen.provider == "none":
        return None, Allowance()
    model = EndpointModel(
        chosen.provider,
        chosen.model,
        base_url=chosen.base_url or None,
        api_key=read_api_key(chosen.api_key_env, os.environ),
        timeout_seconds=chosen.timeout_seconds,
        retries=chosen.retries,
        max_output_tokens=chosen.max_output_tokens,
        temperature=chosen.temperature,
        output=chosen.output,
        prices=prices,
    )
    return model, create_allowance(chosen.tokens_per_day, chosen.cost_per_day)


def _journal_path(settings: Settings, database: Database) -> Path | None:
    """Return the path of the erasure journal: as set, else next to a SQLite file."""
    if settings.erase.journal:
        return _resolve_path(settings.erase.journal)
    file = database.file
    return None if file is None else journal_path(file)


def _build_note_sync(settings: Settings, store: Store) -> MirrorThread:
    """Create the mirror of note files. Imported late: only notes need its dependencies."""
    from tacit.notes.mirror import MirrorThread, NotesMirror
    from tacit.notes.writers import NoteRetention

    chosen, file = settings.notes, store.database.file
    if chosen.dir:
        folder = _resolve_path(chosen.dir)
    elif file is not None:
        folder = file.with_name("notes")
    else:
        problem = "is empty, and there is no SQLite file to put notes next to; name a folder"
        raise SettingsError(f"notes.dir: {problem}")
    days = settings.lifecycle.restorable_days
    how = NoteRetention(ttls=asdict(settings.memory.ttl_days), restorable_days=days)
    mirror = NotesMirror(store, folder, how, forget_at_once_max=chosen.forget_at_once_max)
    return MirrorThread(mirror, watch=chosen.watch)


def _resolve_path(written: str) -> Path:
    return settings_.resolve_path(written, Path.home(), Path.cwd())


def _build_engine_options(settings: Settings) -> DatabaseOptions:
    db = settings.db
    return DatabaseOptions(
        synchronous=db.sqlite.synchronous,
        wal=db.sqlite.wal,
        busy_timeout_ms=db.sqlite.busy_timeout_ms,
        cache_mib=db.sqlite.cache_mib,
        max_connections=db.pool.max_open_conns,
        idle_connections=db.pool.max_idle_conns,
        connection_lifetime_seconds=int(db.pool.conn_max_lifetime.total_seconds()),
    )
