"""Telegram's Bot API over real HTTP, in the test process: it delivers updates until they are
confirmed, refuses what Telegram refuses, and has bad days when a test says so."""

import html
import json
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from tests.bots.bot_forms import form

TOKEN = "700700700:AAFsecretsecretsecretsecretsecret00"
BOT: dict[str, Any] = {"id": 700700700, "is_bot": True, "first_name": "Tacit", "username": "tacit_bot"}
TEXT_MAX_UNITS = 4_096
DATA_MAX_BYTES = 64

Json = dict[str, Any]
_TAG = re.compile(r'</?(?:b|code)>|<a href="[^"<>]+">|</a>')
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#x?[0-9a-fA-F]+);")


@dataclass(frozen=True)
class Refusal:
    """An answer other than the usual one."""

    status: int
    description: str
    parameters: Json | None = None

    @property
    def body(self) -> bytes:
        told: Json = {"ok": False, "error_code": self.status, "description": self.description}
        return json.dumps(told | ({"parameters": self.parameters} if self.parameters else {})).encode()


@dataclass(frozen=True)
class Garbage:
    """What a proxy answers in Telegram's place."""

    status: int
    body: bytes


Cut = Literal["cut before", "cut after"]  # without and with the call having had its effect
Trouble = Refusal | Garbage | Cut


def flood(seconds: float) -> Refusal:
    told = f"Too Many Requests: retry after {seconds}"
    return Refusal(429, told, {"retry_after": seconds})


UNAUTHORIZED = Refusal(401, "Unauthorized")
CONFLICT = Refusal(409, "Conflict: terminated by other getUpdates request")
BLOCKED = Refusal(403, "Forbidden: bot was blocked by the user")


@dataclass(frozen=True)
class Sent:
    """Something that people in a chat see now."""

    method: str
    chat: int
    message: int
    text: str  # as it is read
    raw: str  # as it was sent
    rows: tuple[tuple[tuple[str, str], ...], ...] = ()  # of buttons: label and data
    topic: int | None = None
    answers: int | None = None
    file: str | None = None

    @property
    def buttons(self) -> dict[str, str]:
        return {label: data for row in self.rows for label, data in row}


@dataclass
class BotApi:
    url: str = ""
    sent: list[Sent] = field(default_factory=list)
    calls: list[tuple[str, Json]] = field(default_factory=list)
    # By method, one for each call; None: all goes well.
    trouble: dict[str, list[Trouble | None]] = field(default_factory=lambda: defaultdict(list))
    status: dict[tuple[int, int], str] = field(default_factory=dict)  # of a member of a chat
    moved: dict[int, int] = field(default_factory=dict)
    blocked: set[int] = field(default_factory=set)
    webhook: Json = field(default_factory=dict)
    changed: threading.Condition = field(default_factory=threading.Condition)
    _wakes: int = 0
    _queue: list[Json] = field(default_factory=list)
    _told: dict[int, Json] = field(default_factory=dict)
    _confirmed: int = 0
    _next_update: int = 500
    _next_message: int = 9_000

    # What a test does.

    def deliver(self, update: Json) -> int:
        """Something happens in Telegram."""
        with self.changed:
            self._next_update += 1
            self._told[self._next_update] = {"update_id": self._next_update, **update}
            self._queue.append(self._told[self._next_update])
            self.changed.notify_all()
            return self._next_update

    def repeat(self, update: int) -> None:
        """The very same one is told again, though it was confirmed."""
        with self.changed:
            self._confirmed = 0
            self._queue.append(self._told[update])
            self.changed.notify_all()

    def wait_confirmed(self, update: int, seconds: float = 20) -> None:
        with self.changed:
            done = self.changed.wait_for(lambda: self._confirmed > update, seconds)
        assert done, "the bot does not ask for later updates"

    def wait_called(self, method: str, count: int = 1, seconds: float = 20) -> None:
        with self.changed:
            done = self.changed.wait_for(lambda: len(self.of(method)) >= count, seconds)
        assert done, f"{method} was called {len(self.of(method))} times, not {count}"

    def wake(self) -> None:
        """Who waits for updates is told that there are none."""
        with self.changed:
            self._wakes += 1
            self.changed.notify_all()

    def of(self, method: str) -> list[Json]:
        return [given for called, given in self.calls if called == method]

    # What Telegram does.

    def answer(self, method: str, given: Json) -> Any:
        """The result, or a `Refusal`."""
        match method:
            case "getMe":
                return BOT
            case "getUpdates":
                return self._updates(given)
            case "sendMessage" | "editMessageText" | "sendDocument":
                return self._message(method, given)
            case "getChatMember":
                chat, user = int(given["chat_id"]), int(given["user_id"])
                status = self.status.get((chat, user), "left")
                return {"status": status, "user": {"id": user, "is_bot": False, "first_name": "x"}} | (
                    _RIGHTS if status == "administrator" else {"is_anonymous": False}
                )
            case "setWebhook":
                self.webhook = given
                return True
            case "deleteWebhook":
                self.webhook = {}
                return True
            case "answerCallbackQuery":
                return True
        return Refusal(404, "Not Found")

    def _updates(self, given: Json) -> Any:
        if self.webhook:
            return Refusal(409, "Conflict: can't use getUpdates method while webhook is active")
        with self.changed:
            if "offset" in given:
                self._confirmed = int(given["offset"])
                self._queue = [one for one in self._queue if one["update_id"] >= self._confirmed]
                self.changed.notify_all()
            until = time.monotonic() + int(given.get("timeout", 0))
            wakes = self._wakes
            while not self._queue and (left := until - time.monotonic()) > 0:
                self.changed.wait(left)
                if self._wakes != wakes:
                    break
            return self._queue[: int(given.get("limit", 100))]

    def _message(self, method: str, given: Json) -> Any:
        chat, raw = int(given["chat_id"]), given.get("text", "")
        if chat in self.moved:
            told = "Bad Request: group chat was upgraded to a supergroup chat"
            return Refusal(400, told, {"migrate_to_chat_id": self.moved[chat]})
        if chat in self.blocked:
            return BLOCKED
        text, problem = _read(raw, given.get("parse_mode"))
        if problem is None and method != "sendDocument" and not text.strip():
            problem = "message text is empty"
        rows = _rows(given.get("reply_markup"))
        if any(not 0 < len(data.encode()) <= DATA_MAX_BYTES for row in rows for _, data in row):
            problem = "BUTTON_DATA_INVALID"
        if problem is not None:
            return Refusal(400, f"Bad Request: {problem}")
        return self._shown(method, given, chat, text, raw, rows)

    def _shown(self, method: str, given: Json, chat: int, text: str, raw: str, rows: Any) -> Any:
        reply = json.loads(given.get("reply_parameters", "{}"))
        with self.changed:
            id = self._next_message = self._next_message + 1
            if method == "editMessageText":
                id = int(given["message_id"])
                before = [one for one in self.sent if (one.chat, one.message) == (chat, id)]
                if not before:
                    return Refusal(400, "Bad Request: message to edit not found")
                if (before[-1].text, before[-1].rows) == (text, rows):
                    return Refusal(400, "Bad Request: message is not modified")
            topic = given.get("message_thread_id")
            self.changed.notify_all()
            self.sent.append(
                Sent(
                    method=method,
                    chat=chat,
                    message=id,
                    text=text,
                    raw=raw,
                    rows=rows,
                    topic=None if topic is None else int(topic),
                    answers=reply.get("message_id"),
                    file=given.get("document"),
                )
            )
        where = {"id": chat, "type": "private" if chat > 0 else "supergroup"}
        return {"message_id": id, "date": 1_800_000_000, "chat": where, "from": BOT, "text": text}


_RIGHTS: Json = dict.fromkeys(
    (
        "can_be_edited",
        "is_anonymous",
        "can_manage_chat",
        "can_delete_messages",
        "can_manage_video_chats",
        "can_restrict_members",
        "can_promote_members",
        "can_change_info",
        "can_invite_users",
        "can_post_stories",
        "can_edit_stories",
        "can_delete_stories",
    ),
    False,
)


def _read(raw: str, mode: str | None) -> tuple[str, str | None]:
    """The text as people see it, and what is wrong with it."""
    text = raw
    if mode == "HTML":
        bare = _TAG.sub("", raw)
        if "<" in bare or ">" in bare or "&" in _ENTITY.sub("", bare):
            return "", "can't parse entities"
        text = html.unescape(bare)
    if len(text.encode("utf-16-le")) // 2 > TEXT_MAX_UNITS:
        return "", "message is too long"
    return text, None


def _rows(markup: str | None) -> tuple[tuple[tuple[str, str], ...], ...]:
    keyboard = json.loads(markup)["inline_keyboard"] if markup else []
    return tuple(tuple((key["text"], key["callback_data"]) for key in row) for row in keyboard)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    api: BotApi

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle of a long poll is part of some tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or a client waits for the second half of each answer
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        found = re.fullmatch(r"/bot([^/]*)/(\w+)", self.path)
        if found is None or found[1] != TOKEN:
            self._reply(401, UNAUTHORIZED.body)
            return
        api = self.server.api
        # Methods are known in any case.
        method = found[2][0].lower() + found[2][1:]
        given = form(self.headers.get("content-type", ""), body)
        with api.changed:
            api.calls.append((method, given))
            planned = api.trouble[method].pop(0) if api.trouble[method] else None
            api.changed.notify_all()
        if isinstance(planned, Garbage | Refusal):
            self._reply(planned.status, planned.body)
            return
        result = None if planned == "cut before" else api.answer(method, given)
        if planned is not None:
            self.close_connection = True
        elif isinstance(result, Refusal):
            self._reply(result.status, result.body)
        else:
            self._reply(200, json.dumps({"ok": True, "result": result}).encode())

    def _reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Quietly."""


@contextmanager
def bot_api() -> Iterator[BotApi]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.api = BotApi(url=f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.api
    finally:
        server.api.wake()
        server.shutdown()
        thread.join()
        server.server_close()
