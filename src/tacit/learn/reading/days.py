"""What the dates of a clause say about how long it holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tacit.learn.reading.tongue import Tongue
from tacit.learn.reading.when import When


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """What the dates of a clause say about how long it holds."""

    ahead: bool  # a day to come
    behind: bool  # a day that is over
    stay: bool  # a week, a month or a year that is over
    weekly: bool  # it comes back
    since: bool  # it has lasted: "for ten years", "since May"
    hour: bool

    @property
    def dated(self) -> bool:
        return self.ahead or self.behind


def days(whens: list[When], said_at: datetime, tongue: Tongue) -> Days:
    at = [when for when in whens if when.at and not when.today]
    ahead = [when for when in at if when.at and when.at > said_at]
    began = [when for when in at if when.said.split()[0].lower() in tongue.words["backward"]]
    lasted = [when for when in whens if when.at is None and not when.weekly and not when.hour]
    return Days(
        ahead=bool(ahead),
        behind=len(at) > len(ahead),
        stay=any(not when.full for when in at if when not in ahead),
        weekly=any(when.weekly for when in whens),
        since=bool(began or lasted),
        hour=any(when.hour for when in whens),
    )
