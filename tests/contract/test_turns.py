"""Turns of a conversation: kept unless the settings say otherwise, and found by recall alone."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

import tacit
from tacit import Message
from tacit.memory import Memory
from tacit.storage import memories
from tests.contract.conftest import Open
from tests.contract.conversations import FORGETFUL, KEEP, stored, turns
from tests.contract.embedders import minilm
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, LENT, TEAM, SetClock, group, kept, private
from tests.contract.rows import rows
from tests.contract.traces import ERASE_ALL, cleaned


@pytest.fixture
def keeping(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=KEEP)


def test_turns_are_not_kept_where_the_settings_say_so(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=FORGETFUL)
    view = private(memory, ALICE)
    view.learn([Message("user", "hello canary")])
    memory.jobs.wait_for_learning()
    with pytest.raises(tacit.InvalidInput, match=r"memory\.sessions\.keep"):
        view.record([Message("user", "hello canary")])
    assert stored(memory) == 0
    assert turns(view, "canary") == []


def test_a_turn_is_found_as_it_was_said(keeping: Memory, clock: SetClock) -> None:
    view = private(keeping, ALICE)
    when = datetime(2026, 2, 20, 9, tzinfo=UTC)
    done = view.record(
        [
            Message("user", "We fly to Lisbon in May", at=when, id="m1"),
            Message("assistant", "Shall I look for hotels?", at=when),
        ]
    )
    assert done
    assert len(done.ids) == 2
    (found,) = view.recall("Lisbon", include=["turns"], top_k=1)
    assert found.memory.id == done.ids[0]
    assert found.memory.content == "We fly to Lisbon in May"
    assert found.memory.observed_at == when
    assert found.memory.role == "user"
    assert found.rule == "P1"
    assert found.why


def test_turns_of_one_write_never_share_an_id(keeping: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memories, "new_memory_id", lambda _: "AAAAAAAA")
    monkeypatch.setattr(memories, "new_id", lambda: "BBBBBBBB")
    done = private(keeping, ALICE).record([Message("user", "one"), Message("user", "two")])
    assert done.ids == ("AAAAAAAA", "BBBBBBBB")


def test_nothing_but_recall_tells_of_turns(keeping: Memory, clock: SetClock) -> None:
    view = private(keeping, ALICE)
    (id,) = view.record([Message("user", "canary about Bob")]).ids
    clock.forward(seconds=1)
    assert len(view.list()) == len(view.list(state="active")) == 0
    assert list(view.export()) == []
    assert view.stats().memories == 0
    assert view.stats() == tacit.Stats()
    assert view.delta().changes == ()
    assert view.block().text == ""
    assert view.recall("canary", include=["memories"]) == []
    assert len(view.people.about("me")) == len(view.people.about("Bob")) == 0
    for read in (view.show, view.history, view.explain):
        with pytest.raises(tacit.NotFound):
            read(id)
    assert keeping.admin.stats().memories == 0


def test_a_turn_cannot_be_changed_as_a_memory(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    (id,) = view.record([Message("user", "canary")]).ids
    other = kept(view, "something else")
    acts: list[Any] = [
        lambda: view.update(id, "other words"),
        lambda: view.pin(id),
        lambda: view.set_visibility(id, "public_ok"),
        lambda: view.withhold_from(id, ["Bob"]),
        lambda: view.forget(id),
        lambda: view.relate(id, other),
        lambda: view.relate(other, id),
        lambda: keeping.operator("x").update(id, "other words"),
    ]
    for act in acts:
        with pytest.raises(tacit.NotFound):
            act()
    assert turns(view, "canary") == ["canary"]


def test_what_was_said_around_it_helps_to_find_a_turn(keeping: Memory, clock: SetClock) -> None:
    view = private(keeping, ALICE)
    view.record(
        [
            Message("user", "What colour is the new bicycle?"),
            Message("assistant", "Green with white stripes."),
            Message("user", "Thanks."),
        ],
        session="one",
    )
    clock.forward(seconds=60)
    view.record([Message("user", "Green tea is in the kitchen.")], session="two")
    found = view.recall("bicycle", include=["turns"], top_k=5)
    texts = [one.memory.content for one in found]
    assert "Green with white stripes." in texts
    assert "Green tea is in the kitchen." not in texts
    answer = next(one for one in found if one.memory.content.startswith("Green"))
    assert answer.signals.words == 0
    assert answer.signals.around > 0
    assert "right before or after" in answer.why


def test_turns_and_memories_come_together_and_two_sessions_do_not_help_each_other(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    view.remember("apple memory")
    view.record([Message("user", "apple turn")])
    found = view.recall("apple", include=["memories", "turns"])
    assert {one.memory.content for one in found} == {"apple memory", "apple turn"}
    view.record([Message("user", "the bicycle is red")], session="a")
    view.record([Message("user", "see you tomorrow")], session="b")
    assert turns(view, "bicycle") == ["the bicycle is red"]


def test_turns_are_found_by_meaning(database_url: str, opened: Open) -> None:
    view = private(opened(database_url, settings=KEEP, embedder=minilm()), ALICE)
    view.record([Message("user", "My sister got married in Porto"), Message("assistant", "Lovely")])
    (best, *_) = view.recall("where was the wedding?", include=["turns"])
    assert best.memory.content == "My sister got married in Porto"
    assert best.signals.meaning > 0.3


def test_a_speakers_name_says_who(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    view.record(
        [
            Message("user", "I adopted a cat", name="Melanie"),
            Message("user", "I adopted a dog", name="Caroline"),
            Message("user", "Caroline is nice", name="Melanie"),
        ],
        session="s",
    )
    best = view.recall("what did Caroline adopt?", include=["turns"])[0]
    assert best.memory.content == "I adopted a dog"
    assert "about Caroline" in best.why


def test_private_turns_are_nobody_elses(keeping: Memory) -> None:
    private(keeping, ALICE).record([Message("user", "canary in private")])
    elsewhere = [
        private(keeping, BOB),
        group(keeping, ALICE),
        group(keeping, BOB, complete=True),
        group(keeping, ALICE, FAMILY, here=(ALICE,)),
    ]
    for view in elsewhere:
        assert turns(view, "canary") == []
        assert view.recall("canary", include=["memories", "turns"]) == []
        assert "canary" not in str(view.recall("what did Alice say", include=["turns"]))
    assert turns(private(keeping, ALICE), "canary") == ["canary in private"]


def test_turns_of_a_group_go_to_no_other_room_and_back_to_those_who_heard_them(keeping: Memory) -> None:
    here = group(keeping, ALICE)
    here.record([Message("user", "canary in the group"), Message("assistant", "canary answered")])
    assert "canary in the group" in turns(here, "canary")
    for view in (
        group(keeping, ALICE, FAMILY, here=(ALICE, BOB)),
        group(keeping, BOB, FAMILY, here=(ALICE, BOB), complete=True),
        private(keeping, CAROL),
        group(keeping, CAROL, "telegram:-900", here=(CAROL,)),
    ):
        assert turns(view, "canary") == []
    # What was said counts as personal until somebody says otherwise: in the room it comes to mind for
    # whoever said it or was answered, and in private for those who heard it.
    assert set(turns(here, "canary")) == {"canary in the group", "canary answered"}
    assert turns(group(keeping, BOB), "canary") == []
    assert set(turns(private(keeping, BOB), "canary")) == {"canary in the group", "canary answered"}


def test_many_turns_keep_their_order(keeping: Memory, clock: SetClock) -> None:
    """Also those that are recorded at one reading of the clock, a few at a time."""
    view = private(keeping, ALICE)
    for part in range(4):
        view.record([Message("user", f"line {5 * part + n}: {'word ' * n}") for n in range(5)], session="s")
    said = rows(keeping, "SELECT content FROM memories WHERE is_turn ORDER BY seq")
    assert [int(text.split()[1].rstrip(":")) for (text,) in said] == list(range(20))


BAD: list[tuple[str, Any]] = [
    ("messages", "hello"),
    ("messages", 5),
    ("messages", None),
    ("messages", Message("user", "x")),
    ("messages", ["hello"]),
    ("messages", [Message("user", "x")] * 501),
    ("role", [Message("narrator", "x")]),
    ("content", [Message("user", "")]),
    ("content", [Message("user", "a\x00b")]),
    ("content", [Message("user", "x" * 16_001)]),
    ("name", [Message("user", "x", name="")]),
    ("at", [Message("user", "x", at=datetime(2026, 1, 1))]),  # noqa: DTZ001 (no zone: the point)
    ("id", [Message("user", "x", id="a\nb")]),
]


def test_bad_turns_are_refused_and_none_of_them_kept(keeping: Memory, subtests: pytest.Subtests) -> None:
    view = private(keeping, ALICE)
    for field, messages in BAD:
        if isinstance(messages, list) and len(messages) == 1:
            messages = [Message("user", "good"), *messages]
        with subtests.test(f"{field}: {str(messages)[:60]}"):
            refuses(view.record, field, messages)
            assert stored(keeping) == 0
    refuses(view.record, "session", [Message("user", "x")], session="")
    assert view.record([]).ids == ()


def test_a_chat_that_moved_keeps_its_turns(keeping: Memory) -> None:
    group(keeping, ALICE).record([Message("user", "canary before")])
    keeping.chats.migrate(TEAM, "telegram:-101")
    assert turns(group(keeping, ALICE, "telegram:-101"), "canary") == ["canary before"]


def test_a_turn_goes_when_its_time_is_up(keeping: Memory, clock: SetClock) -> None:
    view = private(keeping, ALICE)
    view.record([Message("user", "canary early")])
    clock.forward(days=6.9)
    assert turns(view, "canary") == ["canary early"]
    view.record([Message("user", "canary late")])
    keeping.jobs.expire()
    clock.forward(days=0.2)
    assert turns(view, "canary") == ["canary late"]
    keeping.jobs.expire()
    assert rows(keeping, "SELECT content FROM memories WHERE is_turn") == [("canary late",)]


def test_turns_are_erased_with_the_memory_they_led_to(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    ids = view.record([Message("user", "canary one"), Message("user", "canary two")]).ids
    stays = view.record([Message("user", "canary three")]).ids
    first = kept(view, "learned from both", turns=list(ids))
    second = kept(view, "learned from one", turns=[ids[0]])
    done = view.erase(second)
    assert (done.count, cleaned(done)) == (2, True)
    assert sorted(turns(view, "canary")) == ["canary three", "canary two"]
    done = view.erase(first)
    assert (done.count, cleaned(done)) == (2, True)
    assert turns(view, "canary") == ["canary three"]
    assert stored(keeping) == len(stays)


@pytest.mark.parametrize("odd", ["a\ud800", "", "\x00", 1, None, "no-id-of-ours"])
def test_what_is_no_id_of_a_turn_is_told(keeping: Memory, odd: Any) -> None:
    with pytest.raises(tacit.InvalidInput, match="turns"):
        private(keeping, ALICE).remember("learned from nothing", turns=[odd])


def test_turns_of_what_was_replaced_go_too_and_nobody_erases_anothers(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    ids = view.record([Message("user", "canary one")]).ids
    old = kept(view, "I live in Porto", turns=list(ids), **LENT)
    new = group(keeping, ALICE).update(old, "I live in Lisbon").id
    private(keeping, ALICE).erase(new)
    assert turns(view, "canary") == []
    ids = private(keeping, ALICE).record([Message("user", "canary")]).ids
    bob = private(keeping, BOB)
    bob.erase(kept(bob, "mine", turns=list(ids)), turns=True)
    assert turns(private(keeping, ALICE), "canary") == ["canary"]


@pytest.mark.parametrize("how", ERASE_ALL)
def test_turns_go_with_everything_else(keeping: Memory, how: str) -> None:
    view = private(keeping, ALICE)
    view.record([Message("user", "canary"), Message("assistant", "canary too")])
    group(keeping, ALICE).record([Message("user", "canary in the group")])
    private(keeping, BOB).record([Message("user", "canary of Bob")])
    ERASE_ALL[how](keeping)
    assert turns(view, "canary") == []
    assert stored(keeping) == (0 if how == "space" else 1)


BATCH_COUNT, BATCHES_COUNT = 250, 8


def record(memory: Memory, number: int) -> list[str]:
    view = private(memory, (ALICE, BOB)[number % 2], thread=f"thread {number}")
    said = [Message("user", f"turn {number} {turn}") for turn in range(BATCH_COUNT)]
    return list(view.record(said).ids)


def test_thousands_of_turns_are_recorded_by_many_within_one_second(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url, settings=KEEP)  # its clock stands still
    with ThreadPoolExecutor(4) as pool:
        batches = list(pool.map(partial(record, memory), range(BATCHES_COUNT)))
    ids = {id for ids in batches for id in ids}
    assert len(ids) == stored(memory) == BATCH_COUNT * BATCHES_COUNT
    kept(private(memory, ALICE), "Sarah likes tea")
