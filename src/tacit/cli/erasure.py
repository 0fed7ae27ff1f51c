"""Commands that expire, purge and erase, and the certificates of erasure."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tacit.cli import options
from tacit.cli.memories import require_one_of
from tacit.cli.output import BadUsage, CommandResult, ExitCode
from tacit.cli.session import CommandSession, format_count
from tacit.errors import InvalidInput
from tacit.records.results import Certificate, Erased

# Commands that remove for good, and the certificates of it.

_CERTIFICATE_MAX_BYTES = 1_000_000


def add_erase_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("id", metavar="ID", nargs="?", help="the memory's 8 characters")
    add("--subject", metavar="KEY", help="as an operator: everything that belongs to a person")
    add(
        "--about",
        metavar="PERSON",
        help="as an operator: everything about a person, whoever owns it",
    )
    add("--source", metavar="SOURCE", help="as an operator: what was learned from it, for good")
    add("--whole-space", action="store_true", help="as an operator: everything in the space")
    add("--turns", action="store_true", help="also what it was learned from, word for word")
    add_certificate_file_option(parser)
    options.add_yes_option(parser)


def add_wipe_options(parser: ArgumentParser) -> None:
    add_certificate_file_option(parser)
    options.add_yes_option(parser)


def add_certificate_file_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--certificate", metavar="FILE", help="a new file for a signed word on what was removed"
    )


def add_certificate_options(parser: ArgumentParser) -> None:
    parser.add_argument("what", choices=["verify", "renew"], metavar="verify|renew")
    parser.add_argument("file", metavar="FILE", help="a certificate, as `erase` wrote it")
    parser.add_argument(
        "--certificate", metavar="FILE", help="with renew: a new file for the new certificate"
    )


def erase_memories(session: CommandSession) -> CommandResult:
    args = session.args
    require_one_of(args, "erase", "id", "subject", "about", "source", "whole_space")
    if args.turns and args.id is None:
        raise BadUsage("erase: --turns goes with an ID; everything else takes the turns along")
    if args.id is not None:
        view = session.view
        also = " and what it was learned from" if args.turns else ""
        session.confirm(f"erase {args.id}{also} for good")
        with _open_certificate(args.certificate) as write:
            return write(view.erase(args.id, turns=args.turns))
    session.confirm(_describe_erasure(session))
    with _open_certificate(args.certificate) as write:
        memory = session.memory
        if args.subject is not None:
            return write(memory.erase_subject(args.subject))
        if args.about is not None:
            return write(memory.erase_about(args.about))
        if args.source is not None:
            return write(memory.operator(session.actor).erase_source(args.source))
        return write(memory.erase_space())


def _describe_erasure(session: CommandSession) -> str:
    args = session.args
    if args.subject is not None:
        return f"erase everything that belongs to {args.subject}"
    if args.about is not None:
        return f"erase everything about {args.about}, whoever owns it"
    if args.source is not None:
        return f"erase everything that was learned from {args.source}"
    return "erase the whole space, everybody's memories in it"


def wipe_memories(session: CommandSession) -> CommandResult:
    view = session.view
    session.confirm(f"erase every memory of {session.requester.key}")
    with _open_certificate(session.args.certificate) as write:
        return write(view.wipe())


def check_certificate(session: CommandSession) -> CommandResult:
    path = Path(session.args.file)
    if "\0" in session.args.file:
        raise InvalidInput("file", "is no file name")
    with path.open("rb") as file:
        text = file.read(_CERTIFICATE_MAX_BYTES).decode("utf-8", "replace")
    if session.args.what == "renew":
        with _open_certificate(session.args.certificate) as write:
            return write.renewed(session.memory.renew_certificate(text))
    if session.args.certificate is not None:
        raise BadUsage("certificate: --certificate goes with renew")
    good = session.memory.verify_certificate(text)
    told = "genuine: this memory issued it as it stands" if good else "not genuine"
    return CommandResult(
        document={"genuine": good},
        lines=[told],
        exit=ExitCode.OK if good else ExitCode.ABSENT,
    )


class _CertificateWriter:
    """What was erased as an answer, with its certificate in the file that is kept for it."""

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
            lines=[f"erased  {format_count(erased.count, 'memory', 'memories')}"],
            notes=() if issued is None else _pending_notes(issued),
        )

    def renewed(self, issued: Certificate) -> CommandResult:
        told = "complete: no file of the database holds it" if issued.complete else "pending"
        return CommandResult(
            document={"complete": issued.complete, "certificate": self._write(issued)},
            lines=[told],
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
    """The file is there before anything is gone, and goes if nothing does."""
    if name is None:
        yield _CertificateWriter(None)
        return
    path = Path(name)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InvalidInput("--certificate", "that file exists; name another") from None
    except ValueError:
        raise InvalidInput("--certificate", "is no file name") from None
    try:
        yield _CertificateWriter(handle)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


# Commands about what time does: the sweep, and the purge.

_CLOCK_NOTE = "waits for the clock: if it is right now, say tacit purge --confirm-clock"


def add_purge_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--confirm-clock",
        action="store_true",
        help="the clock is right, although it leapt since the last sweep",
    )


def expire_memories(session: CommandSession) -> CommandResult:
    done = session.memory.expire()
    counts = {what: count for what, count in asdict(done).items() if what != "waits"}
    told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return CommandResult(
        document={**counts, "waits": done.waits is not None},
        lines=[f"swept  {told or 'nothing'}"],
        notes=(_CLOCK_NOTE,) if done.waits else (),
        exit=ExitCode.ABSENT if done.waits else ExitCode.OK,
    )


def purge_memories(session: CommandSession) -> CommandResult:
    done = session.memory.purge(confirm_clock=session.args.confirm_clock)
    told = f", {done.postponed} postponed" if done.postponed else ""
    return CommandResult(
        document={
            "purged": done.count,
            "postponed": done.postponed,
            "waits": done.waits is not None,
        },
        lines=[f"purged  {done.count}{told}"],
        notes=(_CLOCK_NOTE,) if done.waits else (),
        exit=ExitCode.ABSENT if done.waits else ExitCode.OK,
    )
