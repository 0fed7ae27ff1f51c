"""Being told updates: only by who knows the secret, and never more than fits."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from tacit import limits
from tacit.bots.channel import JsonObject
from tacit.bots.telegram.runner import create_webhook_app, read_telegram_secrets
from tacit.errors import SettingsError, StoreUnavailable
from tacit.settings import TelegramSettings
from tests.bots.bot_api import TOKEN
from tests.bots.bot_updates import message, private, user

SECRET = "s3cret_of-ours"
NO_SECRET = "the variable that telegram.secret_env names is not a secret that Telegram accepts: "
URL = "https://bots.example.org/hooks/a%20b"
PATH = "/hooks/a%20b"
SHOWN = {"X-Telegram-Bot-Api-Secret-Token": SECRET}
UPDATE = {"update_id": 1, "message": message(private(1001), user(1001), "hello")}


class Kept(list[JsonObject]):
    fails = False

    def __call__(self, updates: Sequence[JsonObject]) -> None:
        if self.fails:
            raise StoreUnavailable("gone")
        self.extend(updates)


def told(
    kept: Kept,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
    path: str = PATH,
    method: str = "POST",
    draining: bool = False,
) -> httpx.Response:
    served = create_webhook_app(kept, URL, SECRET)
    served.state.draining = draining
    given = json.dumps(UPDATE).encode() if body is None else body

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(served)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            shown = SHOWN if headers is None else headers
            return await client.request(method, path, content=given, headers=shown)

    return asyncio.run(ask())


def test_an_update_is_kept_before_it_is_acknowledged() -> None:
    kept = Kept()
    assert told(kept).status_code == 200
    assert kept == [UPDATE]


LARGE = b" " * (limits.CHAT_BODY_MAX_BYTES + 1)
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"


@pytest.mark.parametrize(
    ("status", "asked"),
    [
        (403, {"headers": {}}),
        (403, {"headers": {SECRET_HEADER: ""}}),
        (403, {"headers": {SECRET_HEADER: SECRET.upper()}}),
        (403, {"headers": {SECRET_HEADER: SECRET[:-1]}}),
        (403, {"headers": {"Authorization": f"Bearer {SECRET}"}}),
        *((404, {"path": f"/{path}"}) for path in ("", "hooks", "hooks/a%20b/", "hooks/a%20b/x")),
        (404, {"path": "//"}),
        (405, {"method": "GET"}),
        *((400, {"body": body}) for body in (b"", b"{", b"[1]", b'"x"', b"\xff", b"[" * 100_000)),
        (413, {"body": LARGE}),
        (413, {"body": LARGE, "headers": {**SHOWN, "transfer-encoding": "chunked"}}),
        (503, {"draining": True}),
    ],
    ids=lambda one: str(one)[:60],
)
def test_what_is_refused_is_not_kept(status: int, asked: dict[str, Any]) -> None:
    kept = Kept()
    answer = told(kept, **asked)
    assert answer.status_code == status
    assert status != 403 or answer.content == b""
    assert kept == []


def test_what_cannot_be_kept_is_told_again_later() -> None:
    kept = Kept()
    kept.fails = True
    assert told(kept).status_code == 503
    assert kept == []


def test_secrets_come_from_the_variables_that_the_settings_name() -> None:
    how = TelegramSettings(token_env="A", secret_env="B", mode="webhook", webhook_url="https://example.org/x")
    found = read_telegram_secrets(how, {"A": f" {TOKEN}\n", "B": SECRET})
    assert (found.token, found.webhook) == (TOKEN, SECRET)
    assert TOKEN not in repr(found)
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({}, "OUR_TOKEN is not set: "),
        ({"OUR_TOKEN": "not/a token"}, "OUR_TOKEN is not a token: "),
        ({"OUR_TOKEN": TOKEN}, "the variable that telegram.secret_env names is not set: "),
        ({"OUR_TOKEN": TOKEN, "hunter2": "with space"}, NO_SECRET),
        ({"OUR_TOKEN": TOKEN, "hunter2": "x" * 257}, NO_SECRET),
    ],
)
def test_a_missing_secret_is_an_error_that_does_not_repeat_it(environ: dict[str, str], says: str) -> None:
    how = TelegramSettings(
        token_env="OUR_TOKEN", secret_env="hunter2", mode="webhook", webhook_url="https://example.org/x"
    )
    with pytest.raises(SettingsError) as refused:
        read_telegram_secrets(how, environ)
    assert str(refused.value).startswith(says)
    assert "hunter2" not in str(refused.value)  # it may be the secret itself
    for value in environ.values():
        assert value not in str(refused.value)
