"""ETags: a memory's version and when it last changed, and what If-Match and If-None-Match ask.

What changes besides its words, such as its visibility, makes no version but is told as well. So the
tag holds both, and whoever knows the version alone may send "v2" too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tacit.clock import to_micros
from tacit.errors import Conflict, NotFound
from tacit.memory import DisabledView, View
from tacit.records.memory import Memory
from tacit.surfaces.rest.answers import etag
from tacit.surfaces.rest.asking import Asked
from tacit.surfaces.rest.refusals import Refused

IF_MATCH = "If-Match"
IF_NONE_MATCH = "If-None-Match"
_ANY = "*"
_TAG = re.compile(r'(?:W/)?"[^"]*"|\*')
_OURS = re.compile(r'"v([1-9][0-9]{0,8})(-[0-9a-f]+)?"')


def tag_of(memory: Memory) -> str:
    return f'"v{memory.version}-{to_micros(memory.updated_at):x}"'


def tags(sent: Sequence[str]) -> list[str]:
    """Without the marks of weak ones: a version is a version."""
    return [tag.removeprefix("W/") for header in sent for tag in _TAG.findall(header)]


def matched(sent: Sequence[str], tag: str) -> bool:
    found = tags(sent)
    return tag in found or _ANY in found


@contextmanager
def unless_changed(asked: Asked, view: View | DisabledView, id: str) -> Iterator[int | None]:
    """The version that If-Match asks for, to be looked at by the write itself; None: any. Where the
    memory is at another one, the precondition failed; but what is done already is told again."""
    sent = asked.headers.getlist(IF_MATCH)
    found = tags(sent)
    if not sent or _ANY in found:
        yield None
        return
    wanted = {int(ours[1]) for tag in found if (ours := _OURS.fullmatch(tag))}
    try:
        now = view.show(id)  # absent before changed
        if not _is_one(now, found):
            raise _failed()
        wanted = {now.version}
    except (NotFound, Refused):
        if len(wanted) != 1 or not asked.is_replay():
            raise
    try:
        yield wanted.pop()
    except Conflict:
        if not _is_one(view.show(id), found):
            raise _failed() from None
        raise


def _is_one(memory: Memory, found: Sequence[str]) -> bool:
    return tag_of(memory) in found or etag(memory.version) in found


def _failed() -> Refused:
    return Refused("precondition-failed", "the memory is at another version by now: read it again")
