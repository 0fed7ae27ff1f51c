"""Before something is added: whether a memory on the same subject is better changed."""

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, group, kept, private


def test_the_same_words_are_suggested(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "Sarah works on the Platform team", category="person", about=["Sarah"])
    found = view.suggest_update("sarah works on the platform team!", category="person")
    assert found is not None
    assert found.id == id
    assert found.content == "Sarah works on the Platform team"


def test_another_fact_on_the_same_subject_is_suggested(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "Sarah works on the Platform team", category="person", about=["Sarah"])
    kept(view, "Tom works on the Platform team", category="person", about=["Tom"])
    found = view.suggest_update("Sarah works on the Design team", category="person", about=["Sarah"])
    assert found is not None
    assert found.id == id


@pytest.mark.parametrize(
    ("content", "category", "about"),
    [
        ("Sarah likes tulips and gardening", "person", ["Sarah"]),
        ("Sarah works on the Platform team", "preference", ["Sarah"]),
        ("Ines works on the Platform team", "person", ["Ines"]),
    ],
)
def test_another_subject_is_not(memory: Memory, content: str, category: str, about: list[str]) -> None:
    view = private(memory, ALICE)
    kept(view, "Sarah works on the Platform team", category="person", about=["Sarah"])
    assert view.suggest_update(content, category=category, about=about) is None


def test_nothing_is_suggested_that_may_not_be_heard_here(memory: Memory) -> None:
    kept(private(memory, ALICE), "Alice hides canaries", category="fact")
    assert group(memory, ALICE).suggest_update("Alice hides canaries", category="fact") is None
    assert private(memory, BOB).suggest_update("Alice hides canaries", category="fact") is None


def test_bad_input_is_refused(memory: Memory) -> None:
    with pytest.raises(tacit.InvalidInput):
        private(memory, ALICE).suggest_update("")
