"""Commands for notes: sessions, and the files that people edit."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator

from tacit.cli import inputs, output
from tacit.cli.output import NOTHING_FOUND, BadUsage, CommandResult, ExitCode, StreamedResult
from tacit.cli.session import CommandSession, format_count
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
_SESSION_ACTIONS = ("start", "end")
_TASK_MARKS = {True: "[x] ", False: "[ ] ", None: ""}


def add_notes_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("act", metavar="ACT", choices=_NOTE_ACTIONS, help=", ".join(_NOTE_ACTIONS))
    add("--to", metavar="DIR", help="with rebuild: all of them anew, in a folder that has none")
    add("--from", dest="from_", metavar="DIR", help="with import: from another folder")
    add(
        "--forget",
        action="store_true",
        help="with import: forget what is gone from the files, however much",
    )


def manage_notes(session: CommandSession) -> CommandResult | StreamedResult:
    args = session.args
    for option, given, act in (
        ("--to", args.to, "rebuild"),
        ("--from", args.from_, "import"),
        ("--forget", args.forget, "import"),
    ):
        if given and args.act != act:
            raise BadUsage(f"notes: {option} goes with {act}")
    memory = session.memory
    if args.act == "watch":
        return StreamedResult(lines=_watch_lines(memory.watch_notes()))
    if args.act == "diff":
        return _difference_result(memory.diff_notes())
    if args.act == "rebuild":
        return _report_result("rebuilt", memory.rebuild_notes(args.to))
    if args.act == "import":
        return _report_result("imported", memory.import_notes(args.from_, forget=args.forget))
    return _report_result("synced", memory.sync_notes())


def _watch_lines(reports: Iterator[NotesReport]) -> Iterator[str]:
    for one in reports:
        yield json.dumps(output.record_document(one), ensure_ascii=False)


def _report_result(what: str, done: NotesReport) -> CommandResult:
    counts = {
        "remembered": done.remembered,
        "updated": done.updated,
        "completed": done.completed,
        "forgotten": done.forgotten,
    }
    read = ", ".join(f"{number} {word}" for word, number in counts.items() if number)
    return CommandResult(
        document=output.record_document(done),
        lines=[
            f"{what}  {format_count(done.files, 'file')}",
            f"read    {format_count(done.read_back, 'file')}" + (f": {read}" if read else ""),
            f"wrote   {format_count(done.written, 'file')}",
            *output.format_table(
                [("problem", one.problem, one.path, one.detail) for one in done.problems]
            ),
        ],
        exit=ExitCode.ABSENT if done.problems else ExitCode.OK,
    )


def _difference_result(found: list[NoteChange]) -> CommandResult:
    rows = [(one.act, one.path, _change_text(one.before, one.after)) for one in found]
    return CommandResult(
        document={"changes": [output.record_document(one) for one in found]},
        lines=output.format_table(rows),
        notes=() if found else ("files and store agree",),
    )


def _change_text(before: str | None, after: str | None) -> str:
    return " → ".join(dict.fromkeys(one for one in (before, after) if one is not None))


def add_session_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("act", metavar="ACT", choices=_SESSION_ACTIONS, help="start or end")
    add(
        "file", metavar="FILE", nargs="?", help="with end: what was said, as JSON lines; - is stdin"
    )
    add("--draft", metavar="FILE", help="with end: what it came to, as a JSON object; - is stdin")
    add("--session", metavar="NAME", help="the session; else that of the thread")
    add("--by", metavar="AGENT", help="the agent whose session it is")


def manage_session(session: CommandSession) -> CommandResult:
    args = session.args
    if args.act == "start":
        if args.file is not None or args.draft is not None:
            raise BadUsage("session: FILE and --draft go with end")
        return _session_result(session.view.sessions.begin(args.session))
    if args.file is None and args.draft is None:
        raise BadUsage("session: name a FILE of what was said, or a --draft of what it came to")
    if inputs.STDIN_NAME == args.file == args.draft:
        raise BadUsage("session: standard input is one file only")
    return _end_session(session)


def _end_session(session: CommandSession) -> CommandResult:
    args = session.args
    draft = None if args.draft is None else inputs.read_draft(args.draft)
    said = []
    if args.file is not None:
        with inputs.open_input(args.file) as source:
            said = inputs.parse_turns(inputs.read_lines(source))
    done = session.view.sessions.end(said, draft=draft, session=args.session)
    told = [f"added {done.added}", f"merged {done.merged}", f"ticked {done.ticked}"]
    kept = [f"kept for good  {done.promoted}"] if done.promoted is not None else []
    return CommandResult(
        document=output.record_document(done),
        lines=[f"ended  {done.path}  {', '.join(told)}", *kept, *_note_lines(done.note)],
        notes=() if done.note is not None or kept else ("there was nothing to write down",),
    )


def _session_result(woken: SessionStart) -> CommandResult:
    nothing = not (woken.long_term or woken.recent)
    return CommandResult(
        document=output.record_document(woken),
        lines=[
            f"session  {woken.session}",
            *output.format_table([_kept_row(one) for one in woken.long_term]),
            *output.format_table([_summary_row(one) for one in woken.recent]),
            *_note_lines(woken.today),
        ],
        notes=(NOTHING_FOUND,) if nothing else (),
    )


def _kept_row(item: NoteItem) -> tuple[str, ...]:
    added = item.added.isoformat() if item.added is not None else ""
    return ("kept", item.id or "", added, f"{_TASK_MARKS[item.done]}{item.content}")


def _summary_row(one: NoteSummary) -> tuple[str, ...]:
    progress = f"tasks {one.tasks}, follow_ups {one.follow_ups}"
    return (one.day.isoformat(), one.path, progress, one.summary)


def _note_lines(note: Note | None) -> list[str]:
    """What stands in the session's own note of the day."""
    if note is None:
        return []
    rows = [
        ("today", SECTION_HEADINGS[i.section], f"{_TASK_MARKS[i.done]}{i.content}")
        for i in note.items
    ]
    return output.format_table(rows)
