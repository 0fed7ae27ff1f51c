"""Another chat, or somebody else who asks, as far as whoever wonders about it may know of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from tacit.identity import external_keys
from tacit.identity.links import Identities
from tacit.identity.resolution import RawRequest, StoredChat, resolve_request
from tacit.policy.rules import decide_with_precedence
from tacit.records.accounts import Link, LinkKind
from tacit.records.memory import ChatKind, Memory
from tacit.records.request import Decision, Request
from tacit.store import people, places
from tacit.store.identities import around


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """One request as it would be, and as whoever wonders about it may know it."""

    asked: Request  # by everybody's links
    known: Request  # by those that are not for others to tell
    own: bool  # who wonders would ask themselves

    def decide(self, memory: Memory) -> Decision:
        """To oneself, what one would hear there, but no rule that only the links of others explain.
        To somebody else, what they would hear if they were nobody but whom one knows: that they
        have other keys is theirs to tell, and whether those let them hear it would tell."""
        known = decide_with_precedence(self.known, memory)
        if not self.own:
            return known
        true = decide_with_precedence(self.asked, memory)
        if true.allowed == known.allowed:
            return known
        return true if true.allowed else Decision(False, "P0" if self.asked.private else "G0")

    def asked_by(self, identity: str) -> Elsewhere:
        """The same chat, where somebody else who is there asks."""
        requester = self.known.person(identity)
        return Elsewhere(self.asked, replace(self.known, requester=requester), own=False)


def elsewhere(
    connection: Connection, request: Request, asking: RawRequest, *, theirs: bool = False
) -> Elsewhere:
    """Of a chat that they are not in, nothing that the store knows counts. `theirs`: if it is
    private, it is a chat of whoever asks, whosever we may know it to be."""
    place = places.place(connection, request.space, asking.chat)
    alone = theirs and asking.kind is ChatKind.PRIVATE
    if alone or place.members.isdisjoint(request.own_identities):
        place = StoredChat(id=asking.chat)
    links = around(
        connection, request.space, asking.people | place.members | request.own_identities
    )
    known = known_links(connection, request, links)
    return resolved(request, asking, place, links, known, alone=alone)


def resolved(
    request: Request,
    asking: RawRequest,
    place: StoredChat,
    links: Identities,
    known: Identities,
    *,
    alone: bool = False,
) -> Elsewhere:
    asked, as_known = (
        resolve_request(request.space, request.at, asking, place, some, union=True)
        for some in (links, known)
    )
    if alone:
        asked, as_known = (replace(one, participants=frozenset()) for one in (asked, as_known))
    return Elsewhere(asked, as_known, own=asked.requester == request.requester)


def known_links(connection: Connection, request: Request, links: Identities) -> Identities:
    """Of these the requester's own, and who of those they know by name turned out to be somebody
    they have met: `people` tells them that much."""
    own = {
        link
        for link in links.links
        if not request.own_identities.isdisjoint((link.source, link.target))
    }
    merges = {one for one in links.links if one.kind is LinkKind.MERGE and one.holds} - own
    if merges:
        met = people.met(connection, request)
        own |= {one for one in merges if all(_is_known(end, met) for end in _ends(one))}
    return Identities(tuple(one for one in links.links if one in own))


def _ends(link: Link) -> tuple[str, str]:
    return link.source, link.target


def _is_known(identity: str, met: frozenset[str]) -> bool:
    return identity in met or identity.startswith(f"{external_keys.PERSON_PREFIX}:")
