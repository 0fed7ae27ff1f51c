"""One run of a command: its settings, its memory, and the view of its requester."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import Chat, Requester
from tacit.cli import inputs
from tacit.cli.output import BadUsage, MemoryDisabled, NotDone, escape_controls
from tacit.errors import InvalidInput
from tacit.records.memory import ChatKind

if TYPE_CHECKING:
    from tacit.memory import Memory, View
    from tacit.settings import Settings

NO_IDENTITY_HELP = """\
Memory is disabled: no requester. Memories belong to people, so every command
acts for one person. Name that person:

  tacit list --as telegram:123

or set a default: `local_person: telegram:123` under `memory:` in
~/.tacit/tacit.yaml, or TACIT_MEMORY_LOCAL_PERSON=telegram:123 in the
environment. Nothing was read or stored."""

_CHAT_COMMANDS = frozenset({"telegram", "slack", "chat"})  # they can ask for consent
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
        """Open the memory on first use; it is closed when the command ends."""
        from tacit.bootstrap import open_memory

        settings = self.settings
        if getattr(self.args, "migrate", False):
            settings = replace(settings, db=replace(settings.db, automigrate=True))
        learn = replace(settings.learn, workers=self._workers)
        if self.args.command in _CHAT_COMMANDS:
            learn = replace(learn, confirm=settings.chat.confirm)
        settings = replace(settings, learn=learn)
        # Short commands read note files when they start and write them when they end.
        watches = settings.notes.watch and self._keeps_running
        settings = replace(settings, notes=replace(settings.notes, watch=watches))
        if self.args.command == "metrics":
            settings = replace(settings, metrics=replace(settings.metrics, exporter="prometheus"))
        opened = self._resources.enter_context(
            open_memory(self.args.db, settings=settings, mirror=not self._only_inspects)
        )
        if self.args.command == "work" and settings.metrics.exporter == "prometheus" and settings.metrics.port:
            from tacit.server.metrics import serve_metrics

            self._resources.enter_context(serve_metrics(settings.metrics.port))
        return opened if self.args.space is None else opened.space(self.args.space)

    def close(self) -> None:
        """Close the memory before the command ends."""
        self._resources.close()

    @property
    def _workers(self) -> int:
        """Return the number of learning threads. Short commands have none."""
        if self.args.command == "chat" and self.settings.language.provider == "none":
            return 0  # rules are fast: each message is learned before the answer
        if self.args.command in _LONG_RUNNING_COMMANDS:
            return self.settings.learn.workers
        return max(1, self.settings.learn.workers) if self._keeps_running else 0

    @property
    def _only_inspects(self) -> bool:
        """Whether the command reports differences of note files, which opening must not remove."""
        command: str = self.args.command
        return command == "doctor" or (command == "notes" and self.args.act != "watch")

    @property
    def _keeps_running(self) -> bool:
        command: str = self.args.command
        return command in _LONG_RUNNING_COMMANDS or (command == "work" and not self.args.once)

    @cached_property
    def requester(self) -> Requester:
        """Return the requester. Without one, no database is opened or created."""
        person = inputs.parse_requester(self.args, self.settings.memory.local_person)
        self.require_enabled()
        if person is None:
            raise MemoryDisabled(NO_IDENTITY_HELP)
        if self.args.requester is None and self.args.chat not in (None, inputs.PRIVATE_CHAT):
            raise BadUsage("specify --as to act in a chat other than the private one")
        return person

    def require_enabled(self) -> None:
        if not self.settings.memory.enabled:
            from tacit.memory import SWITCHED_OFF

            raise MemoryDisabled(SWITCHED_OFF)

    @property
    def view(self) -> View:
        """Return the view of the requester in the chat that --chat names."""
        return self._view(inputs.parse_chat(self.args, self.requester))

    @property
    def private_view(self) -> View:
        """Return the view of the requester in their private chat."""
        return self._view(Chat.private(self.requester.key))

    def require_private_view(self, what: str) -> View:
        """Return the view of a private chat. Refuse a group, where an empty result would look like a
        person without memories."""
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
    def given(self) -> dict[str, Any]:
        """Return the command's own arguments as given and parsed, by name of the parameter."""
        return {
            name: inputs.PARSERS[name](name, value) if name in inputs.PARSERS else value
            for name, value in vars(self.args).items()
            if value is not None and name not in self.args.not_own
        }

    @property
    def actor(self) -> str:
        """Return the actor to record for links and merges."""
        return self.args.requester or "cli"

    def confirm(self, what: str) -> None:
        """Ask before an action that cannot be undone; without a terminal, require --yes."""
        if self.args.yes:
            return
        if sys.stdin is None or not sys.stdin.isatty():
            raise BadUsage(f"{what} cannot be undone; without a terminal, confirm with --yes")
        if not ask(f"{what}? This cannot be undone."):
            raise NotDone("Nothing was erased.")


def ask(question: str) -> bool:
    sys.stderr.write(f"{escape_controls(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
