"""What stands between the items of a page comes back where it stood, whatever became of them."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import NoteUnreadable
from tacit.notes.document import parse_note
from tacit.notes.edits import PlacedItem, extract_layout, fill_layout, fill_layout_with_ids
from tacit.records.notes import NoteItem, NoteKind, Section

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


def test_what_is_gone_leaves_no_mark_and_what_changed_stands_where_it_stood() -> None:
    items = placed(PAGE)
    changed = [items[0], (2, replace(items[2][1], content="2"))]
    assert (
        fill_layout(layout(PAGE), changed) == "# Head\n\nA paragraph.\n\n- 2\n\n```\ncode\n```\n\n"
    )


def test_what_is_new_comes_after_the_one_before_it() -> None:
    new = NoteItem(section=Section.PAGE, content="new")
    assert "- one\n- two\n" in fill_layout(layout(PAGE), [*placed(PAGE), (9, new)])
    assert fill_layout(layout(PAGE), [*placed(PAGE), (9, new)]).endswith("1. first\n2. new\n")
    assert fill_layout("", [(0, new)]) == "- new\n"


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


MARKDOWN = (
    st.lists(
        st.sampled_from(
            [
                "- a",
                "- b",
                "* c",
                "1. d",
                "text",
                "# h",
                "```",
                "",
                "  - x",
                "> q",
                "|a|",
                "---",
                "\t",
            ]
        )
        | st.text(alphabet=st.characters(blacklist_categories=["Cs", "Cc"]), max_size=12),
        max_size=12,
    )
    .map("\n".join)
    .filter(readable)
)


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
