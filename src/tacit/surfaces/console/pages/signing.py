"""Signing in with a link that works once, and out again."""

from __future__ import annotations

from starlette.responses import Response

from tacit.errors import SignInRefused
from tacit.surfaces.console import cookies
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Who

pages = Pages()
TEMPLATE = "sign_in.html"


@pages.get("/sign-in", who=Who.ANYBODY)
def show(asked: Asked) -> Response:
    """With a link, a button: who only looks at the link, as messengers do, does not use it up."""
    return asked.render(
        TEMPLATE,
        token=asked.query.line("token"),
        ended=asked.query.flag("ended"),
        left=asked.query.flag("left"),
        bots=_bots(asked),
        refused=False,
    )


@pages.post("/sign-in", who=Who.ANYBODY)
def sign_in(asked: Asked) -> Response:
    site = asked.site
    try:
        made = site.memory.sign_in(asked.form.line("token") or "")
    except SignInRefused:
        return asked.render(
            TEMPLATE,
            token=None,
            ended=False,
            left=False,
            bots=_bots(asked),
            refused=True,
            status=403,
        )
    before = cookies.sitting_of(asked.request)
    if before is not None:
        site.memory.sign_out(before)
    answer = asked.redirect("/")
    cookies.give(answer, asked.request, made.cookie, site.settings)
    return answer


def _bots(asked: Asked) -> bool:
    """Whether they send links: only where they know of an address that people reach."""
    return bool(asked.site.settings.console.url)


@pages.post("/sign-out", who=Who.BOTH)
def sign_out(asked: Asked) -> Response:
    sitting = cookies.sitting_of(asked.request)
    if sitting is not None:
        asked.site.memory.sign_out(sitting)
    answer = asked.redirect("/sign-in?left=1")
    cookies.take_back(answer, asked.request, asked.site.settings)
    return answer
