"""What people do with their memories by commands and buttons, in any channel."""

from tacit.surfaces.chat.commands.asked import taken_apart
from tacit.surfaces.chat.commands.buttons import undo_button
from tacit.surfaces.chat.commands.commands import Commands
from tacit.surfaces.chat.commands.fitting import fits
from tacit.surfaces.chat.commands.showing import shortened
from tacit.surfaces.chat.commands.spelling import spelled_out

__all__ = ["Commands", "fits", "shortened", "spelled_out", "taken_apart", "undo_button"]
