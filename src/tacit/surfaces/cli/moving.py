"""Commands that take over what other memories kept, tell what came, and take it back."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tacit import limits
from tacit.records.drafts import ImportPreviewItem, ImportRun
from tacit.surfaces.cli import documents, tables, whole
from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.console import Portion, safe
from tacit.surfaces.cli.exits import BadUsage, Exit, NotDone
from tacit.surfaces.cli.session import YES, Session

if TYPE_CHECKING:
    from tacit.memory import DisabledView, View
    from tacit.transfer.importers import ImportSource, ImportSummary, SourcePreview

_NOTHING_DONE = "nothing was imported"
_NOTHING_FOUND = "nothing was found in it: look at the format, and at --only"
_SHOWN_COUNT = 20  # of a preview; with --json there are more


def import_(session: Session) -> Answer:
    args = session.args
    if args.form is None:
        if args.only or args.run or args.yes:
            raise BadUsage("import: --only, --run and --yes go with --from")
        return whole.import_(session)
    from tacit.transfer import importers

    source = importers.open_source(args.file, args.form, only=args.only)
    view = session.require_private_view("import")
    if not args.yes:
        found = importers.preview_source(view, source, run=args.run)
        if not _asked(found, quiet=args.json):
            return _foreseen(found)
    return _done(_take_over(session, view, source))


def imports(session: Session) -> Answer:
    args = session.args
    view = session.require_private_view("imports")
    if args.revert is not None:
        return _revert(view, args.revert)
    page = view.imports(limit=args.limit, cursor=args.cursor)
    rows = [_row(one) for one in page]
    more = (f"there are more: say the same again with --cursor {page.cursor}",)
    return Answer(
        document={"imports": [_document(one) for one in page], "cursor": page.cursor},
        lines=tables.table(rows),
        notes=("no imports yet",) if not rows else more if page.cursor else (),
    )


def _revert(view: View | DisabledView, run: str) -> Answer:
    before = _reverted(view, run)
    done = view.revert_import(run)
    document = {"run": done.run, "forgotten": done.forgotten, "changed": done.changed}
    if before is not None:
        told = f"it was reverted already, {tables.when(before)}: nothing was done"
        return Answer(document={**document, "already": True}, lines=[], notes=(told,))
    told = f"reverted  {done.run}  {_memories(done.forgotten)} forgotten"
    left = f"{_memories(done.changed)} changed since, and left alone"
    return Answer(
        document={**document, "already": False},
        lines=[
            f"{told}; restorable for {limits.RESTORABLE_DAYS} days",
            *([f"  {left}"] if done.changed else []),
        ],
    )


def _memories(number: int) -> str:
    return f"{number:,} {'memory' if number == 1 else 'memories'}"


def _reverted(view: View | DisabledView, run: str) -> datetime | None:
    """Since when, where it was reverted before: to revert it again does nothing."""
    cursor = None
    while True:
        page = view.imports(limit=limits.PAGE_MAX_COUNT, cursor=cursor)
        for one in page:
            if one.run == run:
                return one.reverted_at
        cursor = page.cursor
        if cursor is None:
            return None


def _take_over(session: Session, view: View | DisabledView, source: ImportSource) -> ImportSummary:
    from tacit.transfer import importers

    run = session.args.run
    quiet = session.args.json
    begun = False

    def tell(done: int, total: int) -> None:
        nonlocal begun
        begun = True
        portion(done, total)

    try:
        with Portion(quiet=quiet) as portion:
            return importers.import_source(view, source, run=run, progress=tell)
    except BaseException:
        if begun and not quiet and sys.stderr is not None:
            name = safe(shlex.quote(run or source.run))
            sys.stderr.write(
                "stopped on the way: the same command goes on from there, and\n"
                f"`tacit imports --revert {name}` takes back what has come\n"
            )
        raise


def _asked(found: SourcePreview, *, quiet: bool) -> bool:
    """Whether somebody said yes. Where nobody can, they are told how."""
    if quiet or sys.stdin is None or not sys.stdin.isatty() or not found.new:
        return False
    for line in (*_preview_lines(found), *_problems(found)):
        sys.stderr.write(f"{safe(line)}\n")
    sys.stderr.write(f"import {found.new:,}? It can be reverted as one. [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in YES:
        raise NotDone(_NOTHING_DONE)
    return True


def _foreseen(found: SourcePreview) -> Answer:
    how = "say --yes to import it" if found.new else "there is nothing new in it"
    if not found.total:
        how = _NOTHING_FOUND
    return Answer(
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
            "shown": [_document(one) for one in found.shown],
        },
        lines=_preview_lines(found),
        notes=(*_problems(found), f"{_NOTHING_DONE}; {how}"),
        exit=Exit.ABSENT if found.new or not found.total else Exit.OK,
    )


def _done(done: ImportSummary) -> Answer:
    revert = f"  `tacit imports --revert {shlex.quote(done.run)}` takes it back"
    return Answer(
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
        lines=[_counts("imported", done.created, done), *([revert] if done.created else [])],
        notes=(*_problems(done), *(() if done.total else (_NOTHING_FOUND,))),
        exit=Exit.ABSENT if done.refused or done.skipped or not done.total else Exit.OK,
    )


def _preview_lines(found: SourcePreview) -> list[str]:
    shown = found.shown[:_SHOWN_COUNT]
    more = found.new - len(shown)
    sensitive = f"  sensitive: {found.sensitive:,} of the new ones; no group will hear them"
    return [
        _counts("preview", found.new, found),
        *([sensitive] if found.sensitive else []),
        *(f"  {line}" for line in tables.table([_shown(one) for one in shown])),
        *([f"  and {more:,} more; --json shows them"] if more else []),
    ]


def _counts(word: str, new: int, found: SourcePreview | ImportSummary) -> str:
    return (
        f"{word}  {new:,} new, {found.already:,} already here, "
        f"{found.refused:,} refused, {found.skipped:,} not readable"
    )


def _problems(found: SourcePreview | ImportSummary) -> tuple[str, ...]:
    more = found.refused + found.skipped - len(found.problems)
    return (*found.problems, *([f"and {more:,} more"] if more > 0 else []))


def _shown(one: ImportPreviewItem) -> tuple[str, ...]:
    filed = f"{one.category}/{one.key}" if one.key else one.category
    return filed, one.sensitivity.value, one.content


def _row(one: ImportRun) -> tuple[str, ...]:
    counts = f"{one.created:,} new, {one.already:,} already here, {one.refused:,} refused"
    # A terminal that is narrow cuts the last of these.
    return one.run, _standing(one), one.source, tables.when(one.started_at), counts


def _standing(one: ImportRun) -> str:
    if one.reverted_at is not None:
        return f"reverted {tables.when(one.reverted_at)}"
    if one.reverting:
        return "half reverted: say --revert again"
    if one.total is not None and one.done < one.total:
        return f"stopped at {one.done:,} of {one.total:,}"
    return "complete"


def _document(one: ImportRun | ImportPreviewItem) -> dict[str, Any]:
    return {name: documents.plain(value) for name, value in asdict(one).items()}
