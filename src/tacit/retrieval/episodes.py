"""Choose the episodes that add to the memories that were recalled, and put memories first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import Connection

from tacit.records.memory import Memory, State
from tacit.records.request import Request
from tacit.retrieval.scoring import RecallAnswer
from tacit.storage.episodes import LearnedMemory, read_learned
from tacit.text import stem_words

EPISODE_MIN_SIMILARITY = 0.15  # beside memories: most turns share some word with a question
EPISODES_RANKED_COUNT = 50  # at once, after the first were not wanted
_PLACES_SHARE = 3  # of this many places, an episode may take the last from a memory that fits less
_SENTENCE = re.compile(r"[^.!?\uff1f\n]+([.!?\uff1f\n]?)")
# What was learned from an episode and is not to be shown: the episode would say it.
_KEPT_BACK = frozenset({State.FORGOTTEN, State.PENDING, State.QUARANTINED})


def list_unwanted_episodes(
    connection: Connection,
    request: Request,
    question: str,
    found: Sequence[Memory],
    beside: Sequence[RecallAnswer] | None,
) -> set[str]:
    """Return the ids of the episodes that must not be shown, or that add nothing to memories and question.

    An episode goes with what was learned from it: it does not bring back what a person forgot, or
    what waits for consent.
    """
    learned: dict[str, list[LearnedMemory]] = {}
    for one in read_learned(connection, request.space, [episode.id for episode in found]):
        learned.setdefault(one.episode_id, []).append(one)
    unwanted = {id for id, some in learned.items() if any(one.state in _KEPT_BACK for one in some)}
    if beside is None:
        return unwanted
    shown = [memory for one in beside for memory in (one.memory, *one.related)]
    ids = {memory.id for memory in shown}
    words = [frozenset(stem_words(text)) for text in (question, *(memory.content for memory in shown))]
    for episode in found:
        some = learned.get(episode.id, [])
        is_known = any(one.memory_id in ids or one.superseded_by in ids for one in some)
        is_outdated = bool(some) and all(one.state is State.SUPERSEDED or one.is_reworded for one in some)
        said = frozenset(stem_words(episode.content))
        is_repeated = any(said <= told for told in words)
        if is_known or is_outdated or is_repeated or _is_only_questions(episode.content):
            unwanted.add(episode.id)
    return unwanted


def _is_only_questions(text: str) -> bool:
    """Whether every sentence that has a word ends with a question mark."""
    ends = [match[1] for match in _SENTENCE.finditer(text) if any(char.isalnum() for char in match[0])]
    return bool(ends) and all(end in ("?", "\uff1f") for end in ends)


def merge_answers(memories: Sequence[RecallAnswer], episodes: Sequence[RecallAnswer], top_k: int) -> list[RecallAnswer]:
    """Return the memories, then the episodes.

    If they are too many, an episode that fits the question better takes the place of one of the last memories.
    """
    first = memories[: top_k - top_k // _PLACES_SHARE]
    rest = sorted([*memories[len(first) :], *episodes], key=lambda one: -one.similarity)
    chosen = {one.memory.id for one in (*first, *rest[: top_k - len(first)])}
    return [one for one in (*memories, *episodes) if one.memory.id in chosen]
