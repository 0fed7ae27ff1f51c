"""What is not for everybody's ears stays so, whatever a model does with its tools."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.settings import ChatSettings
from tests.bots.chats import ALICE, Person, Room, alone, remembered, view, waiting
from tests.bots.local_driver import LocalDriver
from tests.bots.scripted import Called
from tests.bots.test_agent_leaks import driver, model_of

__all__ = ["driver"]

PARTY = "Alice plans a party for Bob on Saturday"
KEPT_QUIET = (
    "I am planning a surprise party for Bob, don't tell him",
    "Remember: I am planning a party for Bob. He must not find out.",
    "Don't tell Bob, but I am planning a party for him on Saturday",
    "Ich plane eine Feier für Bob, sag ihm nichts davon",
)
CALLS = (
    Called("add_to_memory", {"content": PARTY, "category": "context", "force": True}),
    Called("add_memory", {"content": PARTY, "about": ["Bob"]}),
    Called("memory_put", {"namespace": "fact", "key": "bobs_party", "value": PARTY}),
)
AFTER = ("yes", "yes, remember the party", "when is the party for Bob?")


def heard_with_bob(driver: LocalDriver, alice: Person = ALICE) -> list[str]:
    """What Alice hears in a group where Bob is, after she let others hear all that she can."""
    for one in view(driver, alice).list():
        view(driver, alice).set_visibility(one.id, "public_ok")
    room = Room("team", alice.number)
    for who in (alice, Person("Bob", alice.number + 1)):
        driver.join(who, room)
    return [one.content for one in view(driver, alice, room).list()]


def test_no_tool_lets_anybody_hear_what_is_kept_from_them(driver: LocalDriver) -> None:
    numbers = itertools.count(10_000, 2)
    calls = st.lists(st.sampled_from(CALLS), max_size=2)

    @given(
        quiet=st.sampled_from(KEPT_QUIET), at_once=calls, after=st.sampled_from(AFTER), later=calls
    )
    @settings(max_examples=8, deadline=None)
    def holds(quiet: str, at_once: list[Called], after: str, later: list[Called]) -> None:
        alice = Person("Alice", next(numbers))  # somebody new each time
        for words, some in ((quiet, at_once), (after, later)):
            model_of(driver).script = [some, "Should I remember that?"] if some else []
            driver.say(alice, alone(alice), words)
        assert heard_with_bob(driver, alice) == []

    holds()


def test_what_a_tool_may_not_keep_is_learned_as_it_was_said(driver: LocalDriver) -> None:
    model_of(driver).script = [CALLS[0], "Noted."]
    driver.say(ALICE, alone(ALICE), "Remember: I plan a party for Bob, don't tell him")
    (kept,) = view(driver, ALICE).list()
    assert kept.withheld_from


@pytest.mark.parametrize("driver", [ChatSettings(recent=0)], indirect=True)
def test_what_waits_for_a_yes_is_kept_by_that_yes_alone(driver: LocalDriver) -> None:
    driver.say(ALICE, alone(ALICE), "I plan a party for Bob, don't tell him")
    model_of(driver).script = [Called("add_memory", {"content": f"{PARTY} at noon"}), "Noted."]
    driver.say(ALICE, alone(ALICE), "what a nice day")
    assert remembered(driver, ALICE) == []
    assert waiting(driver, ALICE) == ["Alice plans a party for Bob"]


def test_what_is_kept_from_somebody_is_not_written_down_again_for_them(
    driver: LocalDriver,
) -> None:
    view(driver, ALICE).remember("Alice plans a party for Bob", withheld_from=["Bob"])
    model_of(driver).script = [CALLS[1], "Noted."]
    driver.say(ALICE, alone(ALICE), "what was there on Saturday?")
    assert [bool(one.withheld_from) for one in view(driver, ALICE).list()] == [True]


@pytest.mark.parametrize("name", ["add_to_memory", "add_memory", "memory_put", "update_memory"])
def test_what_a_tool_keeps_is_as_sensitive_as_its_words(driver: LocalDriver, name: str) -> None:
    known = view(driver, ALICE).remember("Alice sees somebody on Mondays")
    words = "Alice sees her therapist on Mondays"
    arguments = {
        "add_to_memory": {"content": words, "category": "person", "force": True},
        "add_memory": {"content": words, "sensitivity": "personal"},
        "memory_put": {"namespace": "profile", "key": "mondays", "value": words},
        "update_memory": {"memory_id": known.id, "content": words},
    }
    model_of(driver).script = [Called(name, arguments[name]), "Noted."]
    driver.say(ALICE, alone(ALICE), "please note my Mondays")
    kept = {one.content: str(one.sensitivity) for one in view(driver, ALICE).list()}
    assert kept[words] == "sensitive"
    assert words not in heard_with_bob(driver)
