"""Commands: what somebody sees of their memories and does with them, alone and where others listen."""

import json
from pathlib import Path

import pytest

import tacit
from tacit import limits
from tacit.bots import texts
from tacit.bots.commands import COMMANDS, ButtonAction, make_button, make_undo_button
from tacit.bots.messages import OutboundMessage
from tacit.memory import Memory, View
from tacit.settings import ConsoleSettings, MemorySettings, Settings
from tests.bots.desk import ALICE, BOB, CAROL, TEAM, Channel, Desk, alone, labels
from tests.contract.rooms import SetClock


def of(memory: Memory, who: tacit.Requester = ALICE) -> View:
    view = memory.view(who, alone(who))
    assert isinstance(view, View)
    return view


def labelled_for(who: tacit.Requester, data: str) -> str:
    """The data of a button of theirs."""
    does, *words = data.split(":")
    return make_button(who, "any", ButtonAction(does), *words).data


def test_a_long_list_is_told_a_page_at_a_time_and_each_memory_once(desk: Desk) -> None:
    alice = of(desk.memory)
    for number in range(13):
        alice.remember(f"fact number {number}", category="fact")
    for number in range(9):
        alice.remember(f"project number {number} " + "x" * 1_000, category="project")
    first = desk.say(ALICE, "/memory")
    second = desk.pressed(ALICE, first, texts.NEXT_PAGE)
    third = desk.pressed(ALICE, second, texts.NEXT_PAGE)
    lines = [line for page in (first, second, third) for line in page.text.splitlines()]
    items = [line for line in lines if line.startswith("•")]
    assert len(items) == len(set(items)) == 22
    assert max(map(len, items)) < limits.CHAT_LISTED_MAX_CHARS + 20
    assert [labels(page) for page in (first, second, third)] == [
        [texts.NEXT_PAGE],
        [texts.PREVIOUS_PAGE, texts.NEXT_PAGE],
        [texts.PREVIOUS_PAGE],
    ]
    assert third.instead
    assert desk.pressed(ALICE, third, texts.PREVIOUS_PAGE).text == second.text
    alice.forget_category("project")
    last = desk.pressed(ALICE, second, texts.NEXT_PAGE)  # there is no third page any more
    assert labels(last) == [texts.PREVIOUS_PAGE]


def test_somebody_elses_id_reads_like_one_that_is_not_there(desk: Desk) -> None:
    bobs = of(desk.memory, BOB).remember("Bob plans a surprise").id
    for words in ("/mem del", "/memory delete", "/mem vis public", "/mem vis private", "/forget"):
        name, *rest = words.split(" ")
        command = " ".join((name, *rest[:1], "{}", *rest[1:]))
        for chat in (None, TEAM):
            answers = [desk.hear(ALICE, command.format(id), chat) for id in (bobs, "a1b2c3d4")]
            assert answers[0] == answers[1]
            assert answers[0][0].text in {texts.NO_SUCH_MEMORY, texts.NOTHING_TO_FORGET, texts.PRIVATE_ONLY}
    for button in ("d:{}", "r:{}", "u:{}:1"):
        data = [labelled_for(ALICE, button.format(id)) for id in (bobs, "a1b2c3d4")]
        assert desk.press(ALICE, data[0]) == desk.press(ALICE, data[1]) != []
    assert of(desk.memory, BOB).show(bobs).state == "active"
    assert of(desk.memory, BOB).show(bobs).visibility == "private_only"


def test_undo_brings_back_what_another_chats_words_took_the_place_of(desk: Desk, clock: SetClock) -> None:
    team = desk.memory.view(ALICE, TEAM)
    assert isinstance(team, View)
    old = team.remember("Alice leads the web team", visibility="room").id
    clock.forward(seconds=1)
    assert desk.say(ALICE, "/undo").text == "No longer remembered: 'Alice leads the web team'"
    clock.forward(seconds=1)
    of(desk.memory).restore(old)
    clock.forward(seconds=1)
    new = of(desk.memory).update(old, "Alice leads the data team")
    assert new.supersedes == old
    clock.forward(seconds=1)
    assert desk.say(ALICE, "/undo").text == "Back to: 'Alice leads the web team'"
    assert [one.content for one in of(desk.memory).list()] == ["Alice leads the web team"]


def test_what_the_system_or_an_operator_did_is_not_undone(desk: Desk, clock: SetClock) -> None:
    alice = of(desk.memory)
    alice.remember("prefers tea")
    clock.forward(seconds=1)
    spam = alice.remember("buys watches").id
    clock.forward(seconds=1)
    desk.memory.operator("ops").forget(spam)
    assert desk.say(ALICE, "/undo").text == "No longer remembered: 'prefers tea'"
    assert alice.show(spam).state == "forgotten"


def test_an_undo_button_takes_back_once_and_only_what_is_still_so(desk: Desk, clock: SetClock) -> None:
    alice = of(desk.memory)
    tea = alice.remember("prefers tea")
    press = make_undo_button(ALICE, tea.id)
    for expected in ("No longer remembered: 'prefers tea'", texts.UNDONE):
        (told,) = desk.press(ALICE, press) or []
        assert told.text == expected
        assert told.instead
        assert alice.show(tea.id).state == "forgotten"
    alice.restore(tea.id)
    second = alice.update(tea.id, "prefers coffee")
    (told,) = desk.press(ALICE, press) or []
    assert told.text == texts.CHANGED_SINCE
    (told,) = desk.press(ALICE, make_undo_button(ALICE, tea.id, second.version)) or []
    assert told.text == "Back to: 'prefers tea'"


def test_what_comes_twice_is_done_once(desk: Desk, clock: SetClock) -> None:
    alice = of(desk.memory)
    alice.remember("plays the piano")
    clock.forward(seconds=1)
    tea = alice.remember("prefers tea").id
    clock.forward(seconds=1)
    first = desk.hear(ALICE, "/undo", update="again")
    clock.forward(seconds=1)
    assert [one.text for one in first] == ["No longer remembered: 'prefers tea'"]
    assert [one.text for one in desk.hear(ALICE, "/undo", update="again")] == [texts.UNDONE]
    assert alice.show(tea).state == "forgotten"
    alice.restore(tea)
    clock.forward(seconds=1)
    wipe = labelled_for(ALICE, "w:y")
    told = [desk.hear(ALICE, f"/forget {tea}", update="twice")[0].text for _ in range(2)]
    assert told == ["Deleted: 'prefers tea'"] * 2
    events = [entry.event.value for entry in alice.history(tea)]
    assert events == ["ADD", "DELETE", "RESTORE", "DELETE"]
    erased = [desk.press(ALICE, wipe, update="wiped") for _ in range(2)]
    assert erased[0] == erased[1]


def test_an_export_is_a_file_that_can_be_taken_in_or_read(desk: Desk) -> None:
    of(desk.memory).remember("prefers tea")
    of(desk.memory, BOB).remember("Bob likes coffee")
    file = desk.say(ALICE, "/export").attachment
    assert file is not None
    assert file.name == "memories.jsonl"
    parts = [json.loads(line) for line in file.text.splitlines()]
    assert [part["content"] for part in parts if part["type"] == "memory"] == ["prefers tea"]
    page = desk.say(ALICE, "/export markdown").attachment
    assert page is not None
    assert page.name == "memories.md"
    assert page.text.startswith("# What Tacit stores about you")
    assert "prefers tea" in page.text
    assert "coffee" not in file.text + page.text
    assert desk.say(ALICE, "/export pdf").text == texts.EXPORT_FORMS


def test_privacy_is_told_in_five_lines_and_more_than_a_message_holds_is_not_sent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    of(desk.memory).remember("prefers tea")
    told = desk.say(ALICE, "/privacy")
    assert len(told.text.splitlines()) == 5
    assert "tell me, 1 so far" in told.text
    monkeypatch.setattr(limits, "CHAT_EXPORT_MAX_CHARS", 50)
    told = desk.say(ALICE, "/export")
    assert told.text == texts.EXPORT_TOO_LARGE
    assert told.attachment is None


def test_what_an_undo_cannot_restore_or_a_setting_cannot_share_is_said(desk: Desk, clock: SetClock) -> None:
    alice = of(desk.memory)
    ill = alice.remember("has asthma", sensitivity="sensitive").id
    assert desk.say(ALICE, f"/mem vis {ill} public").text == texts.STILL_WITHHELD
    clock.forward(seconds=1)
    tea = alice.remember("prefers tea").id
    clock.forward(seconds=1)
    alice.update(tea, "prefers milk", data={"cups": 2})  # what data it had is not known any more
    clock.forward(seconds=1)
    assert desk.say(ALICE, "/undo").text == texts.CANNOT_UNDO


# /console: a link for whoever asks, where there is a page that they reach


CONSOLE_URL = "https://memory.example.org"


def test_without_a_page_that_people_reach_it_says_so(desk: Desk) -> None:
    for console in (ConsoleSettings(), ConsoleSettings(url=CONSOLE_URL, enabled=False)):
        desk.console = console
        assert desk.say(ALICE, "/console").text == texts.NO_CONSOLE
        assert desk.say(ALICE, "/help").text == texts.HELP
    desk.console = ConsoleSettings(url=CONSOLE_URL)
    assert desk.say(ALICE, "/help").text == texts.HELP + texts.HELP_CONSOLE
    assert texts.HELP_CONSOLE in desk.say(ALICE, "/start").text


# Where others listen, and by those whom nobody vouches for


DOCUMENTED = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
TAG = make_undo_button(ALICE, "abcdefgh").data.rpartition(":")[2]
SECRET = "Alice plans to leave in May"


def view_of(memory: Memory, who: tacit.Requester, chat: tacit.Chat) -> View:
    found = memory.view(who, chat)
    assert isinstance(found, View)
    return found


TYPED = """
    /start, /help, /id, /mem, /mem del {}, /mem vis {} public, /mem vis {} private, /memory, /memory list,
    /memory delete {}, /forget, /forget {}, /forget leave in May, /forget everything, /undo, /privacy, /export,
    /export markdown, /link, /link ABCDE-FGHJK, /link yes, /link no, /unlink, /console, /confidential,
    /confidential off, /nonsense
"""
TYPED_COMMANDS = [command.strip() for command in TYPED.split(",")]


def test_every_command_is_tried_and_documented() -> None:
    tried = {words.split()[0][1:] for words in TYPED_COMMANDS} - {"nonsense"}
    known = set(COMMANDS)
    assert tried == known
    for name in known:
        assert f"`/{name}" in DOCUMENTED


def test_no_command_tells_a_group_anything_of_whoever_sends_it(desk: Desk) -> None:
    """Said by somebody with memories and by somebody without, every answer is the same; and nobody
    is given a file, or a button to press."""
    alices = view_of(desk.memory, ALICE, alone(ALICE))
    id = alices.remember(SECRET).id
    for words in TYPED_COMMANDS:
        text = words.format(id)
        told, plain = (desk.hear(who, text, TEAM) for who in (ALICE, BOB))
        assert told == plain, text
        assert all(one.attachment is None and not one.buttons for one in told), text
        assert all(one.answers == "7" for one in told), text
        assert id not in "".join(one.text for one in told), text
    assert not desk.channel.sent
    assert alices.show(id).state == "active"
    assert alices.show(id).visibility == "private_only"


def test_a_button_does_nothing_for_anybody_but_whom_it_is_for(desk: Desk) -> None:
    """Not even where the other one could do the same by other means."""
    team = view_of(desk.memory, ALICE, TEAM)
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
    alices = view_of(desk.memory, ALICE, alone(ALICE))
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


def test_a_button_that_is_not_of_commands_is_left_to_others(desk: Desk) -> None:
    strange = ("", ":", "p:y:abcdefgh", "m", "m:1", "w:y", "u:a:b:c:d:e", "zz:1:2", "l:y", "\x00:💥")
    assert [desk.press(ALICE, data) for data in strange] == [None] * len(strange)


def test_whatever_is_typed_or_pressed_is_answered_kindly_and_changes_nothing(desk: Desk) -> None:
    names = sorted({words.split()[0] for words in TYPED_COMMANDS} - {"/undo"})  # needs no words
    odd = ("", "\x00", "\ud800", "ß" * 9, "{}", "{0.who}", "a" * 300_000, "vis \n public", "-1 📝", "yes no")
    doing = ("m", "mv", "d", "u", "r", "w", "l", "la", "p")
    id = view_of(desk.memory, ALICE, alone(ALICE)).remember("{braces} & <marks>").id
    for name in names:
        for words in odd:
            for told in desk.hear(ALICE, f"{name} {words}"):
                assert told.text
    for does in doing:
        for words in ("", "\x00", "²", "9" * 300, f"{id}:x", f"{id}:99999999"):
            desk.press(ALICE, f"{does}:{words}:{TAG}")
    kept = view_of(desk.memory, ALICE, alone(ALICE)).show(id)
    assert (kept.state, kept.version, kept.visibility) == ("active", 1, "private_only")


def test_whom_nobody_vouches_for_learns_ids_and_how_to_go_on(desk: Desk) -> None:
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


def test_what_is_no_command_or_an_edited_one_is_not_run(desk: Desk) -> None:
    assert desk.say(ALICE, "/nonsense").text == texts.UNKNOWN_COMMAND
    assert desk.hear(ALICE, "/nonsense", TEAM) == []  # it may be meant for another bot
    assert desk.hear(ALICE, "/etc/passwd is a file") == []
    assert desk.hear(ALICE, "/ 2") == []
    assert desk.hear(ALICE, "/memory", edited=True) == []


# /link and /unlink: a code used once, a yes on both sides, and nothing shared before


PHONE = tacit.Requester("telegram:1009", name="Alice's other phone")


def knows(desk: Desk, who: tacit.Requester) -> set[str]:
    view = desk.memory.view(who, alone(who))
    assert isinstance(view, View)
    return {one.content for one in view.list()}


def code_of(told: OutboundMessage) -> str:
    (code,) = (span.text for span in told.spans if span.style == "code")
    return code


def test_two_accounts_become_one_after_two_yeses_and_two_again_at_once(desk: Desk) -> None:
    desk.memory.view(ALICE, alone(ALICE)).remember("prefers tea")
    desk.memory.view(CAROL, alone(CAROL)).remember("plays the piano")
    offer = desk.say(ALICE, "/link")
    assert desk.pressed(ALICE, offer, texts.LINK_SENT).text == texts.LINK_NOT_YET
    sure = desk.say(CAROL, f"/link {code_of(offer).lower()}")
    assert sure.text == texts.LINK_CONFIRM
    assert desk.pressed(ALICE, offer, texts.LINK_SENT).text == texts.LINK_NOT_YET
    waits = desk.pressed(CAROL, sure, texts.LINK_BOTH_MINE)
    assert waits.text == f"{texts.LINK_WAITS}telegram:1001."
    assert not desk.channel.sent  # another channel: this one does not reach it
    assert knows(desk, CAROL) == {"plays the piano"}
    asked = desk.pressed(ALICE, offer, texts.LINK_SENT)
    assert asked.text == f"slack:T1:U3{texts.LINK_ASKED}"
    assert desk.say(ALICE, "/link").text == asked.text
    assert desk.pressed(ALICE, asked, texts.LINK_BOTH_MINE).text == texts.LINKED
    assert knows(desk, ALICE) == knows(desk, CAROL) == {"prefers tea", "plays the piano"}
    both = desk.say(ALICE, "/memory").text
    assert "prefers tea" in both
    assert "plays the piano" in both
    assert "Forgotten: 'plays the piano'" in desk.say(ALICE, "/forget piano").text
    assert desk.say(ALICE, "/undo").text == "Restored: 'plays the piano'"
    desk.memory.view(CAROL, alone(CAROL)).remember("sings as the account")
    assert desk.say(ALICE, "/forget sings").text == "Forgotten: 'sings as the account'. /undo restores it."
    assert desk.say(CAROL, "/unlink").text == texts.UNLINKED
    assert knows(desk, CAROL) == {"plays the piano"}
    assert knows(desk, ALICE) == {"prefers tea"}
    assert desk.say(CAROL, "/unlink").text == texts.NOTHING_TO_UNLINK


def test_after_unlinking_nothing_older_is_undone_in_place_of_what_stays_behind(desk: Desk, clock: SetClock) -> None:
    desk.memory.view(CAROL, alone(CAROL)).remember("plays chess")
    clock.forward(seconds=1)
    desk.memory.admin.link(CAROL.key, "acct:7")
    clock.forward(seconds=1)
    desk.memory.view(CAROL, alone(CAROL)).remember("likes figs")
    clock.forward(seconds=1)
    assert "stays with the account" in desk.say(CAROL, "/unlink").text
    assert desk.say(CAROL, "/undo").text == texts.NOTHING_TO_UNDO
    assert knows(desk, CAROL) == {"plays chess"}
    clock.forward(seconds=1)
    desk.memory.view(CAROL, alone(CAROL)).remember("sings")
    assert desk.say(CAROL, "/undo").text == "No longer remembered: 'sings'"


def test_in_one_channel_whoever_made_the_code_is_told_that_it_was_used(desk: Desk) -> None:
    offer = desk.say(ALICE, "/link")
    sure = desk.say(PHONE, f"/link {code_of(offer)}")
    desk.pressed(PHONE, sure, texts.LINK_BOTH_MINE)
    ((to, question),) = desk.channel.sent
    assert to is not None
    assert to.key == ALICE.key
    assert question.alone
    assert question.text == f"telegram:1009{texts.LINK_ASKED}"
    assert desk.pressed(ALICE, question, texts.LINK_BOTH_MINE).text == texts.LINKED
    to, told = desk.channel.sent[-1]
    assert to is not None
    assert (to.key, told.alone) == (PHONE.key, True), "who entered the code is told, too"
    assert told.text == f"{texts.LINKED_WITH}telegram:1001{texts.LINKED_WARNING}"


def test_a_yes_is_for_whom_it_was_asked_about_and_for_nobody_later(desk: Desk) -> None:
    def asked_about(who: tacit.Requester) -> OutboundMessage:
        sure = desk.say(who, f"/link {code_of(desk.say(ALICE, '/link'))}")
        desk.pressed(who, sure, texts.LINK_BOTH_MINE)
        return desk.say(ALICE, "/link")

    old = asked_about(PHONE)
    desk.say(PHONE, "/link no")
    new = asked_about(BOB)
    assert desk.pressed(ALICE, old, texts.LINK_BOTH_MINE).text == texts.LINK_NOTHING_WAITS
    assert desk.pressed(ALICE, new, texts.LINK_BOTH_MINE).text == texts.LINKED


def test_a_code_is_taken_also_where_the_other_side_cannot_be_told(memory: Memory) -> None:
    desk = Desk(memory, Channel(away=True))
    sure = desk.say(PHONE, f"/link {code_of(desk.say(ALICE, '/link'))}")
    waits = desk.pressed(PHONE, sure, texts.LINK_BOTH_MINE)
    assert waits.text.startswith(texts.LINK_WAITS)
    assert desk.say(ALICE, "/link yes").text == texts.LINKED


def test_wrong_old_own_and_used_codes_read_alike(desk: Desk, clock: SetClock) -> None:
    offer = desk.say(ALICE, "/link")

    def tried(who: tacit.Requester, code: str) -> str:
        told = desk.say(who, f"/link {code}")
        if texts.LINK_BOTH_MINE in labels(told):
            told = desk.pressed(who, told, texts.LINK_BOTH_MINE)
        return told.text

    assert tried(BOB, "what is this") == texts.LINK_CODE_INVALID
    assert tried(BOB, "AAAAA-AAAAA") == texts.LINK_CODE_INVALID
    assert tried(ALICE, code_of(offer)) == texts.LINK_CODE_INVALID
    clock.forward(seconds=601)
    assert tried(BOB, code_of(offer)) == texts.LINK_CODE_INVALID
    for _ in range(4):
        tried(BOB, "AAAAA-AAAAA")
    assert tried(BOB, "AAAAA-AAAAA").startswith("Too many wrong codes")
