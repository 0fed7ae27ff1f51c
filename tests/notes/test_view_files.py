"""Files of a view: which line of an edited text is which line before, and the names of files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput, SecretRefused
from tacit.notes import view_files
from tacit.notes.view_files import align_items, count_changes_at_least
from tacit.records.notes import NoteItem, NoteKind, Section


def items(*contents: str, ids: bool = False) -> list[NoteItem]:
    return [
        NoteItem(section=Section.KEY_FACTS, content=content, id=f"AAAAAAA{n}" if ids else None)
        for n, content in enumerate(contents)
    ]


def ids(old: list[NoteItem], new: list[NoteItem]) -> list[str | None]:
    return [None if one is None else one.content for one in align_items(old, new)]


OLD = items("Sarah likes tea", "The house has a red door", "Ships leave in May", ids=True)


TEA, DOOR, SHIPS = (one.content for one in OLD)
EDITED = {
    "unchanged": ([TEA, DOOR, SHIPS], [TEA, DOOR, SHIPS]),
    "edited": ([TEA, "The house has a green door", SHIPS], [TEA, DOOR, SHIPS]),
    "another thing": ([TEA, "My sister plays chess", SHIPS], [TEA, None, SHIPS]),
    "moved": ([SHIPS, TEA, DOOR], [SHIPS, TEA, DOOR]),
    "in between": (["Zero", TEA, "One and a half", DOOR, "Last"], [None, TEA, None, DOOR, None]),
}


@pytest.mark.parametrize("case", EDITED)
def test_a_line_is_the_one_that_it_was(case: str) -> None:
    new, known = EDITED[case]
    assert ids(OLD, items(*new)) == known


WORDS = st.lists(st.sampled_from(["a b c", "a b d", "x y z", "x y", "tea", "a"]), max_size=8)


@given(WORDS, WORDS)
def test_no_line_is_taken_twice_and_what_stays_stays(before: list[str], after: list[str]) -> None:
    old = items(*before, ids=True)
    found = [one for one in align_items(old, items(*after)) if one is not None]
    assert len({one.id for one in found}) == len(found)
    for word in set(before):
        kept = min(before.count(word), after.count(word))
        pairs = zip(align_items(old, items(*after)), after, strict=True)
        same = sum(one is not None and one.content == word == new for one, new in pairs)
        assert same >= kept


@given(st.lists(st.sampled_from("abcde")), st.lists(st.sampled_from("abcde")))
def test_no_fewer_lines_change_than_their_words_say(one: list[str], two: list[str]) -> None:
    old, new = items(*one, ids=True), items(*two)
    known = align_items(old, new)
    come = sum(b is None or b.content != n.content for b, n in zip(known, new, strict=True))
    gone = len(old) - sum(before is not None for before in known)
    assert count_changes_at_least(old, new) <= come + gone


# Names as a model writes them.


def test_the_index_the_pages_and_the_sessions_are_told_apart() -> None:
    kinds = {
        "_index.md": NoteKind.LONG_TERM,
        "trips.md": NoteKind.PAGE,
        "work/plans.txt": NoteKind.PAGE,
        "2026-03-01.md": NoteKind.PAGE,
        "Reise nach Köln.md": NoteKind.PAGE,
        "旅行.md": NoteKind.PAGE,
        "2026-03-01/telegram_1001.md": NoteKind.SESSION,
        "2026-03-01/telegram_-100~2fwork.md": NoteKind.SESSION,
        "work": None,
        "2026-03-01": None,
    }
    assert {path: view_files.parse_view_path(path).kind for path in kinds} == kinds


def test_a_name_that_holds_a_secret_is_refused() -> None:
    with pytest.raises(SecretRefused):
        view_files.parse_view_path("AKIAIOSFODNN7EXAMPLQ key.md")


def test_a_page_is_kept_beside_the_index_of_its_person() -> None:
    mine = ("ext:telegram:1001", "acct:42")
    assert view_files.parse_view_path("work/plans.md").stored_paths(mine) == [
        "_longterms/acct_42/work/plans.md",
        "_longterms/ext_telegram_1001/work/plans.md",
    ]
    assert view_files.parse_view_path("_index.md").stored_paths(("acct:42",)) == ["_longterms/acct_42/_index.md"]
    assert view_files.view_name("_longterms/acct_42/work/plans.md") == "work/plans.md"
    assert view_files.view_name("_longterms/acct_42/_index.md") == "_index.md"
    assert view_files.view_name("2026-03-01/telegram_1001.md") == "2026-03-01/telegram_1001.md"


@given(st.text(alphabet=st.sampled_from("ab./\\%~_: \x00\n。．／é-2")) | st.text())
def test_whatever_is_not_refused_stays_below_the_root(path: str) -> None:
    try:
        found = view_files.parse_view_path(path)
    except InvalidInput:
        return
    for stored in found.stored_paths(("acct:42",)) if found.kind else [found.path]:
        names = stored.split("/")
        assert not {"", ".", ".."} & set(names)
        assert not any(char in stored for char in "\\%\x00")
    assert found.path == path
