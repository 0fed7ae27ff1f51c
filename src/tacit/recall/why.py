"""Why a memory came to mind, as a sentence: the signals that raised it, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.records.results import Signals

_WORDS_SHOWN_COUNT = 4
_CLOSE = 0.5
_SOMEWHAT_CLOSE = 0.3
_RECENT = 0.5
_IMPORTANT = 0.75


def sentence(signals: Signals, shared: Sequence[str], named: Sequence[str]) -> str:
    """`shared` are words of the question as they were asked, `named` the people it names."""
    parts = []
    if shared:
        parts.append(_words(shared))
    if signals.meaning >= _CLOSE:
        parts.append("it is close in meaning")
    elif signals.meaning >= _SOMEWHAT_CLOSE:
        parts.append("it is somewhat close in meaning")
    if signals.own > 0:
        parts.append("it answers what you ask about yourself")
    if named:
        parts.append(f"it is about {_listed(named)}")
    if signals.around > signals.words:
        parts.append("what was said right before or after it fits")
    if signals.time > 0:
        parts.append("it is from the time that was asked for")
    if signals.related > 0:
        parts.append("it is related to another memory that fits")
    if signals.pinned > 0:
        parts.append("it is pinned")
    if signals.importance >= _IMPORTANT:
        parts.append("it is important")
    if not parts and signals.meaning > 0:
        parts.append("it is a little close in meaning")
    if signals.recency >= _RECENT:
        parts.append("it is recent")
    text = "; ".join(parts) if parts else "it fits the question a little"
    return text[0].upper() + text[1:] + "."


def _words(shared: Sequence[str]) -> str:
    some = [f"“{word}”" for word in shared[:_WORDS_SHOWN_COUNT]]
    return f"it shares the word{'s' if len(shared) > 1 else ''} {_listed(some)}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
