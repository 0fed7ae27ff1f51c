"""What is wrong with the space, in plain words. Looking takes a while where much is remembered, so
that it is begun by a button, and what it found is kept until the next time."""

from __future__ import annotations

from starlette.responses import Response

from tacit.records.results import Diagnosis
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.errands import Name
from tacit.surfaces.console.routes import Pages, Who

PATH = "/doctor"
pages = Pages()


@pages.get(PATH, who=Who.OPERATOR, nav="Doctor")
def show(asked: Asked) -> Response:
    errands, name = asked.site.tasks, _name(asked)
    done = errands.last_result(name)
    found: Diagnosis | None = None if done is None else done.result
    return asked.render(
        "doctor.html",
        fragment="doctor_found.html",
        goes_on=errands.is_running(name),
        looked_at=None if done is None else done.at,
        found=found,
    )


@pages.post(PATH, who=Who.OPERATOR, again=show)
def examine(asked: Asked) -> Response:
    """Answered with the page itself: where several processes serve, the next one may not know."""
    asked.site.tasks.run(_name(asked), asked.visitor.memory.doctor)
    return show(asked)


def _name(asked: Asked) -> Name:
    return asked.visitor.session.space, "doctor"
