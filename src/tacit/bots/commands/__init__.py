"""Slash commands and buttons, in any channel."""

from tacit.bots.commands.memories import is_relevant, shorten
from tacit.bots.commands.registry import Commands
from tacit.bots.commands.request import make_undo_button, parse_command, parse_plain_command

__all__ = [
    "Commands",
    "is_relevant",
    "make_undo_button",
    "parse_command",
    "parse_plain_command",
    "shorten",
]
