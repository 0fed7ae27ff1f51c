"""The part of a remote view by which two identities become one."""

from __future__ import annotations

import builtins

from tacit.errors import NotFound
from tacit.records.accounts import Link, LinkOffer, LinkWaiting
from tacit.surfaces.client.calling import Calling

List = builtins.list


class RemoteLinking(Calling):
    def offer_link(self) -> LinkOffer:
        # Without a name: what is sent again gives a new code, and the earlier one is void.
        offer: LinkOffer = self._ask(LinkOffer, "/api/link/offer")
        return offer

    def accept_link(self, code: str) -> LinkWaiting:
        waiting: LinkWaiting = self._write(LinkWaiting, "POST", "/api/link/accept", code=code)
        return waiting

    def link_waiting(self) -> LinkWaiting | None:
        try:
            found: LinkWaiting = self._get(LinkWaiting, "/api/link/waiting")
        except NotFound:
            return None
        return found

    def confirm_link(self) -> Link:
        link: Link = self._write(Link, "POST", "/api/link/confirm")
        return link

    def refuse_link(self) -> None:
        self._write(None, "POST", "/api/link/refuse")

    def unlink_me(self) -> Link:
        link: Link = self._write(Link, "POST", "/api/link/unlink")
        return link

    def identities(self) -> List[str]:
        found: List[str] = self._get(List[str], "/api/link/identities")
        return found
