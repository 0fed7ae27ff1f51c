"""Changes to a note: only the lines of what changed are written anew; and the layout of pages."""

from collections import Counter
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bench import notes_cases as cases
from tacit.errors import NoteUnreadable
from tacit.notes.document import Document, parse_note
from tacit.notes.edits import (
    AddItem,
    AddLink,
    DropItem,
    DropLink,
    Edit,
    PlacedItem,
    SetHead,
    SetItem,
    apply_edits,
    extract_layout,
    fill_layout,
    fill_layout_with_ids,
)
from tacit.records.notes import SECTIONS_BY_KIND, NoteItem, NoteKind, NoteLink, Section, TaskProgress

OWN = """\
---
summary: "x"   # short
mood: good
---
<!-- written by hand -->

# Mine

## Key Facts

*   **Project A**: ships
    in May <!-- ask Bob --> (added 2026-02-05) <!-- 0aB00001 -->
*   second <!-- 0aB00002 -->
    - inner   one
    - inner two


## Tasks
- [ ] call <!-- 0aB00003 -->
"""


def index(text: str = OWN) -> Document:
    return parse_note(text.encode(), NoteKind.LONG_TERM)


def revised(document: Document, *edits: Edit) -> str:
    return apply_edits(document, edits).decode()


# Most of what is made up has no item in it, and there is nothing to edit.
MANY_ARE_NOT_NOTES = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


def any_document(data: bytes, kind: NoteKind) -> Document:
    try:
        return parse_note(data, kind)
    except NoteUnreadable:
        assume(False)
        raise


@MANY_ARE_NOT_NOTES
@given(cases.files(), st.sampled_from(NoteKind), st.data())
def test_an_edit_touches_the_lines_of_its_item_only(text: bytes, kind: NoteKind, data: st.DataObject) -> None:
    document = any_document(text, kind)
    assume(document.entries)
    entry = data.draw(st.sampled_from(document.entries))
    new = data.draw(cases.items(kind, entry.item.section))
    part = data.draw(st.sampled_from(["all", "id", "done", "content", "added"]))
    if part == "id":
        new = replace(entry.item, id=new.id, conflict=new.conflict)
    elif part != "all":
        new = replace(entry.item, **{part: getattr(new, part)})
    after = parse_note(apply_edits(document, [SetItem(entry=entry, item=new)]), kind)
    assert after.items == tuple(new if e is entry else e.item for e in document.entries)
    assert after.lines[: entry.start] == document.lines[: entry.start]
    behind = document.lines[entry.end :]
    assert after.lines[len(after.lines) - len(behind) :] == behind


@MANY_ARE_NOT_NOTES
@given(cases.files(), st.sampled_from(NoteKind), st.data())
def test_an_item_goes_with_its_lines(text: bytes, kind: NoteKind, data: st.DataObject) -> None:
    document = any_document(text, kind)
    assume(document.entries)
    entry = data.draw(st.sampled_from(document.entries))
    after = parse_note(apply_edits(document, [DropItem(entry=entry)]), kind)
    assert after.items == tuple(e.item for e in document.entries if e is not entry)
    assert after.lines[: entry.start] == document.lines[: entry.start]
    behind = document.lines[entry.end :]
    assert after.lines[len(after.lines) - len(behind) :] == behind


@MANY_ARE_NOT_NOTES
@given(cases.files(), st.sampled_from(NoteKind), st.data())
def test_what_is_added_leaves_every_line_as_it_was(text: bytes, kind: NoteKind, data: st.DataObject) -> None:
    document = any_document(text, kind)
    sections = [section for section in SECTIONS_BY_KIND[kind] if section is not Section.LINKS]
    section = data.draw(st.sampled_from(sections))
    new = data.draw(st.lists(cases.items(kind, section), min_size=1, max_size=3))
    behind = data.draw(st.sampled_from([None, *document.entries]))
    summary = data.draw(cases.plain)
    edits = [AddItem(item=item, after=behind) for item in new]
    after = parse_note(apply_edits(document, [*edits, SetHead(changes={"summary": summary})]), kind)
    assert Counter(after.items) == Counter(document.items) + Counter(new)
    assert after.head.summary == summary
    later = iter(line.rstrip("\r") for line in after.lines[after.body :])
    for line in document.lines[document.body :]:
        assert not line.strip() or any(line.rstrip("\r") == other for other in later)


def test_indented_text_below_a_heading_is_not_drawn_into_a_new_item() -> None:
    document = parse_note(b"Tasks\n---\n  \\\nTasks\n---", NoteKind.SESSION)
    new = NoteItem(section=Section.TASKS, content="buy lamps", done=False)
    after = parse_note(apply_edits(document, [AddItem(item=new)]), NoteKind.SESSION)
    assert after.items == (new,)
    assert [line for line in after.lines if line in document.lines] == list(document.lines)


def test_a_box_is_ticked_and_nothing_else() -> None:
    document = index()
    entry = document.entries[2]
    after = revised(document, SetItem(entry=entry, item=replace(entry.item, done=True)))
    assert after == OWN.replace("- [ ] call", "- [x] call")


def test_a_remark_and_the_style_of_a_person_survive_another_wording() -> None:
    document = index()
    entry = document.entries[0]
    item = replace(entry.item, content="Project A: ships in June")
    after = revised(document, SetItem(entry=entry, item=item))
    old = OWN[OWN.index("*   **Project A") : OWN.index("*   second")]
    new = "* **Project A**: ships in June (added 2026-02-05) <!-- ask Bob --> <!-- 0aB00001 -->\n"
    assert after == OWN.replace(old, new)


def test_a_new_item_takes_on_the_style_of_its_list() -> None:
    item = NoteItem(section=Section.KEY_FACTS, content="third", added=date(2026, 3, 1), id="0aB00009")
    after = revised(index(), AddItem(item=item))
    new = "    - inner two\n* third (added 2026-03-01) <!-- 0aB00009 -->\n"
    assert after == OWN.replace("    - inner two\n", new)


def test_a_conflict_stands_right_below() -> None:
    document = parse_note(b"## Temporary Facts\n1. a\n2. b\n", NoteKind.SESSION)
    other = NoteItem(section=Section.FACTS, content="c", id="0aB00009", conflict=True)
    after = revised(document, AddItem(item=other, after=document.entries[0]))
    assert after == "## Temporary Facts\n1. a\n2. c <!-- 0aB00009 conflict -->\n2. b\n"


def test_a_section_is_made_in_its_place() -> None:
    goal = NoteItem(section=Section.GOALS, content="learn")
    follow = NoteItem(section=Section.FOLLOW_UPS, content="ask", done=False)
    after = revised(index(), AddItem(item=follow), AddItem(item=goal))
    assert (
        after
        == OWN.replace("## Key Facts", "## Long-Term Goals / Projects\n- learn\n\n## Key Facts")
        + "\n## Follow Ups\n- [ ] ask\n"
    )


def test_an_item_of_another_section_moves() -> None:
    document = index()
    entry = document.entries[2]
    item = NoteItem(section=Section.KEY_FACTS, content="call", id="0aB00003")
    after = index(revised(document, SetItem(entry=entry, item=item)))
    assert [found.content for found in after.items][-1] == "call"
    assert after.items[-1].section is Section.KEY_FACTS


def test_the_head_is_changed_in_place() -> None:
    counts = TaskProgress(done=1, total=2)
    after = revised(index(), SetHead(changes={"summary": "y", "tasks": counts}))
    assert after == OWN.replace('"x"', '"y"').replace("good\n", 'good\ntasks: "1/2"\n')
    assert revised(index("- a\n"), SetHead(changes={"summary": "y"})) == ('---\nsummary: "y"\n---\n\n- a\n')


def test_links_come_once_and_go() -> None:
    document = parse_note(b"## Related Links\n- [a](b.md) and [c](d.md)\n", NoteKind.SESSION)
    same, new = NoteLink(text="x", target="b.md"), NoteLink(text="e", target="f g.md")
    after = revised(document, AddLink(link=same), AddLink(link=new))
    assert after == "## Related Links\n- [a](b.md) and [c](d.md)\n- [e](<f g.md>)\n"
    assert revised(document, DropLink(target="b.md")) == "## Related Links\n- [c](d.md)\n"
    assert "## Related Links\n- [e](<f g.md>)" in revised(parse_note(b"", NoteKind.SESSION), AddLink(link=new))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_ends_of_lines_are_kept(end: str, last: str) -> None:
    text = ("## Key Facts\n- a\n- b" + last).replace("\n", end)
    document = index(text)
    item = NoteItem(section=Section.KEY_FACTS, content="c\nd")
    added = revised(document, AddItem(item=item))
    assert added == ("## Key Facts\n- a\n- b\n- c\n  - d" + last).replace("\n", end)
    dropped = revised(document, DropItem(entry=document.entries[1]))
    assert dropped == "## Key Facts\n- a\n".replace("\n", end)
    changed = revised(document, SetItem(entry=document.entries[1], item=item))
    assert changed == ("## Key Facts\n- a\n- c\n  - d" + last).replace("\n", end)


# The layout of a page: what stands between its items, whatever becomes of them.

PAGE = "# Head\n\nA paragraph.\n\n- one\n- two\n\n```\ncode\n```\n\n1. first\n"


def placed(text: str) -> list[PlacedItem]:
    return list(enumerate(parse_note(text.encode(), NoteKind.PAGE).items))


def layout(text: str) -> str:
    return extract_layout(parse_note(text.encode(), NoteKind.PAGE))


def test_a_layout_holds_nothing_of_the_items() -> None:
    found = layout(PAGE)
    assert not any(word in found for word in ("paragraph", "one", "two", "first"))
    assert "# Head" in found
    assert "code" in found
    assert fill_layout(found, placed(PAGE)) == PAGE


def test_words_that_would_be_read_as_something_else_are_still_these_words() -> None:
    found = layout("Words.\n")
    for content in ("# no heading", "- no bullet", "one\ntwo", "```", "<!-- AAAAAAAA -->", "> q"):
        item = NoteItem(section=Section.PAGE, content=content)
        assert [one.content for _, one in placed(fill_layout(found, [(0, item)]))] == [content]


def test_a_file_of_it_tells_the_id_of_each_line() -> None:
    items = [(n, replace(item, id=f"AAAAAAA{n}")) for n, item in placed(PAGE)]
    document = parse_note(fill_layout_with_ids(layout(PAGE), items), NoteKind.PAGE)
    assert [item.id for item in document.items] == [item.id for _, item in items]
    assert extract_layout(document) == layout(PAGE)


def readable(text: str) -> bool:
    try:
        return bool(parse_note(text.encode(), NoteKind.PAGE))
    except NoteUnreadable:
        return False  # it begins like frontmatter, and is none


PIECES = """\
- a
- b
* c
1. d
text
# h
```

  - x
> q
|a|
---
\t"""
WORDS = st.text(alphabet=st.characters(blacklist_categories=["Cs", "Cc"]), max_size=12)
MARKDOWN = st.lists(st.sampled_from(PIECES.split("\n")) | WORDS, max_size=12).map("\n".join).filter(readable)


@given(MARKDOWN)
def test_whatever_a_page_says_it_says_again(text: str) -> None:
    items = placed(text)
    again = fill_layout(layout(text), items)
    assert [item.content for _, item in placed(again)] == [item.content for _, item in items]


@given(MARKDOWN, MARKDOWN)
def test_no_items_are_lost_in_the_layout_of_another_text(text: str, other: str) -> None:
    items = placed(other)
    again = fill_layout(layout(text), items)
    assert [item.content for _, item in placed(again)] == [item.content for _, item in items]
