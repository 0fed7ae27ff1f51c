"""Taking back what was just done, and no more than that: what was changed again since stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import Response

from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.limits import BULK_SELECTION_MAX_COUNT
from tacit.records.memory import Memory, State, Visibility
from tacit.surfaces.console import acting
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Said, Who
from tacit.surfaces.console.visitor import Visitor

pages = Pages(
    flashes={
        "undone": Said(one="It is as it was before.", many="{count} are as they were before."),
        "undone-in-part": Said(
            one="One is as it was before. The others were changed since, and stay as they are.",
            many="{count} are as they were before. The others were changed since, and stay.",
        ),
        "undone-here": Said(
            one="The earlier wording is back, as said here in private. What was said in the room "
            "stays replaced."
        ),
        "not-undone": Said(one="It was changed since, and stays as it is. Nothing was undone."),
    }
)


@pages.post("/undo/{what}", who=Who.BOTH)
def undo(asked: Asked, what: str) -> Response:
    marks = asked.form.many("id")
    if what not in UNDOES or not marks:
        raise NotFound("page")
    if len(marks) > BULK_SELECTION_MAX_COUNT:
        raise InvalidInput("id", f"choose at most {BULK_SELECTION_MAX_COUNT} at once")
    # A wording that took the place of an older memory is marked by both.
    groups = [marks] if what == "reworded" else [(one,) for one in marks]
    undone = 0
    for some in groups:
        try:
            UNDOES[what](asked.visitor, *some)
            undone += 1
        except (NotFound, Conflict, InvalidInput):
            continue
    if undone and what == "reworded" and len(marks) > 1:
        return asked.redirect(f"/memories/{acting.parts_of(marks[0], 2)[0]}", said="undone-here")
    return _told(asked, marks[0].partition("-")[0], undone, len(groups))


def _told(asked: Asked, first: str, undone: int, count: int) -> Response:
    said = "undone" if undone == count else "undone-in-part" if undone else "not-undone"
    return asked.redirect(f"/memories/{first}" if count == 1 else "/", said=said, count=undone)


def _forgotten(visitor: Visitor, id: str) -> None:
    _as_it_was(acting.memory_of(visitor, id).state is State.FORGOTTEN)
    acting.restore(visitor, id)


def _restored(visitor: Visitor, id: str) -> None:
    _as_it_was(acting.memory_of(visitor, id).state is State.ACTIVE)
    acting.forget(visitor, id)


def _pinned(visitor: Visitor, id: str) -> None:
    acting.unpin(visitor, id)


def _unpinned(visitor: Visitor, id: str) -> None:
    acting.pin(visitor, id)


def _visibility(visitor: Visitor, marked: str) -> None:
    id, before, since = acting.parts_of(marked, 3)
    _as_it_was(acting.memory_of(visitor, id).visibility == since)
    _as_it_was(before in {one.value for one in Visibility})
    acting.set_visibility(visitor, id, Visibility(before))


def _reworded(visitor: Visitor, marked: str, replaced: str | None = None) -> None:
    id, version = acting.parts_of(marked, 2)
    memory = acting.memory_of(visitor, id)
    _as_it_was(memory.state is State.ACTIVE and str(memory.version) == version)
    earlier = _earlier(visitor, memory) if replaced is None else _before(visitor, id, replaced)
    acting.reword(visitor, id, earlier, memory.version)


def _earlier(visitor: Visitor, memory: Memory) -> str:
    """The wording before this one."""
    for entry in reversed(visitor.api.history(memory.id)):
        if entry.version < memory.version and entry.content:
            return entry.content
    raise NotFound


def _before(visitor: Visitor, id: str, replaced: str) -> str:
    """The wording of the memory whose place it took."""
    old = acting.memory_of(visitor, replaced)
    _as_it_was(old.superseded_by == id)
    return old.content


def _as_it_was(left: bool) -> None:
    if not left:
        raise Conflict("it was changed since")


UNDOES: Mapping[str, Callable[..., None]] = {
    "forgotten": _forgotten,
    "restored": _restored,
    "pinned": _pinned,
    "unpinned": _unpinned,
    "visibility": _visibility,
    "reworded": _reworded,
}
