"""Contents as lines of Markdown: whatever a memory says comes back, and plain text stays plain."""

from datetime import date
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bench import notes_cases as cases
from tacit.notes.markdown import (
    escape_line,
    find_comments,
    format_first_line,
    parse_first_line,
    strip_ids,
    unescape_line,
)
from tacit.records.notes import NoteItem, NoteKind, Section
from tests.corpus import check_corpus

DATA = Path(__file__).parent / "data"
LONG_TERM = NoteKind.LONG_TERM


def bullet(content: str, section: Section = Section.KEY_FACTS, **more: object) -> str:
    item = NoteItem(section=section, content=content, **more)  # type: ignore[arg-type]
    return format_first_line(item, dated=True)


def said(line: str, section: Section = Section.KEY_FACTS) -> str:
    return parse_first_line(line, section, dated=True).content


@given(st.sampled_from([Section.KEY_FACTS, Section.TASKS]), st.data(), st.booleans())
def test_what_an_item_says_is_read_back(section: Section, data: st.DataObject, noted: bool) -> None:
    item = data.draw(cases.items(LONG_TERM, section))
    line = format_first_line(item, dated=True, asides="<!-- seen -->" if noted else "", flat=True)
    read = parse_first_line(line, section, dated=True)
    assert "\n" not in line
    assert "\r" not in line
    assert (read.content, read.id, read.done) == (item.content, item.id, item.done)
    assert (read.added, read.conflict) == (item.added, item.conflict)


@given(cases.lines)
def test_a_further_line_is_read_back(line: str) -> None:
    assert unescape_line(escape_line(line)) == line


def test_only_what_would_be_misread_is_escaped() -> None:
    """Columns: a text, and its line."""

    def outcome(text: str) -> list[str]:
        line = escape_line(text, dated=True, titled=True)
        assert said(line) == text
        return [line]

    check_corpus(DATA / "escapes.tsv", 1, outcome)


def test_the_template_of_an_index() -> None:
    line = bullet("Project A: ships in May", id="kX3aBc12", added=date(2026, 2, 5))
    assert line == "**Project A**: ships in May (added 2026-02-05) <!-- kX3aBc12 -->"


def test_a_remark_of_a_person_is_no_part_of_what_is_said() -> None:
    line = "May <!-- ask Bob --> or June (added 2026-02-05) <!-- sure? --> <!-- kX3aBc12 -->"
    read = parse_first_line(line, Section.KEY_FACTS, dated=True)
    assert (read.content, read.id, read.added) == ("May or June", "kX3aBc12", date(2026, 2, 5))
    assert find_comments(line) == "<!-- ask Bob --> <!-- sure? -->"
    assert said("write `<!-- x -->` there") == "write `<!-- x -->` there"
    assert said("half of one <!-- only") == "half of one <!-- only"


def test_a_model_reads_no_ids() -> None:
    text = "# A\r\n- x <!-- kX3aBc12 -->\r\n- y \\<!-- kX3aBc12 -->\n- z <!-- kX3aBc12 conflict -->"
    assert strip_ids(text) == "# A\r\n- x\r\n- y \\<!-- kX3aBc12 -->\n- z"
