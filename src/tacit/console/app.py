"""Mount the console: authorize and answer its requests, sign in and out, show errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from tacit.console import labels, rendering, requests, sessions
from tacit.console.pages import admin, memories, overview, people, review, visibility
from tacit.console.requests import FRAGMENT_HEADER, PAGE_HEADERS, PageRequest
from tacit.console.sessions import Visitor
from tacit.console.site import PageAccess, PageGroup, PageRoute, Site
from tacit.errors import Conflict, InvalidInput, NotFound, SignInRefused, TacitError
from tacit.server.middleware import read_body
from tacit.server.responses import error_response

# Error pages. A missing page and a forbidden page get the same response.


class SignInRequired(Exception):
    """The page needs a visitor, and the request has no session."""


class StaleForm(Exception):
    """The form did not come from a page of this session."""


class ErrorText(NamedTuple):
    heading: str
    says: str


NOT_FOUND = ErrorText("Page not found", "This page does not exist, or you do not have access to it.")
_ERROR_TEXTS = {
    403: NOT_FOUND,
    404: NOT_FOUND,
    409: ErrorText("Changed meanwhile", "Reload the page and try again."),
    422: ErrorText("Invalid input", "Go back, correct it, and try again."),
    429: ErrorText("Too many requests", "Wait a moment, then reload the page."),
    503: ErrorText("Temporarily unavailable", "Try again in a moment."),
}
_STALE_FORM = ErrorText(
    "This form is out of date",
    "You signed in again since it was loaded, or it came from another page. Nothing was "
    "changed. Go back, reload the page, and submit it again.",
)
_INTERNAL_ERROR = ErrorText(
    "Something went wrong", "The server failed to answer. Its operator finds the error in the log by this ID."
)


def error_page(site: Site, request: Request, error: Exception) -> Response:
    """Render an error as a page or fragment."""
    text, status, detail, request_id, retry_after = _STALE_FORM, 403, None, None, None
    if not isinstance(error, StaleForm):
        # error_response decides the status, and logs unexpected errors.
        answer = error_response(error, request.state.request_id)
        status = 404 if answer.status_code == 403 else answer.status_code
        retry_after = answer.headers.get("retry-after")
        text = _ERROR_TEXTS.get(status, _INTERNAL_ERROR)
        if text is _INTERNAL_ERROR:
            request_id = request.state.request_id
        elif isinstance(error, TacitError) and text is not NOT_FOUND:
            detail = labels.error_sentence(error)
    # Without counts: the storage that failed the request may fail again.
    asked = PageRequest(site=site, request=request, signed_in=request.state.visitor, nav_counts=False)
    shown = asked.render(
        "error.html", fragment="error_part.html", status=status, error_text=text, detail=detail, request_id=request_id
    )
    if retry_after is not None:
        shown.headers["Retry-After"] = retry_after
    return shown


# Handling of one request: authorize, check the CSRF token, run the handler in the thread pool.

SIGN_IN_PATH = "/sign-in"
_SEE_OTHER = 303
_SAME_ORIGIN = ("same-origin", "none")  # values of Sec-Fetch-Site that our own pages cause
CSRF_FIELD, CSRF_HEADER = "csrf", "x-csrf-token"


class PageEndpoint:
    """Starlette endpoint of one declared route."""

    def __init__(self, site: Site, route: PageRoute) -> None:
        self._site = site
        self._route = route

    async def respond(self, request: Request) -> Response:
        request.state.visitor = None
        try:
            body = b""
            if self._route.method == "POST":  # authorize before a body is read into memory
                await run_in_threadpool(self._authorize, request)
                body = await _read_form_body(request)
            answer: Response = await run_in_threadpool(self._answer, request, body)
        except ClientDisconnect:
            raise
        except SignInRequired:
            answer = _redirect_to_sign_in(request, self._site)
        except Exception as error:  # noqa: BLE001 (rendered as a page and logged)
            answer = await run_in_threadpool(error_page, self._site, request, error)
        return answer

    def _authorize(self, request: Request) -> Visitor | None:
        visitor = self._site.visitor(request)
        request.state.visitor = visitor
        self._site.check_rate_limit(request, visitor)
        if visitor is None and self._route.who is not PageAccess.PUBLIC:
            raise SignInRequired
        if not self._route.who.allows(visitor):
            raise NotFound("page")
        return visitor

    def _answer(self, request: Request, body: bytes) -> Response:
        route = self._route
        posts = route.method == "POST"
        asked = PageRequest(
            site=self._site,
            request=request,
            signed_in=request.state.visitor if posts else self._authorize(request),
            query=requests.parse_form(request.scope["query_string"]),
            form=requests.parse_form(body),
        )
        if posts:
            _check_csrf(asked, route.who)
        parts: Mapping[str, str] = request.path_params
        try:
            return route.handler(asked, **parts)
        except (InvalidInput, Conflict) as error:
            if route.again is None:
                raise
            return route.again(asked.with_error(error), **parts)


def _check_csrf(asked: PageRequest, who: PageAccess) -> None:
    """Raise StaleForm unless a page of this session sent the form.

    The middleware has checked host and origin. Public pages need no token: a sign-in link is
    opened from another site, so the session cookie is not sent with it.
    """
    if asked.request.headers.get("sec-fetch-site", "none") not in _SAME_ORIGIN:
        raise StaleForm
    cookie = sessions.get_session_cookie(asked.request)
    sent = asked.request.headers.get(CSRF_HEADER) or asked.form.get(CSRF_FIELD)
    if who is not PageAccess.PUBLIC and (cookie is None or not sessions.is_csrf_token(cookie, sent)):
        raise StaleForm


async def _read_form_body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != requests.FORM_CONTENT_TYPE:
        raise InvalidInput("form", "has an unknown content type; submit it from the page")
    body = await read_body(request, requests.FORM_MAX_BYTES)
    if body is None:
        raise InvalidInput("form", "is too large; write less, or select fewer at once")
    return body


def _redirect_to_sign_in(request: Request, site: Site) -> Response:
    if FRAGMENT_HEADER in request.headers:  # the script reloads the page on 204
        return Response(status_code=204, headers=PAGE_HEADERS)
    if sessions.get_session_cookie(request) is None:
        # Keep the cookies: SameSite=Strict withholds them when a link is opened from another site.
        return RedirectResponse(SIGN_IN_PATH, _SEE_OTHER, PAGE_HEADERS)
    answer = RedirectResponse(f"{SIGN_IN_PATH}?ended=1", _SEE_OTHER, PAGE_HEADERS)
    sessions.delete_cookies(answer, request, site.settings)
    return answer


# Sign in with a one-time link, and sign out.

sign_in_pages = PageGroup()


@sign_in_pages.get(SIGN_IN_PATH, who=PageAccess.PUBLIC)
def show_sign_in(asked: PageRequest, refused: bool = False) -> Response:
    """Show a button for the link: link previews of messengers must not use it up."""
    return asked.render(
        "sign_in.html",
        token=None if refused else asked.query.line("token"),
        ended=not refused and asked.query.flag("ended"),
        left=not refused and asked.query.flag("left"),
        bots=bool(asked.site.settings.console.url),  # without it, bots send no links
        refused=refused,
        status=403 if refused else 200,
    )


@sign_in_pages.post(SIGN_IN_PATH, who=PageAccess.PUBLIC)
def post_sign_in(asked: PageRequest) -> Response:
    site = asked.site
    try:
        made = site.memory.console.sign_in(asked.form.line("token") or "")
    except SignInRefused:
        return show_sign_in(asked, refused=True)
    before = sessions.get_session_cookie(asked.request)
    if before is not None:
        site.memory.console.sign_out(before)
    answer = asked.redirect("/")
    sessions.set_session_cookie(answer, asked.request, made.cookie, site.settings)
    return answer


@sign_in_pages.post("/sign-out", who=PageAccess.BOTH)
def post_sign_out(asked: PageRequest) -> Response:
    cookie = sessions.get_session_cookie(asked.request)
    if cookie is not None:
        asked.site.memory.console.sign_out(cookie)
    answer = asked.redirect("/sign-in?left=1")
    sessions.delete_cookies(answer, asked.request, asked.site.settings)
    return answer


# All page groups, in the order of the navigation.

PAGE_GROUPS: tuple[PageGroup, ...] = (
    memories.pages,
    visibility.pages,
    people.pages,
    overview.pages,
    review.pages,
    overview.prompt_pages,
    admin.pages,
    sign_in_pages,
)


_OTHER_PREFIXES = ("/api/", "/mcp", "/health/", "/metrics", "/openapi.json", "/docs", "/assets/")


def mount_console(app: FastAPI) -> None:
    """Add the console's routes to an app that has not started."""
    site = Site(app.state.memory, app.state.settings, PAGE_GROUPS)
    routes = app.router.routes
    for route in (route for group in PAGE_GROUPS for route in group.routes):
        respond = PageEndpoint(site, route).respond
        routes.append(Route(route.path, respond, methods=[route.method], include_in_schema=False))
    routes.append(Route(rendering.ASSET_PATH, site.assets.respond, include_in_schema=False))
    app.state.while_open.append(site.tasks.lifespan)
    app.state.lost = PageEndpoint(site, _NOT_FOUND_ROUTE).respond


def wants_html_page(request: Request) -> bool:
    """Whether a browser, not a program, requested a path outside the API."""
    path = request.url.path
    return "text/html" in request.headers.get("accept", "") and not path.startswith(_OTHER_PREFIXES)


def _raise_not_found(_: PageRequest, **__: str) -> Response:
    raise NotFound("page")


_NOT_FOUND_ROUTE = PageRoute(method="GET", path="", handler=_raise_not_found, who=PageAccess.BOTH)
