"""What a person at a terminal sees and types; off a terminal, what a script does."""

from __future__ import annotations

import contextlib
import io
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from tacit import limits
from tacit.cli.output import TerminalWriter
from tacit.surfaces.chat.say import Say, say
from tacit.surfaces.terminal import wording

_ALONE = "(for you alone)"
_KEPT = "surrogateescape"  # bytes that are no text stay to be seen, in their own line alone
_READ_CHARS = limits.CHAT_TEXT_MAX_CHARS + 1  # one too many, or the end of the line


@dataclass(frozen=True, slots=True)
class TerminalScreen:
    console: TerminalWriter
    prompt: str
    enabled: bool  # whether there is a memory

    def ask(self) -> str | None:
        """What cannot be read is told and left out: the conversation goes on."""
        if sys.stdin is None:
            return None
        if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors != _KEPT:
            sys.stdin.reconfigure(errors=_KEPT)
        while True:
            self.console.flush()
            line = self._typed() if sys.stdin.isatty() else _piped()
            problem = line and _problem(line)
            if not problem:
                return line
            self.show(say(problem), first=1)

    def _typed(self) -> str | None:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - with it a line can be edited
        try:
            return input(self.prompt)
        except EOFError:
            return None

    def note(self, text: str) -> None:
        self.console.note(text)

    def show(self, what: Say, first: int) -> None:
        if self.console.as_json:
            labels = [button.label for row in what.buttons for button in row]
            self.console.document(
                {
                    "text": what.text,
                    "buttons": labels,
                    "numbers": list(range(first, first + len(labels))),
                    "file": what.attachment and what.attachment.text,
                    "alone": what.alone,
                    "memory": self.enabled,
                }
            )
        else:
            self.console.lines(_lines(what, first))


def _piped() -> str | None:
    """Of a line that is too long no more is held than tells so."""
    line = rest = sys.stdin.readline(_READ_CHARS)
    while rest and not rest.endswith("\n"):
        rest = sys.stdin.readline(_READ_CHARS)
    return line.removesuffix("\n") if line else None


def _problem(line: str) -> str | None:
    if len(line) > limits.CHAT_TEXT_MAX_CHARS:
        return wording.TOO_LONG
    kinds = {unicodedata.category(char) for char in line.strip() if char != "\t"}
    if "Cs" in kinds:
        return wording.NOT_TEXT
    return wording.CONTROLS if "Cc" in kinds else None


def _lines(what: Say, first: int) -> Iterator[str]:
    if what.alone:
        yield _ALONE
    yield from what.text.splitlines()
    if what.attachment is not None:
        yield f"[{what.attachment.name}]"
        yield from what.attachment.text.splitlines()
    number = first
    for row in what.buttons:
        shown = []
        for button in row:
            shown.append(f"[{number}] {button.label}")
            number += 1
        yield "  ".join(shown)
    yield ""
