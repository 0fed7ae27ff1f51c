"""The files of a SQLite store are their owner's alone."""

import os
from pathlib import Path

import pytest

import tacit


def test_a_new_database_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        memory = tacit.open(tmp_path / "deep" / "folder" / "tacit.db")
        private = memory.view(tacit.Requester("telegram:1"), tacit.Chat.private("telegram:1"))
        private.remember("Sarah is my wife")
        files = list((tmp_path / "deep" / "folder").iterdir())
        assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
        assert (tmp_path / "deep" / "folder").stat().st_mode & 0o777 == 0o700
        memory.close()
    finally:
        os.umask(before)


def test_a_place_where_no_file_can_be_is_a_kind_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(tacit.StoreUnavailable, match="choose another path"):
        tacit.open(tmp_path / "file" / "tacit.db")
