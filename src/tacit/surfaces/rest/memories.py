"""Memories by their ids, as one of the seeds has it: list, add, show, change, forget."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import limits
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.memory import DisabledView, View
from tacit.records.accounts import Scope
from tacit.records.memory import Memory, Visibility
from tacit.surfaces.rest import records, seed
from tacit.surfaces.rest.answers import answer, nothing, plain
from tacit.surfaces.rest.asking import Asked, Asking
from tacit.surfaces.rest.matching import IF_MATCH, IF_NONE_MATCH, matched, tag_of, unless_changed
from tacit.surfaces.rest.parameters import Filtered, Flag
from tacit.surfaces.rest.records import (
    MemoryListResponse,
    MemoryResponse,
    MemoryWithVersions,
    UpdateMemoryResponse,
)
from tacit.surfaces.rest.refusals import Suggested
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import FLAG, Given, one_of, several, words

routes = Routes("memory")
ONE = "/api/memory/{id}"
SUGGESTION = {409: {"description": "A memory is better updated; `suggestion` says which."}}
# What a group was not there to hear is kept all the same, and not told there. Nor does a key that
# only writes hear anything.
UNTOLD = {204: {"description": "Done; but it may not be told here, or not to this key."}}


class CreateMemoryRequest(Given):
    content: Annotated[Any, WithJsonSchema(seed.CONTENT)]
    category: Annotated[Any, WithJsonSchema(one_of(seed.CATEGORIES))]
    subject: Annotated[Any, WithJsonSchema(seed.SUBJECT)] = None


class CreateQuery(Given):
    force: Flag = False


class UpdateMemoryRequest(Given):
    content: Annotated[Any, WithJsonSchema(seed.CONTENT)]


class ChangeMemoryRequest(Given):
    """Its words and its pin together, or its visibility, or whom to keep it from."""

    content: Annotated[Any, WithJsonSchema(words(limits.CONTENT_MAX_CHARS, 1))] = None
    pinned: Annotated[Any, WithJsonSchema(FLAG)] = None
    visibility: Annotated[Any, WithJsonSchema(one_of(Visibility))] = None
    withhold_from: Annotated[
        Any,
        WithJsonSchema(
            several(words(limits.NAME_MAX_CHARS, 1), most=limits.PEOPLE_PER_MEMORY_MAX_COUNT)
        ),
    ] = None


@routes.get("/api/memory/", scope=Scope.READ, gives=MemoryListResponse)
def list_memories(asked: Asking, query: Annotated[Filtered, Query()]) -> Response:
    """What may be said here, newest first. With `state`, the caller's own in that state, in a
    private chat. `total` is what there is for the caller on all pages."""
    view = asked.view
    page = view.list(**query.sent_fields())
    whole = query.cursor is None and page.cursor is None
    total = len(page) if whole else view.count(**query.sent_fields("cursor", "limit"))
    memories = records.told(asked, page)
    return plain({"memories": memories, "total": total, "next_cursor": page.cursor})


@routes.post(
    "/api/memory/",
    scope=Scope.WRITE,
    gives=MemoryResponse,
    status=201,
    once=True,
    problems={**UNTOLD, **SUGGESTION},
    sends=("ETag", "Location"),
)
def create_memory(
    asked: Asking, body: CreateMemoryRequest, query: Annotated[CreateQuery, Query()]
) -> Response:
    """Add a memory. Where one on the same subject is better updated, that is suggested instead,
    unless `force` is set or the key may not read."""
    content = seed.content(body.content)
    category = seed.category(body.category)
    about = seed.about(body.subject)
    force = seed.flag("force", query.force)
    view = asked.write_view
    if not force and asked.may_read:
        _suggest(asked, content, category, about)
    done = _enabled(view).remember(content, category=category, about=about)
    location = {"Location": f"/api/memory/{done.id}"}
    memory = _heard(asked, done.id)
    if memory is None:
        return Response(status_code=204, headers=location)
    headers = {"ETag": tag_of(memory), **location}
    return plain(records.told(asked, [memory])[0], 201, headers)


@routes.get(
    ONE,
    scope=Scope.READ,
    gives=MemoryWithVersions,
    problems={304: {"description": "It is still as If-None-Match says."}, 404: None},
    headers=(IF_NONE_MATCH,),
    sends=("ETag",),
)
def show_memory(asked: Asking, id: str) -> Response:
    """One memory, as the caller may see it here, with its versions."""
    view = asked.view
    memory = view.show(id)
    tag = tag_of(memory)
    if matched(asked.headers.getlist(IF_NONE_MATCH), tag):
        return Response(status_code=304, headers={"ETag": tag})
    told = records.told(asked, [memory])[0]
    versions = records.wordings(view.history(id))
    return answer({**told, "versions": versions}, headers={"ETag": tag})


@routes.get(f"{ONE}/record", scope=Scope.READ, gives=Memory, problems=(404,))
def show_record(asked: Asking, id: str) -> Response:
    """One memory as it is kept, without names and versions."""
    return answer(asked.view.show(id))


@routes.put(
    ONE,
    scope=Scope.WRITE,
    gives=UpdateMemoryResponse,
    once=True,
    problems={**UNTOLD, 404: None, 412: None},
    headers=(IF_MATCH,),
    sends=("ETag",),
)
def update_memory(asked: Asking, id: str, body: UpdateMemoryRequest) -> Response:
    """Give a memory new words: a new version of it."""
    content = seed.content(body.content)
    view = asked.view
    before = view.show(id)
    with unless_changed(asked, view, id) as version:
        done = asked.write_view.update(id, content, if_version=version)
    memory = _heard(asked, done.id)
    if memory is None:
        return nothing()
    old: str | None = before.content
    if (
        before.version >= done.version > 1 and asked.has_idempotency_key
    ):  # asked again: it is done already
        old = _content_of(view, id, done.version - 1)
    told = {"memory": records.told(asked, [memory])[0], "old_content": old}
    return plain(told, headers={"ETag": tag_of(memory)})


@routes.patch(
    ONE,
    scope=Scope.WRITE,
    gives=MemoryResponse,
    once=True,
    problems={**UNTOLD, 404: None, 412: None},
    headers=(IF_MATCH,),
    sends=("ETag",),
)
def change_memory(asked: Asking, id: str, body: ChangeMemoryRequest) -> Response:
    """Change one thing about a memory: its words and its pin, or how far it may travel, or whom it
    must never reach."""
    sent = body.sent_fields()
    view = asked.view
    with unless_changed(asked, view, id) as version:
        _change(asked, id, sent, version)
    memory = _heard(asked, id)
    if memory is None:
        return nothing()
    return plain(records.told(asked, [memory])[0], headers={"ETag": tag_of(memory)})


@routes.delete(ONE, scope=Scope.WRITE, status=204, once=True, problems=(404,))
def forget_memory(asked: Asking, id: str) -> Response:
    """Forget a memory: it can be restored for some time."""
    asked.write_view.forget(id)
    return nothing()


def _heard(asked: Asked, id: str) -> Memory | None:
    """What was written, as far as it may be told back."""
    if not asked.may_read:
        return None
    try:
        return asked.view.show(id)
    except NotFound:
        return None


def _change(asked: Asked, id: str, sent: dict[str, Any], version: int | None) -> None:
    view = asked.write_view
    match sorted(sent):
        case ["visibility"]:
            _unversioned(version)
            view.set_visibility(id, sent["visibility"])
        case ["withhold_from"]:
            _unversioned(version)
            view.withhold_from(id, sent["withhold_from"])
        case ["content"] | ["pinned"] | ["content", "pinned"]:
            view.update(id, if_version=version, **sent)
        case _:
            problem = "change content and pinned, or visibility, or withhold_from, one at a time"
            raise InvalidInput("body", problem)


def _unversioned(version: int | None) -> None:
    if version is not None:
        raise InvalidInput("If-Match", "goes with content or pinned; leave it out here")


def _suggest(asked: Asked, content: str, category: str, about: list[str] | None) -> None:
    view = asked.view
    found = view.suggest_update(content, category=category, about=about)
    if found is None or asked.is_replay():
        return  # what it suggests may be just what came of it
    try:
        told = records.told(asked, [view.show(found.id)])[0]
    except NotFound:
        return  # gone since
    named = {name: told[name] for name in ("id", "content", "category", "subject")}
    raise Suggested(found.reason, named)


def _enabled(view: View | DisabledView) -> View | DisabledView:
    if view.why_disabled is not None:
        raise Conflict(view.why_disabled)
    return view


def _content_of(view: View | DisabledView, id: str, version: int) -> str | None:
    found = [one for one in records.wordings(view.history(id)) if one.version == version]
    return found[0].content if found else None
