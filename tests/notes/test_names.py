"""Names as paths: injective, reversible, and the same on every file system."""

import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.notes import paths
from tacit.notes.paths import (
    check_page_name,
    decode_name,
    encode_name,
    is_shortened,
    note_path,
    parse_note_path,
)
from tacit.records.notes import NoteKind, NoteRef

DAY = date(2026, 2, 4)
ODD = (
    "con",
    "CON",
    "nul.x",
    ".",
    "..",
    "a.",
    ".a",
    "a_b",
    "a:b",
    "a~b",
    "a=b",
    "A",
    "é",
    "e\u0301",
    "ﬁ",
    "İ",
    "ß",
    "a/b",
    "a\\b",
    "a b",
    "com1",
    "东京",
)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60) | st.sampled_from(ODD)


def as_any_file_system_sees_it(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def test_the_examples_of_the_document() -> None:
    assert encode_name("acct:42") == "acct_42"
    assert encode_name("ext:telegram:1") == "ext_telegram_1"
    assert note_path(NoteRef(kind=NoteKind.LONG_TERM, subject="acct:42")) == (
        "_longterms/acct_42/_index.md"
    )
    assert note_path(NoteRef(kind=NoteKind.SESSION, day=DAY, session="telegram:12345")) == (
        "2026-02-04/telegram_12345.md"
    )


@given(names, names)
def test_two_names_never_share_one_folder(one: str, other: str) -> None:
    same = as_any_file_system_sees_it(encode_name(one)) == as_any_file_system_sees_it(
        encode_name(other)
    )
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


@pytest.mark.parametrize(
    "name", ["A", "a b", "~zz", "~c3", "~61", "=A", "a~", "é", "con", ".", "x~~y"]
)
def test_what_encodes_nothing_decodes_to_nothing(name: str) -> None:
    assert decode_name(name) is None


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


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "a.md",
        "_index.md",
        "_longterms/_index.md",
        "_longterms//_index.md",
        "_longterms/A/_index.md",
        "2026-02-30/a.md",
        "2026-2-4/a.md",
        "٢٠٢٦-02-04/a.md",
        "2026-02-04/a.txt",
        "2026-02-04/.md",
        "2026-02-04/a/b.md",
        "2026-02-04/A.md",
        "_spaces/default/2026-02-04/a.md",
        "_spaces/A/2026-02-04/a.md",
        "_spaces/a",
        "_longterms/acct_42/../x.md",
        "_longterms/acct_42/.x.md",
        "_longterms/acct_42/a/b/c.md",
        "_longterms/acct_42/x.pdf",
        "_longterms/acct_42/_INDEX.md",
        "../2026-02-04/a.md",
        "\x00",
        "2026-02-04/a\udc80.md",
    ],
)
def test_a_path_that_is_no_note_has_no_place(path: str) -> None:
    assert parse_note_path(path) is None


@pytest.mark.parametrize(
    "name",
    [
        None,
        3,
        "",
        "a",
        "a.exe",
        "_index.md",
        "_Index.MD".lower(),
        "_INDEX.md",
        "x/_index.md",
        "../a.md",
        "/a.md",
        "a//b.md",
        "a/b/c.md",
        "con.md",
        "a:b.md",
        "e\u0301.md",
        "a\x00.md",
        " a.md",
        ".a.md",
    ],
)
def test_a_page_has_a_name_that_is_safe_everywhere(name: object) -> None:
    with pytest.raises(InvalidInput):
        check_page_name(name)


@pytest.mark.parametrize(
    "place",
    [
        NoteRef(kind=NoteKind.SESSION, session="x"),
        NoteRef(kind=NoteKind.SESSION, day=DAY),
        NoteRef(kind=NoteKind.LONG_TERM),
        NoteRef(kind=NoteKind.PAGE, subject="acct:42"),
    ],
)
def test_a_place_without_a_name_has_no_path(place: NoteRef) -> None:
    with pytest.raises(InvalidInput):
        note_path(place)
