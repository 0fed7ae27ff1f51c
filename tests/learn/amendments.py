"""Pairs of what is known and what is said then, as the tests of corrections write them."""

from datetime import UTC, datetime, timedelta

from tacit.learn.amending.amend import amend
from tacit.learn.amending.known import Amendment, Known
from tacit.learn.reading.tongue import tongue

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)


def known(content: str, ago: timedelta = timedelta(minutes=5)) -> Known:
    return Known(
        content=content,
        slot=None,
        value=None,
        about_speaker=True,
        said_at=NOW - ago,
        just_said=True,
    )


def amended(content: str, message: str, code: str) -> Amendment | None:
    return amend(message, "Kim", [known(content)], tongue(code), said_at=NOW)


def pairs(listed: str) -> list[tuple[str, str]]:
    split = [line.split(" | ") for line in listed.strip().splitlines()]
    return [(one, other) for one, other in split]
