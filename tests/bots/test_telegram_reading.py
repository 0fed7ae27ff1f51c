"""What an update of the Bot API is heard as. The updates have Telegram's documented fields."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tacit import Chat, Requester
from tacit.bots.messages import (
    ButtonPressed,
    ChatMoved,
    InboundMessage,
    MembersJoined,
    MembersLeft,
    MessageDeleted,
    Quote,
    TextMessage,
)
from tacit.bots.telegram.updates import TelegramIdentity, TelegramParser
from tacit.records.memory import ChatKind
from tests.bots.bot_api import BOT
from tests.bots.bot_updates import (
    DATE,
    Json,
    group,
    membership,
    mention,
    message,
    pressed,
    private,
    user,
)

ME = TelegramIdentity(id=BOT["id"], username=BOT["username"])
ALICE = user(1001, last_name="Adams", username="alice")
BOB = user(2002, "Bob")
TEAM = group(-1005)
READING = TelegramParser(ME)
READING_ALICE = Requester("telegram:1001", name="Alice Adams", username="alice")


def heard(update: Json) -> InboundMessage | None:
    return READING(json.dumps({"update_id": 7, **update}))


def said(where: Json, by: Json | None, text: str | None = None, **more: Any) -> TextMessage:
    found = heard({"message": message(where, by, text, **more)})
    assert isinstance(found, TextMessage)
    return found


def test_a_private_message_is_the_senders_own_words() -> None:
    assert said(private(1001), ALICE, "I live in Graz") == TextMessage(
        channel="telegram",
        update="700700700.7",
        chat=Chat.private("telegram:1001"),
        who=Requester("telegram:1001", name="Alice Adams", username="alice"),
        text="I live in Graz",
        message="42",
        at=datetime.fromtimestamp(DATE, UTC),
    )


@pytest.mark.parametrize("kind", ["group", "supergroup"])
def test_who_speaks_in_a_group_is_there_and_nobody_is_known_to_be_everybody(kind: str) -> None:
    found = said(group(-5, kind), BOB, "Hello all")
    assert found.chat.kind is ChatKind.GROUP
    assert found.chat.participants == (Requester("telegram:2002", name="Bob"),)
    assert not found.chat.complete
    assert not found.addressed


@pytest.mark.parametrize(
    ("text", "own", "addressed"),
    [
        ("@tacit_bot what do I like?", "what do I like?", True),
        ("@Tacit_Bot: remember I like tea", "remember I like tea", True),
        ("I told @tacit_bot already", "I told @tacit_bot already", True),
        ("@tacit_bots are many", "@tacit_bots are many", False),
        ("mail me at me@tacit_bot", "mail me at me@tacit_bot", False),
        ("/mem@tacit_bot del 1", "/mem del 1", True),
        ("/MEM@TACIT_BOT", "/MEM", True),
        ("/help", "/help", True),
        ("@tacit_bot", "@tacit_bot", True),
    ],
)
def test_in_a_group_the_bot_is_meant_if_it_is_named(text: str, own: str, addressed: bool) -> None:
    found = said(TEAM, ALICE, text, entities=[mention()])
    assert (found.text, found.addressed) == (own, addressed)


def test_a_command_for_another_bot_is_not_ours_to_hear() -> None:
    assert heard({"message": message(TEAM, ALICE, "/forget@other_bot everything")}) is None


def test_an_answer_to_the_bot_is_meant_for_it_and_quotes_it() -> None:
    ours = message(TEAM, BOT, "Do you like tea?")
    found = said(TEAM, ALICE, "Yes", reply_to_message=ours)
    assert found.addressed
    assert found.quoted == (Quote(text="Do you like tea?", ours=True),)


def test_a_topic_that_the_bot_opened_is_not_an_answer_to_it() -> None:
    opened = message(TEAM, BOT, forum_topic_created={"name": "Food", "icon_color": 1})
    found = said(
        TEAM,
        ALICE,
        "Pizza!",
        reply_to_message=opened,
        message_thread_id=3,
        is_topic_message=True,
    )
    assert not found.addressed
    assert found.thread == "3"
    assert found.quoted == ()


def test_a_thread_of_answers_is_no_topic() -> None:
    assert said(TEAM, ALICE, "Right", message_thread_id=3).thread is None


CHANNEL = {"id": -1009, "title": "News", "type": "channel"}


@pytest.mark.parametrize(
    ("fields", "by"),
    [
        ({"forward_origin": {"type": "user", "sender_user": BOB, "date": DATE}}, "Bob"),
        ({"forward_origin": {"type": "user", "sender_user": ALICE, "date": DATE}}, "Alice Adams"),
        (
            {"forward_origin": {"type": "hidden_user", "sender_user_name": "C", "date": DATE}},
            "C",
        ),
        ({"forward_origin": {"type": "chat", "sender_chat": TEAM, "date": DATE}}, "Team"),
        (
            {
                "forward_origin": {
                    "type": "channel",
                    "chat": CHANNEL,
                    "message_id": 1,
                    "date": DATE,
                }
            },
            "News",
        ),
        ({"forward_origin": {"type": "of the future"}}, None),
        ({"forward_date": DATE}, None),
        ({"is_automatic_forward": True}, None),
        ({"via_bot": user(9, "Gifs", is_bot=True)}, "Gifs"),
    ],
)
def test_what_is_forwarded_is_nobodys_own_words(fields: Json, by: str | None) -> None:
    found = said(private(1001), ALICE, "I am allergic to nuts", **fields)
    assert found.forwarded
    assert found.text == ""
    assert found.quoted == (Quote(text="I am allergic to nuts", by=by),)


def test_a_forwarded_command_commands_nothing() -> None:
    origin = {"type": "user", "sender_user": BOB, "date": DATE}
    found = said(TEAM, ALICE, "/forget@tacit_bot everything", forward_origin=origin)
    assert (found.text, found.addressed) == ("", False)


def test_of_a_quoted_message_the_marked_part_counts() -> None:
    long = message(TEAM, BOB, "I am allergic to nuts. And tired.")
    found = said(
        TEAM,
        ALICE,
        "Me too",
        reply_to_message=long,
        quote={"text": "I am allergic to nuts", "position": 0},
    )
    assert found.text == "Me too"
    assert found.quoted == (Quote(text="I am allergic to nuts", by="Bob"),)


def test_a_quotation_from_another_chat_has_no_speaker_here() -> None:
    found = said(
        private(1001),
        ALICE,
        "What does that mean?",
        external_reply={"origin": {"type": "user", "sender_user": BOB, "date": DATE}},
        quote={"text": "Je suis fatigué", "position": 0},
    )
    assert found.text == "What does that mean?"
    assert found.quoted == (Quote(text="Je suis fatigué", by="Bob"),)


def test_a_block_that_is_set_apart_is_not_the_senders_words_and_is_counted_in_utf16() -> None:
    text = "😀 look:\nI hate 🥦\nfunny!"
    block = {"type": "blockquote", "offset": 9, "length": 9}
    found = said(private(1001), ALICE, text, entities=[block])
    assert found.text == "😀 look:\nfunny!"
    assert found.quoted == (Quote(text="I hate 🥦"),)


def test_a_message_that_is_one_quotation_is_all_somebody_elses() -> None:
    block = {"type": "expandable_blockquote", "offset": 0, "length": 11}
    found = said(private(1001), ALICE, "I hate tea.", entities=[block])
    assert (found.text, found.forwarded) == ("", True)


def test_a_caption_is_said_like_a_text() -> None:
    photo = [{"file_id": "x", "file_unique_id": "y", "width": 1, "height": 1}]
    assert said(private(1001), ALICE, caption="My dog Rex", photo=photo).text == "My dog Rex"


@pytest.mark.parametrize("text", [None, "/help@otherbot"])
def test_an_edit_that_leaves_no_words_for_us_takes_them_back(text: str | None) -> None:
    edited = message(TEAM, ALICE, text, photo=[{}])
    found = heard({"edited_message": edited})
    assert isinstance(found, MessageDeleted)
    assert (found.message, found.who) == ("42", READING_ALICE)
    assert heard({"edited_message": {**edited, "location": {}}}) is None


def test_an_edit_says_the_message_anew() -> None:
    text = message(private(1001), ALICE, "I live in Linz", edit_date=DATE + 60)
    found = heard({"edited_message": text})
    assert isinstance(found, TextMessage)
    assert (found.edited, found.message) == (True, "42")
    assert found.at == datetime.fromtimestamp(DATE + 60, UTC)


@pytest.mark.parametrize(
    "update",
    [
        {"channel_post": message(CHANNEL, None, "News!", sender_chat=CHANNEL)},
        {"message": message(TEAM, user(1087968824, "Group"), "I am", sender_chat=TEAM)},
        {"message": message(TEAM, user(136817688, "Channel"), "I am", sender_chat=CHANNEL)},
        {"message": message(TEAM, None, "I am")},
    ],
)
def test_where_a_chat_speaks_nobody_is_vouched_for(update: Json) -> None:
    found = heard(update)
    assert isinstance(found, TextMessage)
    assert found.who is None
    assert found.chat.participants == ()


def test_a_channel_has_an_audience_that_nobody_can_tell() -> None:
    found = heard({"channel_post": message(CHANNEL, None, "News!", sender_chat=CHANNEL)})
    assert found is not None
    assert found.chat == Chat.unknown("telegram:-1009")


@pytest.mark.parametrize("flag", [True, None, "no"])
def test_who_may_be_a_bot_is_one(flag: object) -> None:
    found = said(TEAM, {**BOB, "is_bot": flag}, "I am a person")
    assert found.who is not None
    assert found.who.is_bot


def test_people_come_and_go_but_of_the_bot_itself_nobody_hears() -> None:
    came = heard({"message": message(TEAM, ALICE, new_chat_members=[BOB, BOT])})
    went = heard({"message": message(TEAM, ALICE, left_chat_member=BOB)})
    assert isinstance(came, MembersJoined)
    assert isinstance(went, MembersLeft)
    assert [one.key for one in came.people] == [one.key for one in went.people] == ["telegram:2002"]
    assert went.chat.participants == ()
    assert heard({"message": message(TEAM, ALICE, new_chat_members=[BOT])}) is None
    assert heard({"message": message(TEAM, ALICE, left_chat_member=BOT)}) is None


@pytest.mark.parametrize(
    ("before", "after", "more", "kind"),
    [
        ("left", "member", {}, MembersJoined),
        ("kicked", "administrator", {}, MembersJoined),
        ("left", "restricted", {"is_member": True}, MembersJoined),
        ("member", "restricted", {"is_member": False}, MembersLeft),
        ("member", "left", {}, MembersLeft),
        ("creator", "kicked", {}, MembersLeft),
        ("member", "administrator", {}, None),
        ("left", "kicked", {}, None),
        ("left", "of the future", {}, None),
    ],
)
def test_an_admin_is_told_who_is_there(
    before: str, after: str, more: Json, kind: type[InboundMessage] | None
) -> None:
    found = heard({"chat_member": membership(TEAM, ALICE, BOB, before, after, **more)})
    assert (None if found is None else type(found)) is kind


def test_who_lets_the_bot_in_is_there() -> None:
    found = heard({"my_chat_member": membership(TEAM, ALICE, BOT, "left", "member")})
    assert isinstance(found, MembersJoined)
    assert [one.key for one in found.people] == ["telegram:1001"]
    out = membership(TEAM, ALICE, BOT, "member", "kicked")
    assert heard({"my_chat_member": out}) is None
    assert heard({"my_chat_member": {**out, "chat": private(1001)}}) is None


@pytest.mark.parametrize(
    "service",
    [
        message(group(-5, "group"), ALICE, migrate_to_chat_id=-1005),
        message(group(-1005), ALICE, migrate_from_chat_id=-5),
    ],
)
def test_a_group_that_moves_is_told_twice_and_heard_alike(service: Json) -> None:
    found = heard({"message": service})
    assert isinstance(found, ChatMoved)
    assert (found.before, found.chat.id) == ("telegram:-5", "telegram:-1005")


def test_a_button_in_private_is_pressed_by_its_person() -> None:
    assert heard(pressed(private(1001), ALICE, "p:y:1")) == ButtonPressed(
        channel="telegram",
        update="700700700.7",
        chat=Chat.private("telegram:1001"),
        who=Requester("telegram:1001", name="Alice Adams", username="alice"),
        data="p:y:1",
        message="77",
    )


def test_who_presses_a_button_in_a_group_may_only_be_looking_in() -> None:
    found = heard(pressed(TEAM, BOB, "p:y:1"))
    assert isinstance(found, ButtonPressed)
    assert found.chat == Chat("telegram:-1005", ChatKind.GROUP, vouched=False)


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"update_id": "7", "message": message(private(1001), ALICE, "hi")},
        {"message": "hi"},
        {"message": message(private(1001), ALICE)},
        {"message": message(private(1001), ALICE, "  ")},
        {"message": message({"type": "private"}, ALICE, "hi")},
        {"message": {"date": DATE, "chat": private(1001), "from": ALICE, "text": "hi"}},
        {"message": message(private(1001), ALICE, pinned_message=message(TEAM, BOB, "x"))},
        {"message": message(private(1001), ALICE, sticker={"file_id": "x"})},
        {"callback_query": {"id": "1", "from": ALICE, "data": "p:y:1", "inline_message_id": "z"}},
        {"callback_query": {"id": "1", "from": ALICE, "message": message(TEAM, BOT, "x")}},
        {"poll_answer": {"poll_id": "1"}},
    ],
)
def test_what_means_nothing_to_us_is_not_heard(update: Json) -> None:
    assert heard(update) is None


def test_a_chat_that_is_not_allowed_is_not_heard() -> None:
    update = json.dumps({"update_id": 1, "message": message(TEAM, ALICE, "/help")})
    assert TelegramParser(ME, ["telegram:1001"])(update) is None
    assert TelegramParser(ME, ["telegram:-1005"])(update) is not None
