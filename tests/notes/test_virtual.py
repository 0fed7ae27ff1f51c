"""Names of files as a model writes them: what they may be, and what is refused unseen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput, NoteOutside, SecretRefused
from tacit.notes import view_files
from tacit.records.notes import NoteKind
from tests.notes.attacks import ATTACKS


@pytest.mark.parametrize("path", ATTACKS, ids=[f"attack {n}" for n in range(len(ATTACKS))])
def test_a_path_that_could_lead_out_is_refused_before_anything_is_looked_up(path: object) -> None:
    with pytest.raises(NoteOutside):
        view_files.parse_view_path(path)


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


@pytest.mark.parametrize("path", ["2026-13-01/a.md", "2026-03-01/A.md", "2026-03-01/a/b.md"])
def test_the_folder_of_a_day_holds_sessions_alone(path: str) -> None:
    with pytest.raises(NoteOutside):
        view_files.parse_view_path(path)


@pytest.mark.parametrize("path", ["work", "2026-03-01", "notes"])
def test_a_folder_is_no_file(path: str) -> None:
    with pytest.raises(NoteOutside, match="folder"):
        view_files.parse_file_path(path)


def test_a_name_that_holds_a_secret_is_refused() -> None:
    with pytest.raises(SecretRefused):
        view_files.parse_view_path("AKIAIOSFODNN7EXAMPLQ key.md")


def test_a_page_is_kept_beside_the_index_of_its_person() -> None:
    mine = ("ext:telegram:1001", "acct:42")
    assert view_files.parse_view_path("work/plans.md").stored_paths(mine) == [
        "_longterms/acct_42/work/plans.md",
        "_longterms/ext_telegram_1001/work/plans.md",
    ]
    assert view_files.parse_view_path("_index.md").stored_paths(("acct:42",)) == [
        "_longterms/acct_42/_index.md"
    ]
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
