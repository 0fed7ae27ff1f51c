"""Commands that export, import, back up and restore."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import limits
from tacit.cli import memories, operations, options, output
from tacit.cli.output import (
    BadUsage,
    CommandResult,
    ExitCode,
    NotDone,
    ShareProgress,
    StreamedResult,
    escape_controls,
)
from tacit.cli.session import YES_ANSWERS, CommandSession, format_count
from tacit.errors import InvalidInput
from tacit.records.drafts import ImportPreviewItem, ImportRun
from tacit.records.memory import ExportFormat

if TYPE_CHECKING:
    from tacit.memory import View
    from tacit.transfer.importers import ImportSource, ImportSummary, SourcePreview


# Commands that take over what other memories kept, tell what came, and take it back.

_NOTHING_DONE = "nothing was imported"
_NOTHING_FOUND = "nothing was found in it: look at the format, and at --only"
_SHOWN_COUNT = 20  # of a preview; with --json there are more


def import_memories(session: CommandSession) -> CommandResult:
    args = session.args
    if args.form is None:
        if args.only or args.run or args.yes:
            raise BadUsage("import: --only, --run and --yes go with --from")
        return operations.import_lines(session)
    from tacit.transfer import importers

    source = importers.open_source(args.file, args.form, only=args.only)
    view = session.require_private_view("import")
    if not args.yes:
        found = importers.preview_source(view, source, run=args.run)
        if not _confirm_preview(found, quiet=args.json):
            return _preview_result(found)
    return _import_result(_run_import(session, view, source))


def manage_imports(session: CommandSession) -> CommandResult:
    args = session.args
    view = session.require_private_view("imports")
    if args.revert is not None:
        return _revert_import(view, args.revert)
    page = view.imports.list(limit=args.limit, cursor=args.cursor)
    rows = [_import_row(one) for one in page]
    more = (f"there are more: say the same again with --cursor {page.cursor}",)
    return CommandResult(
        document={"imports": [_import_document(one) for one in page], "cursor": page.cursor},
        lines=output.format_table(rows),
        notes=("no imports yet",) if not rows else more if page.cursor else (),
    )


def _revert_import(view: View, run: str) -> CommandResult:
    before = _find_reverted_at(view, run)
    done = view.imports.revert(run)
    document = {"run": done.run, "forgotten": done.forgotten, "changed": done.changed}
    if before is not None:
        told = f"it was reverted already, {output.format_time(before)}: nothing was done"
        return CommandResult(document={**document, "already": True}, lines=[], notes=(told,))
    told = f"reverted  {done.run}  {_format_memory_count(done.forgotten)} forgotten"
    left = f"{_format_memory_count(done.changed)} changed since, and left alone"
    return CommandResult(
        document={**document, "already": False},
        lines=[
            f"{told}; restorable for {limits.RESTORABLE_DAYS} days",
            *([f"  {left}"] if done.changed else []),
        ],
    )


def _format_memory_count(number: int) -> str:
    return f"{number:,} {'memory' if number == 1 else 'memories'}"


def _find_reverted_at(view: View, run: str) -> datetime | None:
    """Since when, where it was reverted before: to revert it again does nothing."""
    cursor = None
    while True:
        page = view.imports.list(limit=limits.PAGE_MAX_COUNT, cursor=cursor)
        for one in page:
            if one.run == run:
                return one.reverted_at
        cursor = page.cursor
        if cursor is None:
            return None


def _run_import(session: CommandSession, view: View, source: ImportSource) -> ImportSummary:
    from tacit.transfer import importers

    run = session.args.run
    quiet = session.args.json
    begun = False

    def tell(done: int, total: int) -> None:
        nonlocal begun
        begun = True
        portion(done, total)

    try:
        with ShareProgress(quiet=quiet) as portion:
            return importers.import_source(view, source, run=run, progress=tell)
    except BaseException:
        if begun and not quiet and sys.stderr is not None:
            name = escape_controls(shlex.quote(run or source.run))
            sys.stderr.write(
                "stopped on the way: the same command goes on from there, and\n"
                f"`tacit imports --revert {name}` takes back what has come\n"
            )
        raise


def _confirm_preview(found: SourcePreview, *, quiet: bool) -> bool:
    """Whether somebody said yes. Where nobody can, they are told how."""
    if quiet or sys.stdin is None or not sys.stdin.isatty() or not found.new:
        return False
    for line in (*_preview_lines(found), *_problem_lines(found)):
        sys.stderr.write(f"{escape_controls(line)}\n")
    sys.stderr.write(f"import {found.new:,}? It can be reverted as one. [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in YES_ANSWERS:
        raise NotDone(_NOTHING_DONE)
    return True


def _preview_result(found: SourcePreview) -> CommandResult:
    how = "say --yes to import it" if found.new else "there is nothing new in it"
    if not found.total:
        how = _NOTHING_FOUND
    return CommandResult(
        document={
            "done": False,
            "run": found.run,
            "total": found.total,
            "new": found.new,
            "already": found.already,
            "sensitive": found.sensitive,
            "refused": found.refused,
            "skipped": found.skipped,
            "problems": list(found.problems),
            "shown": [_import_document(one) for one in found.shown],
        },
        lines=_preview_lines(found),
        notes=(*_problem_lines(found), f"{_NOTHING_DONE}; {how}"),
        exit=ExitCode.ABSENT if found.new or not found.total else ExitCode.OK,
    )


def _import_result(done: ImportSummary) -> CommandResult:
    revert = f"  `tacit imports --revert {shlex.quote(done.run)}` takes it back"
    return CommandResult(
        document={
            "done": True,
            "run": done.run,
            "total": done.total,
            "created": done.created,
            "already": done.already,
            "refused": done.refused,
            "skipped": done.skipped,
            "problems": list(done.problems),
        },
        lines=[_count_line("imported", done.created, done), *([revert] if done.created else [])],
        notes=(*_problem_lines(done), *(() if done.total else (_NOTHING_FOUND,))),
        exit=ExitCode.ABSENT if done.refused or done.skipped or not done.total else ExitCode.OK,
    )


def _preview_lines(found: SourcePreview) -> list[str]:
    shown = found.shown[:_SHOWN_COUNT]
    more = found.new - len(shown)
    sensitive = f"  sensitive: {found.sensitive:,} of the new ones; no group will hear them"
    return [
        _count_line("preview", found.new, found),
        *([sensitive] if found.sensitive else []),
        *(f"  {line}" for line in output.format_table([_preview_row(one) for one in shown])),
        *([f"  and {more:,} more; --json shows them"] if more else []),
    ]


def _count_line(word: str, new: int, found: SourcePreview | ImportSummary) -> str:
    return (
        f"{word}  {new:,} new, {found.already:,} already here, "
        f"{found.refused:,} refused, {found.skipped:,} not readable"
    )


def _problem_lines(found: SourcePreview | ImportSummary) -> tuple[str, ...]:
    more = found.refused + found.skipped - len(found.problems)
    return (*found.problems, *([f"and {more:,} more"] if more > 0 else []))


def _preview_row(one: ImportPreviewItem) -> tuple[str, ...]:
    filed = f"{one.category}/{one.key}" if one.key else one.category
    return filed, one.sensitivity.value, one.content


def _import_row(one: ImportRun) -> tuple[str, ...]:
    counts = f"{one.created:,} new, {one.already:,} already here, {one.refused:,} refused"
    # A terminal that is narrow cuts the last of these.
    return one.run, _import_state(one), one.source, output.format_time(one.started_at), counts


def _import_state(one: ImportRun) -> str:
    if one.reverted_at is not None:
        return f"reverted {output.format_time(one.reverted_at)}"
    if one.reverting:
        return "half reverted: say --revert again"
    if one.total is not None and one.done < one.total:
        return f"stopped at {one.done:,} of {one.total:,}"
    return "complete"


def _import_document(one: ImportRun | ImportPreviewItem) -> dict[str, Any]:
    return {name: output.to_json(value) for name, value in asdict(one).items()}


# Commands that take memories along, copy the database, and put a copy in its place.


def add_export_options(parser: ArgumentParser) -> None:
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


def add_backup_options(parser: ArgumentParser) -> None:
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


def add_restore_options(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="the memory's 8 characters")
    parser.add_argument(
        "--from",
        dest="backup",
        metavar="PATH",
        help="instead: put this backup in the place of the database",
    )
    options.add_yes_option(parser)


def export_memories(session: CommandSession) -> CommandResult | StreamedResult:
    args = session.args
    markdown = args.format == ExportFormat.MARKDOWN.value
    if markdown and args.json and args.output is None:
        raise BadUsage("export: Markdown is for people; leave out --json, or name a file")
    view = session.require_private_view("export")
    lines = view.export(format=args.format, everything=args.everything, turns=args.turns)
    if args.output is not None:
        written = _write_new_file(Path(args.output), lines)
        return CommandResult(
            document={"exported": written, "file": args.output},
            lines=[f"exported  {written} to {args.output}"],
        )
    if markdown:
        flat = (row for line in lines for row in line.split("\n"))
        return CommandResult(document={}, lines=list(flat))
    return StreamedResult(lines=lines)


def back_up_database(session: CommandSession) -> CommandResult:
    args = session.args
    if (args.path is None) is (args.verify is None):
        raise BadUsage("backup: name a PATH for the copy, or say --verify")
    if args.journal is not None and args.verify is None:
        raise BadUsage("backup: --journal goes with --verify")
    if args.verify is not None:
        return _verify_backup(session)
    done = session.memory.backup(args.path, overwrite=args.overwrite)
    rows = sum(done.counts.values())
    return CommandResult(
        document={
            "path": done.path,
            "schema": done.schema,
            "healthy": True,
            "rows": rows,
            "problems": [],
            "erased_again": 0,
        },
        lines=[f"backed up  {format_count(rows, 'row')} to {done.path}; the copy was checked"],
    )


def _verify_backup(session: CommandSession) -> CommandResult:
    from tacit.bootstrap import verify_backup

    args = session.args
    where = args.verify or args.db
    done = verify_backup(where, journal=args.journal, settings=session.settings)
    rows = sum(done.counts.values())
    verdict = "healthy" if done.healthy else "trouble"
    again = f", {format_count(done.erased_again, 'memory', 'memories')} erased again"
    return CommandResult(
        document={
            "path": done.path,
            "schema": done.schema,
            "healthy": done.healthy,
            "rows": rows,
            "problems": list(done.problems),
            "erased_again": done.erased_again,
        },
        lines=[
            f"{verdict}  schema {done.schema}, {format_count(rows, 'row')}"
            + (again if args.journal is not None else ""),
            *(f"  {problem}" for problem in done.problems),
        ],
        exit=ExitCode.OK if done.healthy else ExitCode.STORE,
    )


def restore_memory_or_backup(session: CommandSession) -> CommandResult:
    args = session.args
    memories.require_one_of(args, "restore", "id", "backup")
    if args.id is not None:
        return memories.restore_memory(session)
    from tacit.bootstrap import restore_backup

    session.confirm(f"put {args.backup} in the place of the database")
    done = restore_backup(args.backup, args.db, settings=session.settings)
    aside = "" if done.aside is None else f"; what was there is now {done.aside}"
    erased = f", {format_count(done.erasures, 'erasure')} done again" if done.erasures else ""
    return CommandResult(
        document={
            "path": done.path,
            "aside": done.aside,
            "rows": sum(done.counts.values()),
            "erasures": done.erasures,
        },
        lines=[f"restored  {args.backup}{erased}{aside}"],
    )


def _write_new_file(path: Path, lines: Iterable[str]) -> int:
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
