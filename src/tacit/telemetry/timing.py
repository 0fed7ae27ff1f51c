"""How long something took, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.telemetry.measures import OPERATION_COUNT, OPERATION_SECONDS
from tacit.telemetry.port import Meter

_REFUSED = (InvalidInput, NotFound, Conflict)


@contextmanager
def timed(meter: Meter, operation: str) -> Iterator[None]:
    outcome, begun = "error", time.perf_counter()
    ended = meter.span(operation)
    try:
        yield
        outcome = "ok"
    except _REFUSED:
        outcome = "refused"
        raise
    except GeneratorExit:
        outcome = "ok"  # whoever reads has had enough
        raise
    finally:
        taken = time.perf_counter() - begun
        ended()
        meter.count(OPERATION_COUNT, operation=operation, outcome=outcome)
        meter.observe(OPERATION_SECONDS, taken, operation=operation)
