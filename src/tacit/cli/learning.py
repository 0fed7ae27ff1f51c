"""Commands that learn from conversations, and look after what was learned."""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from tacit import Message, limits
from tacit.cli import inputs, output
from tacit.cli.output import BadUsage, CommandResult, ExitCode
from tacit.cli.session import CommandSession, format_count
from tacit.errors import InvalidInput
from tacit.records.conversation import Role
from tacit.records.results import Change, LearningQueueStatus, Proposal, Reverted

# What the commands of learning take, beside the global options.

QUARANTINE_ACTIONS = ("release", "discard")


def add_learn_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("text", metavar="TEXT", nargs="+", help="a message each; - reads lines from stdin")
    add("--queue", action="store_true", help="only accept it; it is learned by whoever works")
    add("--trace", action="store_true", help="print each message's way through the stages")
    add("--dry-run", action="store_true", help="as --trace, and keep nothing of it")
    add("--role", metavar="ROLE", default=Role.USER.value, help=f"who said it: {', '.join(Role)}")
    add("--message", metavar="TEXT", help="the channel's id of the message; for one message")
    add("--at", metavar="TIME", help="when it was said: 2026-03-01T12:00:00+00:00")
    add("--by", metavar="AGENT", help="the agent that hands it over")


def add_waiting_options(parser: ArgumentParser) -> None:
    parser.add_argument("--retry", action="store_true", help="try again what was given up")


def add_work_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--once", action="store_true", help="learn what waits, run what is due, and end"
    )


def add_quarantine_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "act",
        metavar="ACT",
        nargs="?",
        choices=QUARANTINE_ACTIONS,
        help=f"{', '.join(QUARANTINE_ACTIONS)}; else list it",
    )
    parser.add_argument("id", metavar="ID", nargs="?", help="the memory's 8 characters")
    _add_operator_option(parser)


def add_revert_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--source",
        metavar="SOURCE",
        required=True,
        help="telegram:-100, telegram:-100/42 (a message), agent:NAME or role:tool",
    )
    parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")
    _add_operator_option(parser)


def _add_operator_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--as-operator",
        metavar="NAME",
        default="cli",
        help="who stands in the history of what changes (default %(default)s)",
    )


# Commands that learn from conversations, and those that look after what was learned.

_STAGE_COLUMNS = 9  # the longest of their names


def learn_messages(session: CommandSession) -> CommandResult:
    said = _parse_messages(session)
    args = session.args
    if args.dry_run or args.trace:
        if args.queue:
            raise BadUsage("learn: --queue leaves it to others, and has no way to show")
        return _trace_messages(session, said, keep=not args.dry_run)
    view, mine = session.view, session.private_view
    before = view.delta().revision
    asked = {one.id for one in view.proposals.list()}
    aside = {one.id for one in mine.list(state="quarantined", limit=limits.PAGE_MAX_COUNT)}
    accepted = view.learn(said)
    if not args.queue:
        session.memory.catch_up()
    changes = view.delta(before).changes[::-1]
    new = [one for one in view.proposals.list() if one.id not in asked]
    held = [
        one.id
        for one in mine.list(state="quarantined", limit=limits.PAGE_MAX_COUNT)
        if one.id not in aside
    ]
    waits = session.memory.waiting()
    return CommandResult(
        document={
            "turns": accepted.turns,
            "refused": list(accepted.refused),
            "changes": [output.change_document(one) for one in changes],
            "proposals": [output.proposal_document(one) for one in new],
            "quarantined": held,
            "waiting": waits.turns,
        },
        lines=[
            f"{_describe_state(waits, queued=args.queue)}  {format_count(accepted.turns, 'turn')}",
            *output.format_table(_change_rows(changes, new, held)),
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
        raise BadUsage("learn: --message names one message; hand them over one by one")
    if len(texts) > limits.MESSAGES_MAX_COUNT:
        raise InvalidInput(
            "text", f"takes at most {limits.MESSAGES_MAX_COUNT} messages: hand them over in parts"
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
    return rows + [("quarantined", id, "`tacit quarantine` tells why") for id in held]


def _learning_notes(
    refused: tuple[str, ...], waits: LearningQueueStatus, *, queued: bool
) -> tuple[str, ...]:
    told = [f"not learned from: it holds a secret ({kind})" for kind in refused]
    if waits.turns and not queued:
        told.append(f"{format_count(waits.turns, 'turn')} wait to be learned: see `tacit waiting`")
    return tuple(told)


def _trace_messages(session: CommandSession, said: list[Message], *, keep: bool) -> CommandResult:
    view = session.view
    lines: list[str] = []
    found: list[dict[str, Any]] = []
    for number, one in enumerate(said):
        steps = view.trace(one, keep=keep)
        if number:
            lines.append("")
        lines += [
            f"{step.stage:<{_STAGE_COLUMNS}}  {output.to_one_line(step.says)}" for step in steps
        ]
        found.append({"steps": [asdict(step) for step in steps]})
    return CommandResult(document={"messages": found}, lines=lines)


def list_proposals(session: CommandSession) -> CommandResult:
    found = session.view.proposals.list()
    rows = [
        (one.id, f"until {output.format_time(one.expires_at)}", f"{one.content} ({one.reason})")
        for one in found
    ]
    return CommandResult(
        document={"proposals": [output.proposal_document(one) for one in found]},
        lines=output.format_table(rows),
        notes=() if found else ("nothing waits for your yes",),
    )


def approve_proposal(session: CommandSession) -> CommandResult:
    id = session.args.id
    session.view.proposals.approve(id)
    return CommandResult(document={"id": id, "done": "approved"}, lines=[f"approved  {id}"])


def decline_proposal(session: CommandSession) -> CommandResult:
    id = session.args.id
    session.view.proposals.decline(id)
    return CommandResult(document={"id": id, "done": "declined"}, lines=[f"declined  {id}"])


def show_waiting(session: CommandSession) -> CommandResult:
    memory = session.memory
    retried = memory.retry_learning() if session.args.retry else 0
    found = memory.waiting()
    notes = ("they are learned by the next `tacit work` or `tacit learn`",) if retried else ()
    return CommandResult(
        document={**output.waiting_document(found), "retried": retried},
        lines=_queue_lines(found),
        notes=notes,
    )


def run_worker(session: CommandSession) -> CommandResult:
    """Until somebody says stop; what is being done then is finished."""
    learned, ran = None, None
    if session.args.once:
        learned, ran = session.memory.catch_up(), session.memory.run_due_jobs()
    else:
        with _catch_stop_signals() as stopped:
            session.memory.keep_working()
            stopped.wait()
    found = session.memory.waiting()
    told = [] if learned is None else [f"learned  {format_count(learned, 'turn')}"]
    if ran:
        told.append(f"ran      {format_count(ran, 'task')}")
    return CommandResult(
        document={"learned": learned, "ran": ran, **output.waiting_document(found)},
        lines=[*told, *_queue_lines(found)],
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
    since = f", the oldest since {output.format_time(found.oldest)}" if found.oldest else ""
    lines = [f"waiting  {format_count(found.turns, 'turn')}{since}"]
    if found.parked:
        lines.append(f"parked   {format_count(found.parked, 'turn')}; --retry tries again")
    return [*lines, *(f"problem  {kind}" for kind in found.problems)]


def manage_quarantine(session: CommandSession) -> CommandResult:
    args = session.args
    if (args.act is None) is not (args.id is None):
        raise BadUsage("quarantine: name what to release or discard by its ID")
    operator = session.memory.operator(args.as_operator)
    if args.act == "release":
        operator.quarantine.release(args.id)
        return CommandResult(
            document={"id": args.id, "done": "released"},
            lines=[f"released  {args.id}; it counts as untrusted"],
        )
    if args.act == "discard":
        complete = operator.quarantine.discard(args.id).complete
        return CommandResult(
            document={"id": args.id, "done": "discarded", "complete": complete},
            lines=[f"discarded  {args.id}"],
        )
    found = operator.quarantine.list()
    rows = [
        (one.id, output.format_time(one.created_at), one.owner or "", _format_source(one.chat, one.message),
         f"{one.role or ''}{' of ' + one.agent if one.agent else ''}", one.reason)
        for one in found
    ]  # fmt: skip
    return CommandResult(
        document={"quarantined": [output.quarantined_document(one) for one in found]},
        lines=output.format_table(rows),
        notes=() if found else ("nothing is in quarantine",),
    )


def _format_source(chat: str | None, message: str | None) -> str:
    """As `tacit revert --source` takes it."""
    return f"{chat or ''}/{message}" if message else chat or ""


def revert_source(session: CommandSession) -> CommandResult:
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
        (done.reworded, "memory", "memories", "with an earlier wording back"),
        (done.restored, "memory", "memories", "that had been replaced, standing again"),
        (done.proposals, "proposal", "proposals", "withdrawn"),
        (done.turns, "turn", "turns", "not to be learned any more"),
    )
    for number, one, many, what in parts:
        if number:
            yield f"  {format_count(number, one, many)} {what}"
    if not done:
        yield "  nothing is left of it"
