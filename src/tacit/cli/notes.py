"""Commands for sessions and note files."""

from __future__ import annotations

import json

from tacit.cli import inputs
from tacit.cli import output as out
from tacit.cli.arguments import arg, command, flag
from tacit.cli.output import BadUsage, CommandResult, ExitCode, StreamedResult, format_table
from tacit.cli.session import CommandSession
from tacit.records.notes import SECTION_HEADINGS, Note, NoteChange, NotesReport

_NOTE_ACTIONS = ("sync", "diff", "rebuild", "import", "watch")
_TASK_MARKS = {True: "[x] ", False: "[ ] ", None: ""}


@command(
    "notes",
    arg("act", "ACTION", ", ".join(_NOTE_ACTIONS), choices=_NOTE_ACTIONS),
    arg("--to", "DIR", "with rebuild: write all files to a folder without notes"),
    arg("--from", "DIR", "with import: read another folder", dest="from_"),
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
    files = session.memory.notes
    match args.act:
        case "watch":
            encode = (json.dumps(out.document_of(one), ensure_ascii=False) for one in files.watch())
            return StreamedResult(encode)
        case "diff":
            return out.list_result("changes", files.diff(), _change_row, "No differences found.")
        case "rebuild":
            return _report_result("rebuilt", files.rebuild(args.to))
        case "import":
            return _report_result("imported", files.import_files(args.from_, forget=args.forget))
    return _report_result("synced", files.sync())


def _report_result(what: str, done: NotesReport) -> CommandResult:
    counted = ("remembered", "updated", "completed", "forgotten")
    read = ", ".join(f"{n} {name}" for name in counted if (n := getattr(done, name)))
    problems = [("problem", one.problem, one.path, one.detail) for one in done.problems]
    return CommandResult(
        out.document_of(done),
        [
            f"{what}  {out.format_count(done.files, 'file')}",
            f"read    {out.format_count(done.read_back, 'file')}" + (f": {read}" if read else ""),
            f"wrote   {out.format_count(done.written, 'file')}",
            *format_table(problems),
        ],
        exit=ExitCode.ABSENT if done.problems else ExitCode.OK,
    )


def _change_row(one: NoteChange) -> tuple[str, ...]:
    texts = dict.fromkeys(text for text in (one.before, one.after) if text is not None)
    return one.act, one.path, " → ".join(texts)


@command(
    "session",
    arg("act", "ACTION", "start or end", choices=("start", "end")),
    arg("file", "FILE", "with end: turns as JSON lines; - reads stdin", nargs="?"),
    arg("--draft", "FILE", "with end: draft of the note as JSON; - reads stdin"),
    arg("--session", "NAME", "the session (default: that of the thread)"),
    arg("--by", "AGENT", "agent that holds the session"),
)
def session(session: CommandSession) -> CommandResult:
    """Start a session, or end it with a note."""
    args = session.args
    if args.act == "start":
        if args.file is not None or args.draft is not None:
            raise BadUsage("session: FILE and --draft require end")
        return _start_session(session)
    if args.file is None and args.draft is None:
        raise BadUsage("session: end needs a FILE of turns or a --draft")
    if inputs.STDIN_NAME == args.file == args.draft:
        raise BadUsage("session: only one file can be standard input")
    draft = None if args.draft is None else inputs.read_draft(args.draft)
    turns = [] if args.file is None else inputs.read_turns(args.file)
    done = session.view.sessions.end(turns, draft=draft, session=args.session)
    kept = [f"promoted  {done.promoted}"] if done.promoted is not None else []
    counts = f"added {done.added}, merged {done.merged}, ticked {done.ticked}"
    return CommandResult(
        out.document_of(done),
        [f"ended  {done.path}  {counts}", *kept, *_note_lines(done.note)],
        () if done.note is not None or kept else ("The session has no note.",),
    )


def _start_session(session: CommandSession) -> CommandResult:
    started = session.view.sessions.begin(session.args.session)
    long_term = [
        (
            "kept",
            one.id or "",
            one.added.isoformat() if one.added is not None else "",
            f"{_TASK_MARKS[one.done]}{one.content}",
        )
        for one in started.long_term
    ]
    recent = [
        (one.day.isoformat(), one.path, f"tasks {one.tasks}, follow_ups {one.follow_ups}", one.summary)
        for one in started.recent
    ]
    return CommandResult(
        out.document_of(started),
        [f"session  {started.session}", *format_table(long_term), *format_table(recent), *_note_lines(started.today)],
        () if long_term or recent else (out.NOTHING_FOUND,),
    )


def _note_lines(note: Note | None) -> list[str]:
    items = () if note is None else note.items
    return format_table(
        [("today", SECTION_HEADINGS[one.section], f"{_TASK_MARKS[one.done]}{one.content}") for one in items]
    )
