"""A folder of notes and something beside it that none of its paths may reach; and a model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit.llm.endpoint import EndpointModel
from tacit.notes.folder import NotesFolder
from tests.llm.endpoint import Endpoint, serving
from tests.notes.attacks import SECRET
from tests.notes.talking import asking


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


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as running:
        yield running


@pytest.fixture
def model(endpoint: Endpoint) -> Iterator[EndpointModel]:
    with asking(endpoint) as found:
        yield found
