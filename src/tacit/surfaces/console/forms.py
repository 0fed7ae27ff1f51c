"""What a form or the query of an address holds, read field by field. What is wrong is said of the
field that it is wrong in; the library says what is wrong with a value itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import TypeVar
from urllib.parse import parse_qsl

from tacit.errors import InvalidInput

E = TypeVar("E", bound=StrEnum)
FORM = "application/x-www-form-urlencoded"
FORM_MAX_BYTES = 262_144  # the longest memory, percent-encoded, and what stands around it
FIELDS_MAX_COUNT = 1_000
_LONGEST_LINE_CHARS = 2_000


class Form(Mapping[str, str]):
    """As a mapping: the first value of each field."""

    def __init__(self, pairs: Sequence[tuple[str, str]] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def __getitem__(self, name: str) -> str:
        return self._values[name][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def text(self, name: str) -> str:
        """As it was written, with ends of lines as we keep them. Empty where it was left out."""
        found = self._values.get(name, [""])
        if len(found) > 1:
            raise InvalidInput(name, "is given more than once; give it once")
        return found[0].replace("\r\n", "\n")

    def line(self, name: str) -> str | None:
        """One line, without the blanks around it. None: nothing was written."""
        found = self.text(name).strip()
        if len(found) > _LONGEST_LINE_CHARS:
            raise InvalidInput(name, f"is too long; {_LONGEST_LINE_CHARS:,} characters are enough")
        return found or None

    def many(self, name: str) -> tuple[str, ...]:
        """Each value once, as those of check boxes."""
        return tuple(dict.fromkeys(one for one in self._values.get(name, ()) if one))

    def flag(self, name: str) -> bool:
        """A check box."""
        return self.line(name) is not None

    def choice(self, name: str, words: type[E]) -> E | None:
        found = self.line(name)
        if found is None:
            return None
        if found not in {one.value for one in words}:
            known = ", ".join(one.value for one in words)
            raise InvalidInput(name, f"is none of these: {known}; choose one")
        return words(found)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        found = self.line(name)
        if found is None:
            return default
        good = found.isascii() and found.isdigit() and len(found) <= 9
        if not good or not low <= int(found) <= high:
            raise InvalidInput(name, f"write a whole number from {low:,} to {high:,}")
        return int(found)

    def since(self, name: str) -> datetime | None:
        """The beginning of a day."""
        day = self._day(name)
        return None if day is None else datetime.combine(day, time(), UTC)

    def until(self, name: str) -> datetime | None:
        """The end of a day: it is meant with it."""
        begun = self.since(name)
        return None if begun is None else begun + timedelta(days=1)

    def _day(self, name: str) -> date | None:
        found = self.line(name)
        try:
            day = None if found is None else date.fromisoformat(found)
        except ValueError:
            raise InvalidInput(name, "is no day; write it as 2026-03-14") from None
        if day is not None and not 1970 <= day.year < 9000:
            raise InvalidInput(name, "is too far away; choose another day")
        return day


def read(written: bytes) -> Form:
    try:
        found = parse_qsl(
            written.decode("latin-1"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=FIELDS_MAX_COUNT,
        )
    except ValueError:
        raise InvalidInput("form", "has too many fields; choose fewer at once") from None
    return Form(found)
