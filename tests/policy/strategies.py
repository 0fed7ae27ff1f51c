"""Requests and memories for Hypothesis: any people, rooms and words, the disclosable ones often.

All choices are made from lists that are laid out once, which is several times quicker than
drawing sets of people element by element.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tacit.records.memory import ChatKind, Memory, Purpose, Sensitivity, State, Visibility
from tacit.records.request import Request
from tests.policy.cells import (
    ELSEWHERE,
    HERE,
    HERE_BEFORE,
    NO_PROVENANCE,
    NOW,
    PEOPLE,
    PRIVATE_LEARNED,
    SARAH,
    Fields,
    Person,
    group_learned,
    memory,
    request,
    withheld,
)

_NOW = [identity for person in PEOPLE for identity in person.now]
_EVER = [SARAH, *(identity for person in PEOPLE for identity in person.ever)]


def _up_to(most: int, whom: list[str]) -> list[frozenset[str]]:
    return [frozenset(some) for size in range(most + 1) for some in combinations(whom, size)]


_COMPANY = [some for size in range(4) for some in combinations(PEOPLE, size)]
_HIDDEN = [withheld(*some) for some in _up_to(2, _EVER)]
_PLACES = [group_learned(room) for room in (HERE, HERE, HERE_BEFORE, ELSEWHERE)]

persons: SearchStrategy[Person] = st.sampled_from(PEOPLE)
identities: SearchStrategy[str] = st.sampled_from(_NOW)
somebody_else: SearchStrategy[frozenset[str]] = st.sampled_from(_up_to(2, _EVER)[1:])
visibilities: SearchStrategy[Visibility] = st.sampled_from(Visibility)
sensitivities: SearchStrategy[Sensitivity] = st.sampled_from(Sensitivity)

_QUESTION: dict[str, SearchStrategy[Any]] = {
    "requester": st.sampled_from([*PEOPLE, *PEOPLE, None]),
    "kind": st.sampled_from(ChatKind),
    "others": st.sampled_from(_COMPANY),
    "complete": st.booleans(),
    "purpose": st.sampled_from([Purpose.RECALL] * 5 + [Purpose.MANAGE]),
    "rooms": st.sampled_from([(HERE, HERE_BEFORE), (HERE,), (ELSEWHERE,)]),
    "union": st.booleans(),
    "at": st.sampled_from([NOW, NOW, NOW, NOW + timedelta(days=1)]),
}
_MEMORY: dict[str, SearchStrategy[Any]] = {
    "owner": st.sampled_from([None, None, *_NOW]),
    "speaker": st.sampled_from([None, None, *_NOW]),
    "subjects": st.sampled_from(_up_to(2, _NOW)),
    "heard_by": st.sampled_from(_up_to(len(_NOW), _NOW)),
    "confidential": st.booleans(),
    "visibility": visibilities,
    "sensitivity": sensitivities,
    "portable": st.booleans(),
    "inferred": st.sampled_from([False] * 4 + [True]),
    "state": st.sampled_from([State.ACTIVE] * 20 + [*State]),
    "expires_at": st.sampled_from([None] * 8 + [NOW, NOW + timedelta(hours=1)]),
    "place": st.sampled_from([NO_PROVENANCE, PRIVATE_LEARNED, *_PLACES]),
    "hidden": st.sampled_from([withheld()] * len(_HIDDEN) + _HIDDEN),
}


def questions(**fixed: Any) -> SearchStrategy[Fields]:
    """What `request` takes; apart from it, so that a test can ask the same with somebody more."""
    free = {name: chosen for name, chosen in _QUESTION.items() if name not in fixed}
    return st.fixed_dictionaries(free).map(lambda drawn: {"chat": drawn["rooms"][0], **drawn, **fixed})


def requests(**fixed: Any) -> SearchStrategy[Request]:
    """As adapters make them: some list the requester among the participants, some do not."""

    def made(question: Fields, listed: bool) -> Request:
        asked = request(**question)
        if listed:
            return asked
        return replace(asked, participants=asked.participants - {asked.requester})

    return st.builds(made, questions(**fixed), st.booleans())


def memories(**fixed: Any) -> SearchStrategy[Memory]:
    def made(drawn: Fields) -> Memory:
        fields = drawn.pop("place") | drawn.pop("hidden") | drawn
        return memory(**(fields | fixed))

    free = {name: chosen for name, chosen in _MEMORY.items() if name not in fixed}
    return st.fixed_dictionaries(free).map(made)
