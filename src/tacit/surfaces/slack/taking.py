"""From the body of a request that Slack signed to what is used of it, or nothing."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from tacit import limits
from tacit.surfaces.slack.sent import Act, Place, Sent, Shared

Json = Mapping[str, Any]

BUTTON = "tacit"  # how the ids of our buttons begin

_ID = re.compile(r"[A-Za-z0-9]{1,64}")
_TS = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}")
_SAID = frozenset({None, "file_share", "me_message", "thread_broadcast"})
_MEMBERS: Mapping[str | None, Act] = {
    "member_joined_channel": "came",
    "channel_join": "came",
    "group_join": "came",
    "member_left_channel": "went",
    "channel_leave": "went",
    "group_leave": "went",
}
_GROUPS = frozenset({"channel", "group", "mpim"})
_SLACKBOT = "USLACKBOT"
_CONTROLS = dict.fromkeys(n for n in range(32) if chr(n) not in "\t\n\r")
_WORKSPACE = "T"


def taken(body: Json, team: str | None) -> Sent | None:
    """`team` is the workspace that the app is installed in, as Bolt found it. None: nothing that
    concerns us, as what other bots say."""
    if not isinstance(team, str) or not _ID.fullmatch(team):
        return None
    if body.get("type") == "event_callback":
        return _event(body, team)
    if body.get("type") == "block_actions":
        return _pressed(body, team)
    return _command(body, team) if "command" in body else None


def _event(body: Json, team: str) -> Sent | None:
    event = _part(body, "event")
    kind, subtype = _text(event, "type"), _text(event, "subtype")
    if kind == "channel_id_changed":
        return _moved(body, event, team)
    if kind in ("message", "app_mention"):
        if subtype in _SAID:
            return _said(body, event, team)
        if subtype == "message_changed":
            return _changed(body, event, team)
        if subtype == "message_deleted":
            return _unsaid(body, event, team)
    if (subtype if kind == "message" else kind) in _MEMBERS:
        return _members(body, event, team)
    return None


def _said(body: Json, event: Json, team: str) -> Sent | None:
    """Somebody who names the bot is told of twice, as a message and as a mention: the id of the
    message makes that one update."""
    ts = _stamp(event, "ts")
    if ts is None or not (_text(event, "text") or _shared(event)):
        return None
    named = _text(event, "type") == "app_mention"
    return _message(body, event, event, team, "said", f"{team}:{_id(event, 'channel')}:{ts}", named)


def _changed(body: Json, event: Json, team: str) -> Sent | None:
    """Slack also says "changed" when it merely unfolds a link, or when a thread goes on below."""
    now, before = _part(event, "message"), _part(event, "previous_message")
    if _text(now, "subtype") == "tombstone":
        return _unsaid(body, event, team)
    same = _text(now, "text") == _text(before, "text") and _shared(now) == _shared(before)
    if same or _text(now, "subtype") not in _SAID:
        return None
    return _message(body, event, now, team, "edited", _event_id(body, team), False)


def _unsaid(body: Json, event: Json, team: str) -> Sent | None:
    before = _part(event, "previous_message")
    return _message(body, event, before, team, "unsaid", _event_id(body, team), False)


def _message(
    body: Json, event: Json, message: Json, team: str, act: Act, id: str, named: bool
) -> Sent | None:
    channel, user, ts = _id(event, "channel"), _id(message, "user"), _stamp(message, "ts")
    if channel is None or user is None or ts is None or _is_bots(message):
        return None
    bot = _bot(body)
    unsaid = act == "unsaid"
    return Sent(
        act=act,
        id=id,
        team=team,
        channel=channel,
        place=_place(channel, _text(event, "channel_type")),
        user=user,
        user_team=_team_of(body, message, team),
        ts=ts,
        thread=_thread(message, ts),
        text="" if unsaid else _text(message, "text") or "",
        shared=() if unsaid else _shared(message),
        bot=bot,
        meant=named or (bot is not None and _id(message, "parent_user_id") == bot),
    )


def _members(body: Json, event: Json, team: str) -> Sent | None:
    act = _MEMBERS[_text(event, "subtype") or _text(event, "type")]
    channel, user, bot = _id(event, "channel"), _id(event, "user"), _bot(body)
    if channel is None or user is None or (user == bot and act != "came"):
        return None
    update = _event_id(body, team)
    if user == bot:
        return Sent(act="arrived", id=update, team=team, channel=channel, place="group")
    return Sent(
        act=act,
        id=update,
        team=team,
        channel=channel,
        place="group",
        user=user,
        user_team=_team_of(body, event, team),
        bot=bot,
    )


def _moved(body: Json, event: Json, team: str) -> Sent | None:
    before, now = _id(event, "old_channel_id"), _id(event, "new_channel_id")
    if before is None or now is None:
        return None
    update = _event_id(body, team)
    return Sent(act="moved", id=update, team=team, channel=now, place="group", before=before)


def _command(body: Json, team: str) -> Sent | None:
    channel, user = _id(body, "channel_id"), _id(body, "user_id")
    if channel is None or user is None:
        return None
    return Sent(
        act="command",
        id=_triggered(body, team),
        team=team,
        channel=channel,
        place=_place(channel, None),
        user=user,
        user_team=_id(body, "team_id"),
        text=_text(body, "text") or "",
        meant=True,
        reply_url=_text(body, "response_url"),
    )


def _pressed(body: Json, team: str) -> Sent | None:
    actions = body.get("actions")
    action = actions[0] if isinstance(actions, list) and actions else None
    if not isinstance(action, Mapping) or not (_text(action, "action_id") or "").startswith(BUTTON):
        return None
    user, container = _part(body, "user"), _part(body, "container")
    channel, who = _id(_part(body, "channel"), "id"), _id(user, "id")
    if channel is None or who is None:
        return None
    return Sent(
        act="pressed",
        id=_triggered(body, team),
        team=team,
        channel=channel,
        place=_place(channel, None),
        user=who,
        user_team=_id(user, "team_id") or _id(_part(body, "team"), "id"),
        ts=_stamp(container, "message_ts"),
        thread=_stamp(container, "thread_ts"),
        meant=True,
        data=_text(action, "value"),
        reply_url=_text(body, "response_url"),
        # Doubt counts as hidden: what is hidden is answered to this person alone.
        hidden=container.get("is_ephemeral") is not False,
    )


# What a request is made of.


def _part(body: Json, name: str) -> Json:
    found = body.get(name)
    return found if isinstance(found, Mapping) else {}


def _text(body: Json, name: str) -> str | None:
    """Half characters, which JSON can hold and nothing else can, become a replacement."""
    found = body.get(name)
    if not isinstance(found, str):
        return None
    kept = found[: limits.SLACK_TEXT_MAX_CHARS].translate(_CONTROLS)
    return kept.encode("utf-8", "replace").decode("utf-8")


def _id(body: Json, name: str) -> str | None:
    found = body.get(name)
    return found if isinstance(found, str) and _ID.fullmatch(found) else None


def _stamp(body: Json, name: str) -> str | None:
    found = body.get(name)
    return found if isinstance(found, str) and _TS.fullmatch(found) else None


def _thread(message: Json, ts: str) -> str | None:
    """None where a thread only begins: the message itself stands in the channel."""
    found = _stamp(message, "thread_ts")
    return None if found == ts else found


def _shared(message: Json) -> tuple[Shared, ...]:
    listed = message.get("attachments")
    found = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    most = limits.SLACK_SHARED_MAX_CHARS
    return tuple(
        Shared(text=(_text(one, "text") or _text(one, "fallback") or "")[:most], by=_author(one))
        for one in found[: limits.SLACK_SHARED_MAX_COUNT]
        if one.get("is_share") or one.get("is_msg_unfurl")
    )


def _author(attachment: Json) -> str | None:
    name = _text(attachment, "author_name")
    return name[: limits.LABEL_MAX_CHARS] if name else None


def _is_bots(message: Json) -> bool:
    by_a_bot = message.get("bot_id") is not None or message.get("bot_profile") is not None
    return by_a_bot or message.get("user") == _SLACKBOT


def _bot(body: Json) -> str | None:
    listed = body.get("authorizations")
    first = listed[0] if isinstance(listed, list) and listed else None
    if not isinstance(first, Mapping) or first.get("is_bot") is not True:
        return None
    return _id(first, "user_id")


def _team_of(body: Json, message: Json, team: str) -> str | None:
    """In a channel that several workspaces share, a person is one of their own workspace."""
    if body.get("is_ext_shared_channel") is not True:
        return team
    own = _id(message, "user_team") or _id(message, "team")
    return own if own is not None and own.startswith(_WORKSPACE) else None


def _place(channel: str, kind: str | None) -> Place:
    if kind in _GROUPS or (kind is None and channel[0] in "CG"):
        return "group"
    return "private" if kind in ("im", "app_home", None) and channel[0] == "D" else "unknown"


def _event_id(body: Json, team: str) -> str:
    return f"{team}:{_id(body, 'event_id') or _digest(body)}"


def _triggered(body: Json, team: str) -> str:
    found = body.get("trigger_id")
    plain = isinstance(found, str) and re.fullmatch(r"[A-Za-z0-9.]{1,100}", found)
    return f"{team}:{found if plain else _digest(body)}"


def _digest(body: Json) -> str:
    whole = json.dumps(body, sort_keys=True, default=str)
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()
