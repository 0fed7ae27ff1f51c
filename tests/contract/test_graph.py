"""A person's own memories as a picture: what is on it, and what belongs together."""

import tacit
from tacit import limits
from tacit.memory import Memory
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private

ACCOUNT = "acct:alice"


def labels(graph: tacit.Graph, kind: str) -> list[str]:
    return [node.label for node in graph.nodes if node.kind == kind]


def drawn(graph: tacit.Graph, kind: str) -> set[tuple[str, str]]:
    called = {node.id: node.label for node in graph.nodes}
    return {(called[one.source], called[one.target]) for one in graph.edges if one.kind == kind}


def test_memories_stand_beside_the_people_whom_they_are_about(memory: Memory) -> None:
    view = private(memory, ALICE)
    kept(view, "Tom likes tea", about=["Tom"], category="person")
    kept(view, "Tom and Ann are married", about=["Tom", "Ann"])
    kept(view, "I like trains")
    graph = view.graph()
    assert sorted(labels(graph, "person")) == ["Ann", "Tom"]
    assert drawn(graph, "about") == {
        ("Tom likes tea", "Tom"),
        ("Tom and Ann are married", "Tom"),
        ("Tom and Ann are married", "Ann"),
    }
    assert graph.left_out == 0
    categories = {node.label: node.category for node in graph.nodes}
    assert (categories["Tom likes tea"], categories["Tom"]) == ("person", None)


def test_two_that_are_related_are_joined_once(memory: Memory) -> None:
    view = private(memory, ALICE)
    one, other, gone = kept(view, "One"), kept(view, "Other"), kept(view, "Gone")
    view.relate(other, one, "explains", strength=0.5)
    view.relate(one, other, strength=0.25)
    view.relate(one, gone)
    view.forget(gone)
    (edge,) = view.graph().edges
    assert {edge.source, edge.target} == {one, other}
    assert (edge.kind, edge.strength) == ("related", 0.5)


def test_pinned_important_and_newest_come_first_and_the_rest_is_counted(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    for content, fields in (
        ("pinned", {"pinned": True, "importance": 1}),
        ("important", {"importance": 5}),
        ("older", {}),
        ("newer", {}),
    ):
        kept(view, content, **fields)
        clock.forward(seconds=1)
    assert labels(view.graph(), "memory") == ["pinned", "important", "newer", "older"]
    few = view.graph(limit=2)
    assert (labels(few, "memory"), few.left_out) == (["pinned", "important"], 2)


def test_there_are_never_more_nodes_than_were_asked_for(memory: Memory) -> None:
    view = private(memory, ALICE)
    for n in range(4):
        kept(view, f"About {n}", about=[f"Friend {n}", "Tom"])
    for limit in range(1, 12):
        graph = view.graph(limit=limit)
        ends = {end for edge in graph.edges for end in (edge.source, edge.target)}
        assert len(graph.nodes) <= limit
        assert ends <= {node.id for node in graph.nodes}
        assert graph.left_out == 4 - len(labels(graph, "memory"))


def test_a_person_and_oneself_are_one_under_all_identities(memory: Memory) -> None:
    view = private(memory, ALICE)
    kept(view, "Tom likes tea", about=["Tom"])
    kept(view, "Thomas lives in Rome", about=["Thomas"])
    ids = {one.names[0].text: one.id for one in view.people.list() if one.names[0].text != "Alice"}
    memory.admin.merge_people(ids["Thomas"], ids["Tom"])
    people = [node for node in view.graph().nodes if node.kind == "person"]
    assert len(people) == 1
    assert len(view.graph().edges) == 2
    kept(private(memory, ALICE), "From Telegram", importance=5)
    memory.admin.link("telegram:1001", ACCOUNT)
    kept(private(memory, tacit.Requester(ACCOUNT)), "From the account", importance=4)
    kept(private(memory, ALICE), "Once more")
    expected = {"From Telegram", "From the account", "Once more"}
    assert expected < set(labels(private(memory, ALICE).graph(), "memory"))


def test_only_what_is_ones_own_and_stands_is_drawn_and_only_in_private(memory: Memory, clock: SetClock) -> None:
    own = private(memory, ALICE)
    kept(own, "Mine")
    own.forget(kept(own, "Forgotten"))
    kept(own, "Lapsed", expires_at=clock.now.replace(hour=13))
    room = group(memory, BOB)
    kept(room, "Bob likes tea", visibility="room", sensitivity="public")
    kept(group(memory, ALICE), "The team meets at nine", for_room=True)
    clock.forward(days=1)
    assert labels(own.graph(), "memory") == ["Mine"]
    assert group(memory, ALICE).graph() == tacit.Graph()
    assert labels(private(memory, BOB).graph(), "memory") == ["Bob likes tea"]


def test_a_label_is_one_short_line_and_how_much_is_drawn_is_bounded(memory: Memory) -> None:
    view = private(memory, ALICE)
    kept(view, "one\ntwo " + "long " * 200)
    (label,) = labels(view.graph(), "memory")
    assert label.startswith("one two long")
    assert len(label) <= limits.GRAPH_LABEL_MAX_CHARS
    for limit in (0, 501, True, "5", None):
        refuses(view.graph, "limit", limit=limit)
