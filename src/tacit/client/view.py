"""Define Client and RemoteView: a view behind a server, with the same results and errors."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from hashlib import sha256
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Unpack

from tacit import limits
from tacit.client.calls import (
    RemoteCalls,
    address_text,
    check_messages,
    claim_headers,
    drop_none,
    encode_argument,
    is_bot,
    item_segment,
    memory_segment,
    path_segment,
    query_string,
    remote,
)
from tacit.client.recall import RemoteRecall
from tacit.client.transport import ApiRequest, Transport
from tacit.errors import InvalidInput, NoteOutside, NotFound
from tacit.records import validation
from tacit.records.accounts import Link, LinkOffer, LinkWaiting, NameKind, Person
from tacit.records.checkpoints import Checkpoint, dump_checkpoint
from tacit.records.conversation import Message
from tacit.records.drafts import (
    CategorizedFields,
    ImportItem,
    ImportItems,
    ImportPreview,
    ImportRun,
    ImportStep,
    MemoryFields,
    RevertedImport,
)
from tacit.records.memory import ExportFormat, HistoryEntry, Kind, Memory, State, Visibility
from tacit.records.notes import SessionDraft, SessionEnded, SessionStart
from tacit.records.queries import MATCH_ALL, Search
from tacit.records.request import Chat, Requester
from tacit.records.results import (
    AccessLogEntry,
    ActivityEntry,
    AudienceChat,
    AudiencePreview,
    AudienceReport,
    DayCounts,
    Delta,
    Erased,
    Explanation,
    Graph,
    Imported,
    Page,
    Proposal,
    Remembered,
    Reverted,
    Stats,
    Suggestion,
)

if TYPE_CHECKING:
    from tacit.memory import View


List = builtins.list


class RemoteReads(RemoteCalls):
    def get(self, category: str, key: str) -> Memory | None:
        try:
            found: Memory = self._get(Memory, f"/api/items/{item_segment(category, key)}")
        except NotFound:
            return None
        return found

    def show(self, id: str) -> Memory:
        found: Memory = self._get(Memory, f"/api/memory/{memory_segment(id)}/record")
        return found

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
        narrowed = _filter_parameters(category, prefix, kind, state, pinned)
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        asked = query_string(**narrowed, limit=most, cursor=address_text("cursor", cursor))
        found: Page[Memory] = self._get(Page[Memory], f"/api/items{asked}")
        return found

    def count(
        self,
        category: str | None = None,
        *,
        prefix: str | None = None,
        kind: Kind | str | None = None,
        state: State | str | None = None,
        pinned: bool | None = None,
    ) -> int:
        asked = query_string(**_filter_parameters(category, prefix, kind, state, pinned))
        return self._count(self._get(dict[str, Any], f"/api/count{asked}"))

    def history(self, id: str) -> List[HistoryEntry]:
        path = f"/api/memory/{memory_segment(id)}/history"
        found: list[HistoryEntry] = self._get(list[HistoryEntry], path)
        return found

    def delta(self, since: int = 0) -> Delta:
        start = validation.parse_int("since", since, 0, limits.REVISION_MAX)
        found: Delta = self._get(Delta, f"/api/delta{query_string(since=start)}")
        return found

    def stats(self) -> Stats:
        found: Stats = self._get(Stats, "/api/stats")
        return found

    def suggest_update(
        self, content: str, *, category: str | None = None, about: Collection[str] | None = None
    ) -> Suggestion | None:
        found: Suggestion | None = self._ask(
            Suggestion | None,
            "/api/suggest",
            content=content,
            **drop_none(category=category, about=about),
        )
        return found

    def export(
        self,
        *,
        format: Literal["jsonl", "markdown"] = "jsonl",  # noqa: A002 (its public name)
        everything: bool = False,
        turns: bool = False,
    ) -> Iterator[str]:
        """Yield lines as they arrive; the request is sent when the first line is read."""
        asked = query_string(
            format=validation.parse_enum("format", format, ExportFormat).value,
            everything=validation.parse_bool("everything", everything),
            turns=validation.parse_bool("turns", turns),
        )
        return self._stream_lines(f"/api/export{asked}")

    def explain(
        self, id: str, chat: Chat | None = None, asked_by: Requester | None = None
    ) -> Explanation:
        found: Explanation = self._ask(
            Explanation,
            f"/api/memory/{memory_segment(id)}/explain",
            **drop_none(chat=chat, asked_by=asked_by),
        )
        return found

    def browse(
        self,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[Memory]:
        found: Page[Memory] = self._ask(
            Page[Memory],
            "/api/browse",
            search=encode_search(search),
            limit=validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT),
            **drop_none(cursor=address_text("cursor", cursor)),
        )
        return found

    def browse_count(self, search: Search = MATCH_ALL) -> int:
        return self._count(
            self._ask(dict[str, Any], "/api/browse/count", search=encode_search(search))
        )

    def graph(self, *, limit: int = limits.GRAPH_NODES_MAX_COUNT) -> Graph:
        most = validation.parse_int("limit", limit, 1, limits.GRAPH_NODES_MAX_COUNT)
        found: Graph = self._get(Graph, f"/api/graph{query_string(limit=most)}")
        return found


def _filter_parameters(
    category: object, prefix: object, kind: object, state: object, pinned: object
) -> dict[str, str | bool | None]:
    return {
        "category": address_text("category", category),
        "prefix": address_text("prefix", prefix),
        "kind": address_text("kind", kind),
        "state": address_text("state", state),
        "pinned": None if pinned is None else validation.parse_bool("pinned", pinned),
    }


def encode_search(search: object) -> dict[str, Any]:
    """Encode the fields of a search that are set."""
    if not isinstance(search, Search):
        raise InvalidInput("search", f"expected a Search, got {type(search).__name__}")
    return drop_none(**{one.name: getattr(search, one.name) for one in fields(search)})


class RemoteAudience(RemoteCalls):
    def chats(self) -> List[AudienceChat]:
        return self._list_all(AudienceChat, "/api/rooms")

    def preview(
        self,
        chat: Chat,
        asked_by: Requester | None = None,
        search: Search = MATCH_ALL,
        *,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[AudiencePreview]:
        found: Page[AudiencePreview] = self._ask(
            Page[AudiencePreview],
            "/api/hearing",
            chat=chat,
            search=encode_search(search),
            limit=validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT),
            **drop_none(asked_by=asked_by, cursor=address_text("cursor", cursor)),
        )
        return found

    def of(self, id: str, *, visibility: Visibility | str | None = None) -> AudienceReport:
        asked = query_string(visibility=address_text("visibility", visibility))
        found: AudienceReport = self._get(
            AudienceReport, f"/api/memory/{memory_segment(id)}/hearers{asked}"
        )
        return found


_LINE_PATTERN = re.compile(r"line (\d+)")


class RemoteWrites(RemoteCalls):
    def remember(self, content: str, **fields: Unpack[CategorizedFields]) -> Remembered:
        done: Remembered = self._write(
            Remembered, "POST", "/api/remember", content=content, **_check_fields(**fields)
        )
        return done

    def put(
        self, category: str, key: str, value: str, **fields: Unpack[MemoryFields]
    ) -> Remembered:
        path = f"/api/items/{item_segment(category, key)}"
        said_so = encode_argument("content", value)
        done: Remembered = self._write(
            Remembered, "PUT", path, value=said_so, **_check_fields(**fields)
        )
        return done

    def update(
        self,
        id: str,
        content: str | None = None,
        *,
        if_version: int | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Remembered:
        done: Remembered = self._write(
            Remembered,
            "POST",
            f"/api/memory/{memory_segment(id)}/update",
            **_check_fields(content=content, if_version=if_version, **fields),
        )
        return done

    def pin(self, id: str, on: bool = True) -> None:
        wanted = validation.parse_bool("pin", on)
        self._write(None, "PUT", f"/api/memory/{memory_segment(id)}/pinned", on=wanted)

    def set_visibility(self, id: str, visibility: Visibility | str) -> None:
        wanted = validation.parse_enum("visibility", visibility, Visibility)
        self._write(None, "PUT", f"/api/memory/{memory_segment(id)}/visibility", visibility=wanted)

    def withhold_from(self, id: str, who: Iterable[str]) -> None:
        path = f"/api/memory/{memory_segment(id)}/withhold"
        self._write(None, "POST", path, who=encode_argument("withheld_from", who))

    def relate(
        self, id: str, other: str, relation: str = "related_to", *, strength: float = 1.0
    ) -> None:
        self._write(
            None,
            "POST",
            "/api/relations",
            id=id,
            other=other,
            relation=relation,
            strength=strength,
        )

    def forget(self, id: str) -> None:
        self._write(None, "DELETE", f"/api/memory/{memory_segment(id)}")

    def forget_key(self, category: str, key: str) -> int:
        path = f"/api/items/{item_segment(category, key)}"
        return self._count(self._write(dict[str, Any], "DELETE", path))

    def forget_category(self, category: str) -> int:
        filed = validation.parse_identifier("category", category, limits.CATEGORY_MAX_CHARS)
        return self._count(
            self._write(dict[str, Any], "DELETE", f"/api/items/{path_segment(filed)}")
        )

    def restore(self, id: str) -> None:
        self._write(None, "POST", f"/api/memory/{memory_segment(id)}/restore")

    def erase(self, id: str, *, turns: bool = False) -> Erased:
        also = query_string(turns=validation.parse_bool("turns", turns))
        path = f"/api/memory/{memory_segment(id)}/erase{also}"
        done: Erased = self._write(Erased, "POST", path)
        return done

    def wipe(self) -> Erased:
        done: Erased = self._write(Erased, "POST", "/api/wipe")
        return done

    def unlearn(self, message: str) -> Reverted:
        done: Reverted = self._write(Reverted, "POST", "/api/unlearn", message=message)
        return done


def _check_fields(**fields: Any) -> dict[str, Any]:
    """Return the fields that are set; refuse data that would not survive the round trip."""
    told = drop_none(**fields)
    return told | {"data": validation.parse_data(told["data"])} if "data" in told else told


def _batch_lines(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split lines into batches that the server accepts. Yields one batch if there are no lines."""
    few: list[str] = []
    chars = wordings = 0
    for line in lines:
        # The content is counted once per version and once for the memory.
        more = max(1, line.count('"content"'))
        full = wordings + more > limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT
        if few and (full or chars + len(line) > limits.IMPORT_REQUEST_MAX_CHARS):
            yield few
            few, chars, wordings = [], 0, 0
        few.append(line)
        chars, wordings = chars + len(line), wordings + more
    yield few


def _renumber_line(refused: str, before: int) -> str:
    """Number a refused line by its place among all lines, not in its request."""
    named = _LINE_PATTERN.match(refused)
    return refused if named is None else f"line {int(named[1]) + before}{refused[named.end() :]}"


def _terminate_lines(lines: Iterable[object]) -> Iterator[str]:
    most = limits.IMPORT_LINE_MAX_BYTES
    for line in lines:
        # Replace a line that is not text or is too long, so that the server refuses its number.
        said = line.rstrip("\n") if isinstance(line, str) else "?"
        long = len(said) > most or len(said.encode("utf-8", "replace")) > most
        yield f"{'x' * (most + 1) if long else said}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _RemoteFile:
    """A file as the server lists it."""

    path: str
    size_bytes: int


def _check_path(path: object) -> str:
    """Check that a path can be sent. The server checks whether it exists."""
    if not isinstance(path, str) or not path or "\n" in path:
        raise NoteOutside("is no path; write it like trips.md or work/plans.md")
    try:
        return validation.check_storable("path", path, limits.NOTE_PATH_MAX_BYTES)
    except InvalidInput as wrong:
        raise NoteOutside(wrong.problem) from None


def _file_url(path: object) -> str:
    return f"/api/files/{path_segment(_check_path(path))}"


def _checkpoint_url(thread: object) -> str:
    named = validation.parse_optional_identifier("thread", thread, limits.LABEL_MAX_CHARS)
    return "/api/checkpoints" if named is None else f"/api/checkpoints/{path_segment(named)}"


class RemoteAccount(RemoteCalls):
    def offer_link(self) -> LinkOffer:
        # Without an idempotency key: a retry gives a new code and voids the earlier one.
        offer: LinkOffer = self._ask(LinkOffer, "/api/link/offer")
        return offer

    def accept_link(self, code: str) -> LinkWaiting:
        waiting: LinkWaiting = self._write(LinkWaiting, "POST", "/api/link/accept", code=code)
        return waiting

    def pending_link(self) -> LinkWaiting | None:
        try:
            found: LinkWaiting = self._get(LinkWaiting, "/api/link/waiting")
        except NotFound:
            return None
        return found

    def confirm_link(self) -> Link:
        link: Link = self._write(Link, "POST", "/api/link/confirm")
        return link

    def refuse_link(self) -> None:
        self._write(None, "POST", "/api/link/refuse")

    def unlink(self) -> Link:
        link: Link = self._write(Link, "POST", "/api/link/unlink")
        return link

    def identities(self) -> List[str]:
        found: List[str] = self._get(List[str], "/api/link/identities")
        return found


class RemoteImports(RemoteCalls):
    def preview(self, items: ImportItems, *, source: str) -> ImportPreview:
        found: ImportPreview = self._ask(
            ImportPreview, "/api/imports/preview", items=_encode_items(items), source=source
        )
        return found

    def add(
        self,
        run: str,
        items: ImportItems,
        *,
        source: str,
        total: int | None = None,
        after: int | None = None,
    ) -> ImportStep:
        done: ImportStep = self._write(
            ImportStep,
            "POST",
            "/api/imports",
            run=run,
            items=_encode_items(items),
            source=source,
            **drop_none(total=total, after=after),
        )
        return done

    def list(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[ImportRun]:
        asked = query_string(limit=limit, cursor=address_text("cursor", cursor))
        page: Page[ImportRun] = self._get(Page[ImportRun], f"/api/imports{asked}")
        return page

    def revert(self, run: str) -> RevertedImport:
        done: RevertedImport = self._write(RevertedImport, "POST", "/api/imports/revert", run=run)
        return done

    def add_lines(self, lines: Iterable[str]) -> Imported:
        """Import lines in as many requests as needed, without retries.

        The caller may repeat the call: items that exist already are skipped.
        """
        if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
            raise InvalidInput("lines", "expected lines of text, as an open file gives them")
        whole, before = Imported(), 0
        for few in _batch_lines(_terminate_lines(lines)):
            call = ApiRequest(method="POST", path="/api/import", headers=self._claims)
            done: Imported = self._decode(Imported, self._server.send_lines(call, few))
            whole = Imported(
                created=whole.created + done.created,
                skipped=whole.skipped + done.skipped,
                refused=(*whole.refused, *(_renumber_line(one, before) for one in done.refused)),
            )
            before += len(few)
        return whole


def _encode_items(items: object) -> list[Any]:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput("items", "expected a list of them, each with a content")
    return [_encode_item(one) for one in islice(items, limits.IMPORT_ITEMS_MAX_COUNT + 1)]


def _encode_item(item: object) -> Any:
    """Encode an item; return None, which the server refuses by its position, if it is invalid."""
    if isinstance(item, ImportItem):
        item = drop_none(**{one.name: getattr(item, one.name) for one in fields(item)})
    if not isinstance(item, Mapping):
        return None
    try:
        return encode_argument("items", {name: _encode_time(value) for name, value in item.items()})
    except InvalidInput:
        return None


def _encode_time(value: object) -> object:
    """Return the value; replace a time without a zone by empty text, which the server refuses.

    As text, the server would read such a time as UTC.
    """
    naive = isinstance(value, datetime) and value.utcoffset() is None
    return "" if naive else value


class RemoteProposals(RemoteCalls):
    def list(self) -> List[Proposal]:
        return self._list_all(Proposal, "/api/proposals")

    def propose_public(self, category: str, key: str) -> None:
        self._write(None, "POST", "/api/proposals", category=category, key=key)

    def approve(self, id: str) -> None:
        self._write(None, "POST", f"/api/proposals/{memory_segment(id)}/approve")

    def decline(self, id: str) -> None:
        self._write(None, "POST", f"/api/proposals/{memory_segment(id)}/decline")


class RemotePeople(RemoteCalls):
    def list(self) -> List[Person]:
        return self._list_all(Person, "/api/people")

    def about(
        self, person: str, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[Memory]:
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        who = validation.check_storable("person", person, limits.NAME_MAX_CHARS)
        asked = query_string(person=who, limit=most, cursor=address_text("cursor", cursor))
        found: Page[Memory] = self._get(Page[Memory], f"/api/about{asked}")
        return found

    def name(self, person: str, name: str, kind: NameKind | str = NameKind.ALIAS) -> Person:
        named: Person = self._write(
            Person, "POST", "/api/people/name", person=person, name=name, kind=kind
        )
        return named

    def merge(self, person: str, into: str) -> Person:
        done: Person = self._write(Person, "POST", "/api/people/merge", person=person, into=into)
        return done

    def unmerge(self, person: str) -> Person:
        done: Person = self._write(Person, "POST", "/api/people/unmerge", person=person)
        return done


class RemoteAudit(RemoteCalls):
    def access_log(
        self, *, limit: int = limits.PAGE_DEFAULT_COUNT, cursor: str | None = None
    ) -> Page[AccessLogEntry]:
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        asked = query_string(limit=most, cursor=address_text("cursor", cursor))
        found: Page[AccessLogEntry] = self._get(Page[AccessLogEntry], f"/api/looks{asked}")
        return found

    def activity(
        self,
        *,
        since: datetime | None = None,
        limit: int = limits.PAGE_DEFAULT_COUNT,
        cursor: str | None = None,
    ) -> Page[ActivityEntry]:
        start = None if since is None else validation.parse_datetime("since", since).isoformat()
        most = validation.parse_int("limit", limit, 1, limits.PAGE_MAX_COUNT)
        asked = query_string(since=start, limit=most, cursor=address_text("cursor", cursor))
        found: Page[ActivityEntry] = self._get(Page[ActivityEntry], f"/api/activity{asked}")
        return found

    def daily_counts(self, days: int = limits.ACTIVITY_DEFAULT_DAYS) -> tuple[DayCounts, ...]:
        count = validation.parse_int("days", days, 1, limits.ACTIVITY_MAX_DAYS)
        asked = query_string(days=count)
        found: tuple[DayCounts, ...] = self._get(
            tuple[DayCounts, ...], f"/api/activity/days{asked}"
        )
        return found

    def export_history(self) -> Iterator[str]:
        return self._stream_lines("/api/export/history")


class RemoteSessions(RemoteCalls):
    def begin(self, session: str | None = None) -> SessionStart:
        woken: SessionStart = self._ask(
            SessionStart, "/api/sessions/begin", **drop_none(session=session)
        )
        return woken

    def end(
        self,
        messages: Iterable[Message] = (),
        *,
        draft: SessionDraft | None = None,
        session: str | None = None,
    ) -> SessionEnded:
        if draft is not None and not isinstance(draft, SessionDraft):
            raise InvalidInput("draft", "expected a tacit.SessionDraft")
        ended: SessionEnded = self._write(
            SessionEnded,
            "POST",
            "/api/sessions/end",
            messages=check_messages(messages),
            **drop_none(draft=draft, session=session),
        )
        return ended


class RemoteFiles(RemoteCalls):
    def list(self, folder: str = "") -> List[str]:
        return list(self.sizes(folder))

    def sizes(self, folder: str = "") -> dict[str, int]:
        where = _check_path(folder) if folder != "" else None
        listed = self._list_all(_RemoteFile, "/api/files", folder=where)
        return {one.path: one.size_bytes for one in listed}

    def read(self, path: str) -> str:
        found: dict[str, Any] = self._get(dict[str, Any], _file_url(path))
        text: str = self._decode(str, found.get("text"))
        return text

    def write(
        self, path: str, text: str, *, new: bool = False, instead_of: str | None = None
    ) -> None:
        self._write(
            None, "PUT", _file_url(path), text=text, new=new, **drop_none(instead_of=instead_of)
        )

    def delete(self, path: str) -> None:
        self._write(None, "DELETE", _file_url(path))

    def rename(self, old: str, new: str) -> None:
        self._write(None, "POST", "/api/rename-file", old=_check_path(old), new=_check_path(new))


class RemoteCheckpoints(RemoteCalls):
    def save(
        self, data: Any, *, thread: str | None = None, version: int | None = None
    ) -> Checkpoint:
        dump_checkpoint(data)  # refuse data that would not survive the round trip
        saved: Checkpoint = self._write(
            Checkpoint, "PUT", _checkpoint_url(thread), data=data, **drop_none(version=version)
        )
        return saved

    def get(self, thread: str | None = None) -> Checkpoint | None:
        try:
            found: Checkpoint = self._get(Checkpoint, _checkpoint_url(thread))
        except NotFound:
            return None
        return found

    def delete(self, thread: str | None = None) -> None:
        self._write(None, "DELETE", _checkpoint_url(thread))


class RemoteView(RemoteReads, RemoteRecall, RemoteWrites):
    """Memory behind a server as one requester may use it in one chat. Made by `Client.view`.

    Creating a view is cheap: it sends nothing until you call a method, and the server then checks
    who you are. Each method does what the same method of `tacit.View` does.
    """

    proposals = remote(RemoteProposals)
    people = remote(RemotePeople)
    account = remote(RemoteAccount)
    sessions = remote(RemoteSessions)
    files = remote(RemoteFiles)
    checkpoints = remote(RemoteCheckpoints)
    imports = remote(RemoteImports)
    audience = remote(RemoteAudience)
    audit = remote(RemoteAudit)

    @property
    def enabled(self) -> bool:
        return bool(self._standing()["enabled"])

    @property
    def why_disabled(self) -> str | None:
        why: str | None = self._standing().get("why_disabled")
        return why

    def once(self, key: str) -> RemoteView:
        """Return the same view, whose next write runs at most once under this key."""
        given = validation.parse_identifier("once", key, limits.IDEMPOTENCY_KEY_MAX_CHARS)
        if not given.isascii() or " " in given:  # headers are ASCII
            given = f"sha256-{sha256(given.encode()).hexdigest()}"
        return replace(self, _given=given)

    def _standing(self) -> dict[str, Any]:
        found: dict[str, Any] = self._get(dict[str, Any], "/api/view")
        return found


BOT_REASON = "bots are not people, so nothing is remembered or recalled for them"


class Client:
    """A connection to one server. Made by `tacit.connect`.

    Safe to share between threads; close it when done.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = limits.CLIENT_TIMEOUT_SECONDS,
    ) -> None:
        self._server = Transport(url, key, timeout_seconds=timeout)

    def __repr__(self) -> str:
        return f"Client({self._server!r})"

    def view(
        self,
        requester: Requester | str | None = None,
        chat: Chat | str | None = None,
        *,
        thread: str | None = None,
        agent: str | None = None,
    ) -> RemoteView | View:
        """Return memory as this requester may use it in this chat.

        Without either, the requester is the person whom the key is bound to, in their own private
        chat. Only a key with `act-as` may name another person, or say who is in a chat; other keys
        name a chat by its id alone.
        """
        claims = claim_headers(requester, chat, thread, agent)
        if is_bot(requester):
            from tacit.memory import disabled_view

            return disabled_view(BOT_REASON)
        return RemoteView(self._server, claims)

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
