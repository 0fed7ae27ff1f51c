"""Pairs of what is known and what is said then, as the tests of corrections write them."""

from datetime import UTC, datetime, timedelta

from tacit.learning.corrections.supersession import Correction, KnownFact, find_correction
from tacit.learning.extraction.locale import load_locale

NOW = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)


def known(content: str, ago: timedelta = timedelta(minutes=5)) -> KnownFact:
    return KnownFact(
        content=content,
        slot=None,
        value=None,
        about_speaker=True,
        said_at=NOW - ago,
        just_said=True,
    )


def amended(content: str, message: str, code: str) -> Correction | None:
    return find_correction(message, "Kim", [known(content)], load_locale(code), said_at=NOW)


def pairs(listed: str) -> list[tuple[str, str]]:
    split = [line.split(" | ") for line in listed.strip().splitlines()]
    return [(one, other) for one, other in split]
