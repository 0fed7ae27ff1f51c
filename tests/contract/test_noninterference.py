"""Whatever somebody does in private, a room observes the same as if it had not happened."""

from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, SetClock, group, kept, private

WORLDS = count()
KEYS = st.sampled_from(["tea", "city"])
WORDS = st.sampled_from(["Alice likes tea", "Alice hides tea", "Bob owes Alice tea"])

hidden_act = st.one_of(
    st.tuples(st.just("remember"), WORDS, st.sampled_from([[], ["telegram:2002"], ["Bob"]])),
    st.tuples(st.just("put"), KEYS, WORDS),
    st.tuples(st.just("forget_key"), KEYS, st.none()),
    st.tuples(st.just("forget"), st.integers(0, 3), st.none()),
    st.tuples(st.just("restore"), st.integers(0, 3), st.none()),
    st.tuples(st.just("withhold"), st.integers(0, 3), st.none()),
    st.tuples(st.just("sensitive"), st.integers(0, 3), WORDS),
    st.tuples(st.just("name"), st.sampled_from(["Bob", "Zed"]), st.none()),
    st.tuples(st.just("in the group"), KEYS, WORDS),
    st.tuples(st.just("erase"), st.integers(0, 3), st.none()),
)


def hide(memory: Memory, acts: list[tuple[str, Any, Any]]) -> None:
    """What Alice does alone, or in front of the group but for nobody's ears."""
    alone = private(memory, ALICE)
    ids: list[str] = []
    for act, first, second in acts:
        if act == "remember":
            ids.append(kept(alone, (second and f"{first} again") or first, about=second))
        elif act == "put":
            alone.put("context", f"hidden {first}", second)
        elif act == "forget_key":
            alone.forget_key("context", f"hidden {first}")
        elif act == "name":
            alone.people.name("telegram:2002", first)
        elif act == "in the group":
            group(memory, ALICE, here=(ALICE, BOB, CAROL)).put("goal", f"quiet {first}", second)
        elif first < len(ids):
            _hide_one(alone, act, ids[first], second)


def _hide_one(alone: View, act: str, id: str, content: str | None) -> None:
    try:
        if act == "forget":
            alone.forget(id)
        elif act == "restore":
            alone.restore(id)
        elif act == "withhold":
            alone.withhold_from(id, ["telegram:2002", "Somebody"])
        elif act == "erase":
            alone.erase(id)
        else:
            alone.update(id, content, sensitivity="sensitive")
    except (tacit.NotFound, tacit.Conflict):
        pass


def observed(view: View) -> list[object]:
    """Everything a view tells, but for ids and times, which are random and move anyway."""
    listed = view.list().items
    return [
        [(m.content, m.version, m.category, m.key, m.visibility, m.tags) for m in listed],
        [[(h.event, h.version, h.content) for h in view.history(m.id)] for m in listed],
        [(r.memory.content, r.score, r.why, r.rule) for r in view.recall("Alice Bob tea")],
        sorted(str(person.names) for person in view.people.list()),
        [m.content for who in ("telegram:1001", "Alice", "me") for m in view.people.about(who)],
        [(c.event, c.content, c.category) for c in view.delta().changes],
        view.stats(),
        [view.get(c, f"hidden {k}") for c in ("context", "goal") for k in ("tea", "city")],
    ]


def build(memory: Memory, clock: SetClock, acts: list[tuple[str, Any, Any]]) -> list[object]:
    here: Any = {"here": (ALICE, BOB, CAROL)}
    alice = group(memory, ALICE, **here)
    alice.put("preference", "drink", "Alice drinks tea", **ALOUD)
    clock.forward(seconds=1)  # what was said later is listed first
    alice.remember("Bob plays chess", about=["telegram:2002"], **ALOUD)
    hide(memory, acts)
    alice.put("preference", "drink", "Alice drinks coffee", **ALOUD)
    views = [
        group(memory, BOB, **here),
        group(memory, CAROL, complete=True, **here),
        private(memory, BOB),
        group(memory, CAROL, "telegram:-900", here=(CAROL, BOB)),
    ]
    return [observed(view) for view in views]


def test_nobody_notices_what_happens_in_private(memory: Memory, clock: SetClock) -> None:
    without = build(memory.space("without"), clock, [])

    @settings(max_examples=12, suppress_health_check=list(HealthCheck))
    @given(acts=st.lists(hidden_act, min_size=1, max_size=6))
    def compare(acts: list[tuple[str, Any, Any]]) -> None:
        assert build(memory.space(f"world-{next(WORLDS)}"), clock, acts) == without

    compare()
