"""Keys of programs to the space: which there are, making one, and revoking one."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from tacit import Page, limits
from tacit.clock import system_clock
from tacit.errors import NotFound
from tacit.records.accounts import Key, Scope
from tacit.settings import category_names
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Said, Who

PATH = "/keys"
pages = Pages(flashes={"revoked": Said(one="The key opens nothing any more.")})
SCOPES = {
    Scope.READ: "Read what may be heard",
    Scope.WRITE: "Remember, change and forget",
    Scope.ERASE: "Erase for good",
    Scope.ADMIN: "Look after the space: links, events, jobs, counts, metrics",
    Scope.ACT_AS: "Say who asks and where, for anybody",
}


@pages.get(PATH, who=Who.OPERATOR, nav="Keys")
def show(asked: Asked) -> Response:
    newest = asked.visitor.memory.keys()[::-1]
    found = _page(newest, asked.query.line("cursor"))
    return asked.render("keys.html", found=found, now=system_clock(), scopes=SCOPES)


@pages.get(f"{PATH}/new", who=Who.OPERATOR)
def ask(asked: Asked) -> Response:
    return asked.render(
        "key_new.html",
        fragment="key_form.html",
        scopes=SCOPES,
        categories=category_names(asked.site.settings),
        most_days=limits.API_KEY_MAX_DAYS,
    )


@pages.post(PATH, who=Who.OPERATOR, again=ask)
def create(asked: Asked) -> Response:
    """The token is in this answer and nowhere else: there is no page to go on to that has it."""
    form = asked.form
    made = asked.visitor.memory.create_key(
        form.line("name") or "",
        scopes=form.many("scopes"),
        requester=form.line("requester"),
        agent=form.line("agent"),
        categories=form.many("categories") or None,
        expires_days=_whole(asked, "expires_days", limits.API_KEY_MAX_DAYS),
        rate_per_minute=_whole(asked, "rate_per_minute", limits.SERVER_RATE_HIGHEST_PER_MINUTE),
    )
    return asked.render("key_made.html", made=made)


@pages.get(f"{PATH}/{{id}}/revoke", who=Who.OPERATOR)
def ask_revoke(asked: Asked, id: str) -> Response:
    every = asked.visitor.memory.keys()
    key = next((one for one in every if one.id == id), None)
    if key is None or key.revoked_at is not None:
        raise NotFound("key")
    return asked.render("key_revoke.html", fragment="key_revoke_form.html", key=key)


@pages.post(f"{PATH}/{{id}}/revoke", who=Who.OPERATOR)
def revoke(asked: Asked, id: str) -> Response:
    asked.visitor.memory.revoke_key(id)
    return asked.redirect(PATH, said="revoked")


def _page(keys: Sequence[Key], cursor: str | None) -> Page[Key]:
    """Those after the one that the cursor names."""
    places = [at for at, one in enumerate(keys) if one.id == cursor]
    start = places[0] + 1 if places else 0
    items = tuple(keys[start : start + limits.PAGE_DEFAULT_COUNT])
    more = len(keys) > start + len(items)
    return Page(items=items, cursor=items[-1].id if more else None)


def _whole(asked: Asked, name: str, most: int) -> int | None:
    return None if asked.form.line(name) is None else asked.form.integer(name, 1, 1, most)
