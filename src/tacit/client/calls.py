"""Encode a call (who asks as headers, arguments as JSON) and decode its result."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload
from urllib.parse import quote, urlencode

from tacit import limits
from tacit.client.transport import ApiRequest, Transport
from tacit.errors import InvalidInput, StoreError
from tacit.records import conversation, validation
from tacit.records.conversation import Message
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester
from tacit.records.results import Page
from tacit.wire import WireFormatError, decode, encode

# Requester and chat as request headers. What the caller leaves out is not sent.

_OTHER_HEADERS_BYTES = 8_192


def claim_headers(
    requester: Requester | str | None,
    chat: Chat | str | None,
    thread: str | None,
    agent: str | None,
) -> dict[str, str]:
    """Encode requester and chat as headers: percent-encoded UTF-8, because headers are ASCII."""
    most = limits.LABEL_MAX_CHARS
    said = {
        **_requester_headers(requester),
        **_chat_headers(chat),
        "x-tacit-thread": _quote(validation.parse_optional_identifier("thread", thread, most)),
        "x-tacit-agent": _quote(validation.parse_optional_identifier("agent", agent, most)),
    }
    # Leave room for the key and other headers: the server refuses larger requests.
    if sum(map(len, said.values())) > limits.SERVER_HEADERS_MAX_BYTES - _OTHER_HEADERS_BYTES:
        problem = "are too many with names that long; leave out the names of participants"
        raise InvalidInput("participants", problem)
    return {name: value for name, value in said.items() if value}


def is_bot(requester: object) -> bool:
    return isinstance(requester, Requester) and validation.parse_bool("is_bot", requester.is_bot)


def _requester_headers(requester: object) -> dict[str, str]:
    if requester is None:
        return {}
    if isinstance(requester, str):
        requester = Requester(requester)
    if not isinstance(requester, Requester):
        raise InvalidInput("requester", "expected a tacit.Requester, or None for the key's own")
    return {
        "x-tacit-requester": _encode_key("requester", requester.key),
        "x-tacit-name": _encode_name(requester.name),
        "x-tacit-username": _encode_name(requester.username),
    }


def _chat_headers(chat: object) -> dict[str, str]:
    if chat is None:
        return {}
    if isinstance(chat, str):
        return {"x-tacit-chat": _encode_key("chat", chat)}
    if not isinstance(chat, Chat):
        raise InvalidInput("chat", "expected a tacit.Chat, for example Chat.private('telegram:1')")
    if not isinstance(chat.participants, tuple):
        raise InvalidInput("participants", "expected a list of people: telegram:123 or Requesters")
    if len(chat.participants) > limits.PARTICIPANTS_MAX_COUNT:
        raise InvalidInput("chat", f"takes at most {limits.PARTICIPANTS_MAX_COUNT:,} participants")
    here = [one if isinstance(one, Requester) else Requester(one) for one in chat.participants]
    # Bots are not people and are left out. The list of participants is then not complete.
    people = [one for one in here if not is_bot(one)]
    complete = validation.parse_bool("complete", chat.complete) and len(people) == len(here)
    return {
        "x-tacit-chat": _encode_key("chat", chat.id),
        "x-tacit-chat-kind": validation.parse_enum("chat", chat.kind, ChatKind).value,
        "x-tacit-participants": ",".join(map(_encode_participant, people)),
        "x-tacit-complete": "true" if complete else "",
    }


def _encode_participant(person: Requester) -> str:
    parts = (
        _encode_key("participants", person.key),
        _encode_name(person.name),
        _encode_name(person.username),
    )
    return ";".join(parts).rstrip(";")


def _encode_key(field: str, value: object) -> str:
    return _quote(validation.parse_identifier(field, value, limits.EXTERNAL_KEY_MAX_CHARS))


def _encode_name(name: object) -> str:
    return _quote(validation.clean_display_name(name))


def _quote(value: str | None) -> str:
    return "" if value is None else quote(value, safe=":")


# Send one call as this requester, and decode the answer into a record of the library.

IDEMPOTENCY_HEADER = "idempotency-key"
R = TypeVar("R", bound="RemoteCalls")
_SENT_AS_IS = (str, bytes, list, tuple, set, frozenset, Mapping)


@dataclass(frozen=True)
class RemoteCalls:
    _server: Transport = field(repr=False)
    _claims: Mapping[str, str] = field(repr=False)
    _given: str | None = field(default=None, repr=False)  # idempotency key of the next write

    def _get(self, what: Any, path: str) -> Any:
        """Send a read; decode the answer as `what`."""
        call = ApiRequest(method="GET", path=path, headers=self._claims, repeatable=True)
        return self._decode(what, self._server.send(call))

    def _ask(self, what: Any, path: str, /, **named: Any) -> Any:
        """Send a read whose arguments do not fit in a URL."""
        call = ApiRequest(
            method="POST",
            path=path,
            headers=self._claims,
            body=encode_arguments(named),
            repeatable=True,
        )
        return self._decode(what, self._server.send(call))

    def _write(self, what: Any, method: str, path: str, /, **named: Any) -> Any:
        """Send a write under an idempotency key: a retry has no further effect."""
        headers = {**self._claims, IDEMPOTENCY_HEADER: self._given or secrets.token_urlsafe(16)}
        body = encode_arguments(named) if method in ("POST", "PUT") else None
        call = ApiRequest(method=method, path=path, headers=headers, body=body, repeatable=True)
        return self._decode(what, self._server.send(call))

    def _list_all(self, what: Any, path: str, **named: Any) -> list[Any]:
        """Fetch all pages of a list that the library returns as a whole."""
        found: list[Any] = []
        cursor = None
        while True:
            asked = query_string(**named, limit=limits.PAGE_MAX_COUNT, cursor=cursor)
            page: Page[Any] = self._get(Page[what], f"{path}{asked}")
            found += page.items
            cursor = page.cursor
            if cursor is None:
                return found

    def _count(self, answer: Mapping[str, Any]) -> int:
        count: int = self._decode(int, answer.get("count"))
        return count

    def _stream_lines(self, path: str) -> Iterator[str]:
        return self._server.lines(ApiRequest(method="GET", path=path, headers=self._claims))

    def _decode(self, what: Any, answer: object) -> Any:
        if what is None:
            return None
        try:
            return decode(what, answer)
        except WireFormatError as other:
            raise StoreError(
                f"the server answers in another form ({other}): is it of another version?"
            ) from None


class remote(Generic[R]):  # noqa: N801 (a descriptor, used like property)
    """An attribute of a remote view that is a resource, for the same requester and key."""

    def __init__(self, kind: type[R]) -> None:
        self.kind = kind

    @overload
    def __get__(self, owner: None, kind: type) -> remote[R]: ...
    @overload
    def __get__(self, owner: RemoteCalls, kind: type) -> R: ...
    def __get__(self, owner: RemoteCalls | None, kind: type) -> R | remote[R]:
        return self if owner is None else self.kind(owner._server, owner._claims, owner._given)


def encode_arguments(named: Mapping[str, Any]) -> dict[str, Any]:
    """Encode arguments as JSON; refuse by name a value that cannot be sent, as the library does."""
    return {name: encode_argument(name, value) for name, value in named.items()}


def encode_argument(name: str, value: object) -> Any:
    """Encode one argument; errors name it `name`."""
    try:
        return encode(_to_list(name, value))
    except WireFormatError as wrong:
        raise InvalidInput(name, wrong.problem) from None
    except RecursionError:
        raise InvalidInput(name, "is nested too deeply") from None


def _to_list(name: str, value: object) -> object:
    """Convert a collection, such as a range, to a list; check its length first."""
    if not isinstance(value, Collection) or isinstance(value, _SENT_AS_IS):
        return value
    if len(value) > limits.CLIENT_PARTS_MAX_COUNT:
        raise WireFormatError(name, f"has more than {limits.CLIENT_PARTS_MAX_COUNT:,} parts")
    return list(value)


def drop_none(**named: Any) -> dict[str, Any]:
    """Return the arguments that are not None."""
    return {name: value for name, value in named.items() if value is not None}


def query_string(**named: str | int | None) -> str:
    """Encode the arguments that are not None as a query string."""
    given = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in drop_none(**named).items()
    }
    return f"?{urlencode(given)}" if given else ""


def address_text(name: str, value: object) -> str | None:
    """Check a text for use in a URL. The server checks its meaning."""
    return None if value is None else validation.check_storable(name, value, limits.QUERY_MAX_CHARS)


def path_segment(value: str) -> str:
    """Quote one segment of a path. Dots alone would name another path."""
    quoted = quote(value, safe="")
    return quoted.replace(".", "%2E") if not value.strip(".") else quoted


def memory_segment(id: object) -> str:
    """Return the id, or a placeholder that no memory has if the id is not valid."""
    return validation.parse_memory_id(id) or "-"


def item_segment(category: object, key: object) -> str:
    filed = validation.parse_identifier("category", category, limits.CATEGORY_MAX_CHARS)
    return f"{path_segment(filed)}/{path_segment(validation.parse_identifier('key', key, limits.KEY_MAX_CHARS))}"


def check_messages(messages: object) -> list[Message]:
    found = conversation.check_message_list(messages)
    if not all(isinstance(one, Message) for one in found):
        raise InvalidInput("messages", "expected a list of tacit.Message")
    return found  # type: ignore[return-value]
