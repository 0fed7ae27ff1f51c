"""The weights of the ranking signals; `make bench-locomo` shows what they give."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    # Evidence: these add up.
    words: float = 1.0  # BM25 of the text
    words_around: float = 1.0  # BM25 of the text and its neighbours as one
    answer: float = 0.5  # BM25 of the turn before, if that one asks something
    vector: float = 2.0  # the cosine
    vector_around: float = 1.5  # the cosines around it
    session: float = 1.5  # the best cosine in the same conversation
    # Fit: evidence is multiplied by one plus the sum of these.
    person: float = 0.4
    time: float = 0.4  # from the time that the question names
    when: float = 0.3  # the question asks when, and the text states a time
    asking: float = 0.1  # subtracted from an episode that is a question
    related: float = 0.15
    importance: float = 0.2
    recency: float = 0.15
    pinned: float = 0.1
    trust: float = 0.2
    insight: float = 0.5  # subtracted from inferred memories
    # Questions of a person about themselves: outweighs all evidence, so own facts come first.
    own: float = 1.0
    own_by_words: float = 0.8  # share if the words match and no slot does
    of_others: float = 0.5  # factor of a memory about another person
    # Shapes.
    word_reach: tuple[float, ...] = (1.0, 0.5, 0.25)  # of neighbours 1, 2, 3 turns away
    vector_reach: tuple[float, ...] = (1.0, 0.5)
    k1: float = 0.9
    k1_around: float = 1.2
    b: float = 0.4
    recency_days: float = 30.0
    min_cosine: float = 0.15  # below it, and without a shared word, a memory is no result

    @property
    def max_evidence(self) -> float:
        """The largest possible sum of the evidence."""
        words = self.words + self.words_around + self.answer
        return words + self.vector + 2 * self.vector_around + self.session


WEIGHTS = Weights()
