"""One request for a page, once it is known who asks: what its handler is given, and what it answers
with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tacit import wire
from tacit.errors import NotFound, TacitError
from tacit.surfaces.console import cookies
from tacit.surfaces.console.cookies import Note
from tacit.surfaces.console.forms import Form
from tacit.surfaces.console.headers import PAGE
from tacit.surfaces.console.visitor import Visitor

if TYPE_CHECKING:
    from tacit.surfaces.console.site import Site

FRAGMENT = "x-tacit-fragment"  # sent by our scripts: the part that changes is enough
_SEE_OTHER = 303


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
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
        return FRAGMENT in self.request.headers

    def render(
        self, template: str, *, fragment: str | None = None, status: int = 200, **values: Any
    ) -> Response:
        """`fragment`: the template of the part that scripts ask for alone."""
        only = fragment if self.is_fragment else None
        if self.is_fragment:
            status = 200  # it is shown where it belongs; browsers report anything else as a fault
        elif self.wrong is not None:
            status = wire.error_status(self.wrong)
        cookie = cookies.sitting_of(self.request) if self.signed_in is not None else None
        note = cookies.left(self.request, cookie) if cookie and not self.is_fragment else None
        written = self.site.templates.render(
            only or template,
            {**values, **self._template_context(cookie), "said": self.site.show_flash(note)},
        )
        answer = HTMLResponse(written, status, PAGE | {"Vary": f"Cookie, {FRAGMENT}"})
        if cookies.SAID in self.request.cookies and not self.is_fragment:
            cookies.forget_note(answer, self.request, self.site.settings)
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
        answer = RedirectResponse(path, _SEE_OTHER, PAGE)
        cookie = cookies.sitting_of(self.request)
        if said is not None and cookie is not None:
            about = tuple(ids)
            many = len(about) if count is None else count
            note = Note(key=self.site.check_flash_key(said), ids=about, count=many)
            cookies.leave(answer, self.request, self.site.settings, cookie, note)
        return answer

    def current_url(self, **changed: str | None) -> str:
        """The address of this page with other values in its query; None leaves one out."""
        values: Mapping[str, str | None] = {**self.query, **changed}
        kept = {name: value for name, value in values.items() if value}
        path = quote(self.request.url.path, safe="/:@")
        return f"{path}?{urlencode(kept)}" if kept else path

    def with_error(self, wrong: TacitError) -> Asked:
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
            "csrf": "" if cookie is None else cookies.form_token(cookie),
        }
