"""Two identities of one person become one: a code, an answer to it, and a yes.

Whoever links may read from then on as the other does, so that a key needs both scopes.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit.errors import NotFound
from tacit.records.accounts import Link, LinkOffer, LinkWaiting, Scope
from tacit.surfaces.rest.answers import answer, nothing
from tacit.surfaces.rest.asking import Asking
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import Given

routes = Routes("linking")
_CODE = {"type": "string", "examples": ["ABCDE-23456"]}


class AcceptRequest(Given):
    code: Annotated[Any, WithJsonSchema(_CODE)]


@routes.post("/api/link/offer", scope=Scope.WRITE, gives=LinkOffer, problems=(409,))
def offer_link(asked: Asking) -> Response:
    """A code to be entered once from the caller's other identity. An earlier one is void."""
    asked.admitted.require_scopes(Scope.READ)
    return answer(asked.view.offer_link())


@routes.post("/api/link/accept", scope=Scope.WRITE, gives=LinkWaiting, once=True)
def accept_link(asked: Asking, body: AcceptRequest) -> Response:
    """Answer to a code; says whose it is. Nothing is shared before they confirm it."""
    asked.admitted.require_scopes(Scope.READ)
    return answer(asked.write_view.accept_link(body.code))


@routes.get("/api/link/waiting", scope=Scope.READ, gives=LinkWaiting, problems=(404,))
def show_link_waiting(asked: Asking) -> Response:
    """Who answered to the caller's code, and waits for their yes."""
    found = asked.view.link_waiting()
    if found is None:
        raise NotFound("link")
    return answer(found)


@routes.post("/api/link/confirm", scope=Scope.WRITE, gives=Link, once=True)
def confirm_link(asked: Asking) -> Response:
    """Yes: from now on, both identities are one person."""
    asked.admitted.require_scopes(Scope.READ)
    return answer(asked.write_view.confirm_link())


@routes.post("/api/link/refuse", scope=Scope.WRITE, status=204, once=True)
def refuse_link(asked: Asking) -> Response:
    """No: the caller's code, and their answer to another's, are void."""
    asked.write_view.refuse_link()
    return nothing()


@routes.post("/api/link/unlink", scope=Scope.WRITE, gives=Link, once=True)
def unlink_me(asked: Asking) -> Response:
    """The identity that asks leaves its account at once."""
    return answer(asked.write_view.unlink_me())


@routes.get("/api/link/identities", scope=Scope.READ, gives=list[str])
def list_identities(asked: Asking) -> Response:
    """The keys that are the caller by now, in a private chat; elsewhere none."""
    return answer(asked.view.identities())
