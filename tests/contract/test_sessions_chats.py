"""Sessions of several chats: each has its own, and a group's is everybody's there."""

from concurrent.futures import ThreadPoolExecutor

from tacit import SessionDraft, TaskDraft
from tacit.memory import Memory
from tacit.records.notes import Section
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, FAMILY, group, private
from tests.contract.sessions import WHOLE, tasks


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
