"""Any model in a folder: the real one taken apart and put together again, and tiny ones."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tacit.embeddings import local
from tacit.embeddings.local import FolderEmbedder, LocalEmbedder
from tacit.errors import EmbeddingFailed, InvalidInput
from tests.embeddings import tiny_onnx

TEXTS = ["Sarah is allergic to peanuts", "Le thé vert", "", "tea " * 400, "I love hiking 🏔️"]


def describe(folder: Path, name: str, what: object) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(what))


@pytest.fixture
def real(tmp_path: Path) -> Path:
    folder = tmp_path / "my-model"
    (folder / "onnx").mkdir(parents=True)
    shutil.copy(local._find_packaged_model(), folder / "onnx" / "model.onnx")
    tokenizer = local._build_tokenizer()
    tokenizer.enable_padding(length=128)  # as some exported tokenizers come; it must not matter
    tokenizer.save(str(folder / "tokenizer.json"))
    describe(folder, "sentence_bert_config.json", {"max_seq_length": 256})
    describe(folder, "1_Pooling/config.json", {"pooling_mode_mean_tokens": True})
    return folder


def test_the_default_model_in_a_folder_gives_the_default_vectors(real: Path) -> None:
    embedder = FolderEmbedder(real)
    assert embedder.dimension == 384
    assert embedder.inline
    assert embedder.embed(TEXTS).tobytes() == LocalEmbedder().embed(TEXTS).tobytes()
    assert embedder.embed([]).shape == (0, 384)
    assert embedder.embed_query(TEXTS[0]).tobytes() == embedder.embed(TEXTS[:1])[0].tobytes()
    embedder.close()


def test_prefixes_come_from_the_folder_or_from_the_caller(real: Path) -> None:
    plain = LocalEmbedder()
    given = FolderEmbedder(real, query_prefix="ask: ", passage_prefix="say: ")
    assert given.embed_query("tea").tobytes() == plain.embed(["ask: tea"])[0].tobytes()
    assert given.embed(["tea"]).tobytes() == plain.embed(["say: tea"]).tobytes()
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    describe(real, "config_sentence_transformers.json", prompts)
    described = FolderEmbedder(real)
    assert described.embed_query("tea").tobytes() == plain.embed(["query: tea"])[0].tobytes()
    assert described.embed(["tea"]).tobytes() == plain.embed(["passage: tea"]).tobytes()
    assert described.name != given.name


@pytest.mark.parametrize("config", [{"pooling_mode": "cls"}, {"pooling_mode_cls_token": True}])
def test_the_first_token_can_stand_for_the_text(config: dict[str, object], tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path, tiny_onnx.tokens_only())
    describe(folder, "1_Pooling/config.json", config)
    first = FolderEmbedder(folder).embed(["large huge", "large", "huge"])
    assert first[0].tobytes() == first[1].tobytes() != first[2].tobytes()


def test_a_model_that_pools_itself_is_taken_at_its_word(tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path, tiny_onnx.pooled())
    describe(folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True})
    describe(folder, "modules.json", [{"type": "sentence_transformers.models.Dense"}])
    mean = tiny_onnx.TABLE[[3, 4]].mean(axis=0)
    found = FolderEmbedder(folder).embed_query("large huge")
    assert np.allclose(found, mean / np.linalg.norm(mean), atol=1e-6)


def test_company_does_not_change_a_model_that_is_quantised_as_it_runs(tmp_path: Path) -> None:
    embedder = FolderEmbedder(tiny_onnx.folder(tmp_path, tiny_onnx.quantised_as_it_runs()))
    texts = ["small tiny", "large huge", "tiny tiny", "huge small"]
    alone = [embedder.embed([text])[0].tobytes() for text in texts]
    assert [row.tobytes() for row in embedder.embed(texts)] == alone


def test_several_models_are_not_guessed_between(tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path, tiny_onnx.pooled(), "one.onnx")
    shutil.copy(folder / "one.onnx", folder / "two.onnx")
    with pytest.raises(InvalidInput, match=r"one\.onnx, two\.onnx"):
        FolderEmbedder(folder)
    assert FolderEmbedder(folder, file="two.onnx").dimension == 4
    with pytest.raises(InvalidInput, match="is not a file"):
        FolderEmbedder(folder, file="three.onnx")


def test_the_name_changes_with_whatever_changes_the_vectors(tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path / "tiny-model", tiny_onnx.tokens_only())
    names = [FolderEmbedder(folder).name]
    assert names[0].startswith("tiny-model@")
    assert FolderEmbedder(folder, query_prefix="query: ").name == names[0]
    names.append(FolderEmbedder(folder, passage_prefix="passage: ").name)
    describe(folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True})
    names.append(FolderEmbedder(folder).name)
    tiny_onnx.folder(folder, tiny_onnx.quantised_as_it_runs())
    names.append(FolderEmbedder(folder).name)
    describe(folder, "sentence_bert_config.json", {"max_seq_length": 8})
    names.append(FolderEmbedder(folder).name)
    assert len(set(names)) == len(names)
    describe(folder, "config.json", {"_name_or_path": "people/their-model"})
    assert FolderEmbedder(folder).name.startswith("their-model@")


def test_a_text_is_cut_where_the_model_says(tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path, tiny_onnx.tokens_only())
    describe(folder, "tokenizer_config.json", {"model_max_length": 1e30})
    describe(folder, "sentence_bert_config.json", {"max_seq_length": 2})
    cut, whole = FolderEmbedder(folder).embed(["small tiny huge", "small tiny"])
    assert cut.tobytes() == whole.tobytes()


def test_a_folder_that_lacks_something_says_what(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a folder"):
        FolderEmbedder(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match=r"no model\.onnx"):
        FolderEmbedder(tmp_path)
    folder = tiny_onnx.folder(tmp_path, tiny_onnx.pooled())
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InvalidInput, match=r"no tokenizer\.json"):
        FolderEmbedder(folder)


def test_damaged_files_are_refused_by_name(tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path, b"not a model at all")
    with pytest.raises(EmbeddingFailed, match="not an ONNX model"):
        FolderEmbedder(folder)
    tiny_onnx.folder(folder, tiny_onnx.pooled())
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbeddingFailed, match="is not a tokenizer"):
        FolderEmbedder(folder)
    tiny_onnx.folder(folder, tiny_onnx.pooled())
    (folder / "config.json").write_text("{")
    with pytest.raises(InvalidInput, match=r"config\.json cannot be read as JSON"):
        FolderEmbedder(folder)


def test_what_cannot_be_done_faithfully_is_refused(tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path, tiny_onnx.tokens_only())
    for config in (
        {"pooling_mode": "lasttoken"},
        {"pooling_mode_max_tokens": True},
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
    ):
        describe(folder, "1_Pooling/config.json", config)
        with pytest.raises(InvalidInput, match="the model pools by"):
            FolderEmbedder(folder)
    describe(folder, "1_Pooling/config.json", {})
    describe(folder, "modules.json", [{"type": "sentence_transformers.models.Dense"}])
    with pytest.raises(InvalidInput, match=r"goes on after pooling \(Dense\)"):
        FolderEmbedder(folder)
    tiny_onnx.folder(folder, tiny_onnx.asking_for("position_ids"))
    with pytest.raises(EmbeddingFailed, match="asks for input_ids, position_ids"):
        FolderEmbedder(folder)


def test_a_tokenizer_that_knows_more_words_than_the_model_is_found_out(tmp_path: Path) -> None:
    folder = tiny_onnx.folder(tmp_path, tiny_onnx.tokens_only())
    tokenizer = (folder / "tokenizer.json").read_text().replace('"huge":4', '"huge":400')
    (folder / "tokenizer.json").write_text(tokenizer.replace('"huge": 4', '"huge": 400'))
    embedder = FolderEmbedder(folder)
    with pytest.raises(EmbeddingFailed, match="check that its files belong together"):
        embedder.embed(["huge"])
