"""From what waits in the inbox to what was heard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester
from tacit.surfaces.chat.heard import (
    Around,
    Came,
    Heard,
    Moved,
    Pressed,
    Quoted,
    Said,
    Unsaid,
    Went,
)
from tacit.surfaces.slack.sent import Sent, read
from tacit.surfaces.slack.words import words

CHANNEL = "slack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """Who we are there, as Slack says."""

    team: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody as Slack shows them."""

    name: str | None = None
    username: str | None = None
    is_bot: bool = False
    is_admin: bool = False  # of their own workspace


NOBODY = Person()
Known = Callable[[str], Person]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Said):
    """Typed after a slash: nobody else saw it, and nobody else is to see the answer."""

    reply_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Press(Pressed):
    reply_url: str | None = None
    hidden: bool = False  # the button is shown to this person alone


class Reading:
    """Called with what the inbox kept. What came from a workspace that is not ours is dropped: it
    could not be answered, and nobody there could look after what was learned."""

    def __init__(self, me: Me, known: Known) -> None:
        self._me = me
        self._known = known

    def __call__(self, payload: str) -> Heard | None:
        sent = read(payload)
        return heard(sent, self._me.user, self._known) if sent.team == self._me.team else None


def heard(sent: Sent, bot: str | None, known: Known) -> Heard | None:
    who = _requester(sent, known)
    if who is not None and who.is_bot and sent.act not in ("came", "went"):
        return None
    if sent.act in ("said", "edited"):
        return _said(sent, who, bot or sent.bot, known)
    if sent.act == "command":
        return _command(sent, who, known)
    if sent.act == "pressed" and sent.data is not None:
        return Press(
            **_around(sent, who),
            data=sent.data,
            message=sent.ts,
            reply_url=sent.reply_url,
            hidden=sent.hidden,
        )
    return _happened(sent, who)


def chat(sent: Sent) -> Chat:
    if sent.place == "private":
        return Chat.private(sent.chat)
    if sent.place != "group":
        return Chat.unknown(sent.chat)
    # Nobody can prove who else reads along, and whoever comes later can read what was said before.
    # Who only looks into a public channel can press its buttons: the store has to know them.
    return Chat(sent.chat, ChatKind.GROUP, vouched=sent.act != "pressed")


def _around(sent: Sent, who: Requester | None) -> Around:
    return Around(channel=CHANNEL, update=sent.id, chat=chat(sent), who=who, thread=sent.thread)


def _happened(sent: Sent, who: Requester | None) -> Heard | None:
    if sent.act == "moved" and sent.before is not None:
        before = f"{CHANNEL}:{sent.team}:{sent.before}"
        return Moved(**_around(sent, None), before=before)
    if sent.act == "arrived":
        return Came(**_around(sent, None), people=(), bot_joined=True)
    if who is None:
        return None
    if sent.act == "unsaid" and sent.ts is not None:
        return Unsaid(**_around(sent, who), message=sent.ts)
    if sent.act in ("came", "went"):
        kind = Came if sent.act == "came" else Went
        return kind(**_around(sent, who), people=(who,))
    return None


def _said(sent: Sent, who: Requester | None, bot: str | None, known: Known) -> Said | None:
    if sent.ts is None:
        return None
    found = words(sent.text, lambda user: known(user).name, bot)
    passed_on = [
        Quoted(text=words(one.text, lambda user: known(user).name, None).own, by=one.by)
        for one in sent.shared
    ]
    return Said(
        **_around(sent, who),
        text=found.own,
        message=sent.ts,
        at=_at(sent.ts),
        edited=sent.act == "edited",
        quoted=(*(Quoted(text=one) for one in found.quoted), *passed_on),
        forwarded=not found.own and bool(found.quoted or passed_on),
        addressed=sent.meant or sent.place == "private" or bot in found.mentioned,
    )


def _command(sent: Sent, who: Requester | None, known: Known) -> Command:
    """`/tacit mem del …` is `/mem del …` here; alone, it asks for help."""
    typed = words(sent.text, lambda user: known(user).name, None).own.removeprefix("/").strip()
    return Command(
        **_around(sent, who),
        text=f"/{typed or 'help'}",
        message=sent.id,
        reply_url=sent.reply_url,
    )


def _requester(sent: Sent, known: Known) -> Requester | None:
    if sent.person is None or sent.user is None:
        return None
    person = known(sent.user)
    return Requester(sent.person, person.name, person.username, person.is_bot)


def _at(ts: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(float(ts), UTC)
    except (OverflowError, OSError, ValueError):
        return None
