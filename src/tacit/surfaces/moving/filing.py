"""Where something is filed here that had a place of another kind elsewhere: words as tags, headings
as categories."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tacit import limits

_NO_WORD = re.compile(r"[\W_]+")
# The first of which a word stands in a heading decides. Others are left to the memory.
_CATEGORIES = (
    ("preference", ("preference", "preferences", "instruction", "instructions", "style", "tone")),
    ("project", ("project", "projects", "work")),
    ("goal", ("goal", "goals", "plans")),
    ("relationship", ("family", "friends", "relationship", "relationships", "people")),
    ("event", ("event", "events", "history")),
    ("procedure", ("procedure", "procedures", "method", "technique", "workflow", "workflows")),
    ("task_state", ("task", "tasks", "todo", "todos")),
    ("profile", ("personal", "profile", "identity", "demographics", "about")),
)


def tag(words: str) -> str | None:
    """In the form that tags have: `Work context` is `work-context`."""
    return _NO_WORD.sub("-", words.casefold()).strip("-")[: limits.TAG_MAX_CHARS].strip("-") or None


def tags_of(words: object) -> tuple[str, ...] | None:
    """Of a list, or of words between commas; none where there are none."""
    listed: Iterable[object] = ()
    if isinstance(words, str):
        listed = words.split(",")
    elif isinstance(words, Iterable):
        listed = words
    found = dict.fromkeys(one for word in listed if isinstance(word, str) and (one := tag(word)))
    return tuple(found)[: limits.TAGS_MAX_COUNT] or None


def category(heading: str | None) -> str | None:
    said = set(_NO_WORD.sub(" ", (heading or "").casefold()).split())
    return next((name for name, words in _CATEGORIES if not said.isdisjoint(words)), None)
