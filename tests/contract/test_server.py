"""A PostgreSQL server in its own right: it plans by what it knows, and it may drop connections."""

import psycopg
import pytest
from sqlalchemy import make_url

import tacit
from tacit.storage import postgres
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, private, said


def plain(url: str) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def rows_as_planned(url: str) -> float:
    """How many memories the planner believes there are; -1 where it was never told."""
    with psycopg.connect(plain(url)) as connection:
        found = connection.execute("SELECT reltuples FROM pg_class WHERE relname = 'memories'")
        (count,) = found.fetchone() or (None,)
    return float(count)


def drop_connections(url: str) -> int:
    with psycopg.connect(plain(url), autocommit=True) as connection:
        found = connection.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        (count,) = found.fetchone() or (0,)
    return int(count)


def test_a_new_database_is_analysed_as_it_grows(fresh_postgres_url: str) -> None:
    with tacit.open(fresh_postgres_url, embedder=None) as memory:
        assert rows_as_planned(fresh_postgres_url) == -1
        view = private(memory, ALICE)
        for number in range(110):
            view.remember(f"tea {number}")
    assert rows_as_planned(fresh_postgres_url) >= 90


def test_a_connection_that_was_dropped_while_it_rested_is_replaced(
    fresh_postgres_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_IDLE_SECONDS", 0.0)  # any rest is long enough
    memory = opened(fresh_postgres_url)
    view = private(memory, ALICE)
    view.remember("tea")
    assert drop_connections(fresh_postgres_url) > 0
    assert said(view.list()) == ["tea"]
    assert drop_connections(fresh_postgres_url) > 0
    view.remember("coffee")
    assert sorted(said(view.list())) == ["coffee", "tea"]


def test_a_connection_that_is_dropped_in_use_fails_once_and_keeps_nothing_half(
    fresh_postgres_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_IDLE_SECONDS", 1e9)  # none is ever asked beforehand
    memory = opened(fresh_postgres_url)
    view = private(memory, ALICE)
    view.remember("tea")
    for act in (lambda: view.remember("coffee"), view.list, lambda: view.recall("tea")):
        assert drop_connections(fresh_postgres_url) > 0
        with pytest.raises(tacit.StoreError):
            act()
        assert said(view.list()) == ["tea"]
