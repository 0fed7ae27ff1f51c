"""One memory: all that is known of it, what became of its wording, and what can be done at once."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from tacit.errors import NotFound
from tacit.limits import TIMELINE_SHOWN_COUNT
from tacit.records.memory import HistoryEntry, Memory, State
from tacit.surfaces.console import acting, diffing, naming, plain
from tacit.surfaces.console.acting import Done
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.diffing import Piece
from tacit.surfaces.console.routes import Pages, Said, Who

pages = Pages(
    flashes={
        "forgotten": Said(
            one="It is forgotten.", many="{count} are forgotten.", undo="/undo/forgotten"
        ),
        "restored": Said(
            one="It is remembered again.",
            many="{count} are remembered again.",
            undo="/undo/restored",
        ),
        "pinned": Said(one="It is pinned.", many="{count} are pinned.", undo="/undo/pinned"),
        "unpinned": Said(
            one="It is no longer pinned.",
            many="{count} are no longer pinned.",
            undo="/undo/unpinned",
        ),
        "unchanged": Said(one="Nothing was changed: it was so already."),
    }
)
RESTORABLE = (State.FORGOTTEN, State.EXPIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One line of what became of a memory."""

    entry: HistoryEntry
    says: str
    pieces: tuple[Piece, ...]  # what changed in its wording; empty where nothing did


@pages.get("/memories/{id}", who=Who.BOTH)
def show(asked: Asked, id: str) -> Response:
    memory = acting.memory_of(asked.visitor, id)
    history = asked.visitor.api.history(id)
    earlier = asked.query.integer("earlier", 0, 0, len(history))
    shown, rest = _timeline(history, earlier)
    return asked.render(
        "memory.html",
        memory=memory,
        names=naming.names_for(asked.visitor, memory.subjects | memory.withheld_from),
        plain=plain,
        timeline=shown,
        earlier=earlier,
        older=rest,
        newer=_newer(asked, memory),
        restorable=memory.state in RESTORABLE,
        editable=memory.state is State.ACTIVE,
    )


def _newer(asked: Asked, memory: Memory) -> Memory | None:
    """What stands in its place, if that is theirs, too: hearsay gives way to whom it is about."""
    try:
        return acting.memory_of(asked.visitor, memory.superseded_by or "")
    except NotFound:
        return None


def _timeline(history: list[HistoryEntry], earlier: int) -> tuple[list[Moment], int | None]:
    """Newest first, from so many before the newest on; and where the next ones begin."""
    end = len(history) - earlier
    start = max(0, end - TIMELINE_SHOWN_COUNT)
    before = [None, *history][start:end]
    shown = [_moment(one, prior) for prior, one in zip(before, history[start:end], strict=True)]
    return shown[::-1], earlier + len(shown) if start > 0 else None


def _moment(entry: HistoryEntry, prior: HistoryEntry | None) -> Moment:
    now, then = entry.content or "", "" if prior is None else prior.content or ""
    pieces: tuple[Piece, ...] = ()
    if prior is None:
        pieces = (Piece(now),) if now else ()
    elif now != then:
        pieces = diffing.between(then, now)
    return Moment(entry=entry, says=plain.happened(entry), pieces=pieces)


def done(asked: Asked, what: Done, said: str) -> Response:
    """Back to the memory, which says what was done and how to take it back."""
    path = f"/memories/{what.id}"
    return asked.redirect(
        path, said=said if what.changed else "unchanged", ids=what.undo_tokens, count=1
    )


@pages.post("/memories/{id}/forget", who=Who.BOTH, again=show)
def forget(asked: Asked, id: str) -> Response:
    return done(asked, acting.forget(asked.visitor, id), "forgotten")


@pages.post("/memories/{id}/restore", who=Who.BOTH, again=show)
def restore(asked: Asked, id: str) -> Response:
    return done(asked, acting.restore(asked.visitor, id), "restored")


@pages.post("/memories/{id}/pin", who=Who.PERSON)
def pin(asked: Asked, id: str) -> Response:
    return done(asked, acting.pin(asked.visitor, id), "pinned")


@pages.post("/memories/{id}/unpin", who=Who.PERSON)
def unpin(asked: Asked, id: str) -> Response:
    return done(asked, acting.unpin(asked.visitor, id), "unpinned")
