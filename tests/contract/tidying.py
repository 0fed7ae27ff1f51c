"""A model that compares pairs of notes as a test tells it to, over the real wire format."""

import re
from collections.abc import Callable
from typing import Any

from tacit.memory import Memory
from tacit.settings import Settings
from tacit.settings.sections import (
    ConsolidateSettings,
    LanguageSettings,
    LearnSettings,
    MemorySettings,
    ReflectSettings,
    SessionsSettings,
)
from tests.contract.rows import rows
from tests.llm.endpoint import Endpoint, Reply, Seen, answered
from tests.llm.replies import says

PAIR = re.compile(r"^pair (\d+)\nolder: (.*)\nnewer: (.*)$", re.MULTILINE)
Judge = Callable[[str, str], str]


def tidy(
    endpoint: Endpoint | None,
    *,
    pairs_per_day: int = 50,
    consolidate: bool = True,
    reflect: bool = False,
    summaries: bool = False,
    keep: bool = False,
    **language: Any,
) -> Settings:
    """Nothing happens by itself: a test says when."""
    usual: dict[str, Any] = {}
    if endpoint is not None:
        usual = {"provider": "openai", "model": "tiny", "base_url": endpoint.url, "retries": 0}
    return Settings(
        language=LanguageSettings(**{**usual, **language}),
        learn=LearnSettings(workers=0, debounce_seconds=0),
        memory=MemorySettings(sessions=SessionsSettings(keep=keep)),
        consolidate=ConsolidateSettings(enabled=consolidate, pairs_per_day=pairs_per_day),
        reflect=ReflectSettings(enabled=reflect, summaries=summaries),
    )


def material(seen: Seen) -> str:
    """What the model was given to read; what it is told of its mistakes comes later."""
    content = next(one["content"] for one in seen.body["messages"] if one["role"] == "user")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def asked_about(seen: Seen) -> list[tuple[str, str]]:
    return [(older, newer) for _, older, newer in PAIR.findall(material(seen))]


def judging(judge: Judge) -> Callable[[Seen], Reply]:
    def step(seen: Seen) -> Reply:
        told = [
            {"pair": n, "verdict": judge(older, newer)} for n, (older, newer) in enumerate(asked_about(seen), start=1)
        ]
        return answered(says({"verdicts": told}), seen)

    return step


ALL_THE_SAME = judging(lambda _, __: "same")
ALL_DIFFERENT = judging(lambda _, __: "different")


def insights(*summaries: str, **more: Any) -> Callable[[Seen], Reply]:
    listed = [{"summary": one, "tags": ["style"], "importance": 2, **more} for one in summaries]
    return lambda seen: answered(says({"insights": listed}), seen)


def summary(text: str) -> Callable[[Seen], Reply]:
    return lambda seen: answered(says({"summary": text}), seen)


def as_stored(memory: Memory, *ids: str) -> list[tuple[Any, ...]]:
    """Rows as they are, without the revision that caches go by."""
    columns = (
        "id, content, version, importance, pinned, tags, state, superseded_by, updated_at, "
        "access_count, last_accessed_at, expires_at, purge_at, overridden, visibility"
    )
    query = f"SELECT {columns} FROM memories ORDER BY id"
    return [row for row in rows(memory, query) if row[0] in ids]
