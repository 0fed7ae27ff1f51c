"""Fixtures for every test: how hard Hypothesis searches, and the databases to run on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.databases import PostgresDatabases

# Tests that are about meaning name an embedder; all others, and the processes they start, go by
# words and do not wait for a model.
os.environ.setdefault("TACIT_EMBEDDING_PROVIDER", "none")
# Nor does anybody tidy up behind the back of a test that is not about it.
os.environ.setdefault("TACIT_JOBS_ON_OPEN", "false")

NO_POSTGRES = "TACIT_TEST_POSTGRES is not set: run `make test`, which brings up a PostgreSQL"

# No deadlines: a database that flushes to disk now and then is slow, and not wrong.
settings.register_profile(
    "default",
    deadline=None,
    print_blob=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2_000)
settings.load_profile(os.environ.get("TACIT_HYPOTHESIS_PROFILE", "default"))


EVERYWHERE = bool(os.environ.get("TACIT_TEST_EVERYWHERE"))
ALSO_IN_MEMORY = {
    "test_block",
    "test_changes",
    "test_erased_tables",
    "test_fresh",
    "test_keys",
    "test_people",
    "test_predicate",
    "test_query",
    "test_recall_results",
    "test_relations",
    "test_sessions",
    "test_spaces",
    "test_state_machine",
    "test_writing",
}


@pytest.fixture(scope="session")
def postgres_server() -> str:
    """The maintenance database of a real PostgreSQL, as superuser."""
    url = os.environ.get("TACIT_TEST_POSTGRES")
    if url:
        return url
    if os.environ.get("CI"):
        pytest.fail(NO_POSTGRES)
    pytest.skip(NO_POSTGRES)


@pytest.fixture(scope="session")
def postgres_databases(postgres_server: str) -> Iterator[PostgresDatabases]:
    databases = PostgresDatabases(postgres_server)
    yield databases
    databases.close()


@pytest.fixture
def fresh_postgres_url(postgres_databases: PostgresDatabases) -> Iterator[str]:
    """An empty PostgreSQL database, for tests of what happens before and during migrations."""
    url = postgres_databases.create()
    yield url
    postgres_databases.drop(url)


@pytest.fixture
def migrated_postgres_url(postgres_databases: PostgresDatabases) -> str:
    """A PostgreSQL database with today's schema and no rows."""
    return postgres_databases.lend()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What takes `database_url` runs once on each database. SQLite in memory differs from SQLite in
    a file by its one connection: there run those that tell the most, or all of them, if asked to
    (`make test-everywhere`)."""
    chosen = any(
        "database_url" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")
    )
    if "database_url" not in metafunc.fixturenames or chosen:
        return
    in_memory = EVERYWHERE or metafunc.module.__name__.rpartition(".")[2] in ALSO_IN_MEMORY
    names = ["sqlite-memory"] if in_memory else []
    metafunc.parametrize("database_url", [*names, "sqlite-file", "postgres"], indirect=True)


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each database that Tacit runs on: a test that takes this runs once on every one of them."""
    if request.param == "sqlite-memory":
        return "sqlite://"
    if request.param == "sqlite-file":
        return f"sqlite:///{tmp_path / 'tacit.db'}"
    # Asked for only here, so that the tests on SQLite run where there is no PostgreSQL.
    url: str = request.getfixturevalue("migrated_postgres_url")
    return url


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if NO_POSTGRES in str(report.longrepr)
    ]
    if skipped:
        terminalreporter.section("PostgreSQL WAS NOT TESTED", red=True, bold=True)
        terminalreporter.line(f"{len(skipped)} tests were skipped. {NO_POSTGRES}.", red=True)
