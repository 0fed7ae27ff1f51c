"""The fresh part: what changed since the block, at most three bullets, and what comes to mind."""

from pathlib import Path

import tacit
from tacit.memory import Memory
from tacit.records.token_counts import estimate_tokens
from tacit.settings import load
from tests.contract.conftest import Open
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private


def header(text: str) -> list[str]:
    """The bullets of the delta, without those of recall."""
    lines = text.splitlines()
    if not any(line.startswith("Memory updates since rev ") for line in lines):
        return []
    signs = ("- +", "- ↑", "- −", "- ↺", "- →", "- ↔", "- ↓")
    return [line for line in lines if line.startswith(signs)]


def test_what_comes_to_mind_stands_in_the_fence(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.remember("I play chess")
    clock.forward(seconds=1)
    view.block()
    found = view.fresh("chess?")
    assert "- [fact] I play chess" in found.text.splitlines()
    assert found.text.startswith("<tacit-memory")
    assert found.text.endswith("</tacit-memory>")
    assert header(found.text) == []
    assert [one.memory.content for one in found.recalled] == ["I play chess"]


def test_each_change_since_the_block_is_told(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    first, second = kept(view, "I live in Porto"), kept(view, "I play chess")
    clock.forward(seconds=1)
    block = view.block()
    clock.forward(seconds=1)
    view.update(first, "I live in Lisbon")
    view.forget(second)
    view.remember("I like tea", importance=4)
    found = view.fresh("zebra")
    assert f"Memory updates since rev {block.revision}:" in found.text.splitlines()
    assert header(found.text) == [
        "- +created: [Fact] I like tea (imp=4)",
        f"- −deleted: memory {second}",
        "- ↑updated: [Fact] I live in Lisbon",
    ]
    assert found.revision == view.delta(block.revision).revision > block.revision
    view.restore(second)
    assert header(view.fresh("zebra").text)[0] == "- ↺restored: [Fact] I play chess"


def test_estimate_three_bullets_the_newest(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.block()
    for number in range(9):
        clock.forward(seconds=1)
        view.remember(f"fact {number}")
    assert header(view.fresh("zebra").text) == [f"- +created: [Fact] fact {number} (imp=3)" for number in (8, 7, 6)]


def test_since_is_the_callers_to_say(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.block()
    clock.forward(seconds=1)
    view.remember("one")
    middle = view.fresh("zebra").revision
    clock.forward(seconds=1)
    view.remember("two")
    assert len(header(view.fresh("zebra").text)) == 2
    later = view.fresh("zebra", since=middle)
    assert header(later.text) == ["- +created: [Fact] two (imp=3)"]
    assert view.fresh("zebra", since=later.revision).text == ""
    assert len(header(view.fresh("zebra", since=0).text)) == 2
    for bad in (-1, 1.5, "0", True, 2**63):
        refuses(view.fresh, "since", "zebra", since=bad)


def test_nothing_new_and_nothing_in_mind_is_no_text_nor_is_anything_before_a_block(
    memory: Memory, clock: SetClock
) -> None:
    """What is known comes with the block; until there is one, nothing is new to it."""
    view = private(memory, ALICE)
    view.remember("one")
    assert header(view.fresh("zebra").text) == []
    assert view.fresh("chess").text == ""
    view.remember("I play chess")
    clock.forward(seconds=1)
    block = view.block()
    found = view.fresh("zebra")
    assert (found.text, found.revision, found.recalled) == ("", block.revision, ())


def test_a_group_hears_no_news_of_what_it_may_not_hear(memory: Memory, clock: SetClock) -> None:
    here, own = group(memory, BOB, thread="t"), private(memory, ALICE, "t")
    id = kept(own, "lent", visibility="public_ok", sensitivity="public")
    clock.forward(seconds=1)
    block = here.block()
    clock.forward(seconds=1)
    own.remember("canary")
    own.update(id, tags=["hidden"])
    found = here.fresh("canary lent")
    assert "canary" not in found.text
    own.set_visibility(id, "private_only")
    found = here.fresh("canary lent")
    assert "canary" not in found.text
    assert "lent" not in found.text
    assert block.revision <= found.revision


def test_a_budget_cuts_from_the_end_and_leaves_no_bare_header(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    for number in range(6):
        view.remember(f"apple number {number} é🍎")
    clock.forward(seconds=1)
    view.block()
    clock.forward(seconds=1)
    view.remember("I like tea")
    whole = view.fresh("apple", top_k=6).text
    told: list[int] = []
    for budget in range(0, estimate_tokens(whole) + 20, 9):
        found = view.fresh("apple", top_k=6, budget_tokens=budget)
        text = found.text
        assert found.tokens == estimate_tokens(text) <= budget
        body = text.splitlines()[1:-1]
        assert whole.splitlines()[1 : 1 + len(body)] == body
        assert len(body) != 1  # a header that tells nothing
        told.append(len(body))
    assert told == sorted(told)
    assert told[-1] == len(whole.splitlines()) - 2


def test_every_length_that_the_settings_take_works(database_url: str, opened: Open, tmp_path: Path) -> None:
    works = 0
    for length in (1, 30, 200, 201, 500, 501):
        file = tmp_path / f"{length}.yaml"
        recipe = f"{{name: recipe, context: rag, rag_length: {length}}}"
        file.write_text(f"categories:\n  custom:\n    - {recipe}\n", encoding="utf-8")
        try:
            settings = load(file, environ={}, home=tmp_path, cwd=tmp_path)
        except tacit.SettingsError:
            continue
        view = private(opened(database_url, settings=settings), ALICE)
        view.remember("apple pie", category="recipe")
        assert "[recipe] apple pie" in view.fresh("apple").text
        works += 1
    assert works >= 3


def test_related_ones_come_along_estimate_two(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    hit = kept(view, "apple pie")
    for number in range(4):
        view.relate(hit, kept(view, f"oven setting {number}"))
    lines = view.fresh("apple").text.splitlines()
    assert lines[1] == "- [fact] apple pie"
    assert [line.startswith("- ↳ [fact] oven setting") for line in lines[2:-1]] == [True, True]


def test_hearsay_names_who_said_it_to_everybody_else(memory: Memory, clock: SetClock) -> None:
    here = group(memory, BOB)
    here.remember("Alice moves to Rome", about=["telegram:1001"], visibility="room", sensitivity="public")
    clock.forward(seconds=1)
    for who, told in ((ALICE, "Bob said that Alice moves"), (BOB, "] Alice moves")):
        assert told in group(memory, who).block().text
        assert told in group(memory, who).fresh("Rome").text
