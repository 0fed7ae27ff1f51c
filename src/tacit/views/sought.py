"""A search as it is written, made into the filter that a listing takes: checked at the edge, and
the people and chats it names looked up in the snapshot that it reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.errors import InvalidInput
from tacit.identity import external_keys
from tacit.records import validation
from tacit.records.memory import Kind, Sensitivity, State, Visibility
from tacit.records.queries import ANY_STATE, Search
from tacit.records.request import Request
from tacit.records.text import parse_prefix_terms
from tacit.storage import chats, people
from tacit.storage.search import ListFilter
from tacit.storage.spaces import load_identities


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What is left to look up: whom and which chat it names."""

    filter: ListFilter
    about: str | None
    chat: str | None
    owner: str | None
    has_no_words: bool  # nothing of what was typed is a word, and so no memory has it

    def resolve_for_requester(self, connection: Connection, request: Request) -> ListFilter | None:
        """None where they know nobody of that name, and so nothing is about them; or where nothing
        has what was typed."""
        if self.has_no_words:
            return None
        about = None
        if self.about is not None:
            about = people.resolve_person(connection, request, self.about, "about")
            if not about:
                return None
        found = self._with_chat(connection, request.space)
        return found if about is None else replace(found, about=tuple(sorted(about)))

    def resolve_for_operator(
        self, connection: Connection, space: str
    ) -> tuple[ListFilter, frozenset[str] | None]:
        """Besides, the identities of the one whose memories are meant; None: everybody's."""
        found = self._with_chat(connection, space)
        if self.has_no_words:
            return found, frozenset()
        if self.about is not None:
            about = _all_of(connection, space, self.about)
            found = replace(found, about=tuple(sorted(about)))
        return found, None if self.owner is None else _all_of(connection, space, self.owner)

    def _with_chat(self, connection: Connection, space: str) -> ListFilter:
        if self.chat is None:
            return self.filter
        rooms = chats.read_chat(connection, space, self.chat).chat_ids
        return replace(self.filter, chats=tuple(sorted(rooms)))


def sought(search: object, category: Callable[[object], str], *, operator: bool = False) -> Sought:
    if not isinstance(search, Search):
        raise InvalidInput("search", f"expected a Search, got {type(search).__name__}")
    if search.owner is not None and not operator:
        raise InvalidInput("owner", "only operators look at others' memories; leave it out")
    typed = () if search.words is None else _begun(search.words)
    return Sought(
        filter=ListFilter(
            category=None if search.category is None else category(search.category),
            kind=_choice("kind", search.kind, Kind),
            state=_state(search.state),
            visibility=_choice("visibility", search.visibility, Visibility),
            sensitivity=_choice("sensitivity", search.sensitivity, Sensitivity),
            pinned=None
            if search.pinned is None
            else validation.parse_bool("pinned", search.pinned),
            since=_moment("since", search.since),
            until=_moment("until", search.until),
            prefixes=typed,
        ),
        about=_named("about", search.about) if operator else search.about,
        chat=None if search.chat is None else external_keys.parse_chat_id(search.chat),
        owner=_named("owner", search.owner),
        has_no_words=not typed and bool(search.words and search.words.strip()),
    )


def _choice(field: str, value: object, words: type[StrEnum]) -> str | None:
    return None if value is None else validation.parse_enum(field, value, words).value


def _state(value: object) -> str | None:
    """The one state, or None for every one."""
    if value is None:
        return State.ACTIVE.value
    if value == ANY_STATE:
        return None
    if isinstance(value, str) and value not in set(State):
        raise InvalidInput("state", f"is not one of {', '.join([*State, ANY_STATE])}")
    return validation.parse_enum("state", value, State).value


def _moment(field: str, value: object) -> int | None:
    return None if value is None else to_micros(validation.parse_datetime(field, value))


def _begun(value: object) -> tuple[str, ...]:
    found = parse_prefix_terms(validation.check_storable("words", value, limits.SEARCH_MAX_CHARS))
    most = limits.SEARCH_WORDS_MAX_COUNT
    if len(found) > most:
        raise InvalidInput("words", f"are {len(found)} words; at most {most} are looked for")
    return found


def _named(field: str, value: object) -> str | None:
    """Operators name people by keys: they know nobody by name."""
    if value is None:
        return None
    found = external_keys.parse_identity(value, field)
    if found is None:
        raise InvalidInput(field, "names nobody; use a key such as telegram:123, or a person: id")
    return found


def _all_of(connection: Connection, space: str, identity: str) -> frozenset[str]:
    return load_identities(connection, space, [identity]).current_identities(identity)
