"""Which identities are one person: now, by verified links, and ever, for what is withheld."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tacit.identity.keys import is_subject
from tacit.model.linking import Link, LinkKind


@dataclass(frozen=True)
class Identities:
    """The links around some people. An identity without links is a person of its own."""

    links: tuple[Link, ...] = ()
    _now: dict[str, frozenset[str]] = field(init=False, repr=False)
    _ever: dict[str, frozenset[str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_now", _classes(x for x in self.links if x.holds))
        object.__setattr__(self, "_ever", _classes(x for x in self.links if x.held))

    def current_identities(self, identity: str) -> frozenset[str]:
        return self._now.get(identity, frozenset({identity}))

    def all_identities(self, identity: str) -> frozenset[str]:
        return self._ever.get(identity, frozenset({identity}))

    def person_id(self, identity: str) -> str:
        """The person's id: where the links lead; in a cycle, its first in the alphabet."""
        return self._follow(identity, frozenset(LinkKind))

    def subject(self, identity: str) -> str:
        """What somebody with this identity writes as: their account, once linked."""
        return self._follow(identity, frozenset({LinkKind.LINK}))

    def is_recognizable(self, identity: str) -> bool:
        """Whether we could recognise this person in a room."""
        return any(is_subject(i) for i in self.current_identities(identity))

    def _follow(self, identity: str, kinds: frozenset[LinkKind]) -> str:
        leads = {x.source: x.target for x in self.links if x.holds and x.kind in kinds}
        path = [identity]
        while path[-1] in leads:
            following = leads[path[-1]]
            if following in path:
                return min(path[path.index(following) :])
            path.append(following)
        return path[-1]


def _classes(links: Iterable[Link]) -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for link in links:
        joined = groups.get(link.source, {link.source}) | groups.get(link.target, {link.target})
        for identity in joined:
            groups[identity] = joined
    return {identity: frozenset(group) for identity, group in groups.items()}
