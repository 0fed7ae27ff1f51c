"""A graph of entities, observations and relations, kept as ordinary memories under keys.

`node:<name>` says what an entity is, `node:<name>|<number><digest>` is one observation of it, and
`edge:<from>|<type>|<to>` one relation. An observation is kept with the name of its entity, as in
"Apollo: Deadline is March", for elsewhere it is read on its own; in the graph it has its own words.
So each can be recalled, corrected, forgotten and erased like anything else that is remembered, and
what may not be said here is not in the graph.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.memory import View, make_inert, quote_memory
from tacit.records import validation
from tacit.records.memory import Memory

CATEGORY = "fact"
PERSON = "person"  # the type of entities that are people to the rest of memory too
_NODE, _EDGE, _BAR = "node:", "edge:", "|"
_UNKNOWN_TYPE = "entity"
_NUMBER_CHARS = 6
_DIGEST_CHARS = 8
_NUMBERED = re.compile(rf"[0-9]{{{_NUMBER_CHARS}}}")


@dataclass(frozen=True, slots=True)
class Relation:
    start: str
    kind: str
    end: str

    @property
    def key(self) -> str:
        return _key(_EDGE, self.start, self.kind, self.end)

    @property
    def statement(self) -> str:
        return f"{self.start} {self.kind} {self.end}"

    def touches(self, names: Collection[str]) -> bool:
        return self.start in names or self.end in names


@dataclass(slots=True)
class Entity:
    name: str
    kind: str
    observations: list[str] = field(default_factory=list)
    id: str = ""  # of the memory that says what it is
    next: int = 0  # the number of the next observation: those that are gone keep theirs
    quotes: dict[str, str] = field(default_factory=dict)  # observations as a model is told of them

    @property
    def key(self) -> str:
        return _key(_NODE, self.name)

    @property
    def statement(self) -> str:
        return f"{_says(self.name)}{self.kind}"

    def says(self, query: str) -> bool:
        """Anywhere in it, whatever the case."""
        wanted = query.lower()
        return any(wanted in one.lower() for one in (self.name, self.kind, *self.observations))


class Graph:
    """Read as a whole each time: what somebody else wrote meanwhile is in it."""

    def __init__(self, view: View) -> None:
        self._view = view

    def entities(self) -> dict[str, Entity]:
        """By name, in the order they came to be."""
        found: dict[str, Entity] = {}
        said: list[tuple[str, str, str, str]] = []
        for memory in self._list_memories(_NODE):
            name, *rest = _parts(_NODE, memory)
            if rest:
                if _NUMBERED.match(rest[0]):  # other keys that begin alike are none of ours
                    words = _observed(name, rest[0], memory.content)
                    said.append((name, rest[0], words, quote_memory(memory, words)))
            else:
                found[name] = Entity(name, _kind(name, memory.content), id=memory.id)
        for name, numbered, content, quote in sorted(said, key=lambda one: one[:2]):
            if name in found:
                found[name].observations.append(content)
                found[name].quotes[content] = quote
                found[name].next = int(numbered[:_NUMBER_CHARS]) + 1
        return found

    def relations(self) -> list[Relation]:
        parts = [_parts(_EDGE, memory) for memory in self._list_memories(_EDGE)]
        return [Relation(*three) for three in parts if len(three) == 3]

    def add_entity(self, entity: Entity) -> None:
        self._put_memory(entity, entity.key, entity.statement)
        self.observe(Entity(entity.name, entity.kind), entity.observations)

    def observe(self, entity: Entity, contents: Collection[str]) -> None:
        for number, content in enumerate(contents, start=entity.next):
            key = observed_key(entity.name, number, content)
            self._put_memory(entity, key, observation(entity.name, content))
        entity.next += len(contents)

    def add_relation(self, relation: Relation, entities: dict[str, Entity]) -> None:
        id = self._view.put(CATEGORY, relation.key, relation.statement).id
        for name, side in ((relation.start, "from"), (relation.end, "to")):
            if name in entities:
                with suppress(NotFound):  # somebody else's, which one may hear and not tie up
                    self._view.relate(id, entities[name].id, side)

    def remove_entities(self, names: Collection[str]) -> None:
        for memory in self._list_memories(_NODE):
            if is_named(_parts(_NODE, memory)[0], names):
                self._forget(memory)
        for relation in self.relations():
            if relation.touches(names):
                self.remove_relation(relation)

    def remove_observations(self, name: str, contents: Collection[str]) -> None:
        for memory in self._list_memories(_key(_NODE, name) + _BAR):
            words = _observed(name, _parts(_NODE, memory)[-1], memory.content)
            if words in contents or quote_memory(memory, words) in contents:
                self._forget(memory)

    def remove_relation(self, relation: Relation) -> None:
        self._view.forget_key(CATEGORY, relation.key)

    def _forget(self, memory: Memory) -> None:
        with suppress(NotFound):  # somebody else's, which stays; the rest is forgotten all the same
            self._view.forget(memory.id)

    def _put_memory(self, entity: Entity, key: str, content: str) -> None:
        """Of people it is kept whom it is about, where the name says that."""
        if entity.kind.lower() == PERSON:
            try:
                self._view.put(CATEGORY, key, content, about=[entity.name])
                return
            except InvalidInput as error:
                if error.field != "about":
                    raise
        self._view.put(CATEGORY, key, content)

    def _list_memories(self, prefix: str) -> Iterator[Memory]:
        """Oldest first."""
        found: list[Memory] = []
        cursor = None
        while True:
            page = self._view.list(
                CATEGORY, prefix=prefix, limit=limits.PAGE_MAX_COUNT, cursor=cursor
            )
            found += page
            cursor = page.cursor
            if cursor is None:
                return reversed(found)


def named(name: str) -> str:
    """In the one spelling that keys have."""
    return unicodedata.normalize("NFC", name)


def is_named(name: str, names: Collection[str]) -> bool:
    """By its own name, or as a model is told of it."""
    return name in names or make_inert(name) in names


def check_entity(entity: Entity) -> None:
    """Before anything is written: all of a call is good, or nothing of it is done."""
    _fitting(entity.key, "name")
    validation.parse_content(entity.statement, "entityType")
    check_observations(entity.name, entity.observations)


def check_observations(name: str, contents: Collection[str]) -> None:
    for content in contents:
        validation.parse_content(observation(name, content), "observations")


def check_relation(relation: Relation) -> None:
    _fitting(relation.key, "relations")
    validation.parse_content(relation.statement, "relations")


def _fitting(key: str, field: str) -> None:
    most = limits.KEY_MAX_CHARS - len(observed_key("", 0, ""))
    if len(key) > most:
        raise InvalidInput(field, f"is too long; at most about {most} characters fit")
    validation.parse_screened_identifier(field, key, most)


def observation(name: str, content: str) -> str:
    """As it is kept: with the name of its entity, unless it names it itself."""
    told = f"{_named(name)}{content}"
    if not content.strip() or len(told) > limits.CONTENT_MAX_CHARS:
        return content
    words = r"[\s_]+".join(map(re.escape, name.replace("_", " ").split()))
    is_named = words and re.search(rf"(?<!\w){words}(?!\w)", content, re.IGNORECASE)
    return content if is_named else told


def observed_key(name: str, number: int, content: str) -> str:
    """In the order they were told; and two that are told at the same time do not collide."""
    return f"{_key(_NODE, name)}{_BAR}{number:0{_NUMBER_CHARS}d}{_digest(content)}"


def _observed(name: str, numbered: str, kept: str) -> str:
    """In its own words again. The key knows whether the name was put before them; where somebody
    has worded it anew since, a name before it is ours."""
    if numbered[_NUMBER_CHARS:] == _digest(kept):
        return kept
    return kept.removeprefix(_named(name))


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARS]


def _named(name: str) -> str:
    return f"{name}: "


def _key(prefix: str, *names: str) -> str:
    return prefix + _BAR.join(one.replace("%", "%25").replace(_BAR, "%7C") for one in names)


def _parts(prefix: str, memory: Memory) -> list[str]:
    names = (memory.key or prefix).removeprefix(prefix).split(_BAR)
    return [one.replace("%7C", _BAR).replace("%25", "%") for one in names]


def _says(name: str) -> str:
    return f"{name} is a "


def _kind(name: str, content: str) -> str:
    """Somebody may have worded it anew elsewhere."""
    said = _says(name)
    return content.removeprefix(said) if content.startswith(said) else _UNKNOWN_TYPE
