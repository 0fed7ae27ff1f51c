"""The composition root: the one place that reads settings and builds everything from them."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from tacit import settings as settings_
from tacit.clock import Clock, system_clock
from tacit.embedding.choose import embedder as make_embedder
from tacit.embedding.port import Embedder
from tacit.errors import InvalidInput
from tacit.language.budget import Allowance, Prices
from tacit.language.choose import allowance, language_model
from tacit.language.port import LanguageModel
from tacit.learn.consent import Confirm
from tacit.learn.path import Learning
from tacit.learn.reading.tongue import checked as checked_tongue
from tacit.lifecycle.policy import Upkeep
from tacit.memory import Memory
from tacit.model.tokens import at_most, counter
from tacit.prompt.styles import Style
from tacit.settings import Settings
from tacit.store.core import Store
from tacit.store.engine import Options, open_database
from tacit.store.migrate import migrate, require_current
from tacit.views.access import Policy
from tacit.views.mind import Mind


def load_settings(path: Path | None = None) -> Settings:
    return settings_.load(path, environ=os.environ, home=Path.home(), cwd=Path.cwd())


def open_memory(
    url: str | Path | None = None,
    *,
    space: str | None = None,
    settings: Settings | None = None,
    clock: Clock = system_clock,
    embedder: Embedder | Literal["by settings"] | None = "by settings",
) -> Memory:
    chosen = settings or load_settings()
    if isinstance(url, Path):
        url = str(url)
    if url is not None and not isinstance(url, str):
        raise InvalidInput("url", "expected sqlite:///path, a path, or postgresql://…")
    if url is None:
        url = settings_.database_url(chosen, Path.home(), Path.cwd())
    policy = _policy(chosen)
    maker = _embedder(chosen) if embedder == "by settings" else embedder
    learning = _learning(chosen) if chosen.learn.enabled else None
    database = open_database(url, _options(chosen))
    try:
        (migrate if chosen.db.automigrate else require_current)(database)
    except BaseException:
        database.close()
        raise
    return Memory(
        Mind(Store(database, clock), maker, learning, chosen.learn.workers, _upkeep(chosen)),
        policy,
        space=space or chosen.memory.space,
        enabled=chosen.memory.enabled,
    )


def _policy(settings: Settings) -> Policy:
    sessions, prompt = settings.memory.sessions, settings.prompt
    counted_by = settings.recall.tokenizer
    return Policy(
        categories=settings_.category_names(settings),
        ttls=asdict(settings.memory.ttl_days),
        union=settings.memory.read == "union",
        link_min=settings.recall.link_min,
        turns_days=sessions.retention_days if sessions.keep else None,
        count=counter(str(_path(counted_by))) if counted_by else at_most,
        style=Style(prompt.style),
        items_max=prompt.items_max,
        chars_max=prompt.chars_max,
        conversation_gap=prompt.conversation_gap,
        recalled_only={
            one.name: one.rag_length for one in settings.categories if one.context == "rag"
        },
        allowlists=settings.allowlists,
    )


def _learning(settings: Settings) -> Learning:
    chosen = settings.learn
    model, allowance = _language(settings)
    return Learning(
        ttls=asdict(settings.memory.ttl_days),
        link_min=settings.recall.link_min,
        confirm=Confirm(chosen.confirm),
        daily_max=chosen.daily_max_count,
        min_chars=chosen.min_chars,
        debounce_seconds=chosen.debounce_seconds,
        tongue=checked_tongue(chosen.tongue),
        quarantine=chosen.quarantine,
        model=model,
        allowance=allowance,
    )


def _upkeep(settings: Settings) -> Upkeep:  # noqa: ARG001 - each part adds its own
    return Upkeep()


def _embedder(settings: Settings) -> Embedder | None:
    chosen = settings.embedding
    return make_embedder(
        chosen.provider,
        folder=_path(chosen.folder) if chosen.folder else None,
        url=chosen.url or None,
        model=chosen.model or None,
        api_key=chosen.api_key or None,
        dimension=chosen.dimension or None,
        threads=chosen.threads,
    )


def _language(settings: Settings) -> tuple[LanguageModel | None, Allowance]:
    """The model, if there is one, and what each space may spend on it in a day."""
    chosen = settings.language
    prices = Prices(
        in_per_million=chosen.price_in_per_million, out_per_million=chosen.price_out_per_million
    )
    model = language_model(
        chosen.provider,
        model=chosen.model,
        base_url=chosen.base_url,
        api_key_env=chosen.api_key_env,
        environ=os.environ,
        timeout_seconds=chosen.timeout_seconds,
        retries=chosen.retries,
        max_output_tokens=chosen.max_output_tokens,
        temperature=chosen.temperature,
        output=chosen.output,
        prices=prices,
    )
    if model is None:
        return None, Allowance()
    bound = allowance(
        prices, tokens_per_day=chosen.tokens_per_day, cost_per_day=chosen.cost_per_day
    )
    return model, bound


def _path(written: str) -> Path:
    return settings_.path_of(written, Path.home(), Path.cwd())


def _options(settings: Settings) -> Options:
    db = settings.db
    return Options(
        synchronous=db.sqlite.synchronous,
        wal=db.sqlite.wal,
        busy_timeout_ms=db.sqlite.busy_timeout_ms,
        max_connections=db.pool.max_open_conns,
        idle_connections=db.pool.max_idle_conns,
        connection_lifetime_seconds=int(db.pool.conn_max_lifetime.total_seconds()),
    )
