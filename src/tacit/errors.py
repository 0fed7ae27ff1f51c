"""Every error a caller can meet, as one tree. None reveals what the requester may not see.

TacitError
├── InvalidInput        what was handed in cannot be used; says which part, and what to do
│   ├── SecretRefused   it holds a secret; says of which kind, and never the secret
│   └── NoteOutside     a path that no note may have, or that leads out of the folder of notes
├── NotFound            absent, or not for this requester: the two are never told apart
├── Conflict            the memory moved on since the caller read it, or its key is taken
│   └── NoteMoved       the file is no longer what the caller read; read it again
├── AccessRefused       a caller from outside is not let in, or not that far
│   ├── KeyRefused      no key, or none that opens anything: which of the two is never told
│   ├── SignInRefused   a link to sign in that is unknown, used or expired: which is never told
│   ├── NotAllowed      the key does not reach that far: a scope, a requester, a chat, an agent
│   └── TooManyRequests  more than the key may ask; says when to ask again
├── NoteUnreadable      a file of notes that cannot be taken in; it is left as it is
├── SettingsError       a settings file or environment variable is wrong; names the fix
├── MissingExtra        an optional dependency is not installed; names the command
├── EmbeddingFailed     a text could not be turned into a vector; says what to do. Words still work
├── LanguageFailed      no answer from a language model; holds no key, prompt or answer
│   ├── LanguageUnavailable  not now: down, slow, busy or broken; ask again later
│   ├── LanguageRefused      not like this: the key, the address or the request is not accepted
│   ├── LanguageBadAnswer    it answers, but not with what was asked for, not even when told so
│   └── LanguageOverBudget   what is left of the space's budget today does not cover the question
└── StoreError          the database could not do its part
    ├── StoreBusy       other writers held the database for longer than the caller may wait
    ├── StoreUnavailable  the database cannot be reached or opened, or was closed
    ├── SchemaMismatch  the database was written by another version of Tacit
    ├── ErasureForged   a line of the journal of erasures is not as it was signed
    └── DisclosureBreach  a row came back that the rules forbid: nothing of it is returned
"""

from __future__ import annotations


class TacitError(Exception):
    """The root: catch this to catch everything that Tacit raises on purpose."""


class InvalidInput(TacitError, ValueError):
    """`field` names the part that was wrong; the message says what to do about it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class SecretRefused(InvalidInput):
    """`kind` is one of those in docs/screening.md."""

    def __init__(self, field: str, kind: str, says: str) -> None:
        super().__init__(
            field,
            f"holds a secret ({kind}). {says} Leave the value out and say where it is kept",
        )
        self.kind = kind


class NoteOutside(InvalidInput):
    """Holds no word of the path: a name may tell of somebody."""

    def __init__(self, problem: str) -> None:
        super().__init__("path", problem)


class NotFound(TacitError, LookupError):
    def __init__(self, what: str = "memory") -> None:
        super().__init__(f"no such {what} here")


class Conflict(TacitError):
    pass


class NoteMoved(Conflict):
    def __init__(self) -> None:
        super().__init__("the note was changed by somebody else; read it again, then write")


class AccessRefused(TacitError):
    pass


class KeyRefused(AccessRefused):
    """Absent, unknown, expired and revoked read alike."""

    def __init__(self) -> None:
        super().__init__("a key is needed that is known here, and neither expired nor revoked")


class SignInRefused(AccessRefused):
    """Unknown, used and expired read alike."""

    def __init__(self) -> None:
        super().__init__("this link to sign in is unknown, used or expired; ask for a new one")


class NotAllowed(AccessRefused):
    """One text for all: what there is beyond a key's reach is not told."""

    def __init__(self) -> None:
        super().__init__("this key does not reach that far; ask whoever made it for another")


class TooManyRequests(AccessRefused):
    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(f"too many requests; ask again in {retry_after_seconds} s")
        self.retry_after_seconds = retry_after_seconds


class NoteUnreadable(TacitError):
    """`reason` says what is wrong with the form, and never what the note says."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the note cannot be read: {reason}")
        self.reason = reason


class SettingsError(TacitError):
    pass


class MissingExtra(TacitError, ImportError):
    def __init__(self, extra: str, needed_for: str) -> None:
        # Not by name: on the public index that name is another project's.
        command = f"in Tacit's folder, pip install '.[{extra}]'"
        super().__init__(f"the extra `{extra}` is needed for {needed_for}: {command}")
        self.extra = extra


class EmbeddingFailed(TacitError):
    pass


class LanguageFailed(TacitError):
    pass


class LanguageUnavailable(LanguageFailed):
    """`retry_after_seconds`: for how long the other side asked to be left alone, if it did."""

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
