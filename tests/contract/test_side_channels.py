"""What may not be heard may not be guessed either: from counts, versions, names or errors."""

from datetime import timedelta
from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, FAMILY, OPEN, TEAM, SetClock, group, kept, private, said
from tests.contract.threads import together

EVE = tacit.Requester("telegram:666", name="Bob")


def test_a_hidden_value_of_a_room_gives_way_without_a_word(memory: Memory) -> None:
    everybody: Any = {"here": (ALICE, BOB, CAROL), "complete": True}
    alice, bob = group(memory, ALICE, **everybody), group(memory, BOB, **everybody)
    hidden = alice.put(
        "event", "party", "Surprise for Bob at 8", for_room=True, withheld_from=["telegram:2002"],
        sensitivity="public",
    )  # fmt: skip
    said_by_bob = bob.put("event", "party", "no party", for_room=True, sensitivity="public")
    assert said_by_bob.id != hidden.id
    assert (said_by_bob.created, said_by_bob.version, said_by_bob.supersedes) == (True, 1, None)
    assert said(bob.list()) == ["no party"]


def test_to_withhold_a_lapsed_memory_does_not_bring_it_back(memory: Memory, clock: SetClock) -> None:
    id = kept(group(memory, ALICE), "Alice is at the clinic", kind="context", **ALOUD)
    clock.forward(days=60)
    private(memory, ALICE).withhold_from(id, ["slack:T1:U3"])
    assert not group(memory, BOB, complete=True).list().items


def test_a_delta_neither_counts_nor_drops_because_of_what_is_hidden(memory: Memory) -> None:
    alice, bob = group(memory, ALICE), group(memory, BOB)
    alice.remember("standup is at 9", **ALOUD)
    before = bob.delta()
    for number in range(30):
        alice.remember(f"secret {number}")
    assert bob.delta() == before
    peeking = private(memory, BOB, thread=TEAM)
    assert [change.content for change in peeking.delta().changes] == ["standup is at 9"]
    assert private(memory, BOB, thread="telegram:1001").delta().revision == 0


def test_to_restore_tells_nobody_what_stands_in_the_way(memory: Memory) -> None:
    alone, alice, bob = private(memory, ALICE), group(memory, ALICE), private(memory, BOB)
    about_bob: Any = {"about": ["telegram:2002"], **ALOUD}
    replaced = alice.put("person", "a", "Bob is a friend", **about_bob).id
    alone.put("person", "a", "Bob is a snake")
    taken = alice.put("person", "b", "Bob plays chess", **about_bob).id
    alice.forget(taken)
    alone.put("person", "b", "Bob cheats at chess")
    for id in (replaced, taken, "AAAAAAAA"):
        with pytest.raises(tacit.NotFound, match=r"^no such memory here$"):
            bob.restore(id)
    with pytest.raises(tacit.Conflict):
        alone.restore(taken)


def test_who_left_a_group_or_is_not_in_it_is_not_told_who_is(memory: Memory) -> None:
    group(memory, ALICE).remember("hello")
    assert len(group(memory, ALICE).people.list()) == 2
    for chat in (tacit.Chat.group(TEAM), tacit.Chat.private("telegram:1001")):
        assert not memory.view(EVE, chat).people.list()
    eve = private(memory, EVE)
    mine = kept(eve, "x", visibility="public_ok", sensitivity="public")
    for here in (["telegram:666"], ["telegram:2002"], []):
        told = [eve.explain(mine, tacit.Chat.group(chat, here)) for chat in (TEAM, "telegram:-7")]
        assert told[0] == told[1]
    memory.chats.migrate(TEAM, "telegram:-1000000000100")
    own = private(memory, ALICE)
    assert "Bob" in str(own.people.list())
    memory.chats.leave("telegram:-1000000000100", ALICE.key)
    assert "Bob" not in str(own.people.list())


def test_a_listener_is_who_was_there_and_not_whom_they_were_taken_for(memory: Memory) -> None:
    memory.admin.link("telegram:2002", "acct:eve")  # a mistake
    group(memory, ALICE).remember("Alice is job hunting", visibility="room")
    memory.admin.unlink("telegram:2002")
    assert not private(memory, tacit.Requester("acct:eve")).list().items
    assert said(private(memory, BOB).list()) == ["Alice is job hunting"]


def test_what_was_told_in_one_room_is_not_carried_into_another(memory: Memory) -> None:
    one = group(memory, ALICE)
    one.put("profile", "mood", "chemo on Mondays", tags=["oncology"], slot="cancer", **ALOUD)
    there: Any = {"chat": "telegram:-200", "here": (ALICE, CAROL)}
    other = group(memory, ALICE, **there)
    other.put("profile", "mood", "Alice is fine")
    assert not group(memory, CAROL, **there).list().items
    (kept_now,) = private(memory, ALICE).list()
    assert (kept_now.tags, kept_now.slot, kept_now.visibility) == ((), None, "private_only")


def test_to_word_a_rooms_fact_anew_is_not_to_have_said_it(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "Standup is at 9", for_room=True, sensitivity="public")
    bob = group(memory, BOB)
    bob.update(id, "Standup is at 9.")
    with pytest.raises(tacit.NotFound):
        bob.withhold_from(id, ["telegram:1001"])
    with pytest.raises(tacit.NotFound):
        bob.set_visibility(id, "private_only")
    with pytest.raises(tacit.NotFound):
        private(memory, BOB).erase(id)


def test_a_name_somebody_gives_themselves_proves_nothing(memory: Memory) -> None:
    with_eve: Any = {"here": (ALICE, EVE), "complete": True}
    kept(group(memory, ALICE, **with_eve), "Surprise for Bob", withheld_from=["Bob"], **ALOUD)
    assert not group(memory, BOB, here=(ALICE, BOB), complete=True).list().items
    assert not group(memory, EVE, **with_eve).list().items


def test_a_false_claim_about_a_chat_and_an_unlink_shut_nobody_out(memory: Memory) -> None:
    memory.view(EVE, tacit.Chat.private(TEAM)).remember("x")
    memory.view(EVE, tacit.Chat.group("telegram:1001", [EVE])).remember("y")
    group(memory, ALICE).remember("Alice likes tea", **ALOUD)
    assert said(group(memory, BOB).list()) == ["Alice likes tea"]
    assert said(private(memory, ALICE).list()) == ["Alice likes tea"]
    private(memory, ALICE).remember("as telegram")
    memory.admin.link("telegram:1001", "acct:1")
    memory.view(tacit.Requester("acct:1"), tacit.Chat.private("telegram:1001")).remember("as acct")
    memory.admin.unlink("telegram:1001")
    assert said(private(memory, ALICE).list()) == ["Alice likes tea", "as telegram"]


def test_what_an_owner_does_in_private_shows_in_nobody_elses_history(memory: Memory, clock: SetClock) -> None:
    id = kept(group(memory, ALICE), "Alice likes tea", **ALOUD)
    bob, alone = group(memory, BOB, complete=True), private(memory, ALICE)
    before = (bob.show(id), bob.history(id))
    clock.now += timedelta(hours=1)
    alone.pin(id)
    alone.withhold_from(id, ["slack:T1:U3"])
    alone.set_visibility(id, "private_only")
    alone.set_visibility(id, "room")
    alone.forget(id)
    alone.restore(id)
    alone.pin(id, False)
    assert (bob.show(id), bob.history(id)) == before


def test_those_who_name_somebody_new_at_once_mean_one_person(memory: Memory) -> None:
    alone = private(memory, ALICE)
    alone.remember("hello")
    together(4, lambda number: alone.remember(f"Sarah fact {number}", about=["Sarah"]))
    assert len(alone.people.about("Sarah")) == 4


def test_reading_goes_on_where_counting_the_reads_cannot(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = private(memory, ALICE)
    ids = [kept(alone, f"fact {number}") for number in range(300)]

    def refuse(*_: object) -> None:
        raise tacit.StoreBusy("held by somebody else")

    monkeypatch.setattr(memory._storage.accesses._database, "write", refuse)
    assert [alone.show(id).id for id in ids] == ids
    monkeypatch.undo()


def test_that_somebody_here_has_an_account_shows_nowhere(memory: Memory) -> None:
    """Neither in the order of people, nor in what may be said about them."""
    group(memory, ALICE).remember("hello")
    group(memory, BOB).remember("Bob plays chess", visibility="room", sensitivity="public")
    views = [group(memory, ALICE), private(memory, ALICE)]

    def seen() -> list[object]:
        return [
            ([one.id for one in view.people.list()], [one.content for one in view.people.about("Bob")])
            for view in views
        ]

    before = seen()
    memory.admin.link("telegram:2002", "acct:a-name-that-comes-first")
    assert seen() == before
    assert "Bob plays chess" in str(before)


def test_which_rooms_there_are_shows_in_no_explanation(memory: Memory) -> None:
    group(memory, BOB, TEAM, here=(BOB, CAROL)).remember("hello")
    memory.chats.set_confidential(TEAM)
    own = private(memory, ALICE)
    for fields in ({}, {"visibility": "public_ok", "sensitivity": "public"}):
        id = kept(own, f"x {fields}", **fields)
        for here, asks in ([BOB], BOB), ([BOB, ALICE], BOB), ([ALICE], None), ([], None):
            told = {own.explain(id, tacit.Chat.group(chat, here), asked_by=asks) for chat in (TEAM, "telegram:-777")}
            assert len(told) == 1


SLACK = "slack:T1:U9"  # Bob's too, if he says so


ROOMS = [
    tacit.Chat.private(BOB.key),
    tacit.Chat.group(TEAM),
    tacit.Chat.group(FAMILY, [ALICE.key, BOB.key], complete=True),
]


def link(memory: Memory) -> None:
    memory.admin.link(BOB.key, "acct:bob")
    memory.admin.link(SLACK, "acct:bob")


@pytest.mark.parametrize("chat", ROOMS, ids=["in private", "in a group", "in a complete group"])
def test_whose_a_key_is_shows_in_no_explanation_of_what_somebody_would_hear(memory: Memory, chat: tacit.Chat) -> None:
    """Neither where the other key would let them hear it, nor where it is kept from that one."""
    room, own = group(memory, ALICE), private(memory, ALICE)
    probes = [
        kept(room, "about it", about=[SLACK], **OPEN),
        kept(group(memory, ALICE, here=(ALICE, SLACK)), "heard by it", **OPEN),
        kept(room, "kept from it", withheld_from=[SLACK], **OPEN),
        kept(own, "kept from it, in private", withheld_from=[SLACK]),
    ]

    def told() -> list[object]:
        return [own.explain(id, chat, asked_by=BOB) for id in probes]

    before = told()
    link(memory)
    assert told() == before


def test_to_oneself_no_rule_is_named_that_only_the_links_of_others_explain(memory: Memory) -> None:
    group(memory, ALICE).remember("hello")
    own = private(memory, ALICE)
    probe = kept(own, "a surprise", withheld_from=[SLACK])
    together = tacit.Chat.group(TEAM, [ALICE, BOB], complete=True)
    before = own.explain(probe, together)
    assert (before.rule, before.allowed) == ("GV", False)
    link(memory)
    assert own.explain(probe, together) == before


def test_one_is_told_what_one_would_really_hear_oneself(memory: Memory) -> None:
    everybody: Any = {"here": (ALICE, BOB), "complete": True}
    room, own = group(memory, ALICE, **everybody), private(memory, ALICE)
    secret = kept(room, "a surprise", withheld_from=[SLACK], **OPEN)
    together = tacit.Chat.group(TEAM, [ALICE, BOB], complete=True)
    assert own.explain(secret, together).allowed
    assert room.list().items
    link(memory)
    told = own.explain(secret, together)
    assert (told.allowed, told.rule) == (False, "G0")
    assert not room.list().items


def test_who_turned_out_to_be_somebody_one_has_met_counts(memory: Memory) -> None:
    """`people` says so already."""
    own = private(memory, ALICE)
    about = kept(group(memory, ALICE), "Robert plays chess", about=["Robert"], **OPEN)
    (robert,) = [one.id for one in own.people.list() if one.id.startswith("person:")]
    at_home = tacit.Chat.private(BOB.key)
    assert own.explain(about, at_home, asked_by=BOB).rule == "P4"
    memory.admin.merge_people(robert, BOB.key)
    assert own.explain(about, at_home, asked_by=BOB).rule == "P3a"


def test_which_private_chats_there_are_shows_in_no_explanation(memory: Memory) -> None:
    memory.view(CAROL, tacit.Chat.private("slack:D9")).remember("hello")
    group(memory, CAROL, "slack:C9", here=(CAROL, BOB)).remember("hello")
    own = private(memory, ALICE)
    for fields in ({}, {"visibility": "public_ok", "sensitivity": "public"}):
        id = kept(own, f"x {fields}", **fields)
        for asks in (None, BOB, CAROL):
            told = {
                own.explain(id, tacit.Chat.private(chat), asked_by=asks)
                for chat in ("slack:D9", "slack:C9", "slack:D8")
            }
            assert len(told) == 1
