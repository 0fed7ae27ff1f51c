"""How a command ends: one exit code for each kind of outcome, and which error leads to which."""

from __future__ import annotations

from enum import IntEnum

from tacit.errors import (
    Conflict,
    EmbeddingFailed,
    InvalidInput,
    LanguageFailed,
    MissingExtra,
    SettingsError,
    StoreError,
    TacitError,
)


class Exit(IntEnum):
    OK = 0
    ABSENT = 1
    USAGE = 2
    DISABLED = 3
    CONFLICT = 4
    STORE = 5
    SETUP = 6
    BUG = 70  # EX_SOFTWARE
    INTERRUPTED = 130  # as a shell reports SIGINT
    PIPE = 141  # as a shell reports SIGPIPE


MEANINGS = {
    Exit.OK: "done",
    Exit.ABSENT: "not found or not for you, not done, or a line of an import was refused, "
    "or nothing was found in it",
    Exit.USAGE: "bad usage, or input that cannot be used",
    Exit.DISABLED: "memory is disabled: nobody is known to be asking, or it is switched off",
    Exit.CONFLICT: "conflict: the memory moved on, or its key is taken",
    Exit.STORE: "trouble with the database",
    Exit.SETUP: "the settings, a missing extra, a model or a file is in the way",
    Exit.BUG: "a bug in Tacit",
    Exit.INTERRUPTED: "interrupted",
    Exit.PIPE: "whoever read the output stopped reading",
}


class BadUsage(Exception):
    """The command line itself cannot be understood."""


class MemoryDisabled(Exception):
    """There is nobody to act for, or memory is switched off."""


class NotDone(Exception):
    """The person at the terminal said no."""


_EXITS: tuple[tuple[type[Exception], Exit], ...] = (
    (BadUsage, Exit.USAGE),
    (InvalidInput, Exit.USAGE),
    (MemoryDisabled, Exit.DISABLED),
    (Conflict, Exit.CONFLICT),
    (StoreError, Exit.STORE),
    (SettingsError, Exit.SETUP),
    (MissingExtra, Exit.SETUP),
    (EmbeddingFailed, Exit.SETUP),
    (LanguageFailed, Exit.SETUP),
    (NotDone, Exit.ABSENT),
    (TacitError, Exit.ABSENT),
    (OSError, Exit.SETUP),
)


def exit_of(error: Exception) -> Exit:
    return next((code for kind, code in _EXITS if isinstance(error, kind)), Exit.BUG)
