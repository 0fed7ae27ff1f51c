"""Texts to unit vectors with an ONNX model on the CPU: tokenise, run, pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit import limits
from tacit.embedding.leaving import foreign
from tacit.embedding.vectors import readable, unit
from tacit.errors import EmbeddingFailed, MissingExtra

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

# What a model may ask for. Nothing is padded, so the mask is ones and a plain mean is the
# masked one.
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_INTEGERS: dict[str, type[np.signedinteger[Any]]] = {
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}
_POOLED = "sentence_embedding"


class Pooling(StrEnum):
    """How the vectors of the tokens become one."""

    MEAN = "mean"
    CLS = "cls"


def load_session(model: bytes | Path, threads: int) -> InferenceSession:
    """A session on the CPU. `model` is the file's bytes, or its path if it has data beside it."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra("embeddings", "an embedding model on this machine") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised; nothing is printed besides
    # A waiting thread that spins takes a core from everybody else on a small machine.
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
    """One model with its tokenizer. Both are read only once made, so threads may share it.

    Texts run in groups of equal length, without padding. Such a group gives each text the bytes
    that it gets alone (measured on x86-64, and held by a test) if the model computes each row on
    its own; where that is not known, `group_max_count` is 1.
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
        """`unknown` is the token for what the vocabulary does not hold."""
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
        self._output = _POOLED if _POOLED in outputs else next(iter(outputs))
        self.pools_itself = outputs[self._output] == 2

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text, in order: of length 1, or all zeros for a text that is mostly
        unknown to the model. At least one text."""
        with foreign().inside():
            return self._encode(texts)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        cut = [readable(text, limits.EMBEDDING_TEXT_MAX_CHARS) for text in texts]
        # One at a time: in a batch the tokenizer would take every core, whatever `threads` says.
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
        """Two texts of unknown words would have one vector: better that they have none."""
        return self._unknown is not None and 2 * text.ids.count(self._unknown) > len(text.ids) - 2

    def _groups(self, encoded: Sequence[Encoding]) -> Iterator[list[int]]:
        """Positions of texts with equally many tokens, a bounded number at a time."""
        by_length: dict[int, list[int]] = {}
        for position, encoding in enumerate(encoded):
            by_length.setdefault(len(encoding.ids), []).append(position)
        for length in sorted(by_length):
            fit = limits.EMBEDDING_GROUP_MAX_TOKENS // max(length, 1)
            size = max(1, min(self._group_max_count, fit))
            same = by_length[length]
            yield from (same[start : start + size] for start in range(0, len(same), size))

    def _run(self, group: Sequence[Encoding]) -> NDArray[np.float32]:
        # A tokenizer that adds no marks makes nothing of an empty text; a model needs a token.
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
        return unit(self._pooled(found, len(group)))

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
