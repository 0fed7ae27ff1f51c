"""mem0's ids and configuration: the owner of a call, and the database and space."""

from __future__ import annotations

import re
import sys
import warnings
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.memory import Memory


class ValidationError(InvalidInput):
    """mem0's error for invalid arguments, with its attributes; here it is also a ValueError."""

    def __init__(self, field: str, problem: str, error_code: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(field, problem)
        self.message = str(self)
        self.error_code = error_code
        self.details = dict(details or {})
        self.suggestion = problem


# Configuration. Models and indexes are Tacit's settings. Of mem0's sections only the name of the
# collection is used, because collections must stay separate.

DEFAULT_SPACE = "mem0"  # also mem0's default collection
_TACIT_KEYS = ("url", "space")
_SILENT_SECTIONS = frozenset({"tacit", "version"})  # responses always have the shape of v1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLocation:
    """The database and space; None: as `tacit.open` decides."""

    url: str | None = None
    space: str = DEFAULT_SPACE


def parse_location(config: object, space: str | None = None) -> MemoryLocation:
    """Parse the configuration; `space` overrides its space."""
    sections = _parse_sections(config)
    ours = sections.get("tacit") or {}
    if not isinstance(ours, Mapping) or not set(ours) <= set(_TACIT_KEYS):
        raise InvalidInput("config", f"section tacit takes {' and '.join(_TACIT_KEYS)}")
    url = ours.get("url")
    if url is not None and not isinstance(url, str):
        raise InvalidInput("config", "tacit.url must be text, such as sqlite:///memory.db")
    left = sorted(name for name in sections if name not in _SILENT_SECTIONS)
    if left:
        warnings.warn(
            f"Tacit ignores {', '.join(left)}"
            f"{' except the name of the collection' if 'vector_store' in left else ''}; use "
            "Tacit's own settings, see docs/settings.md",
            stacklevel=_warning_stack_level(),
        )
    return MemoryLocation(
        url=url, space=validation.parse_space(space or ours.get("space") or _collection_space(sections))
    )


def _warning_stack_level() -> int:
    """Return the stack level of the first caller outside this package."""
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("tacit.integrations"):
        frame, count = frame.f_back, count + 1
    return count


def _parse_sections(config: object) -> Mapping[str, Any]:
    if config is None:
        return {}
    if isinstance(config, Mapping):
        return config
    dump = getattr(config, "model_dump", None)  # mem0's own MemoryConfig
    if callable(dump):
        found = dump(exclude_unset=True)
        if isinstance(found, Mapping):
            return found
    raise InvalidInput("config", f"expected a dict of sections, got {type(config).__name__}")


def _collection_space(sections: Mapping[str, Any]) -> str:
    store = sections.get("vector_store")
    inside = store.get("config") if isinstance(store, Mapping) else None
    name = inside.get("collection_name") if isinstance(inside, Mapping) else None
    if name is None or name == DEFAULT_SPACE:
        return DEFAULT_SPACE
    try:
        return validation.parse_space(f"{DEFAULT_SPACE}-{name}")
    except InvalidInput:
        raise InvalidInput(
            "collection_name", "is not a valid name of a space; name one: {'tacit': {'space': 'my-app'}}"
        ) from None


# The owner of a call: mem0's user, agent or run is a person in their private chat. Every read needs
# a requester, so mem0's id of a memory contains its owner: our id, the kind of owner, their name.

ID_NAMES = ("user_id", "agent_id", "run_id")
WILDCARD = "*"
_CHANNELS = {"user_id": "mem0", "agent_id": "mem0-agent", "run_id": "mem0-run"}
_LETTER_BY_ID_NAME = {"user_id": "u", "agent_id": "a", "run_id": "r"}
_ID_NAME_BY_LETTER = {letter: name for name, letter in _LETTER_BY_ID_NAME.items()}
_PLAIN_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@+-")
_DEFAULT_NAME = "User"
# Words with at most a short number after them; keys, numbers and addresses are not names.
_READABLE_NAME = re.compile(r"[^\W\d_]{2,20}(?:[._-][^\W\d_]{2,20}){0,2}\d{0,4}")
_GENERIC_NAMES = frozenset(
    {"account", "admin", "anon", "anonymous", "client", "customer", "default", "demo", "guest"}
    | {"id", "me", "member", "none", "null", "person", "session", "somebody", "test", "tester"}
    | {"uid", "unknown", "user", "usr", "visitor"}
)
_NO_ID_PROBLEM = "name at least one of user_id, agent_id and run_id: a memory needs an owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0Scope:
    """The user, agent and run of a call, at least one of them."""

    user: str | None = None
    agent: str | None = None
    run: str | None = None

    @property
    def _owner_id(self) -> tuple[str, str]:
        """The user; without one the agent, else the run."""
        for name, value in zip(ID_NAMES, (self.user, self.agent, self.run), strict=True):
            if value is not None:
                return name, value
        raise AssertionError("a scope has an owner")

    @property
    def key(self) -> str:
        """The owner's external key, which is also the id of their private chat."""
        name, value = self._owner_id
        return f"{_CHANNELS[name]}:{_quote_key(value)}"

    @property
    def name(self) -> str:
        """The owner's name in facts: the user's id if it reads as a name or handle.

        Only for text; the key decides ownership.
        """
        if self.user is None or not _READABLE_NAME.fullmatch(self.user):
            return _DEFAULT_NAME
        parts = re.split(r"[._]", self.user)
        words = {re.sub(r"\d+$", "", word) for word in re.split(r"[._-]", self.user.casefold())}
        if words & _GENERIC_NAMES:
            return _DEFAULT_NAME
        return " ".join(part.title() if part.islower() else part for part in parts)

    def holds(self, memory: Memory) -> bool:
        """Whether a memory is from the agent and the run of the scope, if it has them."""
        return (self.agent is None or self._of_agent(memory) == self.agent) and (
            self.run is None or self._of_run(memory) == self.run
        )

    def ids_of(self, memory: Memory) -> dict[str, str]:
        """Return the ids of a memory in mem0's form, without missing ones."""
        found = {"user_id": self.user, "agent_id": self._of_agent(memory), "run_id": self._of_run(memory)}
        return {name: value for name, value in found.items() if value is not None}

    def id_of(self, memory: str) -> str:
        """Return mem0's id of a memory."""
        name, value = self._owner_id
        written = urlsafe_b64encode(value.encode()).decode().rstrip("=")
        return f"{memory}{_LETTER_BY_ID_NAME[name]}{written}"

    def _of_agent(self, memory: Memory) -> str | None:
        name, value = self._owner_id
        return value if name == "agent_id" else memory.agent or _imported_id(memory, "agent_id")

    def _of_run(self, memory: Memory) -> str | None:
        name, value = self._owner_id
        return value if name == "run_id" else memory.run or _imported_id(memory, "run_id")


def parse_scope(given: Mapping[str, Any], code: str | None = None) -> Mem0Scope:
    """Parse the ids of a call; `code` is the code of mem0's error if there are none."""
    user, agent, run = (_check_id(name, given.get(name)) for name in ID_NAMES)
    if user is None and agent is None and run is None:
        if code is not None:
            raise ValidationError("user_id", _NO_ID_PROBLEM, code, {"provided_ids": dict(given)})
        raise InvalidInput("filters", f"{_NO_ID_PROBLEM}; for example filters={{'user_id': 'alice'}}")
    return Mem0Scope(user=user, agent=agent, run=run)


def person(
    *, user_id: str | int | None = None, agent_id: str | int | None = None, run_id: str | int | None = None
) -> str:
    """Return the owner's external key for views of Tacit, such as `mem0:alice`."""
    return parse_scope({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}).key


def parse_memory_id(memory_id: object) -> tuple[Mem0Scope, str] | None:
    """Return the owner and our id from mem0's id of a memory; None if it is invalid."""
    if not isinstance(memory_id, str) or len(memory_id) <= limits.ID_CHARS + 1:
        return None
    cut = limits.ID_CHARS
    id, sort, written = (memory_id[:cut], _ID_NAME_BY_LETTER.get(memory_id[cut]), memory_id[cut + 1 :])
    if sort is None or validation.parse_memory_id(id) is None:
        return None
    try:
        value = urlsafe_b64decode(written + "=" * (-len(written) % 4)).decode()
        scope = parse_scope({sort: value})
    except ValueError:
        return None
    return (scope, id) if scope.id_of(id) == memory_id else None  # in its one spelling


def _imported_id(memory: Memory, name: str) -> str | None:
    """Return an id from the data of an imported memory; metadata of calls cannot contain ids."""
    found = (memory.data or {}).get(name)
    return found if isinstance(found, str) else None


def _check_id(name: str, value: object) -> str | None:
    """Accept text and, as mem0 does, numbers."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(name, f"expected text, got {type(value).__name__}")
    trimmed = str(value).strip()
    if not trimmed or any(char.isspace() for char in trimmed):
        raise InvalidInput(name, "must be a name without spaces, and not empty")
    if trimmed == WILDCARD:
        raise InvalidInput(name, "cannot be a wildcard; ask for one at a time, by name")
    found = validation.parse_identifier(name, trimmed, limits.LABEL_MAX_CHARS)
    most = limits.EXTERNAL_KEY_MAX_CHARS - len(_CHANNELS["agent_id"]) - 1
    if len(_quote_key(found)) > most:
        raise InvalidInput(name, f"is too long; up to {most} characters, fewer if not A-Z and 0-9")
    return found


def _quote_key(value: str) -> str:
    """Encode characters that a key may not have, each byte as in `=7C`."""
    return "".join(
        char if char in _PLAIN_CHARS else "".join(f"={byte:02X}" for byte in char.encode()) for char in value
    )
