"""Build and cache the block: the part of a prompt that a model provider can cache."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from itertools import groupby
from threading import Lock

import numpy as np
from cachetools import FIFOCache
from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.policy.rules import may_enter_prompt, redact_memory
from tacit.prompts import readable_notes
from tacit.prompts.fence import (
    FENCE_CLOSE,
    FENCE_OPEN,
    MemoryLine,
    category_label,
    category_title,
    make_hedge,
    make_inert,
    make_label,
    make_line,
    people_label,
    render_line,
    wrap_in_fence,
)
from tacit.records.memory import Memory
from tacit.records.notes import NoteSummary
from tacit.records.queries import RecallQuery
from tacit.records.request import Request
from tacit.records.results import Block
from tacit.records.token_counts import TokenCounter
from tacit.retrieval.index_cache import (
    CATEGORY,
    CREATED,
    EXPIRES,
    IMPORTANCE,
    NEVER_EXPIRES,
    PINNED,
    CandidateSet,
    Ints,
)
from tacit.retrieval.retriever import Retriever
from tacit.retrieval.scoring import build_filter_mask
from tacit.storage import history, memory_reads, notes
from tacit.storage.memory_reads import AudienceCache, MemoryDecision

# Layouts of a block. `render_notes_block` lays out the summaries of notes.


class Style(StrEnum):
    MEMORY = "memory"  # Markdown with headings
    FILTERED = "filtered"  # keys and values
    SUMMARY = "summary"  # of notes: the long-term index, then recent sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the frame, a category and a memory are written."""

    head: tuple[str, ...]
    tail: tuple[str, ...]
    item: Callable[[MemoryLine], str]
    before_group: Callable[[str], tuple[str, ...]] = lambda _: ()
    after_group: tuple[str, ...] = ()

    def group_chars(self, category: str) -> int:
        """Return the characters of a category without its memories."""
        return sum(len(line) + 1 for line in (*self.before_group(category), *self.after_group))


_PLAIN_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./@+-]*")


def _render_memory_item(line: MemoryLine) -> str:
    about = f"[{people_label(line)}] " if line.about else ""
    return f"- [id:{line.id}] {about}{render_line(line)}"


def _render_filtered_item(line: MemoryLine) -> str:
    value = render_line(line, keyed=False)
    shown = value if not make_hedge(line) and _is_json(value) else _quote_json(value)
    key = ""
    if line.key is not None:
        name = make_inert(line.key)
        key = f"{name if _PLAIN_KEY.fullmatch(name) else _quote_json(name)} = "
    return f"  {key}{shown} [id:{line.id}]"


def _quote_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _is_json(text: str) -> bool:
    """Whether the text is a JSON object or list, which is shown without quotes."""
    if not text.startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


LAYOUTS = {
    Style.MEMORY: Layout(
        head=(
            "## Your Memory",
            "",
            "The following is what you have learned in earlier conversations.",
            "Use it naturally. To update a memory, use the update_memory tool with its id.",
            "",
            FENCE_OPEN,
        ),
        tail=(FENCE_CLOSE,),
        before_group=lambda category: (f"### {category_title(category)}",),
        item=_render_memory_item,
        after_group=("",),
    ),
    Style.FILTERED: Layout(
        head=("Long-term Memory (filtered)", FENCE_OPEN),
        tail=(FENCE_CLOSE,),
        before_group=lambda category: (f"{category_label(category)}:",),
        item=_render_filtered_item,
    ),
}


# Which memories are shown if not all fit. Every category first fills an equal share of items and
# characters; the rest goes, one memory at a time, to the category that has used least.

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenLine:
    line: MemoryLine
    text: str

    @property
    def chars(self) -> int:
        return len(self.text) + 1  # with the line end


@dataclass(slots=True, kw_only=True)
class _CategoryBudget:
    """The state of one category during the selection."""

    opening_chars: int  # of its heading, counted with its first memory
    waiting: deque[MemoryLine]  # best first
    write: Callable[[MemoryLine], str]
    taken: list[WrittenLine] = field(default_factory=list)
    chars: int = 0

    def take_next(self, chars_left: int) -> bool:
        """Take the next memory if it fits; drop it otherwise, because it never will."""
        line = self.waiting.popleft()
        item = WrittenLine(line=line, text=self.write(line))
        cost = item.chars + (0 if self.taken else self.opening_chars)
        if cost <= chars_left:
            self.taken.append(item)
            self.chars += cost
        return cost <= chars_left


def line_priority(line: MemoryLine) -> tuple[bool, int, timedelta, str]:
    """Return the sort key within a category: pinned, important, newest."""
    return (not line.pinned, -line.importance, _EPOCH - line.created_at, line.id)


def line_order(line: MemoryLine) -> tuple[str, datetime, str]:
    """Return the sort key for display."""
    return (line.category, line.created_at, line.id)


def choose_lines(
    lines: Iterable[MemoryLine],
    *,
    write: Callable[[MemoryLine], str],
    opening_chars: Callable[[str], int],
    items_max: int,
    chars_max: int,
) -> list[WrittenLine]:
    """Choose the memories to show within both limits, in display order."""
    by_category: defaultdict[str, list[MemoryLine]] = defaultdict(list)
    for line in lines:
        by_category[line.category].append(line)
    if not by_category or items_max < 1:
        return []
    groups = [
        _CategoryBudget(
            opening_chars=opening_chars(category),
            # No category can show more than the limit.
            waiting=deque(sorted(by_category[category], key=line_priority)[:items_max]),
            write=write,
        )
        for category in sorted(by_category)
    ]
    for group in groups:
        _fill_share(group, items_max // len(groups), chars_max // len(groups))
    _distribute_rest(groups, items_max, chars_max)
    taken = [item for group in groups for item in group.taken]
    return sorted(taken, key=lambda item: line_order(item.line))


def _fill_share(group: _CategoryBudget, items: int, chars: int) -> None:
    """Fill the guaranteed share of a category."""
    too_long = []
    while group.waiting and len(group.taken) < items:
        line = group.waiting[0]
        if not group.take_next(chars - group.chars):
            too_long.append(line)
    group.waiting.extendleft(reversed(too_long))


def _distribute_rest(groups: list[_CategoryBudget], items_max: int, chars_max: int) -> None:
    def next_up(group: _CategoryBudget) -> tuple[int, tuple[bool, int, timedelta, str]]:
        used = max(len(group.taken) * chars_max, group.chars * items_max)  # the scarcer of the two
        return (used, line_priority(group.waiting[0]))

    items_left = items_max - sum(len(group.taken) for group in groups)
    chars_left = chars_max - sum(group.chars for group in groups)
    hungry = [group for group in groups if group.waiting]
    while hungry and items_left:
        group = min(hungry, key=next_up)
        before = group.chars
        if group.take_next(chars_left):
            items_left -= 1
            chars_left -= group.chars - before
        if not group.waiting:
            hungry.remove(group)


# Rendering. The text depends on the memories only, so that providers can cache it.


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedBlock:
    text: str = ""
    shown: tuple[str, ...] = ()  # ids, in the order of the text
    cut: Mapping[str, int] = field(default_factory=dict)  # memories left out, by category


def render_block(
    lines: Sequence[MemoryLine],
    style: Style,
    *,
    items_max: int = limits.BLOCK_ITEMS_MAX_COUNT,
    chars_max: int = limits.BLOCK_MAX_CHARS,
) -> RenderedBlock:
    """Render the memories; "" without any. `chars_max` includes frame and fence."""
    layout = LAYOUTS[style]
    frame_chars = sum(len(line) + 1 for line in (*layout.head, *layout.tail)) - 1
    shown = choose_lines(
        lines,
        write=layout.item,
        opening_chars=layout.group_chars,
        items_max=items_max,
        chars_max=chars_max - frame_chars,
    )
    cut = Counter(line.category for line in lines)
    cut.subtract(item.line.category for item in shown)
    text = [*layout.head]
    for category, items in groupby(shown, key=lambda item: item.line.category):
        text += layout.before_group(category)
        text += [item.text for item in items]
        text += layout.after_group
    return RenderedBlock(
        text="\n".join([*text, *layout.tail]) if shown else "",
        shown=tuple(item.line.id for item in shown),
        cut={name: count for name, count in sorted(cut.items()) if count},
    )


# The notes style: a line for each item of the long-term index, then one for each recent session
# with its path. Never the whole text of a note.

LONG_TERM = "long_term"  # key of `cut`
SHORT_TERM = "short_term"
_LONG_TERM_HEAD = "[Memory:LongTerm:Summary]"
_SHORT_TERM_HEAD = "[Memory:ShortTerm:Recent]"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLine:
    """The line of a session."""

    summary: NoteSummary
    ids: tuple[str, ...]  # of the memories that the summary is made of


def render_notes_block(
    lasting: Sequence[MemoryLine], sessions: Sequence[SessionLine], *, items_max: int
) -> RenderedBlock:
    """Render long-term items and recent sessions, newest first.

    Each gets half of the limit, and what one leaves the other may use.
    """
    half = items_max // 2
    lasting_max = items_max - min(len(sessions), half)
    kept = {line.id for line in sorted(lasting, key=line_priority)[:lasting_max]}
    shown = [line for line in lasting if line.id in kept]
    recent = sessions[: items_max - len(shown)]
    parts = [
        [_LONG_TERM_HEAD, *(f"- {render_line(line)}" for line in shown)] if shown else [],
        [_SHORT_TERM_HEAD, *map(_render_session, recent)] if recent else [],
    ]
    text = "\n\n".join("\n".join(part) for part in parts if part)
    cut = {LONG_TERM: len(lasting) - len(shown), SHORT_TERM: len(sessions) - len(recent)}
    ids = (*(line.id for line in shown), *(id for one in recent for id in one.ids))
    return RenderedBlock(
        text=wrap_in_fence([text]) if text else "",
        shown=tuple(dict.fromkeys(ids)),
        cut={what: count for what, count in cut.items() if count},
    )


def _render_session(one: SessionLine) -> str:
    """Render a session. Labels contain no square brackets, so no text can fake the progress."""
    note = one.summary
    words = make_label(note.summary, limits.LINE_MAX_CHARS)
    progress = f"[progress: tasks {note.tasks}, follow_ups {note.follow_ups}]"
    return f"- {note.day.isoformat()}: {words} ({make_inert(note.path)}) {progress}"


_READ_BATCH_COUNT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSpec:
    """Everything that the text depends on besides the permitted memories: the cache key."""

    thread: str
    agent: str | None
    taken_at: int  # newer memories are left out
    style: Style
    items_max: int
    chars_max: int
    categories: frozenset[str] | None  # None: all
    excluded_categories: frozenset[str]  # categories that only recall returns
    notes_since: date  # the first day of recent sessions
    notes_revision: int = 0  # of the notes, in their style only


class BlockCache:
    """The blocks of recent conversations, valid as long as the permitted memories are the same."""

    def __init__(self, retriever: Retriever, audiences: AudienceCache) -> None:
        self._retriever = retriever
        self._audiences = audiences
        self._cache: FIFOCache[tuple[int, BlockSpec], tuple[CandidateSet, int, Block]] = FIFOCache(
            limits.BLOCKS_CACHED_MAX_COUNT
        )
        self._lock = Lock()

    def block(self, connection: Connection, request: Request, wanted: BlockSpec, count: TokenCounter) -> Block:
        """Return the cached block if the candidates are the same and none has expired."""
        whole = RecallQuery(text="", categories=wanted.categories)
        candidates = self._retriever.candidates(connection, request, whole)
        if wanted.style is Style.SUMMARY:
            wanted = replace(wanted, notes_revision=notes.notes_revision(connection, request.space))
        key, now = (id(candidates), wanted), to_micros(request.at)
        with self._lock:
            kept = self._cache.get(key)
        if kept is not None and kept[0] is candidates and now < kept[1]:
            return kept[2]
        if wanted.style is Style.SUMMARY:
            built, until = self._build_notes(connection, request, wanted, count)
        else:
            built, until = self._build(connection, request, candidates, wanted, whole, count)
        with self._lock:
            self._cache[key] = (candidates, until, built)
        return built

    def _build(
        self,
        connection: Connection,
        request: Request,
        candidates: CandidateSet,
        wanted: BlockSpec,
        whole: RecallQuery,
        count: TokenCounter,
    ) -> tuple[Block, int]:
        codes = self._retriever.index_cache.codes
        shown = build_filter_mask(connection, request, whole, candidates, codes)
        shown &= candidates.facts[CREATED] <= wanted.taken_at
        news = history.list_new_since_block(connection, request, wanted.thread, wanted.taken_at)
        shown[[at for at in map(candidates.position_of, news) if at is not None]] = False
        left_out = [codes.of(category) for category in wanted.excluded_categories]
        shown &= ~np.isin(candidates.facts[CATEGORY], left_out)
        positions = np.flatnonzero(shown)
        until = int(candidates.facts[EXPIRES, positions].min()) if len(positions) else NEVER_EXPIRES
        while True:
            ids = [candidates.id(at) for at in _select_positions(candidates, positions, wanted.items_max)]
            found = self._read_memories(connection, request, ids)
            others = {id for id, (memory, _) in found.items() if not may_enter_prompt(request, memory)}
            if not others:
                break
            # Select again without the instructions of others, so that they take no memory's place.
            positions = np.array([at for at in positions.tolist() if candidates.id(at) not in others], np.int64)
        called = candidates.names.labels
        lines = [
            make_line(redact_memory(request, memory, called), candidates.names.labels_of(memory.subjects))
            for memory, _ in found.values()
        ]
        rendered = render_block(lines, wanted.style, items_max=wanted.items_max, chars_max=wanted.chars_max)
        # Add those of each category that were not selected.
        categories = candidates.facts[CATEGORY]
        selected = [at for at in map(candidates.position_of, ids) if at is not None]
        cut = Counter(rendered.cut)
        cut.update(map(codes.word, categories[positions].tolist()))
        cut.subtract(map(codes.word, categories[selected].tolist()))
        return _make_block(rendered, cut, wanted, count), until

    def _read_memories(self, connection: Connection, request: Request, ids: Sequence[str]) -> dict[str, MemoryDecision]:
        found: dict[str, MemoryDecision] = {}
        for start in range(0, len(ids), _READ_BATCH_COUNT):
            some = ids[start : start + _READ_BATCH_COUNT]
            found |= memory_reads.list_visible(connection, self._audiences, request, some)
        return found

    def _build_notes(
        self, connection: Connection, request: Request, wanted: BlockSpec, count: TokenCounter
    ) -> tuple[Block, int]:
        """Build the block in the notes style, with the same time and category limits."""
        news = history.list_new_since_block(connection, request, wanted.thread, wanted.taken_at)

        def usable(memory: Memory) -> bool:
            return (
                memory.id not in news
                and to_micros(memory.created_at) <= wanted.taken_at
                and memory.category not in wanted.excluded_categories
                and (wanted.categories is None or memory.category in wanted.categories)
            )

        where = (connection, self._audiences, request)
        lasting = [memory for _, memory in readable_notes.list_index_items(*where, usable)]
        recent = readable_notes.list_recent_sessions(*where, wanted.notes_since, usable)
        rendered = render_notes_block(
            [make_line(memory) for memory in lasting],
            [SessionLine(summary=one.summary, ids=tuple(memory.id for memory in one.sources)) for one in recent],
            items_max=wanted.items_max,
        )
        heard = [*lasting, *(memory for one in recent for memory in one.memories)]
        until = min((to_micros(m.expires_at) for m in heard if m.expires_at), default=NEVER_EXPIRES)
        return _make_block(rendered, rendered.cut, wanted, count), until


def _make_block(rendered: RenderedBlock, cut: Mapping[str, int], wanted: BlockSpec, count: TokenCounter) -> Block:
    return Block(
        text=rendered.text,
        revision=wanted.taken_at,
        ids=rendered.shown,
        cut={name: cut[name] for name in sorted(cut) if cut[name]},
        tokens=count(rendered.text),
    )


def _select_positions(candidates: CandidateSet, positions: Ints, most: int) -> Sequence[int]:
    """Select up to `most` of each category: pinned, important, newest, then by id.

    The id makes every process choose the same.
    """
    chosen: list[int] = []
    categories = candidates.facts[CATEGORY, positions]
    for category in np.unique(categories):
        some = positions[categories == category]
        keys = -candidates.facts[[PINNED, IMPORTANCE, CREATED]][:, some]
        order = np.lexsort(keys[::-1])
        some, keys = some[order], keys[:, order]
        if len(some) > most:
            equal = (keys == keys[:, most - 1 : most]).all(axis=0)
            before = some[: int(np.argmax(equal))]
            ties = sorted(some[equal].tolist(), key=candidates.id)
            chosen += [*before.tolist(), *ties[: most - len(before)]]
        else:
            chosen += some.tolist()
    return chosen
