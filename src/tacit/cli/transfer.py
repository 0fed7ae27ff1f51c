"""Commands that export, import, back up and restore."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tacit import limits
from tacit.cli import inputs
from tacit.cli.arguments import CURSOR, LIMIT, OPTIONAL_ID, YES, arg, command, flag
from tacit.cli.memories import done_result, require_one_of
from tacit.cli.output import (
    BadUsage,
    CommandResult,
    ExitCode,
    NotDone,
    ShareProgress,
    StreamedResult,
    escape_controls,
    format_count,
    format_memory_count,
    format_table,
    format_time,
    more_notes,
    to_json,
)
from tacit.cli.session import CommandSession, ask
from tacit.errors import InvalidInput
from tacit.records.drafts import ImportPreviewItem, ImportRun
from tacit.records.memory import ExportFormat

if TYPE_CHECKING:
    from tacit.memory import View
    from tacit.transfer.importers import ImportSource, ImportSummary, SourcePreview


# `ImportFormat` of the importers, which are imported late because they load slowly.
IMPORT_FORMATS = ("mem0", "mcp", "basic-memory", "langgraph", "chatgpt", "claude")

_NOTHING_DONE = "Nothing was imported"
_NOTHING_FOUND = "No memories found in it. Check the format and --only."
_SHOWN_COUNT = 20  # of a preview; --json shows all


# Importing.


@command(
    "import",
    arg("file", metavar="PATH", help="JSON lines, - reads stdin; with --from: a file or folder"),
    arg(
        "--from",
        dest="form",
        choices=IMPORT_FORMATS,
        metavar="FORMAT",
        help=", ".join(IMPORT_FORMATS),
    ),
    arg("--only", metavar="NAME", help="mem0: one user; langgraph: one namespace"),
    arg("--run", metavar="NAME", help="name of the import (default: from the file)"),
    YES,
)
def import_(session: CommandSession) -> CommandResult:
    """Import an export of Tacit or of another memory system."""
    args = session.args
    if args.form is None:
        if args.only or args.run or args.yes:
            raise BadUsage("import: --only, --run and --yes require --from")
        return _import_lines(session)
    from tacit.transfer import importers

    source = importers.open_source(args.file, args.form, only=args.only)
    view = session.require_private_view("import")
    if not args.yes:
        found = importers.preview_source(view, source, run=args.run)
        if not _confirm_preview(found, quiet=args.json):
            return _preview_result(found)
    return _import_result(_run_import(session, view, source))


def _import_lines(session: CommandSession) -> CommandResult:
    view = session.require_private_view("import")
    with inputs.open_input(session.args.file) as source:
        done = view.imports.add_lines(inputs.read_lines(source))
    refused = len(done.refused)
    foreign = done.refused and not done.created and not done.skipped
    hint = f"For an export of another system, add --from {'|'.join(IMPORT_FORMATS)}."
    return CommandResult(
        document={"created": done.created, "skipped": done.skipped, "refused": list(done.refused)},
        lines=[f"imported  {done.created} new, {done.skipped} already here, {refused} refused"],
        notes=(*done.refused, *((hint,) if foreign else ())),
        exit=ExitCode.ABSENT if done.refused else ExitCode.OK,
    )


@command("imports", arg("--revert", metavar="RUN", help="forget all it imported"), LIMIT, CURSOR)
def imports(session: CommandSession) -> CommandResult:
    """List imports from other memory systems, or revert one."""
    args = session.args
    view = session.require_private_view("imports")
    if args.revert is not None:
        return _revert_import(view, args.revert)
    page = view.imports.list(limit=args.limit, cursor=args.cursor)
    rows = [_import_row(one) for one in page]
    return CommandResult(
        document={"imports": to_json(page.items), "cursor": page.cursor},
        lines=format_table(rows),
        notes=more_notes(page.cursor) if rows else ("No imports found.",),
    )


def _revert_import(view: View, run: str) -> CommandResult:
    before = _find_reverted_at(view, run)
    done = view.imports.revert(run)
    document = {"run": done.run, "forgotten": done.forgotten, "changed": done.changed}
    if before is not None:
        note = f"Already reverted, {format_time(before)}. Nothing was changed."
        return CommandResult(document={**document, "already": True}, lines=[], notes=(note,))
    forgotten = f"{format_memory_count(done.forgotten)} forgotten"
    left = f"  {format_memory_count(done.changed)} changed since, and kept"
    return CommandResult(
        document={**document, "already": False},
        lines=[
            f"reverted  {done.run}  {forgotten}; restorable for {limits.RESTORABLE_DAYS} days",
            *([left] if done.changed else []),
        ],
    )


def _find_reverted_at(view: View, run: str) -> datetime | None:
    """Return when an import was reverted, or None."""
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

    def report(done: int, total: int) -> None:
        nonlocal begun
        begun = True
        progress(done, total)

    try:
        with ShareProgress(quiet=quiet) as progress:
            return importers.import_source(view, source, run=run, progress=report)
    except BaseException:
        if begun and not quiet and sys.stderr is not None:
            name = escape_controls(shlex.quote(run or source.run))
            sys.stderr.write(
                "The import is incomplete. Repeat the command to continue, or undo it with\n"
                f"`tacit imports --revert {name}`.\n"
            )
        raise


def _confirm_preview(found: SourcePreview, *, quiet: bool) -> bool:
    """Show the preview at a terminal and ask. Without one, return False."""
    if quiet or sys.stdin is None or not sys.stdin.isatty() or not found.new:
        return False
    for line in (*_preview_lines(found), *_problem_lines(found)):
        sys.stderr.write(f"{escape_controls(line)}\n")
    if not ask(f"import {found.new:,}? It can be reverted as one."):
        raise NotDone(f"{_NOTHING_DONE}.")
    return True


def _preview_result(found: SourcePreview) -> CommandResult:
    how = "Confirm with --yes." if found.new else "It has no new memories."
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
            "shown": to_json(found.shown),
        },
        lines=_preview_lines(found),
        notes=(*_problem_lines(found), f"{_NOTHING_DONE}. {how}"),
        exit=ExitCode.ABSENT if found.new or not found.total else ExitCode.OK,
    )


def _import_result(done: ImportSummary) -> CommandResult:
    revert = f"  undo with `tacit imports --revert {shlex.quote(done.run)}`"
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
    sensitive = f"  sensitive: {found.sensitive:,} of the new ones; never shown in a group"
    return [
        _count_line("preview", found.new, found),
        *([sensitive] if found.sensitive else []),
        *(f"  {line}" for line in format_table([_preview_row(one) for one in shown])),
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
    return one.run, _import_state(one), one.source, format_time(one.started_at), counts


def _import_state(one: ImportRun) -> str:
    if one.reverted_at is not None:
        return f"reverted {format_time(one.reverted_at)}"
    if one.reverting:
        return "partly reverted: repeat --revert"
    if one.total is not None and one.done < one.total:
        return f"stopped at {one.done:,} of {one.total:,}"
    return "complete"


# Exporting, backup and restore.


@command(
    "export",
    arg("--output", metavar="FILE", help="new file that only you can read"),
    flag("--everything", "also memories about you that you may see"),
    flag("--turns", "with --everything: also recorded turns"),
    arg(
        "--format",
        choices=[form.value for form in ExportFormat],
        default=ExportFormat.JSONL.value,
        help="jsonl, or markdown to read, which implies --everything (default %(default)s)",
    ),
)
def export(session: CommandSession) -> CommandResult | StreamedResult:
    """Export your memories as JSON lines or Markdown."""
    args = session.args
    markdown = args.format == ExportFormat.MARKDOWN.value
    if markdown and args.json and args.output is None:
        raise BadUsage("export: --json cannot print Markdown; leave it out, or specify --output")
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


@command(
    "backup",
    arg("path", metavar="PATH", nargs="?", help="path of the copy"),
    flag("--overwrite", "overwrite an existing file"),
    arg(
        "--verify",
        metavar="URL",
        nargs="?",
        const="",
        help="check a backup or a restored database instead (default: the database)",
    ),
    arg("--journal", metavar="FILE", help="with --verify: repeat the erasures of this journal"),
)
def backup(session: CommandSession) -> CommandResult:
    """Back up the database while it is in use."""
    args = session.args
    if (args.path is None) is (args.verify is None):
        raise BadUsage("backup: specify a PATH for the copy, or --verify")
    if args.journal is not None and args.verify is None:
        raise BadUsage("backup: --journal requires --verify")
    if args.verify is not None:
        return _verify_backup(session)
    done = session.memory.admin.backup(args.path, overwrite=args.overwrite)
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
        lines=[f"backed up  {format_count(rows, 'row')} to {done.path}; the copy is verified"],
    )


def _verify_backup(session: CommandSession) -> CommandResult:
    from tacit.bootstrap import verify_backup

    args = session.args
    where = args.verify or args.db
    done = verify_backup(where, journal=args.journal, settings=session.settings)
    rows = sum(done.counts.values())
    verdict = "healthy" if done.healthy else "unhealthy"
    again = f", {format_memory_count(done.erased_again)} erased again"
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


@command(
    "restore",
    OPTIONAL_ID,
    arg("--from", dest="backup", metavar="PATH", help="replace the database with this backup"),
    YES,
)
def restore(session: CommandSession) -> CommandResult:
    """Restore a forgotten memory, or a backup."""
    args = session.args
    require_one_of(args, "restore", "id", "backup")
    if args.id is not None:
        session.view.restore(args.id)
        return done_result(args.id, "restored")
    from tacit.bootstrap import restore_backup

    session.confirm(f"replace the database with {args.backup}")
    done = restore_backup(args.backup, args.db, settings=session.settings)
    aside = "" if done.aside is None else f"; the previous database is now {done.aside}"
    erased = f", {format_count(done.erasures, 'erasure')} repeated" if done.erasures else ""
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
    """Write a new file that only its owner can read, or none if that fails."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InvalidInput(
            "--output", "the file exists; choose another name, or remove it"
        ) from None
    except ValueError:
        raise InvalidInput("--output", "is not a file name") from None
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
