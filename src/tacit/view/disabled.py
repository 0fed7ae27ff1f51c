"""Answer as a view without memory: reads are empty, writes do nothing."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self, Unpack

from tacit import limits
from tacit.clock import from_micros
from tacit.errors import NotFound
from tacit.prompts.block import Style
from tacit.records.accounts import Link, LinkOffer, LinkWaiting, NameKind, Person
from tacit.records.checkpoints import Checkpoint, GraphStep, StepValue, StepWrite, StoredGraphStep
from tacit.records.conversation import Message
from tacit.records.drafts import (
    CategorizedFields,
    ImportItems,
    ImportPreview,
    ImportRun,
    ImportStep,
    MemoryFields,
    RevertedImport,
)
from tacit.records.memory import HistoryEntry, Kind, Memory, State, Visibility
from tacit.records.notes import SessionDraft, SessionEnded, SessionStart
from tacit.records.queries import MATCH_ALL, RecallFilters, Search
from tacit.records.request import Chat, Requester
from tacit.records.results import (
    Accepted,
    AccessLogEntry,
    ActivityEntry,
    AudienceChat,
    AudiencePreview,
    AudienceReport,
    Block,
    Bullet,
    DayCounts,
    Delta,
    Erased,
    Explanation,
    Fresh,
    Graph,
    Imported,
    Page,
    Proposal,
    Recalled,
    Recorded,
    Remembered,
    Reverted,
    Stats,
    Suggestion,
    TraceStep,
)
from tacit.view.checkpoints import GraphSteps

# The part of the view of nobody that takes over another memory: nothing of it.


class DisabledImports:
    def preview_items(self, items: ImportItems, *, source: str) -> ImportPreview:
        return ImportPreview()

    def import_items(
        self,
        run: str,
        items: ImportItems,
        *,
        source: str,
        total: int | None = None,
        after: int | None = None,
    ) -> ImportStep:
        return ImportStep()

    def imports(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[ImportRun]:
        return Page()

    def revert_import(self, run: str) -> RevertedImport:
        return RevertedImport(run="")


# The part of the view of nobody that looks through memories, and finds none.

List = builtins.list


class DisabledReports:
    def rooms(self) -> List[AudienceChat]:
        return []

    def hearing(
        self,
        chat: Chat,
        asked_by: Requester | None = None,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[AudiencePreview]:
        return Page()

    def hearers(self, id: str, *, visibility: Visibility | str | None = None) -> AudienceReport:
        raise NotFound

    def browse(
        self,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        return Page()

    def browse_count(self, search: Search = MATCH_ALL) -> int:
        return 0

    def looks(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[AccessLogEntry]:
        return Page()

    def graph(self, *, limit: int = limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        return Graph()

    def activity(
        self,
        *,
        since: datetime | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[ActivityEntry]:
        return Page()

    def activity_days(self, days: int = limits.ACTIVITY_DEFAULT_DAYS) -> tuple[DayCounts, ...]:
        return ()


# The part of the view of nobody that keeps a graph's steps, and keeps none.


@dataclass(frozen=True)
class DisabledGraphSteps(GraphSteps):
    _view: Any = None

    def save(self, step: GraphStep, values: Iterable[StepValue] = ()) -> None:
        return None

    def write(
        self,
        thread: str,
        ns: str,
        id: str,
        writes: Iterable[StepWrite],
        *,
        replace: bool = False,
    ) -> None:
        return None

    def find(self, thread: str, ns: str = "", id: str | None = None) -> StoredGraphStep | None:
        return None

    def page(
        self,
        thread: str | None = None,
        ns: str | None = None,
        id: str | None = None,
        *,
        before: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> Page[StoredGraphStep]:
        return Page()

    def forget_thread(self, thread: str) -> None:
        return None

    def forget_runs(self, runs: Sequence[str]) -> None:
        return None

    def copy_thread(self, source: str, target: str) -> None:
        return None

    def prune(
        self, threads: Sequence[str], strategy: Literal["keep_latest", "delete"] = "keep_latest"
    ) -> None:
        return None


class DisabledCheckpoints:
    def steps(self) -> GraphSteps:
        return DisabledGraphSteps()


# The view of nobody: reads are empty, writes do nothing, and it says so.

_NOT_REMEMBERED = Remembered(id="", state=None, version=0, created=False)
_NO_CHECKPOINT = Checkpoint(thread="", data=None, version=0, updated_at=from_micros(0))


class DisabledView(DisabledReports, DisabledImports, DisabledCheckpoints):
    """Handed out where no identity is known, or where memory is switched off."""

    enabled = False

    def __init__(self, why: str) -> None:
        self.why_disabled: str | None = why

    def once(self, key: str) -> Self:
        return self

    def remember(self, content: str, **fields: Unpack[CategorizedFields]) -> Remembered:
        return _NOT_REMEMBERED

    def put(
        self, category: str, key: str, value: str, **fields: Unpack[MemoryFields]
    ) -> Remembered:
        return _NOT_REMEMBERED

    def update(
        self,
        id: str,
        content: str | None = None,
        *,
        if_version: int | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Remembered:
        return _NOT_REMEMBERED

    def pin(self, id: str, on: bool = True) -> None:
        return None

    def set_visibility(self, id: str, visibility: Visibility | str) -> None:
        return None

    def withhold_from(self, id: str, who: Iterable[str]) -> None:
        return None

    def forget(self, id: str) -> None:
        return None

    def forget_key(self, category: str, key: str) -> int:
        return 0

    def forget_category(self, category: str) -> int:
        return 0

    def restore(self, id: str) -> None:
        return None

    def erase(self, id: str, *, turns: bool = False) -> Erased:
        return Erased(count=0, complete=True)

    def wipe(self) -> Erased:
        return Erased(count=0, complete=True)

    def name(self, person: str, name: str, kind: NameKind | str = NameKind.ALIAS) -> Person:
        raise NotFound("person")

    def merge_people(self, person: str, into: str) -> Person:
        raise NotFound("person")

    def unmerge_people(self, person: str) -> Person:
        raise NotFound("person")

    def import_lines(self, lines: Iterable[str]) -> Imported:
        return Imported()

    def get(self, category: str, key: str) -> Memory | None:
        return None

    def show(self, id: str) -> Memory:
        raise NotFound

    def list(
        self,
        category: str | None = None,
        *,
        prefix: str | None = None,
        kind: Kind | str | None = None,
        state: State | str | None = None,
        pinned: bool | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        return Page()

    def count(
        self,
        category: str | None = None,
        *,
        prefix: str | None = None,
        kind: Kind | str | None = None,
        state: State | str | None = None,
        pinned: bool | None = None,
    ) -> int:
        return 0

    def about(
        self, person: str, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[Memory]:
        return Page()

    def recall(
        self,
        query: str,
        *,
        top_k: int = limits.RECALL_DEFAULT_COUNT,
        budget_tokens: int | None = None,
        **narrowing: Unpack[RecallFilters],
    ) -> List[Recalled]:
        return []

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
        return []

    def block(self, style: Style | str | None = None) -> Block:
        return Block()

    def fresh(
        self,
        query: str,
        *,
        since: int | None = None,
        top_k: int = limits.RECALL_DEFAULT_COUNT,
        budget_tokens: int = limits.FRESH_BUDGET_TOKENS,
    ) -> Fresh:
        return Fresh()

    def record(self, messages: Iterable[Message], *, session: str | None = None) -> Recorded:
        return Recorded()

    def learn(self, messages: Iterable[Message]) -> Accepted:
        return Accepted()

    def unlearn(self, message: str) -> Reverted:
        return Reverted()

    def begin_session(self, session: str | None = None) -> SessionStart:
        return SessionStart(session="")

    def end_session(
        self,
        messages: Iterable[Message] = (),
        *,
        draft: SessionDraft | None = None,
        session: str | None = None,
    ) -> SessionEnded:
        return SessionEnded(path="")

    def save_checkpoint(
        self, data: Any, *, thread: str | None = None, version: int | None = None
    ) -> Checkpoint:
        return _NO_CHECKPOINT

    def checkpoint(self, thread: str | None = None) -> Checkpoint | None:
        return None

    def forget_checkpoint(self, thread: str | None = None) -> None:
        return None

    def offer_link(self) -> LinkOffer:
        raise NotFound("link")

    def accept_link(self, code: str) -> LinkWaiting:
        raise NotFound("code")

    def link_waiting(self) -> LinkWaiting | None:
        return None

    def confirm_link(self) -> Link:
        raise NotFound("link")

    def refuse_link(self) -> None:
        return None

    def unlink_me(self) -> Link:
        raise NotFound("link")

    def identities(self) -> List[str]:
        return []

    def files(self, folder: str = "") -> List[str]:
        return []

    def file_sizes(self, folder: str = "") -> dict[str, int]:
        return {}

    def read_file(self, path: str) -> str:
        raise NotFound("file")

    def write_file(
        self, path: str, text: str, *, new: bool = False, instead_of: str | None = None
    ) -> None:
        return None

    def delete_file(self, path: str) -> None:
        return None

    def rename_file(self, old: str, new: str) -> None:
        return None

    def trace(self, text: str | Message, keep: bool = False) -> tuple[TraceStep, ...]:
        return ()

    def suggest_update(
        self, content: str, *, category: str | None = None, about: Collection[str] | None = None
    ) -> Suggestion | None:
        return None

    def proposals(self) -> List[Proposal]:
        return []

    def propose_public(self, category: str, key: str) -> None:
        return None

    def approve(self, id: str) -> None:
        return None

    def decline(self, id: str) -> None:
        return None

    def relate(
        self, id: str, other: str, relation: str = "related_to", *, strength: float = 1.0
    ) -> None:
        return None

    def history(self, id: str) -> List[HistoryEntry]:
        return []

    def explain(
        self, id: str, chat: Chat | None = None, asked_by: Requester | None = None
    ) -> Explanation:
        raise NotFound

    def delta(self, since: int = 0) -> Delta:
        return Delta(revision=0)

    def stats(self) -> Stats:
        return Stats()

    def people(self) -> List[Person]:
        return []

    def export(
        self,
        *,
        format: Literal["jsonl", "markdown"] = "jsonl",  # noqa: A002 (its public name)
        everything: bool = False,
        turns: bool = False,
    ) -> Iterator[str]:
        return iter(())

    def history_export(self) -> Iterator[str]:
        return iter(())
