"""Whose a call is: mem0's user, agent and run as a person in their private chat, and as the ids
that memories go by.

An id of mem0's has to say on its own whose memory it names, because nothing is read here without
somebody who asks for it: it is ours, then which sort of person, then that person's name.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit import limits
from tacit.compat.mem0.exceptions import ValidationError
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.memory import Memory

NAMES = ("user_id", "agent_id", "run_id")
EVERYBODY = "*"
_CHANNELS = {"user_id": "mem0", "agent_id": "mem0-agent", "run_id": "mem0-run"}
_LETTERS = {"user_id": "u", "agent_id": "a", "run_id": "r"}
_SORTS = {letter: name for name, letter in _LETTERS.items()}
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@+-")
_UNNAMED = "User"
# Words with at most a short number behind them; keys, numbers and addresses are no names.
_READABLE = re.compile(r"[^\W\d_]{2,20}(?:[._-][^\W\d_]{2,20}){0,2}\d{0,4}")
_NAMELESS = frozenset(
    {"account", "admin", "anon", "anonymous", "client", "customer", "default", "demo", "guest"}
    | {"id", "me", "member", "none", "null", "person", "session", "somebody", "test", "tester"}
    | {"uid", "unknown", "user", "usr", "visitor"}
)
_NOBODY = "name at least one of user_id, agent_id and run_id: a memory is somebody's"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    user: str | None = None
    agent: str | None = None
    run: str | None = None

    @property
    def _owner_id(self) -> tuple[str, str]:
        """The user; where there is none the agent, else the run."""
        for name, value in zip(NAMES, (self.user, self.agent, self.run), strict=True):
            if value is not None:
                return name, value
        raise AssertionError("a scope is somebody's")

    @property
    def key(self) -> str:
        """The person's external key, and their private chat's."""
        name, value = self._owner_id
        return f"{_CHANNELS[name]}:{_quoted(value)}"

    @property
    def name(self) -> str:
        """What facts call the person: by the user's id, where it reads as a name or a handle. Whose
        a memory is never goes by it, but by the key."""
        if self.user is None or not _READABLE.fullmatch(self.user):
            return _UNNAMED
        parts = re.split(r"[._]", self.user)
        words = {re.sub(r"\d+$", "", word) for word in re.split(r"[._-]", self.user.casefold())}
        if words & _NAMELESS:
            return _UNNAMED
        return " ".join(part.title() if part.islower() else part for part in parts)

    @property
    def narrows_agent(self) -> str | None:
        """The agent, where it is not the person themselves."""
        return self.agent if self.user is not None else None

    @property
    def narrows_run(self) -> str | None:
        return self.run if self.user is not None or self.agent is not None else None

    def holds(self, memory: Memory) -> bool:
        """Whether it is from this agent and this run, where the scope names them."""
        return (self.agent is None or self._of_agent(memory) == self.agent) and (
            self.run is None or self._of_run(memory) == self.run
        )

    def ids_of(self, memory: Memory) -> dict[str, str]:
        """What mem0 tells of whose a memory is: only what there is."""
        found = {
            "user_id": self.user,
            "agent_id": self._of_agent(memory),
            "run_id": self._of_run(memory),
        }
        return {name: value for name, value in found.items() if value is not None}

    def id_of(self, memory: str) -> str:
        """mem0's id of a memory of theirs."""
        name, value = self._owner_id
        written = urlsafe_b64encode(value.encode()).decode().rstrip("=")
        return f"{memory}{_LETTERS[name]}{written}"

    def _of_agent(self, memory: Memory) -> str | None:
        name, value = self._owner_id
        return value if name == "agent_id" else memory.agent or _imported(memory, "agent_id")

    def _of_run(self, memory: Memory) -> str | None:
        name, value = self._owner_id
        return value if name == "run_id" else memory.run or _imported(memory, "run_id")


def scope_of(given: Mapping[str, Any], code: str | None = None) -> Scope:
    """With a code, nobody at all is the error that mem0 gives such a code."""
    user, agent, run = (_checked(name, given.get(name)) for name in NAMES)
    if user is None and agent is None and run is None:
        if code is not None:
            raise ValidationError("user_id", _NOBODY, code, {"provided_ids": dict(given)})
        raise InvalidInput("filters", f"{_NOBODY}; for example filters={{'user_id': 'alice'}}")
    return Scope(user=user, agent=agent, run=run)


def person(
    *,
    user_id: str | int | None = None,
    agent_id: str | int | None = None,
    run_id: str | int | None = None,
) -> str:
    """The external key of whose memories these are, for views of Tacit's own: `mem0:alice`."""
    return scope_of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}).key


def meant(memory_id: object) -> tuple[Scope, str] | None:
    """Whose memory an id names, and our id of it; None where it is no id at all."""
    if not isinstance(memory_id, str) or len(memory_id) <= limits.ID_CHARS + 1:
        return None
    cut = limits.ID_CHARS
    id, sort, written = memory_id[:cut], _SORTS.get(memory_id[cut]), memory_id[cut + 1 :]
    if sort is None or validation.parse_memory_id(id) is None:
        return None
    try:
        value = urlsafe_b64decode(written + "=" * (-len(written) % 4)).decode()
        scope = scope_of({sort: value})
    except ValueError:
        return None
    return (scope, id) if scope.id_of(id) == memory_id else None  # in its one spelling


def _imported(memory: Memory, name: str) -> str | None:
    """What was moved here from mem0 says it in its data: metadata of a call never does."""
    found = (memory.data or {}).get(name)
    return found if isinstance(found, str) else None


def _checked(name: str, value: object) -> str | None:
    """Numbers are taken for ids, as mem0 does; whatever else is no text is a mistake."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(name, f"expected text, got {type(value).__name__}")
    trimmed = str(value).strip()
    if not trimmed or any(char.isspace() for char in trimmed):
        raise InvalidInput(name, "must be a name without spaces, and not empty")
    if trimmed == EVERYBODY:
        raise InvalidInput(name, "would be everybody; ask for one at a time, by name")
    found = validation.parse_identifier(name, trimmed, limits.LABEL_MAX_CHARS)
    most = limits.EXTERNAL_KEY_MAX_CHARS - len(_CHANNELS["agent_id"]) - 1
    if len(_quoted(found)) > most:
        raise InvalidInput(name, f"is too long; up to {most} characters, fewer if not A-Z and 0-9")
    return found


def _quoted(value: str) -> str:
    """In the characters that a key may have: each byte of the others as `=7C`."""
    return "".join(
        char if char in _PLAIN else "".join(f"={byte:02X}" for byte in char.encode())
        for char in value
    )
