"""An operator's acts and the acts on a whole person: audited, and never a way to read."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

import tacit
from tacit import Search
from tacit.memory import Memory, Operator
from tacit.records.queries import ANY_STATE
from tacit.storage import access_log as store_looks
from tests.contract.hostile import NAIVE
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, CAROL, OPEN, TEAM, WEB, SetClock, group, in_pages, kept, private, said
from tests.contract.rows import rows
from tests.contract.traces import cleaned


def test_an_operators_acts_stand_in_history_under_their_name(memory: Memory) -> None:
    own, root = private(memory, ALICE), memory.operator("root")
    id = kept(own, "one", visibility="public_ok")
    root.update(id, "two")
    root.lower_visibility(id, "private_only")
    root.withhold_from(id, [BOB.key])
    root.forget(id)
    root.restore(id)
    entries = own.history(id)
    assert [e.event for e in entries] == ["ADD", "UPDATE", "UPDATE", "UPDATE", "DELETE", "RESTORE"]
    assert {e.actor for e in entries[1:]} == {"operator:root"}
    found = own.show(id)
    assert (found.content, found.version, found.state) == ("two", 2, "active")
    assert found.visibility == "private_only"
    assert found.withheld_from == {"ext:telegram:2002"}


def test_an_operators_words_are_nobodys_own_overwrite_nothing_that_moved_on_and_raise_nothing(memory: Memory) -> None:
    id = kept(group(memory, ALICE), "I run", **OPEN)
    memory.operator("root").update(id, "(removed)")
    found = private(memory, ALICE).show(id)
    assert (found.owner, found.speaker) == ("ext:telegram:1001", None)
    assert found.subjects == {"ext:telegram:1001"}
    own, root = private(memory, ALICE), memory.operator("root")
    id = kept(own, "one")
    own.update(id, "two")
    with pytest.raises(tacit.Conflict, match="at version 2 by now"):
        root.update(id, "three", if_version=1)
    assert own.show(id).content == "two"
    root.update(id, "three", if_version=2)
    assert own.show(id).content == "three"
    root = memory.operator("root")
    id = kept(private(memory, ALICE), "one")
    for wider in ("room", "public_ok"):
        with pytest.raises(tacit.InvalidInput, match="only the owner raises"):
            root.lower_visibility(id, wider)
    assert private(memory, ALICE).show(id).visibility == "private_only"


def test_an_operator_reads_by_looks_alone(memory: Memory) -> None:
    root = memory.operator("root")
    public = {name for name in dir(root) if not name.startswith("_")}
    on_memories = {"erase", "forget", "lower_visibility", "restore", "update", "withhold_from"}
    on_learning = {"erase_source", "quarantine", "revert"}
    reads = {"audience", "audit", "browse", "browse_count", "graph", "history", "people", "show"}
    assert public == on_memories | on_learning | reads
    for resource, operations in (
        (root.audience, {"chats", "of", "preview", "recall"}),
        (root.audit, {"access_log", "activity", "daily_counts"}),
        (root.people, {"about", "list"}),
        (root.quarantine, {"discard", "list", "release"}),
    ):
        assert {name for name in dir(resource) if not name.startswith("_")} == operations
    id = kept(private(memory, ALICE), "one")
    assert root.update(id, "two") is None  # type: ignore[func-returns-value]
    assert "two" not in repr(root.erase(id))


def test_an_operator_meets_the_same_not_found_as_everybody(memory: Memory) -> None:
    root = memory.operator("root")
    for id in ("zzzzzzzz", "", "'; --"):
        for act in (root.forget, root.restore, root.erase):
            with pytest.raises(tacit.NotFound, match="no such memory here"):
                act(id)
    with pytest.raises(tacit.InvalidInput, match="is a name"):
        root.withhold_from(kept(private(memory, ALICE), "one"), ["Robert"])


def test_forgetting_a_person_takes_all_of_theirs_and_can_be_undone(memory: Memory) -> None:
    phone, web = private(memory, ALICE), private(memory, WEB)
    id = kept(phone, "one")
    memory.admin.link(ALICE.key, "acct:alice")
    web.remember("two")
    group(memory, ALICE).remember("the room's", for_room=True, **OPEN)
    private(memory, BOB).remember("Bob's", about=[ALICE.key])
    assert memory.admin.forget_person(ALICE.key) == 2
    assert memory.admin.forget_person("acct:alice") == 0
    assert said(phone.list()) == ["the room's"]
    assert said(private(memory, BOB).list()) == ["Bob's", "the room's"]
    phone.restore(id)
    assert "one" in said(phone.list())


def test_erasing_a_person_takes_all_of_theirs_their_names_and_where_they_were(memory: Memory) -> None:
    phone = private(memory, ALICE)
    phone.remember("one", about=["Sarah"])
    memory.admin.link(ALICE.key, "acct:alice")
    private(memory, WEB).remember("two")
    group(memory, ALICE).remember("mine", **OPEN)
    group(memory, BOB).remember("Bob's", **OPEN)
    done = memory.admin.erase_person("acct:alice")
    assert (done.count, cleaned(done)) == (3, True)
    assert said(private(memory, BOB).list()) == ["Bob's"]
    names = {name.text for person in group(memory, BOB, here=(BOB,)).people.list() for name in person.names}
    assert names == {"Bob"}
    later = kept(group(memory, BOB, here=(BOB,)), "later", **OPEN)
    assert private(memory, BOB).show(later).heard_by == {"ext:telegram:2002"}
    assert memory.admin.maintain().healthy
    # Links stay: they keep a memory withheld from every identity a person ever had.
    assert len(memory.admin.links(ALICE.key)) == 1


def test_what_was_withheld_from_an_erased_person_stays_withheld_from_all_they_were(memory: Memory) -> None:
    here = (ALICE, BOB, CAROL)
    memory.admin.link(BOB.key, "acct:bob")
    kept(group(memory, ALICE, here=here), "A party for Bob", withheld_from=[BOB.key], **OPEN)
    memory.admin.erase_person("acct:bob")
    for who in (BOB, tacit.Requester("acct:bob")):
        assert said(private(memory, who).list()) == []


def test_maintenance_checks_analyses_and_compacts_and_tells_what_is_broken(memory: Memory) -> None:
    private(memory, ALICE).remember("one")
    done = memory.admin.maintain()
    assert (done.healthy, done.problems) == (True, ())
    assert {"checked", "analysed", "compacted"} <= set(done.did)
    memory._storage.database.write(lambda c: c.execute(text("DELETE FROM memory_versions")))
    done = memory.admin.maintain()
    assert not done.healthy
    assert any("version" in problem for problem in done.problems)


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


def test_names_are_told_of_to_those_they_belong_to_if_they_were_ever_here(memory: Memory, root: Operator) -> None:
    alice, carol = private(memory, ALICE), private(memory, CAROL)
    kept(alice, "Bob is late", about=[BOB.key])
    alice.people.name(BOB.key, "the bore")
    kept(carol, "somewhere else")
    assert len(root.people.list(BOB.key)) == 1
    assert words_of(alice) == ["people"]
    assert words_of(private(memory, BOB)) == []  # others speak of him, which he is not told
    kept(group(memory, ALICE), "here with Bob")
    root.people.list(BOB.key)
    assert [(one.word, one.count, one.memory_id) for one in private(memory, BOB).audit.access_log()] == [
        ("people", 0, None)
    ]
    assert words_of(carol) == []


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
    alone = tacit.Chat.private(ALICE.key)
    looks: list[Callable[[], object]] = [
        root.browse, root.browse_count, root.graph, root.people.list, root.audience.chats,
        root.audit.access_log, root.audit.activity, root.audit.daily_counts,
        lambda: root.show(id), lambda: root.history(id), lambda: root.people.about(ALICE.key),
        lambda: root.audience.of(id), lambda: root.audience.preview(alone, ALICE),
        lambda: root.audience.recall(alone, ALICE, "one"),
    ]  # fmt: skip

    def refuse(*_: object) -> None:
        raise tacit.StoreUnavailable("no room is left")

    monkeypatch.setattr(store_looks, "insert_access_log_entry", refuse)
    for look in looks:
        with pytest.raises(tacit.StoreUnavailable):
            look()
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
    root = memory.operator("root")
    page = root.audit.activity()
    assert [(one.content, one.owner) for one in page] == [
        ("The team meets at nine", None),
        ("My boss is Ann", "ext:telegram:2002"),
        ("Tom likes tea", "ext:telegram:1001"),
    ]
    assert look(memory) == (("activity", "operator:root", 3), {"ext:telegram:1001", "ext:telegram:2002"})
    assert in_pages(root.audit.activity, limit=2) == [*page]
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
    root = memory.operator("root")
    few = root.graph(limit=1)
    assert ([node.label for node in few.nodes], few.left_out) == (["The team meets at nine"], 2)
    assert look(memory) == (("graph", "operator:root", 1), set())  # what there was no room for was not looked at
    graph = root.graph()
    called = {node.id: node.label for node in graph.nodes}
    told = {(called[one.source], one.kind, called[one.target]) for one in graph.edges}
    assert told >= {
        ("Tom likes tea", "about", "Tom"),
        ("Tom likes tea", "said_by", "Alice"),
        ("My boss is Ann", "about", "Ann"),
        ("The team meets at nine", "said_by", "Bob"),
    }
    assert ("graph", "operator:root", 3) in rows(memory, LOOKS)
    assert {person for _, person in rows(memory, SEEN)} == {"ext:telegram:1001", "ext:telegram:2002"}


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
    found = [one.identities for one in in_pages(memory.operator("root").people.list, limit=2)]
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
    assert (root.graph(), root.people.about(ALICE.key).items) == (tacit.Graph(), ())
