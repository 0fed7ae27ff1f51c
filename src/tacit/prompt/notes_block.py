"""The block in the style of summaries: a line for each thing that is kept for good, then one for
each session of recent days, with where to read more. Never a note's whole text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit import limits
from tacit.prompt.block import Rendered
from tacit.prompt.fair import rank
from tacit.prompt.fence import fenced, inert, label
from tacit.prompt.lines import Line, said
from tacit.records.notes import NoteSummary

LONG_TERM = "long_term"  # what `cut` counts by
SHORT_TERM = "short_term"
_LONG_TERM_HEAD = "[Memory:LongTerm:Summary]"
_SHORT_TERM_HEAD = "[Memory:ShortTerm:Recent]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session's line."""

    summary: NoteSummary
    ids: tuple[str, ...]  # of the memories that its words are from


def render(lasting: Sequence[Line], sessions: Sequence[Session], *, items_max: int) -> Rendered:
    """`lasting` in the order of the index, `sessions` newest first. One limit for both: each has
    half of it, and what one leaves over the other may have."""
    half = items_max // 2
    lasting_max = items_max - min(len(sessions), half)
    kept = {line.id for line in sorted(lasting, key=rank)[:lasting_max]}
    shown = [line for line in lasting if line.id in kept]
    recent = sessions[: items_max - len(shown)]
    parts = [
        [_LONG_TERM_HEAD, *(f"- {said(line)}" for line in shown)] if shown else [],
        [_SHORT_TERM_HEAD, *map(_session, recent)] if recent else [],
    ]
    text = "\n\n".join("\n".join(part) for part in parts if part)
    cut = {LONG_TERM: len(lasting) - len(shown), SHORT_TERM: len(sessions) - len(recent)}
    ids = (*(line.id for line in shown), *(id for one in recent for id in one.ids))
    return Rendered(
        text=fenced([text]) if text else "",
        shown=tuple(dict.fromkeys(ids)),
        cut={what: count for what, count in cut.items() if count},
    )


def _session(one: Session) -> str:
    """Square brackets are ours alone here: no text can claim to be its own progress."""
    told = one.summary
    words = label(told.summary, limits.LINE_MAX_CHARS)
    progress = f"[progress: tasks {told.tasks}, follow_ups {told.follow_ups}]"
    return f"- {told.day.isoformat()}: {words} ({inert(told.path)}) {progress}"
