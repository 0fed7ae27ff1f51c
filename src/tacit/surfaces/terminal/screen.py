"""What a person at a terminal sees and types; off a terminal, what a script does."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tacit import chat_limits
from tacit.errors import InvalidInput
from tacit.surfaces.chat.say import Say
from tacit.surfaces.cli.console import Console

_ALONE = "(for you alone)"


@dataclass(frozen=True, slots=True)
class TerminalScreen:
    console: Console
    prompt: str
    enabled: bool  # whether there is a memory

    def ask(self) -> str | None:
        self.console.flush()
        if sys.stdin is None:
            return None
        try:
            line = self._typed() if sys.stdin.isatty() else _piped()
        except UnicodeDecodeError:
            raise InvalidInput("chat", "is not UTF-8 text; convert it first") from None
        if line is not None and len(line) > chat_limits.CHAT_TEXT_MAX_CHARS:
            most = f"{chat_limits.CHAT_TEXT_MAX_CHARS:,}"
            raise InvalidInput("chat", f"a line has at most {most} characters: shorten it")
        return line

    def _typed(self) -> str | None:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - with it a line can be edited
        try:
            return input(self.prompt)
        except EOFError:
            return None

    def show(self, what: Say, first: int) -> None:
        if self.console.as_json:
            self.console.document(
                {
                    "text": what.text,
                    "buttons": [button.label for row in what.buttons for button in row],
                    "file": what.attachment and what.attachment.text,
                    "alone": what.alone,
                    "memory": self.enabled,
                }
            )
        else:
            self.console.lines(_lines(what, first))


def _piped() -> str | None:
    return sys.stdin.readline(chat_limits.CHAT_TEXT_MAX_CHARS + 2) or None


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
