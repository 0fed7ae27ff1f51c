"""`tacit telegram` as a process of its own: a token in the environment, and nowhere else."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import tacit
from tests.bots.bot_api import TOKEN, UNAUTHORIZED, BotApi, bot_api
from tests.bots.bot_updates import message, private, user

SECRET = "s3cret_of-ours"
SHOWN = {"X-Telegram-Bot-Api-Secret-Token": SECRET}
PATIENCE_SECONDS = 60.0
WORDS = "remember that I live in Graz"


@contextmanager
def running(folder: Path, api: BotApi, **env: str) -> Iterator[tuple[Callable[[], str], Any]]:
    """What it has logged by now, and the process."""
    log = folder / "log"
    tacit.open(f"sqlite:///{folder / 'db'}").close()  # its tables, which take a process longer
    given = {"TACIT_TELEGRAM_API_URL": api.url, "TELEGRAM_BOT_TOKEN": TOKEN, **env}
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [sys.executable, "-m", "tacit.cli", "telegram", "--db", str(folder / "db")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=lines,
            env={**os.environ, "TACIT_SERVER_LOG": "json", **given},
        )
    try:
        yield log.read_text, process
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(PATIENCE_SECONDS)
    told = log.read_text()
    assert code == 0, told
    assert json.loads(told.splitlines()[-1])["event"] == "stopped"
    for secret in (TOKEN, TOKEN.partition(":")[2], SECRET, "Graz"):
        assert secret not in told
    assert not re.search(r"(?<![\d.])1001(?!\d)", told)  # a time may have these digits in it


def hello(text: str) -> dict[str, Any]:
    return {"message": message(private(1001), user(1001), text)}


@pytest.fixture
def api() -> Iterator[BotApi]:
    with bot_api() as found:
        yield found


def test_it_asks_for_updates_answers_them_and_stops_when_told(tmp_path: Path, api: BotApi) -> None:
    api.webhook = {"url": "https://of.an.earlier/start"}
    api.trouble["getMe"] = [UNAUTHORIZED]
    api.deliver(hello(WORDS))
    api.deliver(hello("/id"))
    with running(tmp_path, api) as (log, _):
        api.wait_called("sendMessage", 2, seconds=PATIENCE_SECONDS)
        events = [json.loads(line)["event"] for line in log().splitlines()]
        assert events == ["telegram waits", "telegram goes on", "answering"]
        api.wait_called("getUpdates", 2)  # it hangs in a wait for more
    assert "telegram:1001" in api.sent[1].text


def test_it_is_told_updates_by_who_knows_the_secret(tmp_path: Path, api: BotApi) -> None:
    env = {
        "TACIT_TELEGRAM_MODE": "webhook",
        "TACIT_TELEGRAM_WEBHOOK_URL": "https://bots.example.org/hook",
        "TACIT_TELEGRAM_PORT": "0",
        "TELEGRAM_WEBHOOK_SECRET": SECRET,
    }
    with running(tmp_path, api, **env) as (log, process):
        api.wait_called("setWebhook", seconds=PATIENCE_SECONDS)
        assert api.webhook["url"] == env["TACIT_TELEGRAM_WEBHOOK_URL"]
        assert api.webhook["secret_token"] == SECRET
        found = re.search(r'"address": "([^"]+)"', log())
        assert found is not None
        assert process.poll() is None
        with httpx.Client(base_url=found[1], timeout=PATIENCE_SECONDS) as client:
            update = {"update_id": 900, **hello(WORDS)}
            wrong = {"X-Telegram-Bot-Api-Secret-Token": "guess"}
            assert client.post("/hook", json={**update, "update_id": 1}).status_code == 403
            assert client.post("/hook", json=update, headers=wrong).status_code == 403
            assert client.post("/hook", json=update, headers=SHOWN).status_code == 200
            assert client.post("/hook", json=update, headers=SHOWN).status_code == 200
            api.wait_called("sendMessage", seconds=PATIENCE_SECONDS)
            assert client.post("/hook/", json=update, headers=SHOWN).status_code == 404
    assert len(api.sent) == 1
