"""Which tasks of recent days a session finished."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import load_locale
from tacit.notes.drafts import (
    finishes_task,
    parse_report,
    refile_finished,
    tick_finished,
)
from tacit.records.notes import NoteItem, Section

NOW = datetime(2026, 2, 7, 12, tzinfo=UTC)
CALL = "Alice needs to call the plumber on 6 February 2026"


def task(content: str, *, done: bool = False, section: Section = Section.TASKS) -> NoteItem:
    return NoteItem(section=section, content=content, done=done, id="aaaaaaaa")


def done(task: str, message: str, code: str) -> bool:
    heard = parse_report(message, NOW, load_locale(code))
    return heard is not None and finishes_task(heard, task, "Alice", NOW, load_locale(code))


def test_the_same_task_is_ticked_wherever_it_waits() -> None:
    waiting = [
        task("Call the plumber"),
        task("call  the plumber.", section=Section.FOLLOW_UPS),
        task("Call the plumber", done=True),
        task("Call the plumber about the leak"),
        task("Call the electrician"),
        NoteItem(section=Section.FACTS, content="Call the plumber"),
    ]
    found = tick_finished(["Call the plumber"], waiting)
    assert [one.content for one in found] == ["Call the plumber", "call  the plumber."]
    assert all(one.done and one.id == "aaaaaaaa" for one in found)


@pytest.mark.parametrize(
    ("done", "waiting"),
    [
        ("Pay 10 euros", "Pay 20 euros"),
        ("Write to Bob", "Write to Ana"),
        ("Send the offer", "Do not send the offer"),
        ("Buy milk", "Buy milk and bread"),
        ("Buy milk and bread", "Buy milk"),
    ],
)
def test_in_doubt_a_task_stays_open(done: str, waiting: str) -> None:
    assert tick_finished([done], [task(waiting)]) == ()


def test_of_two_wordings_in_conflict_none_is_ticked() -> None:
    waiting = NoteItem(section=Section.TASKS, content="Pay the rent", done=False, conflict=True)
    assert tick_finished(["Pay the rent"], [waiting]) == ()


def test_a_finished_follow_up_is_no_finished_task() -> None:
    new = [task("Ask Bob again", done=True), task("Ask Ana"), task("Call", done=True)]
    known = [task("Ask Bob again", section=Section.FOLLOW_UPS)]
    found = refile_finished(new, known)
    assert [one.section for one in found] == [Section.FOLLOW_UPS, Section.TASKS, Section.TASKS]


@pytest.mark.parametrize(
    ("task", "message", "code"),
    [
        (CALL, "I called the plumber", "en"),
        (CALL, "hi! I've already called the plumber.", "en"),
        ("Send Bob the contract", "I've sent the contract to Bob", "en"),
        ("Pay the rent", "the rent is paid", "en"),
        (
            "Alice muss am 6. Februar 2026 den Klempner anrufen",
            "ich habe den Klempner angerufen",
            "de",
        ),
        ("Klempner anrufen", "Klempner anrufen ist erledigt", "de"),
    ],
)
def test_what_happened_finishes_the_task_that_asked_for_it(
    task: str, message: str, code: str
) -> None:
    assert done(task, message, code)


@pytest.mark.parametrize(
    ("task", "message", "code"),
    [
        (CALL, "I have to call the plumber", "en"),
        (CALL, "Have I called the plumber?", "en"),
        (CALL, "I didn't call the plumber", "en"),
        (CALL, "I wanted to call the plumber", "en"),
        (CALL, "I tried to call the plumber", "en"),
        (CALL, "I forgot to call the plumber", "en"),
        (CALL, "I have decided to call the plumber", "en"),
        (CALL, "I will have called the plumber tomorrow", "en"),
        (CALL, "Bob called the plumber", "en"),
        (CALL, "my brother called the plumber", "en"),
        (CALL, "the plumber called me", "en"),
        (CALL, "if I called the plumber, he would come", "en"),
        (CALL, "I called Ana", "en"),
        (CALL, "", "en"),
        ("Call", "I called", "en"),
        ("Send Bob the contract", "I sent Ana the contract", "en"),
        ("Pay the rent", "the rent is not paid", "en"),
        ("Alice muss den Klempner anrufen", "ich habe den Klempner nicht angerufen", "de"),
        ("Alice muss den Klempner anrufen", "ich will den Klempner anrufen", "de"),
        ("Alice muss den Klempner anrufen", "hab ich den Klempner angerufen?", "de"),
    ],
)
def test_a_plan_a_question_or_somebody_elses_doing_finishes_nothing(
    task: str, message: str, code: str
) -> None:
    assert not done(task, message, code)
