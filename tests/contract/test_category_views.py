"""A view that is narrowed to categories: nothing else is read by it, written, learned or erased."""

from collections.abc import Iterator

import pytest

import tacit
from tacit import Chat, InvalidInput, Message, NotFound
from tacit.memory import Memory
from tacit.settings import LearnSettings, Settings
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, private, said
from tests.contract.test_agents import LISTS, filled, told

CHAT = Chat.private(ALICE.key)


def narrowed(memory: Memory, *categories: str, agent: str | None = None) -> View:
    view = memory.view(ALICE, CHAT, agent=agent, categories=categories)
    assert isinstance(view, View)
    return view


@pytest.fixture(scope="module")
def whole() -> Iterator[Memory]:
    """The rules are those of agents, which are tested on every database."""
    with tacit.open("sqlite://", settings=LISTS, embedder=None) as opened:
        yield opened


@pytest.fixture
def listed(whole: Memory, request: pytest.FixtureRequest) -> Memory:
    """A space of the test's own."""
    return whole.space(f"s{abs(hash(request.node.name))}")


@pytest.mark.parametrize(
    ("categories", "agent", "allowed"),
    [(["goal", "fact"], None, ["fact", "goal"]), (["goal", "fact"], "planner", ["goal"]),
     (["goal", "fact"], "stranger", []), ([], None, []), ([], "planner", []),
     (["nonsense"], None, [])],
)  # fmt: skip
def test_every_read_stays_within_both_lists(
    listed: Memory, categories: list[str], agent: str | None, allowed: list[str]
) -> None:
    ids = filled(listed)
    for read, found in told(narrowed(listed, *categories, agent=agent), ids):
        assert found == allowed, read


def test_what_is_off_the_list_is_neither_written_nor_changed(listed: Memory) -> None:
    ids = filled(listed)
    view = narrowed(listed, "goal")
    refuses(view.remember, "category", "tea")
    refuses(view.remember, "category", "tea", kind="preference")
    refuses(view.put, "category", "fact", "k", "v")
    refuses(view.get, "category", "fact", "k")
    refuses(view.forget_category, "category", "fact")
    refuses(view.forget_key, "category", "fact", "k")
    refuses(view.update, "category", ids["goal"], category="fact")
    refuses(view.recall, "categories", "tea", categories=["fact"])
    for act in (view.forget, view.erase, view.pin, view.restore, lambda id: view.update(id, "x")):
        with pytest.raises(NotFound):
            act(ids["fact"])
    with pytest.raises(NotFound):
        view.relate(ids["goal"], ids["fact"])
    assert private(listed, ALICE).show(ids["fact"]).content == "canary fact"
    assert view.update(ids["goal"], "another goal").id == ids["goal"]


def test_a_narrowed_view_wipes_nothing(listed: Memory) -> None:
    filled(listed)
    refuses(narrowed(listed, "goal").wipe, "wipe")
    with pytest.raises(InvalidInput):
        listed.view(ALICE, CHAT, agent="planner").wipe()
    assert len(private(listed, ALICE).list()) == 5


def test_only_lines_on_the_list_are_taken_in(listed: Memory) -> None:
    lines = ['{"content": "climb", "category": "goal"}', '{"content": "tea"}']
    done = narrowed(listed, "goal").imports.add_lines(lines)
    assert (done.created, len(done.refused)) == (1, 1)
    assert said(private(listed, ALICE).list()) == ["climb"]


def test_only_what_is_on_the_list_is_learned(listed: Memory) -> None:
    said_now = [Message("user", "I like green tea"), Message("user", "My sister is called Ana")]
    narrowed(listed, "preference").learn(said_now)
    listed.jobs.wait_for_learning()
    kept = private(listed, ALICE).list()
    assert [one.category for one in kept] == ["preference"]
    narrowed(listed).learn([Message("user", "I like black coffee")])
    listed.jobs.wait_for_learning()
    assert len(private(listed, ALICE).list()) == 1


def test_learning_neither_changes_nor_tells_what_is_off_the_list(listed: Memory) -> None:
    own = private(listed, ALICE)
    own.learn([Message("user", "I live in Lisbon")])
    listed.jobs.wait_for_learning()
    (home,) = own.list()
    view = narrowed(listed, "goal")
    for words in ("I live in Porto", "No wait, Porto", "I live in Lisbon"):
        steps = view.trace(words, keep=True)
        assert not any("Lisbon" in one.says for one in steps if one.stage == "reconcile"), steps
        view.learn([Message("user", words)])
    listed.jobs.wait_for_learning()
    assert own.list().items == (home,)


def test_a_proposal_off_the_list_is_neither_told_nor_answered(opened: Open) -> None:
    memory = opened("sqlite://", settings=Settings(learn=LearnSettings(workers=0, confirm="new")))
    own = private(memory, ALICE)
    own.learn([Message("user", "My sister is called Ana")])
    memory.jobs.wait_for_learning()
    (asked,) = own.proposals.list()
    view = narrowed(memory, "goal")
    assert view.proposals.list() == []
    for answer in (view.proposals.approve, view.proposals.decline):
        with pytest.raises(NotFound):
            answer(asked.id)
    assert own.proposals.list() == [asked]


def test_a_list_is_a_list(listed: Memory) -> None:
    for categories in ("goal", 5, [5], [""]):
        refuses(listed.view, "categories", ALICE, CHAT, categories=categories)
    assert not listed.view(None, CHAT, categories=[]).enabled
