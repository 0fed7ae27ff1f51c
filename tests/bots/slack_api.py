"""Slack's Web API over real HTTP, as far as the bot uses it, with the bad days that tests ask for.

It keeps what people would see, and refuses what Slack refuses: a wrong token, channels that are not
there, a message that is too long, an address to answer at that has been used up.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

TEAM = "T0TACIT"
BOT = "U0BOT"
TOKEN = "xoxb-the-right-one"
_USES_MAX_COUNT = 5


@dataclass(frozen=True, slots=True)
class Key:
    label: str
    action: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """What somebody sees."""

    channel: str
    text: str = ""
    keys: tuple[Key, ...] = ()
    only: str | None = None  # the one person who sees it
    ts: str = ""
    thread: str | None = None
    file: str | None = None
    in_place_of: str | None = None
    by_url: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    method: str
    asked: dict[str, Any]
    token: str | None


@dataclass
class Url:
    channel: str
    user: str
    ts: str | None
    uses: int = 0


@dataclass
class Workspace:
    """What is there, and what goes wrong: a test changes it as it likes."""

    token: str = TOKEN
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    creators: dict[str, str] = field(default_factory=dict)  # channel -> who made it
    absent: set[str] = field(default_factory=set)  # channels that the bot is not in
    limited: list[int] = field(default_factory=list)  # Retry-After of the next posts; 0: none
    failing: list[int] = field(default_factory=list)  # statuses of the next calls
    cuts: int = 0  # of the next calls, the connection is cut
    endless: bool = False  # answers are longer than anybody wants to read
    posts: list[Post] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    urls: dict[str, Url] = field(default_factory=dict)
    uploads: dict[str, str] = field(default_factory=dict)

    def named(self, user: str, name: str, **more: Any) -> None:
        shown = {"display_name": name, "real_name": name}
        self.people[user] = {"id": user, "name": name.lower(), "profile": shown, **more}

    def methods(self) -> list[str]:
        return [call.method for call in self.calls]


class SlackApi(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.workspace = Workspace()
        self.lock = threading.RLock()
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.api_url = f"{self.url}/api/"

    def reply_url(self, channel: str, user: str, ts: str | None = None) -> str:
        with self.lock:
            name = f"/answers/{len(self.workspace.urls) + 1}"
            self.workspace.urls[name] = Url(channel, user, ts)
        return self.url + name

    def post(self, **what: Any) -> str:
        with self.lock:
            ts = what.pop("ts", "") or f"1700009999.{len(self.workspace.posts) + 1:06d}"
            self.workspace.posts.append(Post(ts=ts, **what))
        return ts

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of some tests."""


class _Refused(Exception):
    pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or a client waits for the second half of each answer
    server: SlackApi

    def log_message(self, *args: object) -> None:
        """Quietly."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        there, path = self.server.workspace, self.path
        with self.server.lock:
            if path.startswith("/answers/"):
                self._answer_at(path, json.loads(raw))
            elif path.startswith("/upload/"):
                there.uploads[path.rpartition("/")[2]] = raw.decode()
                self._say(200, {"ok": True})
            else:
                self._api(path.removeprefix("/api/"), self._asked(raw))

    def _asked(self, raw: bytes) -> dict[str, Any]:
        if self.headers.get("content-type", "").startswith("application/json"):
            found: dict[str, Any] = json.loads(raw or b"{}")
            return found
        return {name: values[0] for name, values in parse_qs(raw.decode()).items()}

    def _api(self, method: str, asked: dict[str, Any]) -> None:
        there = self.server.workspace
        token = (self.headers.get("authorization") or "").removeprefix("Bearer ") or None
        there.calls.append(Call(method=method, asked=asked, token=token))
        if there.cuts:
            there.cuts -= 1
            self.close_connection = True
            return
        if there.failing:
            self._say(there.failing.pop(0), {"ok": False, "error": "internal_error"})
            return
        if method.startswith("chat.") and there.limited and (seconds := there.limited.pop(0)):
            wait = {"Retry-After": str(seconds)}
            self._say(429, {"ok": False, "error": "ratelimited"}, wait)
            return
        if token != there.token:
            self._say(200, {"ok": False, "error": "invalid_auth"})
            return
        try:
            found = _METHODS[method](self, asked)
        except _Refused as refused:
            self._say(200, {"ok": False, "error": str(refused)})
            return
        self._say(200, {"ok": True, **found})

    # The methods

    def _who(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"team_id": TEAM, "user_id": BOT, "bot_id": "B0BOT"}

    def _person(self, asked: dict[str, Any]) -> dict[str, Any]:
        found = self.server.workspace.people.get(asked["user"])
        if found is None:
            raise _Refused("user_not_found")
        return {"user": found}

    def _about(self, asked: dict[str, Any]) -> dict[str, Any]:
        creator = self.server.workspace.creators.get(asked["channel"], "U0SOMEBODY")
        return {"channel": {"id": asked["channel"], "creator": creator}}

    def _open(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"channel": {"id": direct(asked["users"])}}

    def _post(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert asked["unfurl_links"] == "false"
        return {"ts": self._shown(asked)}

    def _whisper(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"message_ts": self._shown(asked, only=asked["user"])}

    def _replace(self, asked: dict[str, Any]) -> dict[str, Any]:
        before = [one for one in self.server.workspace.posts if one.ts == asked["ts"]]
        if not before or before[0].only is not None:
            raise _Refused("message_not_found")
        return {"ts": self._shown(asked, in_place_of=asked["ts"])}

    def _place_for_a_file(self, asked: dict[str, Any]) -> dict[str, Any]:
        id = f"F{len(self.server.workspace.uploads) + 1}"
        return {"file_id": id, "upload_url": f"{self.server.url}/upload/{id}"}

    def _file_is_there(self, asked: dict[str, Any]) -> dict[str, Any]:
        (file,) = json.loads(asked["files"])
        text = self.server.workspace.uploads[file["id"]]
        self.server.post(channel=asked["channel_id"], text=file["title"], file=text)
        return {}

    def _answer_at(self, path: str, asked: dict[str, Any]) -> None:
        """Works without a token, and no token is to come here."""
        assert self.headers.get("authorization") is None
        found = self.server.workspace.urls.get(path)
        if found is None or found.uses >= _USES_MAX_COUNT:
            self._say(404, {"ok": False, "error": "used_url"})
            return
        found.uses += 1
        assert asked["response_type"] == "ephemeral"
        before = found.ts if asked["replace_original"] else None
        where = {"channel": found.channel, **asked}
        self._shown(where, only=found.user, in_place_of=before, by_url=True)
        self._say(200, {"ok": True})

    def _shown(self, asked: dict[str, Any], **more: Any) -> str:
        if asked["channel"] in self.server.workspace.absent and not more.get("by_url"):
            raise _Refused("channel_not_found")
        text, keys = _read(asked["blocks"])
        if len(text) > 4_000:
            raise _Refused("msg_too_long")
        # What a notification shows is the same, once Slack has undone the escapes.
        assert unescape(asked["text"]) == text
        assert not set("<>") & set(asked["text"])
        return self.server.post(channel=asked["channel"], text=text, keys=keys, thread=asked.get("thread_ts"), **more)

    def _say(self, status: int, answer: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        if self.server.workspace.endless:
            answer = {**answer, "padding": "x" * 2_000_000}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


_METHODS = {
    "auth.test": _Handler._who,
    "users.info": _Handler._person,
    "conversations.info": _Handler._about,
    "conversations.open": _Handler._open,
    "chat.postMessage": _Handler._post,
    "chat.postEphemeral": _Handler._whisper,
    "chat.update": _Handler._replace,
    "files.getUploadURLExternal": _Handler._place_for_a_file,
    "files.completeUploadExternal": _Handler._file_is_there,
}


def direct(user: str) -> str:
    """The channel in which somebody and the bot are alone."""
    return "D" + user[1:]


def _read(blocks: list[dict[str, Any]] | str) -> tuple[str, tuple[Key, ...]]:
    """What is shown, as people read it."""
    listed = json.loads(blocks) if isinstance(blocks, str) else blocks
    assert len(listed) <= 50
    text, keys = "", []
    for block in listed:
        for element in block["elements"]:
            if block["type"] == "rich_text":
                assert element["type"] == "rich_text_section"
                text += "".join(one["url"] if one["type"] == "link" else one["text"] for one in element["elements"])
            else:
                assert (block["type"], element["type"]) == ("actions", "button")
                assert len(element["value"]) <= 2_000
                label = element["text"]["text"]
                keys.append(Key(label, element["action_id"], element["value"]))
    assert len({key.action for key in keys}) == len(keys)
    return text, tuple(keys)


@contextmanager
def slack_api() -> Iterator[SlackApi]:
    server = SlackApi()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
