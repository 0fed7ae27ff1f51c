"""Allow-lists: an agent uses the categories on its list, in every read, and is told so."""

from collections.abc import Callable

import pytest

import tacit
from tacit.memory import Memory
from tacit.settings import Settings
from tacit.settings.sections import CategorySetting
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private

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
        ("block", categories(view.block().text)),
        ("block ids", sorted(c for c, id in ids.items() if id in view.block().ids)),
    ]


@pytest.mark.parametrize(
    ("agent", "allowed"), [("planner", ["goal", "project"]), ("coach", ["fact"]), ("idle", []), ("stranger", [])]
)
def test_a_view_of_an_agent_is_held_to_its_list_in_every_read(listed: Memory, agent: str, allowed: list[str]) -> None:
    ids = filled(listed)
    for read, categories in told(held(listed, agent), ids):
        assert categories == allowed, read


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
    filled(listed)
    own, view = private(listed, ALICE), held(listed, "planner")
    for asked in (["fact"], ["goal", "fact"], ["recipe"]):
        refuses(view.recall, "categories", "canary", categories=asked)
        refuses(view.query, "categories", "canary", categories=asked)
        refuses(own.query, "categories", "canary", agent="planner", categories=asked)
    refuses(view.list, "category", "fact")
    refuses(view.get, "category", "fact", "k")
    refuses(view.forget_category, "category", "fact")
    refuses(view.put, "category", "fact", "k", "v")
    assert len(view.recall("canary", categories=["goal"])) == 1


def test_an_unknown_agent_is_refused_what_it_names_and_gets_nothing_else(listed: Memory) -> None:
    filled(listed)
    view = held(listed, "stranger")
    assert view.recall("canary") == []
    assert private(listed, ALICE).query("canary", agent="stranger") == []
    refuses(view.recall, "categories", "canary", categories=["goal"])


def test_a_refusal_does_not_say_whether_there_is_anything(listed: Memory) -> None:
    view = held(listed, "planner")
    with pytest.raises(tacit.InvalidInput) as empty:
        view.recall("canary", categories=["fact"])
    filled(listed)
    with pytest.raises(tacit.InvalidInput) as full:
        view.recall("canary", categories=["fact"])
    assert str(empty.value) == str(full.value)


def test_a_view_of_one_agent_cannot_ask_as_another(listed: Memory) -> None:
    filled(listed)
    view = held(listed, "planner")
    refuses(view.query, "agent", "canary", agent="coach")
    refuses(view.query, "agent", "canary", agent="stranger")
    found = view.query("canary", agent="planner", top_k=20)
    assert {one.category for one in found} == {"goal", "project"}


def test_an_agent_changes_only_what_it_may_use(listed: Memory) -> None:
    ids = filled(listed)
    view = held(listed, "planner")
    for act in (view.forget, view.erase, view.pin, lambda id: view.update(id, "other")):
        with pytest.raises(tacit.NotFound):
            act(ids["fact"])
    assert private(listed, ALICE).show(ids["fact"]).content == "canary fact"


def test_related_bullets_stay_on_the_list(listed: Memory) -> None:
    ids = filled(listed)
    private(listed, ALICE).relate(ids["goal"], ids["fact"])
    view = held(listed, "planner")
    assert [one.related for one in view.recall("canary goal", top_k=1)] == [()]
    assert {one.category for one in view.query("canary", top_k=20)} == {"goal", "project"}


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


def test_an_agent_hears_that_something_on_its_list_is_gone(listed: Memory, clock: SetClock) -> None:
    ids = filled(listed)
    clock.forward(seconds=1)
    view = held(listed, "planner")
    block = view.block()
    clock.forward(seconds=1)
    private(listed, ALICE).forget(ids["goal"])
    changes = view.delta(block.revision).changes
    assert [(one.event, one.memory_id, one.content) for one in changes] == [("deleted", ids["goal"], None)]


def test_a_list_holds_in_a_group(listed: Memory) -> None:
    said = {"visibility": "room", "sensitivity": "public"}
    group(listed, BOB).remember("canary goal", category="goal", **said)  # type: ignore[arg-type]
    group(listed, BOB).remember("canary fact", category="fact", **said)  # type: ignore[arg-type]
    chat = tacit.Chat.group("telegram:-100", participants=(ALICE, BOB))
    view = listed.view(ALICE, chat, agent="planner")
    assert [one.memory.category for one in view.recall("canary")] == ["goal"]
    assert [one.category for one in view.list()] == ["goal"]
