"""Commands about what time does: the sweep, and the purge."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict

from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.exits import Exit
from tacit.surfaces.cli.session import Session

_WAITS = "waits for the clock: if it is right now, say tacit purge --confirm-clock"


def purge_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--confirm-clock",
        action="store_true",
        help="the clock is right, although it leapt since the last sweep",
    )


def expire(session: Session) -> Answer:
    done = session.memory.expire()
    counts = {what: count for what, count in asdict(done).items() if what != "waits"}
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return Answer(
        document={**counts, "waits": done.waits is not None},
        lines=[f"swept  {told or 'nothing'}"],
        notes=(_WAITS,) if done.waits else (),
        exit=Exit.ABSENT if done.waits else Exit.OK,
    )


def purge(session: Session) -> Answer:
    done = session.memory.purge(confirm_clock=session.args.confirm_clock)
    told = f", {done.postponed} postponed" if done.postponed else ""
    return Answer(
        document={
            "purged": done.count,
            "postponed": done.postponed,
            "waits": done.waits is not None,
        },
        lines=[f"purged  {done.count}{told}"],
        notes=(_WAITS,) if done.waits else (),
        exit=Exit.ABSENT if done.waits else Exit.OK,
    )
