"""What a session does not keep, does not take, and lets go of."""

from typing import Any

import pytest

import tacit
from tacit import Message, SessionDraft, TopicDraft
from tacit.memory import Memory
from tacit.records.notes import Section
from tacit.settings import Settings
from tests.contract.conftest import Open
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, SetClock, group, kept, private
from tests.contract.sessions import ARCHIVE, WHOLE, items, tasks


def test_erasing_an_item_takes_the_summary_along_that_was_made_of_it(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.sessions.end(draft=SessionDraft(summary="Zanzibar it is.", facts=("Zanzibar", "Rain")))
    zanzibar = next(one for one in view.list() if one.content == "Zanzibar")
    view.erase(zanzibar.id)
    (recent,) = view.sessions.begin().recent
    assert recent.summary == "Rain"
    assert "Zanzibar" not in str(view.sessions.begin())


def test_a_summary_that_somebody_forgot_does_not_come_back(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.sessions.end(draft=WHOLE)
    (summary,) = (one for one in view.list() if "session" in one.tags)
    view.forget(summary.id)
    assert view.sessions.begin().recent[0].summary == "Layout: Settled the folders (agreed)"
    view.sessions.end(draft=WHOLE)
    assert view.sessions.begin().recent[0].summary == "Layout: Settled the folders (agreed)"


def test_an_item_that_was_forgotten_is_not_in_the_session_any_more(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.sessions.end(draft=tasks("Pay the rent", "Water the plants"))
    plants = next(one for one in view.list("task_state") if "plants" in one.content)
    view.forget(plants.id)
    assert [content for _, content, _ in items(view)] == ["Pay the rent"]
    view.restore(plants.id)
    assert [content for _, content, _ in items(view)] == ["Pay the rent", "Water the plants"]


def test_a_draft_with_a_secret_is_refused_as_a_whole(memory: Memory) -> None:
    view = private(memory, ALICE)
    secret = "my password is hunter2hunter2"
    for draft in (
        SessionDraft(summary=secret),
        SessionDraft(facts=("fine", secret)),
        tasks(secret),
        SessionDraft(topics=(TopicDraft(topic="x", event=secret),)),
        SessionDraft(promote=secret),
    ):
        with pytest.raises(tacit.SecretRefused):
            view.sessions.end(draft=draft)
    assert memory.admin.stats().memories == 0
    view.sessions.end([Message("user", secret), Message("user", "I have to buy milk tomorrow")])
    assert "hunter2" not in str(view.sessions.begin())


def test_what_is_no_draft_or_no_session_is_refused(memory: Memory) -> None:
    view = private(memory, ALICE)
    bad: Any
    for bad in ("x", {}, SessionDraft):
        refuses(lambda value: view.sessions.end(draft=value), "draft", bad)
    for field, bad in {
        "facts": "text",
        "topics": ("x",),
        "tasks": (TopicDraft(topic="x"),),
        "links": ("x",),
        "promote_to": "tasks",
        "summary": "x" * 501,
    }.items():
        refuses(lambda value, f=field: view.sessions.end(draft=SessionDraft(**{f: value})), field, bad)
    for bad in ("", " x", 5, "x" * 201):
        refuses(view.sessions.begin, "session", bad)
        refuses(lambda value: view.sessions.end(session=value), "session", bad)
    refuses(view.sessions.end, "messages", "text")
    assert memory.admin.stats().memories == 0


def test_where_nobody_can_tell_who_listens_there_are_no_notes(memory: Memory) -> None:
    private(memory, ALICE).sessions.end(draft=SessionDraft(summary="Talked.", promote=ARCHIVE))
    group(memory, ALICE).sessions.end(draft=WHOLE)
    unknown = memory.view(ALICE, tacit.Chat.unknown("web:1"))
    woken = unknown.sessions.begin()
    assert (woken.long_term, woken.recent, woken.today) == ((), (), None)
    assert unknown.block("summary").text == ""
    with pytest.raises(tacit.InvalidInput, match="chat"):
        unknown.sessions.end(draft=WHOLE)


def test_an_agent_gets_no_further_than_its_allow_list(database_url: str, opened: Open, clock: SetClock) -> None:
    allowed = {"clerk": ("task_state", "event"), "poet": ("goal",)}
    memory = opened(database_url, settings=Settings(allowlists=allowed))
    chat = tacit.Chat.private(ALICE.key)
    private(memory, ALICE).sessions.end(draft=WHOLE)
    clock.forward(seconds=1)
    clerk = memory.view(ALICE, chat, agent="clerk")
    today = clerk.sessions.begin().today
    assert today is not None
    assert {item.section for item in today.items} == {Section.SUMMARY, Section.TASKS, Section.FOLLOW_UPS}
    assert clerk.sessions.end(draft=tasks("Paint the door")).added == 1
    poet = memory.view(ALICE, chat, agent="poet")
    assert poet.sessions.begin().recent == ()
    assert poet.block("summary").text == ""
    with pytest.raises(tacit.InvalidInput, match="category"):
        poet.sessions.end(draft=WHOLE)


def test_an_item_names_its_note_by_hand_as_well(memory: Memory) -> None:
    """What is changed as a memory is changed in its note."""
    view = private(memory, ALICE)
    view.sessions.end(draft=tasks("Pay the rent"))
    (task,) = view.list("task_state")
    view.update(task.id, "Pay the rent by Friday")
    assert items(view) == [(Section.TASKS, "Pay the rent by Friday", False)]
    assert kept(view, "something else") not in str(view.sessions.begin())
