"""`tacit`, the command line: the words of the library, for people and for scripts."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from itertools import takewhile

from tacit.errors import TacitError
from tacit.surfaces.cli.answers import Answer, Stream
from tacit.surfaces.cli.console import Console, remarks
from tacit.surfaces.cli.exits import BadUsage, Exit, MemoryDisabled, NotDone, exit_of


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code. No error leaves it as a traceback."""
    written = sys.argv[1:] if argv is None else list(argv)
    # Known before parsing, so that a bad command line too is answered in the form asked for.
    console = Console(as_json="--json" in list(takewhile("--".__ne__, written)))
    try:
        try:
            code = _run(written, console)
        finally:
            console.flush()
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return Exit.PIPE
    except (TacitError, BadUsage, MemoryDisabled, NotDone) as error:
        code = exit_of(error)
        console.failed(error, code, str(error))
    except OSError as error:
        code = exit_of(error)
        console.failed(error, code, _reason(error))
    except Exception as error:  # the last resort of a program
        if sys.flags.dev_mode:  # python -X dev: whoever looks for the bug wants the traceback
            raise
        code = exit_of(error)
        # Its text may hold people's words: only its kind is told.
        console.failed(error, code, f"a bug in Tacit ({type(error).__name__}): please report it")
    return code


def _run(written: list[str], console: Console) -> Exit:
    from tacit.surfaces.cli.parser import build, parse
    from tacit.surfaces.cli.session import Session

    try:
        args = parse(written)
    except SystemExit:  # --help and --version
        return Exit.OK
    if args.command is None:
        build().print_help(sys.stderr)
        return Exit.USAGE
    console.as_json = args.json
    with remarks(console), ExitStack() as resources:
        answer: Answer | Stream = args.perform(Session(args, resources))
        if isinstance(answer, Stream):
            console.raw(answer.lines)
            return Exit.OK
    if args.json:
        console.document(answer.document)
    else:
        console.lines(answer.lines)
        for note in answer.notes:
            console.note(note)
    return answer.exit


def _reason(error: OSError) -> str:
    what = error.strerror or type(error).__name__
    return f"{error.filename}: {what}" if error.filename else what
