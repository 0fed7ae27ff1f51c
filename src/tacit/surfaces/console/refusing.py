"""Every error as a page. What is not there and what is not for the visitor is one page, to the
letter."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from tacit.errors import TacitError
from tacit.server.responses import error_response
from tacit.surfaces.console import wording
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.site import Site

TEMPLATE, FRAGMENT = "refused.html", "refused_part.html"


class Strange(Exception):
    """Nobody is signed in, and the page is for somebody."""


class OutOfDate(Exception):
    """A form that our pages did not send, or sent in another sitting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    heading: str
    says: str


NOTHING = Refusal(
    heading="Nothing is here",
    says="There is no such page, or it is not for you to see.",
)
_BY_STATUS = {
    403: NOTHING,
    404: NOTHING,
    409: Refusal(heading="It has changed meanwhile", says="Load the page again, then try again."),
    422: Refusal(heading="That cannot be used", says="Go back, change it, and try again."),
    429: Refusal(heading="That was a lot at once", says="Wait a moment, then load the page again."),
    503: Refusal(heading="Not now", says="The memory is busy. Try again in a moment."),
}
_OUT_OF_DATE = Refusal(
    heading="This form is out of date",
    says="You have signed in anew since it was loaded, or it came from another page. Go back, load "
    "the page again, and send it from there. Nothing was done.",
)
_BROKEN = Refusal(
    heading="Something went wrong",
    says="It is not your fault. Whoever runs this server finds more about it under this number.",
)


def page(site: Site, request: Request, error: Exception) -> Response:
    asked = Asked(site=site, request=request, signed_in=request.state.visitor)
    if isinstance(error, OutOfDate):
        return _page(asked, _OUT_OF_DATE, 403)
    # The wire's own answer says which status it is, and what was unexpected is logged there.
    answer = error_response(error, request.state.request_id)
    status = 404 if answer.status_code == 403 else answer.status_code
    refusal = _BY_STATUS.get(status)
    if refusal is None:
        return _page(asked, _BROKEN, status, number=request.state.request_id)
    plain = isinstance(error, TacitError) and refusal is not NOTHING
    shown = _page(asked, refusal, status, detail=wording.problem(error) if plain else None)
    if "retry-after" in answer.headers:
        shown.headers["Retry-After"] = answer.headers["retry-after"]
    return shown


def _page(
    asked: Asked,
    refusal: Refusal,
    status: int,
    *,
    detail: str | None = None,
    number: str | None = None,
) -> Response:
    return asked.render(
        TEMPLATE,
        fragment=FRAGMENT,
        status=status,
        refusal=refusal,
        detail=detail,
        number=number,
    )
