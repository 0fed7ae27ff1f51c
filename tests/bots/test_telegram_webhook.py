"""Being told updates: only by who knows the secret, and never more than fits."""

import asyncio
import json
from collections.abc import Sequence

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


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Telegram-Bot-Api-Secret-Token": ""},
        {"X-Telegram-Bot-Api-Secret-Token": SECRET.upper()},
        {"X-Telegram-Bot-Api-Secret-Token": SECRET[:-1]},
        {"Authorization": f"Bearer {SECRET}"},
    ],
)
def test_who_does_not_know_the_secret_is_not_listened_to(headers: dict[str, str]) -> None:
    kept = Kept()
    answer = told(kept, headers=headers)
    assert (answer.status_code, answer.content) == (403, b"")
    assert kept == []


@pytest.mark.parametrize("path", ["/", "/hooks", "/hooks/a%20b/", "/hooks/a%20b/x", "//"])
def test_nothing_else_is_there(path: str) -> None:
    kept = Kept()
    assert told(kept, path=path).status_code == 404
    assert kept == []


def test_updates_are_posted_or_not_at_all() -> None:
    kept = Kept()
    assert told(kept, method="GET").status_code == 405
    assert kept == []


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"x"', b"\xff", b"[" * 100_000])
def test_what_is_no_update_is_refused(body: bytes) -> None:
    kept = Kept()
    assert told(kept, body).status_code == 400
    assert kept == []


def test_a_body_that_no_update_has_is_not_read_to_its_end() -> None:
    kept = Kept()
    large = b" " * (limits.CHAT_BODY_MAX_BYTES + 1)
    assert told(kept, large).status_code == 413
    assert told(kept, large, {**SHOWN, "transfer-encoding": "chunked"}).status_code == 413
    assert kept == []


def test_what_cannot_be_kept_is_told_again_later() -> None:
    kept = Kept()
    assert told(kept, draining=True).status_code == 503
    kept.fails = True
    assert told(kept).status_code == 503
    assert kept == []


def test_secrets_come_from_the_variables_that_the_settings_name() -> None:
    how = TelegramSettings(
        token_env="A", secret_env="B", mode="webhook", webhook_url="https://example.org/x"
    )
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
def test_a_missing_secret_is_an_error_that_does_not_repeat_it(
    environ: dict[str, str], says: str
) -> None:
    how = TelegramSettings(
        token_env="OUR_TOKEN",
        secret_env="hunter2",
        mode="webhook",
        webhook_url="https://example.org/x",
    )
    with pytest.raises(SettingsError) as refused:
        read_telegram_secrets(how, environ)
    assert str(refused.value).startswith(says)
    assert "hunter2" not in str(refused.value)  # it may be the secret itself
    for value in environ.values():
        assert value not in str(refused.value)
