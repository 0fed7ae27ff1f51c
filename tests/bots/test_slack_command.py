"""`tacit slack` as a process: from its secrets in the environment to the line that it stopped."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tacit
from tacit.bots.slack.runner import SlackSecrets, read_slack_secrets
from tacit.errors import SettingsError
from tacit.settings import SlackSettings
from tests.bots.slack_api import TOKEN, slack_api
from tests.bots.slack_side import Slack, until

SIGNING = "8f742231b10e8888abcd99yyyzzz85a5"
SAID = "remember that I like green tea"


def test_secrets_come_from_the_environment_and_are_told_to_nobody() -> None:
    known = read_slack_secrets(SlackSettings(), {"SLACK_BOT_TOKEN": TOKEN, "SLACK_SIGNING_SECRET": SIGNING})
    assert known == SlackSecrets(token=TOKEN, signing=SIGNING)
    assert TOKEN not in repr(known)
    assert SIGNING not in repr(known)
    for environ in (
        {},
        {"SLACK_BOT_TOKEN": "xoxp-of-a-person", "SLACK_SIGNING_SECRET": SIGNING},
        {"SLACK_BOT_TOKEN": TOKEN},
        {"SLACK_BOT_TOKEN": TOKEN, "SLACK_SIGNING_SECRET": "a b"},
    ):
        with pytest.raises(SettingsError) as problem:
            read_slack_secrets(SlackSettings(token_env="SLACK_BOT_TOKEN"), environ)
        assert "xox" not in str(problem.value).replace("xoxb-", "")
        assert SIGNING not in str(problem.value)


def test_what_may_be_a_secret_in_place_of_a_name_is_not_repeated() -> None:
    with pytest.raises(SettingsError) as problem:
        read_slack_secrets(SlackSettings(secret_env="f742231b10e8888abcd99"), {"SLACK_BOT_TOKEN": TOKEN})
    told = str(problem.value)
    assert told.startswith("the variable that slack.secret_env names is not set: ")
    assert "f742231b" not in told


def test_the_command_answers_and_stops_without_a_word_of_what_was_said(tmp_path: Path) -> None:
    db = tmp_path / "tacit.db"
    tacit.open(f"sqlite:///{db}").close()  # its tables, which take a process longer
    with slack_api() as api:
        api.workspace.named("U1001", "Alice")
        environ = {
            **os.environ,
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING,
            "TACIT_SLACK_API_URL": api.api_url,
            "TACIT_SLACK_PORT": "0",
            "TACIT_CHAT_CONFIRM": "never",
        }
        command = [sys.executable, "-m", "tacit.cli", "--db", str(db)]
        bot = subprocess.Popen([*command, "slack"], env=environ, stderr=subprocess.PIPE, text=True)
        try:
            assert bot.stderr is not None
            listening = json.loads(bot.stderr.readline())
            assert listening["event"] == "listening"
            there = Slack(api, None, int(listening["address"].rpartition(":")[2]))
            body = there.envelope(there.message("U1001", "D1001", SAID))
            assert there.knock(body, secret="somebody else's")[0] == 401
            assert there.knock(body, secret=SIGNING) == (200, "")
            until(lambda: bool(api.workspace.posts))
        finally:
            bot.send_signal(signal.SIGTERM)
            told = bot.communicate(timeout=60)[1]
        assert bot.returncode == 0, told
        events = [json.loads(line)["event"] for line in told.splitlines()]
        assert events[-1] == "stopped"
        assert "answering" in events
        for secret in (TOKEN, SIGNING, "green tea", "U1001", "D1001", "somebody else"):
            assert secret not in told
