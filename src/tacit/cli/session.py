"""One run of a command: its settings, its memory, and the view of whom it acts for."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tacit import Chat, Requester, limits
from tacit.cli import inputs
from tacit.cli.output import BadUsage, MemoryDisabled, NotDone, escape_controls
from tacit.clock import system_clock
from tacit.errors import InvalidInput
from tacit.records.memory import ChatKind

if TYPE_CHECKING:
    from tacit.memory import Memory, View
    from tacit.settings import Settings

NO_IDENTITY_HELP = """\
memory is disabled, because nobody is known to be asking. What Tacit remembers
belongs to people, so every command acts for one of them. Name that person:

  tacit list --as telegram:123

or settle it once, with `local_person: telegram:123` under `memory:` in
~/.tacit/tacit.yaml, or with TACIT_MEMORY_LOCAL_PERSON=telegram:123 in the
environment. Nothing was read, and nothing was kept."""

_STDIN = "-"
YES_ANSWERS = frozenset({"y", "yes"})
_UTF8_MAX_BYTES = 4
_CHAT_COMMANDS = frozenset({"telegram", "slack", "chat"})  # there somebody can be asked
_LONG_RUNNING_COMMANDS = _CHAT_COMMANDS | {"serve"}


class CommandSession:
    def __init__(self, args: Namespace, resources: ExitStack) -> None:
        self.args = args
        self._resources = resources

    @cached_property
    def settings(self) -> Settings:
        from tacit.bootstrap import load_settings

        path = self.args.config
        return load_settings(None if path is None else Path(path))

    @cached_property
    def memory(self) -> Memory:
        """Opened when first asked for, closed when the command ends."""
        from tacit.bootstrap import open_memory

        settings = self.settings
        if getattr(self.args, "migrate", False):
            settings = replace(settings, db=replace(settings.db, automigrate=True))
        learn = replace(settings.learn, workers=self._workers)
        if self.args.command in _CHAT_COMMANDS:
            learn = replace(learn, confirm=settings.chat.confirm)
        settings = replace(settings, learn=learn)
        # Files of notes are read at the start of a command and written at its end.
        watches = settings.notes.watch and self._keeps_running
        settings = replace(settings, notes=replace(settings.notes, watch=watches))
        if self.args.command == "metrics":  # whatever is set: that is what was asked for
            settings = replace(settings, metrics=replace(settings.metrics, exporter="prometheus"))
        opened = self._resources.enter_context(
            open_memory(self.args.db, settings=settings, mirror=not self._only_inspects)
        )
        if self.args.command == "work" and settings.metrics.exporter == "prometheus":
            self._serve_metrics(settings.metrics.port)
        return opened if self.args.space is None else opened.space(self.args.space)

    def close(self) -> None:
        """Before the command ends, where something is still to be done without a memory."""
        self._resources.close()

    def _serve_metrics(self, port: int) -> None:
        """Who learns for a long time can be scraped meanwhile, unless the port is 0."""
        if port:
            from tacit.server.metrics import serve_metrics

            self._resources.enter_context(serve_metrics(port))

    @property
    def _workers(self) -> int:
        """Commands end before a thread of theirs would have learned much: only those that stay have
        some, and a server may leave it to others."""
        if self.args.command == "chat" and self.settings.language.provider == "none":
            return 0  # rules are quick: what was said is learned before it is answered
        if self.args.command in _LONG_RUNNING_COMMANDS:
            return self.settings.learn.workers
        return max(1, self.settings.learn.workers) if self._keeps_running else 0

    @property
    def _only_inspects(self) -> bool:
        """Tells how files and store differ, or what it did about that: to open the memory must not
        bring them together before."""
        command: str = self.args.command
        return command == "doctor" or (command == "notes" and self.args.act != "watch")

    @property
    def _keeps_running(self) -> bool:
        command: str = self.args.command
        return command in _LONG_RUNNING_COMMANDS or (command == "work" and not self.args.once)

    @cached_property
    def requester(self) -> Requester:
        """Whom the command acts for. Without anybody, nothing is opened, let alone created."""
        person = inputs.parse_requester(self.args, self.settings.memory.local_person)
        if not self.settings.memory.enabled:
            from tacit.memory import SWITCHED_OFF

            raise MemoryDisabled(SWITCHED_OFF)
        if person is None:
            raise MemoryDisabled(NO_IDENTITY_HELP)
        if self.args.requester is None and self.args.chat not in (None, inputs.PRIVATE_CHAT):
            raise BadUsage("the local person speaks in private: to act in another chat, say --as")
        return person

    @property
    def view(self) -> View:
        """Memory as the requester may use it in the chat that was named."""
        return self._view(inputs.parse_chat(self.args, self.requester))

    @property
    def private_view(self) -> View:
        """The requester's own private chat, where owners look after what is theirs."""
        return self._view(Chat.private(self.requester.key))

    def require_private_view(self, what: str) -> View:
        """The view of a private chat, or a refusal: an empty answer from a group would look like
        a person without memories."""
        chat = inputs.parse_chat(self.args, self.requester)
        if chat.kind != ChatKind.PRIVATE:
            raise InvalidInput("--chat", f"{what} works in a private chat only; leave out --chat")
        return self._view(chat)

    def _view(self, chat: Chat) -> View:
        acting = getattr(self.args, "by", None)
        view = self.memory.view(self.requester, chat, thread=self.args.thread, agent=acting)
        if not view.enabled:
            raise MemoryDisabled(view.why_disabled)
        return view

    @property
    def actor(self) -> str:
        """Who stands in the record of links and merges."""
        return self.args.requester or "cli"

    @property
    def now(self) -> datetime:
        return system_clock()

    def confirm(self, what: str) -> None:
        """Ask before what cannot be undone. Where nobody can answer, --yes must."""
        if self.args.yes:
            return
        if sys.stdin is None or not sys.stdin.isatty():
            raise BadUsage(f"{what} cannot be undone; off a terminal, say --yes")
        sys.stderr.write(f"{escape_controls(what)}? This cannot be undone. [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in YES_ANSWERS:
            raise NotDone("nothing was erased")


def format_count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def read_text_argument(written: str | None) -> str | None:
    """An argument that is text; `-` stands for what comes on standard input."""
    if written != _STDIN:
        return written
    if sys.stdin is None:
        raise InvalidInput("content", "there is no standard input to read it from")
    most = limits.CONTENT_MAX_CHARS * _UTF8_MAX_BYTES
    raw = sys.stdin.buffer.read(most + 2)
    if len(raw) > most + 1:
        raise InvalidInput(
            "content", f"is longer than {limits.CONTENT_MAX_CHARS:,} characters: shorten it"
        )
    try:
        # A shell's last newline belongs to the shell.
        return raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise InvalidInput("content", "is not UTF-8 text; convert it first") from None
