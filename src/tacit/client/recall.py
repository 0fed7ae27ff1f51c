"""Recall, build prompts and learn through a remote view."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, Unpack

from tacit import limits
from tacit.client.calls import (
    RemoteCalls,
    check_messages,
    drop_none,
    encode_arguments,
    query_string,
)
from tacit.client.transport import ApiRequest
from tacit.errors import InvalidInput
from tacit.records import validation as texts
from tacit.records.conversation import Message
from tacit.records.queries import RecallFilters
from tacit.records.results import Accepted, Block, Bullet, Fresh, Recalled, Recorded, TraceStep

List = builtins.list


class RemoteRecall(RemoteCalls):
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
            **drop_none(budget_tokens=budget_tokens, **narrowing),
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
            **drop_none(
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
        found: Block = self._get(Block, f"/api/block{query_string(style=style)}")
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
            **drop_none(since=since),
        )
        return found

    def learn(self, messages: Iterable[Message]) -> Accepted:
        turns = check_messages(messages)
        found: Accepted = self._write(Accepted, "POST", "/api/learn", messages=turns)
        return found

    def record(self, messages: Iterable[Message], *, session: str | None = None) -> Recorded:
        turns = check_messages(messages)
        found: Recorded = self._write(
            Recorded, "POST", "/api/record", messages=turns, **drop_none(session=session)
        )
        return found

    def trace(self, text: str | Message, keep: bool = False) -> tuple[TraceStep, ...]:
        """Trace a message. With `keep` it is not retried: each try would write again."""
        kept = texts.parse_bool("keep", keep)
        if kept and self._given:
            raise InvalidInput("once", "does not cover a trace; hand what was said to learn")
        body = encode_arguments({"text": text, "keep": kept})
        call = ApiRequest(
            method="POST",
            path="/api/trace",
            headers=self._claims,
            body=body,
            repeatable=not kept,
        )
        found: tuple[TraceStep, ...] = self._decode(tuple[TraceStep, ...], self._server.send(call))
        return found
