"""Apply the filters of a question as boolean masks over the candidate set."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from tacit.clock import to_micros
from tacit.records.memory import CATEGORY_OF_KIND, Kind
from tacit.records.queries import RecallQuery
from tacit.records.request import Request
from tacit.retrieval import partition_index
from tacit.retrieval.partition_index import CandidateSet, StringCodes
from tacit.storage import people

Mask = NDArray[np.bool_]


def build_filter_mask(
    connection: Connection,
    request: Request,
    question: RecallQuery,
    candidates: CandidateSet,
    codes: StringCodes,
) -> Mask:
    facts = candidates.facts
    kept: Mask = facts[partition_index.EXPIRES] > to_micros(request.at)
    owned = mask_owned(request, candidates, codes)
    for column, words in (
        (partition_index.CATEGORY, question.only),
        (partition_index.CATEGORY, question.categories),
        (partition_index.KIND, question.kinds),
        (partition_index.ROLE, None if question.role is None else {question.role}),
    ):
        if words is not None:
            kept &= _mask_values(candidates, column, words, codes)
    for column, word in (
        (partition_index.AGENT, question.agent),
        (partition_index.RUN, question.run),
    ):
        if word is not None:
            kept &= owned & (facts[column] == codes.of(word))
    for column, who, name in (
        (partition_index.OWNER, question.user, "user"),
        (partition_index.SPEAKER, question.actor, "actor"),
    ):
        if who is not None:
            meant = people.resolve_person(connection, request, who, name) or frozenset()
            kept &= _mask_shown_people(request, candidates, column, meant, codes)
    if question.pinned is not None:
        kept &= (facts[partition_index.PINNED] > 0) == question.pinned
    if question.importance_min is not None:
        kept &= facts[partition_index.IMPORTANCE] >= question.importance_min
    if question.importance_max is not None:
        kept &= facts[partition_index.IMPORTANCE] <= question.importance_max
    if question.updated_after is not None or question.updated_before is not None:
        updated, changed = facts[partition_index.UPDATED], facts[partition_index.CONTENT_CHANGED]
        moved = np.where(owned, updated, changed)
        if question.updated_after is not None:
            kept &= moved > to_micros(question.updated_after)
        if question.updated_before is not None:
            kept &= moved < to_micros(question.updated_before)
    # A query finds procedures only if it asks for their kind or category.
    filed = CATEGORY_OF_KIND[Kind.PROCEDURE]
    if Kind.PROCEDURE not in (question.kinds or ()) and filed not in (question.categories or ()):
        kept &= facts[partition_index.KIND] != codes.of(Kind.PROCEDURE)
    return kept


def _mask_shown_people(
    request: Request,
    candidates: CandidateSet,
    column: int,
    meant: frozenset[str],
    codes: StringCodes,
) -> Mask:
    """Match only by identities that the result would show."""
    mine = meant & request.own_identities if request.private else frozenset()
    found = [
        code
        for code in np.unique(candidates.facts[column]).tolist()
        if code >= 0
        and ((who := codes.word(code)) in mine or request.visible_identity(who) in meant)
    ]
    return np.isin(candidates.facts[column], found)


def mask_categories(
    candidates: CandidateSet, categories: Collection[str], codes: StringCodes
) -> Mask:
    return _mask_values(candidates, partition_index.CATEGORY, categories, codes)


def mask_owned(request: Request, candidates: CandidateSet, codes: StringCodes) -> Mask:
    """Mask the memories that the requester sees with all fields."""
    if not request.private:
        return np.zeros(len(candidates), np.bool_)
    return _mask_values(candidates, partition_index.OWNER, request.own_identities, codes)


def _mask_values(
    candidates: CandidateSet, column: int, words: Collection[str], codes: StringCodes
) -> Mask:
    return np.isin(candidates.facts[column], [codes.of(str(word)) for word in words])
