"""Call Slack's Web API with limits on time and size; render and send messages."""

from __future__ import annotations

import http.client
import io
import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from tacit import limits
from tacit.bots.messages import Button, InboundMessage, NotSent, OutboundMessage, Span, split_spans
from tacit.bots.slack.updates import (
    BUTTON_PREFIX,
    CHANNEL,
    UNKNOWN_USER,
    SlackButtonPressed,
    SlackCommand,
    SlackIdentity,
    SlackUser,
    escape_text,
)
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester

# HTTP with limits on time and size, and without redirects. Slack's own client has no such limits,
# and would send the token to the target of a redirect.

_SLACK_DOMAINS = (".slack.com", ".slack-gov.com")
_READ_BYTES = 65_536


class ResponseTooLarge(Exception):
    """A response that is too large or too slow."""


def silent_logger() -> logging.Logger:
    """Return a disabled logger: Slack's libraries would log messages and rejected requests."""
    logger = logging.getLogger("tacit.slack.libraries")
    logger.disabled = True
    logger.setLevel(logging.CRITICAL + 1)
    return logger


class BoundedClient(WebClient):
    def __init__(self, token: str, api_url: str = "") -> None:
        super().__init__(
            token=token,
            base_url=api_url or WebClient.BASE_URL,
            timeout=limits.SLACK_CALL_MAX_SECONDS,
            logger=silent_logger(),
            retry_handlers=[],  # callers retry
        )

    def trusts(self, url: str) -> bool:
        """Whether a URL is of Slack, or of the configured API server."""
        try:
            named, ours = urlsplit(url), urlsplit(self.base_url)
            name = named.hostname or ""
            here = (named.scheme, name, named.port) == (ours.scheme, ours.hostname, ours.port)
        except ValueError:
            return False
        return here or (named.scheme == "https" and name.endswith(_SLACK_DOMAINS))

    def deliver(self, url: str, body: bytes, content_type: str) -> None:
        """Post to a URL from Slack that needs no token."""
        request = Request(url, data=body, headers={"Content-Type": content_type}, method="POST")
        self._exchange(request)

    def _perform_urllib_http_request_internal(
        self,
        url: str,  # noqa: ARG002 (the request has it too)
        req: Request,
    ) -> dict[str, Any]:
        """Replace the library's own request, which has no limits."""
        return self._exchange(req)

    def _exchange(self, request: Request) -> dict[str, Any]:
        until = time.monotonic() + self.timeout
        try:
            with self._opener().open(request, timeout=self.timeout) as answer:
                body = _read_bounded(answer, until)
                return {"status": answer.status, "headers": answer.headers, "body": body}
        except HTTPError as refused:
            with refused:
                body = _read_bounded(refused, until)
            content = io.BytesIO(body.encode())
            raise HTTPError(
                refused.url, refused.code, "refused", refused.headers, content
            ) from None

    def _opener(self) -> OpenerDirector:
        proxies = {"http": self.proxy, "https": self.proxy} if self.proxy else {}
        return build_opener(_NoRedirects, ProxyHandler(proxies), HTTPSHandler(context=self.ssl))


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _read_bounded(answer: Any, until: float) -> str:
    found = bytearray()
    while step := answer.read1(_READ_BYTES):
        found += step
        if len(found) > limits.SLACK_ANSWER_MAX_BYTES or time.monotonic() > until:
            raise ResponseTooLarge
    return found.decode("utf-8", "replace")


NETWORK_ERRORS = (OSError, http.client.HTTPException, ResponseTooLarge)


# Calls of the Web API, and whether a failure is worth a retry.

JsonMapping = Mapping[str, Any]

_ERROR_CODE = re.compile(r"[a-z_]{1,60}")
_JSON_CONTENT_TYPE = "application/json; charset=utf-8"
# The operator has to fix these; until then nothing is lost.
_TOKEN_ERRORS = frozenset(
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
_TEMPORARY_ERRORS = frozenset(
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
_TOO_MANY_REQUESTS = 429
_TEMPORARY_STATUSES = frozenset({407, 408, _TOO_MANY_REQUESTS})  # of a proxy or a slow network


class TokenRefused(NotSent):
    """Slack rejects the token or its scopes."""


class SlackWebApi:
    """Typed calls; safe to share between threads.

    All raise `NotSent`, whose message contains no text of requests or responses.
    """

    def __init__(self, client: BoundedClient) -> None:
        self._client = client

    def get_identity(self) -> SlackIdentity:
        with _translate_errors():
            found = self._client.auth_test()
        team, user = found.get("team_id"), found.get("user_id")
        if found.get("is_enterprise_install") is True:
            problem = "the app is installed for an organization: install it in a workspace"
            raise TokenRefused(problem, for_good=False)
        if not isinstance(team, str) or not isinstance(user, str):
            raise TokenRefused("the token belongs to no workspace", for_good=False)
        return SlackIdentity(team=team, user=user)

    def get_user(self, user: str) -> SlackUser:
        with _translate_errors():
            found = _as_object(self._client.users_info(user=user).get("user"))
        if not found:
            return UNKNOWN_USER
        shown = _as_object(found.get("profile"))
        names = (shown.get("display_name"), shown.get("real_name"), found.get("real_name"))
        return SlackUser(
            name=next((name for name in map(_clean_name, names) if name), None),
            username=_clean_name(found.get("name")),
            is_bot=found.get("is_bot") is True,
            is_admin=any(
                found.get(role) is True for role in ("is_admin", "is_owner", "is_primary_owner")
            ),
        )

    def get_channel_creator(self, channel: str) -> str | None:
        with _translate_errors():
            found = _as_object(self._client.conversations_info(channel=channel).get("channel"))
        creator = found.get("creator")
        return creator if isinstance(creator, str) else None

    def open_direct_channel(self, user: str) -> str:
        """Return the channel of direct messages between this person and the bot."""
        with _translate_errors():
            found = _as_object(self._client.conversations_open(users=user).get("channel"))
        channel = found.get("id")
        if not isinstance(channel, str):
            raise NotSent("Slack has no direct channel for this person", for_good=True)
        return channel

    def post_message(self, channel: str, thread: str | None, message: JsonMapping) -> None:
        with _translate_errors():
            self._client.chat_postMessage(
                channel=channel,
                thread_ts=thread,
                # Slack's servers must not load links from messages.
                unfurl_links=False,
                unfurl_media=False,
                **message,
            )

    def post_ephemeral(
        self, channel: str, user: str, thread: str | None, message: JsonMapping
    ) -> None:
        """Post into a channel a message that only this person sees."""
        with _translate_errors():
            self._client.chat_postEphemeral(channel=channel, user=user, thread_ts=thread, **message)

    def update_message(self, channel: str, ts: str, message: JsonMapping) -> None:
        with _translate_errors():
            self._client.chat_update(channel=channel, ts=ts, **message)

    def post_to_response_url(self, url: str, message: JsonMapping, *, instead: bool) -> None:
        """Post to the URL that came with a command or a button."""
        if not self._client.trusts(url):
            raise NotSent("the response URL is not Slack's", for_good=True)
        body = {**message, "response_type": "ephemeral", "replace_original": instead}
        with _translate_errors():
            self._client.deliver(url, json.dumps(body).encode(), _JSON_CONTENT_TYPE)

    def upload_file(self, channel: str, thread: str | None, name: str, text: str) -> None:
        content = text.encode("utf-8", "replace")
        with _translate_errors():
            found = self._client.files_getUploadURLExternal(filename=name, length=len(content))
            url, file = found.get("upload_url"), found.get("file_id")
            if not isinstance(url, str) or not isinstance(file, str):
                raise NotSent("Slack gave no upload URL", for_good=False)
            if not self._client.trusts(url):
                raise NotSent("the upload URL is not Slack's", for_good=True)
            self._client.deliver(url, content, "application/octet-stream")
            self._client.files_completeUploadExternal(
                files=[{"id": file, "title": name}], channel_id=channel, thread_ts=thread
            )


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate errors of the library, HTTP and the network to `NotSent`."""
    try:
        yield
    except SlackApiError as error:
        raise _from_api_error(error) from None
    except HTTPError as error:
        with error:
            raise _from_status(error.code, error.headers.get("Retry-After"), "") from None
    except (SlackClientError, *NETWORK_ERRORS):
        problem = "Slack is not reachable: check the network and slack.api_url"
        raise NotSent(problem, for_good=False) from None


def _from_api_error(error: SlackApiError) -> NotSent:
    answer = error.response
    code = answer.get("error") if isinstance(answer.data, dict) else None
    named = code if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else "unknown error"
    if named in _TOKEN_ERRORS:
        return TokenRefused(f"Slack rejects the token ({named})", for_good=False)
    if answer.status_code != 200:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return _from_status(answer.status_code, headers.get("retry-after"), f", {named}")
    return NotSent(f"Slack refused ({named})", for_good=named not in _TEMPORARY_ERRORS)


def _from_status(status: int, retry_after: object, named: str) -> NotSent:
    passing = status in _TEMPORARY_STATUSES or status >= 500
    wait = _parse_retry_after(retry_after) if status == _TOO_MANY_REQUESTS else None
    return NotSent(f"Slack answered {status}{named}", for_good=not passing, wait_seconds=wait)


def _parse_retry_after(found: object) -> float:
    """Return the requested delay, at least a second and at most the limit."""
    plain = isinstance(found, str) and re.fullmatch(r"[0-9]{1,6}", found)
    return float(min(max(int(str(found)) if plain else 1, 1), limits.CHAT_WAIT_MAX_SECONDS))


def _as_object(found: object) -> JsonMapping:
    return found if isinstance(found, dict) else {}


def _clean_name(found: object) -> str | None:
    """Return a display name as one line of limited length."""
    if not isinstance(found, str):
        return None
    line = " ".join(found.encode("utf-8", "replace").decode().split())
    return line[: limits.NAME_MAX_CHARS] or None


# Rendering as rich text, in which text of people is never markup, with plain text for
# notifications.

MessagePayload = dict[str, Any]

SLASH_COMMAND = "/tacit"  # the app's one slash command; our commands follow it

_TEXT_STYLES = {"strong": {"bold": True}, "code": {"code": True}}
_ROW_MAX_COUNT = 25  # buttons in one row
_ROWS_MAX_COUNT = 20
_LABEL_MAX_CHARS = 75


def render_messages(say: OutboundMessage) -> list[MessagePayload]:
    """Render one payload for each part of the text; the buttons are under the last."""
    spans = map(_spell_command, say.spans)
    cut = split_spans(spans, limits.SLACK_PART_MAX_CHARS, lambda span: len(span.text))
    found = [_render_message(one) for one in cut]
    if found and say.buttons:
        rows = say.buttons[:_ROWS_MAX_COUNT]
        found[-1]["blocks"] += [_render_buttons(number, row) for number, row in enumerate(rows)]
    return found


def _spell_command(span: Span) -> Span:
    if span.style != "command":
        return span
    return Span(f"{SLASH_COMMAND} {span.text.removeprefix('/')}")


def _render_message(spans: tuple[Span, ...]) -> MessagePayload:
    shown = [_render_span(span) for span in spans]
    section = {"type": "rich_text_section", "elements": shown}
    text = "".join(span.text for span in spans)
    return {
        "text": escape_text(text),
        "blocks": [{"type": "rich_text", "elements": [section]}],
    }


def _render_span(span: Span) -> MessagePayload:
    if span.style == "link":
        return {"type": "link", "url": span.text}
    styled = {"style": _TEXT_STYLES[span.style]} if span.style in _TEXT_STYLES else {}
    return {"type": "text", "text": span.text, **styled}


def _render_buttons(number: int, row: tuple[Button, ...]) -> MessagePayload:
    return {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "action_id": f"{BUTTON_PREFIX}:{number}:{place}",
                "text": {"type": "plain_text", "text": button.label[:_LABEL_MAX_CHARS]},
                "value": button.data,
            }
            for place, button in enumerate(row[:_ROW_MAX_COUNT])
        ],
    }


# The sender: choose the delivery so that only the intended people see the answer.

Delivery = Callable[[MessagePayload], None]

_UNREACHABLE = "the recipient is not in this workspace"


class SlackSender:
    def __init__(
        self,
        calls: SlackWebApi,
        me: SlackIdentity,
        known: Callable[[str], SlackUser],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._calls = calls
        self._me = me
        self._users = known
        self._pause = pause

    def send(
        self,
        where: Chat,
        to: Requester | None,
        what: OutboundMessage,
        *,
        after: InboundMessage | None = None,
    ) -> None:
        way = self._choose_delivery(where, to, what, after)
        for number, message in enumerate(render_messages(what)):
            if number:
                self._deliver_with_wait(way, message)
            else:
                way(message)
        if what.attachment is not None:
            self._attach(where, to, what, after)

    def is_admin(self, where: Chat, who: Requester) -> bool:
        """Whether a person is an admin of the workspace or created the channel.

        Slack's channels have no admins. Guests from another workspace never count.
        """
        try:
            user = self._user(who)
            if self._users(user).is_admin:
                return True
            return self._calls.get_channel_creator(self._channel(where)) == user
        except NotSent:
            return False

    # Deliveries

    def _choose_delivery(
        self, where: Chat, to: Requester | None, what: OutboundMessage, after: InboundMessage | None
    ) -> Delivery:
        if isinstance(after, SlackCommand | SlackButtonPressed) and not (
            what.alone and not _is_private(where)
        ):
            return self._answer_interaction(where, to, what, after)
        if what.alone and not self._is_private_with(where, to, after):
            return self._to_direct_channel(to)
        return self._to_channel(where, after)

    def _answer_interaction(
        self,
        where: Chat,
        to: Requester | None,
        what: OutboundMessage,
        after: SlackCommand | SlackButtonPressed,
    ) -> Delivery:
        """Answer a command or button so that only this person sees it, unless the answer replaces a
        message that all members saw."""
        hidden = isinstance(after, SlackCommand) or after.hidden
        if hidden and after.reply_url is not None:
            return self._to_response_url(where, to, after.reply_url, what.instead)
        aside = self._to_direct_channel(to) if _is_private(where) and hidden else None
        otherwise = aside or self._to_one(where, to, after)
        if what.instead and isinstance(after, SlackButtonPressed) and after.message and not hidden:
            return self._in_place(where, after.message, otherwise)
        return otherwise

    def _to_response_url(
        self, where: Chat, to: Requester | None, url: str, instead: bool
    ) -> Delivery:
        """Use the response URL, which allows five answers in 30 minutes; then another delivery."""

        def deliver(message: MessagePayload) -> None:
            try:
                self._calls.post_to_response_url(url, message, instead=instead)
            except NotSent as problem:
                if not problem.for_good:
                    raise
                other = (
                    self._to_direct_channel(to)
                    if _is_private(where)
                    else self._to_one(where, to, None)
                )
                other(message)

        return deliver

    def _in_place(self, where: Chat, ts: str, otherwise: Delivery) -> Delivery:
        """Replace the message by the first part; send the others after it."""
        channel, before = self._channel(where), [ts]

        def deliver(message: MessagePayload) -> None:
            if not before:
                otherwise(message)
                return
            try:
                self._calls.update_message(channel, before.pop(), message)
            except NotSent as problem:
                if not problem.for_good:
                    raise
                otherwise(message)

        return deliver

    def _to_one(self, where: Chat, to: Requester | None, after: InboundMessage | None) -> Delivery:
        if _is_private(where):
            return self._to_channel(where, after)
        channel, user, thread = self._channel(where), self._user(to), _thread_of(after)
        return lambda message: self._calls.post_ephemeral(channel, user, thread, message)

    def _to_channel(self, where: Chat, after: InboundMessage | None) -> Delivery:
        channel, thread = self._channel(where), _thread_of(after)
        return lambda message: self._calls.post_message(channel, thread, message)

    def _to_direct_channel(self, to: Requester | None) -> Delivery:
        channel = self._calls.open_direct_channel(self._user(to))
        return lambda message: self._calls.post_message(channel, None, message)

    def _deliver_with_wait(self, way: Delivery, message: MessagePayload) -> None:
        """Wait out a short rate limit in the middle of an answer: a retry would repeat its start."""
        try:
            way(message)
        except NotSent as problem:
            seconds = problem.wait_seconds
            if seconds is None or seconds > limits.SLACK_WAIT_MAX_SECONDS:
                raise
            self._pause(seconds)
            way(message)

    def _attach(
        self, where: Chat, to: Requester | None, what: OutboundMessage, after: InboundMessage | None
    ) -> None:
        """Upload the file; one that only one person may see goes to their direct messages."""
        if what.attachment is None:
            return
        openly = not what.alone and not isinstance(after, SlackCommand | SlackButtonPressed)
        if openly or (_is_private(where) and self._is_private_with(where, to, after)):
            channel, thread = self._channel(where), _thread_of(after)
        else:
            channel, thread = self._calls.open_direct_channel(self._user(to)), None
        self._calls.upload_file(channel, thread, what.attachment.name, what.attachment.text)

    # Addresses

    def _is_private_with(
        self, where: Chat, to: Requester | None, after: InboundMessage | None
    ) -> bool:
        """Whether `where` is the direct channel of this person. A slash command proves nothing: it
        may come from any channel."""
        heard = after is not None and after.who is not None and to is not None
        same = heard and after is not None and after.who == to and after.chat.id == where.id
        hidden = isinstance(after, SlackCommand) or (
            isinstance(after, SlackButtonPressed) and after.hidden
        )
        return same and _is_private(where) and not hidden

    def _channel(self, where: Chat) -> str:
        return self._own(where.id)

    def _user(self, to: Requester | None) -> str:
        if to is None:
            raise NotSent("the message has no recipient", for_good=True)
        return self._own(to.key)

    def _own(self, id: str) -> str:
        """Return Slack's own id from a key of this workspace; raise for other workspaces."""
        channel, _, rest = id.partition(":")
        team, _, own = rest.partition(":")
        if channel != CHANNEL or team != self._me.team or not own:
            raise NotSent(_UNREACHABLE, for_good=True)
        return own


def _is_private(where: Chat) -> bool:
    return where.kind is ChatKind.PRIVATE


def _thread_of(after: InboundMessage | None) -> str | None:
    return None if after is None else after.thread
