"""What is said about mistakes: where, which key, what is wrong, and the fix. Never a password."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tacit.errors import SettingsError

# What was written is repeated in a message only if it can be a word of ours with a slip in it:
# never a URL with a password, and nothing long or with digits, as keys to endpoints are.
WORD = re.compile(r"(?:[^\W\d]|[.<-]){1,30}")


def wrong(where: object, *parts: str) -> SettingsError:
    message = ": ".join(part for part in (str(where), *parts) if part)
    # A file name may hold bytes that cannot be printed.
    return SettingsError(message.encode("utf-8", "replace").decode())


def reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "its name cannot be used"


def shown(value: str) -> str:
    return repr(value) if WORD.fullmatch(value) else "that"


def nearest(written: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(written, list(known), 1)
    return f"did you mean {near[0]}?" if near else "docs/settings.md lists them all"
