"""Which facts within reach tell of the requester what they ask about themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.recall import shelf as s
from tacit.recall.own_topics import Topic, known_slots, openings
from tacit.recall.shelf import Codes, Floats
from tacit.recall.weights import WEIGHTS as W
from tacit.recall.within import Within
from tacit.records.memory import Trust
from tacit.records.request import Request

Mask = NDArray[np.bool_]


def about_requester(within: Within, request: Request, codes: Codes) -> Mask:
    """What the requester told of themselves."""
    facts = within.facts
    mine: Mask = np.isin(facts[s.OWNER], [codes.of(one) for one in request.own_identities])
    mine &= (facts[s.OF_OWNER] > 0) & (facts[s.SESSION] < 0)
    mine &= facts[s.TRUST] != codes.of(Trust.HEARSAY)
    return mine


def own_facts(
    topics: Sequence[Topic], of_them: Mask, within: Within, request: Request, codes: Codes
) -> Floats:
    """For each position 1 by its slot, less by its words alone, else 0. Slots are for the owner in
    private to see: where others are, they rank nothing."""
    slots = within.facts[s.SLOT]
    found = np.zeros(len(within), np.float32)
    names = within.names.labels_of(request.own_identities)
    for topic in topics:
        by_words = of_them & _told(topic, within) & _begins(topic, within, names, codes)
        if request.private:
            others = known_slots() - topic.slots
            by_words &= ~np.isin(slots, [codes.of(one) for one in others])
            found[of_them & np.isin(slots, [codes.of(one) for one in topic.slots])] = 1.0
        found[by_words] = np.maximum(found[by_words], np.float32(W.own_by_words))
    return found


def _told(topic: Topic, within: Within) -> Mask:
    """Whether it has a word of the topic."""
    told = np.zeros(len(within), np.bool_)
    for term in topic.content_stems | topic.name_stems:
        told[within.postings(term)[0]] = True
    return told


def _begins(topic: Topic, within: Within, names: Sequence[str], codes: Codes) -> Mask:
    return np.isin(within.facts[s.OPENING], [codes.of(one) for one in openings(topic, names)])
