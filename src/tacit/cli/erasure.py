"""Commands that expire, purge and erase, and erasure certificates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tacit.cli.arguments import CERTIFICATE, OPTIONAL_ID, SUBJECT, YES, arg, command, flag
from tacit.cli.inputs import create_file, require_one_of
from tacit.cli.output import BadUsage, CommandResult, ExitCode, format_memory_count
from tacit.cli.session import CommandSession
from tacit.errors import InvalidInput
from tacit.records.results import Certificate, Erased

_CERTIFICATE_MAX_BYTES = 1_000_000
_CLOCK_NOTE = "The clock jumped. If it is right now, run `tacit purge --confirm-clock`."


@command(
    "erase",
    OPTIONAL_ID,
    SUBJECT,
    arg("--about", "PERSON", "as an operator: all memories about this person"),
    arg("--source", "SOURCE", "as an operator: all memories learned from it"),
    flag("--whole-space", "as an operator: everything in the space"),
    flag("--turns", "also the turns in its thread that wait to be learned"),
    CERTIFICATE,
    YES,
)
def erase(session: CommandSession) -> CommandResult:
    """Erase memories permanently."""
    args = session.args
    require_one_of(args, "id", "subject", "about", "source", "whole_space")
    if args.turns and args.id is None:
        raise BadUsage("erase: --turns requires an ID; the other options include the turns")
    if args.id is not None:
        view = session.view
        also = " and the turns that wait in its thread" if args.turns else ""
        return _erase(session, f"{args.id}{also}", lambda: view.erase(args.id, turns=args.turns))
    if args.subject is not None:
        what = f"all memories of {args.subject}"
        return _erase(session, what, lambda: session.memory.admin.erase_person(args.subject))
    if args.about is not None:
        what = f"all memories about {args.about}, of every owner"
        return _erase(session, what, lambda: session.memory.admin.erase_about(args.about))
    if args.source is not None:
        operator = session.actor
        return _erase(
            session,
            f"all memories learned from {args.source}",
            lambda: session.memory.operator(operator).erase_source(args.source),
        )
    what = "the whole space, with the memories of all people"
    return _erase(session, what, lambda: session.memory.admin.erase_space())  # noqa: PLW0108 (opened later)


@command("wipe", CERTIFICATE, YES)
def wipe(session: CommandSession) -> CommandResult:
    """Erase all your memories permanently."""
    view = session.view
    return _erase(session, f"all memories of {session.requester.key}", view.wipe)


def _erase(session: CommandSession, what: str, act: Callable[[], Erased]) -> CommandResult:
    session.confirm(f"erase {what}")
    with _open_certificate(session.args.certificate) as write:
        erased = act()
        issued = erased.certificate
        document = {
            "done": "erased",
            "count": erased.count,
            "complete": erased.complete,
            "certificate": None if issued is None else write(issued),
        }
    notes = () if issued is None else _pending_notes(issued)
    return CommandResult(document, [f"erased  {format_memory_count(erased.count)}"], notes)


@command(
    "certificate",
    arg("what", "verify|renew", choices=["verify", "renew"]),
    arg("file", "FILE", "erasure certificate"),
    arg("--certificate", "FILE", "with renew: new file for the new certificate"),
)
def certificate(session: CommandSession) -> CommandResult:
    """Verify or renew an erasure certificate."""
    args = session.args
    if "\0" in args.file:
        raise InvalidInput("file", "is not a file name")
    with Path(args.file).open("rb") as file:
        text = file.read(_CERTIFICATE_MAX_BYTES).decode("utf-8", "replace")
    if args.what == "renew":
        with _open_certificate(args.certificate) as write:
            issued = session.memory.admin.renew_certificate(text)
            document = {"complete": issued.complete, "certificate": write(issued)}
        state = "complete: no database file holds the data" if issued.complete else "pending"
        return CommandResult(document, [state], _pending_notes(issued))
    if args.certificate is not None:
        raise BadUsage("certificate: --certificate requires renew")
    genuine = session.memory.admin.verify_certificate(text)
    return CommandResult(
        {"genuine": genuine},
        ["genuine: issued by this memory, unchanged" if genuine else "not genuine"],
        exit=ExitCode.OK if genuine else ExitCode.ABSENT,
    )


def _pending_notes(issued: Certificate) -> tuple[str, ...]:
    return tuple(f"pending: {one.what} {one.ends}" for one in issued.pending)


@contextmanager
def _open_certificate(name: str | None) -> Iterator[Callable[[Certificate], Any]]:
    """Create the file before the erasure, and remove it if the erasure fails.

    The function that it yields writes a certificate to the file, if there is one, and encodes it.
    """
    with create_file("--certificate", name) if name is not None else nullcontext() as file:

        def write(issued: Certificate) -> Any:
            text = issued.to_json()
            if file is not None:
                file.write(text + "\n")
            return json.loads(text)

        yield write


@command("expire")
def expire(session: CommandSession) -> CommandResult:
    """Forget memories that expired or faded."""
    counts = asdict(session.memory.jobs.expire())
    waits = counts.pop("waits") is not None
    shown = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return _lifecycle_result(counts, f"expired  {shown or 'nothing'}", waits=waits)


@command("purge", flag("--confirm-clock", "the clock is right, although it jumped since the last run"))
def purge(session: CommandSession) -> CommandResult:
    """Delete memories that can no longer be restored."""
    done = session.memory.jobs.purge(**session.given)
    postponed = f", {done.postponed} postponed" if done.postponed else ""
    counts = {"purged": done.count, "postponed": done.postponed}
    return _lifecycle_result(counts, f"purged  {done.count}{postponed}", waits=done.waits is not None)


def _lifecycle_result(counts: dict[str, int], line: str, *, waits: bool) -> CommandResult:
    document = {**counts, "waits": waits}
    if waits:
        return CommandResult(document, [line], (_CLOCK_NOTE,), ExitCode.ABSENT)
    return CommandResult(document, [line])
