"""What the terminal itself says, beside what the bot does."""

from __future__ import annotations

from tacit import limits

NO_MODEL = (
    "no language model is set: “remember that …”, questions about what I know, and the commands "
    "of /help work all the same"
)
NOBODY = "to be remembered, say who you are: tacit chat --as local:me, or --as telegram:123"
NO_ANSWER = "I have no answer to that. /help tells what I understand."
NO_BUTTON = "{} is no button any more. If you mean the number, write it in a sentence."
TOO_LONG = (
    f"That line is too long, so I did not read it: one has at most "
    f"{limits.CHAT_TEXT_MAX_CHARS:,} characters."
)
NOT_TEXT = "I could not read that line, because it is not UTF-8 text. Please write it again."
CONTROLS = "That line has control characters in it, so I did not read it. Please write it again."
