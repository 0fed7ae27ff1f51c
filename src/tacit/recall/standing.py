"""What a memory brings to every question, whatever is asked: found once, when it comes in reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.recall import shelf as s
from tacit.recall.shelf import Codes, Floats, Whole
from tacit.recall.weights import WEIGHTS as W
from tacit.records.memory import Kind, Trust

_LESS_TRUSTED = {Trust.HEARSAY: 0.5, Trust.IMPORTED: 0.25, Trust.INFERRED: 0.75}
_MIDDLE_IMPORTANCE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One value for each position; names as in `Signals`, those below 0 lower."""

    sessions: Whole  # a number for each conversation; what stands alone has one of its own
    has_turns: bool  # whether there are turns at all
    lengths: Floats
    importance: Floats
    pinned: Floats
    trust: Floats
    prior: Floats  # all of it, weighted
    valid_until: int  # the first moment at which something of it has expired

    @classmethod
    def of(cls, facts: Whole, codes: Codes) -> Standing:
        count = facts.shape[1]
        sessions = facts[s.SESSION]
        in_turn = sessions >= 0
        trust = np.zeros(count, np.float32)
        for word, less in _LESS_TRUSTED.items():
            trust[facts[s.TRUST] == codes.of(word)] = -less
        importance = ((facts[s.IMPORTANCE] - _MIDDLE_IMPORTANCE) / 2).astype(np.float32)
        pinned = facts[s.PINNED].astype(np.float32)
        insight = (facts[s.KIND] == codes.of(Kind.INSIGHT)).astype(np.float32)
        asking = ((facts[s.ASKS] > 0) & in_turn).astype(np.float32)
        prior = W.importance * importance + W.pinned * pinned + W.trust * trust
        return cls(
            sessions=np.where(in_turn, sessions, -1 - np.arange(count)),
            has_turns=bool(in_turn.any()),
            valid_until=int(facts[s.EXPIRES].min()) if count else s.NEVER,
            lengths=facts[s.LENGTH].astype(np.float32),
            importance=importance,
            pinned=pinned,
            trust=trust,
            prior=(prior - W.insight * insight - W.asking * asking).astype(np.float32),
        )
