"""The part of a view that draws: a person's own memories, whom they are about, who said them, and
what belongs together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal

from sqlalchemy import Connection

from tacit import limits
from tacit.prompts.fence import clip_text
from tacit.records import validation
from tacit.records.accounts import NameKind, Person
from tacit.records.memory import Memory
from tacit.records.request import Request
from tacit.records.results import Edge, Graph, Node
from tacit.storage import people, relations
from tacit.views.access import Access

# What somebody is called, by what reads best.
_CALLED = (NameKind.NAME, NameKind.ALIAS, NameKind.USERNAME, NameKind.RELATION, NameKind.WITHHELD)
WhoIs = Callable[[str], Node]  # an identity as it is drawn


class ViewGraph(Access):
    def graph(self, *, limit: int = limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        """Your own active memories, pinned, important and newest first, with the people whom they
        are about and who said them. You yourself are not among these: all of it is yours. In a
        private chat only; elsewhere, nothing."""
        most = nodes_of(limit)

        def work(connection: Connection, request: Request) -> Graph:
            audiences, allowed = self._storage.audiences, self._category_filter()
            found, count = relations.list_graph_memories(
                connection, audiences, request, allowed, most
            )
            if not found:
                return Graph()
            known = who_is(people.list_known_people(connection, request))
            return drawn(connection, found, count, known, most, but=request.own_identities)

        return self._read(work)


def nodes_of(limit: int) -> int:
    return validation.parse_int("limit", limit, 1, limits.GRAPH_NODES_MAX_COUNT)


def who_is(known: Iterable[Person]) -> WhoIs:
    """Everybody under one id, however many identities they are known by."""
    found = {identity: _person(one) for one in known for identity in one.identities}

    def node(identity: str) -> Node:
        unknown = Node(id=identity, kind="person", label=identity.removeprefix("ext:"))
        return found.get(identity, unknown)

    return node


def _person(person: Person) -> Node:
    named = sorted(person.names, key=lambda name: (_CALLED.index(name.kind), name.text))
    label = named[0].text if named else person.id.removeprefix("ext:")
    return Node(id=person.id, kind="person", label=label)


def drawn(
    connection: Connection,
    memories: Sequence[Memory],
    count: int,
    known: WhoIs,
    most: int,
    *,
    but: Collection[str] = (),
) -> Graph:
    """The first of these memories, out of so many, each followed by its people, as long as there is
    room for them."""
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    shown: list[str] = []
    for memory in memories:
        if len(nodes) >= most:
            break
        nodes[memory.id] = _memory(memory)
        shown.append(memory.id)
        for kind, identity in _people(memory, but):
            person = known(identity)
            if person.id in nodes or len(nodes) < most:
                nodes[person.id] = person
                edges.append(Edge(source=memory.id, target=person.id, kind=kind))
    between = relations.list_graph_edges(
        connection, memories[0].space, shown, limits.GRAPH_EDGES_MAX_COUNT
    )
    related = [
        Edge(source=one, target=other, kind="related", strength=strength)
        for one, other, strength in between
    ]
    all_edges = [*dict.fromkeys(edges), *related][: limits.GRAPH_EDGES_MAX_COUNT]
    return Graph(
        nodes=tuple(nodes.values()), edges=tuple(all_edges), left_out=max(0, count - len(shown))
    )


def _memory(memory: Memory) -> Node:
    said = " ".join(memory.content.split())
    label = clip_text(said, limits.GRAPH_LABEL_MAX_CHARS)
    return Node(id=memory.id, kind="memory", label=label, category=memory.category)


def _people(
    memory: Memory, but: Collection[str]
) -> Iterable[tuple[Literal["about", "said_by"], str]]:
    for identity in sorted(memory.subjects.difference(but)):
        yield "about", identity
    if memory.speaker is not None and memory.speaker not in but:
        yield "said_by", memory.speaker
