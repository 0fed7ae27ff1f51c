"""Files of a view in front of others: each audience reads its own tree, and no other."""

import pytest

import tacit
from tacit.memory import Memory
from tacit.records.notes import SessionDraft
from tacit.settings import Settings
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, group, private, said

TRIPS = "# Trips\n\n- Lisbon in May\n- Porto in June\n"
TODAY = "2026-03-01/telegram_1001.md"
TEAMS_TODAY = "2026-03-01/telegram_-100.md"


def test_nobody_reads_what_is_somebody_elses(memory: Memory) -> None:
    alice, bob = private(memory, ALICE), private(memory, BOB)
    alice.files.write("trips.md", TRIPS)
    alice.files.write("_index.md", "## Key Facts\n- Alice is ill\n")
    alice.files.write(TODAY, "## Temporary Facts\n- The wifi is slow\n")
    assert bob.files.list() == []
    for path in ("trips.md", "_index.md", TODAY, "2026-03-01"):
        refusals = []
        for one in (path, path.replace("2026-03-01", "2026-03-02")):
            for act in (bob.files.delete, bob.files.sizes):
                with pytest.raises(tacit.NotFound) as refused:
                    act(one)
                refusals.append(str(refused.value))
        assert len(set(refusals)) == 1
    bob.files.write("trips.md", "- Oslo\n", new=True)
    assert bob.files.read("trips.md") == "- Oslo\n"
    assert alice.files.read("trips.md") == TRIPS


def test_in_a_group_there_are_the_groups_own_sessions_and_nothing_else(memory: Memory) -> None:
    alice = private(memory, ALICE)
    alice.files.write("trips.md", TRIPS)
    alice.files.write("_index.md", "## Key Facts\n- Alice is ill\n")
    alice.files.write(TODAY, "## Temporary Facts\n- The wifi is slow\n")
    family = group(memory, ALICE, FAMILY)
    family.sessions.end(draft=SessionDraft(facts=("The dinner is on Friday",)))
    team = group(memory, ALICE)
    assert team.files.list() == []
    for path in ("trips.md", "_index.md", TODAY, "2026-03-01/telegram_-200.md"):
        with pytest.raises(tacit.NotFound):
            team.files.read(path)
        with pytest.raises(tacit.NotFound):
            team.files.delete(path)
    for path in ("trips.md", "_index.md", "new.md"):
        with pytest.raises(tacit.InvalidInput, match=TEAMS_TODAY):
            team.files.write(path, "- a\n")
    with pytest.raises(tacit.NotFound):
        team.files.write("2026-03-01/telegram_-200.md", "## Temporary Facts\n- a\n")
    assert alice.files.read("trips.md") == TRIPS


def test_a_group_reads_and_writes_its_session_together(memory: Memory) -> None:
    alice, bob = group(memory, ALICE), group(memory, BOB)
    alice.files.write(TEAMS_TODAY, "## Temporary Facts\n- The release is on Monday\n")
    assert bob.files.list() == [TEAMS_TODAY]
    text = bob.files.read(TEAMS_TODAY)
    assert "The release is on Monday" in text
    bob.files.write(TEAMS_TODAY, text.replace("Monday", "Tuesday"))
    assert "The release is on Tuesday" in alice.files.read(TEAMS_TODAY)
    (fact,) = alice.list()
    assert (fact.content, fact.owner) == ("The release is on Tuesday", None)
    alice.files.delete(TEAMS_TODAY)
    assert bob.files.list() == []


def in_front_of_carol(memory: Memory, who: tacit.Requester) -> View:
    return group(memory, who, here=(ALICE, BOB, CAROL))


def plan_a_cake(memory: Memory, *lines: str) -> None:
    """Said about Carol, and she was not there."""
    alice = group(memory, ALICE)
    alice.people.name(CAROL.key, "Carol")
    listed = "".join(f"- {line}\n" for line in ("Carol gets a cake", *lines))
    alice.files.write(TEAMS_TODAY, f"## Temporary Facts\n{listed}")


def test_what_was_said_about_somebody_is_not_read_out_in_front_of_them(memory: Memory) -> None:
    plan_a_cake(memory, "Lunch is at one")
    assert "cake" in group(memory, BOB).files.read(TEAMS_TODAY)
    text = in_front_of_carol(memory, BOB).files.read(TEAMS_TODAY)
    assert "cake" not in text
    assert "Lunch" in text


def test_whoever_writes_or_deletes_what_they_hear_leaves_the_rest_alone(memory: Memory) -> None:
    plan_a_cake(memory, "Lunch is at one")
    bob = in_front_of_carol(memory, BOB)
    text = bob.files.read(TEAMS_TODAY)
    bob.files.write(TEAMS_TODAY, text.replace("at one", "at two\n2. Tea is at five"))
    alone = group(memory, BOB, complete=True)
    assert "Carol gets a cake" in alone.files.read(TEAMS_TODAY)
    bob.files.delete(TEAMS_TODAY)
    assert bob.files.list() == []
    assert said(alone.list()) == ["Carol gets a cake"]


def test_a_session_of_which_nothing_may_be_heard_is_like_one_that_never_was(memory: Memory) -> None:
    bob = in_front_of_carol(memory, BOB)
    with pytest.raises(tacit.NotFound) as absent:
        bob.files.read(TEAMS_TODAY)
    plan_a_cake(memory)
    assert bob.files.list() == []
    for act in (bob.files.read, bob.files.delete, bob.files.list):
        with pytest.raises(tacit.NotFound) as hidden:
            act(TEAMS_TODAY)
        assert str(hidden.value) == str(absent.value)
    bob.files.write(TEAMS_TODAY, "## Temporary Facts\n- Lunch is at one\n", new=True)
    assert "cake" not in bob.files.read(TEAMS_TODAY)
    assert "cake" in group(memory, BOB, complete=True).files.read(TEAMS_TODAY)


def test_what_is_hidden_does_not_show_in_what_one_writes(memory: Memory) -> None:
    """The same acts of Bob, once beside something that he may not hear: he reads the same."""
    told = []
    for hidden in (False, True):
        space = memory.space(f"hidden-{hidden}")
        if hidden:
            plan_a_cake(space, "Lunch is at one")
        else:
            facts = "## Temporary Facts\n- Lunch is at one\n"
            group(space, ALICE).files.write(TEAMS_TODAY, facts)
        bob = in_front_of_carol(space, BOB)
        read = [bob.files.read(TEAMS_TODAY)]
        first = "1. Coffee is at nine\n2. Lunch is at two\n3. Tea is at five"
        bob.files.write(TEAMS_TODAY, read[0].replace("1. Lunch is at one", first))
        read.append(bob.files.read(TEAMS_TODAY))
        last = "1. Tea is at five\n2. Coffee is at nine"
        bob.files.write(TEAMS_TODAY, read[1].replace(first, last))
        read.append(bob.files.read(TEAMS_TODAY))
        bob.files.delete(TEAMS_TODAY)
        told.append((read, bob.files.list()))
        assert first in read[1]
        assert last in read[2]
    assert told[0] == told[1]


def test_what_is_too_private_for_a_group_is_refused_in_its_note(memory: Memory) -> None:
    alice = group(memory, ALICE)
    alice.files.write(TEAMS_TODAY, "## Temporary Facts\n- Alice is away on Monday\n")
    text = alice.files.read(TEAMS_TODAY)
    worse = text.replace("on Monday", "on Monday because of her cancer")
    more = text.replace("Monday\n", "Monday\n2. Alice was diagnosed with diabetes\n")
    for one in (worse, more):
        with pytest.raises(tacit.InvalidInput, match="too private"):
            alice.files.write(TEAMS_TODAY, one)
    assert alice.files.read(TEAMS_TODAY) == text


def test_in_private_a_member_reads_what_they_heard_and_cannot_change_it_there(memory: Memory) -> None:
    group(memory, ALICE).files.write(TEAMS_TODAY, "## Temporary Facts\n- Lunch is at one\n")
    bob = private(memory, BOB)
    assert bob.files.list() == [TEAMS_TODAY]
    text = bob.files.read(TEAMS_TODAY)
    with pytest.raises(tacit.InvalidInput, match="not yours"):
        bob.files.write(TEAMS_TODAY, text.replace("one", "two"))
    with pytest.raises(tacit.InvalidInput, match="not yours"):
        bob.files.delete(TEAMS_TODAY)
    assert private(memory, CAROL).files.list() == []
    assert group(memory, BOB).files.read(TEAMS_TODAY) == text


def test_somebody_elses_private_chat_and_a_chat_of_no_kind_have_no_files(memory: Memory) -> None:
    private(memory, ALICE).files.write("trips.md", TRIPS)
    others = memory.view(ALICE, tacit.Chat.private(BOB.key))
    unknown = memory.view(ALICE, tacit.Chat("telegram:77", "unknown"))  # type: ignore[arg-type]
    for view in (others, unknown):
        assert view.files.list() == []
        with pytest.raises(tacit.NotFound):
            view.files.read("trips.md")
        with pytest.raises(tacit.InvalidInput):
            view.files.write("trips.md", "- a\n")


def test_linked_accounts_read_one_tree_and_write_it_without_loss(memory: Memory) -> None:
    phone = private(memory, ALICE)
    phone.files.write("trips.md", "- Lisbon in May\n")
    phone.files.write("_index.md", "## Key Facts\n- Sarah is my wife\n")
    memory.admin.link(ALICE.key, "acct:a", verified=True, actor="test")
    web = private(memory, tacit.Requester("acct:a"))
    text = web.files.read("_index.md")
    assert "Sarah is my wife" in text
    web.files.write("_index.md", text + "- We have a dog\n")
    web.files.write("trips.md", web.files.read("trips.md") + "- Porto in June\n")
    for view in (web, phone):
        assert view.files.read("trips.md") == "- Lisbon in May\n- Porto in June\n"
        assert view.files.read("_index.md").count("\n- ") == 2


def test_pages_of_one_name_under_two_identities_are_read_and_written_as_one(memory: Memory) -> None:
    phone, web = private(memory, ALICE), private(memory, tacit.Requester("acct:a"))
    phone.files.write("trips.md", "# On the phone\n\n- Lisbon in May\n")
    web.files.write("trips.md", "# On the web\n\n- Porto in June\n")
    memory.admin.link(ALICE.key, "acct:a", verified=True, actor="test")
    both = "# On the web\n\n- Porto in June\n- Lisbon in May\n"
    assert phone.files.read("trips.md") == web.files.read("trips.md") == both
    web.files.write("trips.md", both.replace("May", "April") + "- Oslo\n", instead_of=both)
    text = phone.files.read("trips.md")
    assert text == "# On the web\n\n- Porto in June\n- Oslo\n- Lisbon in April\n"
    phone.files.delete("trips.md")
    assert web.files.list() == []
    assert len(web.list(state="forgotten").items) == 3


def test_spaces_have_trees_of_their_own(memory: Memory) -> None:
    private(memory, ALICE).files.write("trips.md", TRIPS)
    other = private(memory.space("other"), ALICE)
    assert other.files.list() == []
    other.files.write("trips.md", "- Oslo\n")
    assert private(memory, ALICE).files.read("trips.md") == TRIPS


def test_an_agent_reads_and_writes_within_its_own_categories(database_url: str, opened: Open) -> None:
    settings = Settings(allowlists={"clerk": ("context",)})
    memory = opened(database_url, settings=settings)
    private(memory, ALICE).files.write("trips.md", TRIPS)
    clerk = memory.view(ALICE, tacit.Chat.private(ALICE.key), agent="clerk")
    assert clerk.files.list() == []
    with pytest.raises(tacit.NotFound):
        clerk.files.read("trips.md")
    with pytest.raises(tacit.InvalidInput, match="may not use"):
        clerk.files.write("trips.md", "- mine\n")
    with pytest.raises(tacit.InvalidInput, match="may not use"):
        clerk.files.write("empty.md", "# Nothing but a heading\n")
    clerk.files.write(TODAY, "## Temporary Facts\n- The wifi is slow\n")
    assert private(memory, ALICE).files.read("trips.md") == TRIPS
