"""Every error that Tacit raises, as one tree. No message reveals what the requester may not see.

TacitError
├── InvalidInput        an argument is not valid; names the field and the fix
│   ├── SecretRefused   the text contains a secret; names its kind, never its value
│   └── NoteOutside     the path is not valid for a note, or leaves the notes folder
├── NotFound            absent, or not visible to this requester: callers cannot tell which
├── Conflict            the memory changed since the caller read it, or its key is taken
│   └── NoteMoved       the note file changed since the caller read it
├── AccessRefused       the caller is not authenticated or not authorized
│   ├── KeyRefused      the API key is missing, unknown, expired or revoked
│   ├── SignInRefused   the sign-in link is unknown, used or expired
│   ├── NotAllowed      the key does not cover this scope, requester, chat or agent
│   └── TooManyRequests  the rate limit of the key is exceeded; says when to retry
├── NoteUnreadable      a note file cannot be parsed; the file stays unchanged
├── SettingsError       a settings file or environment variable is wrong; names the fix
├── MissingExtra        an optional dependency is not installed; names the command
├── EmbeddingFailed     a text could not be embedded; full-text search still works
├── LanguageFailed      a language model gave no answer; holds no key, prompt or answer
│   ├── LanguageUnavailable  the model is down, slow or busy; retry later
│   ├── LanguageRefused      the key, the address or the request was rejected
│   ├── LanguageBadAnswer    the answer does not match the schema, also after a repair
│   └── LanguageOverBudget   the space's budget of today does not cover the request
└── StoreError          the database failed
    ├── StoreBusy       other writers held the lock for longer than the caller may wait
    ├── StoreUnavailable  the database cannot be reached or opened, or was closed
    ├── SchemaMismatch  the database was written by another version of Tacit
    ├── ErasureForged   a line of the erasure journal does not match its signature
    └── DisclosureBreach  a query returned a row that the policy denies; nothing is returned
"""

from __future__ import annotations


class TacitError(Exception):
    """Base class of every error that Tacit raises on purpose."""


class InvalidInput(TacitError, ValueError):
    """An argument is not valid: `field` names it, `problem` says what to do."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class SecretRefused(InvalidInput):
    """The text contains a secret. docs/screening.md lists the values of `kind`."""

    def __init__(self, field: str, kind: str, says: str) -> None:
        super().__init__(field, f"holds a secret ({kind}). {says} Leave the value out and say where it is kept")
        self.kind = kind


class NoteOutside(InvalidInput):
    """The path is not valid for a note. The message omits the path: it may name a person."""

    def __init__(self, problem: str) -> None:
        super().__init__("path", problem)


class NotFound(TacitError, LookupError):
    def __init__(self, what: str = "memory") -> None:
        super().__init__(f"no such {what} here")


class Conflict(TacitError):
    pass


class NoteMoved(Conflict):
    def __init__(self) -> None:
        super().__init__("the note changed since you read it; read it again, then write")


class AccessRefused(TacitError):
    pass


class KeyRefused(AccessRefused):
    """The same message for a missing, unknown, expired and revoked key."""

    def __init__(self) -> None:
        super().__init__("Missing or invalid API key. Create one with `tacit keys create`.")


class SignInRefused(AccessRefused):
    """The same message for an unknown, used and expired link."""

    def __init__(self) -> None:
        super().__init__("This sign-in link is not valid or has expired. Ask for a new one.")


class NotAllowed(AccessRefused):
    """The same message for every limit of a key, so that it reveals nothing beyond them."""

    def __init__(self) -> None:
        super().__init__("This API key does not allow that. Ask the operator for another key.")


class TooManyRequests(AccessRefused):
    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(f"too many requests; retry in {retry_after_seconds} s")
        self.retry_after_seconds = retry_after_seconds


class NoteUnreadable(TacitError):
    """A note file cannot be parsed. `reason` describes the syntax, never the content."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the note cannot be read: {reason}")
        self.reason = reason


class SettingsError(TacitError):
    pass


class MissingExtra(TacitError, ImportError):
    def __init__(self, extra: str, needed_for: str) -> None:
        # From the folder: on the public index another project has the name.
        command = f"in Tacit's folder, pip install '.[{extra}]'"
        super().__init__(f"the extra `{extra}` is needed for {needed_for}: {command}")
        self.extra = extra


class EmbeddingFailed(TacitError):
    pass


class LanguageFailed(TacitError):
    pass


class LanguageUnavailable(LanguageFailed):
    """The model cannot answer now. `retry_after_seconds` is the delay that the provider asked."""

    def __init__(self, problem: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(problem)
        self.retry_after_seconds = retry_after_seconds


class LanguageRefused(LanguageFailed):
    pass


class LanguageBadAnswer(LanguageFailed):
    pass


class LanguageOverBudget(LanguageFailed):
    pass


class StoreError(TacitError):
    pass


class StoreBusy(StoreError):
    pass


class StoreUnavailable(StoreError):
    pass


class SchemaMismatch(StoreError):
    pass


class ErasureForged(StoreError):
    pass


class DisclosureBreach(StoreError):
    pass
