"""What people ask about themselves: their own facts answer, and not those about their friends."""

import pytest

from tacit import Message, limits
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.embedders import minilm
from tests.contract.rooms import ALICE, BOB, group, private

MODELS = {"words": lambda: None, "meaning": minilm}
SAID = (
    "I moved to Amsterdam last week",
    "I work as a nurse at the city hospital",
    "I have a daughter called Paula",
    "I'm allergic to nuts",
    "I'm 34 years old",
    "my cat is called Miso",
    "I'm vegetarian",
    "I speak Polish and English",
    "I drive a Skoda",
)
OF_BOB = (
    "Bob lives in Berlin",
    "Bob works as a baker and that is his job",
    "Bob has three children",
    "Bob is allergic to cats",
    "Bob is 40 years old",
    "Bob's dog is called Rex and Bob has no other pets",
    "Bob eats meat",
    "Bob speaks Danish, which is the language he speaks at home",
    "Bob has a car",
)
ANSWERS = {
    "Where do I live?": "Amsterdam",
    "which city do I live in now?": "Amsterdam",
    "Do you remember where I live?": "Amsterdam",
    "What's my home town?": "Amsterdam",
    "what do I do for a living?": "nurse",
    "what's my job": "nurse",
    "Where do I work?": "hospital",
    "do I have children?": "Paula",
    "Do I have any kids?": "Paula",
    "what am I allergic to?": "nuts",
    "How old am I?": "34",
    "do I have any pets?": "Miso",
    "do I eat meat?": "vegetarian",
    "what languages do I speak?": "Polish",
    "what car do I drive?": "Skoda",
    "Wo wohne ich?": "Amsterdam",
    "Was mache ich beruflich?": "nurse",
    "Habe ich Kinder?": "Paula",
    "Hi! I am filling in a form. Where do I live?": "Amsterdam",
}


def tell(memory: Memory, view: View) -> None:
    view.learn([Message(role="user", content=one) for one in SAID])
    memory.jobs.wait_for_learning()
    for one in OF_BOB:
        view.remember(one, about=["Bob"])


@pytest.mark.parametrize("model", MODELS)
def test_own_facts_answer_first(database_url: str, opened: Open, model: str) -> None:
    memory = opened(database_url, embedder=MODELS[model]())
    view = private(memory, ALICE)
    tell(memory, view)
    for question, answer in ANSWERS.items():
        found = view.recall(question)
        assert answer in found[0].memory.content, question
        assert found[0].signals.own > 0
        assert "about yourself" in found[0].why
        assert answer in view.query(question)[0].text, question
        assert answer in view.fresh(question).text, question


def test_a_question_about_somebody_else_is_about_them(memory: Memory) -> None:
    view = private(memory, ALICE)
    tell(memory, view)
    for question, answer in {
        "Where does Bob live?": "Berlin",
        "How old is Bob?": "40",
        "what is Bob's job?": "baker",
    }.items():
        found = view.recall(question)
        assert answer in found[0].memory.content
        assert all(one.signals.own == 0 for one in found)


def test_words_answer_where_no_slot_was_learned(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("Bob lives in Berlin")
    view.remember("My sister lives in Rome")
    view.remember("I live in a small flat in Porto")
    view.remember("My job is gardening")
    view.put("profile", "birthday", "3 May")
    assert "Porto" in view.recall("Where do I live?")[0].memory.content
    assert "gardening" in view.recall("what do I do for a living?")[0].memory.content
    assert view.recall("when was I born?")[0].memory.content == "3 May"


def test_what_is_replaced_does_not_answer(memory: Memory) -> None:
    view = private(memory, ALICE)
    for one in ("I live in Bergen", "I moved to Amsterdam last week"):
        view.learn([Message(role="user", content=one)])
        memory.jobs.wait_for_learning()
    assert [("Amsterdam" in one.memory.content) for one in view.recall("where do I live?")] == [True]


def test_own_facts_are_nominated_among_many(database_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opened(database_url)
    view = private(memory, ALICE)
    tell(memory, view)
    for number in range(12):
        view.remember(f"Ordinary remark {number}")
    monkeypatch.setattr(limits, "PERMITTED_SET_MAX_COUNT", 5)
    monkeypatch.setattr(limits, "CANDIDATES_COUNT", 8)
    for question, answer in ANSWERS.items():
        assert answer in private(memory, ALICE).recall(question)[0].memory.content, question
        for view in (private(memory, BOB), group(memory, BOB), group(memory, ALICE)):
            assert not view.recall(question)


def test_nobody_hears_where_another_lives_by_asking_for_themselves(memory: Memory) -> None:
    tell(memory, private(memory, ALICE))
    for view in (private(memory, BOB), group(memory, BOB), group(memory, ALICE)):
        for question in ANSWERS:
            assert not view.recall(question)


def test_in_a_group_the_requester_is_told_of_themselves(memory: Memory) -> None:
    for who, where in ((ALICE, "Amsterdam"), (BOB, "Berlin")):
        said = Message(role="user", content=f"I live in {where}")
        group(memory, who).learn([said])
        memory.jobs.wait_for_learning()
    for who, where in ((ALICE, "Amsterdam"), (BOB, "Berlin")):
        found = group(memory, who).recall("Where do I live?")
        assert where in found[0].memory.content
