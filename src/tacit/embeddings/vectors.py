"""Prepare texts for an embedder and normalize its vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import EmbeddingFailed


def truncate_text(text: str, max_chars: int) -> str:
    """Cut a text and replace lone surrogates, which the tokenizer would refuse."""
    return text[:max_chars].encode("utf-8", "replace").decode("utf-8")


def normalize_rows(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Scale rows to length 1; refuse a row of zeros.

    Divides by the largest element first, so that no square overflows or underflows.
    """
    exact = rows.astype(np.float64)
    if not np.isfinite(exact).all():
        raise EmbeddingFailed(
            "the embedding model answered with numbers that are not finite: use another model"
        )
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise EmbeddingFailed(
            "the embedding model answered with a vector of zeros: use another model"
        )
    scaled = exact / largest
    scaled /= np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    rounded: NDArray[np.float32] = scaled.astype(np.float32)
    return rounded


def empty_rows(dimension: int) -> NDArray[np.float32]:
    return np.empty((0, dimension), dtype=np.float32)
