"""What is kept for good: it enters the index of whoever asked for it, one thing a session."""

from datetime import date

import tacit
from tacit import Message, SessionDraft
from tacit.memory import Memory
from tacit.records.notes import NoteItem, Section
from tests.contract.rooms import ALICE, SetClock, private
from tests.contract.sessions import ARCHIVE, tasks


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
    for number in range(105):
        clock.forward(days=1)
        name = f"{chr(65 + number // 26)}{chr(97 + number % 26)}ston"
        words = f"The archive of {name} is kept in Basel"
        assert view.sessions.end(draft=SessionDraft(promote=words)).promoted
    index = view.sessions.begin().long_term
    assert sum(len(item.content) for item in index) <= 3_000
    assert len(index) <= 100
    assert index[-1].content == words
    assert memory.admin.stats().memories >= 105  # leaving the index is not forgetting


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


def test_items_have_an_id_and_a_day_where_they_are_kept_for_good(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.sessions.end(draft=SessionDraft(promote=ARCHIVE))
    (item,) = view.sessions.begin().long_term
    assert item == NoteItem(section=Section.KEY_FACTS, content=ARCHIVE, id=item.id, added=date(2026, 3, 1))
