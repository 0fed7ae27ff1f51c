"""Other words for a memory. Where somebody else was quicker, both wordings are shown, and none is
lost."""

from __future__ import annotations

from starlette.responses import Response

from tacit import limits
from tacit.errors import Conflict
from tacit.records.memory import ChatKind, State
from tacit.surfaces.console import acting, diffing
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.pages.memory import done
from tacit.surfaces.console.routes import Pages, Said, Who

pages = Pages(flashes={"reworded": Said(one="The wording is changed.", undo="/undo/reworded")})
_VERSION_MAX = 2**31


@pages.get("/memories/{id}/edit", who=Who.BOTH)
def ask(asked: Asked, id: str) -> Response:
    memory = acting.memory_of(asked.visitor, id)
    written = asked.form.text("content") if asked.wrong else memory.content
    overtaken = isinstance(asked.wrong, Conflict) and memory.state is State.ACTIVE
    return asked.render(
        "question.html",
        fragment="memory_edit.html",
        title="Change the wording",
        part="memory_edit.html",
        memory=memory,
        written=written,
        most_chars=limits.CONTENT_MAX_CHARS,
        leaves_room=memory.learned_kind is ChatKind.GROUP and not asked.visitor.is_operator,
        overtaken=diffing.between(memory.content, written) if overtaken else None,
    )


@pages.post("/memories/{id}/edit", who=Who.BOTH, again=ask)
def reword(asked: Asked, id: str) -> Response:
    version = asked.form.integer("version", 1, 1, _VERSION_MAX)
    content = asked.form.text("content")
    return done(asked, acting.reword(asked.visitor, id, content, version), "reworded")
