"""The way of one request for a page: who asks, whether it is theirs to see, whether the form is
ours; then the handler, in a thread of the pool. Whatever goes wrong is a page too."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.server.middleware import read_body
from tacit.server.routing import run_in_pool
from tacit.surfaces.console import cookies, forms, refusing
from tacit.surfaces.console.asking import FRAGMENT, Asked
from tacit.surfaces.console.headers import PAGE
from tacit.surfaces.console.refusing import OutOfDate, Strange
from tacit.surfaces.console.routes import Declared, Who
from tacit.surfaces.console.site import Site
from tacit.surfaces.console.visitor import Visitor

SIGN_IN = "/sign-in"
_SEE_OTHER = 303
_OURS = ("same-origin", "none")  # what browsers say of requests that our own pages make
TOKEN_FIELD, TOKEN_HEADER = "csrf", "x-csrf-token"


class Answer:
    """One page, or one thing that is done on it, as Starlette runs it."""

    def __init__(self, site: Site, declared: Declared) -> None:
        self._site = site
        self._route = declared

    async def respond(self, request: Request) -> Response:
        pool = request.app.state.pool
        request.state.visitor = None
        try:
            written = b""
            if self._route.method == "POST":  # nobody fills our memory before we know them
                await run_in_pool(pool, self._authorize, request)
                written = await _written(request)
            answer: Response = await run_in_pool(pool, self._answer, request, written)
        except ClientDisconnect:
            raise
        except Strange:
            answer = _to_sign_in(request, self._site)
        except Exception as error:  # noqa: BLE001 (told as a page, and logged by its kind)
            answer = await run_in_pool(pool, refusing.page, self._site, request, error)
        return answer

    def _authorize(self, request: Request) -> Visitor | None:
        seated = self._site.visitor(request)
        request.state.visitor = seated
        self._site.check_rate_limit(request, seated)
        if seated is None and self._route.who is not Who.ANYBODY:
            raise Strange
        if not self._route.who.allows(seated):
            raise NotFound("page")
        return seated

    def _answer(self, request: Request, written: bytes) -> Response:
        declared = self._route
        posts = declared.method == "POST"
        asked = Asked(
            site=self._site,
            request=request,
            signed_in=request.state.visitor if posts else self._authorize(request),
            query=forms.read(request.scope["query_string"]),
            form=forms.read(written),
        )
        if posts:
            _check_sender(asked, declared.who)
        parts: Mapping[str, str] = request.path_params
        try:
            return declared.handler(asked, **parts)
        except (InvalidInput, Conflict) as wrong:
            if declared.again is None:
                raise
            return declared.again(asked.with_error(wrong), **parts)


def _check_sender(asked: Asked, who: Who) -> None:
    """That one of our own pages sent it: by what the browser says, and by what only forms of this
    sitting hold. Hosts and origins were looked at before anything was routed. A link to sign in is
    followed from elsewhere, and its page does not know of a sitting: no cookie comes with it."""
    if asked.request.headers.get("sec-fetch-site", "none") not in _OURS:
        raise OutOfDate
    cookie = cookies.sitting_of(asked.request)
    sent = asked.request.headers.get(TOKEN_HEADER) or asked.form.get(TOKEN_FIELD)
    if who is not Who.ANYBODY and (cookie is None or not cookies.is_form_token(cookie, sent)):
        raise OutOfDate


async def _written(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != forms.FORM:
        raise InvalidInput("form", "is not one of ours; send it from the page")
    found = await read_body(request, forms.FORM_MAX_BYTES)
    if found is None:
        raise InvalidInput("form", "is too large; write less, or choose fewer at once")
    return found


def _to_sign_in(request: Request, site: Site) -> Response:
    if FRAGMENT in request.headers:  # a script: it loads the page anew
        return Response(status_code=204, headers=PAGE)
    if cookies.sitting_of(request) is None:
        # Nothing is taken back: who follows a link from elsewhere comes without a cookie they have.
        return RedirectResponse(SIGN_IN, _SEE_OTHER, PAGE)
    answer = RedirectResponse(f"{SIGN_IN}?ended=1", _SEE_OTHER, PAGE)
    cookies.take_back(answer, request, site.settings)
    return answer
