"""What Slack sent, cut down to what is used of it: this is what waits in the inbox.

Slack's own requests hold more: a token that it no longer checks itself, whole messages around a
button, layouts. None of that is kept.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal

Act = Literal["said", "edited", "unsaid", "came", "went", "arrived", "moved", "command", "pressed"]
Place = Literal["private", "group", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A message of somebody else that was passed on with this one."""

    text: str
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    act: Act
    id: str  # a repeat has the same one
    team: str  # the workspace that the app is installed in
    channel: str
    place: Place
    user: str | None = None  # who did it; of something deleted, who had written it
    user_team: str | None = None  # the workspace of that person; None: nobody can tell
    ts: str | None = None  # Slack's id of the message, unique in its channel
    thread: str | None = None  # the message that a thread began with
    text: str = ""
    shared: tuple[Shared, ...] = ()
    bot: str | None = None  # our own user there, as the request says
    meant: bool = False  # the bot is, whatever the text says
    data: str | None = None  # of a button
    reply_url: str | None = None  # answers to this one person, for half an hour
    hidden: bool = False  # the message with the button is shown to one person alone
    before: str | None = None  # the id that a channel had

    @property
    def chat(self) -> str:
        return f"slack:{self.team}:{self.channel}"

    @property
    def person(self) -> str | None:
        if self.user is None or self.user_team is None:
            return None
        return f"slack:{self.user_team}:{self.user}"


def written(sent: Sent) -> str:
    return json.dumps(asdict(sent), ensure_ascii=False, separators=(",", ":"))


def read(payload: str) -> Sent:
    found = json.loads(payload)
    shared = tuple(Shared(**one) for one in found.pop("shared"))
    return Sent(**found, shared=shared)
