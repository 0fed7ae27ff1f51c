"""The part of a remote view that brings things to mind, and learns."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, Unpack

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation as texts
from tacit.records.conversation import Message
from tacit.records.queries import RecallFilters
from tacit.records.results import Accepted, Block, Bullet, Fresh, Recalled, Recorded, TraceStep
from tacit.surfaces.client.calling import Calling, messages_told, query, said, told
from tacit.surfaces.client.server import Call

List = builtins.list


class RemoteRecall(Calling):
    def recall(
        self,
        query: str,
        *,
        top_k: int = limits.RECALL_DEFAULT_COUNT,
        budget_tokens: int | None = None,
        **narrowing: Unpack[RecallFilters],
    ) -> List[Recalled]:
        found: list[Recalled] = self._ask(
            list[Recalled],
            "/api/recall",
            query=query,
            top_k=top_k,
            **said(budget_tokens=budget_tokens, **narrowing),
        )
        return found

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
        found: list[Bullet] = self._ask(
            list[Bullet],
            "/api/query",
            query=query,
            top_k=top_k,
            **{"return": form},
            **said(
                agent=agent,
                categories=categories,
                filters=filters,
                budget_tokens=budget_tokens,
                threshold=threshold,
            ),
        )
        return found

    def block(self, style: str | None = None) -> Block:
        if style is not None and not isinstance(style, str):
            raise InvalidInput("style", f"{type(style).__name__} is no style")
        found: Block = self._get(Block, f"/api/block{query(style=style)}")
        return found

    def fresh(
        self,
        query: str,
        *,
        since: int | None = None,
        top_k: int = limits.RECALL_DEFAULT_COUNT,
        budget_tokens: int = limits.FRESH_BUDGET_TOKENS,
    ) -> Fresh:
        found: Fresh = self._ask(
            Fresh,
            "/api/fresh",
            query=query,
            top_k=top_k,
            budget_tokens=budget_tokens,
            **said(since=since),
        )
        return found

    def learn(self, messages: Iterable[Message]) -> Accepted:
        turns = messages_told(messages)
        found: Accepted = self._write(Accepted, "POST", "/api/learn", messages=turns)
        return found

    def record(self, messages: Iterable[Message], *, session: str | None = None) -> Recorded:
        turns = messages_told(messages)
        found: Recorded = self._write(
            Recorded, "POST", "/api/record", messages=turns, **said(session=session)
        )
        return found

    def trace(self, text: str | Message, keep: bool = False) -> tuple[TraceStep, ...]:
        """What is kept here is kept at every try, so there is only one."""
        kept = texts.parse_bool("keep", keep)
        if kept and self._given:
            raise InvalidInput("once", "does not cover a trace; hand what was said to learn")
        body = told({"text": text, "keep": kept})
        call = Call(
            method="POST",
            path="/api/trace",
            headers=self._claims,
            body=body,
            repeatable=not kept,
        )
        found: tuple[TraceStep, ...] = self._decode(tuple[TraceStep, ...], self._server.send(call))
        return found
