"""Unlearn: who takes back a message takes back what it taught, and nothing that is not theirs."""

from typing import Any

import pytest
from sqlalchemy import text

import tacit
from tacit import Message
from tacit.memory import Memory
from tacit.records.memory import State
from tacit.records.results import Reverted
from tacit.settings import LearnSettings, MemorySettings, SessionsSettings, Settings
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.lessons import asking, contents, only
from tests.contract.rooms import ALICE, BOB, TEAM, get_value, group, private
from tests.contract.rows import rows

CAROL = tacit.Requester("telegram:3003", name="Carol")
NOTHING = Reverted()


def said(memory: Memory, view: View, words: str, id: str) -> None:
    view.learn([Message("user", words, id=id)])
    memory.jobs.wait_for_learning()


def test_what_a_message_taught_is_forgotten_and_may_come_back(learning: Memory) -> None:
    own = private(learning, ALICE)
    said(learning, own, "I live in Lisbon", "m1")
    said(learning, own, "I'm allergic to peanuts", "m2")
    id = only(own, "Lisbon").id
    assert own.unlearn("m1") == Reverted(forgotten=1, recorded=1)
    assert contents(own) == ["Alice is allergic to peanuts"]
    assert own.recall("Lisbon") == []
    assert own.unlearn("m1") == NOTHING
    own.restore(id)
    assert "Alice lives in Lisbon" in contents(own)


def test_an_edited_message_is_learned_again_in_its_new_words(learning: Memory) -> None:
    own = private(learning, ALICE)
    said(learning, own, "I live in Lisbon", "m1")
    said(learning, own, "I live in Porto now", "m2")
    assert own.once("u7/unlearn").unlearn("m2") == Reverted(reworded=1, recorded=1)
    assert contents(own) == ["Alice lives in Lisbon"]
    said(learning, own, "I live in Faro now", "m2")
    assert own.once("u7/unlearn").unlearn("m2") == Reverted(reworded=1, recorded=1)  # told, and not done again
    assert contents(own) == ["Alice lives in Faro"]


def test_what_waits_to_be_learned_is_never_learned(learning: Memory) -> None:
    own, team = private(learning, ALICE), group(learning, ALICE)
    own.learn([Message("user", "I live in Lisbon", id="m1")])
    own.learn([Message("user", "I play the cello", id="m2")])
    team.learn([Message("user", "I'm allergic to peanuts", id="m1")])  # the same id, elsewhere
    assert own.unlearn("m1") == Reverted(turns=1, recorded=1)
    learning.jobs.wait_for_learning()
    assert contents(own) == ["Alice is allergic to peanuts", "Alice plays the cello"]


def test_what_it_was_asked_about_and_what_was_recorded_of_it_is_gone(database_url: str, opened: Open) -> None:
    settings = Settings(
        learn=LearnSettings(workers=0, confirm="new"), memory=MemorySettings(sessions=SessionsSettings(keep=True))
    )
    memory = opened(database_url, settings=settings)
    own = private(memory, ALICE)
    said(memory, own, "I'm allergic to peanuts", "m1")
    said(memory, own, "I play the cello", "m2")
    assert len(own.proposals.list()) == 2
    assert own.unlearn("m1") == Reverted(proposals=1, recorded=1)
    assert ["cello" in one.content for one in own.proposals.list()] == [True]
    assert rows(memory, "SELECT count(*) FROM memories WHERE content LIKE '%peanut%'") == [(0,)]
    assert rows(memory, "SELECT count(*) FROM memories WHERE content LIKE '%cello%'") == [(2,)]


@pytest.mark.parametrize("queued", [True, False], ids=["before it is learned", "after"])
def test_a_message_of_somebody_else_is_like_one_that_never_was(learning: Memory, queued: bool) -> None:
    alices, bobs = group(learning, ALICE), group(learning, BOB)
    alices.learn([Message("user", "I play the cello", id="m1")])
    if not queued:
        learning.jobs.wait_for_learning()
    for other in (bobs, group(learning, CAROL, here=(ALICE, BOB, CAROL)), private(learning, ALICE)):
        assert other.unlearn("m1") == other.unlearn("m99") == NOTHING
    learning.jobs.wait_for_learning()
    assert contents(alices) == ["Alice plays the cello"]
    assert alices.unlearn("m1") == Reverted(forgotten=1, recorded=1)


def test_what_somebody_else_said_since_stays(learning: Memory) -> None:
    here = (ALICE, BOB)
    alices, bobs = group(learning, ALICE, here=here), group(learning, BOB, here=here)
    said(learning, alices, "I live in Lisbon", "m1")
    said(learning, bobs, "I live in Porto", "m2")
    fact: dict[str, Any] = {"for_room": True, "sensitivity": "public"}
    id = alices.remember("Standup is at nine", message="m1", **fact).id
    bobs.update(id, "Standup is at ten")
    before = rows(learning, "SELECT count(*) FROM history")
    assert alices.unlearn("m2") == NOTHING
    assert rows(learning, "SELECT count(*) FROM history") == before
    assert alices.unlearn("m1") == Reverted(forgotten=1, recorded=1)
    assert contents(private(learning, BOB), category="profile") == ["Bob lives in Porto"]
    assert alices.show(id).content == "Standup is at ten"


@pytest.mark.parametrize("who", ["who said it first", "who knew better"])
def test_hearsay_and_the_word_of_whom_it_is_about_are_taken_back_each_by_their_own(learning: Memory, who: str) -> None:
    here = (ALICE, BOB)
    alices, bobs = group(learning, ALICE, here=here), group(learning, BOB, here=here)
    said(learning, alices, "Bob lives in Lisbon", "m1")
    (heard,) = bobs.proposals.list()
    bobs.proposals.approve(heard.id)
    said(learning, bobs, "I live in Porto", "m2")
    assert contents(bobs) == ["Bob lives in Porto"]
    if who == "who said it first":
        assert alices.unlearn("m1") == Reverted(forgotten=1, recorded=1)
        assert contents(bobs) == ["Bob lives in Porto"]
        assert bobs.unlearn("m2") == Reverted(forgotten=1, recorded=1)  # and what she took back stays so
        assert contents(bobs) == contents(private(learning, ALICE)) == []
    else:
        assert bobs.unlearn("m2") == Reverted(forgotten=1, restored=1, recorded=1)
        assert contents(bobs) == ["Bob lives in Lisbon"]


@pytest.mark.parametrize("owner", [None, ALICE])
def test_who_said_something_takes_it_back_whoever_it_belongs_to(
    learning: Memory, owner: tacit.Requester | None
) -> None:
    """A room's own fact, or another person's: who said it is what counts."""
    alices, bobs = group(learning, ALICE), group(learning, BOB)
    said(learning, alices, "I play the cello", "m1")
    values = {"owner": None if owner is None else f"ext:{owner.key}", "said": f"ext:{BOB.key}"}
    change = text("UPDATE memories SET owner = :owner, speaker = :said")
    learning._storage.database.write(lambda c: c.execute(change, values))
    assert alices.unlearn("m1") == NOTHING
    assert bobs.unlearn("m1") == Reverted(forgotten=1, recorded=1)


def test_ones_own_later_word_stays_too(learning: Memory) -> None:
    own = private(learning, ALICE)
    said(learning, own, "I live in Lisbon", "m1")
    id = only(own, "Lisbon").id
    own.update(id, "Alice lives in Faro")
    said(learning, own, "I'm allergic to peanuts", "m2")
    own.remember("Alice collects stamps")
    assert own.unlearn("m1") == Reverted(recorded=1)
    assert own.unlearn("m2") == Reverted(forgotten=1, recorded=1)
    assert contents(own) == ["Alice collects stamps", "Alice lives in Faro"]


def test_what_a_tool_wrote_down_because_of_a_message_goes_with_it(learning: Memory) -> None:
    own = private(learning, ALICE)
    id = own.put("profile", "drink", "tea").id
    own.put("profile", "drink", "coffee", message="m1")
    own.remember("Alice collects stamps", message="m1")
    kept = own.remember("Alice has a boat", message="m1").id
    own.update(kept, "Alice has two boats")  # her word since, with no message
    assert own.unlearn("m1") == Reverted(forgotten=1, reworded=1)
    assert contents(own) == ["Alice has two boats", "tea"]
    found = get_value(own, "profile", "drink")
    assert (found.id, found.content) == (id, "tea")
    assert own.unlearn("m1") == NOTHING


def test_what_gave_way_stands_again_and_a_group_is_not_told_of_it(learning: Memory) -> None:
    """What she had said in private is hers to know of there, and not where others listen."""
    own, team = private(learning, ALICE), group(learning, ALICE)
    said(learning, own, "I live in Lisbon", "m1")
    first = only(own, "Lisbon").id
    said(learning, team, "I moved to Porto", "m2")
    assert own.show(first).state is State.SUPERSEDED
    assert team.unlearn("m2") == Reverted(forgotten=1, recorded=1)
    assert contents(own) == ["Alice lives in Lisbon"]
    assert contents(team) == []


def test_any_identity_of_a_person_takes_back_what_another_of_theirs_said(learning: Memory) -> None:
    second = tacit.Requester("telegram:1002", name="Alice")
    said(learning, group(learning, second, here=(ALICE, second, BOB)), "I play the cello", "m1")
    alices = group(learning, ALICE, here=(ALICE, second, BOB))
    assert alices.unlearn("m1") == NOTHING
    for one in (ALICE, second):
        learning.admin.link(one.key, "acct:alice")
    assert alices.unlearn("m1") == Reverted(forgotten=1, recorded=1)
    assert contents(private(learning, ALICE)) == []


def test_a_chat_is_the_same_under_every_id_it_has_had(learning: Memory) -> None:
    said(learning, group(learning, ALICE), "I play the cello", "m1")
    learning.chats.migrate(TEAM, "telegram:-300")
    assert group(learning, ALICE, "telegram:-300").unlearn("m1") == Reverted(forgotten=1, recorded=1)


def test_an_agent_takes_back_no_more_than_it_may_use(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=asking("never"))
    own = private(memory, ALICE)
    said(memory, own, "I live in Lisbon", "m1")
    own.learn([Message("user", "I play the cello", id="m1")])
    narrow = memory.view(ALICE, tacit.Chat.private(ALICE.key), categories=["task"])
    assert narrow.unlearn("m1") == NOTHING
    assert own.unlearn("m1") == Reverted(forgotten=1, turns=1, recorded=2)


def test_what_no_message_can_be_called_is_refused(learning: Memory) -> None:
    bad: list[Any] = ["", " m1", "m\u200b1", "m" * 201, 7, None]
    for message in bad:
        with pytest.raises(tacit.InvalidInput, match="message"):
            private(learning, ALICE).unlearn(message)
