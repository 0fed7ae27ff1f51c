"""More within reach than a process keeps at hand: the database nominates, and the rules hold."""

import pytest
from sqlalchemy import text

import tacit
from tacit import limits
from tests.contract.conftest import Open
from tests.contract.embedders import Table
from tests.contract.rooms import ALICE, BOB, group, index_words, kept, private

MEANINGS = Table({"boat": [1, 0, 0], "ship": [0.9, 0.1, 0], "stone": [0, 1, 0], "house": [0, 0.9, 0.1]})


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that keeps twenty memories at hand, and looks at ten nominees of a kind."""
    monkeypatch.setattr(limits, "PERMITTED_SET_MAX_COUNT", 20)
    monkeypatch.setattr(limits, "CANDIDATES_COUNT", 10)
    monkeypatch.setattr(limits, "VECTORS_INDEXED_FROM_COUNT", 10)


def contents(found: list[tacit.Recalled]) -> list[str]:
    return [one.memory.content for one in found]


def test_what_shares_a_word_is_found_among_many(few: None, database_url: str, opened: Open) -> None:
    view = private(opened(database_url, embedder=None), ALICE)
    view.remember("the zeppelin landed in Friedrichshafen")
    for number in range(60):
        view.remember(f"an ordinary remark, the {number}th")
    assert contents(view.recall("zeppelin", top_k=1)) == ["the zeppelin landed in Friedrichshafen"]


def test_what_is_written_changed_or_gone_since_a_search_is_known_to_the_next(
    few: None, shared_url: str, opened: Open
) -> None:
    memory, other = opened(shared_url, embedder=None), opened(shared_url, embedder=None)
    view = private(memory, ALICE)
    before = kept(view, "the airship was grey")
    for number in range(60):
        view.remember(f"an ordinary remark, the {number}th")
    assert contents(view.recall("zeppelin", top_k=1)) != ["the zeppelin was grey"]
    view.update(before, "the zeppelin was grey")
    late = kept(view, "the zeppelin was late")
    for number in range(30):
        view.remember(f"a further remark, the {number}th")
    for one in (view, private(other, ALICE)):
        found = contents(one.recall("zeppelin", top_k=2))
        assert sorted(found) == ["the zeppelin was grey", "the zeppelin was late"]
    view.update(late, "the train was late")
    view.erase(before)
    assert not any("zeppelin" in one for one in contents(view.recall("zeppelin", top_k=20)))
    assert contents(private(other, ALICE).recall("train", top_k=1)) == ["the train was late"]
    assert memory.admin.doctor().findings == ()


def test_words_are_indexed_once(database_url: str, opened: Open) -> None:
    memory = opened(database_url, embedder=None)
    view, follows = private(memory, ALICE), memory._storage.database.dialect.defers_fts_index
    for number in range(3):
        view.remember(f"a remark, the {number}th")
    assert index_words(memory) == (3 if follows else 0)
    assert index_words(memory) == 0
    view.remember("one more")
    assert index_words(memory) == (1 if follows else 0)


def test_a_group_hears_no_more_of_many_than_of_few(few: None, database_url: str, opened: Open) -> None:
    memory = opened(database_url, embedder=MEANINGS)
    alone = private(memory, ALICE)
    for number in range(40):
        alone.remember(f"boat secret {number}")
        alone.remember(f"boat offer {number}", visibility="public_ok", sensitivity="public")
    heard = contents(group(memory, BOB).recall("boat", top_k=50))
    assert heard
    assert all("offer" in content for content in heard)


def test_the_nearest_are_nominated_on_postgresql_also_through_its_index(
    few: None, migrated_postgres_url: str, opened: Open
) -> None:
    memory = opened(migrated_postgres_url, embedder=MEANINGS)
    view = private(memory, ALICE)
    view.remember("a ship of mine")
    for number in range(60):
        view.remember(f"a stone, the {number}th")
    assert contents(view.recall("boat", top_k=1)) == ["a ship of mine"]
    try:
        assert any(did.startswith("indexed") for did in memory.admin.maintain().did)
        assert contents(view.recall("boat", top_k=1)) == ["a ship of mine"]
        assert not any(did.startswith("indexed") for did in memory.admin.maintain().did)
    finally:  # the database is lent
        with memory._storage.database.autocommit_connection() as connection:
            made = "SELECT relname FROM pg_class WHERE relname LIKE 'ix_vectors_near_%'"
            for name in connection.execute(text(made)).scalars().all():
                connection.execute(text(f"DROP INDEX {name}"))


def test_what_is_rewritten_again_and_again_leaves_no_shelf_behind(opened: Open) -> None:
    """A shelf that was replaced is let go of, or each question would walk through all of them."""
    memory = opened("sqlite://")
    view = private(memory, ALICE)
    for number in range(600):
        view.put("profile", f"key {number % 5}", f"apple {number}")
        assert view.recall("apple")
    (reach,) = memory._runtime.retriever._permitted_sets._permitted_sets.values()
    assert reach._candidates is not None
    assert all(len(part.rows) for part in reach._candidates.parts)
    assert len(reach._candidates) == 5
