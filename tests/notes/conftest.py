"""A folder of notes, and something beside it that none of its paths may reach."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit.notes.folder import NotesFolder
from tests.notes.attacks import SECRET


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[NotesFolder]:
    with NotesFolder(tmp_path / "notes") as opened:
        yield opened


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    found = tmp_path / "outside"
    found.mkdir()
    (found / "secret.md").write_bytes(SECRET)
    return found
