"""Changing the model: recall goes on by words, never mixes two models, and meaning comes back."""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest
from sqlalchemy import Connection

import tacit
from tacit.memory import Memory
from tacit.records.results import EmbeddingStatus
from tacit.retrieval.indexer import VectorIndexer
from tests.contract.conftest import Open
from tests.contract.embedders import Table, Vector
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private
from tests.contract.rows import rows

T = TypeVar("T")
FRUIT = {"apple": (1, 0), "pear": (1, 0), "car": (0, 1), "bus": (0, 1)}
# The same words, and other likenesses: whoever mixed the two would find cars for apples.
TWISTED = {"apple": (0, 1, 0), "pear": (0, 1, 0), "car": (1, 0, 0), "bus": (1, 0, 0)}


def first() -> Table:
    return Table(FRUIT, name="first", dimension=4)


def second(**options: bool) -> Table:
    return Table(TWISTED, name="second", dimension=6, **options)


def means(memory: Memory, query: str) -> list[str]:
    found = private(memory, ALICE).recall(query)
    return [one.memory.content for one in found if one.signals.meaning > 0.5]


def finished(memory: Memory) -> EmbeddingStatus:
    """Waits for the background; what is not done after so many looks never will be."""
    pause = threading.Event()
    for _ in range(5_000):
        if memory.admin.embedding().complete:
            return memory.admin.embedding()
        pause.wait(0.02)
    pytest.fail(f"the background did not finish: {memory.admin.embedding()}")


def models(memory: Memory) -> dict[str, int]:
    found = rows(memory, "SELECT model, count(*) FROM vectors GROUP BY model")
    return {str(name): int(count) for name, count in found}


def test_another_model_takes_over_without_a_break(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url, embedder=first())
    view = private(memory, ALICE)
    view.remember("apple pie")
    view.remember("car keys")
    assert means(memory, "pear") == ["apple pie"]
    memory.close()

    other = second()
    other.gate.clear()  # the background has not come to it yet
    memory = opened(shared_url, embedder=other)
    view = private(memory, ALICE)
    assert memory.admin.embedding().done == 0
    assert memory.admin.embedding().total == 2
    assert not memory.admin.embedding().complete
    assert [one.memory.content for one in view.recall("apple")] == ["apple pie"]
    assert view.recall("pear") == []  # by words alone, and by no other model's vectors
    other.gate.set()
    done = finished(memory)
    assert (done.model, done.dimension, done.done, done.total) == ("second", 6, 2, 2)
    assert means(memory, "pear") == ["apple pie"]
    assert means(memory, "bus") == ["car keys"]
    assert (models(memory)["second"], memory.admin.embedding().dimension) == (2, 6)


def test_making_vectors_tells_how_far_it_has_come(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url)
    view = private(memory, ALICE)
    for number in range(150):
        view.remember(f"apple {number}")
    memory.close()
    embedder = first()
    embedder.down = True
    memory = opened(shared_url, embedder=embedder)
    with pytest.raises(tacit.EmbeddingFailed):
        memory.admin.reembed()
    embedder.down = False
    told: list[int] = []
    made = memory.admin.reembed(told.append)
    # The background may come first with some of them, or all: what we made, we were told of.
    assert told == sorted(set(told))
    assert made == max(told, default=0) <= 150
    assert memory.admin.embedding().complete
    assert memory.admin.reembed() == 0


def test_the_background_makes_what_is_missing(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url)
    private(memory, ALICE).remember("apple pie")
    private(memory.space("other"), BOB).remember("apple pie of another space")
    assert memory.admin.embedding() == EmbeddingStatus(model=None, dimension=0, done=0, total=0, running=False)
    memory.close()
    memory = opened(shared_url, embedder=first())
    assert finished(memory).done == 1
    assert finished(memory.space("other")).done == 1
    assert means(memory, "pear") == ["apple pie"]


def test_without_a_model_there_is_nothing_to_make(memory: Memory) -> None:
    with pytest.raises(tacit.InvalidInput, match=r"embedding\.provider"):
        memory.admin.reembed()


def test_a_model_that_comes_back_makes_what_it_missed(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url, embedder=first())
    id = kept(private(memory, ALICE), "apple pie")
    memory.admin.reembed()
    memory.close()
    memory = opened(shared_url, embedder=second())
    private(memory, ALICE).update(id, "apple cake")
    private(memory, ALICE).remember("car keys")
    memory.admin.reembed()
    memory.close()
    memory = opened(shared_url, embedder=first())
    memory.admin.reembed()
    assert (memory.admin.embedding().done, memory.admin.embedding().total) == (2, 2)
    assert means(memory, "pear") == ["apple cake"]


def test_changes_while_vectors_are_made_are_not_lost(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url)
    view = private(memory, ALICE)
    ids = [kept(view, f"apple {number}") for number in range(3)]
    memory.close()
    embedder = first()
    embedder.gate.clear()
    memory = opened(shared_url, embedder=embedder)
    view = private(memory, ALICE)
    view.update(ids[0], "car keys")
    view.erase(ids[1])
    view.remember("pear tree")
    embedder.gate.set()
    assert finished(memory).total == 3
    assert sorted(means(memory, "apple")) == ["apple 2", "pear tree"]
    assert means(memory, "bus") == ["car keys"]


def test_another_process_hears_by_meaning_as_soon_as_the_vectors_are_there(shared_url: str, opened: Open) -> None:
    private(opened(shared_url), ALICE).remember("apple pie")
    embedder = first()
    embedder.gate.clear()
    warm = opened(shared_url, embedder=embedder)
    assert means(warm, "pear") == []
    opened(shared_url, embedder=first()).admin.reembed()
    assert means(warm, "pear") == ["apple pie"]
    embedder.gate.set()


@pytest.mark.parametrize("inline", [True, False])
def test_a_model_that_fails_fails_no_write_and_no_recall_and_makes_up_for_it(
    database_url: str, opened: Open, inline: bool
) -> None:
    embedder = Table(FRUIT, inline=inline)
    memory = opened(database_url, embedder=embedder)
    view = private(memory, ALICE)
    embedder.down = True
    id = kept(view, "apple pie")
    view.update(id, "apple cake")
    view.put("goal", "fruit", "apple juice")
    assert {one.memory.content for one in view.recall("apple")} == {"apple cake", "apple juice"}
    assert view.recall("pear") == []
    assert view.query("apple")
    assert "apple cake" in view.fresh("apple").text
    assert not memory.admin.embedding().complete
    with pytest.raises(tacit.EmbeddingFailed):
        memory.admin.reembed()
    embedder.down = False
    view.remember("car keys")  # by the next write, without being asked for
    assert finished(memory).done == 3
    assert sorted(means(memory, "pear")) == ["apple cake", "apple juice"]


def test_who_is_writing_while_the_rest_is_looked_through_is_not_overlooked(
    database_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(VectorIndexer, "wake", lambda _: None)  # nobody makes them but this test
    memory = opened(database_url, embedder=Table(FRUIT, inline=False))
    view = private(memory, ALICE)
    view.remember("apple pie")
    database = memory._storage.database
    write, wrote, looked_through = database.write, threading.Event(), threading.Event()

    def held_open(work: Callable[[Connection], T]) -> T:
        def slow(connection: Connection) -> T:
            done = work(connection)
            if threading.current_thread() is writer:
                wrote.set()
                looked_through.wait(1)  # in vain, where the other one waits for this one
            return done

        return write(slow)

    monkeypatch.setattr(database, "write", held_open)
    writer = threading.Thread(target=view.remember, args=("car keys",))
    writer.start()
    assert wrote.wait(60)
    memory.admin.reembed()
    looked_through.set()
    writer.join()
    memory.admin.reembed()
    assert memory.admin.embedding().complete


def test_a_slow_model_is_not_waited_for(database_url: str, opened: Open) -> None:
    embedder = Table(FRUIT, inline=False)
    embedder.gate.clear()
    memory = opened(database_url, embedder=embedder)
    view = private(memory, ALICE)
    id = kept(view, "apple pie")
    assert "apple pie" not in embedder.asked
    assert [one.memory.id for one in view.recall("apple")] == [id]
    embedder.gate.set()
    finished(memory)
    assert means(memory, "pear") == ["apple pie"]
    view.update(id, "car keys")
    finished(memory)
    assert means(memory, "bus") == ["car keys"]
    assert means(memory, "pear") == []


WRITES: dict[str, Callable[[Memory], object]] = {
    "remember": lambda m: private(m, ALICE).remember("apple new"),
    "put": lambda m: private(m, ALICE).put("goal", "k", "apple new"),
    "import": lambda m: private(m, ALICE).imports.add_lines(['{"content": "apple new"}']),
    "in a group": lambda m: group(m, ALICE).remember("apple new"),
    "an operator's": lambda m: m.operator("x").update(private(m, ALICE).list().items[0].id, "apple new"),
}


@pytest.mark.parametrize("inline", [True, False])
def test_whatever_is_written_gets_its_vector(database_url: str, opened: Open, clock: SetClock, inline: bool) -> None:
    memory = opened(database_url, embedder=Table(FRUIT, inline=inline))
    for number, (way, write) in enumerate(WRITES.items()):
        space = memory.space(f"way-{number}")
        private(space, ALICE).remember("car keys")
        clock.forward(seconds=1)
        finished(space)
        write(space)
        finished(space)
        assert means(space, "pear") == ["apple new"], way


def test_a_forgotten_memory_comes_back_with_its_meaning_and_an_erased_one_leaves_no_vector(
    database_url: str, opened: Open
) -> None:
    memory = opened(database_url, embedder=first())
    view = private(memory, ALICE)
    id = kept(view, "apple pie")
    view.forget(id)
    assert means(memory, "pear") == []
    view.restore(id)
    assert means(memory, "pear") == ["apple pie"]
    view.erase(id)
    view.update(kept(view, "car keys"), "apple cake")
    assert models(memory) == {"first": 1}
    assert memory.admin.embedding().total == 1


class Interrupted(Table):
    """While it is at work for the first time, something happens."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__(FRUIT, name="first", dimension=4)
        self._meanwhile: Callable[[], object] | None = meanwhile

    def embed(self, texts: Sequence[str]) -> Vector:
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return super().embed(texts)


def test_what_is_written_without_a_vector_meanwhile_gets_one_too(shared_url: str, opened: Open) -> None:
    plain = opened(shared_url)  # as a process that has no model
    view = private(plain, ALICE)
    view.remember("apple pie")

    def write() -> None:
        for number in range(12):  # wherever their ids fall, before or after where the walk is
            view.remember(f"car {number}")

    memory = opened(shared_url, embedder=Interrupted(write))
    memory.admin.reembed()  # or the background, whichever is first
    assert models(memory) == {"first": 13}
    assert rows(memory, "SELECT count(*) FROM embedded_spaces WHERE done_at > 0") == [(1,)]
    view.remember("bus ticket")
    assert rows(memory, "SELECT count(*) FROM embedded_spaces") == [(0,)]
    memory.admin.reembed()
    assert models(memory) == {"first": 14}
