"""A short form of bench/notes_fuzz.py, and the inputs that once were, or would be, slow."""

import pytest

from bench.notes_fuzz import CHECKS, Tally, one_round
from tacit import limits
from tacit.errors import NoteUnreadable
from tacit.notes.document import parse_note
from tacit.notes.edits import apply_edits
from tacit.records.notes import NoteKind

LONG = limits.NOTE_LINE_MAX_CHARS - 20
MANY = limits.NOTE_LINES_MAX_COUNT - 20


@pytest.mark.parametrize("name", CHECKS)
def test_odd_input_is_taken_or_refused(name: str) -> None:
    tally = Tally()
    one_round(name, 6, tally, count=60)
    assert tally.cases[name] > tally.refused[name]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        ("- " + "\\" * LONG + "\n") * 7,
        "- " + "` " * (LONG // 2) + "<!--" * 4,
        "- " + "<!--" * (LONG // 4),
        "- " + "a: " * (LONG // 3),
        "- **" + "a" * LONG + "**: x",
        ("- " * (LONG // 2) + "x\n") * 7,
        "## Related Links\n- " + "[x](" * (LONG // 4),
        "## Related Links\n- " + "[" * LONG,
        "a\n" * MANY,
        "- a\n" + "  a\n" * MANY,
        "- a\n" + "\n" * MANY,
        "```\n~~~\n" * (MANY // 2),
        "<a \n" * MANY,
        "".join(" " * depth + "- a\n" for depth in range(1_400)),
        "---\n" + "".join(f"k{n}: b\n" for n in range(6_000)) + "---\n",
        "---\na: '" + "x\n" * 30_000 + "'\n---\n",
    ],
    ids=range(16),
)
def test_no_line_makes_reading_slow(text: str) -> None:
    for kind in NoteKind:
        try:
            assert apply_edits(parse_note(text.encode(), kind), []) == text.encode()
        except NoteUnreadable:
            assert "k0" in text or "'" in text
