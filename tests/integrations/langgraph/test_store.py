"""What LangGraph documents of a store, on both databases; and on its own store in memory, so that
what is expected here is what LangGraph does."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zlib import crc32

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

import tacit
from tacit import limits
from tacit.errors import InvalidInput
from tacit.integrations.langgraph import Store
from tacit.integrations.langgraph.store import item_key, key_prefix
from tacit.records import validation
from tests.contract.rooms import ALICE, private

_WORDS = 509


def embed(texts: Sequence[str]) -> list[list[float]]:
    """By their words alone, as our stores go here."""
    return [_vector(text) for text in texts]


def _vector(text: str) -> list[float]:
    found = [0.001] * _WORDS
    for word in re.findall(r"\w+", text.lower()):
        found[crc32(word.encode()) % _WORDS] += 1.0
    return found


@pytest.fixture(params=["sqlite-file", "postgres", "langgraph"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    if request.param == "langgraph":
        yield InMemoryStore(index=IndexConfig(dims=_WORDS, embed=embed))
        return
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    if request.param == "postgres":
        url = request.getfixturevalue("migrated_postgres_url")
    with tacit.open(url, embedder=None) as memory:
        yield Store(private(memory, ALICE))


DOCS = ("documents", "user123")
VALUE: dict[str, Any] = {
    "text": "Ünïcode \U0001f334 and “quotes”",
    "number": -3.5,
    "flags": [True, False, None],
    "nested": {"list": [{"a": 1}, []], "empty": {}},
}


def keys(found: list[Any]) -> list[str]:
    return sorted(one.key for one in found)


def nearest(store: BaseStore, query: str) -> str:
    return store.search(("docs",), query=query)[0].key


# Put, get, delete.


def test_an_item_comes_back_as_it_was_put(store: BaseStore) -> None:
    assert store.get(DOCS, "report") is None
    store.delete(DOCS, "report")
    store.put(DOCS, "report", VALUE)
    item = store.get(DOCS, "report")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (DOCS, "report", VALUE)
    assert item.created_at <= item.updated_at
    assert item.created_at.utcoffset() is not None
    assert set(item.dict()) == {"namespace", "key", "value", "created_at", "updated_at"}
    for namespace, key in ((DOCS[:1], "report"), ((*DOCS, "drafts"), "report"), (DOCS, "Report")):
        assert store.get(namespace, key) is None


def test_a_put_replaces_the_whole_value_and_a_deleted_item_is_gone(store: BaseStore) -> None:
    store.put(DOCS, "report", {"title": "one", "draft": True})
    assert (before := store.get(DOCS, "report")) is not None
    for n in (1, 2):
        store.put(DOCS, "report", {"n": n})
        assert (item := store.get(DOCS, "report")) is not None
        assert item.value == {"n": n}
        assert item.updated_at > before.updated_at
        assert keys(store.search(DOCS)) == ["report"]
        store.delete(DOCS, "report")
        assert store.get(DOCS, "report") is None
        assert store.search(DOCS) == []
    store.put(DOCS, "report", {"n": 3})
    assert [one.value for one in store.search(DOCS)] == [{"n": 3}]


ODD = [
    "", "a/b", "a//b", "a%2Fb", "%", "//", " ", " a", "a ", "a", "A", "é", "e\u0301", "\u0301",
    "\u200b", "\n", "*", "🌴", "a b", "\x7f", "-", "$", "'", '"', "日本",
]  # fmt: skip


def test_whatever_items_are_called_each_is_one_of_its_own(store: BaseStore) -> None:
    for n, odd in enumerate(ODD):
        store.put(("odd",), odd, {"n": n})
        if odd:
            store.put(("labels", odd), "k", {"n": n})
    for n, odd in enumerate(ODD):
        assert (item := store.get(("odd",), odd)) is not None, ascii(odd)
        assert (item.key, item.value) == (odd, {"n": n})
        if odd:
            assert (item := store.get(("labels", odd), "k")) is not None, ascii(odd)
            assert (item.namespace, item.value) == (("labels", odd), {"n": n})
            assert [one.value for one in store.search(("labels", odd))] == [{"n": n}]
    assert len(store.search(("odd",), limit=100)) == len(ODD)


# Namespaces that are none.


@pytest.mark.parametrize("namespace", [("a", ""), ("a.b",), (1,), ("a\x00b",)])
def test_nothing_is_kept_or_looked_for_in_what_is_no_namespace(store: BaseStore, namespace: Any) -> None:
    for ask in (
        lambda: store.put(namespace, "k", {"a": 1}),
        lambda: store.get(namespace, "k"),
        lambda: store.search(namespace),
        lambda: store.delete(namespace, "k"),
        lambda: store.list_namespaces(prefix=namespace),
        lambda: store.list_namespaces(suffix=namespace),
    ):
        with pytest.raises(InvalidNamespaceError):
            ask()
    for none in ((), ("",), ("langgraph", "a")):
        with pytest.raises(InvalidNamespaceError):
            store.put(none, "k", {"a": 1})
    assert store.search(()) == []


# Search.


def test_a_search_finds_a_namespace_and_all_within_it(store: BaseStore) -> None:
    for namespace in (("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("b", "a")):
        store.put(namespace, "/".join(namespace), {"n": len(namespace)})
    assert keys(store.search(("a",))) == ["a", "a/b", "a/b/c"]
    assert keys(store.search(("a", "b"))) == ["a/b", "a/b/c"]
    assert keys(store.search(())) == ["a", "a/b", "a/b/c", "ab", "b/a"]
    assert store.search(("c",)) == []
    assert all(one.score is None for one in store.search(()))


PEOPLE = {
    "anna": {"age": 30, "city": "Lisbon", "work": {"role": "dev", "level": 3}, "tags": ["a", "b"]},
    "ben": {"age": 41.5, "city": "Porto", "work": {"role": "dev", "level": 5}, "tags": []},
    "cleo": {"age": 25, "city": "Lisbon", "work": None, "active": True},
}
FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["anna", "ben", "cleo"]),
    ({"city": "Lisbon"}, ["anna", "cleo"]),
    ({"city": "Lisbon", "age": 30}, ["anna"]),
    ({"city": {"$eq": "Porto"}}, ["ben"]),
    ({"city": {"$ne": "Lisbon"}}, ["ben"]),
    ({"age": {"$gt": 30}}, ["ben"]),
    ({"age": {"$gte": 30}}, ["anna", "ben"]),
    ({"age": {"$lt": 30}}, ["cleo"]),
    ({"age": {"$lte": 30}}, ["anna", "cleo"]),
    ({"age": {"$gte": 26, "$lt": 41}}, ["anna"]),
    ({"work": {"role": "dev"}}, ["anna", "ben"]),
    ({"work": {"role": "dev", "level": {"$gt": 3}}}, ["ben"]),
    ({"tags": ["a", "b"]}, ["anna"]),
    ({"tags": []}, ["ben"]),
    ({"active": True}, ["cleo"]),
    ({"active": {"$ne": True}}, ["anna", "ben"]),
    ({"missing": None}, ["anna", "ben", "cleo"]),
    ({"city": "lisbon"}, []),
]


def test_a_filter_finds_what_it_says(store: BaseStore) -> None:
    for name, value in PEOPLE.items():
        store.put(("people",), name, value)
    store.put(("others",), "dora", {"city": "Lisbon"})
    for wanted, found in FILTERS:
        assert keys(store.search(("people",), filter=wanted)) == found, wanted
    assert len(store.search(("people",), filter={"city": "Lisbon"}, limit=1)) == 1
    assert store.search(("people",), filter={"city": "Lisbon"}, offset=2) == []
    with pytest.raises(ValueError, match="operator"):
        store.search(("people",), filter={"age": {"$like": 3}})


def test_a_question_brings_what_is_nearest_first(store: BaseStore) -> None:
    store.put(("memories", "1"), "food", {"text": "I like pizza with mushrooms"})
    store.put(("memories", "1"), "sport", {"text": "She plays tennis on Sundays"})
    store.put(("memories", "2"), "pizza", {"text": "A pizza oven stands in the garden"})
    found = store.search(("memories", "1"), query="pizza mushrooms")
    assert found[0].key == "food"
    assert keys(found) == ["food", "sport"]
    assert found[0].score is not None
    assert all(one.score is None or one.score <= found[0].score for one in found)
    assert keys(store.search(("memories",), query="pizza", limit=2)) == ["food", "pizza"]
    assert store.search(("memories",), query="pizza", filter={"text": "none"}) == []
    later = store.search(("memories", "1"), query="pizza mushrooms", offset=1)
    assert [one.key for one in later] == ["sport"]


def test_what_is_not_indexed_is_found_by_no_question(store: BaseStore) -> None:
    store.put(("docs",), "hidden", {"text": "a zebra in the zoo"}, index=False)
    store.put(("docs",), "shown", {"text": "a lion in the zoo"})
    found = store.search(("docs",), query="zebra")
    assert [one.key for one in found] == ["shown", "hidden"]
    assert found[1].score is None
    assert (item := store.get(("docs",), "hidden")) is not None
    assert item.value == {"text": "a zebra in the zoo"}
    assert keys(store.search(("docs",), filter={"text": "a zebra in the zoo"})) == ["hidden"]


def test_only_the_fields_that_are_named_are_indexed(store: BaseStore) -> None:
    def value(title: str, body: str) -> dict[str, Any]:
        return {"meta": {"title": title}, "parts": [{"body": body}]}

    store.put(("docs",), "one", value("zebra", "lion"), index=["meta.title"])
    store.put(("docs",), "two", value("lion", "zebra"), index=["meta.title"])
    store.put(("docs",), "three", value("lion", "giraffe"), index=["parts[*].body"])
    assert nearest(store, "zebra") == "one"
    assert nearest(store, "giraffe") == "three"
    assert nearest(store, "lion") == "two"


# Namespaces.

TREE = [
    ("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("a", "c", "f"),
    ("b", "a", "f"), ("users", "1", "prefs"), ("users", "2", "prefs"), ("ab", "b"),
]  # fmt: skip
LISTED: list[tuple[dict[str, Any], list[tuple[str, ...]]]] = [
    ({"prefix": ("a", "b"), "max_depth": 3}, [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]),
    ({"prefix": ("a",), "max_depth": 1}, [("a",)]),
    ({"prefix": ("a", "b"), "suffix": ("f",)}, [("a", "b", "f")]),
    ({"suffix": ("f",)}, [("a", "b", "f"), ("a", "c", "f"), ("b", "a", "f")]),
    ({"prefix": ("a", "*", "f")}, [("a", "b", "f"), ("a", "c", "f")]),
    ({"prefix": ("*", "a")}, [("b", "a", "f")]),
    ({"suffix": ("*", "prefs")}, [("users", "1", "prefs"), ("users", "2", "prefs")]),
    ({"suffix": ("users", "*", "prefs")}, [("users", "1", "prefs"), ("users", "2", "prefs")]),
    ({"prefix": ("a", "b", "c", "d", "e")}, []),
    ({"prefix": ("x",)}, []),
    ({"max_depth": 1}, [("a",), ("ab",), ("b",), ("users",)]),
    ({}, sorted(TREE)),
    ({"limit": 2}, sorted(TREE)[:2]),
    ({"limit": 3, "offset": 7}, sorted(TREE)[7:10]),
    ({"max_depth": 1, "limit": 1, "offset": 1}, [("ab",)]),
]


def test_namespaces_are_listed_by_how_they_begin_and_end(store: BaseStore) -> None:
    for namespace in TREE:
        for key in ("one", "two"):
            store.put(namespace, key, {"a": 1})
    for asked, found in LISTED:
        assert store.list_namespaces(**asked) == found, asked


# Batches, and the same without waiting.


def test_a_batch_answers_in_its_order_and_reads_before_it_writes(store: BaseStore) -> None:
    store.put(("batch",), "a", {"n": 1})
    ops: list[Op] = [
        PutOp(("batch",), "a", {"n": 2}),
        GetOp(("batch",), "a"),
        PutOp(("batch",), "b", {"n": 3}),
        SearchOp(("batch",)),
        PutOp(("batch",), "b", {"n": 4}),
        ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("batch",)),)),
        PutOp(("batch",), "c", {"n": 5}),
        PutOp(("batch",), "c", None),
        GetOp(("batch",), "nothing"),
    ]
    results = store.batch(ops)
    assert [type(one).__name__ for one in results] == [
        "NoneType", "Item", "NoneType", "list", "NoneType", "list", "NoneType", "NoneType",
        "NoneType",
    ]  # fmt: skip
    assert results[1].value == {"n": 1}  # type: ignore[union-attr]
    assert results[5] == [("batch",)]
    now = {one.key: one.value["n"] for one in store.search(("batch",))}
    assert now == {"a": 2, "b": 4}
    assert store.batch([]) == []


def test_every_word_can_be_awaited(store: BaseStore) -> None:
    async def story() -> None:
        await asyncio.gather(*(store.aput(("async",), f"k{n}", {"n": n}) for n in range(5)))
        item = await store.aget(("async",), "k3")
        assert item is not None
        assert item.value == {"n": 3}
        assert len(await store.asearch(("async",), filter={"n": {"$gte": 2}})) == 3
        assert len(await store.asearch(("async",), query="k3", limit=2)) == 2
        await store.adelete(("async",), "k3")
        assert await store.aget(("async",), "k3") is None
        assert await store.alist_namespaces(prefix=("async",)) == [("async",)]
        results = await store.abatch([GetOp(("async",), "k1"), PutOp(("async",), "k1", {"n": 9})])
        assert results[0].value == {"n": 1}  # type: ignore[union-attr]
        assert (again := await store.aget(("async",), "k1")) is not None
        assert again.value == {"n": 9}

    asyncio.run(story())


# Keys: every place is one of its own, and a key as memories have them.

NAMES = st.text(st.one_of(st.sampled_from("/% .*é\u0301\u200b\n\u00a0a🌴"), st.characters(codec="utf-8")), max_size=6)
LABELS = NAMES.filter(bool)


@given(st.lists(LABELS, min_size=1, max_size=4).map(tuple), NAMES)
def test_a_place_can_be_read_back_and_is_a_key(namespace: tuple[str, ...], key: str) -> None:
    try:
        where = item_key(namespace, key)
    except InvalidInput:
        reject()  # too long with all that is escaped in it
    assert validation.parse_identifier("key", where, limits.KEY_MAX_CHARS) == where
    labels, _, last = where.partition("//")
    assert tuple(map(unquote, labels.split("/"))) == namespace
    assert unquote(last) == key
    for count in range(len(namespace) + 1):
        assert where.startswith(key_prefix(namespace[:count]))
