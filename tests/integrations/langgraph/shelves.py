"""Stores to test: ours on each database, and LangGraph's own in memory, of which the same is
expected."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import pytest
from langgraph.store.base import BaseStore, IndexConfig
from langgraph.store.memory import InMemoryStore

import tacit
from tacit.integrations.langgraph import Store
from tests.contract.rooms import ALICE, private

OURS = ("sqlite-file", "postgres")
LANGGRAPHS = "langgraph"
_WORDS = 509


def embed(texts: Sequence[str]) -> list[list[float]]:
    """By their words alone, as our stores go here."""
    return [_vector(text) for text in texts]


def _vector(text: str) -> list[float]:
    found = [0.001] * _WORDS
    for word in re.findall(r"\w+", text.lower()):
        found[crc32(word.encode()) % _WORDS] += 1.0
    return found


@contextmanager
def store_on(request: pytest.FixtureRequest, tmp_path: Path, where: str) -> Iterator[BaseStore]:
    if where == LANGGRAPHS:
        yield InMemoryStore(index=IndexConfig(dims=_WORDS, embed=embed))
        return
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    if where == "postgres":
        url = request.getfixturevalue("migrated_postgres_url")
    with tacit.open(url, embedder=None) as memory:
        yield Store(private(memory, ALICE))
