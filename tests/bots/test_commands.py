"""Commands in a private chat: what somebody sees of their memories, and does with them."""

import json

import pytest

import tacit
from tacit import limits
from tacit.bots import texts
from tacit.bots.commands import ButtonAction, make_button, make_undo_button
from tacit.memory import Memory, View
from tests.bots.desk import ALICE, BOB, TEAM, Desk, alone, labels
from tests.contract.rooms import SetClock


def of(memory: Memory, who: tacit.Requester = ALICE) -> View:
    view = memory.view(who, alone(who))
    assert isinstance(view, View)
    return view


def forgotten(content: str) -> str:
    return f"Forgotten: '{content}'. /undo restores it."


def labelled_for(who: tacit.Requester, data: str) -> str:
    """The data of a button of theirs."""
    does, *words = data.split(":")
    return make_button(who, "any", ButtonAction(does), *words).data


def test_memories_are_listed_by_category_and_deleted_as_the_scenarios_say(desk: Desk, clock: SetClock) -> None:
    alice = of(desk.memory)
    thursday = alice.remember("User prefers Thursday due dates", category="preference").id
    boss = alice.remember("Alec is the user's boss", category="person").id
    clock.forward(seconds=1)
    sarah = alice.remember("Sarah works on the Design team", category="person").id
    of(desk.memory, BOB).remember("Bob likes tea", category="preference")
    told = desk.say(ALICE, "/memory")
    assert told.text == (
        "📝 Your memories:\n\n"
        "Person\n"
        f"• [{sarah}] Sarah works on the Design team\n"
        f"• [{boss}] Alec is the user's boss\n\n"
        f"Preference\n• [{thursday}] User prefers Thursday due dates\n\n"
        "Use /memory delete <id> to remove a memory."
    )
    assert {span.text for span in told.spans if span.style == "code"} == {sarah, boss, thursday}
    assert desk.say(ALICE, "/memory list").text == told.text

    deleted = desk.say(ALICE, f"/memory delete {thursday}")
    assert deleted.text == "Deleted: 'User prefers Thursday due dates'"
    assert "Thursday" not in desk.say(ALICE, "/memory").text
    back = desk.pressed(ALICE, deleted, "Undo")
    assert back.text == "Restored: 'User prefers Thursday due dates'"
    assert back.instead
    assert desk.say(ALICE, "/memory").text == told.text


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


def test_undo_finds_the_last_of_very_many_changes(desk: Desk, clock: SetClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DELTA_MAX_COUNT", 2)
    alice = of(desk.memory)
    first = alice.remember("prefers tea").id
    for number in range(12):
        alice.remember(f"fact number {number}")
        clock.forward(seconds=1)
    alice.forget(first)
    assert desk.say(ALICE, "/undo").text == "Restored: 'prefers tea'"


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
