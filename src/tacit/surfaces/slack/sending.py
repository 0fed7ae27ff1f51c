"""The way back: which of Slack's ways an answer takes, so that only those hear it who may."""

from __future__ import annotations

import time
from collections.abc import Callable

from tacit import limits
from tacit.records.memory import ChatKind
from tacit.records.request import Chat, Requester
from tacit.surfaces.chat.heard import Heard
from tacit.surfaces.chat.say import NotSent, Say
from tacit.surfaces.slack.calls import Calls
from tacit.surfaces.slack.forms import Message, messages
from tacit.surfaces.slack.reading import CHANNEL, Command, Me, Person, Press

Way = Callable[[Message], None]

_ELSEWHERE = "this is for somebody whom this app does not reach"


class SlackOutlet:
    def __init__(
        self,
        calls: Calls,
        me: Me,
        known: Callable[[str], Person],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._calls = calls
        self._me = me
        self._users = known
        self._pause = pause

    def send(
        self, where: Chat, to: Requester | None, what: Say, *, after: Heard | None = None
    ) -> None:
        way = self._choose_delivery(where, to, what, after)
        for number, message in enumerate(messages(what)):
            if number:
                self._deliver_with_wait(way, message)
            else:
                way(message)
        if what.attachment is not None:
            self._attach(where, to, what, after)

    def is_admin(self, where: Chat, who: Requester) -> bool:
        """Slack's channels have no admins of their own: those of the workspace are, and whoever
        made the channel. Guests from another workspace are not, whatever they are there."""
        try:
            user = self._user(who)
            if self._users(user).is_admin:
                return True
            return self._calls.get_channel_creator(self._channel(where)) == user
        except NotSent:
            return False

    # Ways

    def _choose_delivery(
        self, where: Chat, to: Requester | None, what: Say, after: Heard | None
    ) -> Way:
        if isinstance(after, Command | Press) and not (what.alone and not _is_private(where)):
            return self._answer_interaction(where, to, what, after)
        if what.alone and not self._is_private_with(where, to, after):
            return self._to_direct_channel(to)
        return self._to_channel(where, after)

    def _answer_interaction(
        self, where: Chat, to: Requester | None, what: Say, after: Command | Press
    ) -> Way:
        """Where others listen, nobody else sees what a command or a button leads to, unless it
        stands in place of what everybody saw."""
        hidden = isinstance(after, Command) or after.hidden
        if hidden and after.reply_url is not None:
            return self._to_response_url(where, to, after.reply_url, what.instead)
        aside = self._to_direct_channel(to) if _is_private(where) and hidden else None
        otherwise = aside or self._to_one(where, to, after)
        if what.instead and isinstance(after, Press) and after.message and not hidden:
            return self._in_place(where, after.message, otherwise)
        return otherwise

    def _to_response_url(self, where: Chat, to: Requester | None, url: str, instead: bool) -> Way:
        """Such an address serves for half an hour and five answers; after that there are others."""

        def way(message: Message) -> None:
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

        return way

    def _in_place(self, where: Chat, ts: str, otherwise: Way) -> Way:
        """The first part, at least: what does not fit comes after it."""
        channel, before = self._channel(where), [ts]

        def way(message: Message) -> None:
            if not before:
                otherwise(message)
                return
            try:
                self._calls.update_message(channel, before.pop(), message)
            except NotSent as problem:
                if not problem.for_good:
                    raise
                otherwise(message)

        return way

    def _to_one(self, where: Chat, to: Requester | None, after: Heard | None) -> Way:
        if _is_private(where):
            return self._to_channel(where, after)
        channel, user, thread = self._channel(where), self._user(to), _thread(after)
        return lambda message: self._calls.post_ephemeral(channel, user, thread, message)

    def _to_channel(self, where: Chat, after: Heard | None) -> Way:
        channel, thread = self._channel(where), _thread(after)
        return lambda message: self._calls.post_message(channel, thread, message)

    def _to_direct_channel(self, to: Requester | None) -> Way:
        channel = self._calls.open_direct_channel(self._user(to))
        return lambda message: self._calls.post_message(channel, None, message)

    def _deliver_with_wait(self, way: Way, message: Message) -> None:
        """In the middle of an answer a short wait is better than its beginning twice."""
        try:
            way(message)
        except NotSent as problem:
            seconds = problem.wait_seconds
            if seconds is None or seconds > limits.SLACK_WAIT_MAX_SECONDS:
                raise
            self._pause(seconds)
            way(message)

    def _attach(self, where: Chat, to: Requester | None, what: Say, after: Heard | None) -> None:
        """A file cannot be shown to one person alone in a channel: it goes where they are alone."""
        if what.attachment is None:
            return
        openly = not what.alone and not isinstance(after, Command | Press)
        if openly or (_is_private(where) and self._is_private_with(where, to, after)):
            channel, thread = self._channel(where), _thread(after)
        else:
            channel, thread = self._calls.open_direct_channel(self._user(to)), None
        self._calls.upload_file(channel, thread, what.attachment.name, what.attachment.text)

    # Who and where

    def _is_private_with(self, where: Chat, to: Requester | None, after: Heard | None) -> bool:
        """Whether `where` is the place in which this person and the bot are alone. What was typed
        after a slash may have been typed among others."""
        heard = after is not None and after.who is not None and to is not None
        same = heard and after is not None and after.who == to and after.chat.id == where.id
        hidden = isinstance(after, Command) or (isinstance(after, Press) and after.hidden)
        return same and _is_private(where) and not hidden

    def _channel(self, where: Chat) -> str:
        return self._own(where.id)

    def _user(self, to: Requester | None) -> str:
        if to is None:
            raise NotSent("nobody is known whom this is for", for_good=True)
        return self._own(to.key)

    def _own(self, id: str) -> str:
        """The last part of an id of our own workspace. Others are not ours to call."""
        channel, _, rest = id.partition(":")
        team, _, own = rest.partition(":")
        if channel != CHANNEL or team != self._me.team or not own:
            raise NotSent(_ELSEWHERE, for_good=True)
        return own


def _is_private(where: Chat) -> bool:
    return where.kind is ChatKind.PRIVATE


def _thread(after: Heard | None) -> str | None:
    return None if after is None else after.thread
