"""What waits for a person's yes: what would be kept, why it is asked about, what would give way,
and whether others would hear it then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from tacit import limits
from tacit.errors import NotFound
from tacit.memory import DisabledView, View
from tacit.records.memory import Memory
from tacit.records.results import Proposal
from tacit.surfaces.console import diffing
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.diffing import Piece
from tacit.surfaces.console.routes import Pages, Said, Who

PATH = "/proposals"
pages = Pages(
    flashes={
        "approved": Said(one="You said yes: it is so from now on."),
        "declined": Said(one="You said no. You are not asked again for a while."),
        "settled": Said(
            one="That question is settled already, or nobody answered it in time. Nothing was done."
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    proposal: Proposal
    kept: Memory | None  # as it would be kept
    change: Sequence[Piece]  # from what would give way; empty where nothing would


@pages.get(PATH, who=Who.PERSON, nav="Proposals")
def show(asked: Asked) -> Response:
    """The oldest; whoever answers them is shown the next."""
    view = asked.visitor.view
    waiting = view.proposals()
    shown = [_question(view, one) for one in waiting[: limits.PAGE_DEFAULT_COUNT]]
    return asked.render("proposals.html", questions=shown, left=len(waiting) - len(shown))


@pages.post(f"{PATH}/{{id}}/approve", who=Who.PERSON, again=lambda asked, **_: show(asked))
def approve(asked: Asked, id: str) -> Response:
    return _answered(asked, asked.visitor.view.approve, id, "approved")


@pages.post(f"{PATH}/{{id}}/decline", who=Who.PERSON, again=lambda asked, **_: show(asked))
def decline(asked: Asked, id: str) -> Response:
    return _answered(asked, asked.visitor.view.decline, id, "declined")


def _answered(asked: Asked, answer: Callable[[str], None], id: str, done: str) -> Response:
    try:
        answer(id)
    except NotFound:  # answered on another page, or too late: not worth a page that says no
        done = "settled"
    return asked.redirect(PATH, said=done)


def _question(view: View | DisabledView, one: Proposal) -> Question:
    before = None if one.replaces is None or one.widens else _held(view, one.replaces)
    change = () if before is None else diffing.between(before.content, one.content)
    return Question(proposal=one, kept=_held(view, one.id), change=change)


def _held(view: View | DisabledView, id: str) -> Memory | None:
    """None: gone since, or not this person's to see."""
    try:
        return view.show(id)
    except NotFound:
        return None
