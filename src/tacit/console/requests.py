"""One request for a page: its form and search, its response and headers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tacit import wire
from tacit.console import labels, sessions
from tacit.console.sessions import FlashMessage, Visitor
from tacit.errors import InvalidInput, NotFound, TacitError
from tacit.records.memory import State
from tacit.records.queries import ANY_STATE, Search
from tacit.settings import category_names

if TYPE_CHECKING:
    from tacit.console.site import Site


# Response headers: load and run nothing from other hosts, allow no framing, cache nothing.

_CONTENT_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
)
_DENIED_FEATURES = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")

SECURITY_HEADERS = {
    "Content-Security-Policy": "; ".join(_CONTENT_POLICY),
    # Not no-referrer: with that, browsers submit forms with the origin `null`, which cannot be
    # checked. same-origin also sends nothing to other hosts.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{one}=()" for one in _DENIED_FEATURES),
}
PAGE_HEADERS = {**SECURITY_HEADERS, "Cache-Control": "no-store"}


# Parsing of forms and query strings. Errors name the field; the library validates values itself.

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")
FORM_CONTENT_TYPE = "application/x-www-form-urlencoded"
FORM_MAX_BYTES = 262_144  # the longest memory, percent-encoded, and the other fields
FIELDS_MAX_COUNT = 1_000
_LINE_MAX_CHARS = 2_000


class Form(ImmutableMultiDict[str, str]):
    """The fields of a form or of a query string."""

    def text(self, name: str) -> str:
        """Return the value with LF line ends; empty if missing."""
        found = self.getlist(name)
        if len(found) > 1:
            raise InvalidInput(name, "is given more than once; give it once")
        return "".join(found).replace("\r\n", "\n")

    def line(self, name: str) -> str | None:
        """Return the stripped value, or None if it is empty."""
        found = self.text(name).strip()
        if len(found) > _LINE_MAX_CHARS:
            raise InvalidInput(name, f"is too long; {_LINE_MAX_CHARS:,} characters are enough")
        return found or None

    def many(self, name: str) -> tuple[str, ...]:
        """Return the distinct values of check boxes."""
        return tuple(dict.fromkeys(filter(None, self.getlist(name))))

    def flag(self, name: str) -> bool:
        """Whether a check box is checked."""
        return self.line(name) is not None

    def choice(self, name: str, choices: type[E]) -> E | None:
        found = self.line(name)
        if found is None:
            return None
        if found not in {one.value for one in choices}:
            known = ", ".join(one.value for one in choices)
            raise InvalidInput(name, f"is none of these: {known}; choose one")
        return choices(found)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        found = self.line(name)
        if found is None:
            return default
        good = found.isascii() and found.isdigit() and len(found) <= 9
        if not good or not low <= int(found) <= high:
            raise InvalidInput(name, f"write a whole number from {low:,} to {high:,}")
        return int(found)

    def since(self, name: str) -> datetime | None:
        """Return the start of the given day."""
        found = self.line(name)
        try:
            day = None if found is None else date.fromisoformat(found)
        except ValueError:
            raise InvalidInput(name, "is not a date; write it as 2026-03-14") from None
        if day is not None and not 1970 <= day.year < 9000:
            raise InvalidInput(name, "is out of range; choose another date")
        return None if day is None else datetime.combine(day, time(), UTC)

    def until(self, name: str) -> datetime | None:
        """Return the end of the given day, which is included."""
        start = self.since(name)
        return None if start is None else start + timedelta(days=1)


def parse_form(body: bytes) -> Form:
    try:
        found = parse_qsl(
            body.decode("latin-1"), keep_blank_values=True, errors="replace", max_num_fields=FIELDS_MAX_COUNT
        )
    except ValueError:
        raise InvalidInput("form", "has too many fields; select fewer at once") from None
    return Form(found)


FRAGMENT_HEADER = "x-tacit-fragment"  # sent by our scripts, which need only the changing part
_SEE_OTHER = 303


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """One authorized request for a page, and the ways to answer it."""

    site: Site
    request: Request
    signed_in: Visitor | None
    query: Form = field(default_factory=Form)
    form: Form = field(default_factory=Form)
    wrong: TacitError | None = None  # the error of the form that is shown again
    nav_counts: bool = True  # whether the navigation shows counts, which queries the storage

    @property
    def visitor(self) -> Visitor:
        if self.signed_in is None:
            raise NotFound("page")
        return self.signed_in

    @property
    def is_fragment(self) -> bool:
        return FRAGMENT_HEADER in self.request.headers

    def render(self, template: str, *, fragment: str | None = None, status: int = 200, **values: Any) -> Response:
        """Render a page, or for a script only the template `fragment`."""
        only = fragment if self.is_fragment else None
        if self.is_fragment:
            status = 200  # the script shows the error in place; browsers would log other statuses
        elif self.wrong is not None:
            status = wire.error_status(self.wrong)
        cookie = sessions.get_session_cookie(self.request) if self.signed_in is not None else None
        flash = sessions.read_flash(self.request, cookie) if cookie and not self.is_fragment else None
        html = self.site.templates.render(
            only or template, {**values, **self._template_context(cookie), "flash": self.site.show_flash(flash)}
        )
        answer = HTMLResponse(html, status, PAGE_HEADERS | {"Vary": f"Cookie, {FRAGMENT_HEADER}"})
        if sessions.FLASH_COOKIE in self.request.cookies and not self.is_fragment:
            sessions.delete_flash(answer, self.request, self.site.settings)
        return answer

    def render_form(self, part: str, title: str, **values: Any) -> Response:
        """Render a form as a page of its own, or for a dialog only its part."""
        return self.render("form_page.html", fragment=part, title=title, part=part, **values)

    def attempt(self, read: Callable[[], T], otherwise: Any) -> tuple[PageRequest, T]:
        """Read what the visitor asked for; if that is invalid, show the error and `otherwise`."""
        try:
            return self, read()
        except InvalidInput as wrong:
            return self.with_error(wrong), otherwise

    def redirect(
        self, path: str, *, flash: str | None = None, ids: Iterable[str] = (), count: int | None = None
    ) -> Response:
        """Redirect to a page of the console after an action.

        `flash`: the key of the message that it shows; `ids`: what the action changed, to undo it;
        `count`: how many that were, if not all have ids.
        """
        answer = RedirectResponse(path, _SEE_OTHER, PAGE_HEADERS)
        cookie = sessions.get_session_cookie(self.request)
        if flash is not None and cookie is not None:
            changed = tuple(ids)
            many = len(changed) if count is None else count
            if flash not in self.site.flashes:
                raise LookupError(flash)
            message = FlashMessage(key=flash, ids=changed, count=many)
            sessions.set_flash(answer, self.request, self.site.settings, cookie, message)
        return answer

    def current_url(self, **changed: str | None) -> str:
        """Return the URL of this page with changed query values; None removes one."""
        values: Mapping[str, str | None] = {**self.query, **changed}
        kept = {name: value for name, value in values.items() if value}
        path = quote(self.request.url.path, safe="/:@")
        return f"{path}?{urlencode(kept)}" if kept else path

    def with_error(self, wrong: TacitError) -> PageRequest:
        return replace(self, wrong=wrong)

    def _template_context(self, cookie: str | None) -> dict[str, Any]:
        """Return the values that every template gets."""
        return {
            "asked": self,
            "visitor": self.signed_in,
            "nav": [] if self.is_fragment else self.site.navigation(self.signed_in, counts=self.nav_counts),
            "path": self.request.url.path,
            "query": self.query,
            "form": self.form,
            "wrong": self.wrong,
            "here": self.current_url,
            "csrf": "" if cookie is None else sessions.csrf_token(cookie),
        }


# The search of a list, kept in the query string so that it can be bookmarked.

FILTERS = tuple(one.name for one in fields(Search) if one.name != "words")
_SEARCH_FIELDS = ("words", *FILTERS, "cursor")
# The default is active.
STATE_CHOICES = {**{one.value: says for one, says in labels.STATE.items() if one is not State.ACTIVE}, ANY_STATE: "Any"}


def parse_search(asked: PageRequest) -> Search:
    query, typed = asked.query, ("words", "category", "kind", "about", "chat", "visibility",
                                 "sensitivity", "state")  # fmt: skip
    return Search(
        **{name: query.line(name) for name in typed},
        pinned=True if query.flag("pinned") else None,
        since=query.since("since"),
        until=query.until("until"),
        owner=query.line("owner") if asked.visitor.is_operator else None,
    )


def list_filter_choices(asked: PageRequest) -> dict[str, Any]:
    """Return the values for the filters. An operator types external keys instead."""
    people, groups = [], []
    if not asked.visitor.is_operator:
        view = asked.visitor.view
        people = sorted({labels.person_label(one) for one in view.people.list()}, key=str.casefold)
        groups = [one.id for one in view.audience.chats()]
    return {
        "states": STATE_CHOICES,
        "categories": {name: labels.category_label(name) for name in category_names(asked.site.settings)},
        "people": people,
        "groups": groups,
    }


def count_filters(asked: PageRequest) -> int:
    """Count the filters in use, besides the text."""
    return sum(1 for name in FILTERS if asked.query.get(name))


def url_with_search(asked: PageRequest, path: str) -> str:
    """Return the URL of another page with the search of this one."""
    kept = {name: asked.query[name] for name in _SEARCH_FIELDS if asked.query.get(name)}
    return f"{path}?{urlencode(kept)}" if kept else path
