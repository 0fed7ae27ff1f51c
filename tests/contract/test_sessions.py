"""Sessions: what one starts with, what it leaves behind, and how that is merged."""

from datetime import date
from typing import Any

import tacit
from tacit import Message, SessionDraft
from tacit.memory import Memory
from tacit.records.notes import NoteLink, NoteSummary, Section, TaskProgress
from tests.contract.rooms import ALICE, SetClock, private
from tests.contract.sessions import TOLD, WHOLE, items, tasks


def test_a_session_starts_with_nothing_and_an_empty_one_leaves_no_note(memory: Memory) -> None:
    woken = private(memory, ALICE).sessions.begin()
    assert woken == tacit.SessionStart(session="telegram:1001")
    view = private(memory, ALICE)
    nothing: Any
    for nothing in ({}, {"draft": SessionDraft()}, {"messages": [Message("assistant", "Hello.")]}):
        ended = view.sessions.end(**nothing)
        assert (ended.path, ended.added, ended.note) == ("2026-03-01/telegram_1001.md", 0, None)
    assert view.sessions.begin().recent == ()
    assert memory.admin.stats().memories == 0


def test_a_session_is_found_again_as_it_ended(memory: Memory) -> None:
    view = private(memory, ALICE)
    ended = view.sessions.end(draft=WHOLE)
    assert (ended.path, ended.added, ended.merged) == ("2026-03-01/telegram_1001.md", 5, 0)
    woken = view.sessions.begin()
    assert woken.today == ended.note
    assert woken.today is not None
    assert [(i.section, i.content, i.done) for i in woken.today.items] == [
        (Section.SUMMARY, TOLD, None),
        (Section.FACTS, "The build is red", None),
        (Section.TASKS, "Pay the rent", False),
        (Section.TASKS, "Call the bank", True),
        (Section.FOLLOW_UPS, "Ask the landlord about heating", False),
    ]
    assert woken.today.links == (NoteLink(text="Plan", target="plans/layout.md"),)
    head = woken.today.head
    assert (head.summary, head.session_id, head.source) == ("Settled the layout.", "telegram:1001", "telegram")
    assert (head.subject_id, head.contact_id, head.contact_nickname, head.tags) == (
        "ext:telegram:1001",
        "telegram:1001",
        "Alice",
        ("house",),
    )
    (recent,) = woken.recent
    assert recent == NoteSummary(
        path=ended.path,
        day=date(2026, 3, 1),
        summary="Settled the layout.",
        tasks=TaskProgress(done=1, total=2),
        follow_ups=TaskProgress(done=0, total=1),
    )


def test_what_stands_in_a_note_are_memories_like_others(memory: Memory) -> None:
    view = private(memory, ALICE)
    ended = view.sessions.end(draft=WHOLE)
    assert ended.note is not None
    kinds = {i.content: view.show(i.id or "") for i in ended.note.items}
    paid, called = kinds["Pay the rent"], kinds["Call the bank"]
    assert (paid.kind, paid.category, paid.tags) == ("task", "task_state", ("task",))
    assert called.tags == ("done", "task")
    assert kinds["Ask the landlord about heating"].tags == ("follow_up",)
    assert kinds["The build is red"].kind == "context"
    assert all(one.visibility == "private_only" for one in kinds.values())
    found = [one.memory.content for one in view.recall("rent")]
    assert "Pay the rent" in found
    assert "Call the bank (done)" in view.block().text


def test_the_same_session_is_merged_and_not_written_twice(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    first = view.sessions.end(draft=WHOLE)
    assert first.note is not None
    clock.forward(seconds=600)
    again = view.sessions.end(draft=WHOLE)
    assert again.note is not None
    assert (again.added, again.merged) == (0, 5)
    assert [i.id for i in again.note.items] == [i.id for i in first.note.items]
    assert [view.show(i.id or "").version for i in again.note.items] == [1] * 5
    assert again.note.links == first.note.links
    assert again.note.head.created_at == first.note.head.created_at
    assert again.note.head.updated_at == clock()


def test_new_words_under_the_same_title_take_the_place_of_the_old(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.sessions.end(draft=SessionDraft(facts=("Build: it is red", "Server: is named hal")))
    (before, _) = view.sessions.begin().today.items  # type: ignore[union-attr]
    ended = view.sessions.end(draft=SessionDraft(facts=("build: it is green",)))
    assert (ended.added, ended.merged) == (0, 1)
    assert [content for _, content, _ in items(view)] == ["build: it is green", "Server: is named hal"]
    changed = view.show(before.id or "")
    assert (changed.content, changed.version) == ("build: it is green", 2)
    assert [one.event for one in view.history(changed.id)] == ["ADD", "UPDATE"]


def test_a_finished_task_never_reopens(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.sessions.end(draft=tasks("Pay the rent", done=True))
    ended = view.sessions.end(draft=tasks("pay the rent"))
    assert (ended.added, ended.merged) == (0, 1)
    assert [done for _, _, done in items(view)] == [True]


def test_a_task_that_is_finished_later_is_ticked_in_the_notes_of_recent_days(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.sessions.end(draft=tasks("Pay the rent", "Water the plants"))
    other = private(memory, ALICE, "errands")
    other.sessions.end(draft=tasks("pay the rent"))
    clock.forward(days=2)
    ended = view.sessions.end(draft=tasks("Pay the rent", done=True))
    assert ended.ticked == 2
    told = {(one.day.day, one.path): str(one.tasks) for one in view.sessions.begin().recent}
    assert told == {
        (3, "2026-03-03/telegram_1001.md"): "1/1",
        (1, "2026-03-01/telegram_1001.md"): "1/2",
        (1, "2026-03-01/telegram_1001~2ferrands.md"): "1/1",
    }
    assert view.sessions.end(draft=tasks("Pay the rent", done=True)).ticked == 0


def test_older_days_than_recent_ones_are_left_alone(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.sessions.end(draft=tasks("Pay the rent"))
    (old,) = view.list("task_state")
    clock.forward(days=6)
    assert len(view.sessions.begin().recent) == 1
    clock.forward(days=1)
    assert view.sessions.begin().recent == ()
    assert view.sessions.end(draft=tasks("Pay the rent", done=True)).ticked == 0
    assert view.show(old.id).tags == ("task",)


def test_messages_alone_are_read_by_rules(memory: Memory) -> None:
    view = private(memory, ALICE)
    said = [Message("user", "I have to buy milk tomorrow"), Message("assistant", "Fine.")]
    ended = view.sessions.end(said)
    assert ended.added >= 1
    assert any("milk" in content for _, content, _ in items(view))
    assert view.sessions.begin().recent[0].summary


def test_of_a_session_in_several_parts_all_are_summed_up(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.sessions.end([Message("user", "I have to buy milk tomorrow")])
    view.sessions.end([Message("user", "I have to call the dentist on Friday")])
    view.sessions.end([Message("user", "I have to call the dentist on Friday")])
    summary = view.sessions.begin().recent[0].summary
    assert summary.count("milk") == summary.count("dentist") == 1
