"""Operators see who would hear what, as it really is; and each of their looks is noted."""

from typing import Any

import pytest

import tacit
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.conversations import KEEP
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, OPEN, TEAM, group, kept, private
from tests.contract.rows import rows

BOBS_ROOM = "telegram:-300"  # Alice is not in it
HERE = {TEAM: (ALICE, BOB), FAMILY: (ALICE, BOB, CAROL), BOBS_ROOM: (BOB, CAROL)}
SLACK = tacit.Requester("slack:T1:U9", name="Robert")


@pytest.fixture
def memory(memory: Memory) -> Memory:
    for chat, here in HERE.items():
        group(memory, here[0], chat, here=here).remember("hello")
    return memory


def looked(memory: Memory) -> list[tuple[Any, ...]]:
    """The looks so far, with whose memories each showed."""
    found = rows(memory, "SELECT id, actor, operation, count FROM access_log ORDER BY at, operation")
    people = rows(memory, "SELECT entry_id, person FROM access_log_people ORDER BY person")
    return [(*look, [p for of, p in people if of == id]) for id, *look in found]


def hears(view: View, id: str) -> bool:
    return id in {one.id for one in view.list()}


def test_the_rooms_of_a_space_are_told_in_pages(memory: Memory) -> None:
    root = memory.operator("root")
    first = root.audience.chats(limit=2)
    second = root.audience.chats(limit=2, cursor=first.cursor)
    found = {room.id: [person.id for person in room.people] for room in (*first, *second)}
    assert (len(first), len(second), second.cursor) == (2, 1, None)
    assert found == {c: sorted(f"ext:{one.key}" for one in here) for c, here in HERE.items()}
    for strange in ("x", "¡", "", 7, "dGVsZWdyYW0"):
        with pytest.raises(tacit.InvalidInput, match="cursor"):
            root.audience.chats(cursor=strange)  # type: ignore[arg-type]


@pytest.mark.parametrize("about", [[], [BOB.key], [BOB.key, CAROL.key]], ids=str)
@pytest.mark.parametrize("where", [ALICE.key, TEAM, FAMILY])
def test_who_would_hear_a_memory_is_who_hears_it_in_every_room(memory: Memory, where: str, about: list[str]) -> None:
    root, own = memory.operator("root"), private(memory, ALICE)
    view = own if where == ALICE.key else group(memory, ALICE, where, here=HERE[where])
    id = kept(view, "something", about=about, sensitivity="public", kind="knowledge")
    for visibility in ("private_only", "room", "public_ok"):
        seen = root.audience.of(id, visibility=visibility)
        own.set_visibility(id, visibility)
        told = root.audience.of(id)
        assert told == seen
        assert {room.id: why.allowed for room, why in told.rooms} == {
            chat: any(hears(group(memory, who, chat, here=here), id) for who in here) for chat, here in HERE.items()
        }
        people = {person.id for person, why in told.people if why.allowed}
        everybody = (ALICE, BOB, CAROL)
        assert people == {f"ext:{o.key}" for o in everybody if hears(private(memory, o), id)}


def test_operators_know_who_is_whom(memory: Memory) -> None:
    id = kept(group(memory, ALICE, here=(ALICE, SLACK)), "Alice likes tea", **OPEN)
    memory.admin.link(BOB.key, "acct:bob")
    memory.admin.link(SLACK.key, "acct:bob")
    told = memory.operator("root").audience.of(id)
    (bob,) = [(person, why) for person, why in told.people if "acct:bob" in person.identities]
    assert bob[0].identities == {"acct:bob", "ext:telegram:2002", "ext:slack:T1:U9"}
    assert {name.text for name in bob[0].names} == {"Bob", "Robert"}
    assert (bob[1].allowed, bob[1].rule) == (True, "P4")
    assert hears(private(memory, BOB), id)


@pytest.mark.parametrize("who", [ALICE, BOB, CAROL, SLACK], ids=lambda one: str(one.name))
def test_what_would_be_said_to_somebody_is_what_they_hear(memory: Memory, who: tacit.Requester) -> None:
    """Whoever's it is, and by whichever of their keys they ask."""
    memory.admin.link(BOB.key, "acct:bob")
    memory.admin.link(SLACK.key, "acct:bob")
    for view in (private(memory, ALICE), group(memory, BOB), private(memory, CAROL)):
        kept(view, "for their own ears", category="profile", key="k")
        kept(view, "for all", visibility="public_ok" if view._context.raw_request.kind == "private" else "room")
    group(memory, ALICE, FAMILY, here=HERE[FAMILY]).remember("aloud", **OPEN)
    root = memory.operator("root")
    chats = {chat: tacit.Chat.group(chat, here) for chat, here in HERE.items()}
    for chat in (tacit.Chat.private(who.key), *chats.values()):
        heard = {one.id for one in memory.view(who, chat).list()}
        told = root.audience.preview(chat, who)
        assert {one.memory.id for one in told if one.allowed} == heard
        assert len(told) == memory.admin.stats().memories
    assert {one.rule for one in root.audience.preview(chats[TEAM], None)} == {"D2"}
    first = root.audience.preview(chats[TEAM], who, tacit.Search(owner=BOB.key), limit=1)
    assert {one.memory.owner for one in first} <= {"acct:bob", f"ext:{BOB.key}"}
    assert first.cursor


def test_what_somebody_would_recall_is_what_they_recall(memory: Memory) -> None:
    kept(group(memory, ALICE), "Alice likes green tea", **OPEN)
    kept(private(memory, BOB), "Bob hides tea in the cellar")
    kept(private(memory, ALICE), "Alice hates tea")
    root = memory.operator("root")
    team = tacit.Chat.group(TEAM, [ALICE, BOB])
    for chat, view in ((team, group(memory, BOB)), (tacit.Chat.private(BOB.key), private(memory, BOB))):
        before = rows(memory, "SELECT id, access_count FROM memories ORDER BY id")
        told = root.audience.recall(chat, BOB, "tea")
        assert rows(memory, "SELECT id, access_count FROM memories ORDER BY id") == before
        found = view.recall("tea")
        assert [(o.memory.id, o.score, o.rule) for o in told] == [(o.memory.id, o.score, o.rule) for o in found]
        assert told
    assert root.audience.recall(team, None, "tea") == []
    assert root.audience.recall(team, tacit.Requester("telegram:9", is_bot=True), "tea") == []
    assert len(root.audience.recall(tacit.Chat.private(BOB.key), BOB, "tea", top_k=1)) == 1


def test_turns_are_shown_by_no_look(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=KEEP)
    (turn,) = private(memory, ALICE).record([tacit.Message("user", "We fly to Lisbon in May")]).ids
    root = memory.operator("root")
    assert (list(root.browse(tacit.Search(state="any"))), root.browse_count(tacit.Search(words="Lisbon"))) == ([], 0)
    assert root.audience.recall(tacit.Chat.private(ALICE.key), ALICE, "Lisbon") == []
    for id in (turn, "AAAAAAAA", "'; --"):
        for look in (root.show, root.history, root.audience.of):
            with pytest.raises(tacit.NotFound, match="no such memory here"):
                look(id)


def test_each_look_is_noted_with_those_whose_memories_it_showed(memory: Memory) -> None:
    alices = kept(group(memory, ALICE), "Alice likes tea", **OPEN)
    kept(group(memory, BOB), "Bob likes tea", **OPEN)
    root = memory.operator("root")
    root.audience.of(alices)
    root.audience.recall(tacit.Chat.group(TEAM, [ALICE, BOB]), BOB, "tea")
    root.audience.chats()
    root.audience.preview(tacit.Chat.group(TEAM), BOB, tacit.Search(words="bob"))
    alice, bob = "ext:telegram:1001", "ext:telegram:2002"
    assert looked(memory) == [
        ("operator:root", "hearers", 1, [alice]),
        ("operator:root", "hearing", 1, [bob]),
        ("operator:root", "recalled", 2, [alice, bob]),
        ("operator:root", "rooms", 0, []),
    ]
