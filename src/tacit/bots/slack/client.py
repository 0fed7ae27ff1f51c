"""Call Slack's Web API; render and send messages."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from tacit import limits
from tacit.bots.channel import (
    Delivery,
    HttpClient,
    JsonObject,
    MessageSender,
    SendPart,
    clamp_wait,
    encode_form,
    get_object,
)
from tacit.bots.messages import Button, InboundMessage, NotSent, Span
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
from tacit.http import parse_json_object
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester

_DEFAULT_API_URL = "https://slack.com/api/"
_SLACK_DOMAINS = (".slack.com", ".slack-gov.com")
_ERROR_CODE = re.compile(r"[a-z_]{1,60}")
# The operator has to fix these; until then nothing is lost.
_TOKEN_ERRORS = re.compile(
    "account_inactive|invalid_auth|missing_scope|not_authed|token_expired|token_revoked|no_permission|ekm_access_denied"
)
_TEMPORARY_ERRORS = re.compile(
    "fatal_error|internal_error|rate_limited|ratelimited|request_timeout|service_unavailable|team_added_to_org"
)
_TOO_MANY_REQUESTS = 429
_TEMPORARY_STATUSES = frozenset({407, 408, _TOO_MANY_REQUESTS})  # of a proxy or a slow network
_UNREACHABLE = "Slack is not reachable: check the network and slack.api_url"


class SlackClient:
    """Calls of the Web API's methods by name; safe to share between threads.

    All raise `NotSent`, whose message contains no text of requests or responses.
    """

    def __init__(self, token: str, api_url: str = "") -> None:
        self._url = f"{(api_url or _DEFAULT_API_URL).rstrip('/')}/"
        self._headers = {"authorization": f"Bearer {token}"}
        self._http = HttpClient(
            _UNREACHABLE, seconds=limits.SLACK_CALL_MAX_SECONDS, max_bytes=limits.SLACK_ANSWER_MAX_BYTES
        )

    def call(self, method: str, **arguments: Any) -> JsonObject:
        """Return the answer to a method. Arguments that are None are left out."""
        return self._post(self._url + method, data=encode_form(arguments), headers=self._headers)

    def post_to_response_url(self, url: str, message: JsonObject, *, instead: bool) -> None:
        """Post to the URL that came with a command or a button, which needs no token."""
        self._require_trusted(url)
        body = {**message, "response_type": "ephemeral", "replace_original": instead}
        self._post(url, json=body)

    def upload_file(self, channel: str, thread: str | None, name: str, text: str) -> None:
        content = text.encode("utf-8", "replace")
        found = self.call("files.getUploadURLExternal", filename=name, length=len(content))
        match found:
            case {"upload_url": str(url), "file_id": str(file)}:
                self._require_trusted(url)
                self._post(url, content=content)
            case _:
                raise NotSent("Slack gave no upload URL", for_good=False)
        files = [{"id": file, "title": name}]
        self.call("files.completeUploadExternal", files=files, channel_id=channel, thread_ts=thread)

    def get_identity(self) -> SlackIdentity:
        match self.call("auth.test"):
            case {"is_enterprise_install": True}:
                problem = "the app is installed for an organization: install it in a workspace"
            case {"team_id": str(team), "user_id": str(user)}:
                return SlackIdentity(team=team, user=user)
            case _:
                problem = "the token belongs to no workspace"
        raise NotSent(problem, for_good=False)

    def get_user(self, user: str) -> SlackUser:
        found = get_object(self.call("users.info", user=user), "user")
        if not found:
            return UNKNOWN_USER
        shown = get_object(found, "profile")
        names = (shown.get("display_name"), shown.get("real_name"), found.get("real_name"))
        roles = ("is_admin", "is_owner", "is_primary_owner")
        return SlackUser(
            name=next((name for name in map(_clean_name, names) if name), None),
            username=_clean_name(found.get("name")),
            is_bot=found.get("is_bot") is True,
            is_admin=any(found.get(role) is True for role in roles),
        )

    def open_direct_channel(self, user: str) -> str:
        """Return the channel of direct messages between this person and the bot."""
        channel = get_object(self.call("conversations.open", users=user), "channel").get("id")
        if not isinstance(channel, str):
            raise NotSent("Slack has no direct channel for this person", for_good=True)
        return channel

    def close(self) -> None:
        self._http.close()

    def trusts(self, url: str) -> bool:
        """Whether a URL is of Slack, or of the configured API server."""
        try:
            named, ours = urlsplit(url), urlsplit(self._url)
            name = named.hostname or ""
            here = (named.scheme, name, named.port) == (ours.scheme, ours.hostname, ours.port)
        except ValueError:
            return False
        return here or (named.scheme == "https" and name.endswith(_SLACK_DOMAINS))

    def _require_trusted(self, url: str) -> None:
        if not self.trusts(url):
            raise NotSent("the URL is not Slack's", for_good=True)

    def _post(self, url: str, **content: Any) -> JsonObject:
        status, headers, body = self._http.post(url, **content)
        answer = parse_json_object(body) or {}
        if status == 200 and (answer.get("ok") is True or not url.startswith(self._url)):
            return answer  # other URLs answer with plain text
        code = answer.get("error")
        named = code if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else None
        if named is not None and _TOKEN_ERRORS.fullmatch(named):
            raise NotSent(f"Slack rejects the token ({named})", for_good=False)
        if status == 200 and named is not None:
            temporary = _TEMPORARY_ERRORS.fullmatch(named) is not None
            raise NotSent(f"Slack refused ({named})", for_good=not temporary)
        passing = status == 200 or status in _TEMPORARY_STATUSES or status >= 500
        limited = status == _TOO_MANY_REQUESTS
        raise NotSent(
            f"Slack answered {status}" + (f", {named}" if named else ""),
            for_good=not passing,
            wait_seconds=clamp_wait(headers.get("retry-after")) if limited else None,
            unreachable=passing and not limited,
        )


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


def render_message(spans: tuple[Span, ...], buttons: Sequence[Sequence[Button]] = ()) -> MessagePayload:
    section = {"type": "rich_text_section", "elements": [_render_span(span) for span in spans]}
    rows = [
        {"type": "actions", "elements": [_render_button(b, f"{n}:{at}") for at, b in enumerate(row)]}
        for n, row in enumerate(row[:_ROW_MAX_COUNT] for row in buttons[:_ROWS_MAX_COUNT])
    ]
    return {
        "text": escape_text("".join(span.text for span in spans)),
        "blocks": [{"type": "rich_text", "elements": [section]}, *rows],
    }


def _render_button(button: Button, place: str) -> MessagePayload:
    return {
        "type": "button",
        "action_id": f"{BUTTON_PREFIX}:{place}",
        "text": {"type": "plain_text", "text": button.label[:_LABEL_MAX_CHARS]},
        "value": button.data,
    }


def _render_span(span: Span) -> MessagePayload:
    if span.style == "link":
        return {"type": "link", "url": span.text}
    styled = {"style": _TEXT_STYLES[span.style]} if span.style in _TEXT_STYLES else {}
    return {"type": "text", "text": span.text, **styled}


# The sender: choose the delivery so that only the intended people see the answer.

_Way = Callable[[MessagePayload], object]


class SlackSender(MessageSender):
    part_max = limits.SLACK_PART_MAX_CHARS

    def __init__(
        self,
        client: SlackClient,
        me: SlackIdentity,
        known: Callable[[str], SlackUser],
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(pause)
        self._client, self._me, self._users = client, me, known

    def is_admin(self, where: Chat, who: Requester) -> bool:
        """Whether a person is an admin of the workspace or created the channel.

        Slack's channels have no admins. Guests from another workspace never count.
        """
        try:
            user = self._user(who)
            if self._users(user).is_admin:
                return True
            found = self._client.call("conversations.info", channel=self._own_id(where.id))
        except NotSent:
            return False
        return get_object(found, "channel").get("creator") == user

    def spell(self, span: Span) -> Span:
        if span.style != "command":
            return span
        return Span(f"{SLASH_COMMAND} {span.text.removeprefix('/')}")

    def choose_delivery(self, asked: Delivery) -> SendPart:
        way = self._choose_way(asked)
        return lambda spans, buttons: way(render_message(spans, buttons))

    def _choose_way(self, asked: Delivery) -> _Way:
        where, to, what, after = asked.where, asked.to, asked.what, asked.after
        private = _is_private(where)
        if not isinstance(after, SlackCommand | SlackButtonPressed) or (what.alone and not private):
            if what.alone and not _is_private_with(where, to, after):
                return self._to_direct_channel(to)
            return self._to_channel(where, after)
        if _is_hidden(after):
            return self._to_one(where, to, after, instead=what.instead)
        # Only this person sees the answer, unless it replaces a message that all members saw.
        otherwise = self._to_channel if private else partial(self._whisper, to)
        if what.instead and isinstance(after, SlackButtonPressed) and after.message:
            return self._in_place(where, after.message, otherwise(where, after))
        return otherwise(where, after)

    def _to_one(
        self, where: Chat, to: Requester | None, after: SlackCommand | SlackButtonPressed, *, instead: bool
    ) -> _Way:
        """Use the response URL, which allows five answers in 30 minutes; then another delivery."""

        def otherwise(message: MessagePayload) -> object:
            private = _is_private(where)
            way = self._to_direct_channel(to) if private else self._whisper(to, where, after)
            return way(message)

        if after.reply_url is None:
            return otherwise
        post = partial(self._client.post_to_response_url, after.reply_url, instead=instead)
        return _deliver_or_else(post, otherwise)

    def _in_place(self, where: Chat, ts: str, otherwise: _Way) -> _Way:
        """Replace the message by the first part; send the others after it."""
        channel, begun = self._own_id(where.id), False

        def update(message: MessagePayload) -> object:
            return self._client.call("chat.update", channel=channel, ts=ts, **message)

        def deliver(message: MessagePayload) -> None:
            nonlocal begun
            way = otherwise if begun else _deliver_or_else(update, otherwise)
            way(message)
            begun = True

        return deliver

    def _whisper(self, to: Requester | None, where: Chat, after: InboundMessage | None) -> _Way:
        channel, user, thread = self._own_id(where.id), self._user(to), _thread_of(after)
        return lambda message: self._client.call(
            "chat.postEphemeral", channel=channel, user=user, thread_ts=thread, **message
        )

    def _to_channel(self, where: Chat, after: InboundMessage | None) -> _Way:
        return self._to_id(self._own_id(where.id), _thread_of(after))

    def _to_direct_channel(self, to: Requester | None) -> _Way:
        return self._to_id(self._client.open_direct_channel(self._user(to)), None)

    def _to_id(self, channel: str, thread: str | None) -> _Way:
        return lambda message: self._client.call(
            "chat.postMessage",
            channel=channel,
            thread_ts=thread,
            # Slack's servers must not load links from messages.
            unfurl_links=False,
            unfurl_media=False,
            **message,
        )

    def upload(self, asked: Delivery) -> None:
        """Upload the file; one that only one person may see goes to their direct messages."""
        where, to, what, after = asked.where, asked.to, asked.what, asked.after
        assert what.attachment is not None
        openly = not what.alone and not isinstance(after, SlackCommand | SlackButtonPressed)
        if openly or _is_private_with(where, to, after):
            channel, thread = self._own_id(where.id), _thread_of(after)
        else:
            channel, thread = self._client.open_direct_channel(self._user(to)), None
        self._client.upload_file(channel, thread, what.attachment.name, what.attachment.text)

    def _user(self, to: Requester | None) -> str:
        if to is None:
            raise NotSent("the message has no recipient", for_good=True)
        return self._own_id(to.key)

    def _own_id(self, id: str) -> str:
        """Return Slack's own id from a key of this workspace; raise for other workspaces."""
        own = id.removeprefix(f"{CHANNEL}:{self._me.team}:")
        if own == id or not own:
            raise NotSent("the recipient is not in this workspace", for_good=True)
        return own


def _deliver_or_else(first: _Way, otherwise: _Way) -> _Way:
    """Deliver in the first way; in the other one if Slack refuses the first for good."""

    def deliver(message: MessagePayload) -> None:
        try:
            first(message)
        except NotSent as problem:
            if not problem.for_good:
                raise
            otherwise(message)

    return deliver


def _is_private(where: Chat) -> bool:
    return where.kind is ChatKind.PRIVATE


def _is_hidden(after: InboundMessage | None) -> bool:
    """Whether only one person sees the message that is answered."""
    return isinstance(after, SlackCommand) or (isinstance(after, SlackButtonPressed) and after.hidden)


def _is_private_with(where: Chat, to: Requester | None, after: InboundMessage | None) -> bool:
    """Whether `where` is the direct channel of this person. A slash command proves nothing: it
    may come from any channel."""
    if after is None or to is None or not _is_private(where):
        return False
    return after.who == to and after.chat.id == where.id and not _is_hidden(after)


def _thread_of(after: InboundMessage | None) -> str | None:
    return None if after is None else after.thread
