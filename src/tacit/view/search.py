"""Search, count and draw the requester's own memories."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.identity import parse_chat_id, parse_identity
from tacit.prompts.fence import clip_text
from tacit.records import validation
from tacit.records.accounts import NameKind, Person
from tacit.records.memory import Kind, Memory, Sensitivity, State, Visibility
from tacit.records.queries import ANY_STATE, MATCH_ALL, Search, decode_cursor, make_page, memory_position
from tacit.records.request import Request
from tacit.records.results import Edge, Graph, Node, Page
from tacit.storage import chats, people, relations
from tacit.storage.search import ListFilter, browse_own, count_own
from tacit.storage.spaces import load_identities
from tacit.text import parse_prefix_terms
from tacit.view.context import Resource, read

# Turn a Search into a ListFilter. The people and chats that it names are resolved in the
# snapshot of the read.


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """A filter whose people and chat are still to be resolved."""

    filter: ListFilter
    about: str | None
    chat: str | None
    owner: str | None
    has_no_words: bool  # the search text has no searchable word, so no memory matches

    def resolve_for_requester(self, connection: Connection, request: Request) -> ListFilter | None:
        """Return the filter; None if no memory can match.

        No memory matches if the requester knows no person of that name, or the search text has no
        word.
        """
        if self.has_no_words:
            return None
        about = None
        if self.about is not None:
            about = people.resolve_person(connection, request, self.about, "about")
            if not about:
                return None
        found = self._with_chat(connection, request.space)
        return found if about is None else replace(found, about=tuple(sorted(about)))

    def resolve_for_operator(self, connection: Connection, space: str) -> tuple[ListFilter, frozenset[str] | None]:
        """Return the filter, and the identities of the owner that it names; None: every owner."""
        found = self._with_chat(connection, space)
        if self.has_no_words:
            return found, frozenset()
        if self.about is not None:
            about = _linked_identities(connection, space, self.about)
            found = replace(found, about=tuple(sorted(about)))
        return found, None if self.owner is None else _linked_identities(connection, space, self.owner)

    def _with_chat(self, connection: Connection, space: str) -> ListFilter:
        if self.chat is None:
            return self.filter
        rooms = chats.read_chat(connection, space, self.chat).chat_ids
        return replace(self.filter, chats=tuple(sorted(rooms)))


def parse_search(search: object, category: Callable[[object], str], *, operator: bool = False) -> SearchFilter:
    if not isinstance(search, Search):
        raise InvalidInput("search", f"expected a Search, got {type(search).__name__}")
    if search.owner is not None and not operator:
        raise InvalidInput("owner", "only operators look at others' memories; leave it out")
    typed = () if search.words is None else _parse_word_prefixes(search.words)
    return SearchFilter(
        filter=ListFilter(
            category=None if search.category is None else category(search.category),
            kind=_parse_choice("kind", search.kind, Kind),
            state=_parse_state(search.state),
            visibility=_parse_choice("visibility", search.visibility, Visibility),
            sensitivity=_parse_choice("sensitivity", search.sensitivity, Sensitivity),
            pinned=None if search.pinned is None else validation.parse_bool("pinned", search.pinned),
            since=_parse_moment("since", search.since),
            until=_parse_moment("until", search.until),
            prefixes=typed,
        ),
        about=_parse_identity("about", search.about) if operator else search.about,
        chat=None if search.chat is None else parse_chat_id(search.chat),
        owner=_parse_identity("owner", search.owner),
        has_no_words=not typed and bool(search.words and search.words.strip()),
    )


def _parse_choice(field: str, value: object, words: type[StrEnum]) -> str | None:
    return None if value is None else validation.parse_enum(field, value, words).value


def _parse_state(value: object) -> str | None:
    """Parse one state; None means every state."""
    if value is None:
        return State.ACTIVE.value
    if value == ANY_STATE:
        return None
    if isinstance(value, str) and value not in set(State):
        raise InvalidInput("state", f"is not one of {', '.join([*State, ANY_STATE])}")
    return validation.parse_enum("state", value, State).value


def _parse_moment(field: str, value: object) -> int | None:
    return None if value is None else to_micros(validation.parse_datetime(field, value))


def _parse_word_prefixes(value: object) -> tuple[str, ...]:
    found = parse_prefix_terms(validation.check_storable("words", value, limits.SEARCH_MAX_CHARS))
    most = limits.SEARCH_WORDS_MAX_COUNT
    if len(found) > most:
        raise InvalidInput("words", f"are {len(found)} words; at most {most} are looked for")
    return found


def _parse_identity(field: str, value: object) -> str | None:
    """Parse a person's key: operators have no names for people."""
    if value is None:
        return None
    found = parse_identity(value, field)
    if found is None:
        raise InvalidInput(field, "is not a person; use a key such as telegram:123, or a person: id")
    return found


def _linked_identities(connection: Connection, space: str, identity: str) -> frozenset[str]:
    return load_identities(connection, space, [identity]).current_identities(identity)


# Kinds of names, in order of preference for a label.
_LABEL_KINDS = (NameKind.NAME, NameKind.ALIAS, NameKind.USERNAME, NameKind.RELATION, NameKind.WITHHELD)
PersonNode = Callable[[str], Node]  # returns the node of an identity


class ViewSearch(Resource):
    """Search and graph of your memories in your own private chat. In other chats the result is empty."""

    @read("POST /api/browse", disabled=Page)
    def browse(
        self, search: Search = MATCH_ALL, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[Memory]:
        """List your own memories that match the search, newest first.

        Only active ones, unless the search names another state.
        """
        return self._context.read(self._browse_page(search, limit, cursor))

    @read("POST /api/browse/count", disabled=0)
    def browse_count(self, search: Search = MATCH_ALL) -> int:
        """Count the memories that `browse` returns on all its pages, up to a thousand."""
        wanted = parse_search(search, self._context.parse_category)

        def work(connection: Connection, request: Request) -> int:
            chosen = self._resolve_search(connection, request, wanted)
            dialect, asked = self._context.storage.database.dialect, request.for_management()
            return 0 if chosen is None else count_own(connection, dialect, asked, chosen)

        return self._context.read(work)

    def _browse_page(
        self, search: Search, limit: int, cursor: str | None
    ) -> Callable[[Connection, Request], Page[Memory]]:
        """Read one page of the requester's memories."""
        wanted = parse_search(search, self._context.parse_category)
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        after = decode_cursor(cursor)

        def work(connection: Connection, request: Request) -> Page[Memory]:
            chosen = self._resolve_search(connection, request, wanted)
            if chosen is None:
                return Page()
            found = browse_own(
                connection,
                self._context.storage.audiences,
                self._context.storage.database.dialect,
                request.for_management(),
                replace(chosen, after=after),
                most + 1,
            )
            page = make_page([memory for memory, _ in found], most, memory_position)
            shown = (self._context.redact(connection, request, memory) for memory in page)
            return replace(page, items=tuple(shown))

        return work

    def _resolve_search(self, connection: Connection, request: Request, wanted: SearchFilter) -> ListFilter | None:
        chosen = wanted.resolve_for_requester(connection, request) if request.private else None
        return None if chosen is None else replace(chosen, categories=self._context.category_filter())

    @read("GET /api/graph", disabled=Graph)
    def graph(self, *, limit: int = limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        """Return your own active memories as a graph: pinned, important and newest ones first.

        It has the people they are about and their speakers, except you, because you own all of
        them. Empty outside a private chat.
        """
        most = parse_node_limit(limit)

        def work(connection: Connection, request: Request) -> Graph:
            audiences, allowed = self._context.storage.audiences, self._context.category_filter()
            found, count = relations.list_graph_memories(connection, audiences, request, allowed, most)
            if not found:
                return Graph()
            known = person_node_lookup(people.list_known_people(connection, request))
            return build_graph(connection, found, count, known, most, but=request.own_identities)

        return self._context.read(work)


def parse_node_limit(limit: int) -> int:
    return validation.parse_int("limit", limit, 1, limits.GRAPH_NODES_MAX_COUNT)


def person_node_lookup(known: Iterable[Person]) -> PersonNode:
    """Return a lookup that gives all identities of one person the same node."""
    found = {identity: _build_person_node(one) for one in known for identity in one.identities}

    def node(identity: str) -> Node:
        unknown = Node(id=identity, kind="person", label=identity.removeprefix("ext:"))
        return found.get(identity, unknown)

    return node


def _build_person_node(person: Person) -> Node:
    named = sorted(person.names, key=lambda name: (_LABEL_KINDS.index(name.kind), name.text))
    label = named[0].text if named else person.id.removeprefix("ext:")
    return Node(id=person.id, kind="person", label=label)


def build_graph(
    connection: Connection,
    memories: Sequence[Memory],
    count: int,
    known: PersonNode,
    most: int,
    *,
    but: Collection[str] = (),
) -> Graph:
    """Build a graph of the first of these memories, each followed by its people.

    It stops at `most` nodes; `count` is the number of all memories.
    """
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    shown: list[str] = []
    for memory in memories:
        if len(nodes) >= most:
            break
        nodes[memory.id] = _build_memory_node(memory)
        shown.append(memory.id)
        for kind, identity in _iter_people(memory, but):
            person = known(identity)
            if person.id in nodes or len(nodes) < most:
                nodes[person.id] = person
                edges.append(Edge(source=memory.id, target=person.id, kind=kind))
    between = relations.list_graph_edges(connection, memories[0].space, shown, limits.GRAPH_EDGES_MAX_COUNT)
    related = [Edge(source=one, target=other, kind="related", strength=strength) for one, other, strength in between]
    all_edges = [*dict.fromkeys(edges), *related][: limits.GRAPH_EDGES_MAX_COUNT]
    return Graph(nodes=tuple(nodes.values()), edges=tuple(all_edges), left_out=max(0, count - len(shown)))


def _build_memory_node(memory: Memory) -> Node:
    said = " ".join(memory.content.split())
    label = clip_text(said, limits.GRAPH_LABEL_MAX_CHARS)
    return Node(id=memory.id, kind="memory", label=label, category=memory.category)


def _iter_people(memory: Memory, but: Collection[str]) -> Iterable[tuple[Literal["about", "said_by"], str]]:
    for identity in sorted(memory.subjects.difference(but)):
        yield "about", identity
    if memory.speaker is not None and memory.speaker not in but:
        yield "said_by", memory.speaker
