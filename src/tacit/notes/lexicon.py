"""Words per language that tell which statements of a session last, pass or ask."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

_NEVER = "(?!)"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLexicon:
    asks: re.Pattern[str]  # anywhere in a message
    asked_lead: re.Pattern[str]  # at the start of what is to be kept
    asked_tail: re.Pattern[str]  # at its end
    passing: frozenset[str]
    rules_out: frozenset[str]
    kept_goal: frozenset[str]
    participle: str


@cache
def get_lexicon(code: str) -> NoteLexicon:
    """Return the lexicon of a language; empty for an unknown one."""
    found = _load_entries().get(code, {})

    def listed(name: str) -> frozenset[str]:
        return frozenset(found.get(name, "").casefold().split())

    def compiled(name: str) -> re.Pattern[str]:
        return re.compile(found.get(name, _NEVER), re.IGNORECASE)

    return NoteLexicon(
        asks=compiled("asks"),
        asked_lead=compiled("asked_lead"),
        asked_tail=compiled("asked_tail"),
        passing=listed("passing"),
        rules_out=listed("rules_out"),
        kept_goal=listed("kept_goal"),
        participle=found.get("participle", ""),
    )


@cache
def _load_entries() -> dict[str, dict[str, str]]:
    """Load the entries once, with the first note."""
    import yaml

    source = resources.files("tacit.notes").joinpath("lexicon.yaml").read_text("utf-8")
    entries: dict[str, dict[str, str]] = yaml.safe_load(source)
    return entries
