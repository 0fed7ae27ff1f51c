"""What is said, through the real library to the Bot API over HTTP."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tacit import Chat, Requester, limits
from tacit.bots.messages import (
    Attachment,
    Button,
    ButtonPressed,
    InboundMessage,
    NotSent,
    OutboundMessage,
    Span,
    code_span,
    link_span,
    make_message,
    strong_span,
)
from tacit.bots.telegram.client import TelegramSender
from tests.bots.bot_api import CONFLICT, TOKEN, UNAUTHORIZED, BotApi, Garbage, Refusal, Trouble, bot_api, flood
from tests.bots.telegram_stage import Pauses, connected

ALICE = Requester("telegram:1001", name="Alice")
HOME = Chat.private("telegram:1001")
TEAM = Chat.group("telegram:-5", [ALICE])


@pytest.fixture
def api() -> Iterator[BotApi]:
    with bot_api() as found:
        yield found


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def outlet(api: BotApi, pauses: Pauses) -> Iterator[TelegramSender]:
    with connected(api) as line:
        yield TelegramSender(line, pauses.wait)


def pressed(chat: Chat, message: str | None = "77", thread: str | None = None) -> ButtonPressed:
    return ButtonPressed(
        channel="telegram", update="1", chat=chat, who=ALICE, thread=thread, data="m:1", message=message
    )


def test_whatever_has_a_meaning_in_html_is_read_as_it_was_written(api: BotApi, outlet: TelegramSender) -> None:
    odd = "<b>1 < 2 & 3 > 2</b> &amp; \"q\" 'a' *x* _y_ [z](u) \ud800"
    outlet.send(HOME, ALICE, make_message("a<b ", strong_span(odd), code_span("</code>")))
    (sent,) = api.sent
    assert sent.text == f"a<b {odd[:-1]}?</code>"
    assert sent.raw.startswith("a&lt;b <b>&lt;b&gt;1")
    assert sent.raw.endswith("<code>&lt;/code&gt;</code>")


def test_a_link_is_not_looked_up_by_anybody(api: BotApi, outlet: TelegramSender) -> None:
    outlet.send(HOME, ALICE, make_message("https://example.org/secret"))
    outlet.send(HOME, ALICE, make_message(link_span('https://example.org/?a="&b=<')))
    for asked in api.of("sendMessage"):
        assert asked["link_preview_options"] == '{"is_disabled": true}'
    address = "https://example.org/?a=&quot;&amp;b=&lt;"
    assert api.sent[1].raw == f'<a href="{address}">{address}</a>'


def test_a_long_text_goes_in_parts_and_its_buttons_under_the_last(api: BotApi, outlet: TelegramSender) -> None:
    words = "🥦 & words " * 2_000
    buttons = ((Button(label="Next »", data="m:2"),),)
    outlet.send(HOME, ALICE, OutboundMessage(spans=(Span(words),), buttons=buttons, answers="42"))
    assert len(api.sent) == 6
    assert " ".join(one.text.strip() for one in api.sent) == words.strip()
    assert [bool(one.buttons) for one in api.sent] == [False] * 5 + [True]
    assert [one.answers for one in api.sent] == [42] + [None] * 5


def test_what_is_for_one_alone_never_goes_to_the_group(api: BotApi, outlet: TelegramSender) -> None:
    secret = OutboundMessage(spans=(Span("psst"),), alone=True, answers="42")
    heard = InboundMessage(channel="telegram", update="1", chat=TEAM, who=ALICE, thread="3")
    outlet.send(TEAM, ALICE, secret, after=heard)
    assert [(one.chat, one.topic, one.answers) for one in api.sent] == [(1001, None, None)]
    with pytest.raises(NotSent) as refused:
        outlet.send(TEAM, None, secret)
    assert refused.value.for_good
    api.blocked.add(1001)
    with pytest.raises(NotSent) as blocked:
        outlet.send(TEAM, ALICE, secret)
    assert blocked.value.for_good
    assert len(api.sent) == 1


def test_an_answer_stays_in_the_topic_that_it_answers(api: BotApi, outlet: TelegramSender) -> None:
    outlet.send(TEAM, ALICE, make_message("here"), after=pressed(TEAM, thread="3"))
    outlet.send(HOME, ALICE, make_message("elsewhere"), after=pressed(TEAM, thread="3"))
    assert [(one.chat, one.topic) for one in api.sent] == [(-5, 3), (1001, None)]


def test_a_pressed_message_is_replaced_and_if_it_is_gone_said_anew(api: BotApi, outlet: TelegramSender) -> None:
    outlet.send(HOME, ALICE, make_message("one", buttons=((Button(label="Next", data="m:2"),),)))
    after = pressed(HOME, str(api.sent[0].message))
    two = OutboundMessage(spans=(Span("two"),), instead=True)
    outlet.send(HOME, ALICE, two, after=after)
    outlet.send(HOME, ALICE, two, after=after)  # Telegram says that it is not modified
    outlet.send(HOME, ALICE, two, after=pressed(HOME, "1"))
    assert [(one.method, one.text) for one in api.sent] == [
        ("sendMessage", "one"),
        ("editMessageText", "two"),
        ("sendMessage", "two"),
    ]
    assert api.sent[1].buttons == {}


def test_an_attachment_comes_as_a_file(api: BotApi, outlet: TelegramSender) -> None:
    file = Attachment(name="memories.jsonl", text='{"content": "Käse"}\n')
    outlet.send(HOME, ALICE, OutboundMessage(spans=(Span("All of it:"),), attachment=file))
    assert [one.method for one in api.sent] == ["sendMessage", "sendDocument"]
    assert api.sent[1].file == file.text
    assert api.of("sendDocument")[0]["filename"] == "memories.jsonl"


@dataclass(frozen=True)
class BadDay:
    """What goes wrong while two parts are sent, and what comes of it."""

    trouble: list[Trouble | None]
    pauses: list[float] = field(default_factory=list)
    sent: int = 0
    refused: bool = True
    for_good: bool = False
    wait_seconds: float | None = None


@pytest.mark.parametrize(
    "day",
    [
        BadDay([flood(17)], wait_seconds=17),  # whoever sends meanwhile to others goes on
        BadDay([None, flood(3), "cut before"], pauses=[3, 2.0], sent=2, refused=False),
        BadDay([None, flood(3_000)], sent=1, wait_seconds=3_000),  # not waited for all day
        # The last try had got through, which nobody can know.
        BadDay(["cut before", Garbage(502, b"<html>"), "cut after"], pauses=[1.0, 2.0], sent=1),
        BadDay([Refusal(400, "Bad Request: chat not found")], for_good=True),
        BadDay([Refusal(403, "Forbidden: bot was kicked from the group chat")], for_good=True),
        BadDay([UNAUTHORIZED]),
        BadDay([CONFLICT]),
    ],
    ids=str,
)
def test_trouble_is_waited_out_or_told_and_nothing_is_said_twice(
    api: BotApi, outlet: TelegramSender, pauses: Pauses, day: BadDay
) -> None:
    api.trouble["sendMessage"] = list(day.trouble)
    told: NotSent | None = None
    try:
        outlet.send(HOME, ALICE, make_message("word " * 1_000))
    except NotSent as problem:
        told = problem
    assert (told is not None) == day.refused
    if told is not None:
        assert (told.for_good, told.wait_seconds) == (day.for_good, day.wait_seconds)
    assert (pauses.seconds, len(api.sent)) == (day.pauses, day.sent)


def test_a_group_that_moved_is_followed(api: BotApi, outlet: TelegramSender) -> None:
    api.moved[-5] = -1005
    outlet.send(TEAM, ALICE, OutboundMessage(spans=(Span("hi"),), answers="42"), after=pressed(TEAM, "77", "3"))
    outlet.send(TEAM, ALICE, OutboundMessage(spans=(Span("ho"),), instead=True), after=pressed(TEAM, "77"))
    assert [(one.chat, one.text, one.topic) for one in api.sent] == [(-1005, "hi", None), (-1005, "ho", None)]


def test_who_is_an_admin_is_asked_and_doubt_means_no(api: BotApi, outlet: TelegramSender) -> None:
    bob, carol = Requester("telegram:2002"), Requester("telegram:3003")
    api.status = {(-5, 1001): "administrator", (-5, 2002): "member"}
    assert outlet.is_admin(TEAM, ALICE)
    assert not outlet.is_admin(TEAM, bob)
    assert not outlet.is_admin(TEAM, carol)
    assert not outlet.is_admin(TEAM, Requester("slack:T1:U1"))
    api.trouble["getChatMember"] = ["cut before"]
    assert not outlet.is_admin(TEAM, ALICE)


def test_people_of_other_channels_are_not_written_to(api: BotApi, outlet: TelegramSender) -> None:
    with pytest.raises(NotSent) as refused:
        outlet.send(Chat.private("slack:T1:U1"), None, make_message("hello"))
    assert refused.value.for_good
    assert api.calls == []


def test_neither_token_nor_words_get_into_logs_and_errors(api: BotApi, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    words = "the surprise party"
    troubles: list[Trouble | None] = [
        UNAUTHORIZED,
        "cut before",
        Garbage(200, b"{" + words.encode()),
        flood(1),
        CONFLICT,
    ]
    with connected(api) as line, connected(api, "700700700:wrong-secret") as wrong:
        outlet = TelegramSender(line, lambda _: None)
        outlet.send(HOME, ALICE, make_message(words))
        api.trouble["sendMessage"] = [*troubles, *troubles]
        for _ in range(4):
            with pytest.raises(NotSent) as told:
                outlet.send(HOME, ALICE, make_message(words))
            assert_silent(told.value, words)
        with pytest.raises(NotSent) as refused:
            wrong.get_identity()
        assert_silent(refused.value, "wrong-secret")
        assert TOKEN not in repr(line) + repr(outlet)
    for text in (TOKEN, "wrong-secret", words):
        assert text not in caplog.text


def assert_silent(error: BaseException | None, *words: str) -> None:
    """In itself and in whatever it was raised from."""
    while error is not None:
        for text in (TOKEN, *words):
            assert text not in f"{error!r} {error} {getattr(error, '__notes__', '')}"
        error = error.__cause__ or error.__context__


def test_an_answer_without_end_is_not_read_to_the_end(
    api: BotApi, outlet: TelegramSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "TELEGRAM_ANSWER_MAX_BYTES", 1_000)
    api.trouble["sendMessage"] = [Garbage(200, b" " * 2_000)] * 3
    with pytest.raises(NotSent):
        outlet.send(HOME, ALICE, make_message("hello"))
