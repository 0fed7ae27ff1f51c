"""What comes round in the space, what waits to be learned, and doing either now."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from tacit.errors import Conflict, InvalidInput, TacitError
from tacit.records.results import JobStatus, LearningQueueStatus
from tacit.surfaces.console import wording
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Said, Who

PATH = "/jobs"
_NUMBER = "run"
pages = Pages(
    flashes={
        "job-ran": Said(one="The task came to its end."),
        "job-begun": Said(one="The task has begun, and goes on. This page tells how far it is."),
        "job-failed": Said(one="The task failed. It is tried again when it is due."),
        "learning-again": Said(
            one="One turn is tried again.", many="{count} turns are tried again."
        ),
        "nothing-to-learn": Said(one="There was nothing that had been given up."),
    }
)
DOES = {
    "expire": "Lets go of what is past its time, unused or too much",
    "purge": "Removes for good what was forgotten long enough ago",
    "consolidate": "Makes one of what is there twice",
    "reflect": "Thinks about people, and notes what follows",
    "reembed": "Makes the vectors that are missing",
    "summarise": "Sums up conversations that have ended",
}
STATES = {
    "idle": ("Until it is due", ""),
    "running": ("Running", "good"),
    "waiting": ("Due, and nobody is at it", "care"),
    "failed": ("Failed; tried again when due", "bad"),
    "off": ("Does not come round by itself", ""),
}


@pages.get(PATH, who=Who.OPERATOR, nav="Jobs")
def show(asked: Asked) -> Response:
    memory = asked.visitor.memory
    jobs, waiting = memory.jobs(), memory.waiting()
    return asked.render(
        "jobs.html",
        fragment="jobs_found.html",
        jobs=jobs,
        waiting=waiting,
        summary=_summary(jobs, waiting),
        does=DOES,
        states=STATES,
        done=_done,
    )


@pages.post(f"{PATH}/{{task}}/run", who=Who.OPERATOR, again=lambda asked, **_: show(asked))
def run(asked: Asked, task: str) -> Response:
    memory, space = asked.visitor.memory, asked.visitor.session.space
    try:
        ended = asked.site.tasks.run((space, f"job {task}"), lambda: memory.run_job(task))
    except (Conflict, InvalidInput):
        raise
    except TacitError:  # which is noted, and stands on the page
        return asked.redirect(PATH, said="job-failed")
    return asked.redirect(PATH, said="job-ran" if ended else "job-begun")


@pages.post(f"{PATH}/retry", who=Who.OPERATOR, again=show)
def retry(asked: Asked) -> Response:
    count = asked.visitor.memory.retry_learning()
    return asked.redirect(PATH, said="learning-again" if count else "nothing-to-learn", count=count)


def _done(counts: Mapping[str, int]) -> str:
    """What a run came to. Its own number, which stands among the counts of one that can be undone,
    is none of them."""
    found = {what: count for what, count in counts.items() if what != _NUMBER}
    return wording.counted(found) if any(found.values()) else "nothing to do"


def _summary(jobs: list[JobStatus], waiting: LearningQueueStatus) -> str:
    """One line, which is read out when it changes."""
    counts = [
        (sum(one.state == "running" for one in jobs), "running"),
        (sum(one.state == "waiting" for one in jobs), "due"),
        (sum(one.state == "failed" for one in jobs), "failed"),
        (waiting.turns, "to learn"),
    ]
    return ", ".join(f"{count:,} {what}" for count, what in counts if count) or "All is done."
