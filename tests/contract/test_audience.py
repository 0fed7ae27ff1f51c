"""Who would hear a memory, in every chat of its owner; and which memories would be said in some chat."""

from typing import Any

import pytest

import tacit
from bench.plans import recorded
from tacit import Search, limits
from tacit.memory import Memory
from tacit.records.results import AudienceChat, AudienceReport
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, OPEN, TEAM, SetClock, group, kept, private

HERE = {TEAM: (ALICE, BOB), FAMILY: (ALICE, BOB, CAROL)}
BOBS_ROOM = "telegram:-300"


@pytest.fixture
def own(memory: Memory, clock: SetClock) -> View:
    for chat, here in HERE.items():
        group(memory, ALICE, chat, here=here).remember("hello")
        clock.forward(seconds=1)
    return private(memory, ALICE)


def names(room: AudienceChat) -> list[str]:
    return [name.text for person in room.people for name in person.names]


def rules(found: AudienceReport) -> dict[str, str]:
    """By room and by person: the rule, where it would be said."""
    told = [(room.id, why) for room, why in found.rooms]
    told += [(person.id.removeprefix("ext:"), why) for person, why in found.people]
    return {id: why.rule for id, why in told if why.allowed}


def test_the_rooms_of_somebody_are_those_they_are_in_now(memory: Memory, own: View) -> None:
    group(memory, BOB, BOBS_ROOM, here=(BOB, CAROL)).remember("hello")
    own.people.name(BOB.key, "my brother-in-law")
    memory.chats.set_confidential(FAMILY)
    told = [(room.id, room.kind, room.confidential, names(room)) for room in own.audience.chats()]
    assert told == [
        (ALICE.key, "private", False, []),
        (FAMILY, "group", True, ["Carol", "Bob"]),
        (TEAM, "group", False, ["Bob"]),
    ]
    memory.chats.leave(TEAM, BOB.key)
    assert [names(room) for room in own.audience.chats()] == [[], ["Carol", "Bob"], []]
    memory.chats.leave(FAMILY, ALICE.key)
    assert [room.id for room in own.audience.chats()] == [ALICE.key, TEAM]


def test_a_room_that_moved_is_one_room_under_its_newest_id(memory: Memory, own: View) -> None:
    id = kept(group(memory, ALICE), "Alice likes tea", visibility="room")
    memory.chats.migrate(TEAM, "telegram:-1000000000100")
    assert [room.id for room in own.audience.chats()] == [ALICE.key, "telegram:-1000000000100", FAMILY]
    assert rules(own.audience.of(id))["telegram:-1000000000100"] == "G1b"


def test_where_others_listen_no_rooms_are_told_and_nothing_of_who_would_hear(memory: Memory, own: View) -> None:
    mine = kept(group(memory, ALICE), "Alice likes tea", **OPEN)
    theirs = kept(private(memory, BOB), "Bob's own")
    heard = kept(group(memory, BOB), "Bob likes tea", **OPEN)
    together = group(memory, ALICE)
    assert together.audience.chats() == []
    for view, id in ((together, mine), (own, theirs), (own, heard), (own, "AAAAAAAA"), (own, "")):
        with pytest.raises(tacit.NotFound, match="no such memory here"):
            view.audience.of(id)


@pytest.mark.parametrize("sensitivity", ["public", "personal", "sensitive"])
@pytest.mark.parametrize("visibility", ["private_only", "room", "public_ok"])
def test_who_would_hear_a_memory_is_who_hears_it(memory: Memory, own: View, visibility: str, sensitivity: str) -> None:
    fields: Any = {"sensitivity": sensitivity, "kind": "knowledge"}
    ids = [
        kept(view, f"about {len(about)}", about=about, **fields)
        for view in (own, group(memory, ALICE, FAMILY, here=HERE[FAMILY]))
        for about in ([], [BOB.key], [BOB.key, CAROL.key, ALICE.key])
    ]
    ids.append(kept(own, "not for Bob", withheld_from=[BOB.key], **fields))
    for id in ids:
        own.set_visibility(id, visibility)
    heard = {
        chat: {one for who in here for one in hears(group(memory, who, chat, here=here))} for chat, here in HERE.items()
    }
    heard |= {who.key: hears(private(memory, who)) for who in (ALICE, BOB, CAROL)}
    for id in ids:
        assert set(rules(own.audience.of(id))) == {where for where, some in heard.items() if id in some}


def hears(view: View) -> set[str]:
    return {one.id for one in view.list()}


def test_a_change_of_visibility_can_be_looked_at_before_it_is_made(memory: Memory, own: View) -> None:
    id = kept(group(memory, ALICE), "Alice likes tea", visibility="room", kind="task")
    before = own.show(id)
    for wanted in ("public_ok", "private_only", "room"):
        seen = own.audience.of(id, visibility=wanted)
        assert own.show(id) == before
        own.set_visibility(id, wanted)
        assert own.audience.of(id) == seen
        before = own.show(id)
    assert rules(own.audience.of(id)) == {ALICE.key: "P1", TEAM: "G1b", BOB.key: "P4"}
    assert set(rules(own.audience.of(id, visibility="public_ok"))) == {ALICE.key, *HERE, BOB.key}
    assert set(rules(own.audience.of(id, visibility="private_only"))) == {ALICE.key}
    with pytest.raises(tacit.InvalidInput, match="visibility"):
        own.audience.of(id, visibility="everywhere")
    id = kept(own, "one", visibility="public_ok", sensitivity="public")
    own.forget(id)
    found = own.audience.of(id)
    assert {why.rule for _, why in (*found.rooms, *found.people)} == {"D1"}


def test_of_many_rooms_and_people_those_who_would_hear_it_come_first(
    memory: Memory, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    everybody = [f"telegram:{number}" for number in range(3001, 3007)]
    for number, chat in enumerate(("telegram:-1", "telegram:-2", "telegram:-3")):
        clock.forward(seconds=1)
        group(memory, ALICE, chat, here=(ALICE, *everybody[: number * 3])).remember("hello")
    heard = group(memory, ALICE, "telegram:-2", here=(ALICE, everybody[2]), complete=True)
    id = kept(heard, "Alice is making tea", visibility="room", kind="task")
    group(memory, ALICE, "telegram:-2", here=(ALICE, *everybody[:3])).remember("hello again")
    own = private(memory, ALICE)
    monkeypatch.setattr(limits, "AUDIENCE_CHATS_MAX_COUNT", 2)
    monkeypatch.setattr(limits, "AUDIENCE_CHAT_PEOPLE_MAX_COUNT", 2)
    monkeypatch.setattr(limits, "AUDIENCE_PEOPLE_MAX_COUNT", 2)
    private_chat, third, second = own.audience.chats()
    assert (private_chat.complete, third.complete, second.complete) == (True, False, False)
    assert [person.id for person in third.people] == [f"ext:{one}" for one in everybody[:2]]
    found = own.audience.of(id)
    assert [room.id for room, _ in found.rooms] == [ALICE.key, "telegram:-2", "telegram:-3"]
    told = [(person.id.removeprefix("ext:"), why.rule) for person, why in found.people]
    assert told == [(everybody[2], "P4"), (everybody[0], "P0")]
    assert (found.rooms_left_out, found.people_left_out) == (1, 6 - 2)


def test_linked_identities_of_ones_own_are_one_person_in_all_their_rooms(memory: Memory, own: View) -> None:
    laptop = tacit.Requester("slack:T1:UA", name="Alice")
    group(memory, laptop, "slack:C1", here=(laptop, CAROL)).remember("hello")
    memory.admin.link(ALICE.key, "acct:alice")
    memory.admin.link(laptop.key, "acct:alice")
    assert [room.id for room in own.audience.chats()] == [ALICE.key, "slack:C1", FAMILY, TEAM]
    assert {name for room in own.audience.chats() for name in names(room)} == {"Bob", "Carol"}
    id = kept(own, "Alice likes tea", visibility="public_ok")
    assert set(rules(own.audience.of(id))) == {ALICE.key, "slack:C1", FAMILY, TEAM}


@pytest.fixture
def rich(memory: Memory, clock: SetClock) -> View:
    """With memories of every sort."""
    view = private(memory, ALICE)
    team, family = (group(memory, ALICE, chat, here=here) for chat, here in HERE.items())
    kept(view, "for her ears only")
    kept(view, "for all", visibility="public_ok", sensitivity="public")
    kept(view, "if she asks", visibility="public_ok")
    kept(view, "not for Bob", visibility="public_ok", withheld_from=[BOB.key])
    view.forget(kept(view, "forgotten", visibility="public_ok", sensitivity="public"))
    for room in (team, family):
        clock.forward(seconds=1)
        kept(room, "said aloud", **OPEN)
        kept(room, "about Bob", about=[BOB.key], **OPEN)
        kept(room, "about both", about=[ALICE.key, CAROL.key], visibility="room")
        kept(room, "in passing", visibility="room", kind="task")
    return view


def said_to(view: View) -> set[str]:
    return {one.id for one in view.list(limit=500)}


@pytest.mark.parametrize("chat", HERE)
@pytest.mark.parametrize("who", [ALICE, BOB, CAROL], ids=["Alice", "Bob", "Carol"])
def test_what_would_be_said_is_what_is_said(memory: Memory, rich: View, chat: str, who: tacit.Requester) -> None:
    """In a group that the store knows, and alone."""
    by = None if who is ALICE else who
    alone = rich.audience.preview(tacit.Chat.private(who.key), by, Search(state="any"))
    together = rich.audience.preview(tacit.Chat.group(chat), by, Search(state="any"))
    mine = {one.id for one in rich.browse(Search(state="any"))}
    real = {
        tuple(alone): said_to(private(memory, who)),
        tuple(together): said_to(group(memory, who, chat, here=HERE[chat])),
    }
    if who in HERE[chat]:
        for told, heard in real.items():
            assert {one.memory.id for one in told} == mine
            assert {one.memory.id for one in told if one.allowed} == heard & mine
    else:
        assert not any(one.allowed for one in together if one.rule.startswith(("G1", "G3")))


def test_a_page_tells_what_explain_tells_of_each(memory: Memory, rich: View) -> None:
    here = [ALICE.key, BOB.key]
    chats = [tacit.Chat.private(BOB.key), tacit.Chat.group(TEAM, here, complete=True)]
    for chat, by in ((chat, by) for chat in chats for by in (None, BOB)):
        for one in rich.audience.preview(chat, by, Search(state="any")):
            told = rich.explain(one.memory.id, chat, by)
            assert (one.allowed, one.rule, one.says) == (told.allowed, told.rule, told.says)


def test_pages_and_searches_are_those_of_browse(rich: View) -> None:
    chat = tacit.Chat.group(TEAM)
    for search in (Search(), Search(words="about bo"), Search(chat=FAMILY), Search(kind="task")):
        browsed = [one.id for one in rich.browse(search)]
        first = rich.audience.preview(chat, None, search, limit=1)
        rest = rich.audience.preview(chat, None, search, cursor=first.cursor) if first.cursor else ()
        assert [one.memory.id for one in (*first, *rest)] == browsed
        assert browsed


def test_what_is_asked_must_make_sense_and_be_asked_in_private(rich: View, memory: Memory) -> None:
    wrong: list[dict[str, Any]] = [
        {"chat": None},
        {"chat": TEAM},
        {"asked_by": BOB.key},
        {"search": "tea"},
        {"search": Search(owner=BOB.key)},
        {"limit": 0},
        {"cursor": "x"},
    ]
    for one in wrong:
        with pytest.raises(tacit.InvalidInput):
            rich.audience.preview(**{"chat": tacit.Chat.group(TEAM), **one})
    team = group(memory, ALICE)
    assert not team.audience.preview(tacit.Chat.private(ALICE.key)).items
    assert not private(memory, CAROL).audience.preview(tacit.Chat.group(FAMILY), ALICE).items


def test_a_page_costs_by_the_page_and_not_by_what_is_on_it(memory: Memory, rich: View) -> None:
    chat = tacit.Chat.group(FAMILY)
    ran = []
    for limit in (10, 1, 10):
        with recorded(memory) as statements:
            rich.audience.preview(chat, BOB, limit=limit)
        ran.append(len(statements))
    assert ran[1] == ran[2]
