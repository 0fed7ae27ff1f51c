"""Slash commands and buttons, in any channel: where each may be used, and its handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from tacit.bots import texts
from tacit.bots.commands import account, memories
from tacit.bots.commands.memories import is_relevant, shorten
from tacit.bots.commands.request import (
    OTHER_PERSONS_BUTTON,
    ButtonAction,
    CommandRequest,
    make_undo_button,
    parse_button,
    parse_command,
    parse_plain_command,
    reply,
)
from tacit.bots.messages import (
    ButtonPressed,
    ChannelSender,
    InboundMessage,
    OpenQuestion,
    OutboundMessage,
    TextMessage,
)
from tacit.errors import NotFound, StoreError, TacitError
from tacit.memory import Memory, View
from tacit.settings import ConsoleSettings

__all__ = [
    "Commands",
    "is_relevant",
    "make_undo_button",
    "parse_command",
    "parse_plain_command",
    "shorten",
]

CommandHandler = Callable[[CommandRequest], list[OutboundMessage]]
# "public": anywhere, also for unknown senders.
COMMANDS: Mapping[str, tuple[Literal["public", "private", "anywhere"], CommandHandler]] = {
    "start": ("public", account.run_start),
    "help": ("public", account.run_help),
    "id": ("public", account.run_id),
    "mem": ("private", memories.run_mem),
    "memory": ("private", memories.run_memory),
    "undo": ("private", memories.run_undo),
    "export": ("private", account.run_export),
    "link": ("private", account.run_link),
    "unlink": ("private", account.run_unlink),
    "console": ("private", account.run_console),
    "forget": ("anywhere", memories.run_forget),
    "privacy": ("anywhere", account.run_privacy),
    "confidential": ("anywhere", account.run_confidential),
}
_BUTTON_HANDLERS: Mapping[ButtonAction, CommandHandler] = {
    ButtonAction.PAGE: partial(memories.press_page, action=ButtonAction.PAGE),
    ButtonAction.PAGE_VISIBILITY: partial(memories.press_page, action=ButtonAction.PAGE_VISIBILITY),
    ButtonAction.FORGET: memories.press_forget,
    ButtonAction.UNDO: memories.press_undo,
    ButtonAction.RESTORE: memories.press_restore,
    ButtonAction.ERASE_ALL: memories.press_erase_all,
    ButtonAction.LINK: account.press_link,
    ButtonAction.LINK_ACCEPT: account.press_link_accept,
}
# The others work only in a private chat.
_BUTTONS_ANYWHERE = (ButtonAction.UNDO, ButtonAction.RESTORE)


@dataclass(frozen=True, slots=True)
class Commands:
    """Run commands and buttons. Raises only storage errors, after which a retry is safe."""

    memory: Memory
    console: ConsoleSettings = field(default_factory=ConsoleSettings)

    def run(self, view: View, said: TextMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        found = parse_command(said.text)
        if found is None or said.edited:
            return []  # an edited command was run when it was first sent
        name, words = found
        private = said.private
        where, handler = COMMANDS.get(name, (None, None))
        if handler is None:  # in a group it may be meant for another bot
            replies = reply(texts.UNKNOWN_COMMAND) if private else []
        elif where != "public" and (not view.enabled or said.who is None):
            replies = reply(texts.MEMORY_DISABLED)
        elif where == "private" and not private:
            replies = reply(texts.PRIVATE_ONLY)
        else:
            replies = self._act(handler, view, said, outlet, words)
        return replies if private else [replace(one, answers=said.message) for one in replies]

    def press(
        self, view: View, pressed: ButtonPressed, outlet: ChannelSender
    ) -> list[OutboundMessage] | None:
        """Handle a button; return None for an unknown one, nothing for another person's."""
        found = parse_button(pressed)
        if found is None:
            return None
        if found == OTHER_PERSONS_BUTTON or not view.enabled:
            return []
        action, words = ButtonAction(found[0]), found[1:]
        if action not in _BUTTONS_ANYWHERE and not pressed.private:
            return []
        return self._act(_BUTTON_HANDLERS[action], view, pressed, outlet, words)

    def choose(
        self, view: View, said: TextMessage, outlet: ChannelSender, question: OpenQuestion
    ) -> list[OutboundMessage]:
        """Handle a reply to the question what to forget or erase; empty if it is no such reply."""
        if not view.enabled or said.who is None or not said.private:
            return []
        handler = partial(memories.answer_which, question=question)
        return self._act(handler, view, said, outlet, (said.text,))

    def _act(
        self,
        handler: CommandHandler,
        view: View,
        message: InboundMessage,
        outlet: ChannelSender,
        words: tuple[str, ...],
    ) -> list[OutboundMessage]:
        """Turn errors into replies. A missing and a forbidden memory get the same one."""
        asked = CommandRequest(
            memory=self.memory,
            view=view,
            message=message,
            words=words,
            sender=outlet,
            console=self.console,
        )
        try:
            return handler(asked)
        except StoreError:
            raise
        except NotFound:
            return reply(texts.NO_SUCH_MEMORY)
        except TacitError:
            return reply(texts.NOT_POSSIBLE)
