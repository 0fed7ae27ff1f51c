"""mem0's expiration dates: a day, the last one on which a memory counts, as a moment and back."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from tacit.errors import InvalidInput
from tacit.records.memory import Memory

# None would mean that nothing is said about it; a day that no calendar comes to means never.
NEVER = datetime(9999, 12, 31, tzinfo=UTC)
_LAST = date(9999, 12, 30)


def end_of(value: object, field: str = "expiration_date") -> datetime:
    """The moment at which that day is over, everywhere in UTC; NEVER for None."""
    if value is None:
        return NEVER
    day = _day(value, field)
    if day >= _LAST:
        return NEVER
    return datetime.combine(day + timedelta(days=1), time(), UTC)


def day_of(memory: Memory) -> str | None:
    """The last day that it counts on, whoever set that."""
    if memory.expires_at is None or memory.expires_at >= NEVER:
        return None
    return (memory.expires_at - timedelta.resolution).date().isoformat()


def _day(value: object, field: str) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise InvalidInput(field, "is no date; write it as 2030-12-31")
