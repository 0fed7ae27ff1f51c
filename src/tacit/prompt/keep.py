"""The blocks of conversations, put together from what is within reach, kept while it stands."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from threading import Lock

import numpy as np
from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.policy.redaction import may_enter_prompt, redact_memory
from tacit.prompt import noted, notes_block
from tacit.prompt.block import Rendered, render
from tacit.prompt.lines import line_of
from tacit.prompt.styles import Style
from tacit.recall import shelf as s
from tacit.recall.narrow import mask
from tacit.recall.recollection import Recollection
from tacit.recall.shelf import Whole
from tacit.recall.within import Within
from tacit.records.memory import Memory
from tacit.records.queries import RecallQuery
from tacit.records.request import Request
from tacit.records.results import Block
from tacit.records.text import TokenCounter
from tacit.storage import history, memory_reads, notes
from tacit.storage.memory_reads import AudienceCache, MemoryDecision

_ASKED_AT_ONCE_COUNT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which block: everything that its bytes depend on, beside what may be heard."""

    thread: str
    agent: str | None
    taken_at: int  # nothing that is newer
    style: Style
    items_max: int
    chars_max: int
    categories: frozenset[str] | None  # None: all
    excluded_categories: frozenset[str]  # categories that come by recall alone
    notes_since: date  # the first day whose sessions are summed up
    notes_revision: int = 0  # the revision of notes, where it is about these


class Blocks:
    def __init__(self, recollection: Recollection, audiences: AudienceCache) -> None:
        self._retriever = recollection
        self._audiences = audiences
        self._cache: OrderedDict[tuple[int, Wanted], tuple[Within, int, Block]] = OrderedDict()
        self._lock = Lock()

    def block(
        self, connection: Connection, request: Request, wanted: Wanted, count: TokenCounter
    ) -> Block:
        """The same within reach, and nothing of it expired: the same block."""
        whole = RecallQuery(text="", categories=wanted.categories)
        within = self._retriever.candidates(connection, request, whole)
        if wanted.style is Style.SUMMARY:
            wanted = replace(wanted, notes_revision=notes.notes_revision(connection, request.space))
        key, now = (id(within), wanted), to_micros(request.at)
        with self._lock:
            kept = self._cache.get(key)
        if kept is not None and kept[0] is within and now < kept[1]:
            return kept[2]
        if wanted.style is Style.SUMMARY:
            built, until = self._build_notes(connection, request, wanted, count)
        else:
            built, until = self._build(connection, request, within, wanted, whole, count)
        with self._lock:
            self._cache[key] = (within, until, built)
            if len(self._cache) > limits.BLOCKS_CACHED_MAX_COUNT:
                self._cache.popitem(last=False)
        return built

    def _build(
        self,
        connection: Connection,
        request: Request,
        within: Within,
        wanted: Wanted,
        whole: RecallQuery,
        count: TokenCounter,
    ) -> tuple[Block, int]:
        codes = self._retriever.index_cache.codes
        shown = mask(connection, request, whole, within, codes)
        shown &= within.facts[s.CREATED] <= wanted.taken_at
        news = history.list_new_since_block(connection, request, wanted.thread, wanted.taken_at)
        shown[[at for at in map(within.position_of, news) if at is not None]] = False
        left_out = [codes.of(category) for category in wanted.excluded_categories]
        shown &= ~np.isin(within.facts[s.CATEGORY], left_out)
        positions = np.flatnonzero(shown)
        until = int(within.facts[s.EXPIRES, positions].min()) if len(positions) else s.NEVER
        while True:
            ids = [within.id(at) for at in _foremost(within, positions, wanted.items_max)]
            found = self._read_memories(connection, request, ids)
            others = {
                id for id, (memory, _) in found.items() if not may_enter_prompt(request, memory)
            }
            if not others:
                break
            # Orders that others gave take nobody's place.
            positions = np.array(
                [at for at in positions.tolist() if within.id(at) not in others], np.int64
            )
        called = within.names.labels
        lines = [
            line_of(redact_memory(request, memory, called), within.names.labels_of(memory.subjects))
            for memory, _ in found.values()
        ]
        limits_ = {"items_max": wanted.items_max, "chars_max": wanted.chars_max}
        rendered = render(lines, wanted.style, **limits_)
        cut = dict(rendered.cut)
        for category, missed in _missed(within, positions, ids).items():
            name = codes.word(category)
            cut[name] = cut.get(name, 0) + missed
        return _block(rendered, cut, wanted, count), until

    def _read_memories(
        self, connection: Connection, request: Request, ids: Sequence[str]
    ) -> dict[str, MemoryDecision]:
        found: dict[str, MemoryDecision] = {}
        for start in range(0, len(ids), _ASKED_AT_ONCE_COUNT):
            some = ids[start : start + _ASKED_AT_ONCE_COUNT]
            found |= memory_reads.list_visible(connection, self._audiences, request, some)
        return found

    def _build_notes(
        self, connection: Connection, request: Request, wanted: Wanted, count: TokenCounter
    ) -> tuple[Block, int]:
        """The same moment, the same categories: what is new waits here too."""
        news = history.list_new_since_block(connection, request, wanted.thread, wanted.taken_at)

        def usable(memory: Memory) -> bool:
            return (
                memory.id not in news
                and to_micros(memory.created_at) <= wanted.taken_at
                and memory.category not in wanted.excluded_categories
                and (wanted.categories is None or memory.category in wanted.categories)
            )

        where = (connection, self._audiences, request)
        lasting = [memory for _, memory in noted.index(*where, usable)]
        recent = noted.sessions(*where, wanted.notes_since, usable)
        rendered = notes_block.render(
            [line_of(memory) for memory in lasting],
            [
                notes_block.Session(
                    summary=one.summary, ids=tuple(memory.id for memory in one.sources)
                )
                for one in recent
            ],
            items_max=wanted.items_max,
        )
        heard = [*lasting, *(memory for one in recent for memory in one.memories)]
        until = min((to_micros(m.expires_at) for m in heard if m.expires_at), default=s.NEVER)
        return _block(rendered, rendered.cut, wanted, count), until


def _block(
    rendered: Rendered, cut: Mapping[str, int], wanted: Wanted, count: TokenCounter
) -> Block:
    return Block(
        text=rendered.text,
        revision=wanted.taken_at,
        ids=rendered.shown,
        cut={name: cut[name] for name in sorted(cut)},
        tokens=count(rendered.text),
    )


def _foremost(within: Within, positions: Whole, most: int) -> Sequence[int]:
    """Of each category as many as a block could show at all: pinned, important, newest first, and
    of equals by their ids, so that every process chooses the same."""
    chosen: list[int] = []
    categories = within.facts[s.CATEGORY, positions]
    for category in np.unique(categories):
        some = positions[categories == category]
        keys = -within.facts[[s.PINNED, s.IMPORTANCE, s.CREATED]][:, some]
        order = np.lexsort(keys[::-1])
        some, keys = some[order], keys[:, order]
        if len(some) > most:
            equal = (keys == keys[:, most - 1 : most]).all(axis=0)
            before = some[: int(np.argmax(equal))]
            ties = sorted(some[equal].tolist(), key=within.id)
            chosen += [*before.tolist(), *ties[: most - len(before)]]
        else:
            chosen += some.tolist()
    return chosen


def _missed(within: Within, positions: Whole, ids: Sequence[str]) -> dict[int, int]:
    """How many of each category were not even looked at."""
    counts: Counter[int] = Counter(within.facts[s.CATEGORY, positions].tolist())
    looked_at = [at for at in map(within.position_of, ids) if at is not None]
    counts.subtract(within.facts[s.CATEGORY, looked_at].tolist())
    return {category: count for category, count in counts.items() if count}
