"""The forms of the verbs that a data file lists by class, so that a word tells what it may be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NOW, PAST, DONE, GOING, BARE = "now", "past", "done", "going", "bare"
_VOWELS = "aeiou"
_SHORT = re.compile(r"^[^aeiou]*[aeiou][^aeiouwxy]$")
Rules = Sequence[tuple[re.Pattern[str], str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How one language makes the forms of a verb that no list names."""

    now: Rules
    past: Mapping[str, str]  # irregular: "drive" -> "drove"
    done: Mapping[str, str]  # … -> "driven", where it is not the past
    doubled: frozenset[str]  # "commit" -> "committed"


def table(
    classes: Mapping[str, str | Mapping[str, str]], spelling: Spelling
) -> dict[str, frozenset[str]]:
    """What each form of each verb is: "drives" -> {"lasting:now"}. A class lists its verbs, or,
    where a language has no rules for them, its forms: {now: …, done: …}."""
    found: dict[str, set[str]] = {}
    for name, verbs in classes.items():
        forms = (
            [(form, word) for form, words in verbs.items() for word in words.split()]
            if isinstance(verbs, Mapping)
            else [pair for verb in verbs.split() for pair in _forms(verb, spelling)]
        )
        for form, word in forms:
            found.setdefault(word, set()).add(f"{name}:{form}")
    return {word: frozenset(tags) for word, tags in found.items()}


def _forms(verb: str, spelling: Spelling) -> list[tuple[str, str]]:
    past = spelling.past.get(verb) or _regular(verb, "ed", spelling)
    return [
        (BARE, verb),
        (NOW, _now(verb, spelling)),
        (PAST, past),
        (DONE, spelling.done.get(verb, past)),
        (GOING, _regular(verb, "ing", spelling)),
    ]


def _now(verb: str, spelling: Spelling) -> str:
    for pattern, new in spelling.now:
        if pattern.search(verb):
            return pattern.sub(new, verb, count=1)
    return verb


def _regular(verb: str, ending: str, spelling: Spelling) -> str:
    if verb.endswith("e") and not (ending == "ing" and verb.endswith(("ee", "oe", "ye"))):
        return verb[:-1] + ending
    if ending == "ed" and verb.endswith("y") and verb[-2] not in _VOWELS:
        return f"{verb[:-1]}ied"
    if _SHORT.match(verb) or verb in spelling.doubled:
        return verb + verb[-1] + ending
    return verb + ending
