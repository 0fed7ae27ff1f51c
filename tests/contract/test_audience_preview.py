"""Each of one's memories, and whether it would be said in some chat: to oneself, or to another."""

from typing import Any

import pytest

import tacit
from bench.plans import recorded
from tacit import Search
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, TEAM, SetClock, group, kept, private

OPEN: Any = {"visibility": "room", "sensitivity": "public", "kind": "knowledge"}
HERE = {TEAM: (ALICE, BOB), FAMILY: (ALICE, BOB, CAROL)}


@pytest.fixture
def own(memory: Memory, clock: SetClock) -> View:
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
def test_what_would_be_said_is_what_is_said(memory: Memory, own: View, chat: str, who: tacit.Requester) -> None:
    """In a group that the store knows, and alone."""
    by = None if who is ALICE else who
    alone = own.audience.preview(tacit.Chat.private(who.key), by, Search(state="any"))
    together = own.audience.preview(tacit.Chat.group(chat), by, Search(state="any"))
    mine = {one.id for one in own.browse(Search(state="any"))}
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


def test_a_page_tells_what_explain_tells_of_each(memory: Memory, own: View) -> None:
    here = [ALICE.key, BOB.key]
    chats = [tacit.Chat.private(BOB.key), tacit.Chat.group(TEAM, here, complete=True)]
    for chat, by in ((chat, by) for chat in chats for by in (None, BOB)):
        for one in own.audience.preview(chat, by, Search(state="any")):
            told = own.explain(one.memory.id, chat, by)
            assert (one.allowed, one.rule, one.says) == (told.allowed, told.rule, told.says)


def test_pages_and_searches_are_those_of_browse(own: View) -> None:
    chat = tacit.Chat.group(TEAM)
    for search in (Search(), Search(words="about bo"), Search(chat=FAMILY), Search(kind="task")):
        browsed = [one.id for one in own.browse(search)]
        first = own.audience.preview(chat, None, search, limit=1)
        rest = own.audience.preview(chat, None, search, cursor=first.cursor) if first.cursor else ()
        assert [one.memory.id for one in (*first, *rest)] == browsed
        assert browsed


def test_where_others_listen_there_is_nothing_to_ask_about(memory: Memory, own: View) -> None:
    team = group(memory, ALICE)
    assert not team.audience.preview(tacit.Chat.private(ALICE.key)).items
    assert not private(memory, CAROL).audience.preview(tacit.Chat.group(FAMILY), ALICE).items


def test_what_is_asked_must_make_sense(own: View) -> None:
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
            own.audience.preview(**{"chat": tacit.Chat.group(TEAM), **one})


def test_a_page_costs_by_the_page_and_not_by_what_is_on_it(memory: Memory, own: View) -> None:
    chat = tacit.Chat.group(FAMILY)
    ran = []
    for limit in (10, 1, 10):
        with recorded(memory) as statements:
            own.audience.preview(chat, BOB, limit=limit)
        ran.append(len(statements))
    assert ran[1] == ran[2]
