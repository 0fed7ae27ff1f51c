"""Every slash command and button, with where it may be used and its handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tacit.bots import texts
from tacit.bots.commands import account, memories, request
from tacit.bots.commands.request import CommandRequest, is_in_private, parse_command, reply
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

CommandHandler = Callable[[CommandRequest], list[OutboundMessage]]
# Also for unknown senders.
PUBLIC_COMMANDS: Mapping[
    str, Callable[[Memory, InboundMessage, ConsoleSettings], list[OutboundMessage]]
] = {
    "start": account.run_start,
    "help": account.run_help,
    "id": account.run_id,
}
PRIVATE_COMMANDS: Mapping[str, CommandHandler] = {
    "mem": memories.run_mem,
    "memory": memories.run_memory,
    "undo": memories.run_undo,
    "export": account.run_export,
    "link": account.run_link,
    "unlink": account.run_unlink,
    "console": account.run_console,
}
COMMANDS_ANYWHERE: Mapping[str, CommandHandler] = {
    "forget": memories.run_forget,
    "privacy": account.run_privacy,
    "confidential": account.run_confidential,
}
BUTTON_HANDLERS: Mapping[str, CommandHandler] = {
    request.BUTTON_PAGE: memories.press_page,
    request.BUTTON_PAGE_VISIBILITY: memories.press_page_visibility,
    request.BUTTON_FORGET: memories.press_forget,
    request.BUTTON_UNDO: memories.press_undo,
    request.BUTTON_RESTORE: memories.press_restore,
    request.BUTTON_ERASE_ALL: memories.press_erase_all,
    request.BUTTON_LINK: account.press_link,
    request.BUTTON_LINK_ACCEPT: account.press_link_accept,
}
# The others work only in a private chat.
_BUTTONS_ANYWHERE = (request.BUTTON_UNDO, request.BUTTON_RESTORE)


@dataclass(frozen=True, slots=True)
class Commands:
    """Run commands and buttons. Raises only storage errors, after which a retry is safe."""

    memory: Memory
    console: ConsoleSettings = field(default_factory=ConsoleSettings)

    def run(self, view: View, said: TextMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        found = parse_command(said.text)
        if found is None or said.edited:
            return []  # an edited command was run when it was first sent
        replies = self._run(view, said, outlet, *found)
        if is_in_private(said):
            return replies
        return [replace(one, answers=said.message) for one in replies]

    def press(
        self, view: View, pressed: ButtonPressed, outlet: ChannelSender
    ) -> list[OutboundMessage] | None:
        """Handle a button; return None for an unknown one, nothing for another person's."""
        found = request.parse_button(pressed)
        if found is None:
            return None
        if found == request.OTHER_PERSONS_BUTTON or not view.enabled or pressed.who is None:
            return []
        action, *words = found
        if action not in _BUTTONS_ANYWHERE and not is_in_private(pressed):
            return []
        asked = CommandRequest(
            memory=self.memory,
            view=view,
            message=pressed,
            who=pressed.who,
            words=tuple(words),
            sender=outlet,
            console=self.console,
        )
        return _run_safely(BUTTON_HANDLERS[action], asked)

    def choose(
        self,
        view: View,
        said: TextMessage,
        outlet: ChannelSender,
        question: OpenQuestion,
    ) -> list[OutboundMessage]:
        """Handle a reply to the question what to forget or erase; empty if it is no such reply."""
        if not view.enabled or said.who is None or not is_in_private(said):
            return []
        asked = CommandRequest(
            memory=self.memory,
            view=view,
            message=said,
            who=said.who,
            words=(said.text,),
            sender=outlet,
            console=self.console,
        )
        return _run_safely(lambda one: memories.answer_which(one, question), asked)

    def _run(
        self,
        view: View,
        said: TextMessage,
        outlet: ChannelSender,
        name: str,
        words: tuple[str, ...],
    ) -> list[OutboundMessage]:
        if name in PUBLIC_COMMANDS:
            return PUBLIC_COMMANDS[name](self.memory, said, self.console)
        if name not in (*PRIVATE_COMMANDS, *COMMANDS_ANYWHERE):
            # In a group it may be meant for another bot.
            return reply(texts.UNKNOWN_COMMAND) if is_in_private(said) else []
        if not view.enabled or said.who is None:
            return reply(texts.MEMORY_DISABLED)
        if name in PRIVATE_COMMANDS and not is_in_private(said):
            return reply(texts.PRIVATE_ONLY)
        asked = CommandRequest(
            memory=self.memory,
            view=view,
            message=said,
            who=said.who,
            words=words,
            sender=outlet,
            console=self.console,
        )
        return _run_safely(PRIVATE_COMMANDS.get(name) or COMMANDS_ANYWHERE[name], asked)


def _run_safely(act: CommandHandler, asked: CommandRequest) -> list[OutboundMessage]:
    """Turn errors into replies. A missing and a forbidden memory get the same one."""
    try:
        return act(asked)
    except StoreError:
        raise
    except NotFound:
        return reply(texts.NO_SUCH_MEMORY)
    except TacitError:
        return reply(texts.NOT_POSSIBLE)
