"""Slack's side of the door: requests as Slack makes them, signed, over real HTTP. Behind it is the
bot with the real libraries."""

import http.client
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import uvicorn
from slack_sdk.signature import SignatureVerifier

from tacit.bots.dispatcher import MessageHandler
from tacit.bots.slack.client import SlackClient
from tacit.bots.slack.runner import EVENTS_PATH, SlackRunner, create_web_app
from tacit.clock import system_clock
from tacit.memory import Memory
from tacit.settings import ChatSettings
from tests.bots.chats import Scenario, Stage, staged
from tests.bots.lines import Lines
from tests.bots.slack_api import BOT, TEAM, TOKEN, SlackApi, slack_api

SECRET = "what slack signs with"
WAIT_SECONDS = 60.0

Json = dict[str, Any]


@dataclass
class Slack:
    api: SlackApi
    running: SlackRunner | None  # None: in a process of its own
    port: int
    lines: Lines = field(default_factory=Lines)
    clock: Callable[[], datetime] = system_clock  # the time where the messages are written
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def number(self) -> int:
        return next(self.numbers)

    def knock(
        self,
        body: str,
        *,
        kind: str = "application/json",
        secret: str = SECRET,
        at: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, str]:
        """One signed request; its status and what it was answered."""
        stamp = str(int(time.time() if at is None else at))
        signed = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
        asked = {
            "Content-Type": kind,
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": signed or "",
            **(headers or {}),
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
        try:
            connection.request("POST", EVENTS_PATH, body=body.encode(), headers=asked)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def done(self) -> None:
        """Until everything that came in is worked on."""
        assert self.running is not None
        assert self.running.wait_until_idle(WAIT_SECONDS)

    # What Slack sends

    def envelope(self, event: Json, *, team: str = TEAM, id: str | None = None, **more: Any) -> str:
        return json.dumps(
            {
                "token": "a token of old",
                "type": "event_callback",
                "team_id": team,
                "event_id": id or f"Ev{self.number():06d}",
                "authorizations": [{"team_id": team, "user_id": BOT, "is_bot": True}],
                "event": event,
                **more,
            }
        )

    def message(self, user: str, channel: str, text: str, **more: Any) -> Json:
        kind = {"D": "im", "G": "mpim"}.get(channel[0], "channel")
        return {
            "type": "message",
            "user": user,
            "channel": channel,
            "channel_type": kind,
            "text": text,
            "ts": f"{int(self.clock().timestamp())}.{self.number():06d}",
            "team": TEAM,
            **more,
        }

    def event(self, event: Json, **more: Any) -> None:
        """Sent, taken in, and worked on."""
        assert self.knock(self.envelope(event, **more)) == (200, "")
        self.done()

    def command(self, user: str, channel: str, text: str, **more: Any) -> tuple[int, str]:
        form = {
            "token": "a token of old",
            "command": "/tacit",
            "text": text,
            "team_id": TEAM,
            "user_id": user,
            "user_name": "somebody",
            "channel_id": channel,
            "channel_name": "directmessage" if channel.startswith("D") else "general",
            "trigger_id": f"12.34.{self.number()}",
            "response_url": self.api.reply_url(channel, user),
            **more,
        }
        return self.knock(urlencode(form), kind="application/x-www-form-urlencoded")

    def press(
        self, user: str, channel: str, ts: str, action: str, value: str, *, hidden: bool = False
    ) -> tuple[int, str]:
        payload = {
            "type": "block_actions",
            "token": "a token of old",
            "team": {"id": TEAM},
            "user": {"id": user, "team_id": TEAM},
            "channel": {"id": channel},
            "container": {"type": "message", "message_ts": ts, "is_ephemeral": hidden},
            "message": {"ts": ts, "text": "what stands above the button"},
            "trigger_id": f"12.34.{self.number()}",
            "response_url": self.api.reply_url(channel, user, ts),
            "actions": [{"type": "button", "action_id": action, "value": value}],
        }
        form = urlencode({"payload": json.dumps(payload)})
        return self.knock(form, kind="application/x-www-form-urlencoded")


def until(come_about: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not come_about():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)


QUIET = Scenario("quiet", lambda _: None, None, chat=ChatSettings(confirm="never"))


def quiet(url: str) -> AbstractContextManager[Stage]:
    """A memory without a model, which keeps what it is told without asking."""
    return staged(url, QUIET)


@contextmanager
def slack(
    memory: Memory,
    bot: MessageHandler,
    clock: Callable[[], datetime] = system_clock,
    *,
    token: str = TOKEN,
    allowed: tuple[str, ...] = (),
    wait: bool = True,
) -> Iterator[Slack]:
    lines = Lines()
    with slack_api() as api, closing(SlackClient(token, api.api_url)) as client:
        running = SlackRunner(memory, bot, client, lines, threads=2, drain_seconds=5, backoff_seconds=0.05)
        served = create_web_app(SECRET, running.add_updates, allowed)
        with _listening(served) as port, running:
            if wait:
                assert running.connected.wait(WAIT_SECONDS)
            yield Slack(api, running, port, lines, clock)


@contextmanager
def _listening(app: Any) -> Iterator[int]:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(WAIT_SECONDS)
        listening.close()
