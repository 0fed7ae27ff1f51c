"""Who asks and where, as the headers of a request. What was not said is not sent."""

from __future__ import annotations

from urllib.parse import quote

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester

_OTHER_HEADERS_BYTES = 8_192


def headers_of(
    requester: Requester | str | None,
    chat: Chat | str | None,
    thread: str | None,
    agent: str | None,
) -> dict[str, str]:
    """Each value as percent-encoded UTF-8, because a header takes nothing else."""
    most = limits.LABEL_MAX_CHARS
    said = {
        **_of_requester(requester),
        **_of_chat(chat),
        "x-tacit-thread": _quoted(validation.parse_optional_identifier("thread", thread, most)),
        "x-tacit-agent": _quoted(validation.parse_optional_identifier("agent", agent, most)),
    }
    # The key and a few others come to it, and a server would not even read more.
    if sum(map(len, said.values())) > limits.SERVER_HEADERS_MAX_BYTES - _OTHER_HEADERS_BYTES:
        problem = "are too many with names that long; leave out the names of participants"
        raise InvalidInput("participants", problem)
    return {name: value for name, value in said.items() if value}


def is_bot(requester: object) -> bool:
    return isinstance(requester, Requester) and validation.parse_bool("is_bot", requester.is_bot)


def _of_requester(requester: object) -> dict[str, str]:
    if requester is None:
        return {}
    if isinstance(requester, str):
        requester = Requester(requester)
    if not isinstance(requester, Requester):
        raise InvalidInput("requester", "expected a tacit.Requester, or None for the key's own")
    return {
        "x-tacit-requester": _key("requester", requester.key),
        "x-tacit-name": _shown(requester.name),
        "x-tacit-username": _shown(requester.username),
    }


def _of_chat(chat: object) -> dict[str, str]:
    if chat is None:
        return {}
    if isinstance(chat, str):
        return {"x-tacit-chat": _key("chat", chat)}
    if not isinstance(chat, Chat):
        raise InvalidInput("chat", "expected a tacit.Chat, for example Chat.private('telegram:1')")
    if not isinstance(chat.participants, tuple):
        raise InvalidInput("participants", "expected a list of people: telegram:123 or Requesters")
    if len(chat.participants) > limits.PARTICIPANTS_MAX_COUNT:
        raise InvalidInput("chat", f"takes at most {limits.PARTICIPANTS_MAX_COUNT:,} participants")
    here = [one if isinstance(one, Requester) else Requester(one) for one in chat.participants]
    # Bots are not people: they are left out, and then nobody can say who everybody is.
    people = [one for one in here if not is_bot(one)]
    complete = validation.parse_bool("complete", chat.complete) and len(people) == len(here)
    return {
        "x-tacit-chat": _key("chat", chat.id),
        "x-tacit-chat-kind": validation.parse_enum("chat", chat.kind, ChatKind).value,
        "x-tacit-participants": ",".join(map(_participant, people)),
        "x-tacit-complete": "true" if complete else "",
    }


def _participant(person: Requester) -> str:
    parts = (_key("participants", person.key), _shown(person.name), _shown(person.username))
    return ";".join(parts).rstrip(";")


def _key(field: str, value: object) -> str:
    return _quoted(validation.parse_identifier(field, value, limits.EXTERNAL_KEY_MAX_CHARS))


def _shown(name: object) -> str:
    return _quoted(validation.clean_display_name(name))


def _quoted(value: str | None) -> str:
    return "" if value is None else quote(value, safe=":")
