"""The fresh part: a header of at most three bullets, then what came to mind, within a budget."""

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tacit import limits
from tacit.prompts.fence import FENCE_CLOSE, FENCE_OPEN, MemoryLine
from tacit.prompts.fresh_context import render_changes, render_fresh_context, render_recalled, select_changes
from tacit.records.results import Change
from tacit.records.token_counts import token_upper_bound
from tests.prompts.strategies import ids, lines, memories, texts

NOW = datetime(2026, 2, 5, tzinfo=UTC)
EVENTS = ("created", "updated", "merged", "deleted", "soft_deleted", "restored", "superseded")


def change(revision: int, event: str, id: str, content: str | None = "told") -> Change:
    category = None if content is None else "fact"
    return Change(revision=revision, event=event, memory_id=id, category=category, content=content, at=NOW)


def line(id: str, category: str, text: str, *, importance: int = 3, hearsay: bool = False) -> MemoryLine:
    return MemoryLine(id=id, category=category, text=text, created_at=NOW, importance=importance, hearsay=hearsay)


changes = st.lists(
    st.builds(change, st.integers(1, 40), st.sampled_from((*EVENTS, "expired")) | texts, ids, st.none() | texts),
    max_size=8,
)
ANA = line("aaaaaaaa", "personal", "Preferred name is Ana", importance=2)
SHIP = line("bbbbbbbb", "goals", "Ship v1 by Sep")
MILK = line("cccccccc", "health", "Combined 2 notes about lactose intolerance")
KNOWN = {each.id: each for each in (ANA, SHIP, MILK)}
CHANGED = [change(7, "merged", "cccccccc"), change(8, "updated", "bbbbbbbb"), change(9, "created", "aaaaaaaa")]
HEADER = [
    "Memory updates since rev 6:",
    "- +created: [Personal] Preferred name is Ana (imp=2)",
    "- \u2191updated: [Goals] Ship v1 by Sep",
    "- \u2194merged: Combined 2 notes about lactose intolerance",
]


def test_the_header_has_its_agreed_form() -> None:
    assert render_changes(CHANGED, 6, KNOWN) == HEADER


def test_what_is_gone_is_told_without_its_content() -> None:
    gone = [
        change(1, "deleted", "aaaaaaaa", None),
        change(2, "superseded", "bbbbbbbb", None),
        change(3, "expired", "cccccccc", None),
    ]
    assert render_changes(gone, 0, KNOWN) == [
        "Memory updates since rev 0:",
        "- \u2193expired: memory cccccccc",
        "- \u2192superseded: memory bbbbbbbb",
        "- \u2212deleted: memory aaaaaaaa",
    ]


def test_a_change_whose_memory_is_not_at_hand_is_told_without_its_content() -> None:
    assert render_changes([change(1, "created", "aaaaaaaa", "secret")], 0, {})[1:] == ["- +created: memory aaaaaaaa"]


def test_hearsay_is_hedged_in_header_and_bullets() -> None:
    heard = line("aaaaaaaa", "fact", "Bob is leaving", hearsay=True)
    told = render_changes([change(1, "updated", "aaaaaaaa")], 0, {"aaaaaaaa": heard})
    assert told[1] == "- \u2191updated: [Fact] Unverified: Bob is leaving"
    assert render_recalled([heard]) == ["[fact] Unverified: Bob is leaving"]


def test_the_newest_word_on_each_memory_is_told() -> None:
    told = select_changes(
        [
            change(1, "created", "aaaaaaaa"),
            change(5, "updated", "aaaaaaaa"),
            change(2, "created", "bbbbbbbb"),
            change(3, "created", "cccccccc"),
            change(4, "created", "dddddddd"),
        ]
    )
    assert [(c.memory_id, c.revision) for c in told] == [("aaaaaaaa", 5), ("dddddddd", 4), ("cccccccc", 3)]


@given(changes, st.integers(0, 9), st.lists(lines, max_size=4))
def test_a_header_is_one_line_and_at_most_three_bullets(
    changes: list[Change], since: int, held: list[MemoryLine]
) -> None:
    known = {c.memory_id: held[n % len(held)] for n, c in enumerate(changes) if held}
    told = render_changes(changes, since, known)
    assert len(told) <= 1 + limits.FRESH_CHANGES_MAX_COUNT
    assert bool(told) == bool(changes)
    for n, each in enumerate(told):
        assert each.splitlines() == [each]
        assert each == f"Memory updates since rev {since}:" if n == 0 else re.match("- \\S", each)


def test_related_bullets_are_marked_few_and_never_twice() -> None:
    more = [line(f"{n:08}", "goal", f"goal {n}") for n in range(4)]
    assert render_recalled([ANA, SHIP], [SHIP, *more]) == [
        "[personal] Preferred name is Ana",
        "[goals] Ship v1 by Sep",
        "\u21b3 [goal] goal 0",
        "\u21b3 [goal] goal 1",
    ]


def test_the_fresh_part_is_fenced_and_begins_with_the_header() -> None:
    text = render_fresh_context(
        CHANGED, 6, render_recalled([SHIP], [ANA]), lines=KNOWN, budget_tokens=1_000, count=token_upper_bound
    )
    assert text.split("\n") == [
        FENCE_OPEN,
        *HEADER,
        "- [goals] Ship v1 by Sep",
        "- \u21b3 [personal] Preferred name is Ana",
        FENCE_CLOSE,
    ]


@given(changes, memories, st.integers(0, 1_200))
def test_the_budget_is_never_exceeded_and_the_fence_is_always_whole(
    changes: list[Change], held: list[MemoryLine], budget: int
) -> None:
    known = {c.memory_id: held[n % len(held)] for n, c in enumerate(changes) if held}
    text = render_fresh_context(
        changes, 3, render_recalled(held), lines=known, budget_tokens=budget, count=token_upper_bound
    )
    assert token_upper_bound(text) <= budget
    written = text.splitlines()
    assert "\n".join(written) == text
    marks = [each for each in written if "tacit-memory" in each.casefold()]
    assert marks == ([FENCE_OPEN, FENCE_CLOSE] if text else [])
    whole = [*render_changes(changes, 3, known), *(f"- {bullet}" for bullet in render_recalled(held))]
    assert written[1:-1] == whole[: max(len(written) - 2, 0)]


def test_the_least_important_is_dropped_first_and_a_bare_header_never_stands() -> None:
    def within(budget: int) -> list[str]:
        text = render_fresh_context(
            CHANGED, 6, render_recalled([SHIP]), lines=KNOWN, budget_tokens=budget, count=token_upper_bound
        )  # fmt: skip
        return text.splitlines()[1:-1]

    sizes = [len(within(budget)) for budget in range(500)]
    assert sizes == sorted(sizes)
    assert set(sizes) == {0, 2, 3, 4, 5}
