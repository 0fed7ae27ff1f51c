"""How mem0's interface is opened: its configuration, the space it keeps to, and its async twin."""

import asyncio
import contextlib
import datetime as dt
import itertools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
import tacit.integrations.mem0
from tacit.errors import InvalidInput
from tacit.integrations.mem0 import AsyncMemory, Memory
from tacit.integrations.mem0.filters import compile_filters
from tacit.integrations.mem0.scope import Mem0Scope, parse_memory_id, parse_scope

ALICE: dict[str, Any] = {"user_id": "alice"}
SECTIONS = {
    "vector_store": {"provider": "qdrant", "config": {"path": "vectors"}},
    "llm": {"provider": "openai", "config": {"api_key": "sk-nothing"}},
    "embedder": {"provider": "openai"},
    "version": "v1.1",
}


def test_what_tacit_decides_itself_is_named_once_without_its_values() -> None:
    with pytest.warns(UserWarning, match="embedder, llm, vector_store") as warned:
        Memory.from_config({**SECTIONS, "tacit": {"url": "sqlite://"}}).close()
    assert len(warned) == 1
    assert "sk-nothing" not in str(warned[0].message)
    with pytest.warns(UserWarning, match="llm") as directly, tacit.open("sqlite://") as store:
        Memory({"llm": {}}, memory=store)
    assert [one.filename for one in (*warned, *directly)] == [__file__, __file__]


def test_a_configuration_of_ours_alone_warns_of_nothing(tmp_path: Path) -> None:
    where = {"tacit": {"url": f"sqlite:///{tmp_path / 'ours.db'}", "space": "app"}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Memory.from_config(where) as memory:
            memory.add("I keep bees", **ALICE, infer=False)
    with tacit.open(tmp_path / "ours.db", embedder=None) as store:
        assert store.spaces() == ["app"]


def test_two_collections_know_nothing_of_each_other() -> None:
    with tacit.open("sqlite://", embedder=None) as store:
        named = {"vector_store": {"config": {"collection_name": "shop"}}}
        with pytest.warns(UserWarning, match="except the name of the collection"):
            shop = Memory(named, memory=store)
        shop.add("I keep bees", **ALICE, infer=False)
        assert Memory(memory=store).get_all(filters=ALICE) == {"results": []}
        assert len(Memory(memory=store, space="mem0-shop").get_all(filters=ALICE)["results"]) == 1


def test_a_configuration_that_cannot_be_used_is_refused_with_a_way_out() -> None:
    for wrong in (
        "text",
        {"tacit": {"uri": "sqlite://"}},
        {"tacit": {"url": 7}},
        {"tacit": "here"},
        {"tacit": {"space": "two words"}},
    ):
        with pytest.raises(InvalidInput, match=r"config|space"):
            Memory(wrong)
    odd = {"vector_store": {"config": {"collection_name": "two words"}}}
    with pytest.warns(UserWarning, match="settings"), pytest.raises(InvalidInput, match="'space'"):
        Memory(odd)


def test_the_async_twin_has_every_word_and_many_go_on_at_once() -> None:
    async def told(store: tacit.Memory) -> list[str]:
        async with AsyncMemory(memory=store) as memory:
            said = (memory.add(f"I keep {n} bees", **ALICE, infer=False) for n in range(8))
            await asyncio.gather(*said)
            with pytest.raises(ValueError, match="at least one"):
                await memory.get_all()
            found = await memory.search("bees", filters=ALICE)
            return sorted(one["memory"] for one in found["results"])

    async def as_before() -> None:
        memory = await AsyncMemory.from_config({"tacit": {"url": "sqlite://"}})
        assert await memory.get_all(user_id="alice") == {"results": []}
        memory.close()

    with tacit.open("sqlite://", embedder=None) as store:
        assert asyncio.run(told(store)) == [f"I keep {n} bees" for n in range(8)]
    asyncio.run(as_before())


_ODD: tuple[Any, ...] = (
    None, True, -1, 1.5, float("nan"), 10**30, b"x", "", " ", "\0", "a\ud800", "x" * 20_000,
    [], [1], {}, {1: 2}, {"role": 1, "content": 2}, [{"role": "\0", "content": "hi"}], object(),
    dt.date.max, {"a": float("nan")}, {"a": object()}, {"a": {}}, {"AND": {}},
    {"expiration_date": "x"},
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_whatever_is_handed_in_is_used_or_refused_in_words(caplog: pytest.LogCaptureFixture) -> None:
    with tacit.open("sqlite://", embedder=None) as store:
        memory = Memory(memory=store)
        calls: list[Callable[[Any], Any]] = [
            lambda odd: memory.add(odd, **ALICE, infer=False),
            lambda odd: memory.add(odd, **ALICE),
            lambda odd: memory.add("hello", user_id=odd, infer=False),
            lambda odd: memory.add("hello", **ALICE, metadata=odd, infer=False),
            lambda odd: memory.add("hello", **ALICE, expiration_date=odd, infer=False),
            lambda odd: memory.search(odd, filters=ALICE),
            lambda odd: memory.search("hello", filters=odd),
            lambda odd: memory.search("hello", filters={**ALICE, "a": odd}),
            lambda odd: memory.search("hello", filters=ALICE, threshold=odd),
            lambda odd: memory.get_all(user_id="alice", limit=odd),
            lambda odd: memory.delete_all(user_id=odd),
            lambda odd: memory.update(odd, "hello"),
            lambda odd: memory.delete(odd),
        ]
        for call, odd in itertools.product(calls, _ODD):
            with contextlib.suppress(ValueError):
                call(odd)
    assert "hello" not in caplog.text


_NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)


@given(name=_NAMES, which=st.sampled_from(["user_id", "agent_id", "run_id"]))
@settings(max_examples=50)
def test_every_name_has_one_key_and_one_id_that_lead_back_to_it(name: str, which: str) -> None:
    try:
        scope = parse_scope({which: name})
    except InvalidInput:
        return
    assert parse_memory_id(scope.id_of("k3Xq81Zb")) == (scope, "k3Xq81Zb")
    other = Mem0Scope(user=f"{scope.user}.") if scope.user else Mem0Scope(user=name)
    assert other.key != scope.key


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["AND", "OR", "NOT", "eq", "ne", "gt", "in", "contains", "a", "a.b"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(
    filters=st.dictionaries(st.sampled_from(["AND", "OR", "NOT", "a", "a.b"]), _VALUES),
    payload=st.dictionaries(st.sampled_from(["a", "b"]), _VALUES),
)
@settings(max_examples=100)
def test_filters_of_any_shape_hold_or_do_not_or_are_refused(filters: dict[str, Any], payload: dict[str, Any]) -> None:
    try:
        test = compile_filters(filters)
    except InvalidInput:
        return
    assert test(payload) in (True, False)


def test_what_is_left_out_of_mem0_is_told_with_what_to_use() -> None:
    for name, instead in (("MemoryClient", "Memory here"), ("MemoryConfig", "Memory.from_config")):
        with pytest.raises(ImportError, match=rf"{name} .*{instead}"):
            getattr(tacit.integrations.mem0, name)
    with pytest.raises(ImportError, match="hosted platform; use AsyncMemory here"):
        from tacit.integrations.mem0 import AsyncMemoryClient  # type: ignore[attr-defined]  # noqa: F401
    assert not hasattr(tacit.integrations.mem0, "Memori")
