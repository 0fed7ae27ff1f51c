"""Any sentence embedding model in a folder: an ONNX file, a `tokenizer.json`, and descriptions.

The layout is that of sentence-transformers, which most exported models have.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import limits
from tacit.embedding.encoder import Encoder, Pooling, load_session
from tacit.embedding.port import Embedder, checked_threads
from tacit.embedding.vectors import no_rows
from tacit.errors import EmbeddingFailed, InvalidInput, MissingExtra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_FIELD = "embedding.folder"
# In this order, first in the folder and then in its `onnx` folder.
_MODEL_NAMES = ("model.onnx", "model_quantized.onnx", "model_int8.onnx", "model_uint8.onnx")
# Large models keep their weights in a file beside the one that is opened.
_WEIGHTS_BESIDE = ("{name}_data", "{name}.data")
_LAYERS_WITHOUT_EFFECT_HERE = {"Transformer", "Pooling", "Normalize"}


class FolderEmbedder(Embedder):
    """Loads at once, so that a folder that cannot be used is found out when it is named.

    Texts run one by one: a model whose activations are quantised as it runs would give a text
    another vector in other company. `file` names a model file where there are several; the
    prefixes are for models that mark questions and passages, and otherwise come from the folder.
    """

    def __init__(
        self,
        folder: Path,
        *,
        file: str | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        threads: int = limits.EMBEDDING_THREADS_DEFAULT_COUNT,
    ) -> None:
        if not folder.is_dir():
            raise InvalidInput(_FIELD, f"{folder} is not a folder; name the one with the model")
        model = _model_file(folder, file)
        prompts = _described(folder, "config_sentence_transformers.json").get("prompts")
        prompts = prompts if isinstance(prompts, dict) else {}
        self._query_prefix = _first_text(query_prefix, prompts.get("query"))
        self._passage_prefix = _first_text(
            passage_prefix, prompts.get("document"), prompts.get("passage")
        )
        pooling = _pooling(folder)
        max_tokens = _max_tokens(folder)
        self._encoder = Encoder(
            load_session(model, checked_threads(threads)),
            _tokenizer(folder, max_tokens),
            pooling=pooling,
            group_max_count=1,
        )
        _refuse_further_layers(folder, self._encoder)
        # Everything that a stored vector depends on is in the name; the query's prefix is not.
        made_with = f"{pooling} {max_tokens} {self._passage_prefix}"
        self.name = f"{_title(folder)}@{_digest(model, folder / 'tokenizer.json', made_with)}"
        self.inline = True
        self.dimension = self._encoder.encode([""]).shape[1]  # also proves that the parts fit

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return no_rows(self.dimension)
        return self._encoder.encode([self._passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._encoder.encode([self._query_prefix + text])[0]
        return vector

    def close(self) -> None:
        """Nothing to let go of but memory, which goes with the object."""


def _model_file(folder: Path, file: str | None) -> Path:
    if file is not None:
        chosen = folder / file
        if not chosen.is_file():
            raise InvalidInput("embedding.file", f"{chosen} is not a file; name one in the folder")
        return chosen
    places = (folder, folder / "onnx")
    for name in _MODEL_NAMES:
        for place in places:
            if (place / name).is_file():
                return place / name
    others = sorted(path for place in places for path in place.glob("*.onnx"))
    if len(others) == 1:
        return others[0]
    if others:
        names = ", ".join(str(path.relative_to(folder)) for path in others)
        raise InvalidInput(_FIELD, f"{folder} holds several models ({names}): leave one there")
    raise InvalidInput(
        _FIELD, f"{folder} holds no model.onnx or onnx/model.onnx: export the model to ONNX"
    )


def _described(folder: Path, name: str) -> dict[str, Any]:
    found = _parsed(folder / name)
    return found if isinstance(found, dict) else {}


def _parsed(path: Path) -> object:
    """One of the folder's JSON files; None if it is not there, refused if it cannot be read."""
    if not path.is_file():
        return None
    if path.stat().st_size > limits.EMBEDDING_CONFIG_MAX_BYTES:
        raise InvalidInput(_FIELD, f"{path} is too large for a description: replace it")
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(_FIELD, f"{path} cannot be read as JSON: replace it") from error


def _pooling(folder: Path) -> Pooling:
    found = _described(folder, "1_Pooling/config.json")
    named = found.get("pooling_mode")
    modes = (
        [named] if named else [key for key, on in found.items() if "mode_" in key and on is True]
    )
    known = {
        "mean": Pooling.MEAN,
        "cls": Pooling.CLS,
        "pooling_mode_mean_tokens": Pooling.MEAN,
        "pooling_mode_cls_token": Pooling.CLS,
    }
    if not modes:
        return Pooling.MEAN
    if len(modes) > 1 or modes[0] not in known:
        raise InvalidInput(
            _FIELD,
            f"the model pools by {', '.join(map(str, modes))}; only the mean and the first token "
            "are supported: use another model, or export it with its pooling inside",
        )
    return known[modes[0]]


def _refuse_further_layers(folder: Path, encoder: Encoder) -> None:
    """A layer that is not in the ONNX file would be left out without a word."""
    layers = _parsed(folder / "modules.json")
    layers = layers if isinstance(layers, list) else []
    types = [str(layer.get("type", "")) for layer in layers if isinstance(layer, dict)]
    kinds = {name.rsplit(".", 1)[-1] for name in types}
    further = kinds - _LAYERS_WITHOUT_EFFECT_HERE
    if further and not encoder.pools_itself:
        raise InvalidInput(
            _FIELD,
            f"the model goes on after pooling ({', '.join(sorted(further))}), which its ONNX file "
            "does not hold: export it with an output called sentence_embedding",
        )


def _max_tokens(folder: Path) -> int:
    for file, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        found = _described(folder, file).get(key)
        if isinstance(found, int | float) and found >= 2:
            return int(min(found, limits.EMBEDDING_FOLDER_MAX_TOKENS))
    return limits.EMBEDDING_FOLDER_MAX_TOKENS


def _tokenizer(folder: Path, max_tokens: int) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtra("embeddings", "an embedding model in a folder") from error
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise InvalidInput(_FIELD, f"{folder} holds no tokenizer.json: export the tokenizer too")
    try:
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.enable_truncation(max_tokens)
    except Exception as error:  # the library raises nothing more particular
        raise EmbeddingFailed(f"{path} is not a tokenizer: export it again") from error
    return tokenizer


def _title(folder: Path) -> str:
    """What the model calls itself, without the path it was made at; else the folder's name."""
    named = _described(folder, "config.json").get("_name_or_path")
    title = Path(named).name if isinstance(named, str) else ""
    return (title or folder.resolve().name)[: limits.LABEL_MAX_CHARS // 2]


def _digest(model: Path, tokenizer: Path, made_with: str) -> str:
    beside = [model.with_name(form.format(name=model.name)) for form in _WEIGHTS_BESIDE]
    together = hashlib.sha256(made_with.encode())
    for path in (model, *(path for path in beside if path.is_file()), tokenizer):
        with path.open("rb") as file:
            together.update(hashlib.file_digest(file, "sha256").digest())
    return together.hexdigest()[:12]


def _first_text(*candidates: object) -> str:
    return next((text for text in candidates if isinstance(text, str)), "")
