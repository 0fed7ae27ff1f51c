"""Limits are hard, and fair between categories."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tacit.prompts.block import WrittenLine, choose_lines, line_order
from tacit.prompts.fence import MemoryLine

START = datetime(2026, 1, 1, tzinfo=UTC)

lines = st.builds(
    MemoryLine,
    id=st.text("abcdef0123456789", min_size=8, max_size=8),
    category=st.sampled_from("abcde"),
    text=st.integers(0, 60).map(lambda n: "x" * n),
    created_at=st.integers(0, 50).map(lambda n: START + timedelta(days=n)),
    pinned=st.booleans(),
    importance=st.integers(1, 5),
)
memories = st.lists(lines, max_size=30, unique_by=lambda line: line.id)
limits = st.tuples(st.integers(0, 25), st.integers(0, 900))
HEADING_CHARS = 4


def chosen(given_lines: list[MemoryLine], items_max: int, chars_max: int) -> list[WrittenLine]:
    return choose_lines(
        given_lines,
        write=lambda line: line.text,
        opening_chars=lambda _: HEADING_CHARS,
        items_max=items_max,
        chars_max=chars_max,
    )


def cost(shown: list[WrittenLine]) -> int:
    return sum(item.chars for item in shown) + HEADING_CHARS * len({item.line.category for item in shown})


def ids(shown: list[WrittenLine], category: str | None = None) -> set[str]:
    return {item.line.id for item in shown if category in (None, item.line.category)}


@given(memories, limits)
def test_neither_limit_is_ever_exceeded(memories: list[MemoryLine], limit: tuple[int, int]) -> None:
    shown = chosen(memories, *limit)
    assert len(shown) <= limit[0]
    assert cost(shown) <= limit[1]
    assert len(ids(shown)) == len(shown)


@given(memories)
def test_everything_is_shown_when_everything_just_fits(memories: list[MemoryLine]) -> None:
    all_of_it = chosen(memories, 100, 100_000)
    assert ids(all_of_it) == {line.id for line in memories}
    assert chosen(memories, len(memories), cost(all_of_it)) == all_of_it


@given(memories.flatmap(lambda held: st.tuples(st.just(held), st.permutations(held))), limits)
def test_the_order_of_what_is_handed_in_does_not_matter(
    both: tuple[list[MemoryLine], list[MemoryLine]], limit: tuple[int, int]
) -> None:
    shown = chosen(both[0], *limit)
    assert chosen(both[1], *limit) == shown
    assert [item.line for item in shown] == sorted((item.line for item in shown), key=line_order)


@given(memories, limits)
def test_a_category_within_its_share_is_shown_whole(memories: list[MemoryLine], limit: tuple[int, int]) -> None:
    items_max, chars_max = limit
    shown = chosen(memories, items_max, chars_max)
    names = {line.category for line in memories}
    for name in names:
        own = [line for line in memories if line.category == name]
        chars = cost(chosen(own, 100, 100_000))
        if len(own) <= items_max // len(names) and chars <= chars_max // len(names):
            assert ids(shown, name) == {line.id for line in own}


@given(memories, st.lists(lines, max_size=30), limits)
def test_more_of_one_category_never_takes_another_below_its_share(
    memories: list[MemoryLine], more: list[MemoryLine], limit: tuple[int, int]
) -> None:
    names = sorted({line.category for line in memories})
    if not names:
        return
    extra = [replace(line, category=names[0], id=f"{n:08}z", pinned=True) for n, line in enumerate(more)]
    shown = chosen(memories + extra, *limit)
    for name in names[1:]:
        own = [line for line in memories if line.category == name]
        share = chosen(own, limit[0] // len(names), limit[1] // len(names))
        assert ids(shown, name) >= ids(share)


@given(memories, st.integers(1, 25))
def test_where_characters_abound_items_are_shared_to_within_one(memories: list[MemoryLine], items_max: int) -> None:
    shown = Counter(item.line.category for item in chosen(memories, items_max, 1_000_000))
    held = Counter(line.category for line in memories)
    starved = [shown[name] for name in held if shown[name] < held[name]]
    if starved:
        assert sum(shown.values()) == items_max
        assert max(shown.values()) - min(starved) <= 1


def line(id: str, day: int, *, pinned: bool = False, importance: int = 3) -> MemoryLine:
    at = START + timedelta(days=day)
    return MemoryLine(id=id, category="a", text=id, created_at=at, pinned=pinned, importance=importance)


def test_pinned_then_important_then_newest_are_kept_and_shown_by_age() -> None:
    held = [
        line("old", 1),
        line("new", 9),
        line("vital", 2, importance=5),
        line("pinned", 3, pinned=True, importance=1),
    ]
    assert [item.text for item in chosen(held, 1, 100)] == ["pinned"]
    assert [item.text for item in chosen(held, 2, 100)] == ["vital", "pinned"]
    assert [item.text for item in chosen(held, 3, 100)] == ["vital", "pinned", "new"]
