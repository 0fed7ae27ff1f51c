"""Commands that export, import, back up and restore."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

from tacit import limits
from tacit.cli import arguments as a
from tacit.cli import inputs
from tacit.cli import output as out
from tacit.cli.arguments import arg, command, flag
from tacit.cli.output import BadUsage, CommandResult, ExitCode, NotDone, StreamedResult
from tacit.cli.session import CommandSession, ask
from tacit.records.drafts import ImportRun
from tacit.records.memory import ExportFormat
from tacit.records.results import Backup

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
    arg("file", "PATH", "JSON lines, - reads stdin; with --from: a file or folder"),
    arg("--from", "FORMAT", ", ".join(IMPORT_FORMATS), dest="form", choices=IMPORT_FORMATS),
    arg("--only", "NAME", "mem0: one user; langgraph: one namespace"),
    arg("--run", "NAME", "name of the import (default: from the file)"),
    a.YES,
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
        {"created": done.created, "skipped": done.skipped, "refused": list(done.refused)},
        [f"imported  {done.created} new, {done.skipped} already here, {refused} refused"],
        (*done.refused, *((hint,) if foreign else ())),
        ExitCode.ABSENT if done.refused else ExitCode.OK,
    )


@command("imports", arg("--revert", "RUN", "forget all it imported"), *a.PAGE)
def imports(session: CommandSession) -> CommandResult:
    """List imports from other memory systems, or revert one."""
    args = session.args
    view = session.require_private_view("imports")
    if args.revert is not None:
        return _revert_import(view, args.revert)
    page = view.imports.list(limit=args.limit, cursor=args.cursor)
    return out.list_result("imports", page, _import_row, "No imports found.")


def _revert_import(view: View, run: str) -> CommandResult:
    from tacit.memory import iter_pages

    # The answer of a second call does not differ: look first whether it was reverted before.
    listed = iter_pages(lambda cursor: view.imports.list(limit=limits.PAGE_MAX_COUNT, cursor=cursor))
    before = next((one.reverted_at for one in listed if one.run == run), None)
    done = view.imports.revert(run)
    document = {"run": done.run, "forgotten": done.forgotten, "changed": done.changed}
    if before is not None:
        note = f"Already reverted, {out.format_time(before)}. Nothing was changed."
        return CommandResult({**document, "already": True}, [], (note,))
    forgotten = f"{out.format_memory_count(done.forgotten)} forgotten"
    lines = [f"reverted  {done.run}  {forgotten}; restorable for {limits.RESTORABLE_DAYS} days"]
    if done.changed:
        lines.append(f"  {out.format_memory_count(done.changed)} changed since, and kept")
    return CommandResult({**document, "already": False}, lines)


def _run_import(session: CommandSession, view: View, source: ImportSource) -> ImportSummary:
    from tacit.transfer import importers

    run, quiet = session.args.run, session.args.json
    begun = False

    def report(done: int, total: int) -> None:
        nonlocal begun
        begun = True
        progress(done, total)

    try:
        with out.Progress(quiet=quiet) as progress:
            return importers.import_source(view, source, run=run, progress=report)
    except BaseException:
        if begun and not quiet and sys.stderr is not None:
            name = out.escape_controls(shlex.quote(run or source.run))
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
        sys.stderr.write(f"{out.escape_controls(line)}\n")
    if not ask(f"import {found.new:,}? It can be reverted as one."):
        raise NotDone(f"{_NOTHING_DONE}.")
    return True


def _preview_result(found: SourcePreview) -> CommandResult:
    how = "Confirm with --yes." if found.new else "It has no new memories."
    if not found.total:
        how = _NOTHING_FOUND
    return CommandResult(
        {"done": False, **out.document_of(found)},
        _preview_lines(found),
        (*_problem_lines(found), f"{_NOTHING_DONE}. {how}"),
        ExitCode.ABSENT if found.new or not found.total else ExitCode.OK,
    )


def _import_result(done: ImportSummary) -> CommandResult:
    revert = f"  undo with `tacit imports --revert {shlex.quote(done.run)}`"
    names = ("run", "total", "created", "already", "refused", "skipped", "problems")
    return CommandResult(
        {"done": True, **out.document_of(done, names)},
        [_count_line("imported", done.created, done), *([revert] if done.created else [])],
        (*_problem_lines(done), *(() if done.total else (_NOTHING_FOUND,))),
        ExitCode.ABSENT if done.refused or done.skipped or not done.total else ExitCode.OK,
    )


def _preview_lines(found: SourcePreview) -> list[str]:
    rows = [
        (f"{one.category}/{one.key}" if one.key else one.category, one.sensitivity, one.content)
        for one in found.shown[:_SHOWN_COUNT]
    ]
    more = found.new - len(rows)
    sensitive = f"  sensitive: {found.sensitive:,} of the new ones; never shown in a group"
    return [
        _count_line("preview", found.new, found),
        *([sensitive] if found.sensitive else []),
        *(f"  {line}" for line in out.format_table(rows)),
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


def _import_row(one: ImportRun) -> tuple[str, ...]:
    state = "complete"
    if one.reverted_at is not None:
        state = f"reverted {out.format_time(one.reverted_at)}"
    elif one.reverting:
        state = "partly reverted: repeat --revert"
    elif one.total is not None and one.done < one.total:
        state = f"stopped at {one.done:,} of {one.total:,}"
    counts = f"{one.created:,} new, {one.already:,} already here, {one.refused:,} refused"
    return one.run, state, one.source, out.format_time(one.started_at), counts


# Exporting, backup and restore.


@command(
    "export",
    arg("--output", "FILE", "new file that only you can read"),
    flag("--everything", "also memories about you that you may see"),
    flag("--turns", "with --everything: also recorded turns"),
    arg(
        "--format",
        does="jsonl, or markdown to read, which implies --everything (default %(default)s)",
        choices=[form.value for form in ExportFormat],
        default=ExportFormat.JSONL.value,
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
        with inputs.create_file("--output", args.output) as file:
            written = sum(1 for line in lines if file.write(line + "\n"))
        line = f"exported  {written} to {args.output}"
        return CommandResult({"exported": written, "file": args.output}, [line])
    if markdown:
        return CommandResult({}, [row for line in lines for row in line.split("\n")])
    return StreamedResult(lines)


@command(
    "backup",
    arg("path", "PATH", "path of the copy", nargs="?"),
    flag("--overwrite", "overwrite an existing file"),
    arg(
        "--verify", "URL", "check a backup or a restored database instead (default: the database)", nargs="?", const=""
    ),
    arg("--journal", "FILE", "with --verify: repeat the erasures of this journal"),
)
def backup(session: CommandSession) -> CommandResult:
    """Back up the database while it is in use."""
    args = session.args
    if (args.path is None) is (args.verify is None):
        raise BadUsage("backup: specify a PATH for the copy, or --verify")
    if args.journal is not None and args.verify is None:
        raise BadUsage("backup: --journal requires --verify")
    if args.verify is None:
        made = session.memory.admin.backup(args.path, overwrite=args.overwrite)
        copied = out.format_count(sum(made.counts.values()), "row")
        line = f"backed up  {copied} to {made.path}; the copy is verified"
        return CommandResult(_backup_document(made), [line])
    from tacit.bootstrap import verify_backup

    done = verify_backup(args.verify or args.db, journal=args.journal, settings=session.settings)
    rows = out.format_count(sum(done.counts.values()), "row")
    again = f", {out.format_memory_count(done.erased_again)} erased again"
    return CommandResult(
        _backup_document(done),
        [
            f"{'healthy' if done.healthy else 'unhealthy'}  schema {done.schema}, {rows}"
            + (again if args.journal is not None else ""),
            *(f"  {problem}" for problem in done.problems),
        ],
        exit=ExitCode.OK if done.healthy else ExitCode.STORE,
    )


def _backup_document(done: Backup) -> dict[str, Any]:
    rows = {"rows": sum(done.counts.values())}
    state = out.document_of(done, ("path", "schema", "healthy"))
    return state | rows | out.document_of(done, ("problems", "erased_again"))


@command("restore", a.OPTIONAL_ID, arg("--from", "PATH", "replace the database with this backup", dest="backup"), a.YES)
def restore(session: CommandSession) -> CommandResult:
    """Restore a forgotten memory, or a backup."""
    args = session.args
    inputs.require_one_of(args, "id", "backup")
    if args.id is not None:
        session.view.restore(args.id)
        return out.done_result("restored", args.id)
    from tacit.bootstrap import restore_backup

    session.confirm(f"replace the database with {args.backup}")
    done = restore_backup(args.backup, args.db, settings=session.settings)
    aside = "" if done.aside is None else f"; the previous database is now {done.aside}"
    erased = f", {out.format_count(done.erasures, 'erasure')} repeated" if done.erasures else ""
    rows = sum(done.counts.values())
    return CommandResult(
        {"path": done.path, "aside": done.aside, "rows": rows, "erasures": done.erasures},
        [f"restored  {args.backup}{erased}{aside}"],
    )
