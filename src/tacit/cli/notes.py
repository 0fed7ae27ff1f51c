"""Commands for sessions and note files."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tacit.cli import inputs
from tacit.cli.arguments import arg, command, flag
from tacit.cli.output import (
    NOTHING_FOUND,
    BadUsage,
    CommandResult,
    ExitCode,
    StreamedResult,
    format_count,
    format_table,
    record_document,
    to_json,
)
from tacit.cli.session import CommandSession
from tacit.records.notes import (
    SECTION_HEADINGS,
    Note,
    NoteChange,
    NoteItem,
    NotesReport,
    NoteSummary,
    SessionStart,
)

_NOTE_ACTIONS = ("sync", "diff", "rebuild", "import", "watch")
_TASK_MARKS = {True: "[x] ", False: "[ ] ", None: ""}


@command(
    "notes",
    arg("act", metavar="ACTION", choices=_NOTE_ACTIONS, help=", ".join(_NOTE_ACTIONS)),
    arg("--to", metavar="DIR", help="with rebuild: write all files to a folder without notes"),
    arg("--from", dest="from_", metavar="DIR", help="with import: read another folder"),
    flag("--forget", "with import: forget all lines that were removed from the files"),
)
def notes(session: CommandSession) -> CommandResult | StreamedResult:
    """Synchronize note files with the database."""
    args = session.args
    for option, given, act in (
        ("--to", args.to, "rebuild"),
        ("--from", args.from_, "import"),
        ("--forget", args.forget, "import"),
    ):
        if given and args.act != act:
            raise BadUsage(f"notes: {option} requires {act}")
    memory = session.memory
    if args.act == "watch":
        return StreamedResult(lines=_watch_lines(memory.notes.watch()))
    if args.act == "diff":
        return _difference_result(memory.notes.diff())
    if args.act == "rebuild":
        return _report_result("rebuilt", memory.notes.rebuild(args.to))
    if args.act == "import":
        return _report_result("imported", memory.notes.import_files(args.from_, forget=args.forget))
    return _report_result("synced", memory.notes.sync())


def _watch_lines(reports: Iterator[NotesReport]) -> Iterator[str]:
    for one in reports:
        yield json.dumps(record_document(one), ensure_ascii=False)


def _report_result(what: str, done: NotesReport) -> CommandResult:
    counts = {
        "remembered": done.remembered,
        "updated": done.updated,
        "completed": done.completed,
        "forgotten": done.forgotten,
    }
    read = ", ".join(f"{number} {word}" for word, number in counts.items() if number)
    problems = [("problem", one.problem, one.path, one.detail) for one in done.problems]
    return CommandResult(
        document=record_document(done),
        lines=[
            f"{what}  {format_count(done.files, 'file')}",
            f"read    {format_count(done.read_back, 'file')}" + (f": {read}" if read else ""),
            f"wrote   {format_count(done.written, 'file')}",
            *format_table(problems),
        ],
        exit=ExitCode.ABSENT if done.problems else ExitCode.OK,
    )


def _difference_result(found: list[NoteChange]) -> CommandResult:
    rows = [(one.act, one.path, _change_text(one.before, one.after)) for one in found]
    return CommandResult(
        document={"changes": to_json(found)},
        lines=format_table(rows),
        notes=() if found else ("No differences found.",),
    )


def _change_text(before: str | None, after: str | None) -> str:
    return " → ".join(dict.fromkeys(one for one in (before, after) if one is not None))


@command(
    "session",
    arg("act", metavar="ACTION", choices=("start", "end"), help="start or end"),
    arg("file", metavar="FILE", nargs="?", help="with end: turns as JSON lines; - reads stdin"),
    arg("--draft", metavar="FILE", help="with end: draft of the note as JSON; - reads stdin"),
    arg("--session", metavar="NAME", help="the session (default: that of the thread)"),
    arg("--by", metavar="AGENT", help="agent that holds the session"),
)
def session(session: CommandSession) -> CommandResult:
    """Start a session, or end it with a note."""
    args = session.args
    if args.act == "start":
        if args.file is not None or args.draft is not None:
            raise BadUsage("session: FILE and --draft require end")
        return _start_result(session.view.sessions.begin(args.session))
    if args.file is None and args.draft is None:
        raise BadUsage("session: end needs a FILE of turns or a --draft")
    if inputs.STDIN_NAME == args.file == args.draft:
        raise BadUsage("session: only one file can be standard input")
    draft = None if args.draft is None else inputs.read_draft(args.draft)
    turns = []
    if args.file is not None:
        with inputs.open_input(args.file) as source:
            turns = inputs.parse_turns(inputs.read_lines(source))
    done = session.view.sessions.end(turns, draft=draft, session=args.session)
    kept = [f"promoted  {done.promoted}"] if done.promoted is not None else []
    counts = f"added {done.added}, merged {done.merged}, ticked {done.ticked}"
    return CommandResult(
        document=record_document(done),
        lines=[f"ended  {done.path}  {counts}", *kept, *_note_lines(done.note)],
        notes=() if done.note is not None or kept else ("The session has no note.",),
    )


def _start_result(started: SessionStart) -> CommandResult:
    return CommandResult(
        document=record_document(started),
        lines=[
            f"session  {started.session}",
            *format_table([_long_term_row(one) for one in started.long_term]),
            *format_table([_summary_row(one) for one in started.recent]),
            *_note_lines(started.today),
        ],
        notes=() if started.long_term or started.recent else (NOTHING_FOUND,),
    )


def _long_term_row(item: NoteItem) -> tuple[str, ...]:
    added = item.added.isoformat() if item.added is not None else ""
    return ("kept", item.id or "", added, f"{_TASK_MARKS[item.done]}{item.content}")


def _summary_row(one: NoteSummary) -> tuple[str, ...]:
    progress = f"tasks {one.tasks}, follow_ups {one.follow_ups}"
    return (one.day.isoformat(), one.path, progress, one.summary)


def _note_lines(note: Note | None) -> list[str]:
    items = () if note is None else note.items
    return format_table(
        [
            ("today", SECTION_HEADINGS[one.section], f"{_TASK_MARKS[one.done]}{one.content}")
            for one in items
        ]
    )
