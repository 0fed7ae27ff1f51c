"""Recall: every filter narrows what comes to mind, as of a time too, within a budget of tokens."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import tacit
from tacit.limits import BUDGET_MAX_TOKENS
from tacit.limits import RECALL_MAX_COUNT as MOST
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.hostile import NAIVE
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, LENT, SetClock, group, kept, private


def found(view: View, query: str = "apple", **narrowing: Any) -> set[str]:
    return {one.memory.content for one in view.recall(query, top_k=50, **narrowing)}


@pytest.fixture
def alice(memory: Memory) -> View:
    """Three memories that answer one question alike, and differ in everything else."""
    view = private(memory, ALICE)
    view.remember("apple one", category="goal", kind="preference", importance=1, agent="coach")
    view.remember("apple two", category="project", importance=3, pinned=True, run="r2", role="user")
    view.remember("apple three", kind="event", importance=5, agent="planner", role="assistant")
    return view


NARROWINGS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"one", "two", "three"}),
    ({"categories": ["goal"]}, {"one"}),
    ({"categories": ("goal", "project")}, {"one", "two"}),
    ({"categories": {"person"}}, set()),
    ({"kinds": ["event"]}, {"three"}),
    ({"kinds": [tacit.Kind.PREFERENCE, "event"]}, {"one", "three"}),
    ({"agent": "coach"}, {"one"}),
    ({"agent": "nobody"}, set()),
    ({"run": "r2"}, {"two"}),
    ({"role": "assistant"}, {"three"}),
    ({"pinned": True}, {"two"}),
    ({"pinned": False}, {"one", "three"}),
    ({"importance_min": 3}, {"two", "three"}),
    ({"importance_max": 3}, {"one", "two"}),
    ({"importance_min": 2, "importance_max": 4}, {"two"}),
    ({"importance_min": 5, "importance_max": 5}, {"three"}),
    ({"pinned": True, "categories": ["goal"]}, set()),
    ({"include": ["memories"]}, {"one", "two", "three"}),
    ({"include": ["turns"]}, set()),
    ({"include": ["memories", "turns"]}, {"one", "two", "three"}),
    ({"threshold": 1.0}, {"one", "two", "three"}),
]


def test_a_filter_narrows_and_none_does_not(alice: View, subtests: pytest.Subtests) -> None:
    for narrowing, expected in NARROWINGS:
        with subtests.test(str(narrowing)):
            assert found(alice, **narrowing) == {f"apple {one}" for one in expected}
    for name in ("categories", "kinds", "user", "agent", "run", "actor", "role", "pinned",
                 "importance_min", "importance_max", "updated_after", "updated_before",
                 "threshold", "as_of", "include"):  # fmt: skip
        nothing: Any = {name: None}
        assert len(found(alice, **nothing)) == 3, name


def test_recall_narrows_to_whose_it_is_and_to_who_said_it(memory: Memory) -> None:
    group(memory, BOB).remember("apple of Bob", **ALOUD)
    group(memory, ALICE).remember("apple of Alice", **ALOUD)
    private(memory, ALICE).remember("apple in private")
    here, alone = group(memory, ALICE), private(memory, ALICE)
    everything = {"apple of Bob", "apple of Alice"}
    assert found(here) == everything
    assert found(alone) == everything | {"apple in private"}
    for view in (here, alone):
        own = found(view) - {"apple of Bob"}
        for name in ("user", "actor"):
            assert found(view, **{name: "telegram:2002"}) == {"apple of Bob"}
            assert found(view, **{name: "telegram:1001"}) == own
            assert found(view, **{name: "me"}) == own
            assert found(view, **{name: "slack:T1:U3"}) == set()
    assert found(here, user="Bob") == {"apple of Bob"}
    assert found(here, actor="Bob") == {"apple of Bob"}
    assert found(here, user="Nobody in particular") == set()


def test_recall_narrows_to_when_it_changed(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    start = clock.now
    first = kept(view, "apple one")
    clock.forward(days=1)
    view.remember("apple two")
    noon = clock.now
    assert found(view, updated_after=start) == {"apple two"}
    assert found(view, updated_before=noon) == {"apple one"}
    assert found(view, updated_after=start - timedelta(seconds=1), updated_before=noon) == {"apple one"}
    clock.forward(days=1)
    view.update(first, "apple one and a half")
    assert found(view, updated_after=noon) == {"apple one and a half"}


def test_what_others_did_in_private_moves_no_filter_of_mine(memory: Memory, clock: SetClock) -> None:
    """When a lent memory was pinned or refiled is its owner's business."""
    own = private(memory, ALICE)
    id = kept(own, "apple", visibility="public_ok", sensitivity="public", agent="coach", run="r")
    said_at = clock.now
    clock.forward(days=1)
    own.update(id, tags=["fruit"])
    view = group(memory, BOB)
    assert found(view) == {"apple"}
    assert found(view, updated_after=said_at) == set()
    assert found(view, agent="coach") == found(view, run="r") == set()
    assert found(own, updated_after=said_at) == {"apple"}


def test_a_threshold_drops_what_fits_little(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("apple pie with cinnamon")
    view.remember("apple trees need sun")
    query = "apple pie cinnamon"
    best, other = view.recall(query)
    assert best.similarity == 1.0
    assert 0 < other.similarity < 1
    assert found(view, query, threshold=other.similarity - 0.01) == found(view, query)
    assert found(view, query, threshold=other.similarity + 0.01) == {"apple pie with cinnamon"}


def test_filters_hold_in_a_group_too(memory: Memory) -> None:
    view = group(memory, ALICE)
    view.remember("apple one", category="goal", importance=5, **ALOUD)
    view.remember("apple two", category="project", importance=1, **ALOUD)
    other = group(memory, BOB)
    assert found(other, categories=["goal"]) == {"apple one"}
    assert found(other, importance_min=4) == set(), "how important it is, its owner knows"
    assert found(group(memory, CAROL, "telegram:-900", here=(CAROL,))) == set()


BAD: dict[str, list[Any]] = {
    "categories": ["goal", b"goal", 5, [], ["nonsense"], [5], [None], [["goal"]], [""]],
    "kinds": ["event", [], ["nonsense"], [5], 5],
    "user": ["", 5, "a\x00", "\ud800", " a", "x" * 201],
    "agent": ["", 5, "a\nb", "x" * 201],
    "run": ["", 5, "x" * 201],
    "actor": ["", 5, ["Bob"], "x" * 201],
    "role": ["", 5, "x" * 201],
    "pinned": [1, 0, "yes"],
    "importance_min": [0, 6, True, 3.0, "3", math.nan],
    "importance_max": [0, 6, True, 3.0, "3", 10**30],
    "updated_after": ["2026-01-01", 5, NAIVE, datetime(2026, 1, 1, tzinfo=UTC).date()],
    "updated_before": ["2026-01-01", 5, NAIVE],
    "threshold": [-0.1, 1.1, True, "0.5", math.nan, math.inf],
    "as_of": ["2026-01-01", 5, NAIVE],
    "include": ["turns", [], ["everything"], [5], 5],
    "nonsense": [1],
}


def test_a_bad_filter_is_refused_by_its_name(memory: Memory, subtests: pytest.Subtests) -> None:
    view = private(memory, ALICE)
    for field, values in BAD.items():
        for value in values:
            with subtests.test(f"{field}={str(value)[:30]!r}"):
                refuses(view.recall, field, "apple", **{field: value})
    refuses(view.recall, "importance_min", "x", importance_min=4, importance_max=3)


def test_top_k_and_the_budget_have_bounds(memory: Memory) -> None:
    view = private(memory, ALICE)
    for number in range(12):
        view.remember(f"apple {number}")
    assert len(view.recall("apple")) == 5
    assert [len(view.recall("apple", top_k=k)) for k in (1, 7, MOST)] == [1, 7, 12]
    bad: list[Any] = [0, -1, MOST + 1, True, 2.0, "3", None]
    for value in bad:
        refuses(view.recall, "top_k", "apple", top_k=value)
        refuses(view.query, "top_k", "apple", top_k=value)
        refuses(view.fresh, "top_k", "apple", top_k=value)
    for value in [-1, BUDGET_MAX_TOKENS + 1, True, 2.0, "3"]:
        refuses(view.recall, "budget_tokens", "apple", budget_tokens=value)
        refuses(view.query, "budget_tokens", "apple", budget_tokens=value)
        refuses(view.fresh, "budget_tokens", "apple", budget_tokens=value)


def test_what_was_said_later_was_not_known_then(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.remember("apple one")
    then = clock.now + timedelta(hours=1)
    clock.forward(days=1)
    view.remember("apple two")
    assert len(view.recall("apple")) == 2
    assert [one.memory.content for one in view.recall("apple", as_of=then)] == ["apple one"]
    assert view.recall("apple", as_of=then - timedelta(days=1)) == []
    assert len(view.recall("apple", as_of=clock.now)) == 2


def test_what_is_erased_was_never_known(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "apple one")
    then = clock.now + timedelta(hours=1)
    clock.forward(days=1)
    assert len(view.recall("apple", as_of=then)) == 1
    view.erase(id)
    assert view.recall("apple", as_of=then) == []


def test_the_past_is_told_by_the_rules_of_today(memory: Memory, clock: SetClock) -> None:
    """That a room could hear something then does not let it be said there now."""
    own = private(memory, ALICE)
    id = kept(own, "apple lent", **LENT)
    then = clock.now + timedelta(hours=1)
    clock.forward(days=1)
    here = group(memory, BOB)
    assert len(here.recall("apple", as_of=then)) == 1
    own.set_visibility(id, "private_only")
    assert here.recall("apple", as_of=then) == []
    own.remember("canary secret")
    assert here.recall("canary", as_of=clock.now) == []


FACTS = (
    "I prefer aisle seats on long flights",
    "My flights leave from Lisbon because the airport is close to my home",
    "I collect miles on every flight and my status is gold until December",
    "I never check in a suitcase on short flights",
    "I take a tablet before a flight on a small plane",
)


def test_a_budget_of_tokens_is_used_and_kept(memory: Memory) -> None:
    view = private(memory, ALICE)
    for fact in FACTS:
        view.remember(fact)
    found = view.fresh("which seat should I book for my flight?", budget_tokens=200)
    assert len(found.recalled) == len(FACTS)
    assert "aisle seats" in found.text
    assert 60 <= found.tokens <= 200
    # English words are about four characters to a token.
    assert 3 < len(found.text) / found.tokens < 6
    some = view.recall("flight seats", budget_tokens=40)
    assert 1 <= len(some) < len(FACTS)
    told = view.query("flight seats", top_k=5, budget_tokens=40)
    assert 1 <= len(told) < len(FACTS)
    assert not view.fresh("flight seats", budget_tokens=5).text
