"""Commands that take memories along, copy the database, and put a copy in its place."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path

from tacit.errors import InvalidInput
from tacit.records.memory import ExportFormat
from tacit.surfaces.cli import options, writing
from tacit.surfaces.cli.answers import Answer, Stream
from tacit.surfaces.cli.exits import BadUsage, Exit
from tacit.surfaces.cli.session import Session, count


def export_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--output", metavar="FILE", help="a new file that only you can read")
    add("--everything", action="store_true", help="all that you may see about yourself")
    add("--turns", action="store_true", help="with it, what was said, word for word")
    add(
        "--format",
        choices=[form.value for form in ExportFormat],
        default=ExportFormat.JSONL.value,
        help="jsonl, or markdown to be read: that is everything (default %(default)s)",
    )


def backup_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("path", metavar="PATH", nargs="?", help="where the copy goes")
    add("--overwrite", action="store_true", help="even if that file exists")
    add(
        "--verify",
        metavar="URL",
        nargs="?",
        const="",
        help="instead: check a backup, or a database that was restored; without one, this one",
    )
    add("--journal", metavar="FILE", help="with --verify: erase again what it tells")


def restore_options(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="the memory's 8 characters")
    parser.add_argument(
        "--from",
        dest="backup",
        metavar="PATH",
        help="instead: put this backup in the place of the database",
    )
    options.yes(parser)


def export(session: Session) -> Answer | Stream:
    args = session.args
    markdown = args.format == ExportFormat.MARKDOWN.value
    if markdown and args.json and args.output is None:
        raise BadUsage("export: Markdown is for people; leave out --json, or name a file")
    view = session.require_private_view("export")
    lines = view.export(format=args.format, everything=args.everything, turns=args.turns)
    if args.output is not None:
        written = _save(Path(args.output), lines)
        return Answer(
            document={"exported": written, "file": args.output},
            lines=[f"exported  {written} to {args.output}"],
        )
    if markdown:
        flat = (row for line in lines for row in line.split("\n"))
        return Answer(document={}, lines=list(flat))
    return Stream(lines=lines)


def backup(session: Session) -> Answer:
    args = session.args
    if (args.path is None) is (args.verify is None):
        raise BadUsage("backup: name a PATH for the copy, or say --verify")
    if args.journal is not None and args.verify is None:
        raise BadUsage("backup: --journal goes with --verify")
    if args.verify is not None:
        return _verify(session)
    done = session.memory.backup(args.path, overwrite=args.overwrite)
    rows = sum(done.counts.values())
    return Answer(
        document={
            "path": done.path,
            "schema": done.schema,
            "healthy": True,
            "rows": rows,
            "problems": [],
            "erased_again": 0,
        },
        lines=[f"backed up  {count(rows, 'row')} to {done.path}; the copy was checked"],
    )


def _verify(session: Session) -> Answer:
    from tacit.bootstrap import verify_backup

    args = session.args
    where = args.verify or args.db
    done = verify_backup(where, journal=args.journal, settings=session.settings)
    rows = sum(done.counts.values())
    verdict = "healthy" if done.healthy else "trouble"
    again = f", {count(done.erased_again, 'memory', 'memories')} erased again"
    return Answer(
        document={
            "path": done.path,
            "schema": done.schema,
            "healthy": done.healthy,
            "rows": rows,
            "problems": list(done.problems),
            "erased_again": done.erased_again,
        },
        lines=[
            f"{verdict}  schema {done.schema}, {count(rows, 'row')}"
            + (again if args.journal is not None else ""),
            *(f"  {problem}" for problem in done.problems),
        ],
        exit=Exit.OK if done.healthy else Exit.STORE,
    )


def restore(session: Session) -> Answer:
    args = session.args
    writing.one_way(args, "restore", "id", "backup")
    if args.id is not None:
        return writing.restore(session)
    from tacit.bootstrap import restore_backup

    session.confirm(f"put {args.backup} in the place of the database")
    done = restore_backup(args.backup, args.db, settings=session.settings)
    aside = "" if done.aside is None else f"; what was there is now {done.aside}"
    erased = f", {count(done.erasures, 'erasure')} done again" if done.erasures else ""
    return Answer(
        document={
            "path": done.path,
            "aside": done.aside,
            "rows": sum(done.counts.values()),
            "erasures": done.erasures,
        },
        lines=[f"restored  {args.backup}{erased}{aside}"],
    )


def _save(path: Path, lines: Iterable[str]) -> int:
    """To a new file that only its owner can read: all of it, or no file."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InvalidInput("--output", "that file exists; name another, or remove it") from None
    except ValueError:
        raise InvalidInput("--output", "is no file name") from None
    written = 0
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(line + "\n")
                written += 1
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return written
