"""Render the fresh context: changes since the block, and recalled memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tacit import limits
from tacit.prompts.fence import (
    MemoryLine,
    category_label,
    category_title,
    make_label,
    render_line,
    wrap_in_fence,
)
from tacit.records.results import Change
from tacit.records.text import TokenCounter, count_parts_within

_SIGNS = {
    "created": "+",
    "updated": "\u2191",
    "merged": "\u2194",
    "deleted": "\u2212",
    "soft_deleted": "\u2212",
    "expired": "\u2193",
    "restored": "\u21ba",
    "superseded": "\u2192",
}
_OTHER_SIGN = "\u2022"
_EVENTS_WITH_CATEGORY = frozenset(
    {"created", "updated", "restored"}
)  # these say under which category


def select_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes that a header tells: the last word on each memory, the newest ones, newest first.

    Only the memories of these need to be read for `lines`.
    """
    last: dict[str, Change] = {}
    for change in changes:
        known = last.get(change.memory_id)
        if known is None or change.revision > known.revision:
            last[change.memory_id] = change
    newest = sorted(last.values(), key=lambda change: (-change.revision, change.memory_id))
    return tuple(newest[: limits.FRESH_CHANGES_MAX_COUNT])


def render_changes(
    changes: Iterable[Change], since: int, lines: Mapping[str, MemoryLine]
) -> list[str]:
    """One line that says since when, then at most three bullets; nothing where nothing changed.

    `lines` holds the memories by id: it says what is hearsay. A change that has no content, or no
    line, is told by its id alone.
    """
    told = [
        _render_change(change, lines.get(change.memory_id)) for change in select_changes(changes)
    ]
    return [f"Memory updates since rev {since}:", *told] if told else []


def _render_change(change: Change, line: MemoryLine | None) -> str:
    event = make_label(change.event, limits.NAME_MAX_CHARS)
    sign = _SIGNS.get(change.event, _OTHER_SIGN)
    if change.content is None or line is None:
        return f"- {sign}{event}: memory {change.memory_id}"
    filed = f"[{category_title(line.category)}] " if change.event in _EVENTS_WITH_CATEGORY else ""
    weight = f" (imp={line.importance})" if change.event == "created" else ""
    return f"- {sign}{event}: {filed}{render_line(line, limits.FRESH_CHANGE_MAX_CHARS)}{weight}"


def render_recalled(
    recalled: Sequence[MemoryLine], related: Sequence[MemoryLine] = ()
) -> list[str]:
    """What was recalled, best first, then a few that are related to it and not among it."""
    ids = {line.id for line in recalled}
    others = [line for line in related if line.id not in ids]
    return [
        *(f"[{category_label(line.category)}] {render_line(line)}" for line in recalled),
        *(
            f"\u21b3 [{category_label(line.category)}] {render_line(line)}"
            for line in others[: limits.RELATED_MAX_COUNT]
        ),
    ]


def render_fresh_context(
    changes: Iterable[Change],
    since: int,
    bullets: Sequence[str],
    *,
    lines: Mapping[str, MemoryLine],
    budget_tokens: int,
    count: TokenCounter,
) -> str:
    """The fenced part, never more tokens than the budget; the empty text where nothing fits.

    What matters least stands last and is dropped first.
    """
    news = render_changes(changes, since, lines)
    parts = [*news, *(f"- {bullet}" for bullet in bullets)]
    fitting = count_parts_within(parts, budget_tokens, count, join=wrap_in_fence)
    if fitting == 0 or (news and fitting == 1):  # a header without a bullet tells nothing
        return ""
    return wrap_in_fence(parts[:fitting])
