"""Paths that a caller may name: none of them leads out of the folder."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.errors import NoteOutside
from tacit.notes.folder import NotesFolder
from tests.notes.attacks import untouched

BAD_PATHS = [
    "",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "..",
    "../outside/secret.md",
    "a/../../outside/secret.md",
    "a/..",
    "./a.md",
    "a/./b.md",
    "a//b.md",
    "a/",
    "a.md\0",
    "\0",
    "a\0/../../outside/secret.md",
    "a\nb.md",
    "a\x7f.md",
    "..\\outside\\secret.md",
    "C:\\secret.md",
    "c:secret.md",
    "a.md:stream",
    "~/../secret.md",
    "a/.../b.md/",
    " a.md",
    "a.md ",
    "a /b.md",
    "a.md.",
    "a./b.md",
    ".",
    ".git/config",
    "a/.git/hooks/post-commit",
    ".tacit-notes",
    ".tacit-lock",
    ".tacit-writing",
    "con",
    "CON.md",
    "a/nul.txt",
    "Aux",
    "com1.md",
    "lpt\u00b9.md",  # a superscript one
    "\uff43\uff4f\uff4e.md",  # con, in full width
    "con .md",
    "a\u200b.md",  # no width at all
    "a\u202eb.md",  # turns the direction
    "a\u2028b.md",
    "a\ufeff.md",
    "a\ud800.md",  # half a pair
    "a*.md",
    "a?.md",
    "a|b.md",
    "<a>.md",
    '"a".md',
    "x" * 256,
    "é" * 128,
    "x/" * 6 + "a.md",
    "/".join(["x" * 200] * 6),
    "x" * 10_000_000,
]


@pytest.mark.parametrize("path", BAD_PATHS, ids=lambda path: ascii(path[:40]))
def test_no_path_leads_out(folder: NotesFolder, outside: Path, path: str) -> None:
    folder.write("a.md", b"here")
    attempts: list[Callable[[], object]] = [
        lambda: folder.read(path),
        lambda: folder.write(path, b"mine"),
        lambda: folder.remove(path),
        lambda: folder.is_folder(path),
    ]
    for attempt in attempts:
        with pytest.raises(NoteOutside) as refused:
            attempt()
        assert "secret" not in str(refused.value)  # nor any word of the path
    assert untouched(outside)
    assert sorted(folder.files()) == ["a.md"]


@pytest.mark.parametrize("path", [None, 7, b"a.md", Path("a.md"), ("a.md",)])
def test_only_text_is_a_path(folder: NotesFolder, path: object) -> None:
    with pytest.raises(NoteOutside):
        folder.read(path)  # type: ignore[arg-type]


_PIECE = st.sampled_from(
    ["..", ".", "", "/", "\\", "\0", "a", "link", "secret.md", "CON", " ", ":"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(path=st.one_of(st.text(max_size=40), st.lists(_PIECE, max_size=8).map("/".join)))
def test_whatever_a_path_says_nothing_outside_is_touched(
    folder: NotesFolder, outside: Path, path: str
) -> None:
    if not (folder.root / "link").is_symlink():
        (folder.root / "link").symlink_to(outside)
    try:
        folder.write(path, b"mine")
        read = folder.read(path)
    except NoteOutside:
        assert folder.read("nothing.md") is None
    else:
        assert read == b"mine"
        assert path in folder.files()
        folder.remove(path)
    assert untouched(outside)
    assert {one.name for one in outside.parent.iterdir()} == {"notes", "outside"}


# Names that some file system takes for one.


@pytest.mark.parametrize(
    ("there", "named"),
    [
        ("notes.md", "Notes.md"),
        ("straße.md", "STRASSE.md"),
        ("caf\u00e9.md", "cafe\u0301.md"),
        ("cafe\u0301.md", "CAF\u00c9.md"),
        ("\ufb01le.md", "file.md"),  # a ligature
        ("\u212aim.md", "kim.md"),  # the sign for kelvin
        ("day/a.md", "Day/b.md"),
    ],
)
def test_a_name_that_elsewhere_is_another_one_is_not_made(
    folder: NotesFolder, there: str, named: str
) -> None:
    folder.write(there, b"first")
    with pytest.raises(NoteOutside):
        folder.write(named, b"second")
    assert list(folder.files()) == [there]
    assert folder.read(named) is None
