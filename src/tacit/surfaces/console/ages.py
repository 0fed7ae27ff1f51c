"""How long ago something was, as people say it, and exactly."""

from __future__ import annotations

from datetime import UTC, datetime

from tacit.clock import system_clock

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_STEPS = (
    (_HOUR, _MINUTE, "minute"),
    (_DAY, _HOUR, "hour"),
    (30 * _DAY, _DAY, "day"),
    (365 * _DAY, 30 * _DAY, "month"),
)


def age(moment: datetime, now: datetime | None = None) -> str:
    """`3 days ago`, or `in 3 days`."""
    seconds = ((now or system_clock()) - moment).total_seconds()
    ahead, apart = seconds < 0, abs(seconds)
    if apart < _MINUTE:
        return "in a moment" if ahead else "just now"
    said = _counted(apart)
    return f"in {said}" if ahead else f"{said} ago"


def full(moment: datetime) -> str:
    """`14 March 2026, 09:05 UTC`."""
    at = moment.astimezone(UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def stamp(moment: datetime) -> str:
    """For machines."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _counted(seconds: float) -> str:
    for below, unit, name in _STEPS:
        if seconds < below:
            return _said(int(seconds // unit), name)
    return _said(int(seconds // (365 * _DAY)), "year")


def _said(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
