"""What an operator sees of a space: what happened, as a picture, who is known and what about them.
Each look is noted, with those whose memories it showed."""

from operator import attrgetter

import pytest

import tacit
from tacit.memory import Memory
from tests.contract.hostile import NAIVE
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, group, kept, private, said
from tests.contract.rows import rows

LOOKS = "SELECT operation, actor, count FROM access_log"
SEEN = "SELECT l.operation, p.person FROM access_log l JOIN access_log_people p ON p.entry_id = l.id"


def look(memory: Memory) -> tuple[tuple[object, ...], set[str]]:
    """The one look there was, and whose memories were among what it showed."""
    (noted,) = rows(memory, LOOKS)
    return noted, {person for _, person in rows(memory, SEEN)}


def spoken(memory: Memory, clock: SetClock) -> None:
    kept(private(memory, ALICE), "Tom likes tea", about=["Tom"])
    clock.forward(seconds=1)
    kept(private(memory, BOB), "My boss is Ann", about=["Ann"])
    clock.forward(seconds=1)
    kept(group(memory, BOB), "The team meets at nine", for_room=True)


def test_what_happened_to_everybody_is_told_with_whose_it_is(memory: Memory, clock: SetClock) -> None:
    spoken(memory, clock)
    page = memory.operator("root").audit.activity()
    assert [(one.content, one.owner) for one in page] == [
        ("The team meets at nine", None),
        ("My boss is Ann", "ext:telegram:2002"),
        ("Tom likes tea", "ext:telegram:1001"),
    ]
    noted, seen = look(memory)
    assert noted == ("activity", "operator:root", 3)
    assert seen == {"ext:telegram:1001", "ext:telegram:2002"}


def test_pages_of_what_happened_follow_one_another(memory: Memory, clock: SetClock) -> None:
    spoken(memory, clock)
    root = memory.operator("root")
    first = root.audit.activity(limit=2)
    rest = root.audit.activity(limit=2, cursor=first.cursor)
    assert [one.content for one in rest] == ["Tom likes tea"]
    assert rest.cursor is None
    assert [one.content for one in root.audit.activity(since=clock.now)] == ["The team meets at nine"]
    refuses(root.audit.activity, "since", since=NAIVE)
    refuses(root.audit.activity, "cursor", cursor="x")


def test_days_of_a_space_are_counted_and_nobody_is_shown(memory: Memory, clock: SetClock) -> None:
    spoken(memory, clock)
    days = memory.operator("root").audit.daily_counts(2)
    assert [one.counts for one in days] == [{}, {"learned": 3}]
    assert look(memory) == (("activity_days", "operator:root", 0), set())


def test_the_picture_of_a_space_shows_everybody_by_name(memory: Memory, clock: SetClock) -> None:
    spoken(memory, clock)
    graph = memory.operator("root").graph()
    called = {node.id: node.label for node in graph.nodes}
    told = {(called[one.source], one.kind, called[one.target]) for one in graph.edges}
    assert told >= {
        ("Tom likes tea", "about", "Tom"),
        ("Tom likes tea", "said_by", "Alice"),
        ("My boss is Ann", "about", "Ann"),
        ("The team meets at nine", "said_by", "Bob"),
    }
    noted, seen = look(memory)
    assert noted == ("graph", "operator:root", 3)
    assert seen == {"ext:telegram:1001", "ext:telegram:2002"}


def test_what_there_was_no_room_for_was_not_looked_at(memory: Memory, clock: SetClock) -> None:
    spoken(memory, clock)
    graph = memory.operator("root").graph(limit=1)
    assert ([node.label for node in graph.nodes], graph.left_out) == (["The team meets at nine"], 2)
    assert look(memory) == (("graph", "operator:root", 1), set())


def test_nobody_learns_by_a_look_that_there_is_something_about_them(memory: Memory) -> None:
    """Nor who calls them by some name, which is not shown for that reason."""
    kept(private(memory, BOB), "I like trains")
    private(memory, CAROL).people.name("person:AAAAAAAA", "Zed")
    private(memory, CAROL).people.name(BOB.key, "Arnold", "name")
    private(memory, BOB).forget(private(memory, BOB).list().items[0].id)
    kept(private(memory, ALICE), "Bob is tall", about=[BOB.key, "person:AAAAAAAA"])
    graph = memory.operator("root").graph()
    called = {node.label for node in graph.nodes if node.kind == "person"}
    assert called == {"Alice", "Bob", "person:AAAAAAAA"}
    assert look(memory) == (("graph", "operator:root", 1), {"ext:telegram:1001"})


def test_an_empty_space_has_an_empty_picture(memory: Memory) -> None:
    assert memory.operator("root").graph() == tacit.Graph()


def test_everybody_is_listed_once_with_all_identities_and_names(memory: Memory) -> None:
    kept(private(memory, ALICE), "Tom likes tea", about=["Tom"])
    private(memory, BOB).people.name("telegram:1001", "Ally")
    memory.admin.link("telegram:1001", "acct:alice")
    kept(private(memory, tacit.Requester("acct:alice")), "From the account")
    found = {one.id: one for one in memory.operator("root").people.list()}
    alice = found["acct:alice"]
    assert alice.identities == {"acct:alice", "ext:telegram:1001"}
    assert {name.text for name in alice.names} == {"Alice", "alice_l", "Ally"}
    assert len(found) == 3  # with Bob and Tom
    who = {"acct:alice", "ext:telegram:1001", "ext:telegram:2002"}
    assert look(memory) == (("people", "operator:root", 0), who)


def test_people_come_in_pages_and_nobody_twice(memory: Memory) -> None:
    view = private(memory, ALICE)
    for n in range(5):
        kept(view, f"About friend {n}", about=[f"Friend {n}"])
    friends = [one.id for one in view.people.list() if one.id.startswith("person:")]
    memory.admin.merge_people(friends[0], friends[4])
    memory.admin.merge_people(friends[1], friends[4])
    root, found, cursor = memory.operator("root"), [], None
    while True:
        page = root.people.list(limit=2, cursor=cursor)
        found += [one.identities for one in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert len(found) == len(set(found)) == 4
    assert {one for each in found for one in each} == {*friends, "ext:telegram:1001"}


def test_people_are_found_by_how_a_name_of_theirs_begins(memory: Memory) -> None:
    kept(private(memory, ALICE), "Zoë sails", about=["Zoë Quinn"])
    kept(private(memory, BOB), "Zora sings", about=["Zora"])
    root = memory.operator("root")
    for begun, count in (("zo", 2), ("ZOË", 1), ("zora", 1), ("quinn", 0), ("%", 0)):
        assert len(root.people.list(begun)) == count, begun
    refuses(root.people.list, "name", "")
    refuses(root.people.list, "cursor", cursor="x")


def test_what_is_known_about_somebody_is_told_whoever_said_it(memory: Memory, clock: SetClock) -> None:
    kept(private(memory, ALICE), "Bob is tall", about=[BOB.key])
    clock.forward(seconds=1)
    kept(private(memory, BOB), "I like trains")
    private(memory, ALICE).forget(kept(private(memory, ALICE), "Bob is late", about=[BOB.key]))
    memory.admin.link(BOB.key, "acct:bob")
    root = memory.operator("root")
    assert said(root.people.about("acct:bob")) == ["Bob is tall", "I like trains"]
    assert look(memory)[0] == ("about", "operator:root", 2)
    first = root.people.about("telegram:2002", limit=1)
    assert said(first) == ["I like trains"]
    assert said(root.people.about("telegram:2002", limit=1, cursor=first.cursor)) == ["Bob is tall"]
    assert said(root.people.about("person:AAAAAAAA")) == []
    refuses(root.people.about, "person", "Bob")


def test_a_space_is_looked_at_by_itself(memory: Memory, clock: SetClock) -> None:
    spoken(memory.space("other"), clock)
    root = memory.operator("root")
    assert (root.audit.activity().items, root.people.list().items) == ((), ())
    assert (root.graph().nodes, root.people.about(ALICE.key).items) == ((), ())


@pytest.mark.parametrize("word", ["audit.activity", "audit.daily_counts", "graph", "people.list", "people.about"])
def test_what_cannot_be_noted_is_not_shown(
    memory: Memory, clock: SetClock, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken(memory, clock)

    def broken(*_: object) -> None:
        raise tacit.StoreUnavailable("no room for a note")

    monkeypatch.setattr("tacit.storage.access_log.insert_access_log_entry", broken)
    operation = attrgetter(word)(memory.operator("root"))
    with pytest.raises(tacit.StoreUnavailable):
        operation(*(["telegram:1001"] if word == "people.about" else []))
