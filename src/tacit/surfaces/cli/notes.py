"""Commands for notes: sessions that begin and end, and the files that people edit."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator

from tacit.records.notes import (
    SECTION_HEADINGS,
    Note,
    NoteChange,
    NoteItem,
    NotesReport,
    NoteSummary,
    SessionStart,
)
from tacit.surfaces.cli import documents, drafts, files, tables, turns
from tacit.surfaces.cli.answers import NOTHING, Answer, Stream
from tacit.surfaces.cli.exits import BadUsage, Exit
from tacit.surfaces.cli.session import Session, count

_FILES = ("sync", "diff", "rebuild", "import", "watch")
_SESSION = ("start", "end")
_DONE = {True: "[x] ", False: "[ ] ", None: ""}


def options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("act", metavar="ACT", choices=_FILES, help=", ".join(_FILES))
    add("--to", metavar="DIR", help="with rebuild: all of them anew, in a folder that has none")
    add("--from", dest="from_", metavar="DIR", help="with import: from another folder")
    add(
        "--forget",
        action="store_true",
        help="with import: forget what is gone from the files, however much",
    )


def notes(session: Session) -> Answer | Stream:
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
        return Stream(lines=_watched(memory.watch_notes()))
    if args.act == "diff":
        return _differences(memory.diff_notes())
    if args.act == "rebuild":
        return _report("rebuilt", memory.rebuild_notes(args.to))
    if args.act == "import":
        return _report("imported", memory.import_notes(args.from_, forget=args.forget))
    return _report("synced", memory.sync_notes())


def _watched(reports: Iterator[NotesReport]) -> Iterator[str]:
    for one in reports:
        yield json.dumps(documents.nested(one), ensure_ascii=False)


def _report(what: str, done: NotesReport) -> Answer:
    counts = {
        "remembered": done.remembered,
        "updated": done.updated,
        "completed": done.completed,
        "forgotten": done.forgotten,
    }
    read = ", ".join(f"{number} {word}" for word, number in counts.items() if number)
    return Answer(
        document=documents.nested(done),
        lines=[
            f"{what}  {count(done.files, 'file')}",
            f"read    {count(done.read_back, 'file')}" + (f": {read}" if read else ""),
            f"wrote   {count(done.written, 'file')}",
            *tables.table(
                [("problem", one.problem, one.path, one.detail) for one in done.problems]
            ),
        ],
        exit=Exit.ABSENT if done.problems else Exit.OK,
    )


def _differences(found: list[NoteChange]) -> Answer:
    rows = [(one.act, one.path, _words(one.before, one.after)) for one in found]
    return Answer(
        document={"changes": [documents.nested(one) for one in found]},
        lines=tables.table(rows),
        notes=() if found else ("files and store agree",),
    )


def _words(before: str | None, after: str | None) -> str:
    return " → ".join(dict.fromkeys(one for one in (before, after) if one is not None))


def session_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("act", metavar="ACT", choices=_SESSION, help="start or end")
    add(
        "file", metavar="FILE", nargs="?", help="with end: what was said, as JSON lines; - is stdin"
    )
    add("--draft", metavar="FILE", help="with end: what it came to, as a JSON object; - is stdin")
    add("--session", metavar="NAME", help="the session; else that of the thread")
    add("--by", metavar="AGENT", help="the agent whose session it is")


def session(session: Session) -> Answer:
    args = session.args
    if args.act == "start":
        if args.file is not None or args.draft is not None:
            raise BadUsage("session: FILE and --draft go with end")
        return _started(session.view.begin_session(args.session))
    if args.file is None and args.draft is None:
        raise BadUsage("session: name a FILE of what was said, or a --draft of what it came to")
    if files.STDIN == args.file == args.draft:
        raise BadUsage("session: standard input is one file only")
    return _ended(session)


def _ended(session: Session) -> Answer:
    args = session.args
    draft = None if args.draft is None else drafts.read(args.draft)
    said = []
    if args.file is not None:
        with files.opened(args.file) as source:
            said = turns.parse(files.lines(source))
    done = session.view.end_session(said, draft=draft, session=args.session)
    told = [f"added {done.added}", f"merged {done.merged}", f"ticked {done.ticked}"]
    kept = [f"kept for good  {done.promoted}"] if done.promoted is not None else []
    return Answer(
        document=documents.nested(done),
        lines=[f"ended  {done.path}  {', '.join(told)}", *kept, *_items(done.note)],
        notes=() if done.note is not None or kept else ("there was nothing to write down",),
    )


def _started(woken: SessionStart) -> Answer:
    nothing = not (woken.long_term or woken.recent)
    return Answer(
        document=documents.nested(woken),
        lines=[
            f"session  {woken.session}",
            *tables.table([_kept(one) for one in woken.long_term]),
            *tables.table([_summed_up(one) for one in woken.recent]),
            *_items(woken.today),
        ],
        notes=(NOTHING,) if nothing else (),
    )


def _kept(item: NoteItem) -> tuple[str, ...]:
    added = item.added.isoformat() if item.added is not None else ""
    return ("kept", item.id or "", added, f"{_DONE[item.done]}{item.content}")


def _summed_up(one: NoteSummary) -> tuple[str, ...]:
    progress = f"tasks {one.tasks}, follow_ups {one.follow_ups}"
    return (one.day.isoformat(), one.path, progress, one.summary)


def _items(note: Note | None) -> list[str]:
    """What stands in the session's own note of the day."""
    if note is None:
        return []
    rows = [
        ("today", SECTION_HEADINGS[i.section], f"{_DONE[i.done]}{i.content}") for i in note.items
    ]
    return tables.table(rows)
