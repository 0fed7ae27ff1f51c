"""Commands that learn from conversations, and those that look after what was learned."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from tacit import Message, limits
from tacit.errors import InvalidInput
from tacit.records.results import Change, LearningQueueStatus, Proposal, Reverted
from tacit.surfaces.cli import documents, files, tables, turns
from tacit.surfaces.cli.answers import Answer
from tacit.surfaces.cli.exits import BadUsage, Exit
from tacit.surfaces.cli.session import Session, count

_STAGE_COLUMNS = 9  # the longest of their names


def learn(session: Session) -> Answer:
    said = _messages(session)
    args = session.args
    if args.dry_run or args.trace:
        if args.queue:
            raise BadUsage("learn: --queue leaves it to others, and has no way to show")
        return _traced(session, said, keep=not args.dry_run)
    view, mine = session.view, session.private_view
    before = view.delta().revision
    asked = {one.id for one in view.proposals()}
    aside = {one.id for one in mine.list(state="quarantined", limit=limits.PAGE_MAX_COUNT)}
    accepted = view.learn(said)
    if not args.queue:
        session.memory.catch_up()
    changes = view.delta(before).changes[::-1]
    new = [one for one in view.proposals() if one.id not in asked]
    held = [
        one.id
        for one in mine.list(state="quarantined", limit=limits.PAGE_MAX_COUNT)
        if one.id not in aside
    ]
    waits = session.memory.waiting()
    return Answer(
        document={
            "turns": accepted.turns,
            "refused": list(accepted.refused),
            "changes": [documents.change(one) for one in changes],
            "proposals": [documents.proposal(one) for one in new],
            "quarantined": held,
            "waiting": waits.turns,
        },
        lines=[
            f"{_became(waits, queued=args.queue)}  {count(accepted.turns, 'turn')}",
            *tables.table(_came(changes, new, held)),
        ],
        notes=_remarks(accepted.refused, waits, queued=args.queue),
        exit=Exit.ABSENT if accepted.refused else Exit.OK,
    )


def _became(waits: LearningQueueStatus, *, queued: bool) -> str:
    if queued:
        return "queued"
    return "accepted" if waits.turns else "learned"


def _messages(session: Session) -> list[Message]:
    args = session.args
    texts = list(_texts(args.text))
    if args.message is not None and len(texts) != 1:
        raise BadUsage("learn: --message names one message; hand them over one by one")
    if len(texts) > limits.MESSAGES_MAX_COUNT:
        raise InvalidInput(
            "text", f"takes at most {limits.MESSAGES_MAX_COUNT} messages: hand them over in parts"
        )
    at = turns.moment("at", args.at)
    return [Message(args.role, text, at=at, id=args.message) for text in texts]


def _texts(written: list[str]) -> Iterator[str]:
    for text in written:
        if text != files.STDIN:
            yield text
            continue
        with files.opened(text) as source:
            for line in files.lines(source):
                if line.strip():
                    yield line.rstrip("\r\n")


def _came(
    changes: list[Change] | tuple[Change, ...], new: list[Proposal], held: list[str]
) -> list[tuple[str, str, str]]:
    rows = [(one.event, one.memory_id, one.content or "") for one in changes]
    rows += [("asks", one.id, f"{one.content} ({one.reason})") for one in new]
    return rows + [("quarantined", id, "`tacit quarantine` tells why") for id in held]


def _remarks(
    refused: tuple[str, ...], waits: LearningQueueStatus, *, queued: bool
) -> tuple[str, ...]:
    told = [f"not learned from: it holds a secret ({kind})" for kind in refused]
    if waits.turns and not queued:
        told.append(f"{count(waits.turns, 'turn')} wait to be learned: see `tacit waiting`")
    return tuple(told)


def _traced(session: Session, said: list[Message], *, keep: bool) -> Answer:
    view = session.view
    lines: list[str] = []
    found: list[dict[str, Any]] = []
    for number, one in enumerate(said):
        steps = view.trace(one, keep=keep)
        if number:
            lines.append("")
        lines += [f"{step.stage:<{_STAGE_COLUMNS}}  {tables.one_line(step.says)}" for step in steps]
        found.append({"steps": [asdict(step) for step in steps]})
    return Answer(document={"messages": found}, lines=lines)


def proposals(session: Session) -> Answer:
    found = session.view.proposals()
    rows = [
        (one.id, f"until {tables.when(one.expires_at)}", f"{one.content} ({one.reason})")
        for one in found
    ]
    return Answer(
        document={"proposals": [documents.proposal(one) for one in found]},
        lines=tables.table(rows),
        notes=() if found else ("nothing waits for your yes",),
    )


def approve(session: Session) -> Answer:
    id = session.args.id
    session.view.approve(id)
    return Answer(document={"id": id, "done": "approved"}, lines=[f"approved  {id}"])


def decline(session: Session) -> Answer:
    id = session.args.id
    session.view.decline(id)
    return Answer(document={"id": id, "done": "declined"}, lines=[f"declined  {id}"])


def waiting(session: Session) -> Answer:
    memory = session.memory
    retried = memory.retry_learning() if session.args.retry else 0
    found = memory.waiting()
    notes = ("they are learned by the next `tacit work` or `tacit learn`",) if retried else ()
    return Answer(
        document={**documents.waiting(found), "retried": retried},
        lines=_queue(found),
        notes=notes,
    )


def work(session: Session) -> Answer:
    """Until somebody says stop; what is being done then is finished."""
    learned, ran = None, None
    if session.args.once:
        learned, ran = session.memory.catch_up(), session.memory.run_due_jobs()
    else:
        with _until_stopped() as stopped:
            session.memory.keep_working()
            stopped.wait()
    found = session.memory.waiting()
    told = [] if learned is None else [f"learned  {count(learned, 'turn')}"]
    if ran:
        told.append(f"ran      {count(ran, 'task')}")
    return Answer(
        document={"learned": learned, "ran": ran, **documents.waiting(found)},
        lines=[*told, *_queue(found)],
    )


@contextmanager
def _until_stopped() -> Iterator[threading.Event]:
    stopped = threading.Event()
    before = {
        one: signal.signal(one, lambda *_: stopped.set()) for one in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stopped
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _queue(found: LearningQueueStatus) -> list[str]:
    since = f", the oldest since {tables.when(found.oldest)}" if found.oldest else ""
    lines = [f"waiting  {count(found.turns, 'turn')}{since}"]
    if found.parked:
        lines.append(f"parked   {count(found.parked, 'turn')}; --retry tries again")
    return [*lines, *(f"problem  {kind}" for kind in found.problems)]


def quarantine(session: Session) -> Answer:
    args = session.args
    if (args.act is None) is not (args.id is None):
        raise BadUsage("quarantine: name what to release or discard by its ID")
    operator = session.memory.operator(args.as_operator)
    if args.act == "release":
        operator.release(args.id)
        return Answer(
            document={"id": args.id, "done": "released"},
            lines=[f"released  {args.id}; it counts as untrusted"],
        )
    if args.act == "discard":
        complete = operator.discard(args.id).complete
        return Answer(
            document={"id": args.id, "done": "discarded", "complete": complete},
            lines=[f"discarded  {args.id}"],
        )
    found = operator.quarantined()
    rows = [
        (one.id, tables.when(one.created_at), one.owner or "", _from(one.chat, one.message),
         f"{one.role or ''}{' of ' + one.agent if one.agent else ''}", one.reason)
        for one in found
    ]  # fmt: skip
    return Answer(
        document={"quarantined": [documents.quarantined(one) for one in found]},
        lines=tables.table(rows),
        notes=() if found else ("nothing is in quarantine",),
    )


def _from(chat: str | None, message: str | None) -> str:
    """As `tacit revert --source` takes it."""
    return f"{chat or ''}/{message}" if message else chat or ""


def revert(session: Session) -> Answer:
    args = session.args
    done = session.memory.operator(args.as_operator).revert(args.source, dry_run=args.dry_run)
    return Answer(
        document={"source": args.source, "dry_run": args.dry_run, **asdict(done)},
        lines=[
            f"{'would revert' if args.dry_run else 'reverted'}  {args.source}",
            *_reverted(done),
        ],
    )


def _reverted(done: Reverted) -> Iterator[str]:
    parts = (
        (done.forgotten, "memory", "memories", "forgotten; restorable for 30 days"),
        (done.reworded, "memory", "memories", "with an earlier wording back"),
        (done.restored, "memory", "memories", "that had been replaced, standing again"),
        (done.proposals, "proposal", "proposals", "withdrawn"),
        (done.turns, "turn", "turns", "not to be learned any more"),
    )
    for number, one, many, what in parts:
        if number:
            yield f"  {count(number, one, many)} {what}"
    if not done:
        yield "  nothing is left of it"
