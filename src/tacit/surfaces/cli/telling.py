"""Commands that tell what happened: history, events, metrics."""

from __future__ import annotations

import sys
import threading
from argparse import ArgumentParser
from datetime import datetime

from tacit import limits
from tacit.records import validation
from tacit.records.results import EventNode, EventOperation
from tacit.surfaces.cli import reading, tables
from tacit.surfaces.cli.answers import Answer, Stream
from tacit.surfaces.cli.console import safe
from tacit.surfaces.cli.exits import BadUsage
from tacit.surfaces.cli.session import Session


def history_options(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="the memory's 8 characters")
    parser.add_argument(
        "--export",
        action="store_true",
        help="of every memory that may be heard here, as JSON lines",
    )


def events_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--node", metavar="NODE", help=f"only where: {', '.join(EventNode)}")
    add("--op", metavar="OP", help=f"only what: {', '.join(EventOperation)}")
    add("--since", metavar="TIME", help="2026-03-01T12:00:00+00:00")
    add(
        "--limit",
        type=int,
        metavar="N",
        default=limits.PAGE_DEFAULT_COUNT,
        help="at most this many (default %(default)s)",
    )
    add("--cursor", metavar="CURSOR", help="where the last page stopped")


def metrics_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=int, metavar="N", help="where to serve them; without it, metrics.port"
    )
    parser.add_argument("--print", action="store_true", help="print them once instead")


def history(session: Session) -> Answer | Stream:
    args = session.args
    if (args.id is None) is not args.export:
        raise BadUsage("history: name a memory, or say --export for all of them")
    if args.export:
        return Stream(lines=session.view.history_export())
    return reading.history(session)


def events(session: Session) -> Answer:
    args = session.args
    page = session.memory.events(
        args.node, args.op, _moment(args.since), limit=args.limit, cursor=args.cursor
    )
    rows = [
        (one.day.isoformat(), one.node.value, one.op.value, one.status.value, str(one.count))
        for one in page
    ]
    documents = [
        {
            "day": one.day.isoformat(),
            "node": one.node,
            "op": one.op,
            "status": one.status,
            "count": one.count,
        }
        for one in page
    ]
    notes = [] if rows else ["nothing has happened, or events.keep_days is 0"]
    if page.cursor is not None:
        notes.append(f"there is more: say the same again with --cursor {page.cursor}")
    return Answer(
        document={"events": documents, "cursor": page.cursor},
        lines=tables.table(rows),
        notes=tuple(notes),
    )


def metrics(session: Session) -> Answer:
    args = session.args
    memory = session.memory
    if args.print:
        told = memory.metrics()
        return Answer(document={"metrics": told}, lines=told.splitlines())
    from tacit.surfaces.metrics import serving

    wanted = session.settings.metrics.port if args.port is None else args.port
    with serving(validation.parse_int("port", wanted, 0, limits.PORT_MAX)) as address:
        if sys.stderr is not None:
            sys.stderr.write(f"{safe(address)}\n")
            sys.stderr.flush()
        threading.Event().wait()
    raise AssertionError("served until interrupted")


def _moment(written: str | None) -> datetime | None:
    return (
        None
        if written is None
        else validation.parse_datetime("--since", validation.parse_iso_datetime("--since", written))
    )
