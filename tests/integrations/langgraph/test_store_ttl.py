"""Items that last for a time: by minutes, from when they were last put or read."""

from typing import Any

import pytest
from langgraph.store.base import GetOp, TTLConfig

from tacit.errors import InvalidInput
from tacit.integrations.langgraph import Store
from tacit.memory import Memory
from tests.contract.rooms import ALICE, SetClock, private

HERE = ("cache",)


def lasting(memory: Memory, clock: SetClock, **options: Any) -> Store:
    return Store(private(memory, ALICE), clock=clock, **options)


def there(store: Store, key: str = "k", *, refresh: bool = False) -> bool:
    return store.get(HERE, key, refresh_ttl=refresh) is not None


def test_an_item_is_gone_when_its_time_is_over(memory: Memory, clock: SetClock) -> None:
    store = lasting(memory, clock)
    assert store.supports_ttl
    store.put(HERE, "k", {"a": 1}, ttl=10)
    store.put(HERE, "lasting", {"a": 1})
    clock.forward(seconds=599)
    assert there(store)
    clock.forward(seconds=1)
    assert not there(store)
    assert [one.key for one in store.search(HERE)] == ["lasting"]
    assert store.search(HERE, query="a")[0].key == "lasting"
    clock.forward(days=9_000)
    assert there(store, "lasting")
    store.put(("other",), "k", {"a": 1}, ttl=1)
    clock.forward(seconds=60)
    assert store.list_namespaces() == [HERE]


def test_reading_begins_its_time_again_and_does_not_change_it(memory: Memory, clock: SetClock) -> None:
    store = lasting(memory, clock)
    store.put(HERE, "k", {"a": 1}, ttl=10)
    first = store.get(HERE, "k")
    clock.forward(seconds=400)
    assert store.get(HERE, "k") == first
    clock.forward(seconds=400)
    assert store.search(HERE) == [first]
    clock.forward(seconds=400)
    assert there(store)
    clock.forward(seconds=400)
    assert not there(store)


def test_reading_all_the_time_is_not_writing_all_the_time(memory: Memory, clock: SetClock) -> None:
    store, view = lasting(memory, clock), private(memory, ALICE)
    store.put(HERE, "k", {"a": 1}, ttl=10)
    (kept,) = view.list("item")
    since = view.delta().revision
    for _ in range(20):
        clock.forward(seconds=10)
        store.get(HERE, "k")
    assert len(view.history(kept.id)) == 1 + 3  # once in a tenth of its time
    assert view.delta(since).changes == ()  # and nobody is told


def test_who_reads_may_leave_its_time_alone(memory: Memory, clock: SetClock) -> None:
    store = lasting(memory, clock)
    store.put(HERE, "k", {"a": 1}, ttl=10)
    clock.forward(seconds=400)
    assert there(store, refresh=False)
    assert store.search(HERE, refresh_ttl=False)
    assert store.batch([GetOp(HERE, "k", refresh_ttl=False)])[0]
    clock.forward(seconds=300)
    assert not there(store)


def test_the_store_says_how_long_items_last_and_whether_reading_counts(memory: Memory, clock: SetClock) -> None:
    store = lasting(memory, clock, ttl={"default_ttl": 5, "refresh_on_read": False})
    store.put(HERE, "k", {"a": 1})
    store.put(HERE, "longer", {"a": 1}, ttl=20)
    store.put(HERE, "for good", {"a": 1}, ttl=None)
    clock.forward(seconds=200)
    assert store.get(HERE, "k")  # does not count
    clock.forward(seconds=200)
    assert sorted(one.key for one in store.search(HERE)) == ["for good", "longer"]
    assert there(store, "longer", refresh=True)  # this one counts
    clock.forward(seconds=1_000)
    assert there(store, "longer")


def test_a_put_begins_the_time_again_or_ends_it(memory: Memory, clock: SetClock) -> None:
    store = lasting(memory, clock)
    store.put(HERE, "k", {"a": 1}, ttl=10)
    clock.forward(seconds=400)
    store.put(HERE, "k", {"a": 1}, ttl=10)  # the same value: only its time begins again
    clock.forward(seconds=400)
    assert (item := store.get(HERE, "k", refresh_ttl=False)) is not None
    assert item.updated_at == item.created_at
    store.put(HERE, "k", {"a": 2})
    clock.forward(days=1_000)
    assert there(store)
    store.put(HERE, "k", {"a": 2}, ttl=1)
    clock.forward(days=1)
    assert not there(store)
    store.put(HERE, "k", {"a": 3})
    clock.forward(days=1_000)
    assert (item := store.get(HERE, "k")) is not None
    assert item.value == {"a": 3}


def test_what_is_no_time_is_refused(memory: Memory, clock: SetClock) -> None:
    store = lasting(memory, clock)
    for ttl in (0, -1, float("nan"), float("inf"), 10**30, True, "5"):
        with pytest.raises(InvalidInput, match="ttl"):
            store.put(HERE, "k", {"a": 1}, ttl=ttl)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="ttl"):
            lasting(memory, clock, ttl=TTLConfig(default_ttl=ttl))  # type: ignore[typeddict-item]
    with pytest.raises(InvalidInput, match="omit_expired"):
        lasting(memory, clock, ttl={"omit_expired": False})
    with pytest.raises(InvalidInput, match="default_ttl"):
        lasting(memory, clock, ttl={"minutes": 5})
    assert store.search(()) == []
