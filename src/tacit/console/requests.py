"""One request for a page: its form and search, its response and headers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

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


# What every answer of the console tells a browser: nothing comes from elsewhere, nothing runs that
# is not ours, nothing is framed, and nothing is kept.

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
    # Not no-referrer: under that, browsers send forms with the origin `null`, and whose form it is
    # could not be told. Other hosts learn nothing by this one either.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{one}=()" for one in _DENIED_FEATURES),
}
PAGE_HEADERS = {**SECURITY_HEADERS, "Cache-Control": "no-store"}


# What a form or the query of an address holds, read field by field. What is wrong is said of the
# field that it is wrong in; the library says what is wrong with a value itself.

E = TypeVar("E", bound=StrEnum)
FORM_CONTENT_TYPE = "application/x-www-form-urlencoded"
FORM_MAX_BYTES = 262_144  # the longest memory, percent-encoded, and what stands around it
FIELDS_MAX_COUNT = 1_000
_LINE_MAX_CHARS = 2_000


class Form(Mapping[str, str]):
    """As a mapping: the first value of each field."""

    def __init__(self, pairs: Sequence[tuple[str, str]] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def __getitem__(self, name: str) -> str:
        return self._values[name][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def text(self, name: str) -> str:
        """As it was written, with ends of lines as we keep them. Empty where it was left out."""
        found = self._values.get(name, [""])
        if len(found) > 1:
            raise InvalidInput(name, "is given more than once; give it once")
        return found[0].replace("\r\n", "\n")

    def line(self, name: str) -> str | None:
        """One line, without the blanks around it. None: nothing was written."""
        found = self.text(name).strip()
        if len(found) > _LINE_MAX_CHARS:
            raise InvalidInput(name, f"is too long; {_LINE_MAX_CHARS:,} characters are enough")
        return found or None

    def many(self, name: str) -> tuple[str, ...]:
        """Each value once, as those of check boxes."""
        return tuple(dict.fromkeys(one for one in self._values.get(name, ()) if one))

    def flag(self, name: str) -> bool:
        """A check box."""
        return self.line(name) is not None

    def choice(self, name: str, words: type[E]) -> E | None:
        found = self.line(name)
        if found is None:
            return None
        if found not in {one.value for one in words}:
            known = ", ".join(one.value for one in words)
            raise InvalidInput(name, f"is none of these: {known}; choose one")
        return words(found)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        found = self.line(name)
        if found is None:
            return default
        good = found.isascii() and found.isdigit() and len(found) <= 9
        if not good or not low <= int(found) <= high:
            raise InvalidInput(name, f"write a whole number from {low:,} to {high:,}")
        return int(found)

    def since(self, name: str) -> datetime | None:
        """The beginning of a day."""
        day = self._day(name)
        return None if day is None else datetime.combine(day, time(), UTC)

    def until(self, name: str) -> datetime | None:
        """The end of a day: it is meant with it."""
        begun = self.since(name)
        return None if begun is None else begun + timedelta(days=1)

    def _day(self, name: str) -> date | None:
        found = self.line(name)
        try:
            day = None if found is None else date.fromisoformat(found)
        except ValueError:
            raise InvalidInput(name, "is no day; write it as 2026-03-14") from None
        if day is not None and not 1970 <= day.year < 9000:
            raise InvalidInput(name, "is too far away; choose another day")
        return day


def parse_form(written: bytes) -> Form:
    try:
        found = parse_qsl(
            written.decode("latin-1"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=FIELDS_MAX_COUNT,
        )
    except ValueError:
        raise InvalidInput("form", "has too many fields; choose fewer at once") from None
    return Form(found)


# One request for a page, once it is known who asks: what its handler is given, and what it answers
# with.

FRAGMENT_HEADER = "x-tacit-fragment"  # sent by our scripts: the part that changes is enough
_SEE_OTHER = 303


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    site: Site
    request: Request
    signed_in: Visitor | None  # None: nobody is signed in
    query: Form = field(default_factory=Form)
    form: Form = field(default_factory=Form)
    wrong: TacitError | None = None  # what is wrong with the form that is shown again

    @property
    def visitor(self) -> Visitor:
        if self.signed_in is None:
            raise NotFound("page")
        return self.signed_in

    @property
    def is_fragment(self) -> bool:
        return FRAGMENT_HEADER in self.request.headers

    def render(
        self, template: str, *, fragment: str | None = None, status: int = 200, **values: Any
    ) -> Response:
        """`fragment`: the template of the part that scripts ask for alone."""
        only = fragment if self.is_fragment else None
        if self.is_fragment:
            status = 200  # it is shown where it belongs; browsers report anything else as a fault
        elif self.wrong is not None:
            status = wire.error_status(self.wrong)
        cookie = sessions.get_session_cookie(self.request) if self.signed_in is not None else None
        note = (
            sessions.read_flash(self.request, cookie) if cookie and not self.is_fragment else None
        )
        written = self.site.templates.render(
            only or template,
            {**values, **self._template_context(cookie), "said": self.site.show_flash(note)},
        )
        answer = HTMLResponse(
            written, status, PAGE_HEADERS | {"Vary": f"Cookie, {FRAGMENT_HEADER}"}
        )
        if sessions.FLASH_COOKIE in self.request.cookies and not self.is_fragment:
            sessions.delete_flash(answer, self.request, self.site.settings)
        return answer

    def redirect(
        self,
        path: str,
        *,
        said: str | None = None,
        ids: Iterable[str] = (),
        count: int | None = None,
    ) -> Response:
        """On to a page of ours, after something was done: `said` is what that says of it, one of
        the words that files of pages declare. `ids`: of what it was done to, for undoing it;
        `count`: how many that were, where not all have ids."""
        answer = RedirectResponse(path, _SEE_OTHER, PAGE_HEADERS)
        cookie = sessions.get_session_cookie(self.request)
        if said is not None and cookie is not None:
            about = tuple(ids)
            many = len(about) if count is None else count
            note = FlashMessage(key=self.site.check_flash_key(said), ids=about, count=many)
            sessions.set_flash(answer, self.request, self.site.settings, cookie, note)
        return answer

    def current_url(self, **changed: str | None) -> str:
        """The address of this page with other values in its query; None leaves one out."""
        values: Mapping[str, str | None] = {**self.query, **changed}
        kept = {name: value for name, value in values.items() if value}
        path = quote(self.request.url.path, safe="/:@")
        return f"{path}?{urlencode(kept)}" if kept else path

    def with_error(self, wrong: TacitError) -> PageRequest:
        return replace(self, wrong=wrong)

    def _template_context(self, cookie: str | None) -> dict[str, Any]:
        """What every template has."""
        return {
            "asked": self,
            "visitor": self.signed_in,
            "nav": self.site.navigation(self.signed_in),
            "path": self.request.url.path,
            "query": self.query,
            "form": self.form,
            "wrong": self.wrong,
            "here": self.current_url,
            "csrf": "" if cookie is None else sessions.csrf_token(cookie),
        }


# What is looked for, as an address says it: so that it can be kept, sent on and gone back to.

FILTERS = (
    "kind",
    "category",
    "about",
    "chat",
    "visibility",
    "sensitivity",
    "state",
    "pinned",
    "since",
    "until",
    "owner",
)
_SEARCH_FIELDS = ("words", *FILTERS, "cursor")
# Without one of these it is what is active.
STATE_CHOICES = {
    **{one.value: says for one, says in labels.STATE.items() if one is not State.ACTIVE},
    ANY_STATE: "In every state",
}


def parse_search(asked: PageRequest) -> Search:
    """The library says what is wrong with a value."""
    query = asked.query
    return Search(
        words=query.line("words"),
        category=query.line("category"),
        kind=query.line("kind"),
        about=query.line("about"),
        chat=query.line("chat"),
        visibility=query.line("visibility"),
        sensitivity=query.line("sensitivity"),
        state=query.line("state"),
        pinned=True if query.flag("pinned") else None,
        since=query.since("since"),
        until=query.until("until"),
        owner=query.line("owner") if asked.visitor.is_operator else None,
    )


def list_filter_choices(asked: PageRequest) -> dict[str, Any]:
    """What filters can be set to. An operator names people and rooms by their keys."""
    people, rooms = [], []
    if not asked.visitor.is_operator:
        view = asked.visitor.view
        people = sorted({labels.person_label(one) for one in view.people.list()}, key=str.casefold)
        rooms = [one.id for one in view.audience.chats()]
    return {
        "states": STATE_CHOICES,
        "categories": {
            name: labels.category_label(name) for name in category_names(asked.site.settings)
        },
        "people": people,
        "rooms": rooms,
    }


def count_filters(asked: PageRequest) -> int:
    """How many narrow what is found, besides words."""
    return sum(1 for name in FILTERS if asked.query.get(name))


def url_with_search(asked: PageRequest, path: str) -> str:
    """Of another page that keeps what is looked for here."""
    kept = {name: asked.query[name] for name in _SEARCH_FIELDS if asked.query.get(name)}
    return f"{path}?{urlencode(kept)}" if kept else path
