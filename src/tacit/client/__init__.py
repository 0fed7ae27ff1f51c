"""Use a memory behind a server: the same methods as a `View`, over HTTP."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import quote

from tacit import limits
from tacit.client.transport import Transport
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester

if TYPE_CHECKING:
    from tacit.memory import View

BOT_REASON = "bots are not people, so nothing is remembered or recalled for them"


class Client:
    """A connection to one server. Made by `tacit.connect`.

    Safe to share between threads; close it when done.
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = limits.CLIENT_TIMEOUT_SECONDS) -> None:
        self._server = Transport(url, key, timeout_seconds=timeout)

    def __repr__(self) -> str:
        return f"Client({self._server!r})"

    def view(
        self,
        requester: Requester | str | None = None,
        chat: Chat | str | None = None,
        *,
        thread: str | None = None,
        agent: str | None = None,
    ) -> View:
        """Return memory as this requester may use it in this chat.

        Without either, the requester is the person whom the key is bound to, in their own private
        chat. Only a key with `act-as` may name another person, or say who is in a chat; other keys
        name a chat by its id alone.
        """
        # Here: to connect loads no database library.
        from tacit.client.dispatch import RemoteDispatch
        from tacit.memory import disabled_view, remote_view

        claims = claim_headers(requester, chat, thread, agent)
        if is_bot(requester):
            return disabled_view(BOT_REASON)
        return remote_view(RemoteDispatch(self._server, claims))

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# Requester and chat as request headers. What the caller leaves out is not sent.

_OTHER_HEADERS_BYTES = 8_192


def claim_headers(
    requester: Requester | str | None, chat: Chat | str | None, thread: str | None, agent: str | None
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
    parts = (_encode_key("participants", person.key), _encode_name(person.name), _encode_name(person.username))
    return ";".join(parts).rstrip(";")


def _encode_key(field: str, value: object) -> str:
    return _quote(validation.parse_identifier(field, value, limits.EXTERNAL_KEY_MAX_CHARS))


def _encode_name(name: object) -> str:
    return _quote(validation.clean_display_name(name))


def _quote(value: str | None) -> str:
    return "" if value is None else quote(value, safe=":")
