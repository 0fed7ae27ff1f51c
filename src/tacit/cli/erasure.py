"""Commands that expire, purge and erase, and erasure certificates."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tacit.cli.arguments import CERTIFICATE, OPTIONAL_ID, SUBJECT, YES, arg, command, flag
from tacit.cli.memories import require_one_of
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
    arg("--about", metavar="PERSON", help="as an operator: all memories about this person"),
    arg("--source", metavar="SOURCE", help="as an operator: all memories learned from it"),
    flag("--whole-space", "as an operator: everything in the space"),
    flag("--turns", "also the recorded turns that it was learned from"),
    CERTIFICATE,
    YES,
)
def erase(session: CommandSession) -> CommandResult:
    """Erase memories permanently."""
    args = session.args
    require_one_of(args, "erase", "id", "subject", "about", "source", "whole_space")
    if args.turns and args.id is None:
        raise BadUsage("erase: --turns requires an ID; the other options include the turns")
    if args.id is not None:
        view = session.view
        also = " and the turns it was learned from" if args.turns else ""
        session.confirm(f"erase {args.id}{also}")
        with _open_certificate(args.certificate) as write:
            return write(view.erase(args.id, turns=args.turns))
    session.confirm(_describe_erasure(session))
    with _open_certificate(args.certificate) as write:
        memory = session.memory
        if args.subject is not None:
            return write(memory.admin.erase_person(args.subject))
        if args.about is not None:
            return write(memory.admin.erase_about(args.about))
        if args.source is not None:
            return write(memory.operator(session.actor).erase_source(args.source))
        return write(memory.admin.erase_space())


def _describe_erasure(session: CommandSession) -> str:
    args = session.args
    if args.subject is not None:
        return f"erase all memories of {args.subject}"
    if args.about is not None:
        return f"erase all memories about {args.about}, of every owner"
    if args.source is not None:
        return f"erase all memories learned from {args.source}"
    return "erase the whole space, with the memories of all people"


@command("wipe", CERTIFICATE, YES)
def wipe(session: CommandSession) -> CommandResult:
    """Erase all your memories permanently."""
    view = session.view
    session.confirm(f"erase all memories of {session.requester.key}")
    with _open_certificate(session.args.certificate) as write:
        return write(view.wipe())


@command(
    "certificate",
    arg("what", choices=["verify", "renew"], metavar="verify|renew"),
    arg("file", metavar="FILE", help="erasure certificate"),
    arg("--certificate", metavar="FILE", help="with renew: new file for the new certificate"),
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
            return write.renewed(session.memory.admin.renew_certificate(text))
    if args.certificate is not None:
        raise BadUsage("certificate: --certificate requires renew")
    genuine = session.memory.admin.verify_certificate(text)
    return CommandResult(
        document={"genuine": genuine},
        lines=["genuine: issued by this memory, unchanged" if genuine else "not genuine"],
        exit=ExitCode.OK if genuine else ExitCode.ABSENT,
    )


class _CertificateWriter:
    """Turn an erasure into a result, and write its certificate to the file if there is one."""

    def __init__(self, handle: int | None) -> None:
        self._handle = handle

    def __call__(self, erased: Erased) -> CommandResult:
        issued = erased.certificate
        document: dict[str, Any] = {
            "done": "erased",
            "count": erased.count,
            "complete": erased.complete,
            "certificate": None if issued is None else self._write(issued),
        }
        return CommandResult(
            document=document,
            lines=[f"erased  {format_memory_count(erased.count)}"],
            notes=() if issued is None else _pending_notes(issued),
        )

    def renewed(self, issued: Certificate) -> CommandResult:
        complete = "complete: no database file holds the data"
        return CommandResult(
            document={"complete": issued.complete, "certificate": self._write(issued)},
            lines=[complete if issued.complete else "pending"],
            notes=_pending_notes(issued),
        )

    def _write(self, issued: Certificate) -> Any:
        text = issued.to_json()
        if self._handle is not None:
            os.write(self._handle, (text + "\n").encode())
        return json.loads(text)


def _pending_notes(issued: Certificate) -> tuple[str, ...]:
    return tuple(f"pending: {one.what} {one.ends}" for one in issued.pending)


@contextmanager
def _open_certificate(name: str | None) -> Iterator[_CertificateWriter]:
    """Create the file before the erasure, and remove it if the erasure fails."""
    if name is None:
        yield _CertificateWriter(None)
        return
    path = Path(name)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InvalidInput("--certificate", "the file exists; choose another name") from None
    except ValueError:
        raise InvalidInput("--certificate", "is not a file name") from None
    try:
        yield _CertificateWriter(handle)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


@command("expire")
def expire(session: CommandSession) -> CommandResult:
    """Forget memories that expired or faded."""
    done = session.memory.jobs.expire()
    counts = {what: count for what, count in asdict(done).items() if what != "waits"}
    shown = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return CommandResult(
        document={**counts, "waits": done.waits is not None},
        lines=[f"expired  {shown or 'nothing'}"],
        notes=(_CLOCK_NOTE,) if done.waits else (),
        exit=ExitCode.ABSENT if done.waits else ExitCode.OK,
    )


@command(
    "purge", flag("--confirm-clock", "the clock is right, although it jumped since the last run")
)
def purge(session: CommandSession) -> CommandResult:
    """Delete memories that can no longer be restored."""
    done = session.memory.jobs.purge(confirm_clock=session.args.confirm_clock)
    postponed = f", {done.postponed} postponed" if done.postponed else ""
    return CommandResult(
        document={
            "purged": done.count,
            "postponed": done.postponed,
            "waits": done.waits is not None,
        },
        lines=[f"purged  {done.count}{postponed}"],
        notes=(_CLOCK_NOTE,) if done.waits else (),
        exit=ExitCode.ABSENT if done.waits else ExitCode.OK,
    )
