"""Looks of operators: at whatever there is, and never without the people concerned learning it."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import update

import tacit
from tacit import Search
from tacit.memory import Memory, Operator
from tacit.records.queries import ANY_STATE
from tacit.storage import access_log as store_looks
from tacit.storage.memories import Transaction
from tacit.storage.schema import memories_table
from tests.contract.rooms import ALICE, BOB, CAROL, TEAM, SetClock, group, kept, private, said

OPEN: dict[str, Any] = {"visibility": "room", "sensitivity": "public", "kind": "knowledge"}
WEB = tacit.Requester("acct:alice")


@pytest.fixture
def root(memory: Memory) -> Operator:
    return memory.operator("root")


def words_of(who: Any) -> list[str]:
    return [look.word for look in who.audit.access_log()]


def test_an_operator_looks_through_everybodys(memory: Memory, root: Operator) -> None:
    kept(private(memory, ALICE), "Alice likes tea")
    kept(private(memory, BOB), "Bob likes teak")
    room = kept(group(memory, ALICE), "Tea at nine", for_room=True, sensitivity="public")
    gone = kept(private(memory, CAROL), "Carol liked tea")
    private(memory, CAROL).forget(gone)
    assert said(root.browse()) == ["Alice likes tea", "Bob likes teak", "Tea at nine"]
    assert root.browse_count() == 3
    assert said(root.browse(Search(words="teak"))) == ["Bob likes teak"]
    assert said(root.browse(Search(owner=BOB.key))) == ["Bob likes teak"]
    assert said(root.browse(Search(owner=BOB.key, words="alice"))) == []
    assert said(root.browse(Search(chat=TEAM))) == ["Tea at nine"]
    assert said(root.browse(Search(about=ALICE.key, state=ANY_STATE))) == ["Alice likes tea", "Tea at nine"]
    assert root.browse_count(Search(state="forgotten", words="car lik")) == 1
    assert root.show(gone).state == "forgotten"
    assert root.show(room).owner is None


def test_an_operator_sees_a_memory_whole(memory: Memory, root: Operator, clock: SetClock) -> None:
    own = private(memory, ALICE)
    id = kept(own, "one", withheld_from=[BOB.key])
    own.update(id, "two")
    assert (root.show(id).owner, root.show(id).version) == ("ext:telegram:1001", 2)
    assert root.show(id).withheld_from == {"ext:telegram:2002"}
    assert [(one.event, one.content) for one in root.history(id)] == [("ADD", "one"), ("UPDATE", "two")]
    lapsing = kept(own, "three", expires_at=clock.now.replace(hour=13))
    clock.forward(days=1)
    assert root.show(lapsing).state == "expired"
    assert said(root.browse(Search(state="expired"))) == ["three"]


def test_each_look_is_told_to_those_whose_memories_it_showed(memory: Memory, root: Operator, clock: SetClock) -> None:
    alice, bob = private(memory, ALICE), private(memory, BOB)
    id = kept(alice, "one")
    for content in ("two", "three"):
        kept(bob, content)
    root.browse()
    clock.forward(seconds=1)
    root.show(id)
    clock.forward(seconds=1)
    root.history(id)
    root.browse_count()
    told = [(one.actor, one.word, one.count, one.memory_id) for one in alice.audit.access_log()]
    assert told == [
        ("operator:root", "history", 1, id),
        ("operator:root", "show", 1, id),
        ("operator:root", "browse", 1, None),
    ]
    assert [(one.word, one.count) for one in bob.audit.access_log()] == [("browse", 2)]
    assert list(private(memory, CAROL).audit.access_log()) == []
    noted = {(one.word, one.count, one.memory_id) for one in root.audit.access_log()}
    assert noted == {("browse", 3, None), ("show", 1, id), ("history", 1, id), ("browse_count", 0, None)}
    assert words_of(root).count("looks") == 1


def test_who_has_what_was_counted_is_told(memory: Memory, root: Operator) -> None:
    """Whether somebody has a memory that says this is told by a count as well as by a page."""
    alice, bob = private(memory, ALICE), private(memory, BOB)
    id = kept(alice, "is allergic to walnuts")
    kept(bob, "likes walnut ice")
    assert root.browse_count(Search(words="walnuts")) == 1
    assert [(one.word, one.count, one.memory_id) for one in alice.audit.access_log()] == [("browse_count", 1, id)]
    assert list(bob.audit.access_log()) == []
    assert root.browse_count(Search(owner=BOB.key, words="walnut")) == 1
    assert words_of(bob) == ["browse_count"]
    assert root.browse_count(Search(words="walnut", state=ANY_STATE)) == 2
    assert (len(alice.audit.access_log()), len(bob.audit.access_log())) == (2, 2)


def test_names_are_told_of_to_those_they_belong_to(memory: Memory, root: Operator) -> None:
    alice, bob, carol = (private(memory, one) for one in (ALICE, BOB, CAROL))
    kept(group(memory, ALICE), "here with Bob")
    alice.people.name(BOB.key, "the bore")
    kept(carol, "somewhere else")
    assert len(root.people.list(BOB.key)) == 1
    for who in (alice, bob):
        assert [(one.word, one.count, one.memory_id) for one in who.audit.access_log()] == [("people", 0, None)]
    assert list(carol.audit.access_log()) == []


def test_who_was_never_here_is_not_told_that_others_speak_of_them(memory: Memory, root: Operator) -> None:
    kept(private(memory, ALICE), "Bob is late", about=[BOB.key])
    private(memory, ALICE).people.name(BOB.key, "the bore")
    root.people.list(BOB.key)
    assert words_of(private(memory, ALICE)) == ["people"]
    assert list(private(memory, BOB).audit.access_log()) == []


def test_who_may_use_some_categories_is_not_told_of_looks_at_others(memory: Memory, root: Operator) -> None:
    root.show(kept(private(memory, ALICE), "one", category="profile"))
    narrow = memory.view(ALICE, tacit.Chat.private(ALICE.key), categories=["preference"])
    assert list(narrow.audit.access_log()) == []
    assert words_of(private(memory, ALICE)) == ["show"]


def test_looks_are_told_in_pages_whichever_identity_they_were_at(
    memory: Memory, root: Operator, clock: SetClock
) -> None:
    alice = private(memory, ALICE)
    ids = [kept(alice, "one"), kept(private(memory, WEB), "two")]
    memory.admin.link(ALICE.key, "acct:alice")
    for number in range(5):
        root.show(ids[number % 2])
        clock.forward(seconds=number % 2)
    clock.forward(seconds=1)
    root.browse()
    everything = list(alice.audit.access_log())
    assert [one.count for one in everything] == [2, 1, 1, 1, 1, 1]
    first = alice.audit.access_log(limit=4)
    rest = alice.audit.access_log(limit=4, cursor=first.cursor)
    assert [*first, *rest] == everything
    assert rest.cursor is None
    noted = root.audit.access_log(limit=2)
    assert [one.word for one in noted] == ["browse", "show"]
    assert len(root.audit.access_log(limit=10, cursor=noted.cursor)) == 4


def test_what_cannot_be_noted_is_not_shown(memory: Memory, root: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    id = kept(private(memory, ALICE), "one")

    def refuse(*_: object) -> None:
        raise tacit.StoreUnavailable("no room is left")

    monkeypatch.setattr(store_looks, "insert_access_log_entry", refuse)
    asks: list[Callable[[], object]] = [
        root.browse, root.browse_count, root.audit.access_log, lambda: root.show(id), lambda: root.history(id),
    ]  # fmt: skip
    for ask in asks:
        with pytest.raises(tacit.StoreUnavailable):
            ask()
    monkeypatch.undo()
    assert list(root.audit.access_log()) == []


def test_a_look_at_nothing_is_not_found_like_any_other(memory: Memory, root: Operator) -> None:
    for id in ("zzzzzzzz", "", "'; --"):
        for look in (root.show, root.history):
            with pytest.raises(tacit.NotFound, match="no such memory here"):
                look(id)
    assert list(root.audit.access_log()) == []
    for field, search in (
        ("about", Search(about="Alice")),
        ("owner", Search(owner="Alice")),
        ("words", Search(words="x" * 1_001)),
    ):
        with pytest.raises(tacit.InvalidInput) as refused:
            root.browse(search)
        assert refused.value.field == field


def test_looks_of_one_space_are_not_anothers(memory: Memory, root: Operator) -> None:
    kept(private(memory, ALICE), "one")
    other = memory.space("other")
    kept(private(other, ALICE), "elsewhere")
    assert said(root.browse(Search(words="e"))) == []
    assert said(other.operator("root").browse()) == ["elsewhere"]
    assert len(private(memory, ALICE).audit.access_log()) == 0
    assert len(private(other, ALICE).audit.access_log()) == 1


def test_looks_go_with_the_person_and_ids_with_their_memory(memory: Memory, root: Operator) -> None:
    alice, bob = private(memory, ALICE), private(memory, BOB)
    id, other = kept(alice, "one"), kept(bob, "two")
    root.show(id)
    root.show(other)
    root.browse()
    bob.erase(other)
    assert {(one.word, one.memory_id) for one in bob.audit.access_log()} == {("show", None), ("browse", None)}
    memory.admin.erase_person(ALICE.key)
    assert list(alice.audit.access_log()) == []
    assert sorted(words_of(root)) == ["browse", "show"]
    assert words_of(bob).count("browse") == 1


def test_looks_are_kept_for_a_while(memory: Memory, root: Operator, clock: SetClock) -> None:
    own = private(memory, ALICE)
    kept(own, "one")
    root.browse()
    clock.forward(days=399)
    memory.jobs.purge(confirm_clock=True)
    memory.jobs.expire()
    assert len(own.audit.access_log()) == 1
    clock.forward(days=2)
    memory.jobs.purge(confirm_clock=True)
    memory.jobs.expire()
    assert len(own.audit.access_log()) == 0


def test_a_turn_is_never_shown(memory: Memory, root: Operator) -> None:
    own = private(memory, ALICE)
    id = kept(own, "what was said")

    def turned(w: Transaction) -> None:
        w.connection.execute(update(memories_table).values(is_turn=True, session="s", seq=1))

    memory._storage.write_as("default", "system", turned)
    assert (list(root.browse(Search(state=ANY_STATE))), root.browse_count(Search(words="what"))) == ([], 0)
    for look in (root.show, root.history):
        with pytest.raises(tacit.NotFound):
            look(id)
