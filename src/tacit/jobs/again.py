"""After a failure: how long to wait before the next attempt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from tacit import limits
from tacit.errors import LanguageOverBudget, LanguageUnavailable


@dataclass(frozen=True, slots=True)
class Again:
    wait: timedelta
    counts_as_attempt: bool  # as an attempt


def again(failed: Exception, attempts: int) -> Again:
    """Twice as long each time. A day without budget is nobody's failure: it is not counted as an
    attempt. A model that said when to come back is believed."""
    spent = isinstance(failed, LanguageOverBudget)
    wait = limits.LEARN_RETRY_MAX_SECONDS
    if not spent:
        # Bounded before it is raised: nobody counts the attempts of what is tried for ever.
        doublings = min(attempts, limits.LEARN_ATTEMPTS_MAX_COUNT)
        wait = min(wait, limits.LEARN_RETRY_FIRST_SECONDS * 2**doublings)
    if isinstance(failed, LanguageUnavailable) and failed.retry_after_seconds is not None:
        wait = max(wait, min(failed.retry_after_seconds, limits.LEARN_RETRY_MAX_SECONDS))
    return Again(timedelta(seconds=wait), counts_as_attempt=not spent)
