"""Phrases that say how far a message may go, and everything that a view tells."""

import csv
from pathlib import Path

from tacit.settings import Settings
from tacit.settings.sections import LearnSettings, MemorySettings, SessionsSettings
from tacit.view.view import View
from tests.tools.calling import call

KEEP_BY_HAND = Settings(
    memory=MemorySettings(sessions=SessionsSettings(keep=True, retention_days=7)), learn=LearnSettings(workers=0)
)
_CORPUS = Path(__file__).parent / "data" / "holds.tsv"


def phrases(kind: str, language: str | None = None) -> list[str]:
    """The phrases of `data/holds.tsv` of one kind; `{name}` stands for a person."""
    with _CORPUS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row["text"] for row in rows if row["kind"] == kind and language in (None, row["language"])]


def everything(view: View, query: str) -> str:
    """All that a view tells of a query, as one text."""
    both = view.recall(query, include=["memories", "turns"], top_k=20)
    told: list[object] = [
        [one.memory.content for one in both],
        [one.content for one in view.list(limit=100).items],
        view.fresh(query).text,
        view.block().text,
        view.delta().changes,
        view.query(query, form="full"),
        view.query(query, form="bullets"),
        view.sessions.begin(),
        call(view, "memory_query", query=query).text,
        call(view, "search_memories", query=query).text,
        call(view, "read_graph").text,
        call(view, "search_nodes", query=query).text,
    ]
    return "\n".join(map(str, told)).casefold()
