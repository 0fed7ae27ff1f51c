"""Recall memories for a question, and build the block and the fresh context of a prompt."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Literal, Unpack

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput, StoreError
from tacit.policy.rules import redact_memory
from tacit.prompts import fresh_context as freshly
from tacit.prompts.block import BlockSpec, Style
from tacit.prompts.fence import MemoryLine, make_line
from tacit.prompts.readable_notes import first_day
from tacit.records import queries as questions
from tacit.records import validation
from tacit.records.memory import Memory
from tacit.records.queries import RecallFilters, RecallQuery
from tacit.records.request import Request
from tacit.records.results import Block, Bullet, Delta, EventNode, EventOperation, EventStatus, Fresh, Recalled
from tacit.records.token_counts import count_parts_within
from tacit.retrieval.scoring import RecallAnswer
from tacit.retrieval.text_features import LazyPersonLabels
from tacit.storage import history, memory_reads
from tacit.storage.memories import EventRecord
from tacit.view.context import Resource, read

List = builtins.list
_FILTER_ALIASES = {"user_id": "user", "agent_id": "agent", "run_id": "run", "actor_id": "actor"}
_TIME_FILTERS = ("updated_after", "updated_before", "as_of")
_SEARCH_EVENT = EventRecord(EventNode.CONTEXT, EventOperation.SEARCH)
_FAILED_SEARCH_EVENT = EventRecord(EventNode.CONTEXT, EventOperation.SEARCH, EventStatus.ERROR)


class ViewRecall(Resource):
    @read("POST /api/recall", disabled=list)
    def recall(
        self,
        query: str,
        *,
        top_k: int = limits.RECALL_DEFAULT_COUNT,
        budget_tokens: int | None = None,
        **narrowing: Unpack[RecallFilters],
    ) -> List[Recalled]:
        """Recall memories for a question, best match first, from what may be shown here.

        Filters: categories, kinds, user, agent, run, actor, role, pinned, importance_min,
        importance_max, updated_after, updated_before, threshold, as_of. `include` selects memories,
        turns of conversations, or both: memories come first, then what people said that no memory
        says. Both is the default, unless a filter is on what only memories differ in.
        """
        question = self._parse_question(query, top_k, dict(narrowing), self._context.agent)
        most = _parse_budget(budget_tokens)
        found = self._run_recall(question)
        if most is not None:
            found = self._fit_to_budget(found, most)
        self._context.record_use(*(one.memory for one in found))
        return found

    @read("POST /api/query", disabled=list)
    def query(
        self,
        query: str,
        *,
        agent: str | None = None,
        categories: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = limits.QUERY_DEFAULT_COUNT,
        form: Literal["bullets", "full"] = "bullets",
        budget_tokens: int | None = None,
        threshold: float | None = None,
    ) -> List[Bullet]:
        """Answer the query tool of an agent: bullets for its prompt, or full records as well.

        An agent with an allow-list gets nothing outside it, regardless of its filters.
        """
        if form not in ("bullets", "full"):
            raise InvalidInput("form", "expected bullets or full")
        acting = validation.parse_optional_label("agent", agent) or self._context.agent
        if self._context.agent is not None and acting != self._context.agent:
            raise InvalidInput("agent", f"this view is {self._context.agent}'s")
        narrowing = _parse_filters(filters)
        for name, value in (("categories", categories), ("threshold", threshold)):
            if value is not None and narrowing.setdefault(name, value) != value:
                raise InvalidInput(name, "is named twice, and differently")
        question = self._parse_question(query, top_k, narrowing, acting)
        most = _parse_budget(budget_tokens)
        found = self._run_recall(question)
        told = _build_bullets(found, full=form == "full")
        if most is not None:
            told = told[: self._count_fitting([one.text for one in told], most)]
        ids = {one.id for one in told}
        self._context.record_use(*(one.memory for one in found if one.memory.id in ids))
        return told

    @read("GET /api/block", disabled=Block)
    def block(self, style: Style | str | None = None) -> Block:
        """Build the block, the cached beginning of a prompt.

        Its bytes stay the same until one of its memories changes; `fresh` returns what is new
        meanwhile.
        """
        how = self._context.options.style if style is None else validation.parse_enum("style", style, Style)
        taken = self._block_revision()
        return self._context.read(lambda c, r: self._build_block(c, r, how, taken))

    @read("POST /api/fresh", disabled=Fresh)
    def fresh(
        self,
        query: str,
        *,
        since: int | None = None,
        top_k: int = limits.RECALL_DEFAULT_COUNT,
        budget_tokens: int = limits.FRESH_BUDGET_TOKENS,
    ) -> Fresh:
        """Build the fresh context: changes since the block, and memories recalled for a question.

        It belongs in the part of a prompt that is new each turn. `since` is a revision; without it,
        that of the block.
        """
        most = _parse_budget(budget_tokens) or 0
        start = None if since is None else validation.parse_int("since", since, 0, limits.REVISION_MAX)
        found = self._recall_for_prompt(query, top_k)
        delta, start, changed = self._context.read(lambda c, r: self._read_changes(c, r, start))
        facts, episodes = ([make_line(one.memory) for one in found if one.memory.is_turn is t] for t in (False, True))
        lines = freshly.render_recalled(facts, [make_line(other) for one in found for other in one.related])
        lines += freshly.render_recalled(episodes)
        written = freshly.render_fresh_context(
            delta.changes, start, lines, lines=changed, budget_tokens=most, count=self._context.options.count_tokens
        )
        told = set(written.split("\n"))
        shown = [one for one in found if f"- {freshly.render_recalled([make_line(one.memory)])[0]}" in told]
        self._context.record_use(*(one.memory for one in shown))
        return Fresh(
            text=written,
            revision=delta.revision,
            recalled=tuple(shown),
            tokens=self._context.options.count_tokens(written),
        )

    def _parse_question(
        self, query: object, top_k: object, narrowing: dict[str, Any], agent: str | None
    ) -> RecallQuery:
        """Parse a recall request; refuse categories that the agent may not use.

        Leaving them out silently would look like an empty result.
        """
        question = questions.parse_recall_query(query, top_k, narrowing, self._context.options.categories)
        allowed = self._context.allowed_categories(agent)
        if allowed is None:
            return question
        if question.categories is not None and not question.categories <= allowed:
            refused = ", ".join(sorted(question.categories - allowed))
            raise InvalidInput("categories", f"this agent may not use {refused}")
        return replace(question, only=allowed)

    def _run_recall(self, question: RecallQuery) -> List[Recalled]:
        at = self._context.storage.clock()
        try:
            found = self._context.retriever.recall(self._context.read, question, self._recalled_factory())
        except StoreError:
            self._context.storage.emit_events(self._context.space, at, [_FAILED_SEARCH_EVENT])
            raise
        best = max([one.similarity for one in found], default=None)
        self._context.storage.emit_events(self._context.space, at, [_SEARCH_EVENT._replace(likeness=best)])
        return found

    def _recalled_factory(self) -> Callable[[Connection, Request, RecallAnswer], Recalled]:
        """Return a function that converts the answers of one recall, all for the same request."""
        names: List[LazyPersonLabels] = []

        def tell(connection: Connection, request: Request, one: RecallAnswer) -> Recalled:
            if not names:
                names.append(self._context.person_labels(connection, request))
            (called,) = names
            return Recalled(
                memory=self._context.redact(connection, request, one.memory, called),
                score=one.score,
                why=one.why,
                rule=one.rule,
                similarity=one.similarity,
                signals=one.signals,
                related=tuple(self._context.redact(connection, request, other, called) for other in one.related),
            )

        return tell

    def _recall_for_prompt(self, query: str, top_k: int) -> List[Recalled]:
        """Recall the best memories overall, and the allowed number of each recall-only category."""
        found = self._run_recall(self._parse_question(query, top_k, {}, self._context.agent))
        allowed = self._context.permitted_categories
        for category, most in self._context.options.recall_only_limits.items():
            if allowed is None or category in allowed:
                asked = self._parse_question(query, most, {"categories": [category]}, self._context.agent)
                found += self._run_recall(asked)
        best = {one.memory.id: one for one in reversed(found)}
        return sorted(best.values(), key=lambda one: (one.memory.is_turn, -one.score, one.memory.id))

    def _read_changes(
        self, connection: Connection, request: Request, since: int | None
    ) -> tuple[Delta, int, dict[str, MemoryLine]]:
        """Return the delta, the revision it starts at, and the lines that may be shown."""
        if since is None:
            since = history.block_taken_at(connection, request, self._context.thread)
        if since is None:
            return Delta(revision=0), 0, {}
        delta = self._context.read_delta(connection, request, since, newest=True)
        ids = [change.memory_id for change in freshly.select_changes(delta.changes)]
        found = memory_reads.list_visible(connection, self._context.storage.audiences, request, ids)
        called = self._context.person_labels(connection, request)
        lines = {id: make_line(redact_memory(request, one, called)) for id, (one, _) in found.items()}
        return delta, since, lines

    def _block_revision(self) -> int:
        """Return the revision of this conversation's block; take a snapshot if it has none."""
        gap = self._context.options.conversation_gap
        taken, audience = self._context.read(lambda c, r: history.current_block(c, r, self._context.thread, gap))
        if taken is not None:
            return taken
        # Without the idempotency guard: the caller did not ask for this write.
        return self._context.unguarded().write(lambda tx: history.take_block(tx, audience, gap))

    def _build_block(self, connection: Connection, request: Request, style: Style, taken: int) -> Block:
        allowed, policy = (self._context.permitted_categories, self._context.options)
        of_notes = style is Style.SUMMARY
        return self._context.runtime.blocks.block(
            connection,
            request,
            BlockSpec(
                thread=self._context.thread,
                agent=self._context.agent,
                taken_at=taken,
                style=style,
                items_max=policy.note_items_max if of_notes else policy.items_max,
                chars_max=policy.chars_max,
                categories=allowed,
                excluded_categories=frozenset(policy.recall_only_limits),
                notes_since=first_day(request.at, policy.note_days),
            ),
            policy.count_tokens,
        )

    def _fit_to_budget(self, found: List[Recalled], budget: int) -> List[Recalled]:
        """Keep as many results as fit the budget, then as many related memories as still fit."""
        kept: List[Recalled] = []
        lines: List[str] = []
        for one in found:
            line = freshly.render_recalled([make_line(one.memory)])
            if self._count_fitting([*lines, *line], budget) <= len(lines):
                break
            lines += line
            kept.append(replace(one, related=()))
        for number, one in enumerate(found[: len(kept)]):
            related = []
            for other in one.related:
                line = freshly.render_recalled([make_line(other)])
                if self._count_fitting([*lines, *line], budget) > len(lines):
                    lines += line
                    related.append(other)
            kept[number] = replace(kept[number], related=tuple(related))
        return kept

    def _count_fitting(self, lines: List[str], budget: int) -> int:
        return count_parts_within(lines, budget, self._context.options.count_tokens)


def _parse_budget(tokens: object) -> int | None:
    if tokens is None:
        return None
    return validation.parse_int("budget_tokens", tokens, 0, limits.BUDGET_MAX_TOKENS)


def _parse_filters(filters: object) -> dict[str, Any]:
    """Parse the filters of a tool call, in which times are text."""
    if filters is None:
        return {}
    if not isinstance(filters, Mapping):
        raise InvalidInput("filters", "expected names and values")
    found: dict[str, Any] = {}
    for name, value in filters.items():
        known = _FILTER_ALIASES.get(str(name), str(name))
        found[known] = validation.parse_iso_datetime(known, value) if known in _TIME_FILTERS else value
    return found


def _build_bullets(found: List[Recalled], *, full: bool) -> List[Bullet]:
    told: dict[str, Bullet] = {}
    for one in found:
        told[one.memory.id] = _build_bullet(one.memory, one if full else None)
    for one in found:
        for other in one.related:
            told.setdefault(other.id, _build_bullet(other, None, related=True))
    return list(told.values())


def _build_bullet(memory: Memory, recalled: Recalled | None, *, related: bool = False) -> Bullet:
    return Bullet(
        id=memory.id,
        category=memory.category,
        text=freshly.render_recalled([make_line(memory)])[0],
        related=related,
        recalled=recalled,
    )
