"""Run the trained reader's encoder: a small BERT, in numpy."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.errors import LanguageFailed

Rows = NDArray[np.float32]

_HEADS_COUNT = 12  # of attention
_EPSILON = 1e-12
_BATCH_MAX_TOKENS = 2_048
# gelu(x) as the training library computes it, from an approximation of the error function (Abramowitz and
# Stegun 7.1.26) whose error is below 2e-7.
_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
_ERF_P = 0.3275911


@dataclass(frozen=True, slots=True)
class _Layer:
    joint: Rows  # query, key and value side by side
    joint_bias: Rows
    out: Rows
    out_bias: Rows
    norm: tuple[Rows, Rows]
    wide: Rows
    wide_bias: Rows
    narrow: Rows
    narrow_bias: Rows
    last_norm: tuple[Rows, Rows]


class Network:
    """The weights, which do not change, so that threads may share them."""

    def __init__(self, words: Mapping[str, NDArray[np.generic]], layers: Mapping[str, NDArray[np.generic]]) -> None:
        table = "encoder.embeddings.word_embeddings.weight"
        # The table stays in whole numbers: of its 30,000 rows a message needs a few dozen.
        self._words: NDArray[np.int8] = words[f"{table}|q"].astype(np.int8, copy=False)
        self._scales = words[f"{table}|s"].astype(np.float32, copy=False)
        self._arrays = layers
        self._places = self._get("encoder.embeddings.position_embeddings.weight")
        self._segments = self._get("encoder.embeddings.token_type_embeddings.weight")
        self._norm = self._pair("encoder.embeddings.LayerNorm")
        self._layers = [self._layer(n) for n in range(int(layers["layers"]))]

    def encode(self, ids: Sequence[Sequence[int]], segments: Sequence[Sequence[int]]) -> list[Rows]:
        """Return a row for each token of each sequence. Sequences of like length run together."""
        found: list[Rows] = [self._places[:0]] * len(ids)
        order = sorted(range(len(ids)), key=lambda n: len(ids[n]))
        while order:
            longest = len(ids[order[-1]])
            count = max(1, _BATCH_MAX_TOKENS // max(longest, 1))
            group, order = order[-count:], order[:-count]
            hidden = self._run([ids[n] for n in group], [segments[n] for n in group])
            for row, n in enumerate(group):
                found[n] = hidden[row, : len(ids[n])]
        return found

    def head(self, name: str, rows: Rows) -> Rows:
        """Return the probabilities that a head gives to its labels, for each row."""
        scores: Rows = rows @ self._get(f"{name}.weight").T + self._get(f"{name}.bias")
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        return scores

    def _run(self, ids: Sequence[Sequence[int]], segments: Sequence[Sequence[int]]) -> Rows:
        count, length = len(ids), max(map(len, ids))
        numbers = np.zeros((count, length), dtype=np.int64)
        kinds = np.zeros((count, length), dtype=np.int64)
        blocked = np.zeros((count, 1, 1, length), dtype=np.float32)
        for n, (one, kind) in enumerate(zip(ids, segments, strict=True)):
            numbers[n, : len(one)] = one
            kinds[n, : len(kind)] = kind
            blocked[n, ..., len(one) :] = -1e9
        table = self._words[numbers].astype(np.float32) * self._scales[numbers]
        hidden = _normed(table + self._segments[kinds] + self._places[:length], *self._norm)
        for layer in self._layers:
            hidden = _apply(layer, hidden, blocked)
        return hidden

    def _layer(self, number: int) -> _Layer:
        at = f"encoder.encoder.layer.{number}"
        parts = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        return _Layer(
            joint=np.ascontiguousarray(np.concatenate([self._get(f"{part}.weight") for part in parts]).T),
            joint_bias=np.concatenate([self._get(f"{part}.bias") for part in parts]),
            out=np.ascontiguousarray(self._get(f"{at}.attention.output.dense.weight").T),
            out_bias=self._get(f"{at}.attention.output.dense.bias"),
            norm=self._pair(f"{at}.attention.output.LayerNorm"),
            wide=np.ascontiguousarray(self._get(f"{at}.intermediate.dense.weight").T),
            wide_bias=self._get(f"{at}.intermediate.dense.bias"),
            narrow=np.ascontiguousarray(self._get(f"{at}.output.dense.weight").T),
            narrow_bias=self._get(f"{at}.output.dense.bias"),
            last_norm=self._pair(f"{at}.output.LayerNorm"),
        )

    def _pair(self, name: str) -> tuple[Rows, Rows]:
        return self._get(f"{name}.weight"), self._get(f"{name}.bias")

    def _get(self, name: str) -> Rows:
        whole = self._arrays.get(f"{name}|q")
        if whole is None:
            return self._arrays[name].astype(np.float32, copy=False)
        return whole.astype(np.float32) * self._arrays[f"{name}|s"].astype(np.float32)


def load_arrays(path: Path, sha256: str) -> dict[str, NDArray[np.generic]]:
    """Read a file of weights, whose content must be the one that this version was made with."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LanguageFailed(
            f"the file {path.name} of the trained reader cannot be read ({error.strerror}): install Tacit again"
        ) from error
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise LanguageFailed(
            f"the file {path.name} of the trained reader is not the one of this version (sha256 {found[:12]}…, "
            f"expected {sha256[:12]}…), so it is not used: install Tacit again"
        )
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _apply(layer: _Layer, hidden: Rows, blocked: Rows) -> Rows:
    count, length, width = hidden.shape
    size = width // _HEADS_COUNT
    joint = (hidden @ layer.joint + layer.joint_bias).reshape(count, length, 3, _HEADS_COUNT, size)
    query, key, value = (joint[:, :, n].transpose(0, 2, 1, 3) for n in range(3))
    scores: Rows = query @ key.transpose(0, 1, 3, 2) * np.float32(size**-0.5) + blocked
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    mixed: Rows = (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, width)
    hidden = _normed(hidden + mixed @ layer.out + layer.out_bias, *layer.norm)
    wide = _gelu(hidden @ layer.wide + layer.wide_bias)
    return _normed(hidden + wide @ layer.narrow + layer.narrow_bias, *layer.last_norm)


def _normed(rows: Rows, weight: Rows, bias: Rows) -> Rows:
    rows = rows - rows.mean(-1, keepdims=True)
    spread = np.sqrt(np.square(rows).mean(-1, keepdims=True) + np.float32(_EPSILON))
    result: Rows = rows / spread * weight + bias
    return result


def _gelu(rows: Rows) -> Rows:
    scaled = np.abs(rows) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(_ERF_P) * scaled)
    tail = np.zeros_like(t)
    for factor in reversed(_ERF):
        tail += np.float32(factor)
        tail *= t
    tail *= np.exp(-np.square(scaled))
    erf = np.copysign(1 - tail, rows)
    result: Rows = rows * (1 + erf) * np.float32(0.5)
    return result
