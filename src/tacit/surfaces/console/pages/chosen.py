"""What is done to several memories at once. Each is done or refused by itself, and it is said which
were not done and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from starlette.responses import Response

from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.limits import BULK_PREVIEW_MAX_COUNT, BULK_SELECTION_MAX_COUNT
from tacit.records.memory import Memory, Visibility
from tacit.surfaces.console import acting, naming, previewing, searching
from tacit.surfaces.console.acting import Done
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.cookies import Note
from tacit.surfaces.console.pages.erasing import WORD, check_word
from tacit.surfaces.console.routes import Pages, Said, Who
from tacit.surfaces.console.visitor import Visitor

T = TypeVar("T")
pages = Pages(
    flashes={"none-chosen": Said(one="Nothing was done: choose some of them, then what to do.")}
)
ACTS: Mapping[str, tuple[Callable[[Visitor, str], Done], str]] = {
    "forget": (acting.forget, "forgotten"),
    "restore": (acting.restore, "restored"),
    "pin": (acting.pin, "pinned"),
    "unpin": (acting.unpin, "unpinned"),
}
_FOR_PEOPLE = ("pin", "unpin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """One that nothing was done to. None: it is not there any more."""

    memory: Memory | None
    why: str


@pages.post("/chosen", who=Who.BOTH)
def act(asked: Asked) -> Response:
    ids, back = _chosen(asked), searching.address(asked, "/")
    wanted = asked.form.line("act") or ""
    if not ids or wanted == "nothing":
        return asked.redirect(back, said="none-chosen")
    if wanted == "erase":
        return ask_to_erase(asked)
    if wanted == "visibility":
        to = asked.form.choice("to", Visibility)
        if to is None:
            raise InvalidInput("to", "choose who may hear them")
        raised = [] if asked.form.line("sure") == to else _raised(asked, to)
        if raised:
            return ask_to_raise(asked, to, raised)
        return _done(asked, lambda v, id: acting.set_visibility(v, id, to), "visibility")
    if wanted not in ACTS or (asked.visitor.is_operator and wanted in _FOR_PEOPLE):
        raise NotFound("page")
    return _done(asked, *ACTS[wanted])


def ask_to_erase(asked: Asked) -> Response:
    """On a page of its own, which shows what would go; nothing is done yet."""
    memories, refused = _each(asked, lambda id: acting.memory_of(asked.visitor, id))
    return asked.render(
        "chosen_erase.html",
        memories=memories,
        refused=refused,
        word=WORD,
        action=searching.address(asked, "/chosen/erase"),
        back=searching.address(asked, "/"),
    )


def ask_to_raise(asked: Asked, to: Visibility, raised: list[Memory]) -> Response:
    """On a page of its own, which shows who could hear them then; nothing is done yet."""
    memories, refused = _each(asked, lambda id: acting.memory_of(asked.visitor, id))
    words, names = asked.visitor.api, naming.names_for(asked.visitor)
    looked_at = raised[:BULK_PREVIEW_MAX_COUNT]
    return asked.render(
        "chosen_raise.html",
        memories=memories,
        refused=refused,
        raised=raised,
        gained=previewing.gained(
            previewing.compared(words.hearers(one.id), words.hearers(one.id, visibility=to), names)
            for one in looked_at
        ),
        looked_at=len(looked_at),
        to=to,
        action=searching.address(asked, "/chosen"),
        back=searching.address(asked, "/"),
    )


def _raised(asked: Asked, to: Visibility) -> list[Memory]:
    """Those that more would hear. An operator raises nothing, and is told so for each."""
    if asked.visitor.is_operator:
        return []
    memories, _ = _each(asked, lambda id: acting.memory_of(asked.visitor, id))
    return [one for one in memories if one.visibility.rank < to.rank]


@pages.post("/chosen/erase", who=Who.BOTH, again=ask_to_erase)
def erase(asked: Asked) -> Response:
    check_word(asked)
    erased, refused = _each(asked, lambda id: acting.erase(asked.visitor, id))
    back = searching.address(asked, "/")
    return asked.render("erased.html", erased=erased, refused=refused, back=back)


def _done(asked: Asked, act: Callable[[Visitor, str], Done], said: str) -> Response:
    done, refused = _each(asked, lambda id: act(asked.visitor, id))
    changed = [one for one in done if one.changed]
    marks = [mark for one in changed for mark in one.undo_tokens]
    back = searching.address(asked, "/")
    if refused:
        note = Note(key=said, ids=tuple(marks), count=len(changed))
        did = asked.site.show_flash(note) if changed else None
        return asked.render(
            "chosen_refused.html",
            did=did,
            done=len(changed),
            already=len(done) - len(changed),
            refused=refused,
            back=back,
        )
    word = said if changed else "unchanged"
    return asked.redirect(back, said=word, ids=marks, count=len(changed))


def _each(asked: Asked, act: Callable[[str], T]) -> tuple[list[T], list[Refused]]:
    done: list[T] = []
    refused: list[Refused] = []
    for id in _chosen(asked):
        try:
            done.append(act(id))
        except NotFound:
            refused.append(Refused(memory=None, why="it is not there any more"))
        except (Conflict, InvalidInput) as why:
            says = why.problem if isinstance(why, InvalidInput) else str(why)
            refused.append(Refused(memory=acting.memory_of(asked.visitor, id), why=says))
    return done, refused


def _chosen(asked: Asked) -> tuple[str, ...]:
    ids = asked.form.many("id")
    if len(ids) > BULK_SELECTION_MAX_COUNT:
        raise InvalidInput("id", f"choose at most {BULK_SELECTION_MAX_COUNT} at once")
    return ids
