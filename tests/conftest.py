"""Fixtures for every test: how hard Hypothesis searches, and the databases to run on."""

import gc
import itertools
import os
import shutil
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import tacit
from tests.databases import PostgresDatabases
from tests.missing import NO_CHROMIUM, NO_POSTGRES

# Tests that are about meaning name an embedder; all others, and the processes they start, go by
# words and do not wait for a model.
os.environ.setdefault("TACIT_EMBEDDING_PROVIDER", "none")
# Nor does anybody tidy up behind the back of a test that is not about it.
os.environ.setdefault("TACIT_JOBS_ON_OPEN", "false")

# Tests commit tens of thousands of times, and on a disk each commit of SQLite waits for it. Processes
# are killed here, machines are not: what a killed process had committed is in memory all the same.
_MEMORY = Path("/dev/shm")
_MEMORY_FREE_MIN_BYTES = 2 << 30


def _has_room(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > _MEMORY_FREE_MIN_BYTES


if _has_room(_MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# A shell lets its background jobs ignore interrupts, and processes that tests start and interrupt
# would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadlines: a database that flushes to disk now and then is slow, and not wrong.
settings.register_profile(
    "default", deadline=None, print_blob=True, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2_000)
settings.load_profile(os.environ.get("TACIT_HYPOTHESIS_PROFILE", "default"))


_FROZEN_EVERY_TESTS = 500
_torn_down = itertools.count(1)


def _freeze() -> None:
    """What is there by now stays: tests by the thousand, and what modules keep. It need not be
    looked through for garbage again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing of what is imported and collected is garbage: nobody looks for any meanwhile."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    _freeze()


def pytest_runtest_logfinish() -> None:
    if next(_torn_down) % _FROZEN_EVERY_TESTS == 0:
        _freeze()


EVERYWHERE = bool(os.environ.get("TACIT_TEST_EVERYWHERE"))
ALSO_IN_MEMORY = {
    "test_changes",
    "test_erased_tables",
    "test_keys",
    "test_people",
    "test_predicate",
    "test_recall_results",
    "test_remember",
    "test_sessions",
    "test_spaces",
}


# Through a server and its client, on SQLite: those that tell the most of a view.
REMOTE = "remote"
ALSO_REMOTE = {
    "test_activity",
    "test_browsing",
    "test_checkpoints",
    "test_data",
    "test_fresh",
    "test_graph",
    "test_audience",
    "test_imports",
    "test_linking",
    "test_people",
    "test_query",
    "test_sessions",
    "test_suggestions",
    "test_transfer",
    "test_remember",
}
# Modules and tests that look behind a view, at the thread that writes, or at what a client leaves
# behind: it names every write, and sends again what failed.
NEVER_REMOTE = {
    "test_sessions_disclosure",
    "test_a_search_that_fails_is_an_error",
    "test_an_edit_of_what_somebody_else_changed_meanwhile_is_not_lost",
    "test_another_key_is_another_write_and_no_key_is_none",
    "test_old_changes_are_let_go_of_and_new_ones_stay",
    "test_what_is_noted_stands_or_falls_with_the_write",
    "test_who_is_writing_while_the_rest_is_looked_through_is_not_overlooked",
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
    chosen = any("database_url" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "database_url" not in metafunc.fixturenames or chosen:
        return
    module = metafunc.module.__name__.rpartition(".")[2]
    in_memory = EVERYWHERE or module in ALSO_IN_MEMORY
    names = ["sqlite-memory"] if in_memory else []
    remote = EVERYWHERE or module in ALSO_REMOTE
    if remote and NEVER_REMOTE.isdisjoint({module, metafunc.function.__name__}):
        names += [REMOTE] if "opened" in metafunc.fixturenames else []
    metafunc.parametrize("database_url", [*names, "sqlite-file", "postgres"], indirect=True)


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with today's schema, which tests copy: migrating one for each takes longer."""
    path = tmp_path_factory.mktemp("migrated") / "tacit.db"
    tacit.open(path, embedder=None).close()
    return path


@pytest.fixture
def migrated_sqlite_url(migrated_file: Path) -> str:
    """A SQLite file with today's schema and no rows, in a folder with nothing else in it.

    It is at the same place for each test: a process that opens it again has its statements compiled.
    """
    folder = migrated_file.with_name("lent")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return f"sqlite:///{shutil.copy(migrated_file, folder / 'tacit.db')}"


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """Each database that Tacit runs on: a test that takes this runs once on every one of them."""
    if request.param in ("sqlite-memory", REMOTE):
        return "sqlite://"
    # Asked for only here, so that the tests on SQLite run where there is no PostgreSQL.
    file = request.param == "sqlite-file"
    url: str = request.getfixturevalue("migrated_sqlite_url" if file else "migrated_postgres_url")
    return url


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for what, why in (("PostgreSQL WAS", NO_POSTGRES), ("THE CONSOLE'S PAGES WERE", NO_CHROMIUM)):
        skipped = [report for report in terminalreporter.stats.get("skipped", []) if why in str(report.longrepr)]
        if skipped:
            terminalreporter.section(f"{what} NOT TESTED", red=True, bold=True)
            terminalreporter.line(f"{len(skipped)} tests were skipped. {why}.", red=True)
