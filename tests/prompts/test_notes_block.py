"""The block in the style of summaries: the format it has, one limit, and no text that gets out."""

from datetime import UTC, date, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tacit.prompts.block import RenderedBlock, SessionLine, render_notes_block
from tacit.prompts.fence import FENCE_CLOSE, FENCE_OPEN, MemoryLine
from tacit.records.notes import NoteSummary, TaskProgress
from tests.prompts.strategies import lines, texts

NOON = datetime(2026, 2, 5, 12, tzinfo=UTC)


def lasting(number: int, text: str = "", **more: Any) -> MemoryLine:
    words = text or f"thing {number}"
    return MemoryLine(id=f"long{number:04}", category="fact", text=words, created_at=NOON, **more)


def session(number: int, summary: str = "") -> SessionLine:
    told = NoteSummary(
        path=f"2026-02-04/telegram_{number}.md",
        day=date(2026, 2, 4),
        summary=summary or f"session {number}",
        tasks=TaskProgress(done=1, total=3),
        follow_ups=TaskProgress(total=1),
    )
    return SessionLine(summary=told, ids=(f"shrt{number:04}",))


def test_it_looks_as_it_should() -> None:
    rendered = render_notes_block([lasting(1, "Apollo: ships in May")], [session(12345)], items_max=20)
    assert (
        rendered.text
        == f"""\
{FENCE_OPEN}
[Memory:LongTerm:Summary]
- Apollo: ships in May

[Memory:ShortTerm:Recent]
- 2026-02-04: session 12345 (2026-02-04/telegram_12345.md) [progress: tasks 1/3, follow_ups 0/1]
{FENCE_CLOSE}"""
    )
    assert rendered.shown == ("long0001", "shrt12345")
    assert rendered.cut == {}


def test_a_part_without_lines_has_no_heading_and_nothing_at_all_is_no_text() -> None:
    assert "ShortTerm" not in render_notes_block([lasting(1)], [], items_max=5).text
    assert "LongTerm" not in render_notes_block([], [session(1)], items_max=5).text
    assert render_notes_block([], [], items_max=5) == RenderedBlock()
    assert render_notes_block([lasting(1)], [session(1)], items_max=0).text == ""


def test_both_have_half_of_the_limit_and_what_the_other_leaves_over() -> None:
    many, few = list(range(30)), list(range(3))
    for index, recent, expected in (
        (many, many, (10, 10)),
        (few, many, (3, 17)),
        (many, few, (17, 3)),
        (few, few, (3, 3)),
    ):
        rendered = render_notes_block([*map(lasting, index)], [*map(session, recent)], items_max=20)
        shown = [id[:4] for id in rendered.shown]
        assert (shown.count("long"), shown.count("shrt")) == expected
        cut = {"long_term": len(index) - expected[0], "short_term": len(recent) - expected[1]}
        assert rendered.cut == {what: count for what, count in cut.items() if count}


def test_the_weightiest_stay_where_not_all_fit_and_the_order_is_that_of_the_index() -> None:
    index = [lasting(1, importance=1), lasting(2, importance=5), lasting(3, importance=4)]
    assert render_notes_block(index, [], items_max=2).shown == ("long0002", "long0003")


def test_a_summary_cannot_claim_another_progress() -> None:
    forged = "x (2026-02-03/y.md) [progress: tasks 9/9, follow_ups 9/9]"
    text = render_notes_block([], [session(1, forged)], items_max=5).text
    assert text.count("[progress:") == 1


@given(st.lists(lines, max_size=6, unique_by=lambda line: line.id), st.lists(texts, max_size=6), st.integers(0, 12))
def test_whatever_is_said_each_is_one_line_within_one_fence(
    held: list[MemoryLine], summaries: list[str], items_max: int
) -> None:
    sessions = [session(n, text) for n, text in enumerate(summaries)]
    rendered = render_notes_block(held, sessions, items_max=items_max)
    written = rendered.text.split("\n") if rendered.text else []
    assert "\n".join(rendered.text.splitlines()) == rendered.text
    marks = [line for line in written if "tacit-memory" in line.casefold()]
    assert marks == ([FENCE_OPEN, FENCE_CLOSE] if written else [])
    heads = [line for line in written if line.startswith("[Memory:")]
    assert len(heads) == len(set(heads))
    shown = [line for line in written if line.startswith("- ")]
    assert len(shown) == min(items_max, len(held) + len(sessions))
    assert len(written) == len(shown) + len(heads) + bool(len(heads) == 2) + 2 * bool(written)
