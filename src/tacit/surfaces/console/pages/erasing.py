"""Erasing one memory for good: by a word that is typed, and with a certificate of what went."""

from __future__ import annotations

from starlette.responses import Response

from tacit.errors import InvalidInput
from tacit.surfaces.console import acting
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Who

pages = Pages()
WORD = "erase"


@pages.get("/memories/{id}/erase", who=Who.BOTH)
def ask(asked: Asked, id: str) -> Response:
    return asked.render(
        "question.html",
        fragment="memory_erase.html",
        title="Erase it for good",
        part="memory_erase.html",
        memory=acting.memory_of(asked.visitor, id),
        word=WORD,
    )


@pages.post("/memories/{id}/erase", who=Who.BOTH, again=ask)
def erase(asked: Asked, id: str) -> Response:
    """Shown at once, and not on a page of its own: nothing of it is kept to be shown later."""
    check_word(asked)
    erased = acting.erase(asked.visitor, id, turns=asked.form.flag("turns"))
    return asked.render("erased.html", erased=[erased], refused=[], back="/")


def check_word(asked: Asked) -> None:
    if (asked.form.line("word") or "").casefold() != WORD:
        raise InvalidInput("word", f"type the word {WORD} as it is shown, or leave it")
