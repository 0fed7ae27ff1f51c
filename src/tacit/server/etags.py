"""ETags of memories, and the preconditions If-Match and If-None-Match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from tacit.clock import to_micros
from tacit.errors import Conflict, NotFound
from tacit.memory import View
from tacit.records.memory import Memory
from tacit.server.responses import HttpProblem, version_etag
from tacit.server.routing import RequestContext

T = TypeVar("T")
IF_MATCH = "If-Match"
IF_NONE_MATCH = "If-None-Match"
_ANY_TAG = "*"
_TAG_PATTERN = re.compile(r'(?:W/)?"[^"]*"|\*')
_VERSION_TAG_PATTERN = re.compile(r'"v([1-9][0-9]{0,8})(-[0-9a-f]+)?"')


def memory_etag(memory: Memory) -> str:
    return f'"v{memory.version}-{to_micros(memory.updated_at):x}"'


def parse_etags(sent: Sequence[str]) -> list[str]:
    """Return the tags of a header, weak ones as strong: both name a version."""
    return [tag.removeprefix("W/") for header in sent for tag in _TAG_PATTERN.findall(header)]


def matches_etag(sent: Sequence[str], tag: str) -> bool:
    found = parse_etags(sent)
    return tag in found or _ANY_TAG in found


@contextmanager
def check_unchanged(
    context: RequestContext, problem: str, first: T, find: Callable[[list[str]], T | None]
) -> Iterator[T | None]:
    """Yield what If-Match and If-None-Match expect, for the write to check; None: anything.

    `first` is expected where there must be nothing yet; `find` returns what the tags of If-Match
    name, or None where none of them is current.
    """
    matching = context.headers.getlist(IF_MATCH)
    new = _ANY_TAG in parse_etags(context.headers.getlist(IF_NONE_MATCH))
    if not matching and not new:
        yield None
        return
    changed = HttpProblem("precondition-failed", f"{problem}: read it again")
    expected = first if new else find(parse_etags(matching))
    if expected is None or (new and matching):
        raise changed
    try:
        yield expected
    except Conflict:
        raise changed from None


@contextmanager
def check_if_match(context: RequestContext, view: View, id: str) -> Iterator[int | None]:
    """Yield the version that If-Match asks for, for the write to check; None: any.

    Raise `precondition-failed` where the memory is at another version, unless the request is
    repeated with its Idempotency-Key.
    """
    sent = context.headers.getlist(IF_MATCH)
    found = parse_etags(sent)
    if not sent or _ANY_TAG in found:
        yield None
        return
    wanted = {int(ours[1]) for tag in found if (ours := _VERSION_TAG_PATTERN.fullmatch(tag))}
    try:
        now = view.show(id)  # absent before changed
        if not _has_current_tag(now, found):
            raise _precondition_failed()
        wanted = {now.version}
    except (NotFound, HttpProblem):
        if len(wanted) != 1 or not context.is_replay():
            raise
    try:
        yield wanted.pop()
    except Conflict:
        if not _has_current_tag(view.show(id), found):
            raise _precondition_failed() from None
        raise


def _has_current_tag(memory: Memory, found: Sequence[str]) -> bool:
    return memory_etag(memory) in found or version_etag(memory.version) in found


def _precondition_failed() -> HttpProblem:
    return HttpProblem("precondition-failed", "the memory is at another version by now: read it again")
