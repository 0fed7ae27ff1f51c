"""The command that finds what is wrong, and mends it if asked."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict

from tacit.records.results import Finding
from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.exits import Exit
from tacit.surfaces.cli.session import Session


def options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--repair", action="store_true", help="mend what can be mended; else nothing is changed")
    add(
        "--check",
        dest="checks",
        metavar="NAME",
        action="append",
        help="look for this alone; may be repeated (see docs/doctor.md)",
    )


def doctor(session: Session) -> Answer:
    args = session.args
    found = session.memory.doctor(repair=args.repair, checks=args.checks)
    lines = [line for one in found.findings for line in _told(one, repair=args.repair)]
    return Answer(
        document={
            "healthy": found.healthy,
            "findings": [asdict(one) for one in found.findings],
        },
        lines=[*lines, "healthy" if found.healthy else "trouble"],
        exit=Exit.OK if found.healthy else Exit.ABSENT,
    )


def _told(one: Finding, *, repair: bool) -> list[str]:
    done = f"{one.repaired} of {one.count} repaired" if repair else f"{one.repairable} repairable"
    ids = f"  memories: {' '.join(one.ids)}"
    return [
        f"{one.check}  {one.count}: {one.says} ({done})",
        f"  repair {one.mends}",
        *([ids] if one.ids else []),
    ]
