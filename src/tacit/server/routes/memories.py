"""Memories: by id or key; remember, change, erase; browse, graph, activity, access log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from tacit import Erased, Graph, Page, Remembered, Suggestion, limits
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.memory import View
from tacit.records import validation
from tacit.records.accounts import Scope
from tacit.records.memory import HistoryEntry, Memory, Visibility
from tacit.records.queries import MATCH_ALL
from tacit.records.results import AccessLogEntry, ActivityEntry, DayCounts
from tacit.server import memory_contract
from tacit.server.etags import IF_MATCH, IF_NONE_MATCH, check_if_match, matches_etag, memory_etag
from tacit.server.memory_contract import (
    MemoryListResponse,
    MemoryResponse,
    MemoryWithVersions,
    UpdateMemoryResponse,
)
from tacit.server.responses import UpdateSuggested, json_response, no_content, record_response
from tacit.server.routing import Context, RequestContext, Router
from tacit.server.schemas import (
    Category,
    CategoryPageQuery,
    Content,
    Described,
    Flag,
    KeyName,
    MemoryCountQuery,
    MemoryPageQuery,
    PageQuery,
    PageSize,
    People,
    PutFields,
    QueryFlag,
    RememberFields,
    RequestModel,
    SearchInput,
    Time,
    UpdateFields,
    not_sent,
    query_whole,
)

memory_router = Router("memory")
MEMORY_PATH = "/api/memory/{id}"
SUGGESTION_RESPONSE = {409: {"description": "Update the memory in `suggestion` instead."}}
# A memory that may not be shown in this chat is stored all the same; a key that only writes gets none.
HIDDEN_RESPONSE = {
    204: {"description": "Done; the memory may not be shown here, or not to this key."}
}


class CreateMemoryRequest(RequestModel):
    content: memory_contract.ShortContent
    category: memory_contract.MemoryCategory
    subject: memory_contract.Subject | None = None


class CreateQuery(RequestModel):
    force: QueryFlag = False


class UpdateMemoryRequest(RequestModel):
    content: memory_contract.ShortContent


class ChangeMemoryRequest(RequestModel):
    """Text and pin together, or visibility, or whom to withhold it from."""

    content: Content = not_sent()
    pinned: Flag = not_sent()
    visibility: Visibility = not_sent()
    withhold_from: People = not_sent()


@memory_router.get("/api/memory/", scope=Scope.READ, gives=MemoryListResponse)
def list_memories(context: Context, query: Annotated[MemoryPageQuery, Query()]) -> Response:
    """List memories visible here, newest first. With `state`, the caller's own in that state, in a
    private chat. `total` counts all pages."""
    view = context.view
    page = view.list(**query.sent_fields())
    whole = "cursor" not in query.model_fields_set and page.cursor is None
    total = len(page) if whole else view.count(**query.sent_fields("cursor", "limit"))
    memories = memory_contract.encode_memories(context, page)
    return json_response({"memories": memories, "total": total, "next_cursor": page.cursor})


@memory_router.post(
    "/api/memory/",
    scope=Scope.WRITE,
    gives=MemoryResponse,
    status=201,
    once=True,
    problems={**HIDDEN_RESPONSE, **SUGGESTION_RESPONSE},
    sends=("ETag", "Location"),
)
def create_memory(
    context: Context, body: CreateMemoryRequest, query: Annotated[CreateQuery, Query()]
) -> Response:
    """Add a memory. Where one on the same subject should be updated, it is suggested instead, unless
    `force` is set or the key may not read."""
    content = memory_contract.parse_content(body.content)
    about = memory_contract.parse_subject(body.subject)
    view = context.write_view
    if not query.force and context.may_read:
        _suggest_update(context, content, body.category, about)
    done = _require_enabled(view).remember(content, category=body.category, about=about)
    location = {"Location": f"/api/memory/{done.id}"}
    memory = _find_readable(context, done.id)
    if memory is None:
        return Response(status_code=204, headers=location)
    headers = {"ETag": memory_etag(memory), **location}
    return json_response(memory_contract.encode_memories(context, [memory])[0], 201, headers)


@memory_router.get(
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
    told = memory_contract.encode_memories(context, [memory])[0]
    versions = memory_contract.list_versions(view.history(id))
    return record_response({**told, "versions": versions}, headers={"ETag": tag})


@memory_router.get(f"{MEMORY_PATH}/record", scope=Scope.READ, gives=Memory, problems=(404,))
def show_record(context: Context, id: str) -> Response:
    """Show one memory as stored, without names and versions."""
    return record_response(context.view.show(id))


@memory_router.put(
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
    content = memory_contract.parse_content(body.content)
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
    told = {"memory": memory_contract.encode_memories(context, [memory])[0], "old_content": old}
    return json_response(told, headers={"ETag": memory_etag(memory)})


@memory_router.patch(
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
    return json_response(
        memory_contract.encode_memories(context, [memory])[0], headers={"ETag": memory_etag(memory)}
    )


@memory_router.delete(MEMORY_PATH, scope=Scope.WRITE, status=204, once=True, problems=(404,))
def forget_memory(context: Context, id: str) -> Response:
    """Forget a memory: it can be restored for some time."""
    context.write_view.forget(id)
    return no_content()


def _find_readable(context: RequestContext, id: str) -> Memory | None:
    """Return what was written, where the caller may see it."""
    if not context.may_read:
        return None
    try:
        return context.view.show(id)
    except NotFound:
        return None


def _apply_change(
    context: RequestContext, id: str, sent: dict[str, Any], version: int | None
) -> None:
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


def _suggest_update(
    context: RequestContext, content: str, category: str, about: list[str] | None
) -> None:
    view = context.view
    found = view.suggest_update(content, category=category, about=about)
    if found is None or context.is_replay():
        return  # the suggestion may be the memory that this request made
    try:
        told = memory_contract.encode_memories(context, [view.show(found.id)])[0]
    except NotFound:
        return  # gone since
    named = {name: told[name] for name in ("id", "content", "category", "subject")}
    raise UpdateSuggested(found.reason, named)


def _require_enabled(view: View) -> View:
    if view.why_disabled is not None:
        raise Conflict(view.why_disabled)
    return view


def _content_at_version(view: View, id: str, version: int) -> str | None:
    found = [
        one for one in memory_contract.list_versions(view.history(id)) if one.version == version
    ]
    return found[0].content if found else None


# Changes to one memory.

memory_change_router = Router("memory")
MEMORY_CHANGE_PATH = "/api/memory/{id}"


class PinBody(RequestModel):
    on: Annotated[bool, Described(lambda _, value: validation.parse_bool("pin", value))] = True


class VisibilityBody(RequestModel):
    visibility: Visibility


class WithholdBody(RequestModel):
    who: People


class EraseQuery(RequestModel):
    turns: QueryFlag = False


@memory_change_router.post(
    f"{MEMORY_CHANGE_PATH}/update",
    scope=Scope.WRITE,
    gives=Remembered,
    once=True,
    problems=(404, 409),
)
def update(context: Context, id: str, body: UpdateFields) -> Response:
    """Change a memory in any of its fields. With `if_version`, only if it is still at that version."""
    return record_response(context.write_view.update(id, **body.sent_fields()))


@memory_change_router.put(
    f"{MEMORY_CHANGE_PATH}/pinned", scope=Scope.WRITE, status=204, once=True, problems=(404,)
)
def pin(context: Context, id: str, body: PinBody) -> Response:
    """Pin a memory, so that it does not fade, or unpin it."""
    context.write_view.pin(id, body.on)
    return no_content()


@memory_change_router.put(
    f"{MEMORY_CHANGE_PATH}/visibility", scope=Scope.WRITE, status=204, once=True, problems=(404,)
)
def set_visibility(context: Context, id: str, body: VisibilityBody) -> Response:
    """Set where a memory may be shown."""
    context.write_view.set_visibility(id, body.visibility)
    return no_content()


@memory_change_router.post(
    f"{MEMORY_CHANGE_PATH}/withhold", scope=Scope.WRITE, status=204, once=True, problems=(404,)
)
def withhold_from(context: Context, id: str, body: WithholdBody) -> Response:
    """Withhold a memory from people."""
    context.write_view.withhold_from(id, body.who)
    return no_content()


@memory_change_router.get(
    f"{MEMORY_CHANGE_PATH}/history", scope=Scope.READ, gives=list[HistoryEntry], problems=(404,)
)
def history(context: Context, id: str) -> Response:
    """List what happened to a memory, oldest first, in the versions that the caller may see."""
    return record_response(context.view.history(id))


@memory_change_router.post(
    f"{MEMORY_CHANGE_PATH}/restore", scope=Scope.WRITE, status=204, once=True, problems=(404, 409)
)
def restore(context: Context, id: str) -> Response:
    """Restore a forgotten memory."""
    context.write_view.restore(id)
    return no_content()


@memory_change_router.post(
    f"{MEMORY_CHANGE_PATH}/erase", scope=Scope.ERASE, gives=Erased, once=True, problems=(404,)
)
def erase(context: Context, id: str, query: Annotated[EraseQuery, Query()]) -> Response:
    """Delete a memory for good; with `turns`, also the turns it was learned from."""
    return record_response(context.write_view.erase(id, turns=query.turns))


# Remember with all fields, suggestions, and wipe.

remember_router = Router("remember")


class SuggestBody(RequestModel):
    content: Content
    category: Category | None = None
    about: People | None = None


@remember_router.post(
    "/api/remember", scope=Scope.WRITE, gives=Remembered, once=True, problems=(404,)
)
def remember(context: Context, body: RememberFields) -> Response:
    """Remember a fact. A key has one value: written again, it becomes a new version."""
    return record_response(context.write_view.remember(**body.sent_fields()))


@remember_router.post("/api/suggest", scope=Scope.READ, gives=Suggestion | None)
def suggest_update(context: Context, body: SuggestBody) -> Response:
    """Find the memory to update instead of adding another one; null where there is none."""
    return record_response(context.view.suggest_update(**body.sent_fields()))


@remember_router.post("/api/wipe", scope=Scope.ERASE, gives=Erased, once=True)
def wipe(context: Context) -> Response:
    """Delete everything of the caller for good. In a private chat only."""
    return record_response(context.write_view.wipe())


# Values by category and key: get, put, list, forget.

item_router = Router("items")
CATEGORY_PATH = "/api/items/{category}"
ITEM_PATH = "/api/items/{category}/{key:rest}"  # a key may hold slashes


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    count: int


@item_router.get("/api/items", scope=Scope.READ, gives=Page[Memory])
def list_all(context: Context, query: Annotated[MemoryPageQuery, Query()]) -> Response:
    """List memories visible here, newest first. With `state`, the caller's own in that state, in a
    private chat."""
    return record_response(context.view.list(**query.sent_fields()))


@item_router.get("/api/count", scope=Scope.READ, gives=Count)
def count(context: Context, query: Annotated[MemoryCountQuery, Query()]) -> Response:
    """Count the memories to list."""
    return json_response({"count": context.view.count(**query.sent_fields())})


@item_router.get(CATEGORY_PATH, scope=Scope.READ, gives=Page[Memory])
def list_items(
    context: Context, category: Category, query: Annotated[CategoryPageQuery, Query()]
) -> Response:
    """List memories of a category that are visible here, newest first."""
    return record_response(context.view.list(category, **query.sent_fields()))


@item_router.delete(CATEGORY_PATH, scope=Scope.WRITE, gives=Count, once=True)
def forget_category(context: Context, category: Category) -> Response:
    """Forget everything of the caller in a category."""
    return json_response({"count": context.write_view.forget_category(category)})


@item_router.get(ITEM_PATH, scope=Scope.READ, gives=Memory, problems=(404,))
def get_item(context: Context, category: Category, key: KeyName) -> Response:
    """Get the value of one of the caller's keys."""
    found = context.view.get(category, key)
    if found is None:
        raise NotFound
    return record_response(found)


@item_router.put(ITEM_PATH, scope=Scope.WRITE, gives=Remembered, once=True, problems=(404,))
def put_item(context: Context, category: Category, key: KeyName, body: PutFields) -> Response:
    """Set the one value of a key. Fields that are not sent, such as its visibility, stay."""
    fields = body.sent_fields("value")
    return record_response(context.write_view.put(category, key, body.value, **fields))


@item_router.delete(ITEM_PATH, scope=Scope.WRITE, gives=Count, once=True)
def forget_item(context: Context, category: Category, key: KeyName) -> Response:
    """Forget the value of a key, under all identities of the caller."""
    return json_response({"count": context.write_view.forget_key(category, key)})


# Graph and activity.

activity_router = Router("activity")


class GraphQuery(RequestModel):
    limit: Annotated[int, query_whole(1, limits.GRAPH_NODES_MAX_COUNT)] = (
        limits.GRAPH_NODES_MAX_COUNT
    )


class ActivityQuery(PageQuery):
    since: Time = not_sent()


class DaysQuery(RequestModel):
    days: Annotated[int, query_whole(1, limits.ACTIVITY_MAX_DAYS)] = limits.ACTIVITY_DEFAULT_DAYS


@activity_router.get("/api/graph", scope=Scope.READ, gives=Graph)
def show_graph(context: Context, query: Annotated[GraphQuery, Query()]) -> Response:
    """Show the caller's own active memories as a graph with their subjects and relations. In a private
    chat; elsewhere it is empty."""
    return record_response(context.view.graph(**query.sent_fields()))


@activity_router.get("/api/activity", scope=Scope.READ, gives=Page[ActivityEntry])
def list_activity(context: Context, query: Annotated[ActivityQuery, Query()]) -> Response:
    """List what happened to the caller's own memories, newest first. In a private chat; elsewhere
    nothing."""
    return record_response(context.view.audit.activity(**query.sent_fields()))


@activity_router.get("/api/activity/days", scope=Scope.READ, gives=list[DayCounts])
def list_activity_days(context: Context, query: Annotated[DaysQuery, Query()]) -> Response:
    """Count events of the caller's memories on each of the last days, in UTC, today last."""
    return record_response(context.view.audit.daily_counts(**query.sent_fields()))


# Search of the caller's own memories, and the access log.

browse_router = Router("browsing")


class CountBody(RequestModel):
    search: SearchInput | None = None


class BrowseBody(CountBody):
    limit: PageSize = limits.PAGE_DEFAULT_COUNT
    cursor: str | None = None


@browse_router.post("/api/browse", scope=Scope.READ, gives=Page[Memory])
def browse(context: Context, body: BrowseBody) -> Response:
    """Search the caller's own memories, newest first. In a private chat; elsewhere nothing."""
    return record_response(
        context.view.browse(body.search or MATCH_ALL, **body.sent_fields("search"))
    )


@browse_router.post("/api/browse/count", scope=Scope.READ, gives=Count)
def count_browsed(context: Context, body: CountBody) -> Response:
    """Count the results of a search, up to a thousand."""
    return json_response({"count": context.view.browse_count(body.search or MATCH_ALL)})


@browse_router.get("/api/looks", scope=Scope.READ, gives=Page[AccessLogEntry])
def list_looks(context: Context, query: Annotated[PageQuery, Query()]) -> Response:
    """List which operator looked at memories of the caller, newest first. In a private chat;
    elsewhere nothing."""
    return record_response(context.view.audit.access_log(**query.sent_fields()))
