"""Review proposals: show what each would store or replace, approve or decline it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from tacit import limits
from tacit.console import diff
from tacit.console.diff import DiffPiece
from tacit.console.requests import PageRequest
from tacit.console.site import FlashText, PageAccess, PageGroup
from tacit.errors import NotFound
from tacit.memory import View
from tacit.records.memory import Memory
from tacit.records.results import Proposal

REVIEW_PATH = "/review"
pages = PageGroup(
    flashes={
        "approved": FlashText("Approved."),
        "declined": FlashText("Declined. It will not be proposed again for a while."),
        "settled": FlashText("It was answered already, or it expired. Nothing was changed."),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    proposal: Proposal
    kept: Memory | None  # as it would be stored
    change: Sequence[DiffPiece]  # from the memory it would replace; empty if there is none


@pages.get(
    REVIEW_PATH, who=PageAccess.PERSON, nav="Review", nav_count=lambda visitor: len(visitor.view.proposals.list())
)
def show_proposals(asked: PageRequest, **_: str) -> Response:
    """Show the oldest proposals; the next ones appear as these are answered."""
    view = asked.visitor.view
    waiting = view.proposals.list()
    shown = [_review_item(view, one) for one in waiting[: limits.PAGE_DEFAULT_COUNT]]
    return asked.render("review.html", questions=shown, left=len(waiting) - len(shown))


@pages.post(f"{REVIEW_PATH}/{{id}}/approve", who=PageAccess.PERSON, again=show_proposals)
def post_approve(asked: PageRequest, id: str) -> Response:
    return _answer_proposal(asked, asked.visitor.view.proposals.approve, id, "approved")


@pages.post(f"{REVIEW_PATH}/{{id}}/decline", who=PageAccess.PERSON, again=show_proposals)
def post_decline(asked: PageRequest, id: str) -> Response:
    return _answer_proposal(asked, asked.visitor.view.proposals.decline, id, "declined")


def _answer_proposal(asked: PageRequest, answer: Callable[[str], None], id: str, done: str) -> Response:
    try:
        answer(id)
    except NotFound:  # answered elsewhere, or expired: not an error
        done = "settled"
    return asked.redirect(REVIEW_PATH, flash=done)


def _review_item(view: View, one: Proposal) -> ReviewItem:
    before = None if one.replaces is None or one.widens else _find_memory(view, one.replaces)
    change = () if before is None else diff.diff_words(before.content, one.content)
    return ReviewItem(proposal=one, kept=_find_memory(view, one.id), change=change)


def _find_memory(view: View, id: str) -> Memory | None:
    """Return the memory, or None if it was deleted or this person may not see it."""
    try:
        return view.show(id)
    except NotFound:
        return None
