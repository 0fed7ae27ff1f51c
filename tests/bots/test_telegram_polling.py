"""Asking the Bot API for updates, over HTTP, on good days and bad ones."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from tacit import Update
from tacit.bots.channel import ChannelRetry, JsonObject
from tacit.bots.messages import NotSent
from tacit.bots.telegram.client import TelegramClient
from tacit.bots.telegram.runner import UpdateReceiver, poll_updates
from tacit.bots.telegram.updates import CHANNEL, UPDATE_KINDS, TelegramIdentity, TelegramParser
from tacit.errors import InvalidInput, StoreUnavailable
from tests.bots.bot_api import CONFLICT, UNAUTHORIZED, BotApi, Garbage, Trouble, bot_api, flood
from tests.bots.bot_updates import message, private, user
from tests.bots.lines import Lines
from tests.bots.telegram_stage import Pauses, connected

UNLIKE = "the server does not answer like Telegram: check telegram.api_url"
NOTHING = Garbage(200, b'{"ok": true, "result": []}')
HELLO = {"message": message(private(1001), user(1001), "hello")}


@pytest.fixture
def api() -> Iterator[BotApi]:
    with bot_api() as found:
        yield found


@pytest.fixture
def line(api: BotApi) -> Iterator[TelegramClient]:
    with connected(api) as found:
        yield found


def polled(
    line: TelegramClient,
    count: int,
    kept: Callable[[Sequence[JsonObject]], object] = len,
    now: Callable[[], float] = time.monotonic,
) -> tuple[list[object], Lines, Pauses]:
    """The ids of updates that were taken in, until there are so many of them."""
    ids: list[object] = []
    log, stop = Lines(), Pauses()

    def take_in(updates: Sequence[JsonObject]) -> None:
        kept(updates)
        ids.extend(id for one in updates if isinstance(id := one.get("update_id"), int))
        if len(ids) >= count:
            stop.ended.set()

    poll_updates(line, take_in, ChannelRetry(CHANNEL, log, stop), stop, now=now)
    return ids, log, stop


def test_telegram_forgets_an_update_only_when_it_is_kept(api: BotApi, line: TelegramClient) -> None:
    first, second = api.deliver(HELLO), api.deliver(HELLO)
    failures = [StoreUnavailable("gone"), StoreUnavailable("gone")]

    def fails_at_first(updates: Sequence[JsonObject]) -> None:
        if failures:
            raise failures.pop()

    ids, log, stop = polled(line, 2, fails_at_first)
    assert ids == [first, second]
    assert all("offset" not in given for given in api.of("getUpdates"))
    assert log.problems == ["updates cannot be stored: the database rejects them"]
    assert stop.seconds == [1.0, 2.0]


def test_what_was_kept_is_confirmed_once_and_by_no_number_later_on(api: BotApi, line: TelegramClient) -> None:
    first, offsets = api.deliver(HELLO), []

    def nothing_more() -> None:
        api.wait_confirmed(first)
        api.wake()

    def then_more(updates: Sequence[JsonObject]) -> None:
        offsets.append(api.of("getUpdates")[-1].get("offset"))
        if not updates:
            api.deliver(HELLO)
        elif len(offsets) == 1:
            threading.Thread(target=nothing_more).start()

    polled(line, 2, then_more)
    assert offsets == [None, str(first + 1), None]
    assert UPDATE_KINDS[0] in api.of("getUpdates")[0]["allowed_updates"]


def test_an_update_that_the_library_could_not_read_holds_up_no_other(api: BotApi, line: TelegramClient) -> None:
    odd = api.deliver({"message": {"message_id": "?", "chat": [], "date": "yesterday"}})
    assert polled(line, 2, lambda _: api.deliver(HELLO))[0] == [odd, odd + 1]


@pytest.mark.parametrize(
    ("trouble", "problem"),
    [
        (UNAUTHORIZED, "Telegram rejects the token: check TELEGRAM_BOT_TOKEN"),
        (CONFLICT, "another process polls the updates of this bot: stop it"),
        ("cut before", "Telegram is not reachable: check the network and telegram.api_url"),
        (Garbage(502, b"<html>"), "Telegram is not reachable"),
        (Garbage(200, b"<html>"), UNLIKE),
        (Garbage(404, b"<html>"), UNLIKE),
        (Garbage(404, b'{"detail": "Not Found"}'), UNLIKE),
        (Garbage(200, b"[" * 100_000), UNLIKE),
        (Garbage(200, b"[]"), UNLIKE),
        (Garbage(200, b'{"ok": true, "result": true}'), UNLIKE),
        (Garbage(200, b'{"ok": true, "result": [1, "2"]}'), UNLIKE),
    ],
)
def test_trouble_is_told_in_one_line_and_tried_again_with_longer_pauses(
    api: BotApi, line: TelegramClient, trouble: Trouble, problem: str
) -> None:
    api.trouble["getUpdates"] = [trouble] * 8
    api.deliver(HELLO)
    ids, log, stop = polled(line, 1)
    assert len(ids) == 1
    assert stop.seconds == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    assert [event for event, _ in log.told] == ["telegram waits", "telegram goes on"]
    assert str(log.problems[0]).startswith(problem)
    assert log.of("telegram waits")[0]["again_in_seconds"] == 1.0


def test_an_odd_update_is_left_out_and_the_others_are_kept(line: TelegramClient) -> None:
    log = Lines()
    kept: list[str] = []

    def take_in(updates: Sequence[Update]) -> int:
        if any(one.chat == f"telegram:{10**25}" for one in updates):
            raise InvalidInput("chat", "is not of the form telegram:<chat id, digits>")
        kept.extend(one.id for one in updates)
        return len(updates)

    odd: list[JsonObject] = [
        {"update_id": 2, "message": message(private(10**25), user(1001), "hello")},
        {"update_id": 3, "message": message(private(1001), user(1001), "hello", date=10**25)},
        {"update_id": 4, "message": message(private(1001), user(1001), "x" * 300_000)},
        {"update_id": None},
    ]
    reading = TelegramParser(TelegramIdentity(id=7, username="tacit_bot"))
    UpdateReceiver(reading, take_in, line, log)([{"update_id": 1, **HELLO}, *odd, {"update_id": 5, **HELLO}])
    assert kept == ["7.1", "7.5"]
    assert [event for event, _ in log.told] == ["update left out"] * 3


def test_a_busy_telegram_is_left_alone_for_as_long_as_it_says(api: BotApi, line: TelegramClient) -> None:
    api.trouble["getUpdates"] = [flood(17)]
    api.deliver(HELLO)
    _, log, stop = polled(line, 1)
    assert stop.seconds == [17]
    assert log.of("telegram waits")[0]["again_in_seconds"] == 17


def test_who_says_at_once_that_there_is_nothing_is_not_asked_without_a_pause(api: BotApi, line: TelegramClient) -> None:
    api.trouble["getUpdates"] = [NOTHING] * 4
    api.deliver(HELLO)
    ids, log, stop = polled(line, 1)
    assert len(ids) == 1
    assert stop.seconds == [1.0, 2.0, 4.0, 5.0]
    assert log.told == []


def test_hanging_up_ends_a_wait_for_updates_at_once(api: BotApi, line: TelegramClient) -> None:
    stop, log = Pauses(), Lines()
    waiting = threading.Thread(target=poll_updates, args=(line, len, ChannelRetry(CHANNEL, log, stop), stop, 600))
    waiting.start()
    api.wait_called("getUpdates")
    stop.ended.set()
    line.stop_polling()
    waiting.join(60)
    assert not waiting.is_alive()
    assert log.told == []
    with pytest.raises(NotSent):
        line.get_updates(None, 600)
