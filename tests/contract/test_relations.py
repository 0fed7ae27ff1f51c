"""Relations: what is alike is linked once, when it is written, and comes along when found."""

from typing import Any

import pytest
from sqlalchemy import text

import tacit
from tacit.memory import Memory
from tacit.settings import Settings
from tacit.settings.sections import RecallSettings
from tests.contract.conftest import Open
from tests.contract.embedders import Table, minilm
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, ALOUD, BOB, LENT, group, kept, private
from tests.contract.rows import rows
from tests.contract.threads import errors, together

# tea–coffee .8, tea–cup .6, tea–plate .5, coffee–cup .96
WORDS = {
    "tea": (1, 0, 0), "coffee": (0.8, 0.6, 0), "cup": (0.6, 0.8, 0), "plate": (0.5, 0, 0.75**0.5),
}  # fmt: skip


def table() -> Table:
    return Table(WORDS)


@pytest.fixture
def alike(database_url: str, opened: Open) -> Memory:
    return opened(database_url, embedder=table())


def edges(memory: Memory, *, found: bool | None = None) -> dict[tuple[str, str], float]:
    """Every related pair with its strength; a pair that is there twice fails at once."""
    told = rows(memory, "SELECT from_id, to_id, strength, found FROM relations")
    pairs = [(min(a, b), max(a, b)) for a, b, _, by in told if found is None or bool(by) is found]
    assert len(pairs) == len(set(pairs)), "one pair, more than one edge"
    strengths = [one[2] for one in told if found is None or bool(one[3]) is found]
    return dict(zip(pairs, strengths, strict=True))


def pair(one: str, other: str) -> tuple[str, str]:
    return (min(one, other), max(one, other))


def test_what_is_alike_enough_is_linked_when_it_is_written(alike: Memory) -> None:
    view = private(alike, ALICE)
    tea, coffee, plate = kept(view, "tea"), kept(view, "coffee"), kept(view, "plate")
    assert edges(alike) == {pair(tea, coffee): pytest.approx(0.8, abs=1e-4)}
    cup = kept(view, "cup")
    assert edges(alike)[pair(cup, coffee)] == pytest.approx(0.96, abs=1e-4)
    assert not any(plate in both for both in edges(alike))


def test_how_alike_is_enough_is_a_setting(database_url: str, opened: Open) -> None:
    settings = Settings(recall=RecallSettings(link_min=0.9))
    memory = opened(database_url, embedder=table(), settings=settings)
    view = private(memory, ALICE)
    ids = {word: kept(view, word) for word in WORDS}
    assert set(edges(memory)) == {pair(ids["coffee"], ids["cup"])}


def test_without_a_model_nothing_is_alike(memory: Memory) -> None:
    view = private(memory, ALICE)
    view.remember("tea with milk")
    view.remember("tea with sugar")
    assert edges(memory) == {}


def test_at_most_two_of_the_nearest_are_linked(alike: Memory) -> None:
    view = private(alike, ALICE)
    for number in range(9):
        view.remember(f"tea {number}")
    last = kept(view, "coffee last")
    assert sum(last in both for both in edges(alike)) == 2


def test_only_ones_own_are_linked(alike: Memory) -> None:
    private(alike, BOB).remember("tea of Bob", **LENT)
    group(alike, BOB).remember("tea said by Bob", **ALOUD)
    group(alike, ALICE).remember("tea said by Alice", **ALOUD)
    assert len(edges(alike)) == 1  # Bob's two
    private(alike, ALICE).remember("tea of Alice")
    assert len(edges(alike)) == 2


def test_other_words_have_other_neighbours(alike: Memory) -> None:
    view = private(alike, ALICE)
    tea, coffee = kept(view, "tea"), kept(view, "coffee")
    changed = kept(view, "plate")
    view.update(changed, "tea again")
    assert set(edges(alike)) == {pair(tea, coffee), pair(tea, changed), pair(coffee, changed)}
    view.update(changed, "plate again")
    assert set(edges(alike)) == {pair(tea, coffee)}
    view.update(changed, importance=5)
    assert set(edges(alike)) == {pair(tea, coffee)}


def test_a_value_written_again_keeps_its_edges(alike: Memory) -> None:
    view = private(alike, ALICE)
    tea = kept(view, "tea")
    drink = view.put("preference", "drink", "coffee").id
    view.put("preference", "drink", "coffee")
    assert set(edges(alike)) == {pair(tea, drink)}
    view.put("preference", "drink", "plate")
    assert edges(alike) == {}


def test_what_is_forgotten_is_no_neighbour_and_what_is_erased_has_none(alike: Memory) -> None:
    view = private(alike, ALICE)
    gone = [kept(view, f"tea {number}") for number in range(6)]
    for id in gone:
        view.forget(id)
    stays = kept(view, "coffee stays")
    assert not any(stays in both for both in edges(alike))
    new = kept(view, "coffee new")
    assert pair(stays, new) in edges(alike)
    view.erase(new)
    assert not any(new in both for both in edges(alike))


def test_eight_writers_of_alike_sentences_make_no_edge_twice(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url, embedder=table()) for _ in range(2)]

    def write(writer: int) -> list[str]:
        view = private(memories[writer % 2], ALICE)
        ids = [kept(view, f"tea {writer}.{number}") for number in range(4)]
        for number, id in enumerate(ids):
            view.update(id, f"coffee {writer}.{number}")
        return ids

    written = {id for ids in together(8, write) for id in ids}  # type: ignore[attr-defined]
    told = edges(memories[0])  # which looks for pairs that are there twice
    assert told
    assert {id for both in told for id in both} <= written
    assert all(one != other for one, other in told)


def test_sentences_about_one_thing_are_linked_by_the_model_that_ships(database_url: str, opened: Open) -> None:
    memory = opened(database_url, embedder=minilm())
    view = private(memory, ALICE)
    one = kept(view, "I am learning to play the piano")
    other = kept(view, "I am taking piano lessons this year")
    view.remember("The car needs new tyres")
    assert set(edges(memory)) == {pair(one, other)}


def test_related_ones_come_along_at_most_two_in_all(memory: Memory) -> None:
    view = private(memory, ALICE)
    first, second = kept(view, "apple one"), kept(view, "apple two")
    others = [kept(view, f"pear {number}") for number in range(4)]
    for number, other in enumerate(others):
        view.relate(first if number % 2 else second, other, strength=0.5 + number / 10)
    found = view.recall("apple")
    assert len(found) == 2
    beside = [other for one in found for other in one.related]
    assert len(beside) == 2
    assert {one.id for one in beside} < set(others)
    assert "pear" not in "".join(one.memory.content for one in found)


def test_the_strongest_relation_comes_first(memory: Memory) -> None:
    view = private(memory, ALICE)
    hit = kept(view, "apple")
    for name, strength in (("weak", 0.2), ("strong", 0.9), ("middle", 0.5)):
        view.relate(hit, kept(view, f"pear {name}"), strength=strength)
    (found,) = view.recall("apple")
    assert [one.content for one in found.related] == ["pear strong", "pear middle"]


def test_what_was_found_together_and_is_related_ranks_higher(memory: Memory) -> None:
    view = private(memory, ALICE)
    one, two, other = (kept(view, f"apple {word}") for word in ("one", "two", "three"))
    view.relate(one, two)
    found = view.recall("apple")
    assert found[-1].memory.id == other
    assert [one.signals.related for one in found] == [1.0, 1.0, 0.0]
    assert "related to another memory" in found[0].why
    assert [one.related for one in found] == [(), (), ()]


def test_a_relation_is_stated_both_ways_once(alike: Memory) -> None:
    view = private(alike, ALICE)
    one, other = kept(view, "tea"), kept(view, "coffee")
    view.relate(one, other)
    view.relate(other, one)
    view.relate(one, other, strength=0.4)
    assert edges(alike) == {pair(one, other): pytest.approx(0.4)}


def test_what_was_stated_outlives_other_words(alike: Memory) -> None:
    view = private(alike, ALICE)
    one, other = kept(view, "tea"), kept(view, "plate")
    view.relate(one, other, "served_on", strength=0.7)
    view.update(one, "cup")
    assert edges(alike, found=False) == {pair(one, other): pytest.approx(0.7)}


def test_bad_relations_are_refused(memory: Memory) -> None:
    view = private(memory, ALICE)
    one, other = kept(view, "one"), kept(view, "other")
    theirs = kept(private(memory, BOB), "theirs")
    refuses(view.relate, "other", one, one)
    bad: Any
    for bad in ("", 5, "a\nb", "x" * 65):
        refuses(view.relate, "relation", one, other, bad)
    for bad in (-0.1, 1.1, True, "1"):
        refuses(view.relate, "strength", one, other, strength=bad)
    for missing in (theirs, "AAAAAAAA", "", "x" * 100):
        with pytest.raises(tacit.NotFound):
            view.relate(one, missing)
        with pytest.raises(tacit.NotFound):
            view.relate(missing, one)
    assert edges(memory) == {}


def test_what_is_hidden_in_a_group_does_not_come_along(memory: Memory) -> None:
    own = private(memory, ALICE)
    hit, secret = kept(own, "apple lent", **LENT), kept(own, "canary")
    shown = kept(own, "pear lent", **LENT)
    own.relate(hit, secret)
    own.relate(hit, shown)
    (found,) = group(memory, BOB).recall("apple")
    assert [one.content for one in found.related] == ["pear lent"]
    assert "canary" not in group(memory, BOB).fresh("apple").text
    own.set_visibility(shown, "private_only")
    (found,) = group(memory, BOB).recall("apple")
    assert found.related == ()
    assert found.signals.related == 0


def test_in_a_group_only_what_was_stated_counts(alike: Memory) -> None:
    """Which neighbours were found depends on what is hidden there."""
    own = private(alike, ALICE)
    tea, plate = kept(own, "tea", **LENT), kept(own, "plate saucer", **LENT)
    kept(own, "coffee", **LENT)
    hits = own.recall("tea", threshold=1.0)
    assert [[other.content for other in one.related] for one in hits] == [["coffee"]]
    here = group(alike, BOB)
    assert [one.related for one in here.recall("tea", threshold=1.0)] == [()]
    assert all(one.signals.related == 0 for one in here.recall("tea coffee"))
    own.relate(tea, plate)
    hits = here.recall("tea", threshold=1.0)
    assert [[other.content for other in one.related] for one in hits] == [["plate saucer"]]


def test_those_who_reword_alike_sentences_do_not_lock_each_other_out(migrated_postgres_url: str, opened: Open) -> None:
    """A deadlock costs a second each, and the database counts them."""
    counted = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    memory = opened(migrated_postgres_url, embedder=table())
    before = rows(memory, counted)

    def write(writer: int) -> None:
        view = private(memory, ALICE)
        for id in [kept(view, f"tea {writer}.{number}") for number in range(4)]:
            view.update(id, f"coffee instead of {id}")

    assert errors(together(8, write)) == []
    memory._storage.database.write(lambda c: c.execute(text("SELECT pg_stat_force_next_flush()")))
    assert rows(memory, counted) == before


def test_what_another_process_wrote_meanwhile_is_linked_too(shared_url: str, opened: Open) -> None:
    here, there = opened(shared_url, embedder=table()), opened(shared_url, embedder=table())
    first = kept(private(here, ALICE), "tea one")
    second = kept(private(there, ALICE), "tea two")
    third = kept(private(here, ALICE), "tea three")
    fourth = kept(private(there, ALICE), "tea four")
    found = edges(here)
    assert {pair(first, third), pair(second, third)} <= set(found)
    assert sum(fourth in both for both in found) == 2


def test_among_hundreds_the_alike_are_found(alike: Memory) -> None:
    view = private(alike, ALICE)
    tea = kept(view, "tea")
    for number in range(150):
        view.remember(f"plate {number}")
    coffee = kept(view, "coffee")
    assert {both for both in edges(alike) if coffee in both} == {pair(tea, coffee)}


def test_what_was_just_written_comes_to_mind_with_its_words_and_edges(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url, embedder=table())
    view = private(memory, ALICE)
    view.remember("tea with milk")
    view.recall("milk")
    view.remember("coffee with sugar")
    (found, *_) = view.recall("sugar", top_k=1)
    assert found.memory.content == "coffee with sugar"
    assert [other.content for other in found.related] == ["tea with milk"]
    again = opened(shared_url, embedder=table())  # reads it all from the store
    (other, *_) = private(again, ALICE).recall("sugar", top_k=1)
    assert (other.score, other.why, other.signals) == (found.score, found.why, found.signals)
