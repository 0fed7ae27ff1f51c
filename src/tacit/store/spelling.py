"""A memory as the full-text indexes have it: its words for all who search, and each once more
behind a token of its owner. By those the beginning of a word is looked for among one person's
memories, and what others wrote, however much it is, costs nothing."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import NamedTuple

from tacit import limits
from tacit.records.memory import Memory
from tacit.records.text import index_terms, join_neighbors, key_words

_TOKEN_CHARS = 8  # two owners with the same token cost a little: their rows are told apart anyway


class Spelt(NamedTuple):
    words: list[str]
    owner_words: list[str]


def spelt(memory: Memory) -> Spelt:
    owner = None if memory.is_turn else memory.owner
    return spell(memory.space, owner, memory.content, memory.key)


def spell(space: str, owner: str | None, content: str, key: str | None = None) -> Spelt:
    """`owner`: None also for a turn, which is not searched like this."""
    words = index_terms(content)
    if key is not None:
        parts = key_words(key)
        words += index_terms(" ".join([*parts, *join_neighbors(parts)]))
    if owner is None:
        return Spelt(words, [])
    token = of_owner(space, owner)
    return Spelt(words, [token + word for word in words])


def lexemes(words: Spelt) -> list[str]:
    """Both in one column: those behind their owner's token begin as no word does."""
    return sorted({*words.words, *(f"_{word}" for word in words.owner_words)})


@lru_cache(maxsize=limits.IDENTITY_CACHE_MAX_COUNT)
def of_owner(space: str, owner: str) -> str:
    """Of plain letters, whatever the name holds."""
    return "x" + hashlib.sha256(f"{space}\n{owner}".encode()).hexdigest()[:_TOKEN_CHARS]
