"""What bots may be set to: whom they answer, how they ask, and where their secrets are."""

import re
from pathlib import Path

import pytest

from tacit.errors import SettingsError
from tacit.settings import ChatSettings, Settings
from tacit.settings.parsers import describe_variable
from tests.settings.test_settings import DEFAULTS, Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def loaded(place: Place, **variables: str) -> Settings:
    place.environ = {f"TACIT_{name}": value for name, value in variables.items()}
    return place.load()


def test_unless_told_otherwise_new_facts_are_asked_about_and_every_chat_is_answered() -> None:
    assert DEFAULTS.chat == ChatSettings(
        instructions="",
        consent="auto",
        confirm="new",
        recent=20,
        recall_calls=2,
        recall_tokens=2000,
        threads=4,
    )
    assert DEFAULTS.telegram.token_env == "TELEGRAM_BOT_TOKEN"
    assert DEFAULTS.telegram.mode == "polling"
    assert DEFAULTS.slack.secret_env == "SLACK_SIGNING_SECRET"
    assert DEFAULTS.telegram.allowed_chats == DEFAULTS.slack.allowed_chats == ()


def test_chats_are_written_as_the_bot_tells_them_with_their_channel_or_without(
    place: Place,
) -> None:
    found = loaded(
        place,
        TELEGRAM_ALLOWED_CHATS="-1001, telegram:-1001, 42",
        SLACK_ALLOWED_CHATS="T1:C2,slack:T1:D3",
    )
    assert found.telegram.allowed_chats == ("telegram:-1001", "telegram:42")
    assert found.slack.allowed_chats == ("slack:T1:C2", "slack:T1:D3")


@pytest.mark.parametrize("written", ["0", "@channel", "slack:T1:C1", "telegram:", "1:2", "*"])
def test_what_is_no_chat_of_telegram_is_told(place: Place, written: str) -> None:
    with pytest.raises(SettingsError, match=r"telegram\.allowed_chats: is not a chat"):
        loaded(place, TELEGRAM_ALLOWED_CHATS=written)


@pytest.mark.parametrize("written", ["C1", "slack:C1", "telegram:1", "T1:C1:U1", "*"])
def test_what_is_no_chat_of_slack_is_told(place: Place, written: str) -> None:
    with pytest.raises(SettingsError, match=r"slack\.allowed_chats: is not a chat"):
        loaded(place, SLACK_ALLOWED_CHATS=written)


def test_a_webhook_needs_an_address(place: Place) -> None:
    with pytest.raises(
        SettingsError, match=r"TACIT_TELEGRAM_MODE: telegram\.webhook_url: is empty"
    ):
        loaded(place, TELEGRAM_MODE="webhook")
    found = loaded(
        place, TELEGRAM_MODE="webhook", TELEGRAM_WEBHOOK_URL="https://bot.example.org/telegram"
    )
    assert found.telegram.webhook_url == "https://bot.example.org/telegram"


@pytest.mark.parametrize("key", ["TELEGRAM_TOKEN_ENV", "SLACK_TOKEN_ENV", "SLACK_SECRET_ENV"])
def test_a_token_in_place_of_the_name_of_its_variable_is_refused_and_not_repeated(
    place: Place, key: str
) -> None:
    token = "123456:AA-not-a-name"
    with pytest.raises(SettingsError, match="is not the name of a variable") as caught:
        loaded(place, **{key: token})
    assert token not in str(caught.value)
    with pytest.raises(SettingsError, match="is empty"):
        loaded(place, **{key: ""})


@pytest.mark.parametrize(
    ("key", "like"),
    [
        ("TELEGRAM_API_URL", "https://host"),
        ("TELEGRAM_WEBHOOK_URL", "https://bot.example.org/telegram"),
        ("SLACK_API_URL", "https://host/api"),
    ],
)
def test_an_address_that_is_none_is_refused_with_the_form_of_that_one(
    place: Place, key: str, like: str
) -> None:
    with pytest.raises(SettingsError, match=f"write it like {re.escape(like)}, with nothing after"):
        loaded(place, **{key: "notaurl"})


@pytest.mark.parametrize("name", ["TELEGRAM_BOT_TOKEN", "BOT2_TOKEN"])
def test_the_name_of_a_variable_is_told(name: str) -> None:
    assert describe_variable("telegram.token_env", name) == name


@pytest.mark.parametrize(
    "name", ["hunter2", "f742231b10e8888abcd99", "JBSWY3DPEHPK3PXP", "AAH_x9", "A_" + "B" * 17, ""]
)
def test_what_may_be_a_secret_in_place_of_a_variable_is_not_told(name: str) -> None:
    assert describe_variable("slack.secret_env", name) == "the variable that slack.secret_env names"


def test_settings_do_not_show_where_secrets_are(place: Place) -> None:
    found = loaded(place, TELEGRAM_TOKEN_ENV="hunter2", SLACK_API_URL="https://host/hunter2")
    assert "hunter2" not in repr(found)
