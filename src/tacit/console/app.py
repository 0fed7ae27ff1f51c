"""Mount the console: authorize and answer its requests, sign in and out, show errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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

# Every error as a page. What is not there and what is not for the visitor is one page, to the
# letter.

ERROR_TEMPLATE, ERROR_FRAGMENT = "refused.html", "refused_part.html"


class SignInRequired(Exception):
    """Nobody is signed in, and the page is for somebody."""


class StaleForm(Exception):
    """A form that our pages did not send, or sent in another sitting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorText:
    heading: str
    says: str


NOT_FOUND = ErrorText(
    heading="Nothing is here",
    says="There is no such page, or it is not for you to see.",
)
_ERROR_TEXTS = {
    403: NOT_FOUND,
    404: NOT_FOUND,
    409: ErrorText(heading="It has changed meanwhile", says="Load the page again, then try again."),
    422: ErrorText(heading="That cannot be used", says="Go back, change it, and try again."),
    429: ErrorText(
        heading="That was a lot at once", says="Wait a moment, then load the page again."
    ),
    503: ErrorText(heading="Not now", says="The memory is busy. Try again in a moment."),
}
_STALE_FORM = ErrorText(
    heading="This form is out of date",
    says="You have signed in anew since it was loaded, or it came from another page. Go back, load "
    "the page again, and send it from there. Nothing was done.",
)
_INTERNAL_ERROR = ErrorText(
    heading="Something went wrong",
    says="It is not your fault. Whoever runs this server finds more about it under this number.",
)


def error_page(site: Site, request: Request, error: Exception) -> Response:
    asked = PageRequest(site=site, request=request, signed_in=request.state.visitor)
    if isinstance(error, StaleForm):
        return _render_error(asked, _STALE_FORM, 403)
    # The wire's own answer says which status it is, and what was unexpected is logged there.
    answer = error_response(error, request.state.request_id)
    status = 404 if answer.status_code == 403 else answer.status_code
    refusal = _ERROR_TEXTS.get(status)
    if refusal is None:
        return _render_error(asked, _INTERNAL_ERROR, status, number=request.state.request_id)
    plain = isinstance(error, TacitError) and refusal is not NOT_FOUND
    shown = _render_error(
        asked, refusal, status, detail=labels.error_sentence(error) if plain else None
    )
    if "retry-after" in answer.headers:
        shown.headers["Retry-After"] = answer.headers["retry-after"]
    return shown


def _render_error(
    asked: PageRequest,
    refusal: ErrorText,
    status: int,
    *,
    detail: str | None = None,
    number: str | None = None,
) -> Response:
    return asked.render(
        ERROR_TEMPLATE,
        fragment=ERROR_FRAGMENT,
        status=status,
        refusal=refusal,
        detail=detail,
        number=number,
    )


# The way of one request for a page: who asks, whether it is theirs to see, whether the form is
# ours; then the handler, in a thread of the pool. Whatever goes wrong is a page too.

SIGN_IN_PATH = "/sign-in"
_SEE_OTHER = 303
_SAME_ORIGIN = ("same-origin", "none")  # what browsers say of requests that our own pages make
CSRF_FIELD, CSRF_HEADER = "csrf", "x-csrf-token"


class PageEndpoint:
    """One page, or one thing that is done on it, as Starlette runs it."""

    def __init__(self, site: Site, declared: PageRoute) -> None:
        self._site = site
        self._route = declared

    async def respond(self, request: Request) -> Response:
        request.state.visitor = None
        try:
            written = b""
            if self._route.method == "POST":  # nobody fills our memory before we know them
                await run_in_threadpool(self._authorize, request)
                written = await _read_form_body(request)
            answer: Response = await run_in_threadpool(self._answer, request, written)
        except ClientDisconnect:
            raise
        except SignInRequired:
            answer = _redirect_to_sign_in(request, self._site)
        except Exception as error:  # noqa: BLE001 (told as a page, and logged by its kind)
            answer = await run_in_threadpool(error_page, self._site, request, error)
        return answer

    def _authorize(self, request: Request) -> Visitor | None:
        seated = self._site.visitor(request)
        request.state.visitor = seated
        self._site.check_rate_limit(request, seated)
        if seated is None and self._route.who is not PageAccess.ANYBODY:
            raise SignInRequired
        if not self._route.who.allows(seated):
            raise NotFound("page")
        return seated

    def _answer(self, request: Request, written: bytes) -> Response:
        declared = self._route
        posts = declared.method == "POST"
        asked = PageRequest(
            site=self._site,
            request=request,
            signed_in=request.state.visitor if posts else self._authorize(request),
            query=requests.parse_form(request.scope["query_string"]),
            form=requests.parse_form(written),
        )
        if posts:
            _check_csrf(asked, declared.who)
        parts: Mapping[str, str] = request.path_params
        try:
            return declared.handler(asked, **parts)
        except (InvalidInput, Conflict) as wrong:
            if declared.again is None:
                raise
            return declared.again(asked.with_error(wrong), **parts)


def _check_csrf(asked: PageRequest, who: PageAccess) -> None:
    """That one of our own pages sent it: by what the browser says, and by what only forms of this
    sitting hold. Hosts and origins were looked at before anything was routed. A link to sign in is
    followed from elsewhere, and its page does not know of a sitting: no cookie comes with it."""
    if asked.request.headers.get("sec-fetch-site", "none") not in _SAME_ORIGIN:
        raise StaleForm
    cookie = sessions.get_session_cookie(asked.request)
    sent = asked.request.headers.get(CSRF_HEADER) or asked.form.get(CSRF_FIELD)
    if who is not PageAccess.ANYBODY and (
        cookie is None or not sessions.is_csrf_token(cookie, sent)
    ):
        raise StaleForm


async def _read_form_body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != requests.FORM_CONTENT_TYPE:
        raise InvalidInput("form", "is not one of ours; send it from the page")
    found = await read_body(request, requests.FORM_MAX_BYTES)
    if found is None:
        raise InvalidInput("form", "is too large; write less, or choose fewer at once")
    return found


def _redirect_to_sign_in(request: Request, site: Site) -> Response:
    if FRAGMENT_HEADER in request.headers:  # a script: it loads the page anew
        return Response(status_code=204, headers=PAGE_HEADERS)
    if sessions.get_session_cookie(request) is None:
        # Nothing is taken back: who follows a link from elsewhere comes without a cookie they have.
        return RedirectResponse(SIGN_IN_PATH, _SEE_OTHER, PAGE_HEADERS)
    answer = RedirectResponse(f"{SIGN_IN_PATH}?ended=1", _SEE_OTHER, PAGE_HEADERS)
    sessions.delete_cookies(answer, request, site.settings)
    return answer


# Signing in with a link that works once, and out again.

sign_in_pages = PageGroup()
SIGN_IN_TEMPLATE = "sign_in.html"


@sign_in_pages.get("/sign-in", who=PageAccess.ANYBODY)
def show_sign_in(asked: PageRequest) -> Response:
    """With a link, a button: who only looks at the link, as messengers do, does not use it up."""
    return asked.render(
        SIGN_IN_TEMPLATE,
        token=asked.query.line("token"),
        ended=asked.query.flag("ended"),
        left=asked.query.flag("left"),
        bots=_bots_send_links(asked),
        refused=False,
    )


@sign_in_pages.post("/sign-in", who=PageAccess.ANYBODY)
def post_sign_in(asked: PageRequest) -> Response:
    site = asked.site
    try:
        made = site.memory.console.sign_in(asked.form.line("token") or "")
    except SignInRefused:
        return asked.render(
            SIGN_IN_TEMPLATE,
            token=None,
            ended=False,
            left=False,
            bots=_bots_send_links(asked),
            refused=True,
            status=403,
        )
    before = sessions.get_session_cookie(asked.request)
    if before is not None:
        site.memory.console.sign_out(before)
    answer = asked.redirect("/")
    sessions.set_session_cookie(answer, asked.request, made.cookie, site.settings)
    return answer


def _bots_send_links(asked: PageRequest) -> bool:
    """Whether they send links: only where they know of an address that people reach."""
    return bool(asked.site.settings.console.url)


@sign_in_pages.post("/sign-out", who=PageAccess.BOTH)
def post_sign_out(asked: PageRequest) -> Response:
    sitting = sessions.get_session_cookie(asked.request)
    if sitting is not None:
        asked.site.memory.console.sign_out(sitting)
    answer = asked.redirect("/sign-in?left=1")
    sessions.delete_cookies(answer, asked.request, asked.site.settings)
    return answer


# Every file of pages, in the order of the navigation.

PAGE_GROUPS: tuple[PageGroup, ...] = (
    memories.list_pages,
    memories.bulk_pages,
    memories.memory_pages,
    memories.edit_pages,
    visibility.visibility_pages,
    memories.erase_pages,
    memories.undo_pages,
    visibility.audience_pages,
    people.people_pages,
    people.merge_pages,
    overview.graph_pages,
    overview.activity_pages,
    review.review_pages,
    overview.prompt_pages,
    overview.access_log_pages,
    admin.job_pages,
    admin.doctor_pages,
    admin.key_pages,
    admin.settings_pages,
    sign_in_pages,
)


# The console in the app of `surfaces.rest`: its routes, which the document of the API does not
# tell of, and the page for whatever is not there.

_OTHER_PREFIXES = ("/api/", "/mcp", "/health/", "/metrics", "/openapi.json", "/docs", "/assets/")


def mount_console(app: FastAPI) -> None:
    """Before it starts."""
    site = Site(app.state.memory, app.state.settings, PAGE_GROUPS)
    routes = app.router.routes
    for topic in PAGE_GROUPS:
        for one in topic.routes:
            routes.append(
                Route(
                    one.path,
                    PageEndpoint(site, one).respond,
                    methods=[one.method],
                    include_in_schema=False,
                )
            )
    routes.append(
        Route(rendering.ASSET_PATH, site.assets.respond, methods=["GET"], include_in_schema=False)
    )
    app.state.while_open.append(site.tasks.lifespan)
    app.state.lost = PageEndpoint(site, _NOT_FOUND_ROUTE).respond


def wants_html_page(request: Request) -> bool:
    """Whether it is a person with a browser who found nothing there."""
    path = request.url.path
    return "text/html" in request.headers.get("accept", "") and not path.startswith(_OTHER_PREFIXES)


def _raise_not_found(_: PageRequest, **__: str) -> Response:
    """Also where there is a form of that address, and it is not sent but looked for."""
    raise NotFound("page")


_NOT_FOUND_ROUTE = PageRoute(
    method="GET", path="", handler=_raise_not_found, who=PageAccess.BOTH, nav=None, again=None
)
