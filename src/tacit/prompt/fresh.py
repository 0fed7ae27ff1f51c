"""The fresh part, after the cache point: what changed since the block, and what came to mind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tacit import limits
from tacit.prompt.fence import fenced, label
from tacit.prompt.lines import Line, heading, named, said
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
_FILED = frozenset({"created", "updated", "restored"})  # these say under which category


def chosen(changes: Iterable[Change]) -> tuple[Change, ...]:
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


def header(changes: Iterable[Change], since: int, lines: Mapping[str, Line]) -> list[str]:
    """One line that says since when, then at most three bullets; nothing where nothing changed.

    `lines` holds the memories by id: it says what is hearsay. A change that has no content, or no
    line, is told by its id alone.
    """
    told = [_bullet(change, lines.get(change.memory_id)) for change in chosen(changes)]
    return [f"Memory updates since rev {since}:", *told] if told else []


def _bullet(change: Change, line: Line | None) -> str:
    event = label(change.event, limits.NAME_MAX_CHARS)
    sign = _SIGNS.get(change.event, _OTHER_SIGN)
    if change.content is None or line is None:
        return f"- {sign}{event}: memory {change.memory_id}"
    filed = f"[{heading(line.category)}] " if change.event in _FILED else ""
    weight = f" (imp={line.importance})" if change.event == "created" else ""
    return f"- {sign}{event}: {filed}{said(line, limits.FRESH_CHANGE_MAX_CHARS)}{weight}"


def bullets(recalled: Sequence[Line], related: Sequence[Line] = ()) -> list[str]:
    """What was recalled, best first, then a few that are related to it and not among it."""
    ids = {line.id for line in recalled}
    others = [line for line in related if line.id not in ids]
    return [
        *(f"[{named(line.category)}] {said(line)}" for line in recalled),
        *(
            f"\u21b3 [{named(line.category)}] {said(line)}"
            for line in others[: limits.RELATED_MAX_COUNT]
        ),
    ]


def fresh(
    changes: Iterable[Change],
    since: int,
    bullets: Sequence[str],
    *,
    lines: Mapping[str, Line],
    budget_tokens: int,
    count: TokenCounter,
) -> str:
    """The fenced part, never more tokens than the budget; the empty text where nothing fits.

    What matters least stands last and is dropped first.
    """
    news = header(changes, since, lines)
    parts = [*news, *(f"- {bullet}" for bullet in bullets)]
    fitting = count_parts_within(parts, budget_tokens, count, join=fenced)
    if fitting == 0 or (news and fitting == 1):  # a header without a bullet tells nothing
        return ""
    return fenced(parts[:fitting])
