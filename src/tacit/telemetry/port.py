"""What the rest needs from a meter. The default does nothing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Protocol

from tacit.telemetry.measures import Measure

Read = Callable[[], Iterable[tuple[Mapping[str, str], float]]]  # label → word, and the value
Stop = Callable[[], None]


class Meter(Protocol):
    """Safe to call from several threads; never raises, and never waits for anybody."""

    on: bool
    """False: nothing is measured, and whoever would have to work for it need not."""

    def count(self, what: Measure, amount: float = 1, **words: str) -> None:
        """Add to a counter."""
        ...

    def observe(self, what: Measure, value: float, **words: str) -> None:
        """One value of a histogram."""
        ...

    def watch(self, what: Measure, whose: Hashable, read: Read) -> Stop:
        """A gauge is read when somebody looks. Of several with one `whose`, one is."""
        ...

    def span(self, operation: str) -> Stop:
        """A part of the trace that is being made, until it is stopped."""
        ...


class NoMeter:
    on = False

    def count(self, what: Measure, amount: float = 1, **words: str) -> None:
        pass

    def observe(self, what: Measure, value: float, **words: str) -> None:
        pass

    def watch(self, what: Measure, whose: Hashable, read: Read) -> Stop:  # noqa: ARG002
        return _nothing

    def span(self, operation: str) -> Stop:  # noqa: ARG002
        return _nothing


def _nothing() -> None:
    pass


NO_METER: Meter = NoMeter()
