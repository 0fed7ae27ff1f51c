"""Render the fresh context: changes since the block, and recalled memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tacit import limits
from tacit.prompts.fence import MemoryLine, category_label, category_title, make_label, render_line, wrap_in_fence
from tacit.records.results import Change
from tacit.records.token_counts import TokenCounter, count_parts_within

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
_EVENTS_WITH_CATEGORY = frozenset({"created", "updated", "restored"})


def select_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return the last change of each memory, newest first, up to the limit of a prompt.

    Only these memories need to be read for `lines`.
    """
    last: dict[str, Change] = {}
    for change in changes:
        known = last.get(change.memory_id)
        if known is None or change.revision > known.revision:
            last[change.memory_id] = change
    newest = sorted(last.values(), key=lambda change: (-change.revision, change.memory_id))
    return tuple(newest[: limits.FRESH_CHANGES_MAX_COUNT])


def render_changes(changes: Iterable[Change], since: int, lines: Mapping[str, MemoryLine]) -> list[str]:
    """Return a header and at most three bullets; an empty list without changes.

    `lines` maps ids to memories. A change without content or line is shown by its id alone.
    """
    bullets = [_render_change(change, lines.get(change.memory_id)) for change in select_changes(changes)]
    return [f"Memory updates since rev {since}:", *bullets] if bullets else []


def _render_change(change: Change, line: MemoryLine | None) -> str:
    event = make_label(change.event, limits.NAME_MAX_CHARS)
    sign = _SIGNS.get(change.event, _OTHER_SIGN)
    if change.content is None or line is None:
        return f"- {sign}{event}: memory {change.memory_id}"
    filed = f"[{category_title(line.category)}] " if change.event in _EVENTS_WITH_CATEGORY else ""
    weight = f" (imp={line.importance})" if change.event == "created" else ""
    return f"- {sign}{event}: {filed}{render_line(line, limits.FRESH_CHANGE_MAX_CHARS)}{weight}"


def render_recalled(recalled: Sequence[MemoryLine], related: Sequence[MemoryLine] = ()) -> list[str]:
    """Render the results, best first, then a few related memories that are not among them."""
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
    """Return the fenced text within the budget, or "" if nothing fits.

    The least important lines come last and are dropped first.
    """
    news = render_changes(changes, since, lines)
    parts = [*news, *(f"- {bullet}" for bullet in bullets)]
    fitting = count_parts_within(parts, budget_tokens, count, join=wrap_in_fence)
    if fitting == 0 or (news and fitting == 1):  # a header without a bullet is useless
        return ""
    return wrap_in_fence(parts[:fitting])
