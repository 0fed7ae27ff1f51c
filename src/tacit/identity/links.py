"""Which identities are one person, and the codes that link two of them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity.external_keys import is_subject
from tacit.records.accounts import Link, LinkKind

# Link codes: short enough to copy by hand, without 0 and O, 1 and I. 32 characters: 5 bits each.
LINK_CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_HALF = limits.LINK_CODE_CHARS // 2
# Separators between the halves, with the variants that keyboards produce.
_SEPARATORS = str.maketrans("", "", " \t\n\u00a0-\u2010\u2011\u2012\u2013\u2014\u2212")
_WRITTEN_MAX_CHARS = 4 * limits.LINK_CODE_CHARS
INVALID_LINK_CODE = ""  # stands for every text that cannot be a code


def create_link_code() -> str:
    """Return a new code in the form XXXXX-XXXXX."""
    code = "".join(secrets.choice(LINK_CODE_ALPHABET) for _ in range(limits.LINK_CODE_CHARS))
    return f"{code[:_HALF]}-{code[_HALF:]}"


def normalize_link_code(code: object) -> str:
    """Return a code in its canonical form.

    Never raise for a malformed code: it is looked up like any other code and not found.
    """
    if not isinstance(code, str):
        raise InvalidInput("code", "expected the code as text, as it was shown")
    if len(code) > _WRITTEN_MAX_CHARS:
        return INVALID_LINK_CODE
    found = code.translate(_SEPARATORS)
    # Only if ASCII: letters of other scripts may have ASCII capitals.
    found = found.upper() if found.isascii() else INVALID_LINK_CODE
    good = len(found) == limits.LINK_CODE_CHARS and set(found) <= set(LINK_CODE_ALPHABET)
    return found if good else INVALID_LINK_CODE


@dataclass(frozen=True)
class Identities:
    """Which identities are one person: currently by verified links, and ever, for holds.

    An identity without links is a person of its own.
    """

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
        """Return the person id: the last target of the links; in a cycle the smallest."""
        return self._follow(identity, frozenset(LinkKind))

    def subject(self, identity: str) -> str:
        """Return the owner of this identity's writes: the account, once linked."""
        return self._follow(identity, frozenset({LinkKind.LINK}))

    def is_recognizable(self, identity: str) -> bool:
        """Whether the person could be recognized in a chat."""
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
