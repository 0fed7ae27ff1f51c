"""How often each caller may ask: a bucket of requests that fills up again as time goes by."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from tacit import limits
from tacit.errors import TooManyRequests


class RateLimiter:
    """Counts within this process. Safe to share between threads."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # (left, seen at)
        self._lock = Lock()

    def take(self, who: str, per_minute: int | None = None) -> None:
        """One request of theirs; `TooManyRequests` where there is none left."""
        rate = (per_minute or self._per_minute) / 60
        most = max(1.0, rate * 60 * limits.RATE_BURST_SHARE)
        with self._lock:
            now = self._clock()
            left, since = self._buckets.pop(who, (most, now))
            left = min(most, left + max(0.0, now - since) * rate)
            enough = left >= 1
            self._buckets[who] = (left - 1 if enough else left, now)
            if len(self._buckets) > limits.RATE_BUCKETS_MAX_COUNT:
                # Whoever has not asked for longest is likely to have a full one by now.
                self._buckets.popitem(last=False)
        if not enough:
            raise TooManyRequests(max(1, math.ceil((1 - left) / rate)))
