"""Calls of the Web API, and what their failures mean: wait, try again, or never."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError

from slack_sdk.errors import SlackApiError, SlackClientError

from tacit import limits
from tacit.surfaces.chat.say import NotSent
from tacit.surfaces.slack.bounded import FAILURES, BoundedClient
from tacit.surfaces.slack.reading import NOBODY, Me, Person

Json = Mapping[str, Any]

_CODE = re.compile(r"[a-z_]{1,60}")
_UTF8 = "application/json; charset=utf-8"
# The operator has to do something; until then nothing is lost.
_OF_THE_TOKEN = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "missing_scope",
        "not_authed",
        "token_expired",
        "token_revoked",
        "no_permission",
        "ekm_access_denied",
    }
)
_PASSING = frozenset(
    {
        "fatal_error",
        "internal_error",
        "rate_limited",
        "ratelimited",
        "request_timeout",
        "service_unavailable",
        "team_added_to_org",
    }
)
_TOO_MANY = 429
_OF_THE_WAY = frozenset({407, 408, _TOO_MANY})  # a proxy, a slow line: not what was asked


class TokenRefused(NotSent):
    """Slack does not accept the token, or what it is allowed to do."""


class Calls:
    """Safe to share between threads. Everything here raises `NotSent`, without any text of what was
    sent or answered."""

    def __init__(self, client: BoundedClient) -> None:
        self._client = client

    def get_identity(self) -> Me:
        with _told():
            found = self._client.auth_test()
        team, user = found.get("team_id"), found.get("user_id")
        if found.get("is_enterprise_install") is True:
            problem = "the app is installed for a whole organisation: install it in a workspace"
            raise TokenRefused(problem, for_good=False)
        if not isinstance(team, str) or not isinstance(user, str):
            raise TokenRefused("the token belongs to no workspace", for_good=False)
        return Me(team=team, user=user)

    def get_user(self, user: str) -> Person:
        with _told():
            found = _part(self._client.users_info(user=user).get("user"))
        if not found:
            return NOBODY
        shown = _part(found.get("profile"))
        names = (shown.get("display_name"), shown.get("real_name"), found.get("real_name"))
        return Person(
            name=next((name for name in map(_label, names) if name), None),
            username=_label(found.get("name")),
            is_bot=found.get("is_bot") is True,
            is_admin=any(
                found.get(role) is True for role in ("is_admin", "is_owner", "is_primary_owner")
            ),
        )

    def get_channel_creator(self, channel: str) -> str | None:
        with _told():
            found = _part(self._client.conversations_info(channel=channel).get("channel"))
        creator = found.get("creator")
        return creator if isinstance(creator, str) else None

    def open_direct_channel(self, user: str) -> str:
        """The channel in which this person and the bot are alone."""
        with _told():
            found = _part(self._client.conversations_open(users=user).get("channel"))
        channel = found.get("id")
        if not isinstance(channel, str):
            raise NotSent("Slack names no channel for this person", for_good=True)
        return channel

    def post_message(self, channel: str, thread: str | None, message: Json) -> None:
        with _told():
            self._client.chat_postMessage(
                channel=channel,
                thread_ts=thread,
                # Slack's servers are not sent to look at links that somebody wrote.
                unfurl_links=False,
                unfurl_media=False,
                **message,
            )

    def post_ephemeral(self, channel: str, user: str, thread: str | None, message: Json) -> None:
        """Where others listen, to be seen by this person alone."""
        with _told():
            self._client.chat_postEphemeral(channel=channel, user=user, thread_ts=thread, **message)

    def update_message(self, channel: str, ts: str, message: Json) -> None:
        with _told():
            self._client.chat_update(channel=channel, ts=ts, **message)

    def post_to_response_url(self, url: str, message: Json, *, instead: bool) -> None:
        """By the address that came with a command or a button."""
        if not self._client.trusts(url):
            raise NotSent("an answer was to go to an address that is not Slack's", for_good=True)
        told = {**message, "response_type": "ephemeral", "replace_original": instead}
        with _told():
            self._client.deliver(url, json.dumps(told).encode(), _UTF8)

    def upload_file(self, channel: str, thread: str | None, name: str, text: str) -> None:
        content = text.encode("utf-8", "replace")
        with _told():
            found = self._client.files_getUploadURLExternal(filename=name, length=len(content))
            url, file = found.get("upload_url"), found.get("file_id")
            if not isinstance(url, str) or not isinstance(file, str):
                raise NotSent("Slack names no place for a file", for_good=False)
            if not self._client.trusts(url):
                raise NotSent("a file was to go to an address that is not Slack's", for_good=True)
            self._client.deliver(url, content, "application/octet-stream")
            self._client.files_completeUploadExternal(
                files=[{"id": file, "title": name}], channel_id=channel, thread_ts=thread
            )


@contextmanager
def _told() -> Iterator[None]:
    """The failures of the library, of HTTP and of the network, as one kind."""
    try:
        yield
    except SlackApiError as error:
        raise _refused(error) from None
    except HTTPError as error:
        with error:
            raise _by_status(error.code, error.headers.get("Retry-After"), "") from None
    except (SlackClientError, *FAILURES):
        problem = "Slack cannot be reached: check the network and slack.api_url"
        raise NotSent(problem, for_good=False) from None


def _refused(error: SlackApiError) -> NotSent:
    answer = error.response
    code = answer.get("error") if isinstance(answer.data, dict) else None
    named = code if isinstance(code, str) and _CODE.fullmatch(code) else "unknown error"
    if named in _OF_THE_TOKEN:
        return TokenRefused(f"Slack does not accept the token ({named})", for_good=False)
    if answer.status_code != 200:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return _by_status(answer.status_code, headers.get("retry-after"), f", {named}")
    return NotSent(f"Slack refused ({named})", for_good=named not in _PASSING)


def _by_status(status: int, retry_after: object, named: str) -> NotSent:
    passing = status in _OF_THE_WAY or status >= 500
    wait = _seconds(retry_after) if status == _TOO_MANY else None
    return NotSent(f"Slack answered {status}{named}", for_good=not passing, wait_seconds=wait)


def _seconds(found: object) -> float:
    """As long as Slack asks for, at least a second, and not forever."""
    plain = isinstance(found, str) and re.fullmatch(r"[0-9]{1,6}", found)
    return float(min(max(int(str(found)) if plain else 1, 1), limits.CHAT_WAIT_MAX_SECONDS))


def _part(found: object) -> Json:
    return found if isinstance(found, dict) else {}


def _label(found: object) -> str | None:
    """A name that people chose: of one line, and not longer than names are."""
    if not isinstance(found, str):
        return None
    line = " ".join(found.encode("utf-8", "replace").decode().split())
    return line[: limits.NAME_MAX_CHARS] or None
