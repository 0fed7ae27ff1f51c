"""What another process writes is heard by the very next question of one that is warm."""

from collections.abc import Callable

import pytest
from sqlalchemy import text

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.embedders import Table
from tests.contract.hearing import heard
from tests.contract.processes import elsewhere
from tests.contract.rooms import (
    ALICE,
    ALOUD,
    BOB,
    CAROL,
    FAMILY,
    LENT,
    TEAM,
    SetClock,
    group,
    index_words,
    kept,
    private,
)

PHONE = ALICE
ACCOUNT = tacit.Requester("acct:alice", name="Alice")
EVERYBODY = (ALICE, BOB, CAROL)


def views(memory: Memory) -> list[View]:
    return [
        private(memory, PHONE),
        private(memory, ACCOUNT),
        private(memory, BOB),
        private(memory, CAROL),
        group(memory, ALICE, here=()),
        group(memory, BOB, here=()),
        group(memory, CAROL, FAMILY, here=()),
    ]


def observed(memory: Memory) -> list[object]:
    return [
        [heard(view, "apple", top_k=50), view.block().text, sorted(one.content for one in view.list())]
        for view in views(memory)
    ]


def world(memory: Memory) -> dict[str, str]:
    """Something of everybody's, said everywhere."""
    for who in EVERYBODY:
        memory.chats.join(TEAM, who.key)
    for who in (BOB, CAROL):
        memory.chats.join(FAMILY, who.key)
    memory.admin.link("telegram:1001", "acct:alice")
    alice, bob = private(memory, ALICE), private(memory, BOB)
    alice.imports.add("moved", [{"content": "apple that moved in"}], source="mem0")
    return {
        "mine": kept(alice, "apple of mine"),
        "account": kept(private(memory, ACCOUNT), "apple of the account"),
        "lent": kept(alice, "apple that is lent", **LENT),
        "beside": kept(alice, "a pear beside it"),
        "said": kept(group(memory, BOB, here=()), "apple said by Bob", **ALOUD),
        "about": kept(group(memory, BOB, here=()), "apple for Alice", about=["telegram:1001"], **ALOUD),
        "family": kept(group(memory, CAROL, FAMILY, here=()), "apple of the family", **ALOUD),
        "bob": kept(bob, "apple of Bob", **LENT),
        "room": kept(group(memory, ALICE, here=()), "apple of the room", for_room=True, **ALOUD),
        "gone": kept(alice, "apple forgotten before"),
    }


Act = Callable[[Memory, dict[str, str]], object]
ACTS: dict[str, Act] = {
    "remember": lambda m, _: private(m, ALICE).remember("apple brand new"),
    "remember in the group": lambda m, _: group(m, BOB).remember("apple now", **ALOUD),
    "update": lambda m, ids: private(m, ALICE).update(ids["mine"], "apple reworded"),
    "update in the group": lambda m, ids: group(m, BOB).update(ids["said"], "apple again"),
    "pin": lambda m, ids: private(m, ALICE).pin(ids["mine"]),
    "importance": lambda m, ids: private(m, ALICE).update(ids["lent"], importance=5),
    "forget": lambda m, ids: private(m, ALICE).forget(ids["mine"]),
    "forget what was lent": lambda m, ids: private(m, ALICE).forget(ids["lent"]),
    "restore": lambda m, ids: private(m, ALICE).restore(ids["gone"]),
    "erase": lambda m, ids: private(m, ALICE).erase(ids["lent"]),
    "erase in the group": lambda m, ids: group(m, BOB).erase(ids["said"]),
    "lower visibility": lambda m, ids: private(m, ALICE).set_visibility(ids["lent"], "private_only"),
    "raise visibility": lambda m, ids: _raise(m, ids["mine"]),
    "withhold": lambda m, ids: private(m, ALICE).withhold_from(ids["lent"], ["telegram:2002"]),
    "withhold from a name": lambda m, ids: private(m, ALICE).withhold_from(ids["lent"], ["Zoe"]),
    "link": lambda m, _: m.admin.link("telegram:2002", "acct:bob"),
    "unlink": lambda m, _: m.admin.unlink("telegram:1001"),
    "join": lambda m, _: m.chats.join(FAMILY, "telegram:1001"),
    "leave": lambda m, _: m.chats.leave(TEAM, "telegram:1001"),
    "confidential": lambda m, _: m.chats.set_confidential(TEAM),
    "migrated": lambda m, _: m.chats.migrate(FAMILY, "telegram:-999"),
    "name": lambda m, _: private(m, ALICE).people.name("telegram:2002", "Apple"),
    "relate": lambda m, ids: private(m, ALICE).relate(ids["mine"], ids["beside"]),
    "operator updates": lambda m, ids: m.operator("x").update(ids["lent"], "apple of an operator"),
    "operator forgets": lambda m, ids: m.operator("x").forget(ids["said"]),
    "operator erases": lambda m, ids: m.operator("x").erase(ids["about"]),
    "import": lambda m, _: private(m, BOB).imports.add_lines(['{"content": "apple imported"}']),
    "import items": lambda m, _: private(m, BOB).imports.add(
        "moving", [{"content": f"apple {n} moved in"} for n in range(3)], source="mem0"
    ),
    "revert an import": lambda m, _: private(m, ALICE).imports.revert("moved"),
    "put": lambda m, _: private(m, ALICE).put("goal", "fruit", "apple goal"),
    "forget_subject": lambda m, _: m.admin.forget_person("telegram:2002"),
    "wipe": lambda m, _: private(m, ALICE).wipe(),
    "erase_subject": lambda m, _: m.admin.erase_person("telegram:2002"),
    "erase_space": lambda m, _: m.admin.erase_space(),
}
# Acts that need not show in what these views observe.
QUIET = {"confidential", "migrated", "link", "withhold from a name"}


def _raise(memory: Memory, id: str) -> None:
    view = private(memory, ALICE)
    view.update(id, sensitivity="public")
    view.set_visibility(id, "public_ok")


def test_a_warm_process_answers_like_a_cold_one(shared_url: str, opened: Open, clock: SetClock) -> None:
    """Each act in a space of its own, which the cold process has never looked at."""
    warm, other, cold = (opened(shared_url) for _ in range(3))
    unheard, unchanged = [], set()
    for number, (name, act) in enumerate(ACTS.items()):
        space = f"world-{number}"
        ids = world(other.space(space))
        private(other.space(space), ALICE).forget(ids["gone"])
        clock.forward(seconds=1)
        before = observed(warm.space(space))
        clock.forward(seconds=1)
        act(other.space(space), ids)
        after = observed(warm.space(space))
        if after != observed(cold.space(space)):
            unheard.append(name)
        if after == before:
            unchanged.add(name)
    assert unheard == []
    assert unchanged <= QUIET  # or this would say nothing


def test_a_process_that_stays_warm_through_everything_goes_on_answering(
    shared_url: str, opened: Open, clock: SetClock
) -> None:
    warm, other = opened(shared_url), opened(shared_url)
    ids = world(other)
    private(other, ALICE).forget(ids["gone"])
    for number, (name, act) in enumerate(ACTS.items()):
        clock.forward(seconds=1)
        try:
            act(other, ids)
        except (tacit.NotFound, tacit.Conflict):
            continue  # an earlier act took it away
        heard = observed(warm)
        if number % 5 == 4:
            assert heard == observed(opened(shared_url)), name


def test_another_process_is_heard_at_once(shared_url: str, opened: Open, clock: SetClock) -> None:
    warm = opened(shared_url)
    view, here = private(warm, ALICE), group(warm, BOB)
    id = kept(view, "apple that is lent", **LENT)
    assert len(view.recall("apple")) == len(here.recall("apple")) == 1
    elsewhere(shared_url, clock, 'private(memory, ALICE).remember("apple from elsewhere")')
    assert len(view.recall("apple")) == 2
    lower = f'private(memory, ALICE).set_visibility("{id}", "private_only")'
    elsewhere(shared_url, clock, lower)
    assert here.recall("apple") == []
    elsewhere(shared_url, clock, f'private(memory, ALICE).erase("{id}")')
    assert [one.memory.content for one in view.recall("apple")] == ["apple from elsewhere"]


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
    for number in range(150):
        view.put("profile", f"key {number % 5}", f"apple {number}")
        assert view.recall("apple")
    episodes, reach = memory._runtime.retriever._permitted_sets._permitted_sets.values()
    assert not len(episodes._candidates or ())
    assert reach._candidates is not None
    assert all(len(part.rows) for part in reach._candidates.parts)
    assert len(reach._candidates) == 5
