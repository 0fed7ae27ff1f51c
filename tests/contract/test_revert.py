"""What was learned from one source is undone: all of it, once, and nothing that others said."""

import pytest

import tacit
from tacit import Message, State
from tacit.memory import Memory
from tacit.records.memory import HistoryEvent, Trust
from tacit.records.results import Reverted
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.lessons import asking, contents, only, told
from tests.contract.rooms import ALICE, BOB, TEAM, SetClock, group, private
from tests.contract.rows import rows

HOME = ALICE.key  # her private chat


def said(memory: Memory, view: View, text: str, id: str) -> None:
    view.learn([Message("user", text, id=id)])
    memory.jobs.wait_for_learning()


def events(view: View, id: str) -> list[str]:
    return [entry.event.value for entry in view.history(id)]


def test_what_a_chat_taught_is_forgotten_and_says_why(learning: Memory) -> None:
    own = private(learning, ALICE)
    told(learning, own, "I live in Lisbon", "I'm allergic to peanuts")
    told(learning, group(learning, ALICE), "I play the cello")
    id = only(own, "Lisbon").id
    done = learning.operator("root").revert(HOME)
    assert done == Reverted(forgotten=2)
    assert contents(own) == ["Alice plays the cello"]
    last = own.history(id)[-1]
    assert (last.event, last.actor) == (HistoryEvent.DELETE, "operator:root")
    assert "reverted" in last.detail["why"]
    assert HOME not in last.detail["why"]
    own.restore(id)
    assert "Alice lives in Lisbon" in contents(own)


def test_reverting_twice_changes_nothing_more(learning: Memory) -> None:
    own, root = private(learning, ALICE), learning.operator("root")
    own.remember("I live in Lisbon", kind="identity")
    told(learning, own, "I'm allergic to peanuts", "my sister is called Ana")
    before = rows(learning, "SELECT count(*) FROM history")
    assert root.revert(HOME)
    after = rows(learning, "SELECT count(*) FROM history")
    assert after > before
    assert not root.revert(HOME)
    assert rows(learning, "SELECT count(*) FROM history") == after


def test_a_dry_run_counts_the_same_and_changes_nothing(learning: Memory) -> None:
    own, root = private(learning, ALICE), learning.operator("root")
    told(learning, own, "I live in Lisbon", "I live in Porto now", "I'm allergic to peanuts")
    own.learn([Message("user", "I play the cello")])
    tables = ("memories", "history", "memory_versions", "jobs", "learned_facts", "change_log")
    counts = [rows(learning, f"SELECT count(*) FROM {table}") for table in tables]
    would = root.revert(HOME, dry_run=True)
    assert would == Reverted(forgotten=2, turns=1, recorded=1)
    assert [rows(learning, f"SELECT count(*) FROM {table}") for table in tables] == counts
    assert len(contents(own)) == 2
    assert root.revert(HOME) == would


def test_a_persons_own_later_correction_is_kept(learning: Memory) -> None:
    own = private(learning, ALICE)
    told(learning, own, "I live in Lisbon")
    id = only(own, "Lisbon").id
    own.update(id, "Alice lives in Faro")
    assert not learning.operator("root").revert(HOME)
    assert contents(own) == ["Alice lives in Faro"]


def test_a_person_who_corrected_elsewhere_keeps_their_word(learning: Memory) -> None:
    own, team = private(learning, ALICE), group(learning, ALICE)
    told(learning, team, "I live in Lisbon")
    own.update(only(own, "Lisbon").id, "Alice lives in Faro")
    assert contents(own, state="superseded") == ["Alice lives in Lisbon"]
    done = learning.operator("root").revert(TEAM)
    assert done == Reverted(forgotten=1)
    assert contents(own) == ["Alice lives in Faro"]
    assert contents(own, state="superseded") == []


def test_what_was_only_reworded_has_its_earlier_wording_back(learning: Memory, clock: SetClock) -> None:
    own = private(learning, ALICE)
    said(learning, own, "I live in Lisbon", "m1")
    id = only(own, "Lisbon").id
    clock.forward(seconds=60)
    said(learning, own, "I live in Porto now", "m2")
    assert only(own, "Porto").id == id
    root = learning.operator("root")
    assert root.revert(f"{HOME}/m2") == Reverted(reworded=1)
    found = own.show(id)
    assert (found.content, found.version) == ("Alice lives in Lisbon", 3)
    assert events(own, id) == ["ADD", "UPDATE", "UPDATE"]
    assert not root.revert(f"{HOME}/m2")
    told(learning, own, "I live in Braga now")
    assert contents(own) == ["Alice lives in Braga"]


def test_a_wording_that_was_put_back_goes_with_its_own_source(learning: Memory) -> None:
    own, root = private(learning, ALICE), learning.operator("root")
    said(learning, own, "I live in Lisbon", "m1")
    said(learning, own, "I live in Porto now", "m2")
    assert root.revert(f"{HOME}/m2") == Reverted(reworded=1)
    assert root.revert(HOME) == Reverted(forgotten=1)
    assert contents(own) == []
    assert not root.revert(HOME)


def test_the_words_that_a_person_wrote_themselves_come_back(learning: Memory) -> None:
    own = private(learning, ALICE)
    id = own.remember("Alice lives in Lisbon", kind="identity", about=[ALICE.key]).id
    told(learning, own, "Actually I live in Porto now", "no, in Faro")
    assert own.show(id).version > 1
    assert learning.operator("root").revert(HOME) == Reverted(reworded=1)
    assert contents(own) == ["Alice lives in Lisbon"]


def test_what_gave_way_stands_again(learning: Memory) -> None:
    own, team = private(learning, ALICE), group(learning, ALICE)
    told(learning, own, "I live in Lisbon")
    first = only(own, "Lisbon").id
    told(learning, team, "I moved to Porto")
    told(learning, team, "I moved to Faro")
    assert own.show(first).state is State.SUPERSEDED
    done = learning.operator("root").revert(TEAM)
    assert done.restored == 1
    assert contents(own) == ["Alice lives in Lisbon"]
    assert own.show(first).superseded_by is None
    assert own.history(first)[-1].event is HistoryEvent.RESTORE
    assert [one.memory.id for one in own.recall("Lisbon")] == [first]


def test_an_explicit_memory_of_the_same_chat_stays(learning: Memory) -> None:
    own = private(learning, ALICE)
    own.remember("Alice collects stamps", agent="bot", message="m1")
    told(learning, own, "I'm allergic to peanuts")
    learning.operator("root").revert(HOME)
    assert contents(own) == ["Alice collects stamps"]


def test_proposals_and_queued_turns_go_as_well(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=asking("new"))
    own, team, bobs = private(memory, ALICE), group(memory, ALICE), private(memory, BOB)
    told(memory, own, "I'm allergic to peanuts")
    told(memory, bobs, "I'm allergic to shellfish")
    own.learn([Message("user", "I play the cello")])
    team.learn([Message("user", "I play the viola")])
    assert memory.operator("root").revert(HOME) == Reverted(proposals=1, turns=1, recorded=2)
    assert own.proposals.list() == []
    assert len(bobs.proposals.list()) == 1
    assert memory.jobs.pending().turns == 1
    assert rows(memory, "SELECT count(*) FROM memories WHERE content LIKE '%peanut%'") == [(0,)]


def test_one_agent_is_reverted_and_another_is_not(learning: Memory) -> None:
    chat = tacit.Chat.private(HOME)
    for agent, text in (("mallory", "I live in Lisbon"), ("trent", "I'm allergic to peanuts")):
        view = learning.view(ALICE, chat, agent=agent)
        assert isinstance(view, View)
        told(learning, view, text)
    assert learning.operator("root").revert("agent:mallory") == Reverted(forgotten=1)
    assert contents(private(learning, ALICE)) == ["Alice is allergic to peanuts"]


def test_what_tools_said_goes_out_of_quarantine_too(learning: Memory) -> None:
    own, root = private(learning, ALICE), learning.operator("root")
    told(learning, own, "The build is green", "The build is blue", role="tool")
    told(learning, own, "I live in Lisbon")
    root.quarantine.release(root.quarantine.list()[0].id)
    assert root.revert("role:tool") == Reverted(forgotten=2)
    assert root.quarantine.list() == []
    assert contents(own) == ["Alice lives in Lisbon"]


def test_a_chat_is_reverted_under_every_id_it_has_had(learning: Memory) -> None:
    told(learning, group(learning, ALICE), "I play the cello")
    learning.chats.migrate(TEAM, "telegram:-300")
    told(learning, group(learning, ALICE, "telegram:-300"), "I'm allergic to peanuts")
    assert learning.operator("root").revert("telegram:-300") == Reverted(forgotten=2)


def test_another_space_is_left_alone(learning: Memory) -> None:
    other = learning.space("other")
    for memory in (learning, other):
        told(memory, private(memory, ALICE), "I live in Lisbon")
    assert other.operator("root").revert(HOME) == Reverted(forgotten=1)
    assert contents(private(learning, ALICE)) == ["Alice lives in Lisbon"]


def test_a_large_source_goes_in_parts(learning: Memory) -> None:
    own = private(learning, ALICE)
    texts = [f"item {n} is blue" for n in range(230)]
    own.learn([Message("tool", text) for text in texts])
    learning.jobs.wait_for_learning()
    assert learning.operator("root").revert("role:tool") == Reverted(forgotten=len(texts))


def test_a_source_that_cannot_be_meant_is_refused(learning: Memory) -> None:
    unknown = ["", "telegram", "telegram:abc", "agent:", "role:king", "import:7", f"{HOME}/", "/m"]
    for source in unknown:
        with pytest.raises(tacit.InvalidInput, match="source"):
            learning.operator("root").revert(source)


def test_quarantine_tells_where_something_came_from_and_not_what_it_says(learning: Memory) -> None:
    own, root = private(learning, ALICE), learning.operator("root")
    own.learn([Message("tool", "The vault is open", id="m9")])
    learning.jobs.wait_for_learning()
    (held,) = root.quarantine.list()
    assert (held.chat, held.message, held.role) == (HOME, "m9", "tool")
    assert held.owner == f"ext:{HOME}"
    assert held.reason == "it comes from a tool"
    assert "vault" not in repr(held)


def test_what_is_released_is_recalled_and_untrusted(learning: Memory) -> None:
    own, root = private(learning, ALICE), learning.operator("root")
    told(learning, own, "The vault is open", role="tool")
    (held,) = root.quarantine.list()
    assert own.recall("vault") == []
    root.quarantine.release(held.id)
    (found,) = own.recall("vault")
    assert (found.memory.state, found.memory.trust) == (State.ACTIVE, Trust.UNTRUSTED)
    assert own.history(held.id)[-1].actor == "operator:root"
    with pytest.raises(tacit.NotFound):
        root.quarantine.release(held.id)


def test_what_is_discarded_is_gone(learning: Memory) -> None:
    own, root = private(learning, ALICE), learning.operator("root")
    told(learning, own, "The vault is open", role="tool")
    (held,) = root.quarantine.list()
    assert root.quarantine.discard(held.id).count == 1
    assert root.quarantine.list() == []
    own.remember("tea")
    with pytest.raises(tacit.NotFound):
        root.quarantine.discard(only(own, "tea").id)
    with pytest.raises(tacit.NotFound):
        own.show(held.id)
