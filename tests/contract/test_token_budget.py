"""A budget of tokens is filled as a model would count them, not as if each byte were one."""

from tacit.memory import Memory
from tests.contract.rooms import ALICE, private

FACTS = (
    "I prefer aisle seats on long flights",
    "My flights leave from Lisbon because the airport is close to my home",
    "I collect miles on every flight and my status is gold until December",
    "I never check in a suitcase on short flights",
    "I take a tablet before a flight on a small plane",
)


def test_a_small_budget_holds_a_handful_of_facts(memory: Memory) -> None:
    view = private(memory, ALICE)
    for fact in FACTS:
        view.remember(fact)
    found = view.fresh("which seat should I book for my flight?", budget_tokens=200)
    assert len(found.recalled) == len(FACTS)
    assert "aisle seats" in found.text
    assert 60 <= found.tokens <= 200
    # English words are about four characters to a token.
    assert 3 < len(found.text) / found.tokens < 6


def test_a_tight_budget_is_used_and_kept(memory: Memory) -> None:
    view = private(memory, ALICE)
    for fact in FACTS:
        view.remember(fact)
    some = view.recall("flight seats", budget_tokens=40)
    assert 1 <= len(some) < len(FACTS)
    told = view.query("flight seats", top_k=5, budget_tokens=40)
    assert 1 <= len(told) < len(FACTS)
    assert not view.fresh("flight seats", budget_tokens=5).text
