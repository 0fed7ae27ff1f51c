"""What is asked about before it is kept, by whom it is answered, and what a no means."""

import pytest

import tacit
from tacit.memory import Memory
from tacit.records.memory import HistoryEvent, State
from tests.contract.conftest import Open
from tests.contract.lessons import asking, contents, only, told
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, group, private
from tests.contract.rows import rows


@pytest.fixture
def careful(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=asking("new"))


@pytest.fixture
def quiet(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=asking("never"))


def test_a_new_thing_said_in_passing_waits_for_a_yes(careful: Memory) -> None:
    view = private(careful, ALICE)
    told(careful, view, "I'm allergic to peanuts")
    assert contents(view) == []
    assert view.recall("peanuts") == []
    (asked,) = view.proposals.list()
    assert asked.content == "Alice is allergic to peanuts"
    assert (asked.expires_at - asked.created_at).days == 7
    view.proposals.approve(asked.id)
    assert only(view, "peanuts").state is State.ACTIVE
    assert view.recall("peanuts")[0].memory.id == asked.id
    assert view.proposals.list() == []
    assert [one.event for one in view.history(asked.id)] == [HistoryEvent.ADD, HistoryEvent.CONSENT]


def test_what_somebody_asks_to_be_remembered_is_stored_at_once(careful: Memory) -> None:
    view = private(careful, ALICE)
    told(careful, view, "Remember that I'm allergic to peanuts")
    assert len(contents(view)) == 1
    assert view.proposals.list() == []


def test_updates_just_happen(careful: Memory) -> None:
    view = private(careful, ALICE)
    told(careful, view, "Remember that I live in Lisbon", "I live in Porto now")
    assert len(contents(view)) == 1
    assert "Porto" in only(view, "Alice").content


def test_always_asks_about_updates_too_and_the_old_one_stays_until_a_yes(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=asking("always"))
    view = private(memory, ALICE)
    told(memory, view, "Remember that I live in Lisbon", "I live in Porto now")
    assert contents(view) == ["Alice lives in Lisbon"]
    (asked,) = view.proposals.list()
    assert asked.replaces is not None
    view.proposals.approve(asked.id)
    assert [one for one in contents(view) if "Lisbon" in one] == []


def test_a_no_takes_the_words_and_is_not_asked_again_for_a_while(careful: Memory, clock: SetClock) -> None:
    view = private(careful, ALICE)
    told(careful, view, "I'm allergic to peanuts")
    view.proposals.decline(view.proposals.list()[0].id)
    assert view.proposals.list() == []
    assert rows(careful, "SELECT id FROM memories WHERE content LIKE '%peanut%'") == []
    told(careful, view, "I'm allergic to peanuts")
    assert view.proposals.list() == []
    clock.forward(days=31)
    told(careful, view, "I'm allergic to peanuts")
    assert len(view.proposals.list()) == 1


def test_saying_it_again_asks_once(careful: Memory) -> None:
    view = private(careful, ALICE)
    told(careful, view, "I'm allergic to peanuts", "I'm allergic to peanuts!")
    assert len(view.proposals.list()) == 1


def test_a_question_lapses_after_seven_days(careful: Memory, clock: SetClock) -> None:
    view = private(careful, ALICE)
    told(careful, view, "I'm allergic to peanuts")
    (asked,) = view.proposals.list()
    clock.forward(days=7, seconds=1)
    assert view.proposals.list() == []
    with pytest.raises(tacit.NotFound):
        view.proposals.approve(asked.id)
    assert contents(view) == []


def test_only_the_person_asked_answers(careful: Memory) -> None:
    told(careful, private(careful, ALICE), "I'm allergic to peanuts")
    (asked,) = private(careful, ALICE).proposals.list()
    for view in (private(careful, BOB), private(careful, CAROL), group(careful, BOB)):
        assert view.proposals.list() == []
        with pytest.raises(tacit.NotFound):
            view.proposals.approve(asked.id)
        with pytest.raises(tacit.NotFound):
            view.proposals.decline(asked.id)
    assert len(private(careful, ALICE).proposals.list()) == 1


def test_what_is_sensitive_is_answered_in_private_alone(careful: Memory) -> None:
    told(careful, group(careful, ALICE), "I'm allergic to peanuts")
    assert group(careful, ALICE).proposals.list() == []
    (asked,) = private(careful, ALICE).proposals.list()
    with pytest.raises(tacit.NotFound):
        group(careful, ALICE).proposals.approve(asked.id)
    private(careful, ALICE).proposals.approve(asked.id)


def test_a_sensitive_claim_about_somebody_else_waits(quiet: Memory) -> None:
    view = private(quiet, ALICE)
    told(quiet, view, "My colleague Ana has diabetes")
    assert contents(view) == []
    (asked,) = view.proposals.list()
    assert "diabetes" in asked.content
    view.proposals.approve(asked.id)
    assert len(contents(view)) == 1


def test_where_somebody_lives_is_for_them_to_say_if_they_heard_it(quiet: Memory) -> None:
    group(quiet, BOB).remember("hello")
    told(quiet, group(quiet, ALICE), "Bob lives in Paris")
    assert contents(private(quiet, ALICE)) == []
    assert private(quiet, ALICE).proposals.list() == []
    (asked,) = group(quiet, BOB).proposals.list()
    group(quiet, BOB).proposals.approve(asked.id)
    assert contents(private(quiet, ALICE)) == ["Bob lives in Paris"]


def test_what_is_said_behind_somebodys_back_is_not_asked_of_them(quiet: Memory) -> None:
    group(quiet, BOB).remember("hello")
    told(quiet, private(quiet, ALICE), "Bob lives in Paris")
    assert private(quiet, BOB).proposals.list() == []
    assert group(quiet, BOB).proposals.list() == []
    assert len(private(quiet, ALICE).proposals.list()) == 1


def test_a_persons_own_word_about_themselves_is_consent(quiet: Memory) -> None:
    view = private(quiet, ALICE)
    told(quiet, view, "I have diabetes")
    assert len(contents(view)) == 1


def test_nothing_of_a_question_shows_anywhere_before_the_yes(careful: Memory) -> None:
    view = private(careful, ALICE)
    since = view.delta().revision
    told(careful, view, "I'm allergic to peanuts")
    assert "peanut" not in view.block().text
    assert "peanut" not in view.fresh("peanuts").text
    assert view.delta(since).changes == ()
    assert view.people.about("me").items == ()


def test_an_unknown_proposal_is_not_found(careful: Memory) -> None:
    view = private(careful, ALICE)
    for id in ("AAAAAAAA", "", "not an id", "%"):
        with pytest.raises(tacit.NotFound):
            view.proposals.approve(id)


def test_what_waits_does_not_get_past_a_no_by_being_forgotten_and_restored(careful: Memory) -> None:
    view = private(careful, ALICE)
    told(careful, view, "I'm allergic to peanuts")
    (asked,) = view.proposals.list()
    view.forget(asked.id)
    with pytest.raises(tacit.NotFound):
        view.restore(asked.id)
    assert view.proposals.list() == []
    assert contents(view) == []


def test_an_erased_person_leaves_no_answer_no_question_and_no_count(careful: Memory) -> None:
    view = private(careful, BOB)
    told(careful, view, "I'm allergic to peanuts", "Remember that I live in Rome")
    view.proposals.decline(view.proposals.list()[0].id)
    told(careful, view, "I'm allergic to cats")
    told(careful, group(careful, ALICE), "Bob lives in Paris")
    assert group(careful, BOB).proposals.list()
    careful.admin.erase_person("telegram:2002")
    for table, whose in (("declined_proposals", "concerns"), ("learning_days", "owner")):
        assert rows(careful, f"SELECT 1 FROM {table} WHERE {whose} LIKE '%2002%'") == []
    assert rows(careful, "SELECT 1 FROM proposals WHERE concerns LIKE '%2002%'") == []
    assert rows(careful, "SELECT 1 FROM memories WHERE content LIKE '%Paris%'") == []
