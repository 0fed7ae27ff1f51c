"""Frontmatter: read within bounds, and changed where it stands."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import notes_cases as cases
from tacit.errors import NoteUnreadable
from tacit.notes.frontmatter import UNDATED, HeadValue, build_head, format_value, parse_frontmatter, update_frontmatter
from tests.corpus import read_corpus

DATA = Path(__file__).parent / "data"
NOON = datetime(2026, 2, 4, 12, tzinfo=UTC)
OWN = """\
# mine
created_at: 2026-02-04T12:00:00Z   # when
summary: 'x'
mood:  {now: [good, "very: good"]}
tags:  # of mine
- a
- b

poem: |
  one
    two

# the end
"""


def test_every_scalar_is_text() -> None:
    assert parse_frontmatter("a: yes\nb: 0123\nc: 2026-02-04\nd: ~\ne:\nf: '~'\n") == {
        "a": "yes",
        "b": "0123",
        "c": "2026-02-04",
        "d": None,
        "e": None,
        "f": "~",
    }


TOO_LARGE = (
    "a: " + "[" * 9 + "]" * 9,
    "a: " + "[" * 60_000,
    "x: y\n" * 15_000,
    "a: " + "x" * 70_000,
    "- " * 20_000,
    "? " * 20_000,
    "{a: " * 15_000,
)


def test_what_is_no_plain_mapping_within_bounds_is_refused() -> None:
    for text in (*(case for (case,) in read_corpus(DATA / "no_heads.tsv")), *TOO_LARGE):
        with pytest.raises(NoteUnreadable) as refused:
            parse_frontmatter(text)
        assert text[:5] not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["2026-02-04T12:00:00Z", "2026-02-04T13:00:00+01:00", "2026-02-04 12:00", "'2026-02-04T12:00Z'"]
)
def test_a_time_is_read_as_people_write_it(text: str) -> None:
    assert build_head(parse_frontmatter(f"created_at: {text}\n")).created_at == NOON


@given(st.sampled_from(["summary", "channel"]), cases.plain | st.text())
def test_any_text_is_written_so_that_it_is_read_back(key: str, text: str) -> None:
    line = f"{key}: {format_value(key, text)}"
    assert "\n" not in line
    assert parse_frontmatter(line + "\n") == {key: text}


def test_a_change_touches_its_own_value_only() -> None:
    after = update_frontmatter(OWN, {"created_at": UNDATED, "tags": ("c",), "poem": "short", "new": "x"})
    assert (
        after
        == OWN.replace("2026-02-04T12:00:00Z", "1970-01-01T00:00:00Z")
        .replace("tags:  # of mine\n- a\n- b\n", "tags: [c] # of mine\n")
        .replace("poem: |\n  one\n    two\n", "poem: short\n")
        + "new: x\n"
    )


def test_a_key_leaves_with_its_lines() -> None:
    assert update_frontmatter(OWN, {"poem": None}) == OWN.replace("poem: |\n  one\n    two\n", "")
    assert update_frontmatter(OWN, {"tags": None}) == OWN.replace("tags:  # of mine\n- a\n- b\n", "")
    assert update_frontmatter(OWN, {"nothing": None}) == OWN


@pytest.mark.parametrize("value", ["x", 'a "b"\n: c', None, ("p", "q")])
def test_every_form_of_mapping_can_be_changed(value: HeadValue) -> None:
    for text in ("", *(case for (case,) in read_corpus(DATA / "heads.tsv"))):
        before = parse_frontmatter(text)
        after = parse_frontmatter(update_frontmatter(text, {"a": value, "z": "new"}))
        wanted = {key: old for key, old in before.items() if key != "a"} | {"z": "new"}
        if value is not None:
            wanted["a"] = list(value) if isinstance(value, tuple) else value  # type: ignore[assignment]
        assert after == wanted
