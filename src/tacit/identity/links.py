"""Which identities are one person, and the codes that link two of them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity.external_keys import is_subject
from tacit.records.accounts import Link, LinkKind

# Codes that show that two identities are one person's: short enough to copy by hand.

# Without 0 and O, 1 and I: of these, nobody mistakes one for another. 32 of them: 5 bits each.
LINK_CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_HALF = limits.LINK_CODE_CHARS // 2
# What stands between the halves, and what keyboards make of it.
_SEPARATORS = str.maketrans("", "", " \t\n\u00a0-\u2010\u2011\u2012\u2013\u2014\u2212")
_WRITTEN_MAX_CHARS = 4 * limits.LINK_CODE_CHARS
INVALID_LINK_CODE = ""  # what stands for everything that cannot be one


def create_link_code() -> str:
    """As it is shown: XXXXX-XXXXX."""
    code = "".join(secrets.choice(LINK_CODE_ALPHABET) for _ in range(limits.LINK_CODE_CHARS))
    return f"{code[:_HALF]}-{code[_HALF:]}"


def normalize_link_code(code: object) -> str:
    """A code in its one spelling, however somebody wrote it. What cannot be one is no error: it is
    looked for like any other, and not found."""
    if not isinstance(code, str):
        raise InvalidInput("code", "expected the code as text, as it was shown")
    if len(code) > _WRITTEN_MAX_CHARS:
        return INVALID_LINK_CODE
    found = code.translate(_SEPARATORS)
    # Only then: other alphabets have letters whose capitals are some of ours.
    found = found.upper() if found.isascii() else INVALID_LINK_CODE
    good = len(found) == limits.LINK_CODE_CHARS and set(found) <= set(LINK_CODE_ALPHABET)
    return found if good else INVALID_LINK_CODE


# Which identities are one person: now, by verified links, and ever, for what is withheld.


@dataclass(frozen=True)
class Identities:
    """The links around some people. An identity without links is a person of its own."""

    links: tuple[Link, ...] = ()
    _now: dict[str, frozenset[str]] = field(init=False, repr=False)
    _ever: dict[str, frozenset[str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_now", _group_identities(x for x in self.links if x.holds))
        object.__setattr__(self, "_ever", _group_identities(x for x in self.links if x.held))

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


def _group_identities(links: Iterable[Link]) -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for link in links:
        joined = groups.get(link.source, {link.source}) | groups.get(link.target, {link.target})
        for identity in joined:
            groups[identity] = joined
    return {identity: frozenset(group) for identity, group in groups.items()}
