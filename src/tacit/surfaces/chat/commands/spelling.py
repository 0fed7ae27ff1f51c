"""Commands in plain words: "forget my cat", "bitte lösche meine Adresse", "undo that"."""

from __future__ import annotations

import re

FORGET, ALL = "forget", "everything"
_VERBS = frozenset(
    re.findall(r"\S+", "forget delete remove erase vergiss vergesse lösch lösche entfern entferne")
)
_VERBS_LAST = frozenset(
    re.findall(r"\S+", "vergessen löschen entfernen")
)  # "kannst du … vergessen"
_POLITE = frozenset(
    re.findall(
        r"\S+",
        "please bitte can could would will you kannst könntest würdest du ok okay hey so now just "
        "i want i'd like need to thanks thank danke mal jetzt also and und",
    )
)
_LINKS = frozenset(re.findall(r"\S+", "about that dass the fact über davon"))
_POINTING = frozenset(
    re.findall(r"\S+", "it this that them these those das es dies alles everything all")
)
_ME = frozenset(
    re.findall(r"\S+", "me mich about über von mir you know have du weißt hast was what i")
)
_EVERYTHING = frozenset(re.findall(r"\S+", "everything all alles"))
_WORDS_MAX_COUNT = 15
_PHRASES = {
    phrase: command
    for command, phrases in {
        "help": (
            "help",
            "help me",
            "what can you do",
            "how does this work",
            "hilfe",
            "was kannst du",
        ),
        "undo": ("undo", "undo that", "undo it", "take that back", "rückgängig"),
    }.items()
    for phrase in phrases
}


def spelled_out(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the command that one plain clause is, and the words after it; None for any other
    text. Who gives reasons or says more talks, and commands nothing."""
    clause = text.strip().rstrip(".!?").replace("’", "'")
    if clause.lower() in _PHRASES:
        return _PHRASES[clause.lower()], ()
    words = [one.strip(",") for one in clause.split()]
    if re.search(r"[.;!?\n]", clause) or len(words) > _WORDS_MAX_COUNT:
        return None
    opening = _count_polite(words)
    words, before = words[opening:], {one.lower() for one in words[:opening]}
    if "i" in before and "you" not in before:
        return None  # "I want to forget my exam"
    words = _without_polite_end(words)
    if words and words[0].lower() in _VERBS:
        return FORGET, _meant(words[1:])
    if before and len(words) > 1 and words[-1].lower() in _VERBS_LAST:
        return FORGET, _meant(_without_polite_end(words[:-1]))
    return None


def _count_polite(words: list[str]) -> int:
    polite = [one.lower() in _POLITE for one in words]
    return polite.index(False) if False in polite else len(words)


def _without_polite_end(words: list[str]) -> list[str]:
    return words[: len(words) - _count_polite(words[::-1])]


def _meant(words: list[str]) -> tuple[str, ...]:
    """What is to be forgotten; nothing where a word only points at something."""
    low = [one.lower() for one in words]
    if low and low[0] in _EVERYTHING and set(low[1:]) <= _ME | _LINKS:
        return (ALL,)
    if low in (["me"], ["mich"], ["about", "me"]):
        return (ALL,)
    if set(low) <= _POINTING | _LINKS:
        return ()
    return tuple(words)
