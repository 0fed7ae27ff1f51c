"""Commands where others listen, and by those whom nobody vouches for."""

from pathlib import Path

import tacit
from tacit.bots import texts
from tacit.bots.commands import COMMANDS, make_undo_button
from tacit.memory import Memory, View
from tacit.settings import MemorySettings, Settings
from tests.bots.desk import ALICE, BOB, CAROL, TEAM, Channel, Desk, alone

DOCUMENTED = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
TAG = make_undo_button(ALICE, "abcdefgh").data.rpartition(":")[2]
SECRET = "Alice plans to leave in May"


def view(memory: Memory, who: tacit.Requester, chat: tacit.Chat) -> View:
    found = memory.view(who, chat)
    assert isinstance(found, View)
    return found


EVERY_COMMAND = (
    "/start",
    "/help",
    "/id",
    "/mem",
    "/mem del {}",
    "/mem vis {} public",
    "/mem vis {} private",
    "/memory",
    "/memory list",
    "/memory delete {}",
    "/forget",
    "/forget {}",
    "/forget leave in May",
    "/forget everything",
    "/undo",
    "/privacy",
    "/export",
    "/export markdown",
    "/link",
    "/link ABCDE-FGHJK",
    "/link yes",
    "/link no",
    "/unlink",
    "/console",
    "/confidential",
    "/confidential off",
    "/nonsense",
)


def test_every_command_is_tried_and_documented() -> None:
    tried = {words.split()[0][1:] for words in EVERY_COMMAND} - {"nonsense"}
    known = set(COMMANDS)
    assert tried == known
    for name in known:
        assert f"`/{name}" in DOCUMENTED


def test_no_command_tells_a_group_anything_of_whoever_sends_it(desk: Desk) -> None:
    """Said by somebody with memories and by somebody without, every answer is the same; and nobody
    is given a file, or a button to press."""
    alices = view(desk.memory, ALICE, alone(ALICE))
    id = alices.remember(SECRET).id
    for words in EVERY_COMMAND:
        text = words.format(id)
        told, plain = (desk.hear(who, text, TEAM) for who in (ALICE, BOB))
        assert told == plain, text
        assert all(one.attachment is None and not one.buttons for one in told), text
        assert all(one.answers == "7" for one in told), text
        assert id not in "".join(one.text for one in told), text
    assert not desk.channel.sent
    assert alices.show(id).state == "active"
    assert alices.show(id).visibility == "private_only"


def test_a_group_is_told_in_a_line_where_to_ask() -> None:
    told = {
        "/mem": texts.PRIVATE_ONLY,
        "/memory": texts.PRIVATE_ONLY,
        "/export": texts.PRIVATE_ONLY,
        "/link": texts.PRIVATE_ONLY,
        "/forget everything": texts.PRIVATE_ONLY,
        "/undo": texts.PRIVATE_ONLY,
        "/privacy": texts.PRIVACY_GROUP,
        "/start": texts.WELCOME_GROUP,
        "/help": texts.HELP_GROUP,
        "/id": "chat telegram:-100, group",
        "/forget a1b2c3d4": texts.NO_SUCH_MEMORY,
    }
    with tacit.open("sqlite://", embedder=None) as memory:
        desk = Desk(memory)
        assert {words: desk.say(ALICE, words, TEAM).text for words in told} == told
    assert not any("\n" in line for line in told.values())


def test_a_button_does_nothing_for_anybody_but_whom_it_is_for(desk: Desk) -> None:
    """Not even where the other one could do the same by other means."""
    team = view(desk.memory, ALICE, TEAM)
    standup = team.remember("the standup is at nine", for_room=True)
    undo = make_undo_button(ALICE, standup.id)
    assert desk.press(BOB, undo, TEAM) == []
    assert desk.press(BOB, f"u:{standup.id}", TEAM) is None  # in a group a button names whose it is
    assert desk.press(BOB, f"u:{standup.id}:1:00000000", TEAM) == []
    assert team.show(standup.id).state == "active"
    (done,) = desk.press(ALICE, undo, TEAM) or []
    assert done.text == texts.UNDONE
    assert not team.list().items


def test_buttons_of_a_private_chat_do_nothing_elsewhere_or_for_others(desk: Desk) -> None:
    alices = view(desk.memory, ALICE, alone(ALICE))
    for number in range(11):
        alices.remember(f"prefers tea number {number}")
    told = [desk.say(ALICE, words) for words in ("/memory", "/mem", "/forget tea", "/forget everything", "/link")]
    told.append(desk.say(ALICE, "/link ABCDE-FGHJK"))
    buttons = [one for say in told for row in say.buttons for one in row]
    assert len(buttons) >= 12
    for one in buttons:
        assert "tea" not in one.data
        assert "telegram" not in one.data
        assert desk.press(ALICE, one, TEAM) == []
        assert desk.press(BOB, one, TEAM) == []
        assert desk.press(BOB, one) == []
    assert alices.count() == 11


def test_a_button_that_is_not_of_commands_is_left_to_others() -> None:
    strange = ("", ":", "p:y:abcdefgh", "m", "m:1", "w:y", "u:a:b:c:d:e", "zz:1:2", "l:y", "\x00:💥")
    with tacit.open("sqlite://", embedder=None) as memory:
        desk = Desk(memory)
        assert [desk.press(ALICE, data) for data in strange] == [None] * len(strange)


def test_whatever_is_typed_or_pressed_is_answered_kindly_and_changes_nothing() -> None:
    names = sorted({words.split()[0] for words in EVERY_COMMAND} - {"/undo"})  # needs no words
    odd = ("", "\x00", "\ud800", "ß" * 9, "{}", "{0.who}", "a" * 300_000, "vis \n public", "-1 📝", "yes no")
    doing = ("m", "mv", "d", "u", "r", "w", "l", "la", "p")
    with tacit.open("sqlite://", embedder=None) as memory:
        desk = Desk(memory)
        id = view(memory, ALICE, alone(ALICE)).remember("{braces} & <marks>").id
        for name in names:
            for words in odd:
                for told in desk.hear(ALICE, f"{name} {words}"):
                    assert told.text
        for does in doing:
            for words in ("", "\x00", "²", "9" * 300, f"{id}:x", f"{id}:99999999"):
                desk.press(ALICE, f"{does}:{words}:{TAG}")
        kept = view(memory, ALICE, alone(ALICE)).show(id)
        assert (kept.state, kept.version, kept.visibility) == ("active", 1, "private_only")


def test_a_groups_admins_make_it_confidential_and_nobody_else(desk: Desk) -> None:
    desk.channel = Channel(admins=(ALICE,))
    assert desk.say(BOB, "/confidential on", TEAM).text == texts.ADMINS_ONLY
    assert desk.say(ALICE, "/confidential on").text == texts.GROUPS_ONLY
    assert desk.say(ALICE, "/confidential maybe", TEAM).text == texts.HOW_CONFIDENTIAL

    def leaves(content: str) -> bool:
        """Whether what everybody here heard is used where the same people meet."""
        view(desk.memory, ALICE, TEAM).remember(
            content, about=["telegram:2002"], kind="preference", sensitivity="public",
            visibility="room", portable=True,
        )  # fmt: skip
        elsewhere = tacit.Chat.group("telegram:-200", (ALICE, BOB), complete=True)
        return content in {one.content for one in view(desk.memory, BOB, elsewhere).list()}

    assert leaves("Bob likes tea")
    assert desk.say(ALICE, "/confidential", TEAM).text == texts.CONFIDENTIAL
    assert not leaves("Bob likes coffee")
    assert desk.say(ALICE, "/confidential off", TEAM).text == texts.NOT_CONFIDENTIAL
    assert leaves("Bob likes water")


def test_whom_nobody_vouches_for_learns_ids_and_how_to_go_on() -> None:
    with tacit.open("sqlite://", embedder=None) as memory:
        desk = Desk(memory)
        robot = tacit.Requester("telegram:77", is_bot=True)
        for who, chat in ((None, TEAM), (robot, TEAM), (None, alone(ALICE))):
            assert desk.say(who, "/id", chat).text == f"chat {chat.id}, {chat.kind}"
            for words in ("/mem", "/memory", "/forget x", "/undo", "/privacy", "/link", "/export"):
                assert desk.say(who, words, chat).text == texts.MEMORY_DISABLED
            assert desk.say(who, "/confidential on", chat).text == texts.MEMORY_DISABLED
        assert desk.press(robot, make_undo_button(robot, "abcdefgh"), TEAM) == []


def test_where_memory_is_switched_off_commands_say_so_and_do_nothing() -> None:
    settings = Settings(memory=MemorySettings(enabled=False))
    with tacit.open("sqlite://", embedder=None, settings=settings) as memory:
        desk = Desk(memory)
        assert desk.say(ALICE, "/memory").text == texts.MEMORY_DISABLED
        assert desk.press(ALICE, make_undo_button(ALICE, "abcdefgh")) == []


def test_start_tells_what_works_without_a_model() -> None:
    with tacit.open("sqlite://", embedder=None) as memory:
        desk = Desk(memory)
        assert texts.WELCOME_WITHOUT_MODEL in desk.say(ALICE, "/start").text
        assert desk.say(ALICE, "/HELP").text == texts.HELP
        assert desk.say(CAROL, "/id").text == "chat slack:T1:U3, private\nyou slack:T1:U3"
        for name in COMMANDS.keys() - {"start", "help"}:
            assert f"/{name}" in texts.HELP + texts.HELP_CONSOLE


def test_what_is_no_command_or_an_edited_one_is_not_run() -> None:
    with tacit.open("sqlite://", embedder=None) as memory:
        desk = Desk(memory)
        assert desk.say(ALICE, "/nonsense").text == texts.UNKNOWN_COMMAND
        assert desk.hear(ALICE, "/nonsense", TEAM) == []  # it may be meant for another bot
        assert desk.hear(ALICE, "/etc/passwd is a file") == []
        assert desk.hear(ALICE, "/ 2") == []
        assert desk.hear(ALICE, "/memory", edited=True) == []
