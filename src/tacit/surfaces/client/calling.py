"""What all of a remote view's methods stand on: a request as this person, and its answer as the
record that the library would have given."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from tacit import limits
from tacit.errors import InvalidInput, StoreError
from tacit.records import conversation, validation
from tacit.records.conversation import Message
from tacit.records.results import Page
from tacit.surfaces.client.server import Call, Server
from tacit.surfaces.wire.values import Untellable, decode, encode

ONCE = "idempotency-key"
_AS_THEY_ARE = (str, bytes, list, tuple, set, frozenset, Mapping)


@dataclass(frozen=True)
class Calling:
    _server: Server = field(repr=False)
    _claims: Mapping[str, str] = field(repr=False)
    _given: str | None = field(default=None, repr=False)  # a name for the next write

    def _get(self, what: Any, path: str) -> Any:
        """A read, as a `what`."""
        call = Call(method="GET", path=path, headers=self._claims, repeatable=True)
        return self._decode(what, self._server.send(call))

    def _ask(self, what: Any, path: str, /, **named: Any) -> Any:
        """A read with more to say than an address has room for."""
        call = Call(
            method="POST", path=path, headers=self._claims, body=told(named), repeatable=True
        )
        return self._decode(what, self._server.send(call))

    def _write(self, what: Any, method: str, path: str, /, **named: Any) -> Any:
        """A write, under a name of its own: sent again, it is done once all the same."""
        headers = {**self._claims, ONCE: self._given or secrets.token_urlsafe(16)}
        body = told(named) if method in ("POST", "PUT") else None
        call = Call(method=method, path=path, headers=headers, body=body, repeatable=True)
        return self._decode(what, self._server.send(call))

    def _list_all(self, what: Any, path: str, **named: Any) -> list[Any]:
        """All pages of something that the library tells as a whole."""
        found: list[Any] = []
        cursor = None
        while True:
            asked = query(**named, limit=limits.PAGE_MAX_COUNT, cursor=cursor)
            page: Page[Any] = self._get(Page[what], f"{path}{asked}")
            found += page.items
            cursor = page.cursor
            if cursor is None:
                return found

    def _count(self, answer: Mapping[str, Any]) -> int:
        count: int = self._decode(int, answer.get("count"))
        return count

    def _stream_lines(self, path: str) -> Iterator[str]:
        return self._server.lines(Call(method="GET", path=path, headers=self._claims))

    def _decode(self, what: Any, answer: object) -> Any:
        if what is None:
            return None
        try:
            return decode(what, answer)
        except Untellable as other:
            raise StoreError(
                f"the server answers in another form ({other}): is it of another version?"
            ) from None


def told(named: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as JSON. What cannot be sent is refused by its name, as the library would."""
    return {name: sendable(name, value) for name, value in named.items()}


def sendable(name: str, value: object) -> Any:
    """One argument, under the name that errors have for it."""
    try:
        return encode(_listed(name, value))
    except Untellable as wrong:
        raise InvalidInput(name, wrong.problem) from None
    except RecursionError:
        raise InvalidInput(name, "is nested too deeply") from None


def _listed(name: str, value: object) -> object:
    """What holds several, whatever it is, as a list: the parts of a range are not there yet."""
    if not isinstance(value, Collection) or isinstance(value, _AS_THEY_ARE):
        return value
    if len(value) > limits.CLIENT_PARTS_MAX_COUNT:
        raise Untellable(name, f"has more than {limits.CLIENT_PARTS_MAX_COUNT:,} parts")
    return list(value)


def said(**named: Any) -> dict[str, Any]:
    """What was said, without what was left out."""
    return {name: value for name, value in named.items() if value is not None}


def query(**named: str | int | None) -> str:
    """The end of an address, without what was left out."""
    given = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in said(**named).items()
    }
    return f"?{urlencode(given)}" if given else ""


def words(name: str, value: object) -> str | None:
    """Text that can stand in an address. What it means, the server says."""
    return None if value is None else validation.check_storable(name, value, limits.QUERY_MAX_CHARS)


def part(value: str) -> str:
    """One part of a path. Dots alone would lead elsewhere."""
    quoted = quote(value, safe="")
    return quoted.replace(".", "%2E") if not value.strip(".") else quoted


def memory_part(id: object) -> str:
    """An id that cannot be one goes under a name that nothing has."""
    return validation.parse_memory_id(id) or "-"


def item_part(category: object, key: object) -> str:
    filed = validation.parse_identifier("category", category, limits.CATEGORY_MAX_CHARS)
    return f"{part(filed)}/{part(validation.parse_identifier('key', key, limits.KEY_MAX_CHARS))}"


def messages_told(messages: object) -> list[Message]:
    found = conversation.check_message_list(messages)
    if not all(isinstance(one, Message) for one in found):
        raise InvalidInput("messages", "expected a list of tacit.Message")
    return found  # type: ignore[return-value]
