"""What a session keeps and for how long, in which chat, and who is told of it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any

import pytest

import tacit
from tacit import Message, SessionDraft, TaskDraft, TopicDraft
from tacit.memory import Memory
from tacit.records.notes import NoteLink, Section
from tacit.settings import Settings
from tests.contract.conftest import Open
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, TEAM, SetClock, group, kept, private
from tests.contract.sessions import ARCHIVE, CANARY, PAID, RENT, WHOLE, items, plain, tasks, told


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


def test_sessions_of_one_name_in_two_chats_are_two(memory: Memory) -> None:
    one, two = private(memory, ALICE, "main"), group(memory, ALICE, thread="main")
    three = group(memory, ALICE, FAMILY, thread="main")
    paths = {view.sessions.end(draft=tasks("Pay the rent")).path for view in (one, two, three)}
    assert len(paths) == 3
    named = private(memory, ALICE).sessions.end(draft=tasks("Pay the rent"), session="main")
    assert named.path in paths  # the thread's own name, said in another way
    assert named.merged == 1


def test_a_group_has_its_own_sessions_which_any_member_goes_on_with(memory: Memory) -> None:
    group(memory, ALICE).sessions.end(draft=WHOLE)
    ended = group(memory, BOB).sessions.end(
        draft=SessionDraft(facts=("The build is green",), tasks=(TaskDraft(text="Pay the rent", done=True),))
    )
    assert (ended.path, ended.merged) == ("2026-03-01/telegram_-100.md", 1)
    for who in (ALICE, BOB):
        today = group(memory, who).sessions.begin().today
        assert today is not None
        assert len(today.items) == 6
        assert (str(today.progress(Section.TASKS)), today.links) == ("2/2", ())
    assert {one.owner for one in group(memory, BOB).list()} == {None}


def test_a_member_whom_an_item_is_about_rewords_it_and_does_not_double_it(memory: Memory) -> None:
    group(memory, ALICE).sessions.end(draft=SessionDraft(facts=("Desk: Bob sits at the window",)))
    ended = group(memory, BOB).sessions.end(draft=SessionDraft(facts=("Desk: Bob sits at the door",)))
    assert (ended.added, ended.merged) == (0, 1)
    assert ended.note is not None
    assert [i.content for i in ended.note.items] == ["Desk: Bob sits at the door"]
    other = group(memory, BOB).sessions.end(draft=SessionDraft(facts=("Desk: nobody sits there",)))
    assert other.note is not None
    assert [i.content for i in other.note.items] == ["Desk: nobody sits there"]


def test_two_who_end_a_session_at_once_add_its_items_once(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url)
    views = [group(memory, who) for who in (ALICE, BOB)] * 4
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda view: view.sessions.end(draft=WHOLE), views))
    today = group(memory, ALICE).sessions.begin().today
    assert today is not None
    assert len(today.items) == 5


def test_what_a_person_asks_to_be_kept_for_good_enters_their_index_once(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    ended = view.sessions.end([Message("user", f"Remember forever that {ARCHIVE}")])
    assert ended.promoted is not None
    (item,) = view.sessions.begin().long_term
    assert (item.content, item.id) == (ARCHIVE, ended.promoted)
    assert (item.section, item.added) == (Section.KEY_FACTS, date(2026, 3, 1))
    assert view.show(ended.promoted).kind == "knowledge"
    second = "Remember forever that the spare key is under the pot"
    assert view.sessions.end([Message("user", second)]).promoted is None  # one a session
    clock.forward(days=1)
    assert view.sessions.end([Message("user", f"Remember forever that {ARCHIVE}")]).promoted is None
    assert view.sessions.end([Message("user", second)]).promoted is not None
    assert len(view.sessions.begin().long_term) == 2


def test_what_is_remembered_in_these_words_already_is_what_enters_the_index(memory: Memory) -> None:
    view = private(memory, ALICE)
    asked = [Message("user", f"Please remember that {ARCHIVE}")]
    view.learn(asked)
    memory.jobs.wait_for_learning()
    (before,) = view.list()
    ended = view.sessions.end(asked)
    assert ended.promoted == before.id


def test_an_agent_names_what_to_keep_and_the_rules_hold_all_the_same(memory: Memory) -> None:
    for number, (promote, enters) in enumerate({ARCHIVE: True, "Alice has to call the bank tomorrow": False}.items()):
        view = private(memory, ALICE, f"thread {number}")
        assert bool(view.sessions.end(draft=SessionDraft(promote=promote)).promoted) is enters


def test_an_index_that_is_full_lets_go_of_what_is_used_least(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    for number in range(20):
        clock.forward(days=1)
        words = f"The archive of {chr(65 + number)}ston is kept in {'the old and dusty cellar of ' * 6}Basel"
        assert view.sessions.end(draft=SessionDraft(promote=words)).promoted
    index = view.sessions.begin().long_term
    assert sum(len(item.content) for item in index) <= 3_000
    assert 10 < len(index) < 20
    assert index[-1].content == words
    assert memory.admin.stats().memories >= 20  # leaving the index is not forgetting


def test_all_identities_of_a_person_are_read_together(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.sessions.end(draft=SessionDraft(summary="Talked.", promote=ARCHIVE))
    memory.admin.link("telegram:1001", "acct:a")
    account = private(memory, tacit.Requester("acct:a"))
    woken = account.sessions.begin()
    assert [item.content for item in woken.long_term] == [ARCHIVE]
    assert [one.summary for one in woken.recent] == ["Talked."]
    account.sessions.end(draft=tasks("Pay the rent"))
    private(memory, ALICE).sessions.end(draft=tasks("Pay the rent", done=True))
    told = {one.path: str(one.tasks) for one in account.sessions.begin().recent}
    assert set(told.values()) == {"1/1"}


def test_a_group_is_told_nothing_of_a_private_session(memory: Memory, clock: SetClock) -> None:
    before = plain(group(memory, ALICE))
    for thread in (None, TEAM, "main"):
        private(memory, ALICE, thread).sessions.end(
            draft=SessionDraft(
                summary="zq1z",
                facts=("zq2z",),
                tasks=(TaskDraft(text="zq3z"),),
                links=(NoteLink(text="zq4z", target="zq5z.md"),),
                tags=("zq6z",),
                promote=ARCHIVE,
            )
        )
    clock.forward(seconds=5_000)
    for room in (group(memory, ALICE), group(memory, BOB), group(memory, ALICE, thread="main")):
        assert not CANARY.search(told(room))
        assert "Apollo" not in told(room)
        assert "telegram_1001" not in told(room)
    assert plain(group(memory, ALICE)) == before
    assert len(private(memory, ALICE).sessions.begin().recent) == 3
    assert not CANARY.search(told(private(memory, BOB)))


def test_the_index_is_told_in_the_persons_own_private_chat_alone(memory: Memory, clock: SetClock) -> None:
    private(memory, ALICE).sessions.end(draft=SessionDraft(promote=ARCHIVE))
    clock.forward(seconds=1)
    assert f"[Memory:LongTerm:Summary]\n- {ARCHIVE}\n" in private(memory, ALICE).block("summary").text
    for room in (
        group(memory, ALICE),
        group(memory, ALICE, here=(ALICE,), complete=True),
        private(memory, BOB),
        memory.view(ALICE, tacit.Chat.private("telegram:2002")),
        memory.view(ALICE, tacit.Chat.unknown("web:1")),
    ):
        assert room.sessions.begin().long_term == ()
        assert "LongTerm" not in room.block("summary").text


def test_an_item_that_is_withheld_goes_from_line_and_counts_and_the_last_one_takes_the_path(
    memory: Memory, clock: SetClock
) -> None:
    alice = group(memory, ALICE)
    alice.sessions.end(
        draft=SessionDraft(summary="Planned zq1z and zq2z.", facts=("zq1z it is",), tasks=(TaskDraft(text="Buy zq2z"),))
    )
    clock.forward(seconds=5_000)
    bob = group(memory, BOB)
    ids = {one.content: one.id for one in bob.list()}
    assert "zq1z" in told(bob)
    alice.withhold_from(ids["Buy zq2z"], ["telegram:2002"])
    assert "zq2z" not in told(bob)
    (recent,) = bob.sessions.begin().recent
    assert str(recent.tasks) == "0/0"
    alice.withhold_from(ids["zq1z it is"], ["telegram:2002"])
    assert bob.sessions.begin().recent == ()
    assert bob.sessions.begin().today is None
    assert bob.block("summary").text == ""


def test_what_is_sensitive_is_told_to_no_group_and_no_session_to_strangers(memory: Memory) -> None:
    view = group(memory, ALICE)
    view.sessions.end(draft=SessionDraft(facts=("Alice has diabetes", "Lunch is at noon"), summary="Diabetes."))
    for room in (view, group(memory, BOB)):
        assert "iabetes" not in told(room)
        assert "Lunch is at noon" in told(room)
    group(memory, ALICE).sessions.end(draft=SessionDraft(summary="zq1z", facts=("zq2z",)))
    for room in (
        group(memory, ALICE, FAMILY),
        group(memory, ALICE, FAMILY, complete=True),
        group(memory, CAROL, here=(ALICE, BOB)),
        private(memory, CAROL),
    ):
        assert not CANARY.search(told(room)), room
    assert "zq2z" in told(private(memory, BOB))  # who was there


def test_nobody_ticks_across_the_line_between_private_and_shared(memory: Memory, clock: SetClock) -> None:
    """That something is done was said in private: the group must not see it, nor the other way."""
    rooms = [private(memory, ALICE), group(memory, ALICE), group(memory, ALICE, FAMILY)]
    for number, room in enumerate(rooms):
        others = rooms[:number] + rooms[number + 1 :]
        clock.forward(days=20)
        for one in others:
            one.sessions.end(draft=RENT)
        clock.forward(days=1)
        assert room.sessions.end(draft=PAID).ticked == 0
        for one in others:
            # In private one hears of the groups' as well.
            open_ones = [s for s in one.sessions.begin().recent if str(s.tasks) == "0/1"]
            assert open_ones


def test_a_room_is_told_of_those_who_came_later_no_more_than_they_may_hear(memory: Memory) -> None:
    """Carol, whom Alice knows by name, was not there when she was talked about."""
    private(memory, ALICE).people.name(CAROL.key, "Carol")
    group(memory, ALICE).sessions.end(draft=SessionDraft(facts=("zq1z: Carol sits at the window",)))
    assert "zq1z" in told(group(memory, BOB))
    memory.chats.join(TEAM, CAROL.key)
    assert "zq1z" not in told(group(memory, BOB, here=(ALICE, BOB, CAROL)))
