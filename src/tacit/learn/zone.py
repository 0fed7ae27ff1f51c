"""The time zone that a speaker's days are counted in."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone_of(name: str) -> ZoneInfo | None:
    """Of what somebody put down as theirs; None where that names no zone."""
    try:
        return ZoneInfo(name.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
