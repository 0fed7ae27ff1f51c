"""The shared stories, told over Slack: what people do there, as the requests that Slack sends."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tacit import Chat, Requester
from tests.bots.chats import Person, Room, Shown, Stage, Told, alone, bot_of
from tests.bots.slack_api import BOT, TEAM, Post
from tests.bots.slack_side import Slack, slack


@dataclass
class SlackDriver:
    stage: Stage
    slack: Slack
    people: dict[str, Person]
    rooms: dict[str, Room]
    can_delete: bool = True

    def requester(self, who: Person) -> Requester:
        return Requester(f"slack:{TEAM}:{self._user(who)}", who.name, who.name.lower())

    def typed(self, command: str) -> str:
        return f"/tacit {command.removeprefix('/')}"

    def makes_admin(self, who: Person, room: Room) -> None:
        self.slack.api.workspace.creators[self._channel(room)] = self._user(who)

    def chat(self, room: Room) -> Chat:
        id = f"slack:{TEAM}:{self._channel(room)}"
        return Chat.private(id) if room.of is not None else Chat.group(id)

    def say(
        self,
        who: Person,
        room: Room,
        text: str,
        *,
        to_bot: bool = True,
        forwarded_from: str | None = None,
        quoting: str | None = None,
    ) -> Told:
        user, channel, since = self._user(who), self._channel(room), self._seen()
        if text.startswith("/"):  # Slack takes such a line for a command, wherever it is typed
            assert self.slack.command(user, channel, text[1:]) == (200, "")
            return self._told(who, room, "", since)
        words = _escaped(text)
        attachments = []
        if forwarded_from is not None:
            attachments = [{"is_share": True, "text": words, "author_name": forwarded_from}]
            words = ""
        if quoting is not None:
            words = "\n".join([*(f"&gt; {_escaped(line)}" for line in quoting.split("\n")), words])
        if to_bot and room.of is None:
            words = f"<@{BOT}> {words}"
        sent = self.slack.message(user, channel, words, attachments=attachments)
        self.slack.event(sent)
        if to_bot and room.of is None:  # and once more, as Slack does where the bot is named
            self.slack.event({**sent, "type": "app_mention"})
        return self._told(who, room, sent["ts"], since)

    def edit(self, told: Told, text: str, *, to_bot: bool = True) -> Told:
        user, channel, since = self._user(told.who), self._channel(told.room), self._seen()
        named = f"<@{BOT}> " if to_bot and told.room.of is None else ""
        now = {"type": "message", "user": user, "ts": told.message, "edited": {"user": user}}
        self.slack.event(
            {
                "type": "message",
                "subtype": "message_changed",
                "channel": channel,
                "channel_type": "channel" if told.room.of is None else "im",
                "message": {**now, "text": named + _escaped(text)},
                "previous_message": {**now, "text": "what it said before"},
            }
        )
        return self._told(told.who, told.room, told.message, since)

    def delete(self, told: Told) -> None:
        user = self._user(told.who)
        self.slack.event(
            {
                "type": "message",
                "subtype": "message_deleted",
                "channel": self._channel(told.room),
                "channel_type": "channel" if told.room.of is None else "im",
                "deleted_ts": told.message,
                "previous_message": {"user": user, "ts": told.message, "text": "gone"},
            }
        )
        self._settle()

    def press(self, who: Person, shown: Shown, label: str) -> tuple[Shown, ...]:
        post, since = shown.ref, self._seen()
        assert isinstance(post, Post)
        (key,) = [key for key in post.keys if key.label == label]
        hidden = post.only is not None
        pressed = (self._user(who), post.channel, post.ts, key.action, key.value)
        assert self.slack.press(*pressed, hidden=hidden) == (200, "")
        return self._told(who, shown.room, "", since).shown

    def join(self, who: Person, room: Room) -> None:
        self._moved("member_joined_channel", who, room)

    def leave(self, who: Person, room: Room) -> None:
        self._moved("member_left_channel", who, room)

    def _moved(self, kind: str, who: Person, room: Room) -> None:
        there = {"user": self._user(who), "channel": self._channel(room), "channel_type": "C"}
        self.slack.event({"type": kind, **there})
        self._settle()

    def _user(self, who: Person) -> str:
        user = f"U{who.number}"
        self.people[user] = who
        self.slack.api.workspace.named(user, who.name)
        return user

    def _channel(self, room: Room) -> str:
        channel = f"C{room.number}" if room.of is None else f"D{room.of.number}"
        self.rooms[channel] = room
        return channel

    def _seen(self) -> int:
        return len(self.slack.api.workspace.posts)

    def _settle(self) -> None:
        self.slack.done()
        assert self.stage.memory.inbox.pending("slack") == []
        self.stage.settle()

    def _told(self, who: Person, room: Room, message: str, since: int) -> Told:
        self._settle()
        posts = self.slack.api.workspace.posts[since:]
        return Told(who, room, message, tuple(self._shown(post) for post in posts))

    def _shown(self, post: Post) -> Shown:
        room = self.rooms.get(post.channel) or alone(self.people["U" + post.channel[1:]])
        labels = tuple(key.label for key in post.keys)
        return Shown(room, post.text, labels, file=post.file, ref=post)


@contextmanager
def slack_driver(stage: Stage) -> Iterator[SlackDriver]:
    with slack(stage.memory, bot_of(stage), stage.clock) as there:
        yield SlackDriver(stage, there, {}, {})


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
