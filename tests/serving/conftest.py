"""A database with today's schema, copied: migrating one for every test takes longer."""

import shutil
from pathlib import Path

import pytest

from tacit.bootstrap import open_memory
from tacit.settings import Settings


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "memory.sqlite"
    open_memory(path, settings=Settings(), embedder=None).close()
    return path


@pytest.fixture
def file(tmp_path: Path, migrated_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the developer's own settings is read."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copy(migrated_file, tmp_path / "memory.sqlite"))
