"""Recall: what comes back, in which order, with which reasons, and never too much of it."""

import re
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.trainers import BpeTrainer

from tacit.memory import Memory
from tacit.records.results import Recalled
from tacit.records.token_counts import TokenCounter, estimate_tokens, load_token_counter
from tacit.settings import Settings
from tacit.settings.sections import RecallSettings
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.embedders import Table, minilm
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private
from tests.contract.rows import set_state

FLOWERS = Table({"flowers": (1, 0), "wife": (0.8, 0.6), "taxes": (0, 1)})


def contents(found: list[Recalled]) -> list[str]:
    return [one.memory.content for one in found]


def test_recall_goes_by_meaning_where_no_word_is_shared(database_url: str, opened: Open) -> None:
    view = private(opened(database_url, embedder=minilm()), ALICE)
    view.remember("Sarah is my wife")
    view.remember("The printer on the third floor is out of toner")
    view.remember("I take the bus to work")
    best = view.recall("who am I married to?")[0]
    assert best.memory.content == "Sarah is my wife"
    assert best.signals.meaning > 0.3
    assert best.signals.words == 0
    assert "close in meaning" in best.why


def test_likeness_is_the_cosine(database_url: str, opened: Open) -> None:
    view = private(opened(database_url, embedder=FLOWERS), ALICE)
    view.remember("my wife")
    view.remember("my taxes")
    (only,) = view.recall("flowers")
    assert only.memory.content == "my wife"
    assert only.similarity == only.signals.meaning == 0.8
    assert [one.similarity for one in view.recall("flowers", threshold=0.8)] == [0.8]
    assert view.recall("flowers", threshold=0.81) == []


SENTENCE = re.compile(r"[A-Z][^\n]*[^.\s]\.")


def test_each_result_says_why_in_a_sentence_and_by_which_rule(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.people.name("telegram:2002", "Robert")
    view.remember("Robert plays chess in winter", about=["telegram:2002"], pinned=True)
    view.remember("chess boards are at home", importance=5)
    view.remember("winter tyres are in the cellar")
    found = view.recall("does Robert play chess in winter?")
    assert len(found) == 3
    for one in found:
        assert SENTENCE.fullmatch(one.why), one.why
        assert one.rule == "P1"
        assert one.memory.content not in one.why
    best = found[0]
    assert best.memory.content == "Robert plays chess in winter"
    assert best.signals.person > 0
    assert best.signals.pinned == 1
    assert best.signals.words == 1
    for part in ("“chess”", "“winter”", "about Robert", "pinned"):
        assert part in best.why
    assert "important" in next(one.why for one in found if "boards" in one.memory.content)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_the_rule_is_that_of_the_room(memory: Memory) -> None:
    group(memory, BOB).remember("chess on Fridays", visibility="room", sensitivity="public")
    assert [one.rule for one in group(memory, BOB).recall("chess")] == ["G1a"]
    assert [one.rule for one in group(memory, ALICE).recall("chess")] == ["G1a"]
    assert [one.rule for one in private(memory, ALICE).recall("chess")] == ["P4"]


@pytest.mark.parametrize("better", [{"importance": 5}, {"pinned": True}])
def test_of_two_that_fit_alike_the_weightier_comes_first(memory: Memory, better: dict[str, Any]) -> None:
    view = private(memory, ALICE)
    view.remember("chess plain")
    id = kept(view, "chess weighty", **better)
    view.remember("chess common")
    assert view.recall("chess")[0].memory.id == id


def test_of_two_that_fit_alike_the_newer_comes_first(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.remember("chess at school")
    clock.forward(days=90)
    view.remember("chess at work")
    newer, older = view.recall("chess")
    assert newer.memory.content == "chess at work"
    assert newer.signals.recency == 1 > older.signals.recency > 0
    assert "recent" in newer.why
    assert "recent" not in older.why


def test_an_insight_weighs_less_than_what_was_said(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("prefers chess", kind="insight", importance=3)
    view.remember("prefers chess", kind="preference", importance=3)
    stated, insight = view.recall("chess")
    assert stated.memory.kind == "preference"
    assert insight.score < 0.7 * stated.score


def test_procedures_come_only_when_asked_for(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("to restart the router hold the button", kind="procedure")
    view.remember("the router is in the hall")
    assert contents(view.recall("router")) == ["the router is in the hall"]
    assert contents(view.recall("router", kinds=["procedure"])) == ["to restart the router hold the button"]
    assert len(view.recall("router", categories=["procedure"])) == 1
    assert len(view.recall("router", kinds=["procedure", "knowledge"])) == 2
    assert [one.category for one in view.query("router")] == ["fact"]
    assert "button" not in view.fresh("router").text


def test_what_is_gone_never_comes_back(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.remember("apple stays")
    forgotten = kept(view, "apple forgotten")
    view.forget(forgotten)
    erased = kept(view, "apple erased")
    view.erase(erased)
    first = kept(private(memory, ALICE), "apple superseded", category="goal", key="fruit")
    group(memory, ALICE).put("goal", "fruit", "apple from the group", visibility="room")
    view.remember("apple event", kind="event")
    for state in ("quarantined", "pending", "expired", "superseded"):
        set_state(memory, kept(view, f"apple {state}"), state)
    clock.forward(days=31)
    heard = {"apple stays", "apple from the group"}
    for told in (
        contents(view.recall("apple", top_k=50)),
        [one.text.split(": ")[-1].removeprefix("[fact] ") for one in view.query("apple")],
    ):
        assert set(told) == heard
    assert first not in view.block().ids
    text = view.fresh("apple").text + view.block().text
    for word in ("forgotten", "erased", "superseded", "quarantined", "pending", "event", "expired"):
        assert word not in text


def _tokenizer(folder: Path) -> str:
    """A real one of the byte-level kind, small enough that common words take several tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=320, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(["apple pie and apple trees are good"] * 3, trainer)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return str(path)


def _fill(view: View) -> None:
    for number in range(12):
        word = ("apple", "Äpfel apple 🍎", "apple 林檎")[number % 3]
        view.remember(f"{word} {'and more ' * number}number {number}")


@pytest.mark.parametrize("exact", [False, True])
def test_a_budget_is_never_exceeded(database_url: str, opened: Open, tmp_path: Path, exact: bool) -> None:
    count: TokenCounter = estimate_tokens
    settings = Settings()
    if exact:
        path = _tokenizer(tmp_path)
        count, settings = load_token_counter(path), Settings(recall=RecallSettings(tokenizer=path))
    view = private(opened(database_url, settings=settings), ALICE)
    _fill(view)
    view.block()
    everything = len(view.recall("apple", top_k=50))
    assert everything == 12
    lengths = set()
    for budget in (*range(0, 60, 7), 100, 200, 400, 800, 100_000):
        recalled = view.recall("apple", top_k=50, budget_tokens=budget)
        lengths.add(len(recalled))
        assert count("\n".join(contents(recalled))) <= budget
        bullets = view.query("apple", top_k=50, budget_tokens=budget)
        assert count("\n".join(one.text for one in bullets)) <= budget
        fresh = view.fresh("apple", top_k=50, budget_tokens=budget)
        assert count(fresh.text) <= budget
    assert {0, everything} < lengths
    # The best come first, whatever the budget.
    whole = contents(view.recall("apple", top_k=50))
    some = contents(view.recall("apple", top_k=50, budget_tokens=200))
    assert 0 < len(some) < 12
    assert whole[: len(some)] == some


def test_what_comes_along_is_within_the_budget_too(memory: Memory) -> None:
    view = private(memory, ALICE)
    hit, beside = kept(view, "apple"), kept(view, "a long story " * 50)
    view.relate(hit, beside)
    for budget in (30, 100, 2_000):
        found = view.recall("apple", budget_tokens=budget)
        assert contents(found) == ["apple"]
        told = [*contents(found), *(other.content for one in found for other in one.related)]
        assert estimate_tokens("\n".join(told)) <= budget
    fresh = view.fresh("zebra apple", budget_tokens=10)
    assert (fresh.text, fresh.recalled) == ("", ())
