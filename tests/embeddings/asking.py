"""What the tests of the endpoint share: a key that must never show, and what a failure says."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from tacit.embeddings.endpoint import EndpointEmbedder
from tacit.errors import EmbeddingFailed

KEY = "sk-very-secret-0123456789"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
Build = Callable[..., EndpointEmbedder]


def failure(embedder: EndpointEmbedder) -> str:
    with pytest.raises(EmbeddingFailed) as caught:
        embedder.embed(["my secret text"])
    told = f"{caught.value} {caught.value!r} {caught.value.__cause__!r} {embedder!r}"
    assert KEY not in told
    assert "my secret text" not in told
    return str(caught.value)
