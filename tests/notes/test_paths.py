"""Names as paths: injective, reversible, the same on every file system; and which are refused."""

import unicodedata
from collections.abc import Callable
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.notes import paths, view_files
from tacit.notes.paths import (
    check_page_name,
    decode_name,
    encode_name,
    is_shortened,
    note_path,
    parse_note_path,
    split_path,
)
from tacit.records.notes import NoteKind, NoteRef
from tests.corpus import check_corpus
from tests.notes.attacks import NO_TEXT, PATHS, TOO_LONG

DAY = date(2026, 2, 4)
names = (
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)
    | st.text("aAcom1.:~=_/\\ é\u0301ﬁİß东", min_size=1, max_size=4)
    | st.sampled_from(["con", "CON", "nul.x", "com1"])
)


READERS: tuple[Callable[[object], object], ...] = (
    split_path,
    view_files.parse_view_path,
    lambda path: parse_note_path(str(path)),
    check_page_name,
)


def is_taken(read: Callable[[object], object], path: object) -> bool:
    try:
        return read(path) is not None
    except InvalidInput:
        return False


def as_any_file_system_sees_it(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def test_only_the_paths_of_notes_are_taken() -> None:
    """Columns: a path; in the folder, in a view, of a note, as the name of a page."""

    def outcome(path: str) -> list[str]:
        return ["taken" if is_taken(read, path) else "refused" for read in READERS]

    check_corpus(PATHS, 1, outcome)
    for path in TOO_LONG:
        assert set(outcome(path)) == {"refused"}
    for what in NO_TEXT:
        assert not any(is_taken(read, what) for read in READERS)


def test_the_examples_of_the_document() -> None:
    assert encode_name("acct:42") == "acct_42"
    assert encode_name("ext:telegram:1") == "ext_telegram_1"
    assert note_path(NoteRef(kind=NoteKind.LONG_TERM, subject="acct:42")) == ("_longterms/acct_42/_index.md")
    assert note_path(NoteRef(kind=NoteKind.SESSION, day=DAY, session="telegram:12345")) == (
        "2026-02-04/telegram_12345.md"
    )


@given(names, names)
def test_two_names_never_share_one_folder(one: str, other: str) -> None:
    same = as_any_file_system_sees_it(encode_name(one)) == as_any_file_system_sees_it(encode_name(other))
    assert same == (one == other)


@given(names)
def test_a_name_is_found_again_from_its_folder(name: str) -> None:
    folder = encode_name(name)
    assert decode_name(folder) == (None if is_shortened(folder) else name)
    assert paths.find_name_fault(folder) is None
    assert folder.isascii()
    assert len(folder) <= 120


@given(st.text(st.characters(codec="utf-8"), min_size=121, max_size=400))
def test_a_long_name_is_cut_and_told_apart_by_its_hash(name: str) -> None:
    folder = encode_name(name)
    assert is_shortened(folder)
    assert decode_name(folder) is None
    assert len(folder) <= 82
    assert encode_name(name + "x") != folder


@given(
    st.one_of(
        st.builds(NoteRef, kind=st.just(NoteKind.SESSION), day=st.dates(), session=names),
        st.builds(NoteRef, kind=st.just(NoteKind.LONG_TERM), subject=names),
        st.builds(
            NoteRef,
            kind=st.just(NoteKind.PAGE),
            subject=names,
            name=st.sampled_from(["ideas.md", "My plans.txt", "projects/a.md", "_own.md"]),
        ),
    ),
    st.sampled_from(["default", "Team_1", "a.b", "-" + "_" * 62, "con"]),
)
def test_a_path_leads_back_to_its_place(place: NoteRef, space: str) -> None:
    path = note_path(place, space)
    found = parse_note_path(path)
    assert found is not None
    assert found[0] == space
    back = found[1]
    if back.subject is None and back.session is None:
        assert is_shortened(encode_name(place.subject or place.session or ""))
    else:
        assert back == place
    assert "/".join(paths.split_path(path)) == path
