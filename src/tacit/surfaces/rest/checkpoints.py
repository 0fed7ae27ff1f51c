"""Where an agent has got to in a thread: saved, read again, and gone when it is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import WithJsonSchema
from starlette.responses import Response

from tacit import limits
from tacit.errors import Conflict, NotFound
from tacit.records.accounts import Scope
from tacit.records.checkpoints import Checkpoint
from tacit.surfaces.rest.answers import answer, etag, nothing
from tacit.surfaces.rest.asking import Asked, Asking
from tacit.surfaces.rest.matching import IF_MATCH, IF_NONE_MATCH, tags
from tacit.surfaces.rest.refusals import Refused
from tacit.surfaces.rest.routes import Routes
from tacit.surfaces.rest.shapes import Given, or_null, whole

routes = Routes("checkpoints")
OWN = "/api/checkpoints"
ONE = "/api/checkpoints/{thread:rest}"
_VERSION = re.compile(r'"v([0-9]{1,18})"')


_DATA = (
    f"Any JSON value without secrets: at most {limits.CHECKPOINT_MAX_BYTES:,} bytes, and "
    f"{limits.SCREENED_MAX_CHARS:,} characters of texts and names."
)


class SaveRequest(Given):
    data: Annotated[Any, WithJsonSchema({"description": _DATA})]
    version: Annotated[Any, WithJsonSchema(or_null(whole(0, limits.REVISION_MAX)))] = None


_READS: dict[str, Any] = {
    "scope": Scope.READ,
    "gives": Checkpoint,
    "problems": (404,),
    "sends": ("ETag",),
}
_SAVES: dict[str, Any] = {
    "scope": Scope.WRITE,
    "gives": Checkpoint,
    "once": True,
    "problems": (412,),
    "headers": (IF_MATCH, IF_NONE_MATCH),
    "sends": ("ETag",),
}
_DROPS: dict[str, Any] = {"scope": Scope.WRITE, "status": 204, "once": True}


@routes.get(OWN, **_READS)
def show_own_checkpoint(asked: Asking) -> Response:
    """What was saved last in the thread of this request."""
    return _shown(asked, None)


@routes.put(OWN, **_SAVES)
def save_own_checkpoint(asked: Asking, body: SaveRequest) -> Response:
    """Save where the agent has got to in the thread of this request."""
    return _saved(asked, None, body)


@routes.delete(OWN, **_DROPS)
def forget_own_checkpoint(asked: Asking) -> Response:
    """Remove what was saved in the thread of this request, whether or not there is something."""
    asked.write_view.forget_checkpoint()
    return nothing()


@routes.get(ONE, **_READS)
def show_checkpoint(asked: Asking, thread: str) -> Response:
    """What was saved last in a thread. In a private chat only; elsewhere there is none."""
    return _shown(asked, thread)


@routes.put(ONE, **_SAVES)
def save_checkpoint(asked: Asking, thread: str, body: SaveRequest) -> Response:
    """Save where the agent has got to in a thread, in place of what was saved before. `version`, or
    If-Match, is the one that was read; 0, or If-None-Match: *, is for the first."""
    return _saved(asked, thread, body)


@routes.delete(ONE, **_DROPS)
def forget_checkpoint(asked: Asking, thread: str) -> Response:
    """Remove what was saved in a thread, whether or not there is something."""
    asked.write_view.forget_checkpoint(thread)
    return nothing()


def _shown(asked: Asked, thread: str | None) -> Response:
    found = asked.view.checkpoint(thread)
    if found is None:
        raise NotFound("checkpoint")
    return answer(found, headers={"ETag": etag(found.version)})


def _saved(asked: Asked, thread: str | None, body: SaveRequest) -> Response:
    with _unless_changed(asked, thread) as version:
        sent = body.sent_fields("data")
        if version is not None:
            sent["version"] = version
        done = asked.write_view.save_checkpoint(body.data, thread=thread, **sent)
    return answer(done, headers={"ETag": etag(done.version)})


@contextmanager
def _unless_changed(asked: Asked, thread: str | None) -> Iterator[int | None]:
    """The version that the headers ask for, to be looked at by the write itself; None: they ask for
    none."""
    matching = asked.headers.getlist(IF_MATCH)
    first = "*" in tags(asked.headers.getlist(IF_NONE_MATCH))
    if not matching and not first:
        yield None
        return
    wanted = [0] if first else _wanted(asked, thread, tags(matching))
    if not wanted or (first and matching):
        raise _failed()
    try:
        yield wanted[0]
    except Conflict:
        raise _failed() from None


def _wanted(asked: Asked, thread: str | None, found: list[str]) -> list[int]:
    """At most one version. A single tag is not looked up: what was asked again may be done."""
    named = [int(one[1]) for tag in found if (one := _VERSION.fullmatch(tag))]
    if len(found) == 1 and "*" not in found:
        return named
    now = asked.view.checkpoint(thread)
    return [now.version] if now is not None and ("*" in found or now.version in named) else []


def _failed() -> Refused:
    return Refused("precondition-failed", "the checkpoint moved on by now: read it again")
