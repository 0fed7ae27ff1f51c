"""Which tasks come round, by name: what each is made of, from the parts of an open memory."""

from __future__ import annotations

from tacit.embeddings.embedder import Embedder
from tacit.learning.pipeline import LearningOptions
from tacit.lifecycle.consolidate import consolidating
from tacit.lifecycle.expire import sweeping
from tacit.lifecycle.policy import Upkeep
from tacit.lifecycle.progress import Work
from tacit.lifecycle.purge import purging
from tacit.lifecycle.reembed import reembedding
from tacit.lifecycle.reflect import reflecting
from tacit.lifecycle.summarise import summarising
from tacit.llm.budget import Allowance
from tacit.retrieval.retriever import Retriever
from tacit.storage.store import Store


def tasks(
    store: Store,
    recollection: Retriever,
    embedder: Embedder | None,
    learning: LearningOptions | None,
    upkeep: Upkeep,
) -> dict[str, Work]:
    """One line for each. A task that is not wanted, or has nothing to work with, is left out."""
    model = learning.model if learning is not None else None
    allowance = learning.allowance if learning is not None else Allowance()
    found = {"expire": sweeping(store, upkeep), "purge": purging(store, upkeep)}
    if upkeep.consolidate_enabled:
        found["consolidate"] = consolidating(store, recollection, upkeep, model, allowance)
    if upkeep.reflect_enabled and model is not None:
        found["reflect"] = reflecting(store, upkeep, model, allowance)
    if embedder is not None:
        found["reembed"] = reembedding(store, embedder)
    if upkeep.reflect_summaries and model is not None:
        found["summarise"] = summarising(store, upkeep, model, allowance)
    return found
