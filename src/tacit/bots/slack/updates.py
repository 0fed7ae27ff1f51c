"""Parse a request of Slack into a stored event, and that into an inbound message."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal

from cachetools import LRUCache

from tacit import limits
from tacit.bots import messages
from tacit.bots.channel import JsonObject, get_object, get_objects
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester

CHANNEL = "slack"

# The event as stored in the inbox: only the fields that are used. Slack's requests contain more,
# such as a token, whole messages and layouts, which are not stored.

EventKind = Literal["said", "edited", "unsaid", "came", "went", "arrived", "moved", "command", "pressed"]
ChannelKind = Literal["private", "group", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackEvent:
    act: EventKind
    id: str  # a repeated delivery has the same one
    team: str  # the workspace of the installed app
    channel: str
    place: ChannelKind = "group"
    user: str | None = None  # the actor; of a deleted message, its author
    user_team: str | None = None  # the workspace of that person; None: unknown
    ts: str | None = None  # Slack's id of the message, unique in its channel
    thread: str | None = None  # the first message of the thread
    text: str = ""
    shared: tuple[messages.Quote, ...] = ()  # messages of other authors that were shared with this one
    meant: bool = False  # addressed to the bot, whatever the text says
    data: str | None = None  # of a button
    reply_url: str | None = None  # for answers to this one person, valid for 30 minutes
    hidden: bool = False  # only one person sees the message with the button
    before: str | None = None  # the earlier id of a channel

    @property
    def chat(self) -> str:
        return f"{CHANNEL}:{self.team}:{self.channel}"

    @property
    def person(self) -> str | None:
        if self.user is None or self.user_team is None:
            return None
        return f"{CHANNEL}:{self.user_team}:{self.user}"


def encode_event(sent: SlackEvent) -> str:
    return json.dumps(asdict(sent), ensure_ascii=False, separators=(",", ":"))


def decode_event(payload: str) -> SlackEvent:
    found = json.loads(payload)
    shared = tuple(messages.Quote(**one) for one in found.pop("shared"))
    return SlackEvent(**found, shared=shared)


# Parsing of a signed request into an event. A field of an unexpected type or form counts as absent.

BUTTON_PREFIX = "tacit"  # of the action ids of our buttons

_ID_FORMAT = re.compile(r"[A-Za-z0-9]{1,64}")
_TIMESTAMP_FORMAT = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}")
_TRIGGER_FORMAT = re.compile(r"[A-Za-z0-9.]{1,100}")
_TEXT_SUBTYPES = frozenset({None, "file_share", "me_message", "thread_broadcast"})
_MEMBER_EVENTS: Mapping[str | None, EventKind] = {
    "member_joined_channel": "came",
    "channel_join": "came",
    "group_join": "came",
    "member_left_channel": "went",
    "channel_leave": "went",
    "group_leave": "went",
}
_GROUP_TYPES = frozenset({"channel", "group", "mpim"})
_SLACKBOT = "USLACKBOT"
_CONTROLS = dict.fromkeys(n for n in range(32) if chr(n) not in "\t\n\r")
_WORKSPACE_PREFIX = "T"


def parse_request(body: JsonObject, team: str | None) -> SlackEvent | None:
    """Parse a request; None if it is of no use, such as a message of another bot.

    `team` is the workspace of the installed app, as Bolt found it.
    """
    if not isinstance(team, str) or not _ID_FORMAT.fullmatch(team):
        return None
    if body.get("type") == "event_callback":
        return _parse_event(body, team)
    if body.get("type") == "block_actions":
        return _parse_button(body, team)
    return _parse_command(body, team) if "command" in body else None


def _parse_event(body: JsonObject, team: str) -> SlackEvent | None:
    event = get_object(body, "event")
    kind, subtype = _get_text(event, "type"), _get_text(event, "subtype")
    if kind == "channel_id_changed":
        before, now = _get_id(event, "old_channel_id"), _get_id(event, "new_channel_id")
        if before is None or now is None:
            return None
        id = _update_id(body, team, "event_id")
        return SlackEvent(act="moved", id=id, team=team, channel=now, before=before)
    if kind in ("message", "app_mention") and (
        subtype in _TEXT_SUBTYPES or subtype in ("message_changed", "message_deleted")
    ):
        return _parse_message(body, event, team, subtype)
    act = _MEMBER_EVENTS.get(subtype if kind == "message" else kind)
    return None if act is None else _parse_membership(body, event, team, act)


def _parse_message(body: JsonObject, event: JsonObject, team: str, subtype: str | None) -> SlackEvent | None:
    """Parse a new message, an edit or a deletion.

    Slack sends a message that mentions the bot twice, as message and as mention; the id of the
    message makes them one update. It also sends an edit when it unfurls a link or a thread gets a
    reply, and one to a tombstone for a deleted message with a thread.
    """
    now, before = get_object(event, "message"), get_object(event, "previous_message")
    act: EventKind = "said"
    message, id = (event, f"{team}:{_get_id(event, 'channel')}:{_get_id(event, 'ts', _TIMESTAMP_FORMAT)}")
    if subtype in ("message_changed", "message_deleted"):
        id, message = _update_id(body, team, "event_id"), before
        act = "unsaid"
        if subtype == "message_changed" and _get_text(now, "subtype") != "tombstone":
            act, message = "edited", now
    text, shared = _get_text(message, "text") or "", _get_shared(message)
    if act == "said" and not (text or shared):
        return None
    if act == "edited" and (
        (text, shared) == (_get_text(before, "text") or "", _get_shared(before))
        or _get_text(now, "subtype") not in _TEXT_SUBTYPES
    ):
        return None
    channel, user = _get_id(event, "channel"), _get_id(message, "user")
    ts, thread = (_get_id(message, name, _TIMESTAMP_FORMAT) for name in ("ts", "thread_ts"))
    from_bot = message.get("bot_id") is not None or message.get("bot_profile") is not None
    if channel is None or user is None or ts is None or from_bot or user == _SLACKBOT:
        return None
    bot = _get_bot_user(body)
    named = act == "said" and event.get("type") == "app_mention"
    return SlackEvent(
        act=act,
        id=id,
        team=team,
        channel=channel,
        place=_channel_kind(channel, _get_text(event, "channel_type")),
        user=user,
        user_team=_get_user_team(body, message, team),
        ts=ts,
        thread=None if thread == ts else thread,  # the message that starts it is in the channel
        text="" if act == "unsaid" else text,
        shared=() if act == "unsaid" else shared,
        meant=named or (bot is not None and _get_id(message, "parent_user_id") == bot),
    )


def _parse_membership(body: JsonObject, event: JsonObject, team: str, act: EventKind) -> SlackEvent | None:
    channel, user, bot = _get_id(event, "channel"), _get_id(event, "user"), _get_bot_user(body)
    if channel is None or user is None or (user == bot and act != "came"):
        return None
    id = _update_id(body, team, "event_id")
    if user == bot:
        return SlackEvent(act="arrived", id=id, team=team, channel=channel)
    user_team = _get_user_team(body, event, team)
    return SlackEvent(act=act, id=id, team=team, channel=channel, user=user, user_team=user_team)


def _parse_command(body: JsonObject, team: str) -> SlackEvent | None:
    channel, user = _get_id(body, "channel_id"), _get_id(body, "user_id")
    if channel is None or user is None:
        return None
    return SlackEvent(
        act="command",
        id=_update_id(body, team, "trigger_id"),
        team=team,
        channel=channel,
        place=_channel_kind(channel, None),
        user=user,
        user_team=_get_id(body, "team_id"),
        text=_get_text(body, "text") or "",
        meant=True,
        reply_url=_get_text(body, "response_url"),
    )


def _parse_button(body: JsonObject, team: str) -> SlackEvent | None:
    action = next(iter(get_objects(body, "actions")), {})
    user, container = get_object(body, "user"), get_object(body, "container")
    channel, who = _get_id(get_object(body, "channel"), "id"), _get_id(user, "id")
    ours = (_get_text(action, "action_id") or "").startswith(BUTTON_PREFIX)
    if channel is None or who is None or not ours:
        return None
    return SlackEvent(
        act="pressed",
        id=_update_id(body, team, "trigger_id"),
        team=team,
        channel=channel,
        place=_channel_kind(channel, None),
        user=who,
        user_team=_get_id(user, "team_id") or _get_id(get_object(body, "team"), "id"),
        ts=_get_id(container, "message_ts", _TIMESTAMP_FORMAT),
        thread=_get_id(container, "thread_ts", _TIMESTAMP_FORMAT),
        meant=True,
        data=_get_text(action, "value"),
        reply_url=_get_text(body, "response_url"),
        # When in doubt, hidden: then only this person sees the answer.
        hidden=container.get("is_ephemeral") is not False,
    )


def _get_text(body: JsonObject, name: str) -> str | None:
    """Return a text without control characters and lone surrogates."""
    found = body.get(name)
    if not isinstance(found, str):
        return None
    kept = found[: limits.SLACK_TEXT_MAX_CHARS].translate(_CONTROLS)
    return kept.encode("utf-8", "replace").decode("utf-8")


def _get_id(body: JsonObject, name: str, form: re.Pattern[str] = _ID_FORMAT) -> str | None:
    found = body.get(name)
    return found if isinstance(found, str) and form.fullmatch(found) else None


def _get_shared(message: JsonObject) -> tuple[messages.Quote, ...]:
    most, name_most = limits.SLACK_SHARED_MAX_CHARS, limits.LABEL_MAX_CHARS
    return tuple(
        messages.Quote(
            text=(_get_text(one, "text") or _get_text(one, "fallback") or "")[:most],
            by=(_get_text(one, "author_name") or "")[:name_most] or None,
        )
        for one in get_objects(message, "attachments")[: limits.SLACK_SHARED_MAX_COUNT]
        if one.get("is_share") or one.get("is_msg_unfurl")
    )


def _get_bot_user(body: JsonObject) -> str | None:
    first = next(iter(get_objects(body, "authorizations")), {})
    return _get_id(first, "user_id") if first.get("is_bot") is True else None


def _get_user_team(body: JsonObject, message: JsonObject, team: str) -> str | None:
    """Return the person's workspace, which differs from ours in a shared channel."""
    if body.get("is_ext_shared_channel") is not True:
        return team
    own = _get_id(message, "user_team") or _get_id(message, "team")
    return own if own is not None and own.startswith(_WORKSPACE_PREFIX) else None


def _channel_kind(channel: str, kind: str | None) -> ChannelKind:
    if kind in _GROUP_TYPES or (kind is None and channel[0] in "CG"):
        return "group"
    return "private" if kind in ("im", "app_home", None) and channel[0] == "D" else "unknown"


def _update_id(body: JsonObject, team: str, name: str) -> str:
    """Return the id of a request, or a digest of all of it."""
    found = _get_id(body, name, _TRIGGER_FORMAT)
    if found is None:
        whole = json.dumps(body, sort_keys=True, default=str)
        found = hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()
    return f"{team}:{found}"


# Parsing of Slack's markup: escapes, mentions, links and quotes.

# Markup is in angle brackets: <@U1>, <#C1|general>, <!here>, <https://…|x>.
_MARKUP = re.compile(r"<([^<>]{1,4000})>")
_QUOTED_LINE = re.compile(r"^[ \t]*&gt;[ \t]?", re.MULTILINE)
_QUOTED_REST = re.compile(r"^[ \t]*&gt;&gt;&gt;", re.MULTILINE)
_CODE_BLOCK = re.compile(r"```(.*?)(?:```|\Z)", re.DOTALL)
_FIRST_WORD = re.compile(r"\w[\w'-]*")
_BLANK_LINES = re.compile(r"\n{3,}")

NameLookup = Callable[[str], str | None]  # display name of a user id


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackText:
    own: str  # the sender's own words
    quoted: tuple[str, ...]  # quoted or pasted text
    mentioned: frozenset[str]  # user ids


def parse_text(text: str, named: NameLookup, bot: str | None) -> SlackText:
    """Parse a message, leaving out mentions of the bot."""
    mentioned = frozenset(one[0] for one in map(_parse_mention, _MARKUP.findall(text)) if one)
    own, quoted = _split_quotes(text)
    plain = [_render_plain(one, named, bot) for one in quoted]
    return SlackText(own=_render_plain(own, named, bot), quoted=tuple(one for one in plain if one), mentioned=mentioned)


def escape_text(text: str) -> str:
    """Escape Slack's markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _split_quotes(text: str) -> tuple[str, list[str]]:
    """Split into own words and quotes: all text after >>>, lines after >, and ``` blocks."""
    quoted: list[str] = []
    rest = _QUOTED_REST.search(text)
    if rest is not None:
        quoted.append(text[rest.end() :])
        text = text[: rest.start()]
    quoted += _CODE_BLOCK.findall(text)
    text = _CODE_BLOCK.sub("\n", text)
    own: list[str] = []
    block: list[str] = []
    for line in [*text.split("\n"), ""]:
        mark = _QUOTED_LINE.match(line)
        if mark is not None:
            block.append(line[mark.end() :])
            continue
        if block:
            quoted.append("\n".join(block))
            block = []
        own.append(line)
    return "\n".join(own), quoted


def _render_plain(text: str, named: NameLookup, bot: str | None) -> str:
    def shown(found: re.Match[str]) -> str:
        return _render_markup(found[1], named, bot)

    read = _MARKUP.sub(shown, text)
    read = read.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return _BLANK_LINES.sub("\n\n", read).strip()


def _render_markup(mark: str, named: NameLookup, bot: str | None) -> str:
    user = _parse_mention(mark)
    if user is not None:
        id, label = user
        return "" if id == bot else f"@{_first_name(named(id) or label) or id}"
    what, _, label = mark.partition("|")
    if what.startswith("#"):
        return f"#{label or what[1:]}"
    if what.startswith("!"):
        return label or f"@{what[1:].partition('^')[0]}"
    where = what.removeprefix("mailto:").removeprefix("tel:")
    return f"{label} ({where})" if label and label not in (where, what) else where


def _first_name(name: str) -> str:
    """Return the first word of a name: a longer display name could put words into the message of
    the person who mentions it."""
    found = _FIRST_WORD.search(name)
    return found[0] if found else ""


def _parse_mention(mark: str) -> tuple[str, str] | None:
    if not mark.startswith("@"):
        return None
    id, _, label = mark[1:].partition("|")
    return id, label.removeprefix("@")


# From a stored event to an inbound message.


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackIdentity:
    """The bot's own workspace and user."""

    team: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackUser:
    name: str | None = None
    username: str | None = None
    is_bot: bool = False
    is_admin: bool = False  # of their own workspace


UNKNOWN_USER = SlackUser()
UserLookup = Callable[[str], SlackUser]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackCommand(messages.TextMessage):
    """A slash command: only its sender sees it and its answer."""

    reply_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackButtonPressed(messages.ButtonPressed):
    reply_url: str | None = None
    hidden: bool = False  # only this person sees the button


class SlackParser:
    """Parse stored events. Events of another workspace are dropped: they cannot be answered, and
    their people could not manage what was learned."""

    def __init__(self, me: SlackIdentity, known: UserLookup) -> None:
        self._me, self._known = me, known

    def __call__(self, payload: str) -> messages.InboundMessage | None:
        sent = decode_event(payload)
        if sent.team != self._me.team:
            return None
        who = None
        if sent.person is not None and sent.user is not None:
            person = self._known(sent.user)
            who = Requester(sent.person, person.name, person.username, person.is_bot)
        if who is not None and who.is_bot and sent.act not in ("came", "went"):
            return None
        around = messages.InboundContext(
            channel=CHANNEL, update=sent.id, chat=to_chat(sent), who=who, thread=sent.thread
        )
        match sent.act:
            case "said" | "edited" if sent.ts is not None:
                return self._text_message(sent, sent.ts, around)
            case "command":
                # `/tacit mem del …` is `/mem del …`, and `/tacit` alone is `/help`.
                typed = self._plain(sent.text).removeprefix("/").strip()
                return SlackCommand(**around, text=f"/{typed or 'help'}", message=sent.id, reply_url=sent.reply_url)
            case "pressed" if sent.data is not None:
                return SlackButtonPressed(
                    **around, data=sent.data, message=sent.ts, reply_url=sent.reply_url, hidden=sent.hidden
                )
            case "moved" if sent.before is not None:
                return messages.ChatMoved(**around, before=f"{CHANNEL}:{sent.team}:{sent.before}")
            case "arrived":
                return messages.MembersJoined(**around, people=(), bot_joined=True)
            case "unsaid" if who is not None and sent.ts is not None:
                return messages.MessageDeleted(**around, message=sent.ts)
            case "came" if who is not None:
                return messages.MembersJoined(**around, people=(who,))
            case "went" if who is not None:
                return messages.MembersLeft(**around, people=(who,))
        return None

    def _plain(self, text: str) -> str:
        return parse_text(text, self._name, None).own

    def _name(self, user: str) -> str | None:
        return self._known(user).name

    def _text_message(self, sent: SlackEvent, ts: str, around: messages.InboundContext) -> messages.TextMessage:
        bot = self._me.user
        found = parse_text(sent.text, self._name, bot)
        shared = [messages.Quote(text=self._plain(one.text), by=one.by) for one in sent.shared]
        quoted = (*(messages.Quote(text=one) for one in found.quoted), *shared)
        return messages.TextMessage(
            **around,
            text=found.own,
            message=ts,
            at=_parse_timestamp(ts),
            edited=sent.act == "edited",
            quoted=quoted,
            forwarded=not found.own and bool(quoted),
            addressed=sent.meant or sent.place == "private" or bot in found.mentioned,
        )


def to_chat(sent: SlackEvent) -> Chat:
    if sent.place == "private":
        return Chat.private(sent.chat)
    if sent.place != "group":
        return Chat.unknown(sent.chat)
    # The members are not known, and later ones can read earlier messages. A visitor of a public
    # channel can press buttons too, so a press proves no membership.
    return Chat(sent.chat, ChatKind.GROUP, vouched=sent.act != "pressed")


def _parse_timestamp(ts: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(float(ts), UTC)
    except (OverflowError, OSError, ValueError):
        return None


class UserCache:
    """Cache user profiles, which Slack's events do not contain.

    A user whose lookup fails keeps the old profile, or has no name for a while.
    """

    def __init__(self, ask: Callable[[str], SlackUser], clock: Callable[[], float] = time.monotonic) -> None:
        self._ask, self._clock = ask, clock
        self._lock = threading.Lock()
        self._known: LRUCache[str, tuple[float, SlackUser]] = LRUCache(limits.SLACK_NAMES_MAX_COUNT)

    def __call__(self, user: str) -> SlackUser:
        with self._lock:
            until, person = self._known.get(user, (0.0, UNKNOWN_USER))
        if self._clock() < until:
            return person
        try:
            person, seconds = self._ask(user), limits.SLACK_NAMES_MAX_SECONDS
        except messages.NotSent:
            # An outdated name is better than none.
            seconds = limits.SLACK_NAMELESS_MAX_SECONDS
        with self._lock:
            self._known[user] = (self._clock() + seconds, person)
        return person
