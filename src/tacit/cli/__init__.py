"""The `tacit` command line, for people and scripts."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from itertools import takewhile

from tacit.cli.output import (
    BadUsage,
    CommandResult,
    ExitCode,
    MemoryDisabled,
    NotDone,
    StreamedResult,
    TerminalWriter,
    find_exit_code,
    print_warnings,
)
from tacit.errors import TacitError


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code. No error leaves it as a traceback."""
    written = sys.argv[1:] if argv is None else list(argv)
    # Known before parsing, so that errors of the command line itself are JSON too.
    console = TerminalWriter(as_json="--json" in list(takewhile("--".__ne__, written)))
    try:
        try:
            code = _run_command(written, console)
        finally:
            console.flush()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return ExitCode.PIPE
    except (TacitError, BadUsage, MemoryDisabled, NotDone) as error:
        code = find_exit_code(error)
        console.failed(error, code, str(error))
    except OSError as error:
        code = find_exit_code(error)
        what = error.strerror or type(error).__name__
        console.failed(error, code, f"{error.filename}: {what}" if error.filename else what)
    except Exception as error:
        if sys.flags.dev_mode:  # python -X dev shows the traceback
            raise
        code = find_exit_code(error)
        # The message may hold private data: print the type only.
        message = f"This is a bug in Tacit ({type(error).__name__}). Please report it."
        console.failed(error, code, message)
    return code


def _run_command(written: list[str], console: TerminalWriter) -> ExitCode:
    from tacit.cli.parser import build_parser, parse_arguments
    from tacit.cli.session import CommandSession

    try:
        args = parse_arguments(written)
    except SystemExit:  # --help and --version
        return ExitCode.OK
    if args.command is None:
        build_parser().print_help(sys.stderr)
        return ExitCode.USAGE
    console.as_json = args.json
    with print_warnings(console), ExitStack() as resources:
        answer: CommandResult | StreamedResult = args.perform(CommandSession(args, resources))
        if isinstance(answer, StreamedResult):
            console.raw(answer.lines)
            return ExitCode.OK
    if args.json:
        console.document(answer.document)
    else:
        console.lines(answer.lines)
        for note in answer.notes:
            console.note(note)
    return answer.exit
