"""Commands that learn from conversations, and manage what was learned."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from tacit import Message, limits
from tacit.cli import inputs
from tacit.cli.arguments import ID, OPERATOR, OPTIONAL_ID, TIME_EXAMPLE, arg, command, flag
from tacit.cli.memories import done_result
from tacit.cli.output import (
    BadUsage,
    CommandResult,
    ExitCode,
    format_count,
    format_table,
    format_time,
    record_document,
    to_json,
    to_one_line,
)
from tacit.cli.session import CommandSession
from tacit.errors import InvalidInput
from tacit.records.conversation import Role
from tacit.records.results import Change, LearningQueueStatus, Proposal, Reverted

_STAGE_COLUMNS = 9  # the longest name of a stage
_QUARANTINE_ACTIONS = ("release", "discard")


@command(
    "learn",
    arg("text", metavar="TEXT", nargs="+", help="one message each; - reads lines from stdin"),
    flag("--queue", "only queue the messages; a worker learns from them"),
    flag("--trace", "print the stages of each message"),
    flag("--dry-run", "as --trace, and store nothing"),
    arg("--role", metavar="ROLE", default=Role.USER.value, help=f"speaker: {', '.join(Role)}"),
    arg("--message", metavar="TEXT", help="ID of the message in its channel; for one message"),
    arg("--at", metavar="TIME", help=f"when it was said, {TIME_EXAMPLE}"),
    arg("--by", metavar="AGENT", help="agent that sends the messages"),
)
def learn(session: CommandSession) -> CommandResult:
    """Learn from messages."""
    messages = _parse_messages(session)
    args = session.args
    if args.dry_run or args.trace:
        if args.queue:
            raise BadUsage("learn: --queue cannot be combined with --trace or --dry-run")
        return _trace_messages(session, messages, keep=not args.dry_run)
    view, mine = session.view, session.private_view
    before = view.delta().revision
    asked = {one.id for one in view.proposals.list()}
    quarantined_before = {
        one.id for one in mine.list(state="quarantined", limit=limits.PAGE_MAX_COUNT)
    }
    accepted = view.learn(messages)
    if not args.queue:
        session.memory.jobs.wait_for_learning()
    changes = view.delta(before).changes[::-1]
    new = [one for one in view.proposals.list() if one.id not in asked]
    held = [
        one.id
        for one in mine.list(state="quarantined", limit=limits.PAGE_MAX_COUNT)
        if one.id not in quarantined_before
    ]
    waits = session.memory.jobs.pending()
    return CommandResult(
        document={
            "turns": accepted.turns,
            "refused": list(accepted.refused),
            "changes": to_json(changes),
            "proposals": to_json(new),
            "quarantined": held,
            "waiting": waits.turns,
        },
        lines=[
            f"{_describe_state(waits, queued=args.queue)}  {format_count(accepted.turns, 'turn')}",
            *format_table(_change_rows(changes, new, held)),
        ],
        notes=_learning_notes(accepted.refused, waits, queued=args.queue),
        exit=ExitCode.ABSENT if accepted.refused else ExitCode.OK,
    )


def _describe_state(waits: LearningQueueStatus, *, queued: bool) -> str:
    if queued:
        return "queued"
    return "accepted" if waits.turns else "learned"


def _parse_messages(session: CommandSession) -> list[Message]:
    args = session.args
    texts = list(_read_texts(args.text))
    if args.message is not None and len(texts) != 1:
        raise BadUsage("learn: --message is for one message; learn one at a time")
    if len(texts) > limits.MESSAGES_MAX_COUNT:
        raise InvalidInput(
            "text", f"takes at most {limits.MESSAGES_MAX_COUNT} messages; split them"
        )
    at = inputs.parse_zoned_time("at", args.at)
    return [Message(args.role, text, at=at, id=args.message) for text in texts]


def _read_texts(written: list[str]) -> Iterator[str]:
    for text in written:
        if text != inputs.STDIN_NAME:
            yield text
            continue
        with inputs.open_input(text) as source:
            for line in inputs.read_lines(source):
                if line.strip():
                    yield line.rstrip("\r\n")


def _change_rows(
    changes: list[Change] | tuple[Change, ...], new: list[Proposal], held: list[str]
) -> list[tuple[str, str, str]]:
    rows = [(one.event, one.memory_id, one.content or "") for one in changes]
    rows += [("asks", one.id, f"{one.content} ({one.reason})") for one in new]
    return rows + [("quarantined", id, "see `tacit quarantine`") for id in held]


def _learning_notes(
    refused: tuple[str, ...], waits: LearningQueueStatus, *, queued: bool
) -> tuple[str, ...]:
    notes = [f"not learned: contains a secret ({kind})" for kind in refused]
    if waits.turns and not queued:
        notes.append(f"{format_count(waits.turns, 'turn')} queued: see `tacit waiting`")
    return tuple(notes)


def _trace_messages(
    session: CommandSession, messages: list[Message], *, keep: bool
) -> CommandResult:
    view = session.view
    lines: list[str] = []
    found: list[dict[str, Any]] = []
    for number, one in enumerate(messages):
        steps = view.trace(one, keep=keep)
        if number:
            lines.append("")
        lines += [f"{step.stage:<{_STAGE_COLUMNS}}  {to_one_line(step.says)}" for step in steps]
        found.append({"steps": [asdict(step) for step in steps]})
    return CommandResult(document={"messages": found}, lines=lines)


@command("proposals")
def proposals(session: CommandSession) -> CommandResult:
    """List proposals that wait for your consent."""
    found = session.view.proposals.list()
    rows = [
        (one.id, f"until {format_time(one.expires_at)}", f"{one.content} ({one.reason})")
        for one in found
    ]
    return CommandResult(
        document={"proposals": to_json(found)},
        lines=format_table(rows),
        notes=() if found else ("No proposals found.",),
    )


@command("approve", ID)
def approve(session: CommandSession) -> CommandResult:
    """Approve a proposal."""
    session.view.proposals.approve(session.args.id)
    return done_result(session.args.id, "approved")


@command("decline", ID)
def decline(session: CommandSession) -> CommandResult:
    """Decline a proposal."""
    session.view.proposals.decline(session.args.id)
    return done_result(session.args.id, "declined")


@command("waiting", flag("--retry", "retry turns that failed"))
def waiting(session: CommandSession) -> CommandResult:
    """Show the learning queue."""
    memory = session.memory
    retried = memory.jobs.retry_learning() if session.args.retry else 0
    found = memory.jobs.pending()
    notes = ("The next `tacit work` or `tacit learn` tries them.",) if retried else ()
    return CommandResult(
        document={**record_document(found), "retried": retried},
        lines=_queue_lines(found),
        notes=notes,
    )


@command("work", flag("--once", "process what is due now, then exit"))
def work(session: CommandSession) -> CommandResult:
    """Learn from queued turns and run due jobs, until stopped."""
    learned, ran = None, None
    if session.args.once:
        learned, ran = session.memory.jobs.wait_for_learning(), session.memory.jobs.run_due()
    else:
        with _catch_stop_signals() as stopped:
            session.memory.jobs.start()
            stopped.wait()
    found = session.memory.jobs.pending()
    lines = [] if learned is None else [f"learned  {format_count(learned, 'turn')}"]
    if ran:
        lines.append(f"ran      {format_count(ran, 'task')}")
    return CommandResult(
        document={"learned": learned, "ran": ran, **record_document(found)},
        lines=[*lines, *_queue_lines(found)],
    )


@contextmanager
def _catch_stop_signals() -> Iterator[threading.Event]:
    stopped = threading.Event()
    before = {
        one: signal.signal(one, lambda *_: stopped.set()) for one in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stopped
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _queue_lines(found: LearningQueueStatus) -> list[str]:
    since = f", the oldest since {format_time(found.oldest)}" if found.oldest else ""
    lines = [f"waiting  {format_count(found.turns, 'turn')}{since}"]
    if found.parked:
        lines.append(f"parked   {format_count(found.parked, 'turn')}; use --retry")
    return [*lines, *(f"problem  {kind}" for kind in found.problems)]


@command(
    "quarantine",
    arg(
        "act",
        metavar="ACTION",
        nargs="?",
        choices=_QUARANTINE_ACTIONS,
        help=f"{', '.join(_QUARANTINE_ACTIONS)} (default: list)",
    ),
    OPTIONAL_ID,
    OPERATOR,
)
def quarantine(session: CommandSession) -> CommandResult:
    """List, release or discard quarantined memories."""
    args = session.args
    if (args.act is None) is not (args.id is None):
        raise BadUsage("quarantine: specify the ID to release or discard")
    operator = session.memory.operator(args.as_operator)
    if args.act == "release":
        operator.quarantine.release(args.id)
        return done_result(args.id, "released", "; it is untrusted")
    if args.act == "discard":
        complete = operator.quarantine.discard(args.id).complete
        return CommandResult(
            document={"id": args.id, "done": "discarded", "complete": complete},
            lines=[f"discarded  {args.id}"],
        )
    found = operator.quarantine.list()
    rows = [
        (one.id, format_time(one.created_at), one.owner or "", _format_source(one.chat, one.message),
         f"{one.role or ''}{' of ' + one.agent if one.agent else ''}", one.reason)
        for one in found
    ]  # fmt: skip
    return CommandResult(
        document={"quarantined": to_json(found)},
        lines=format_table(rows),
        notes=() if found else ("No quarantined memories found.",),
    )


def _format_source(chat: str | None, message: str | None) -> str:
    """Format a source as `tacit revert --source` takes it."""
    return f"{chat or ''}/{message}" if message else chat or ""


@command(
    "revert",
    arg(
        "--source",
        metavar="SOURCE",
        required=True,
        help="telegram:-100, telegram:-100/42 (a message), agent:NAME or role:tool",
    ),
    flag("--dry-run", "only count"),
    OPERATOR,
)
def revert(session: CommandSession) -> CommandResult:
    """Undo everything learned from one source."""
    args = session.args
    done = session.memory.operator(args.as_operator).revert(args.source, dry_run=args.dry_run)
    return CommandResult(
        document={"source": args.source, "dry_run": args.dry_run, **asdict(done)},
        lines=[
            f"{'would revert' if args.dry_run else 'reverted'}  {args.source}",
            *_revert_lines(done),
        ],
    )


def _revert_lines(done: Reverted) -> Iterator[str]:
    parts = (
        (done.forgotten, "memory", "memories", "forgotten; restorable for 30 days"),
        (done.reworded, "memory", "memories", "with an earlier version restored"),
        (done.restored, "memory", "memories", "restored that had been replaced"),
        (done.proposals, "proposal", "proposals", "withdrawn"),
        (done.turns, "turn", "turns", "removed from the queue"),
    )
    for number, one, many, what in parts:
        if number:
            yield f"  {format_count(number, one, many)} {what}"
    if not done:
        yield "  nothing to revert"
