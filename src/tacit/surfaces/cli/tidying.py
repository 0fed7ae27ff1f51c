"""Commands that merge what is there twice, think about people, and sum up conversations."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict

from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.session import Session, count


def consolidate_options(parser: ArgumentParser) -> None:
    parser.add_argument("--undo", metavar="RUN", help="take back what this run merged")


def consolidate(session: Session) -> Answer:
    if session.args.undo is not None:
        return _undo(session, session.args.undo)
    done = session.memory.consolidate()
    lines = [f"merged  {count(done.merged, 'memory', 'memories')}, in run {done.run}"]
    if done.pairs:
        lines.append(f"asked   about {count(done.pairs, 'pair')}")
    return Answer(document=asdict(done), lines=lines, notes=_notes(done.skipped, done.left))


def _undo(session: Session, run: str) -> Answer:
    back = session.memory.undo_consolidation(run)
    return Answer(
        document={"run": run, "restored": back},
        lines=[f"brought back  {count(back, 'memory', 'memories')}"],
        notes=() if back else ("nothing of that run can be taken back",),
    )


def reflect(session: Session) -> Answer:
    done = session.memory.reflect()
    told = f"kept  {count(done.insights, 'insight')} about {count(done.people, 'person', 'people')}"
    return Answer(document=asdict(done), lines=[told], notes=_notes(done.skipped, done.left))


def summarise(session: Session) -> Answer:
    done = session.memory.summarise()
    told = f"summed up  {done.summaries} of {count(done.sessions, 'conversation')}"
    return Answer(document=asdict(done), lines=[told], notes=_notes(done.skipped, done.left))


def _notes(skipped: str, left: int) -> tuple[str, ...]:
    waiting = f"{count(left, 'person', 'people')} left for another day: the model did not answer"
    return tuple(filter(None, (skipped, waiting if left else "")))
