"""Whatever is hidden, everything that comes to mind in a room is the same as if it were not there:
results, order, scores, reasons, counts, blocks, news and errors."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.prompts.block import Style
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.conversations import KEEP
from tests.contract.embedders import Table
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, FAMILY, SetClock, group, kept, private

WORLDS = count()
START = SetClock().now
CANARY = "canary"
EVERYBODY: Any = {"here": (ALICE, BOB, CAROL)}
MEANINGS = {"tea": (1, 0, 0), "coffee": (0.8, 0.6, 0), "chess": (0, 1, 0), CANARY: (0.9, 0, 0.4)}
QUESTIONS = (f"{CANARY} tea coffee", "what does Bob like, Zed, in March 2026?")
NARROWED: tuple[dict[str, Any], ...] = (
    {"top_k": 1, "budget_tokens": 30},
    {"threshold": 0.3, "updated_after": START, "actor": "Alice"},
    {"as_of": START + timedelta(seconds=1), "user": "telegram:1001"},
    {"agent": "planner"},
    {"include": ["memories", "turns"], "top_k": 20},
    {"include": ["turns"], "top_k": 20},
)

What = tuple[str, str, int]
hidden_act = st.tuples(
    st.sampled_from([
        "alone", "about Bob", "key", "quiet", "sensitive", "withheld", "elsewhere", "turn",
        "turn elsewhere", "relate", "reword", "forget", "restore", "erase", "pin", "name", "ask",
    ]),
    st.sampled_from(["tea", "coffee", "chess", "tea tea tea Bob", "Zed drinks tea in March"]),
    st.integers(0, 3),
)  # fmt: skip


def said(role: str, content: str, name: str | None = None) -> tacit.Message:
    return tacit.Message(role=role, content=content, name=name)


def hide(memory: Memory, acts: list[What]) -> list[str]:
    """What Alice does where nobody of the team hears it; the ids of what she kept."""
    alone, there = private(memory, ALICE), group(memory, ALICE, FAMILY, here=(ALICE,))
    team = group(memory, ALICE, **EVERYBODY)
    ids: list[str] = []
    for number, (act, words, which) in enumerate(acts):
        text = f"{CANARY} {words} {number}"
        some = ids[which] if which < len(ids) else None
        if act == "alone":
            ids.append(kept(alone, text, importance=5, pinned=True))
        elif act == "about Bob":
            ids.append(kept(alone, text, about=["telegram:2002"], agent="planner"))
        elif act == "key":
            ids.append(alone.put("preference", f"hidden {which}", text).id)
        elif act == "quiet":
            ids.append(kept(team, text))
        elif act == "sensitive":
            ids.append(kept(team, text, visibility="room", sensitivity="sensitive"))
        elif act == "withheld":
            ids.append(kept(team, text, withheld_from=["telegram:2002", "slack:T1:U3"], **ALOUD))
        elif act == "elsewhere":
            ids.append(kept(there, text, **ALOUD))
        elif act == "turn":
            alone.record([said("user", text), said("assistant", text, "Zed")], session="s")
        elif act == "turn elsewhere":
            there.record([said("user", text, "Bob")], session="s")
        elif act == "name":
            alone.people.name("telegram:2002", f"{CANARY} {which}")
        elif act == "ask":
            alone.recall(text, include=["memories", "turns"])
            alone.block()
        elif some is not None:
            _again(alone, act, some, text, ids[0])
    return ids


def _again(alone: View, act: str, id: str, text: str, other: str) -> None:
    acts: dict[str, Callable[[], object]] = {
        "relate": lambda: alone.relate(id, other),
        "reword": lambda: alone.update(id, text),
        "forget": lambda: alone.forget(id),
        "restore": lambda: alone.restore(id),
        "erase": lambda: alone.erase(id),
        "pin": lambda: alone.pin(id),
    }
    with suppress(tacit.NotFound, tacit.Conflict, tacit.InvalidInput):
        acts[act]()


def told(found: list[tacit.Recalled]) -> list[object]:
    return [
        (
            one.memory.content, one.memory.version, one.memory.updated_at, one.memory.session,
            one.memory.speaker, one.score, one.similarity, one.signals, one.why, one.rule,
            [other.content for other in one.related],
        )
        for one in found
    ]  # fmt: skip


def observed(view: View, gone: str) -> list[object]:
    """Everything that a view brings to mind, but for ids, which are random."""
    found: list[object] = [told(view.recall(question)) for question in QUESTIONS]
    found += [told(view.recall("tea for Bob", **narrowed)) for narrowed in NARROWED]
    bullets = view.query("tea", top_k=2, budget_tokens=60)
    found.append([(one.text, one.category, one.related) for one in bullets])
    for style in Style:
        block = view.block(style)
        text = block.text
        for number, id in enumerate(block.ids):
            text = text.replace(id, f"<{number}>")
        found.append((text, block.revision, len(block.ids), block.cut))
    fresh = view.fresh("tea for Bob")
    found.append((fresh.text.replace(gone, "<gone>"), fresh.revision, told(list(fresh.recalled))))
    delta = view.delta()
    found.append((delta.revision, [(one.event, one.content) for one in delta.changes]))
    return found


def refused(view: View, id: str) -> list[str]:
    """What is said to somebody who tries an id."""
    answers = []
    for act in (
        lambda: view.relate(id, "AAAAAAAA"),
        lambda: view.relate("AAAAAAAA", id),
        lambda: view.erase(id, turns=True),
        lambda: view.show(id),
        lambda: view.update(id, "x"),
    ):
        with pytest.raises(tacit.NotFound) as error:
            act()
        answers.append(str(error.value))
    return answers


def build(memory: Memory, clock: SetClock, acts: list[What]) -> list[object]:
    clock.now = START
    alice, bob = group(memory, ALICE, **EVERYBODY), group(memory, BOB, **EVERYBODY)
    steps: list[Callable[[], Any]] = [
        lambda: alice.remember("Alice drinks tea", **ALOUD),
        lambda: alice.put("preference", "drink", "Alice also likes coffee", **ALOUD),
        lambda: bob.remember("Bob plays chess with Alice", about=["telegram:2002"], **ALOUD),
        lambda: private(memory, BOB).remember("Bob hides tea"),
        lambda: alice.remember("tea is out", expires_at=START + timedelta(seconds=60), **ALOUD),
        lambda: bob.record([said("user", "who wants tea?")], session="s"),
        lambda: alice.record([said("user", "I want tea, in March")], session="s"),
        lambda: bob.record([said("user", "there you are, Zed")], session="s"),
    ]
    made = []
    for step in steps:
        clock.forward(seconds=1)
        made.append(step())
    views = [
        alice, bob, private(memory, BOB), group(memory, CAROL, complete=True, **EVERYBODY),
        group(memory, BOB, "telegram:-900", here=(CAROL, BOB)),
    ]  # fmt: skip
    gone = made[2].id
    seen: list[object] = [[observed(view, gone) for view in views]]
    ids = hide(memory, acts)
    clock.forward(seconds=1)
    seen.append([observed(view, gone) for view in views])
    for id in ids:
        for view in views[1:]:
            assert refused(view, id) == ["no such memory here"] * 5
    clock.forward(seconds=1)
    alice.put("preference", "drink", "Alice also likes black coffee", **ALOUD)
    clock.forward(seconds=1)
    bob.forget(gone)
    clock.now = START + timedelta(hours=3)
    seen.append([observed(view, gone) for view in views])
    return seen


@pytest.fixture(params=["at hand", "nominated"])
def remembering(
    request: pytest.FixtureRequest, database_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> Memory:
    """Everything within reach is kept at hand, or the database nominates what is looked at."""
    if request.param == "nominated":
        monkeypatch.setattr(limits, "PERMITTED_SET_MAX_COUNT", 1)
    return opened(database_url, settings=KEEP, embedder=Table(MEANINGS))


def test_what_comes_to_mind_tells_nothing_of_what_is_hidden(remembering: Memory, clock: SetClock) -> None:
    without = build(remembering.space("without"), clock, [])

    @settings(max_examples=3, suppress_health_check=list(HealthCheck))
    @given(acts=st.lists(hidden_act, min_size=1, max_size=8))
    def compare(acts: list[What]) -> None:
        with_them = build(remembering.space(f"world-{next(WORLDS)}"), clock, acts)
        assert CANARY not in repr([_answers(one) for one in with_them])
        assert with_them == without

    compare()


def _answers(seen: object) -> object:
    """Without the reasons that quote the question itself; it is compared in full above."""
    return repr(seen).replace(f"“{CANARY}”", "")


def test_the_canary_is_there_for_its_owner(remembering: Memory, clock: SetClock) -> None:
    """Or the test above would say nothing."""
    clock.now = datetime(2026, 3, 1, 12, tzinfo=START.tzinfo)
    words = ["alone", "quiet", "elsewhere", "turn"]
    hide(remembering, [(act, "tea", 0) for act in words])
    alone = private(remembering, ALICE)
    assert len(alone.recall(f"{CANARY} tea", top_k=20)) == 4
    assert len(alone.recall(f"{CANARY} tea", include=["turns"], top_k=20)) == 2
    clock.forward(seconds=1)
    assert CANARY in alone.block().text
    assert CANARY in alone.fresh(CANARY).text
