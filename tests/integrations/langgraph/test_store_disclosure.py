"""Who reads an item: exactly who hears such a memory."""

from datetime import UTC, datetime

import pytest
from langgraph.store.base import InvalidNamespaceError, PutOp, SearchOp

import tacit
from tacit import limits
from tacit.errors import InvalidInput, SecretRefused
from tacit.integrations.langgraph import Store
from tacit.memory import Memory
from tacit.records.drafts import MemoryFields
from tests.contract.rooms import ALICE, BOB, FAMILY, group, private

PREFS = ("prefs",)


def test_what_one_person_puts_is_absent_for_everybody_else(memory: Memory) -> None:
    alice, bob = Store(private(memory, ALICE)), Store(private(memory, BOB))
    alice.put(PREFS, "food", {"likes": "pizza"})
    for store in (bob, Store(group(memory, ALICE)), Store(group(memory, BOB))):
        assert store.get(PREFS, "food") is None
        assert store.search(()) == []
        assert store.search((), query="pizza") == []
        assert store.list_namespaces() == []
        store.delete(PREFS, "food")
    assert alice.get(PREFS, "food") is not None
    bob.put(PREFS, "food", {"likes": "sushi"})
    assert [one.value for one in alice.search(())] == [{"likes": "pizza"}]
    assert [one.value for one in bob.search((), query="food")] == [{"likes": "sushi"}]


def test_under_a_key_that_one_never_set_there_is_nobody_elses_value(memory: Memory) -> None:
    """Bob's item may be said to Alice, and is found by recall; it is not hers."""
    bob = Store(group(memory, BOB), visibility="room", sensitivity="public")
    bob.put(PREFS, "food", {"likes": "sushi"})
    assert (item := bob.get(PREFS, "food")) is not None
    assert item.value == {"likes": "sushi"}
    here = group(memory, ALICE)
    assert [one.content for one in here.list("item")] == ["likes: sushi"]
    for view in (here, private(memory, ALICE)):
        store = Store(view)
        assert store.get(PREFS, "food") is None
        assert store.search((), query="sushi") == []
        assert store.list_namespaces() == []
    mine = Store(here, visibility="room", sensitivity="public")
    mine.put(PREFS, "food", {"likes": "pizza"})
    assert [one.value for one in mine.search(())] == [{"likes": "pizza"}]
    assert [one.value for one in bob.search(())] == [{"likes": "sushi"}]


def test_an_item_of_the_room_is_everybodys_there_and_nobodys_elsewhere(memory: Memory) -> None:
    def room(who: tacit.Requester, chat: str | None = None) -> Store:
        view = group(memory, who, chat) if chat else group(memory, who)
        return Store(view, for_room=True, sensitivity="public")

    room(ALICE).put(("team",), "standup", {"at": 9})
    room(BOB).put(("team",), "standup", {"at": 10})
    for store in (room(ALICE), room(BOB)):
        assert (item := store.get(("team",), "standup")) is not None
        assert item.value == {"at": 10}
        assert [one.value for one in store.search((), query="standup")] == [{"at": 10}]
        assert store.list_namespaces() == [("team",)]
    for store in (room(ALICE, FAMILY), Store(group(memory, ALICE))):
        assert store.get(("team",), "standup") is None
        assert store.search(()) == []
    room(BOB).delete(("team",), "standup")
    room(BOB).delete(("team",), "standup")
    assert room(ALICE).search(()) == []
    in_private = Store(private(memory, ALICE), for_room=True, sensitivity="public")
    with pytest.raises(InvalidInput, match="for_room"):
        in_private.put(("team",), "standup", {"at": 9})


@pytest.mark.parametrize(
    "fields",
    [
        {"for_room": True},
        {"for_room": True, "sensitivity": "personal"},
        {"for_room": True, "sensitivity": "public", "visibility": "private_only"},
    ],
)
def test_items_of_the_room_that_its_members_would_not_hear_are_refused(memory: Memory, fields: MemoryFields) -> None:
    """They replaced each other's unseen: what one had put, neither could reach any more."""
    with pytest.raises(InvalidInput, match="for_room: ") as refused:
        Store(group(memory, ALICE), **fields)
    assert ('sensitivity="public"' in str(refused.value)) is ("visibility" not in fields)


def test_what_is_said_for_the_room_stays_the_persons_own(memory: Memory) -> None:
    """Others hear it if it is public; under its key there is nothing for them."""
    unheard = Store(group(memory, ALICE), visibility="room")
    unheard.put(PREFS, "tea", {"likes": "green tea"})
    assert unheard.get(PREFS, "tea") is not None
    assert list(group(memory, BOB).list("item")) == []
    heard = Store(group(memory, ALICE), visibility="room", sensitivity="public")
    heard.put(PREFS, "cake", {"likes": "cheesecake"})
    assert [one.content for one in group(memory, BOB).list("item")] == ["likes: cheesecake"]
    assert Store(group(memory, BOB)).get(PREFS, "cake") is None


def test_of_what_is_lent_a_group_hears_the_words_and_not_the_value(memory: Memory) -> None:
    lent = Store(private(memory, ALICE), visibility="public_ok", sensitivity="public")
    lent.put(PREFS, "zone", {"utc": 0})
    here = Store(group(memory, ALICE))
    assert [one.content for one in group(memory, ALICE).list("item")] == ["utc: 0"]
    assert here.get(PREFS, "zone") is None
    assert here.search(()) == []
    view = private(memory, ALICE)
    view.withhold_from(view.list("item").items[0].id, [BOB.key])
    assert group(memory, ALICE).list("item").items == ()
    assert lent.get(PREFS, "zone") is not None


def test_without_anybody_there_is_nothing_and_nothing_is_kept(memory: Memory) -> None:
    nobody = Store(memory.view(None, tacit.Chat.private("web:1")))
    nobody.put(PREFS, "food", {"likes": "pizza"})
    assert nobody.get(PREFS, "food") is None
    assert nobody.search((), query="pizza") == []
    assert nobody.list_namespaces() == []
    nobody.delete(PREFS, "food")
    assert memory.admin.stats().memories == 0


def test_an_item_is_a_memory_that_is_read_forgotten_restored_and_erased(memory: Memory) -> None:
    view = private(memory, ALICE)
    store = Store(view)
    store.put(PREFS, "food", {"likes": "pizza", "never": ["olives", "squid"]})
    (kept,) = view.list("item")
    assert kept.content == "likes: pizza\nnever: olives, squid"
    assert view.recall("pizza")[0].memory.id == kept.id
    store.delete(PREFS, "food")
    assert store.get(PREFS, "food") is None
    view.restore(kept.id)
    assert (item := store.get(PREFS, "food")) is not None
    assert item.value == {"likes": "pizza", "never": ["olives", "squid"]}
    view.erase(kept.id)
    assert store.get(PREFS, "food") is None
    assert store.search(()) == []
    view.put("item", "prefs//food", "somebody else's note under the same key")
    assert store.get(PREFS, "food") is None
    store.put(PREFS, "food", {"likes": "soup"})
    assert [one.value for one in store.search(())] == [{"likes": "soup"}]
    view.wipe()
    assert store.list_namespaces() == []


def test_what_cannot_be_kept_is_refused_before_anything_is_written(memory: Memory) -> None:
    store = Store(private(memory, ALICE))
    good = PutOp(PREFS, "good", {"a": 1})
    for wrong, error in (
        (PutOp(PREFS, "k", {"password": "correct-horse-42!"}), SecretRefused),
        (PutOp(PREFS, "AKIAIOSFODNN7EXAMPLE", {"a": 1}), SecretRefused),
        (PutOp(PREFS, "k", {"a": {1, 2}}), InvalidInput),
        (PutOp(PREFS, "k", {1: 2}), InvalidInput),  # type: ignore[dict-item]
        (PutOp(PREFS, "k", {"a": "x" * 70_000}), InvalidInput),
        (PutOp(PREFS, "k", ["a"]), InvalidInput),  # type: ignore[arg-type]
        (PutOp(PREFS, "k" * limits.KEY_MAX_CHARS, {"a": 1}), InvalidInput),
        (PutOp(PREFS, "k", {"a": 1}, index="a"), InvalidInput),  # type: ignore[arg-type]
        (PutOp(PREFS, "k" * limits.KEY_MAX_CHARS, None), InvalidInput),
        (PutOp((), "k", {"a": 1}), InvalidInput),
        (PutOp(("a.b",), "k", {"a": 1}), InvalidNamespaceError),
        (SearchOp(PREFS, limit=-1), InvalidInput),
        (SearchOp(PREFS, filter={"a": {"$near": 1}}), InvalidInput),
        ("put", InvalidInput),
    ):
        with pytest.raises(error):
            store.batch([good, wrong])  # type: ignore[list-item]
    assert store.search(()) == []


def test_a_store_that_cannot_work_says_so_when_it_is_made(memory: Memory) -> None:
    view = private(memory, ALICE)
    for options, field in (
        ({"visibility": "everybody"}, "visibility"),
        ({"data": {"a": 1}}, "data"),
        ({"colour": "red"}, "colour"),
        ({"index": {"dims": 3, "embed": print}}, "index"),
        ({"category": ""}, "category"),
    ):
        with pytest.raises(InvalidInput, match=field):
            Store(view, **options)
    with pytest.raises(InvalidInput, match="view"):
        Store("alice")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="unknown category"):
        Store(view, category="recipes").put(PREFS, "k", {"a": 1})


def test_a_filter_may_name_a_path_and_a_namespace_may_be_a_list(memory: Memory) -> None:
    store = Store(private(memory, ALICE))
    store.put(["people"], "anna", {"work": {"role": "dev"}, "a.b": 1})  # type: ignore[arg-type]
    for wanted in ({"work.role": "dev"}, {"a.b": 1}, {"work.level": None}, {"a.b.c": None}):
        assert len(store.search(["people"], filter=wanted)) == 1, wanted  # type: ignore[arg-type]
    assert store.search((), filter={"work.role.x": "dev"}) == []
    assert store.list_namespaces(prefix=["*"]) == [("people",)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "forged",
    [
        {"ttl_minutes": "soon"},
        {"ttl_minutes": -5},
        {"ttl_minutes": 1e300},
        {"namespace": ["team" * limits.KEY_MAX_CHARS]},
    ],
    ids=str.split("text past never long"),
)
def test_what_somebody_forged_as_an_item_of_the_room_spoils_nobodys_items(
    memory: Memory, forged: dict[str, object]
) -> None:
    good = {"namespace": ["team"], "key": "standup", "value": {"at": 9}, "index": True}
    data = good | {"ttl_minutes": None, "updated_at": "2026-01-01T00:00:00+00:00"} | forged
    tomorrow = datetime(2026, 3, 2, tzinfo=UTC)
    group(memory, BOB).put("item", "team//standup", "at: 9", data=data, for_room=True, expires_at=tomorrow)
    store = Store(group(memory, ALICE), for_room=True, sensitivity="public")
    store.put(("team",), "desk", {"floor": 4})
    assert store.get(("team",), "standup") is None
    assert [one.key for one in store.search(("team",), query="standup at 9")] == ["desk"]
    assert store.list_namespaces() == [("team",)]
    store.put(("team",), "standup", {"at": 10})
    assert len(store.search(())) == 2


def test_a_filter_that_cannot_be_answered_is_refused_in_words(memory: Memory) -> None:
    store = Store(private(memory, ALICE))
    store.put(PREFS, "food", {"likes": ["pizza"]})
    deep: dict[str, object] = {}
    for _ in range(5_000):
        deep = {"in": deep}
    for wanted in ({"likes": [{"$regex": "(a+)+"}]}, {"likes": [deep]}, deep, {7: "x"}):
        with pytest.raises(InvalidInput, match="filter"):
            store.search((), filter=wanted)  # type: ignore[arg-type]
    assert store.search((), filter={"likes": {"$eq": deep}}) == []
