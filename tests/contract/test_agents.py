"""Allow-lists of agents, and views narrowed to categories: nothing else is read, written or erased."""

import json
from collections.abc import Callable, Iterator

import pytest

import tacit
from tacit import InvalidInput, Message, NotFound
from tacit.memory import Memory
from tacit.settings import LearnSettings, Settings
from tacit.settings.sections import CategorySetting
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, ALOUD, BOB, SetClock, group, kept, private, said

LISTS = Settings(
    allowlists={"planner": ("goal", "project"), "coach": ("fact",), "idle": ()},
    categories=(CategorySetting(name="recipe", context="rag", rag_length=5),),
)
CHAT = tacit.Chat.private("telegram:1001")


def held(memory: Memory, agent: str) -> View:
    view = memory.view(ALICE, CHAT, agent=agent)
    assert isinstance(view, View)
    return view


@pytest.fixture
def listed(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=LISTS)


def filled(memory: Memory) -> dict[str, str]:
    view = private(memory, ALICE)
    return {
        category: kept(view, f"canary {category}", category=category, about=["Sarah"])
        for category in ("goal", "project", "fact", "profile", "recipe")
    }


def told(view: View, ids: dict[str, str]) -> list[tuple[str, object]]:
    """Everything that any read says about what was filled in."""

    def one(read: Callable[[str], object]) -> list[str]:
        found = []
        for category, id in ids.items():
            try:
                read(id)
            except tacit.NotFound:
                continue
            found.append(category)
        return sorted(found)

    def categories(text: str) -> list[str]:
        return sorted(category for category in ids if f"canary {category}" in text)

    of = {id: category for category, id in ids.items()}
    exported = "\n".join(view.export())
    return [
        ("recall", sorted(r.memory.category for r in view.recall("canary", top_k=20))),
        ("query", sorted(b.category for b in view.query("canary", top_k=20))),
        ("list", sorted(m.category for m in view.list())),
        ("list by state", sorted(m.category for m in view.list(state="active"))),
        ("about", sorted(m.category for m in view.people.about("Sarah"))),
        ("show", one(view.show)),
        ("history", one(view.history)),
        ("explain", one(view.explain)),
        ("delta", sorted(c.category or "" for c in view.delta().changes)),
        ("fresh", categories(view.fresh("canary", top_k=20).text)),
        ("export", categories(exported)),
        ("stats", sorted(view.stats().by_category)),
        ("browse", sorted(m.category for m in view.browse())),
        ("activity", sorted({e.category for e in view.audit.activity()})),
        ("graph", sorted(node.category for node in view.graph().nodes if node.category)),
        ("history of all", sorted({of[json.loads(line)["memory_id"]] for line in view.audit.export_history()})),
        (
            "export of all",
            sorted(
                json.loads(line)["category"]
                for line in view.export(everything=True, turns=True)
                if '"type": "memory"' in line or '"type":"memory"' in line
            ),
        ),
        ("block", categories(view.block().text)),
        ("block ids", sorted(c for c, id in ids.items() if id in view.block().ids)),
    ]


@pytest.mark.parametrize(
    ("agent", "allowed"), [("planner", ["goal", "project"]), ("coach", ["fact"]), ("idle", []), ("stranger", [])]
)
def test_a_view_of_an_agent_is_held_to_its_list_in_every_read(listed: Memory, agent: str, allowed: list[str]) -> None:
    ids = filled(listed)
    view = held(listed, agent)
    for read, categories in told(view, ids):
        assert categories == allowed, read
    counts = view.count(), view.count(state="active"), view.browse_count(), view.audit.daily_counts(1)[0].counts
    assert counts == (*[len(allowed)] * 3, {"learned": len(allowed)} if allowed else {})


def test_without_an_agent_everything_is_told(listed: Memory) -> None:
    ids = filled(listed)
    for read, categories in told(private(listed, ALICE), ids):
        # What comes by recall alone is in no block.
        in_block = sorted(set(ids) - {"recipe"})
        assert categories == (in_block if read.startswith("block") else sorted(ids)), read


def test_without_lists_every_agent_is_told_everything(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("canary", category="goal")
    assert len(held(memory, "anybody").recall("canary")) == 1
    assert len(view.query("canary", agent="anybody")) == 1
    assert held(memory, "anybody").block().ids == view.block().ids


def test_a_category_off_the_list_is_refused_and_not_left_out(listed: Memory) -> None:
    own, view = private(listed, ALICE), held(listed, "planner")
    refuses(view.recall, "categories", "canary", categories=["fact"])  # whether or not there is anything
    filled(listed)
    for asked in (["fact"], ["goal", "fact"], ["recipe"]):
        refuses(view.recall, "categories", "canary", categories=asked)
        refuses(view.query, "categories", "canary", categories=asked)
        refuses(own.query, "categories", "canary", agent="planner", categories=asked)
    refuses(view.list, "category", "fact")
    refuses(view.get, "category", "fact", "k")
    refuses(view.forget_category, "category", "fact")
    refuses(view.put, "category", "fact", "k", "v")
    refuses(view.browse, "category", tacit.Search(category="fact"))
    assert len(view.recall("canary", categories=["goal"])) == 1
    refuses(held(listed, "stranger").recall, "categories", "canary", categories=["goal"])
    assert own.query("canary", agent="stranger") == []


def test_a_view_of_one_agent_cannot_ask_as_another(listed: Memory) -> None:
    filled(listed)
    view = held(listed, "planner")
    refuses(view.query, "agent", "canary", agent="coach")
    refuses(view.query, "agent", "canary", agent="stranger")
    found = view.query("canary", agent="planner", top_k=20)
    assert {one.category for one in found} == {"goal", "project"}


def test_related_bullets_and_what_a_group_says_stay_on_the_list(listed: Memory) -> None:
    ids = filled(listed)
    private(listed, ALICE).relate(ids["goal"], ids["fact"])
    view = held(listed, "planner")
    assert [one.related for one in view.recall("canary goal", top_k=1)] == [()]
    assert {one.category for one in view.query("canary", top_k=20)} == {"goal", "project"}
    for category in ("goal", "fact"):
        group(listed, BOB).remember(f"spoken {category}", category=category, **ALOUD)
    chat = tacit.Chat.group("telegram:-100", participants=(ALICE, BOB))
    view = listed.view(ALICE, chat, agent="planner")
    assert [one.memory.category for one in view.recall("spoken")] == ["goal"]
    assert [one.category for one in view.list()] == ["goal"]


def test_a_change_off_the_list_is_not_in_the_news(listed: Memory, clock: SetClock) -> None:
    ids = filled(listed)
    clock.forward(seconds=1)
    view = held(listed, "planner")
    block = view.block()
    clock.forward(seconds=1)
    own = private(listed, ALICE)
    own.update(ids["fact"], "canary secret")
    own.forget(ids["profile"])
    assert view.delta(block.revision).changes == ()
    assert view.fresh("zebra").text == ""
    own.update(ids["goal"], "canary goals")
    assert [c.content for c in view.delta(block.revision).changes] == ["canary goals"]
    assert view.block().text.count("canary") == 2
    own.forget(ids["goal"])
    changes = view.delta(block.revision).changes
    assert [(one.event, one.memory_id, one.content) for one in changes] == [("deleted", ids["goal"], None)]


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
def lent(whole: Memory, request: pytest.FixtureRequest) -> Memory:
    """A space of the test's own."""
    return whole.space(f"s{abs(hash(request.node.name))}")


@pytest.mark.parametrize(
    ("categories", "agent", "allowed"),
    [(["goal", "fact"], None, ["fact", "goal"]), (["goal", "fact"], "planner", ["goal"]),
     (["goal", "fact"], "stranger", []), ([], None, []), ([], "planner", []),
     (["nonsense"], None, [])],
)  # fmt: skip
def test_every_read_stays_within_both_lists(
    lent: Memory, categories: list[str], agent: str | None, allowed: list[str]
) -> None:
    ids = filled(lent)
    for read, found in told(narrowed(lent, *categories, agent=agent), ids):
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


def test_a_narrowed_view_wipes_nothing(lent: Memory) -> None:
    filled(lent)
    refuses(narrowed(lent, "goal").wipe, "wipe")
    with pytest.raises(InvalidInput):
        lent.view(ALICE, CHAT, agent="planner").wipe()
    assert len(private(lent, ALICE).list()) == 5


def test_only_lines_on_the_list_are_taken_in(lent: Memory) -> None:
    lines = ['{"content": "climb", "category": "goal"}', '{"content": "tea"}']
    done = narrowed(lent, "goal").imports.add_lines(lines)
    assert (done.created, len(done.refused)) == (1, 1)
    assert said(private(lent, ALICE).list()) == ["climb"]


def test_only_what_is_on_the_list_is_learned(lent: Memory) -> None:
    said_now = [Message("user", "I like green tea"), Message("user", "My sister is called Ana")]
    narrowed(lent, "preference").learn(said_now)
    lent.jobs.wait_for_learning()
    kept = private(lent, ALICE).list()
    assert [one.category for one in kept] == ["preference"]
    narrowed(lent).learn([Message("user", "I like black coffee")])
    lent.jobs.wait_for_learning()
    assert len(private(lent, ALICE).list()) == 1


def test_learning_neither_changes_nor_tells_what_is_off_the_list(lent: Memory) -> None:
    own = private(lent, ALICE)
    own.learn([Message("user", "I live in Lisbon")])
    lent.jobs.wait_for_learning()
    (home,) = own.list()
    view = narrowed(lent, "goal")
    for words in ("I live in Porto", "No wait, Porto", "I live in Lisbon"):
        steps = view.trace(words, keep=True)
        assert not any("Lisbon" in one.says for one in steps if one.stage == "reconcile"), steps
        view.learn([Message("user", words)])
    lent.jobs.wait_for_learning()
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


def test_a_list_is_a_list(lent: Memory) -> None:
    for categories in ("goal", 5, [5], [""]):
        refuses(lent.view, "categories", ALICE, CHAT, categories=categories)
    assert not lent.view(None, CHAT, categories=[]).enabled
