"""What may not be heard may not be guessed either: from counts, versions, names or errors."""

import threading
from datetime import timedelta
from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, CAROL, TEAM, SetClock, group, kept, private, said

ROOM: Any = {"visibility": "room", "sensitivity": "public"}
EVE = tacit.Requester("telegram:666", name="Bob")


def test_a_subject_erases_what_they_hear_and_nothing_behind_it(memory: Memory) -> None:
    alone = private(memory, ALICE)
    secret = alone.put("person", "bob", "Bob is about to be fired", about=["telegram:2002"]).id
    group(memory, ALICE).put("person", "bob", "Bob likes tea", about=["telegram:2002"], **ROOM)
    (heard,) = group(memory, BOB).list()
    assert group(memory, BOB).erase(heard.id).count == 1
    assert alone.show(secret).content == "Bob is about to be fired"


def test_the_owner_in_private_erases_a_thing_with_all_it_replaced(memory: Memory) -> None:
    alone = private(memory, ALICE)
    first = alone.put("profile", "city", "Porto").id
    group(memory, ALICE).put("profile", "city", "Lisbon")
    (now,) = alone.list()
    assert alone.erase(now.id).count == 2
    with pytest.raises(tacit.NotFound):
        alone.show(first)


def test_older_wordings_go_no_further_than_they_might_go_then(memory: Memory) -> None:
    group(memory, ALICE).remember("hello")
    alone = private(memory, ALICE)
    id = kept(alone, "Alice is in rehab in Lisbon", sensitivity="sensitive")
    alone.update(id, "Alice is in Lisbon", sensitivity="public")
    alone.set_visibility(id, "public_ok")
    bob = group(memory, BOB)
    assert bob.show(id).version == 1
    assert [entry.content for entry in bob.history(id)] == ["Alice is in Lisbon"]


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
    id = kept(group(memory, ALICE), "Alice is at the clinic", kind="context", **ROOM)
    clock.forward(days=60)
    private(memory, ALICE).withhold_from(id, ["slack:T1:U3"])
    assert not group(memory, BOB, complete=True).list().items


def test_a_delta_neither_counts_nor_drops_because_of_what_is_hidden(memory: Memory) -> None:
    alice, bob = group(memory, ALICE), group(memory, BOB)
    alice.remember("standup is at 9", **ROOM)
    before = bob.delta()
    for number in range(30):
        alice.remember(f"secret {number}")
    assert bob.delta() == before
    peeking = private(memory, BOB, thread=TEAM)
    assert [change.content for change in peeking.delta().changes] == ["standup is at 9"]
    assert private(memory, BOB, thread="telegram:1001").delta().revision == 0


def test_to_restore_tells_nobody_what_stands_in_the_way(memory: Memory) -> None:
    alone, alice, bob = private(memory, ALICE), group(memory, ALICE), private(memory, BOB)
    about_bob: Any = {"about": ["telegram:2002"], **ROOM}
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


def test_nobody_learns_who_is_in_a_room_they_are_not_in(memory: Memory) -> None:
    group(memory, ALICE).remember("hello")
    assert len(group(memory, ALICE).people.list()) == 2
    for chat in (tacit.Chat.group(TEAM), tacit.Chat.private("telegram:1001")):
        assert not memory.view(EVE, chat).people.list()
    eve = private(memory, EVE)
    mine = kept(eve, "x", visibility="public_ok", sensitivity="public")
    for here in (["telegram:666"], ["telegram:2002"], []):
        told = [eve.explain(mine, tacit.Chat.group(chat, here)) for chat in (TEAM, "telegram:-7")]
        assert told[0] == told[1]


def test_who_left_a_group_that_moved_is_told_no_more_of_who_is_in_it(memory: Memory) -> None:
    group(memory, ALICE).remember("hello")
    memory.chats.migrate(TEAM, "telegram:-1000000000100")
    own = private(memory, ALICE)
    assert "Bob" in str(own.people.list())
    memory.chats.leave("telegram:-1000000000100", ALICE.key)
    assert "Bob" not in str(own.people.list())


def test_other_keys_of_a_person_are_theirs_to_tell(memory: Memory) -> None:
    group(memory, ALICE).remember("hello")
    memory.admin.link("telegram:2002", "acct:bob")
    memory.admin.link("slack:T1:U9", "acct:bob")
    alone = private(memory, ALICE)
    for slack in ("slack:T1:U9", "slack:T1:U8"):
        probe = kept(alone, f"probe {slack}", about=[slack], withheld_from=[slack])
        assert probe not in [found.id for found in alone.people.about("telegram:2002")]
        chat = tacit.Chat.private("telegram:2002")
        assert alone.explain(probe, chat, asked_by=BOB).rule == "PV"
        assert alone.explain(probe, chat, asked_by=tacit.Requester(slack)).rule == "D3"
    bob = next(p for p in group(memory, ALICE).people.list() if "ext:telegram:2002" in p.identities)
    assert bob.identities == {"ext:telegram:2002"}


def test_a_listener_is_who_was_there_and_not_whom_they_were_taken_for(memory: Memory) -> None:
    memory.admin.link("telegram:2002", "acct:eve")  # a mistake
    group(memory, ALICE).remember("Alice is job hunting", visibility="room")
    memory.admin.unlink("telegram:2002")
    assert not private(memory, tacit.Requester("acct:eve")).list().items
    assert said(private(memory, BOB).list()) == ["Alice is job hunting"]


def test_what_was_told_in_one_room_is_not_carried_into_another(memory: Memory) -> None:
    one = group(memory, ALICE)
    one.put("profile", "mood", "chemo on Mondays", tags=["oncology"], slot="cancer", **ROOM)
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
    kept(group(memory, ALICE, **with_eve), "Surprise for Bob", withheld_from=["Bob"], **ROOM)
    assert not group(memory, BOB, here=(ALICE, BOB), complete=True).list().items
    assert not group(memory, EVE, **with_eve).list().items


def test_a_false_claim_about_a_chat_shuts_nobody_out(memory: Memory) -> None:
    memory.view(EVE, tacit.Chat.private(TEAM)).remember("x")
    memory.view(EVE, tacit.Chat.group("telegram:1001", [EVE])).remember("y")
    group(memory, ALICE).remember("Alice likes tea", **ROOM)
    assert said(group(memory, BOB).list()) == ["Alice likes tea"]
    assert said(private(memory, ALICE).list()) == ["Alice likes tea"]


def test_an_unlink_leaves_everybody_in_their_own_private_chat(memory: Memory) -> None:
    private(memory, ALICE).remember("as telegram")
    memory.admin.link("telegram:1001", "acct:1")
    memory.view(tacit.Requester("acct:1"), tacit.Chat.private("telegram:1001")).remember("as acct")
    memory.admin.unlink("telegram:1001")
    assert said(private(memory, ALICE).list()) == ["as telegram"]


def test_what_an_owner_does_in_private_shows_in_nobody_elses_history(memory: Memory, clock: SetClock) -> None:
    id = kept(group(memory, ALICE), "Alice likes tea", **ROOM)
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


def test_two_who_name_somebody_new_at_once_mean_one_person(memory: Memory) -> None:
    alone = private(memory, ALICE)
    alone.remember("hello")
    together = threading.Barrier(4)

    def name_sarah(number: int) -> None:
        together.wait()
        alone.remember(f"Sarah fact {number}", about=["Sarah"])

    threads = [threading.Thread(target=name_sarah, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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


def test_what_somebody_is_called_in_private_is_not_told_in_a_group(memory: Memory) -> None:
    group(memory, ALICE).remember("hello")
    private(memory, ALICE).people.name("telegram:2002", "my brother-in-law")
    assert "brother-in-law" in str(private(memory, ALICE).people.list())
    assert "brother-in-law" not in str(group(memory, ALICE).people.list())
