"""Talking with the language model of a memory: what it hears, what it costs, when there is none."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tacit import InvalidInput, Message
from tacit.errors import LanguageOverBudget, LanguageUnavailable
from tacit.memory import Memory
from tacit.records.conversation import ModelTurn, TalkReply, TalkTurn, ToolSpec, ToolTurn, UserTurn
from tacit.settings import LearnSettings, Settings
from tests.bots.scripted import Called, ScriptedModel
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, private
from tests.contract.rows import rows
from tests.contract.scripted import HEDGEHOGS
from tests.llm.replies import TOKENS

HELLO = UserTurn("What do I drink?")
LOOK = ToolSpec("look", "Looks something up.", {"type": "object", "properties": {}})


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as running:
        yield running


def settings(model: ScriptedModel, **language: int) -> Settings:
    learn = LearnSettings(workers=0, debounce_seconds=0)
    return Settings(language=replace(model.settings, **language), learn=learn)  # type: ignore[arg-type]


def used(memory: Memory) -> list[tuple[object, ...]]:
    found = "SELECT space_id, requests, tokens_in FROM llm_usage ORDER BY space_id"
    return [tuple(row) for row in rows(memory, found)]


def test_the_model_hears_what_it_is_given_and_nothing_else_of_memory(
    model: ScriptedModel, database_url: str, opened: Open
) -> None:
    memory = opened(database_url, settings=settings(model))
    private(memory, ALICE).remember("I take my tea with milk")
    assert memory.llm.available
    model.script = [Called("look", {}), "You take tea."]
    first = memory.llm.talk("Be kind.", [HELLO], [LOOK])
    turns: list[TalkTurn] = [HELLO, ModelTurn("", first.calls)]
    turns.append(ToolTurn("call_1", "look", "Tea."))
    assert memory.llm.talk("Be kind.", turns, [LOOK]) == TalkReply("You take tea.")
    before, after = model.prompts
    assert before.messages == [{"role": "system", "content": "Be kind."}, {"role": "user", "content": HELLO.text}]
    assert (after.instructions, after.said, after.results) == ("Be kind.", HELLO.text, ["Tea."])
    assert after.tools == ["look"]
    assert "milk" not in before.text + after.text


def test_talking_and_learning_spend_one_budget_in_each_space(
    model: ScriptedModel, database_url: str, opened: Open
) -> None:
    memory = opened(database_url, settings=settings(model, tokens_per_day=20_000))
    memory.llm.talk("Be kind.", [HELLO])
    private(memory, ALICE).learn([Message("user", HEDGEHOGS)])
    memory.jobs.wait_for_learning()
    assert (len(model.prompts), len(model.asked)) == (1, 1)
    assert used(memory) == [("default", 2, 2 * TOKENS["in"])]
    other = memory.space("other")
    long = UserTurn("x" * 15_000)
    other.llm.talk("Be kind.", [long])
    assert used(memory)[1] == ("other", 1, TOKENS["in"])
    with pytest.raises(LanguageOverBudget, match="language budget of this space"):
        other.llm.talk("Be kind.", [UserTurn("x" * 19_000)])
    assert len(model.prompts) == 2


def test_there_is_a_model_to_talk_with_also_where_nothing_is_learned(model: ScriptedModel, opened: Open) -> None:
    memory = opened("sqlite://", settings=Settings(language=model.settings, learn=LearnSettings(enabled=False)))
    assert memory.llm.talk("Be kind.", [HELLO]).text == "All right."
    memory.close()
    with pytest.raises(LanguageUnavailable, match="closed"):
        memory.llm.talk("Be kind.", [HELLO])


def test_words_say_whether_all_may_hear_them_and_how_sensitive_they_are(memory: Memory) -> None:
    assert memory.llm.has_hold("I plan a party for Bob, don't tell him")
    assert memory.llm.has_hold("Das bleibt unter uns: ich ziehe um")
    assert not memory.llm.has_hold("I plan a party for Bob, tell him")
    assert memory.llm.sensitivity_of("Alice takes insulin") == "sensitive"
    assert memory.llm.sensitivity_of("Alice takes the bus") == "personal"
    for ask in (memory.llm.has_hold, memory.llm.sensitivity_of):
        with pytest.raises(InvalidInput, match="words"):
            ask(None)  # type: ignore[arg-type]


def test_without_a_model_there_is_nobody_to_talk_with(memory: Memory) -> None:
    assert not memory.llm.available
    with pytest.raises(InvalidInput, match="no model is set; choose one"):
        memory.llm.talk("Be kind.", [HELLO])
