"""Memories: by id or key; remember, change, erase; browse, graph, activity, access log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import Page
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.memory import View
from tacit.records import validation
from tacit.records.accounts import NameKind, Person, Scope
from tacit.records.memory import ChatKind, HistoryEntry, Memory, Visibility
from tacit.server import schemas
from tacit.server.etags import IF_MATCH, IF_NONE_MATCH, check_if_match, matches_etag, memory_etag
from tacit.server.responses import UpdateSuggested, json_response, no_content, record_response
from tacit.server.routing import Context, RequestContext, Router
from tacit.wire import encode

# What /api/memory/ takes and returns beyond the library's own records.

MemoryCategory = Literal["person", "preference", "context", "project"]
CONTENT_MIN_CHARS = 5
CONTENT_MAX_CHARS = 500
SUBJECT_MAX_CHARS = 200
ShortContent = Annotated[str, schemas.text_of(CONTENT_MAX_CHARS, CONTENT_MIN_CHARS)]
Subject = Annotated[str, schemas.name_of(SUBJECT_MAX_CHARS)]


def _parse_content(value: str) -> str:
    words = validation.check_storable("content", value, CONTENT_MAX_CHARS)
    if len(words) < CONTENT_MIN_CHARS:
        raise InvalidInput("content", f"is too short; write at least {CONTENT_MIN_CHARS} characters")
    return words


def _parse_subject(subject: str | None) -> list[str] | None:
    if subject is None:
        return None
    return [validation.parse_screened_identifier("subject", subject, SUBJECT_MAX_CHARS)]


_LEADING_FIELDS = ("id", "category", "subject", "content", "version", "created_at", "updated_at")
# The best kind of name to show comes first.
_NAME_KIND_ORDER = (NameKind.NAME, NameKind.ALIAS, NameKind.USERNAME, NameKind.RELATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryResponse(Memory):
    """A memory, and the name of its subject where the caller may know it here."""

    subject: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One version of a memory."""

    version: int
    content: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWithVersions(MemoryResponse):
    versions: list[Wording]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryListResponse:
    memories: list[MemoryResponse]
    total: int  # visible to this caller, on all pages
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateMemoryResponse:
    memory: MemoryResponse
    old_content: str | None


MemoryDocument = dict[str, Any]


def _encode_memories(context: RequestContext, memories: Iterable[Memory]) -> list[MemoryDocument]:
    """Encode memories as `MemoryResponse`. Names are added in private chats alone: what a person
    calls others is not for a group."""
    found = list(memories)
    chat = context.caller.chat
    private = chat is not None and chat.kind is ChatKind.PRIVATE
    named = any(memory.subjects for memory in found)
    people = context.view.people.list() if private and named else []
    names = {identity: _display_name(one) for one in people for identity in one.identities}
    return [_encode_memory(memory, names) for memory in found]


def _encode_memory(memory: Memory, names: Mapping[str, str | None]) -> MemoryDocument:
    called = sorted({name for one in memory.subjects if (name := names.get(one))})
    plain: MemoryDocument = encode(memory)
    plain["subject"] = ", ".join(called) or None
    first = {name: plain[name] for name in _LEADING_FIELDS}
    return first | plain


def _display_name(person: Person) -> str | None:
    for kind in _NAME_KIND_ORDER:
        for name in person.names:
            if name.kind is kind:
                return name.text
    return None


def _list_versions(history: Iterable[HistoryEntry]) -> list[Wording]:
    """Return the versions that the caller may see, oldest first."""
    found: dict[int, Wording] = {}
    for entry in history:
        if entry.version not in found:
            found[entry.version] = Wording(version=entry.version, content=entry.content, created_at=entry.at)
    return [found[number] for number in sorted(found)]


memory_router = Router("memory")
MEMORY_PATH = "/api/memory/{id}"
SUGGESTION_RESPONSE = {409: {"description": "Update the memory in `suggestion` instead."}}
# A memory that may not be shown in this chat is stored all the same; a key that only writes gets none.
HIDDEN_RESPONSE = {204: {"description": "Done; the memory may not be shown here, or not to this key."}}


class CreateMemoryRequest(schemas.RequestModel):
    content: ShortContent
    category: MemoryCategory
    subject: Subject | None = None


class CreateQuery(schemas.RequestModel):
    force: schemas.QueryFlag = False


class UpdateMemoryRequest(schemas.RequestModel):
    content: ShortContent


class ChangeMemoryRequest(schemas.RequestModel):
    """Text and pin together, or visibility, or whom to withhold it from."""

    content: schemas.Content = schemas.not_sent()
    pinned: schemas.Flag = schemas.not_sent()
    visibility: Visibility = schemas.not_sent()
    withhold_from: schemas.People = schemas.not_sent()


@memory_router.add("GET", "/api/memory/", scope=Scope.READ, gives=MemoryListResponse)
def list_memories(context: Context, query: Annotated[schemas.MemoryPageQuery, Query()]) -> Response:
    """List memories visible here, newest first. With `state`, the caller's own in that state, in a
    private chat. `total` counts all pages."""
    view = context.view
    page = view.list(**query.sent_fields())
    whole = "cursor" not in query.model_fields_set and page.cursor is None
    total = len(page) if whole else view.count(**query.sent_fields("cursor", "limit"))
    memories = _encode_memories(context, page)
    return json_response({"memories": memories, "total": total, "next_cursor": page.cursor})


@memory_router.add(
    "POST",
    "/api/memory/",
    scope=Scope.WRITE,
    gives=MemoryResponse,
    status=201,
    once=True,
    problems={**HIDDEN_RESPONSE, **SUGGESTION_RESPONSE},
    sends=("ETag", "Location"),
)
def create_memory(context: Context, body: CreateMemoryRequest, query: Annotated[CreateQuery, Query()]) -> Response:
    """Add a memory. Where one on the same subject should be updated, it is suggested instead, unless
    `force` is set or the key may not read."""
    content = _parse_content(body.content)
    about = _parse_subject(body.subject)
    view = context.write_view
    if not query.force and context.may_read:
        _suggest_update(context, content, body.category, about)
    done = _require_enabled(view).remember(content, category=body.category, about=about)
    location = {"Location": f"/api/memory/{done.id}"}
    memory = _find_readable(context, done.id)
    if memory is None:
        return Response(status_code=204, headers=location)
    headers = {"ETag": memory_etag(memory), **location}
    return json_response(_encode_memories(context, [memory])[0], 201, headers)


@memory_router.add(
    "GET",
    MEMORY_PATH,
    scope=Scope.READ,
    gives=MemoryWithVersions,
    problems={304: {"description": "Unchanged since the ETag in If-None-Match."}, 404: None},
    headers=(IF_NONE_MATCH,),
    sends=("ETag",),
)
def show_memory(context: Context, id: str) -> Response:
    """Show one memory as the caller may see it here, with its versions."""
    view = context.view
    memory = view.show(id)
    tag = memory_etag(memory)
    if matches_etag(context.headers.getlist(IF_NONE_MATCH), tag):
        return Response(status_code=304, headers={"ETag": tag})
    told = _encode_memories(context, [memory])[0]
    versions = _list_versions(view.history(id))
    return record_response({**told, "versions": versions}, headers={"ETag": tag})


@memory_router.serve("show")
def show_record() -> None:
    """Show one memory as stored, without names and versions."""


@memory_router.add(
    "PUT",
    MEMORY_PATH,
    scope=Scope.WRITE,
    gives=UpdateMemoryResponse,
    once=True,
    problems={**HIDDEN_RESPONSE, 404: None, 412: None},
    headers=(IF_MATCH,),
    sends=("ETag",),
)
def update_memory(context: Context, id: str, body: UpdateMemoryRequest) -> Response:
    """Change the text of a memory: this makes a new version."""
    content = _parse_content(body.content)
    view = context.view
    before = view.show(id)
    with check_if_match(context, view, id) as version:
        done = context.write_view.update(id, content, if_version=version)
    memory = _find_readable(context, done.id)
    if memory is None:
        return no_content()
    old: str | None = before.content
    if before.version >= done.version > 1 and context.has_idempotency_key:  # a repeated request
        old = _content_at_version(view, id, done.version - 1)
    told = {"memory": _encode_memories(context, [memory])[0], "old_content": old}
    return json_response(told, headers={"ETag": memory_etag(memory)})


@memory_router.add(
    "PATCH",
    MEMORY_PATH,
    scope=Scope.WRITE,
    gives=MemoryResponse,
    once=True,
    problems={**HIDDEN_RESPONSE, 404: None, 412: None},
    headers=(IF_MATCH,),
    sends=("ETag",),
)
def change_memory(context: Context, id: str, body: ChangeMemoryRequest) -> Response:
    """Change one thing about a memory: its text and pin, or its visibility, or whom to withhold it
    from."""
    sent = body.sent_fields()
    view = context.view
    with check_if_match(context, view, id) as version:
        _apply_change(context, id, sent, version)
    memory = _find_readable(context, id)
    if memory is None:
        return no_content()
    return json_response(_encode_memories(context, [memory])[0], headers={"ETag": memory_etag(memory)})


@memory_router.serve("forget")
def forget_memory() -> None:
    """Forget a memory: it can be restored for some time."""


def _find_readable(context: RequestContext, id: str) -> Memory | None:
    """Return what was written, where the caller may see it."""
    if not context.may_read:
        return None
    try:
        return context.view.show(id)
    except NotFound:
        return None


def _apply_change(context: RequestContext, id: str, sent: dict[str, Any], version: int | None) -> None:
    view = context.write_view
    match sorted(sent):
        case ["visibility"]:
            _refuse_if_match(version)
            view.set_visibility(id, sent["visibility"])
        case ["withhold_from"]:
            _refuse_if_match(version)
            view.withhold_from(id, sent["withhold_from"])
        case ["content"] | ["pinned"] | ["content", "pinned"]:
            view.update(id, if_version=version, **sent)
        case _:
            problem = "change content and pinned, or visibility, or withhold_from, one at a time"
            raise InvalidInput("body", problem)


def _refuse_if_match(version: int | None) -> None:
    if version is not None:
        raise InvalidInput("If-Match", "goes with content or pinned; leave it out here")


def _suggest_update(context: RequestContext, content: str, category: str, about: list[str] | None) -> None:
    view = context.view
    found = view.suggest_update(content, category=category, about=about)
    if found is None or context.is_replay():
        return  # the suggestion may be the memory that this request made
    try:
        told = _encode_memories(context, [view.show(found.id)])[0]
    except NotFound:
        return  # gone since
    named = {name: told[name] for name in ("id", "content", "category", "subject")}
    raise UpdateSuggested(found.reason, named)


def _require_enabled(view: View) -> View:
    if view.why_disabled is not None:
        raise Conflict(view.why_disabled)
    return view


def _content_at_version(view: View, id: str, version: int) -> str | None:
    found = [one for one in _list_versions(view.history(id)) if one.version == version]
    return found[0].content if found else None


# Changes to one memory.

memory_change_router = Router("memory")
_NULL = WithJsonSchema({"type": "null"})
_UPDATE_TYPES = {
    "category": schemas.Category,
    "if_version": Annotated[int, schemas.whole(1, 2**31)],
    # The library refuses these, and names the method to call instead.
    "key": (Annotated[str | None, _NULL], None),
    "visibility": (Annotated[Visibility | None, _NULL], None),
    "for_room": (Annotated[schemas.Flag | None, WithJsonSchema({"enum": [False, None]})], None),
    "turns": (Annotated[list[str] | None, _NULL], None),
}


@memory_change_router.serve("update", body="UpdateFields", types=_UPDATE_TYPES)
def update() -> None:
    """Change a memory in any of its fields. With `if_version`, only if it is still at that version."""


@memory_change_router.serve("pin", body="PinBody")
def pin() -> None:
    """Pin a memory, so that it does not fade, or unpin it."""


@memory_change_router.serve("set_visibility", body="VisibilityBody")
def set_visibility() -> None:
    """Set where a memory may be shown."""


@memory_change_router.serve("withhold_from", body="WithholdBody")
def withhold_from() -> None:
    """Withhold a memory from people."""


@memory_change_router.serve("history")
def history() -> None:
    """List what happened to a memory, oldest first, in the versions that the caller may see."""


@memory_change_router.serve("restore")
def restore() -> None:
    """Restore a forgotten memory."""


@memory_change_router.serve("erase", scope=Scope.ERASE)
def erase() -> None:
    """Delete a memory for good; with `turns`, also what waits to be learned in its thread."""


# Remember with all fields, suggestions, and wipe.

remember_router = Router("remember")


@remember_router.serve("remember", body="RememberFields")
def remember() -> None:
    """Remember a fact. A key has one value: written again, it becomes a new version."""


@remember_router.serve("suggest_update", body="SuggestBody")
def suggest_update() -> None:
    """Find the memory to update instead of adding another one; null where there is none."""


@remember_router.serve("wipe", scope=Scope.ERASE)
def wipe() -> None:
    """Delete everything of the caller for good. In a private chat only."""


# Values by category and key: get, put, list, forget.

item_router = Router("items")


@item_router.serve("list", query=schemas.MemoryPageQuery)
def list_all() -> None:
    """List memories visible here, newest first. With `state`, the caller's own in that state, in a
    private chat."""


@item_router.serve("count", query=schemas.MemoryCountQuery)
def count() -> None:
    """Count the memories to list."""


@item_router.add("GET", "/api/items/{category}", scope=Scope.READ, gives=Page[Memory])
def list_items(
    context: Context, category: schemas.Category, query: Annotated[schemas.CategoryPageQuery, Query()]
) -> Response:
    """List memories of a category that are visible here, newest first."""
    return record_response(context.view.list(category, **query.sent_fields()))


@item_router.serve("forget_category")
def forget_category() -> None:
    """Forget everything of the caller in a category."""


@item_router.serve("get")
def get_item() -> None:
    """Get the value of one of the caller's keys."""


@item_router.serve("put", body="PutFields")
def put_item() -> None:
    """Set the one value of a key. Fields that are not sent, such as its visibility, stay."""


@item_router.serve("forget_key")
def forget_item() -> None:
    """Forget the value of a key, under all identities of the caller."""


# Graph and activity.

activity_router = Router("activity")


@activity_router.serve("graph")
def show_graph() -> None:
    """Show the caller's own active memories as a graph with their subjects and relations. In a private
    chat; elsewhere it is empty."""


@activity_router.serve("audit.activity", types={"since": schemas.Time})
def list_activity() -> None:
    """List what happened to the caller's own memories, newest first. In a private chat; elsewhere
    nothing."""


@activity_router.serve("audit.daily_counts")
def list_activity_days() -> None:
    """Count events of the caller's memories on each of the last days, in UTC, today last."""


# Search of the caller's own memories, and the access log.

browse_router = Router("browsing")


@browse_router.serve("browse", body="BrowseBody")
def browse() -> None:
    """Search the caller's own memories, newest first. In a private chat; elsewhere nothing."""


@browse_router.serve("browse_count", body="CountBody")
def count_browsed() -> None:
    """Count the results of a search, up to a thousand."""


@browse_router.serve("audit.access_log")
def list_looks() -> None:
    """List which operator looked at memories of the caller, newest first. In a private chat;
    elsewhere nothing."""
