"""What people are called on a page: by the names that the visitor knows them by. To an operator,
who knows nobody, by their keys; on the page of one memory also by name, who has no key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tacit.records.accounts import NameKind, Person
from tacit.surfaces.console.visitor import Visitor
from tacit.surfaces.console.wording import flat

YOU = "you"
_BEST = (
    NameKind.NAME,
    NameKind.ALIAS,
    NameKind.RELATION,
    NameKind.USERNAME,
    NameKind.WITHHELD,  # whoever goes by this name, and nobody may be told more
)
_OUTSIDE, _UNKNOWN, _OPERATOR = "ext:", "person:", "operator:"
_LOOKED_UP_MAX_COUNT = 10
_SOMEBODY, _THE_OPERATOR = "somebody", "the operator"


@dataclass(frozen=True, slots=True)
class Names:
    mine: frozenset[str] = frozenset()  # the visitor's keys
    known: Mapping[str, str] = field(default_factory=dict)  # identity → name

    def of(self, identity: str) -> str:
        """Of an identity as memories hold it, or of an actor of their history."""
        if self.is_mine(identity):
            return YOU
        if identity in self.known:
            return self.known[identity]
        if identity.startswith(_UNKNOWN):
            return _SOMEBODY
        if identity.startswith(_OPERATOR):
            return f"{_THE_OPERATOR} {identity.removeprefix(_OPERATOR)}"
        return key_of(identity)

    def of_all(self, identities: Iterable[str]) -> list[str]:
        """Each name once, the visitor first."""
        found = dict.fromkeys(sorted((self.of(one) for one in identities), key=str.casefold))
        return sorted(found, key=lambda name: name != YOU)

    def is_mine(self, identity: str | None) -> bool:
        return identity is not None and key_of(identity) in self.mine


def names_for(visitor: Visitor, mentioned: Iterable[str] = ()) -> Names:
    """`mentioned`: those whom an operator looks up, too, and who are told of that look."""
    if visitor.is_operator:
        unknown = sorted(one for one in mentioned if one.startswith(_UNKNOWN))
        return Names(known=dict(_looked_up(visitor, unknown[:_LOOKED_UP_MAX_COUNT])))
    view = visitor.view
    known = {id: called(one) for one in view.people() for id in one.identities}
    return Names(frozenset(view.identities()), known)


def _looked_up(visitor: Visitor, unknown: Iterable[str]) -> Iterator[tuple[str, str]]:
    for id in unknown:
        for one in visitor.operator.people(id):
            best = called(one)
            yield id, _SOMEBODY if best == key_of(one.id) else best


def called(person: Person) -> str:
    """The best of their names; where they have none, their key. Nobody goes by a word that means
    somebody else here."""
    by_kind = {name.kind: name.text for name in reversed(person.names)}
    best = next((flat(by_kind[kind]) for kind in _BEST if kind in by_kind), "")
    taken = best.casefold() in (YOU, _SOMEBODY) or best.casefold().startswith(_THE_OPERATOR)
    return key_of(person.id) if taken or not best else best


def key_of(identity: str) -> str:
    """As channels write it."""
    return identity.removeprefix(_OUTSIDE)
