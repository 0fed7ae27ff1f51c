"""Before something is added: whether a memory on the same subject is better changed."""

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, group, kept, private

SUGGESTED: list[tuple[str, str, list[str], bool]] = [
    ("sarah works on the Platform team!", "person", [], True),
    ("Sarah works on the Design team", "person", ["Sarah"], True),
    ("Sarah likes tulips and gardening", "person", ["Sarah"], False),
    ("Sarah works on the Platform team", "preference", ["Sarah"], False),
    ("Ines works on the Platform team", "person", ["Ines"], False),
]


def test_a_memory_on_the_same_subject_is_suggested_and_no_other(memory: Memory) -> None:
    view = private(memory, ALICE)
    id = kept(view, "Sarah works on the Platform team", category="person", about=["Sarah"])
    kept(view, "Tom works on the Platform team", category="person", about=["Tom"])
    for content, category, about, suggested in SUGGESTED:
        found = view.suggest_update(content, category=category, about=about or None)
        assert (found and (found.id, found.content)) == (
            (id, "Sarah works on the Platform team") if suggested else None
        ), content
    with pytest.raises(tacit.InvalidInput):
        view.suggest_update("")


def test_nothing_is_suggested_that_may_not_be_heard_here(memory: Memory) -> None:
    kept(private(memory, ALICE), "Alice hides canaries", category="fact")
    assert group(memory, ALICE).suggest_update("Alice hides canaries", category="fact") is None
    assert private(memory, BOB).suggest_update("Alice hides canaries", category="fact") is None
