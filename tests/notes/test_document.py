"""Files of notes: what is in them is found, and what we write is read back as it was."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from bench import notes_cases as cases
from tacit import limits
from tacit.errors import NoteUnreadable
from tacit.notes.document import Document, parse_note, render_note
from tacit.records.notes import Frontmatter, Note, NoteItem, NoteKind, NoteLink, NoteRef, Section
from tests.corpus import check_corpus

DATA = Path(__file__).parent / "data"
NOON = datetime(2026, 2, 4, 12, 34, 56, tzinfo=UTC)
SESSION = """\
---
created_at: 2026-02-04T12:34:56Z
updated_at: 2026-02-04T12:34:56Z
summary: "Discussed memory layout and merge rules."
tasks: "1/2"
follow_ups: "0/0"
session_id: s_20260204_001
source: cli
channel: local
contact_id: tg:@alice
contact_nickname: Alice
---

# 2026-02-04 Short-Term Memory

## Session Summary
1. **Topic**: layout <!-- 0aB00001 -->
   - Users: Alice
   - Result: agreed

## Temporary Facts
1. Example: <!-- 0aB00002 -->
   - 网站 URL: x.org

## Tasks
- [ ] write it <!-- 0aB00003 -->
- [x] read it <!-- 0aB00004 -->

## Follow Ups

## Related Links
- [Previous day](../2026-02-03/telegram_12345.md)
"""


def long_term(text: str) -> Document:
    return parse_note(text.encode(), NoteKind.LONG_TERM)


def said(text: str, kind: NoteKind = NoteKind.LONG_TERM) -> list[str]:
    return [item.content for item in parse_note(text.encode(), kind).items]


def test_the_template_of_a_session() -> None:
    place = NoteRef(kind=NoteKind.SESSION, day=date(2026, 2, 4), session="s_20260204_001")
    note = Note(
        place=place,
        head=Frontmatter(
            created_at=NOON,
            updated_at=NOON,
            summary="Discussed memory layout and merge rules.",
            session_id="s_20260204_001",
            source="cli",
            channel="local",
            contact_id="tg:@alice",
            contact_nickname="Alice",
        ),
        items=(
            NoteItem(section=Section.SUMMARY, content="Topic: layout\nUsers: Alice\nResult: agreed", id="0aB00001"),
            NoteItem(section=Section.FACTS, content="Example:\n网站 URL: x.org", id="0aB00002"),
            NoteItem(section=Section.TASKS, content="write it", id="0aB00003", done=False),
            NoteItem(section=Section.TASKS, content="read it", id="0aB00004", done=True),
        ),
        links=(NoteLink(text="Previous day", target="../2026-02-03/telegram_12345.md"),),
    )
    assert render_note(note).decode() == SESSION
    assert parse_note(SESSION.encode(), NoteKind.SESSION).note(place) == note


@given(cases.notes())
def test_a_note_that_is_written_is_read_back(note: Note) -> None:
    data = render_note(note)
    document = parse_note(data, note.place.kind)
    assert document.note(note.place) == note
    assert data.endswith(b"\n")
    assert render_note(document.note(note.place)) == data


@given(cases.notes())
def test_other_readers_of_markdown_see_the_same_list(note: Note) -> None:
    text = render_note(note).decode().split("---\n", 2)[2]
    opened = [t for t in MarkdownIt().parse(text) if t.type == "list_item_open" and t.level == 1]
    assert len(opened) == len(note.items) + len(note.links)


def test_bullets_are_found_where_markdown_has_them() -> None:
    """Columns: a file, and its items with bars between them."""

    def outcome(text: str) -> list[str]:
        found = said(text)
        assert said(text.replace("\n", "\r\n")) == found
        return [" | ".join(found)]

    check_corpus(DATA / "bullets.tsv", 1, outcome)


def test_sections_go_by_their_headings() -> None:
    text = "- a\n# tasks:\n- b\n### more\n- c\n# Mine\n- [x] d\n\nFollow  ups\n---\n- [X] e\n"
    found = [(item.section, item.content, item.done) for item in long_term(text).items]
    assert found == [
        (Section.KEY_FACTS, "a", None),
        (Section.TASKS, "b", False),
        (Section.TASKS, "c", False),
        (Section.KEY_FACTS, "[x] d", None),
        (Section.FOLLOW_UPS, "e", True),
    ]


def test_a_page_is_read_by_lists_and_paragraphs() -> None:
    text = "# Title\nOne\nwrapped.\n\nTwo <!-- kX3aBc12 -->\n- three\n\nHeading\n===\n|a|b|\n|-|-|\n"
    document = parse_note(text.encode(), NoteKind.PAGE)
    assert [item.content for item in document.items] == ["One wrapped.", "Two", "three"]
    assert document.items[1].id == "kX3aBc12"


def test_links_are_no_items() -> None:
    text = '## Related Links\n- [a](b.md)\n- see [c]( <d e.md> ) or [f](<g h.md> "t")\n- [a2](b.md)\n'
    document = parse_note(text.encode(), NoteKind.SESSION)
    assert document.items == ()
    assert [link.target for link in document.links] == ["b.md", "g h.md"]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        b"---\na: b\n",
        b"- a\n<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> other\n",
        b"---\n- a\n---\n",
        b"---\na: [\n---\n",
        b"- a\n" * (limits.NOTE_ITEMS_MAX_COUNT + 1),
        b"a\n" * (limits.NOTE_LINES_MAX_COUNT + 1),
        b"x" * (limits.NOTE_LINE_MAX_CHARS + 1),
        b"x\n" * (limits.NOTE_FILE_MAX_BYTES // 2) + b"x",
    ],
)
def test_what_cannot_be_a_note_is_refused(data: bytes) -> None:
    with pytest.raises(NoteUnreadable):
        parse_note(data, NoteKind.PAGE)


def test_the_longest_memory_has_room_on_its_line() -> None:
    note = Note(
        place=NoteRef(kind=NoteKind.PAGE, subject="acct:42", name="a.md"),
        head=Frontmatter(created_at=NOON, updated_at=NOON),
        items=(NoteItem(section=Section.PAGE, content="x" + "\r" * (limits.CONTENT_MAX_CHARS - 1)),),
    )
    assert parse_note(render_note(note), NoteKind.PAGE).items == note.items
