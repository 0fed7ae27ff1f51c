"""The key of a memory as text: shown with its value, and part of what the value is found by."""

from __future__ import annotations

import re
from itertools import pairwise

# Keys that a program makes up, such as `users/1//prefs`, are no words of anybody.
_MADE_UP = re.compile(r"[|%]|//|^/")
_CAMEL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_LAST_PART = re.compile(r"[^:/]+$")


def show_with_key(key: str | None, content: str) -> str:
    """A value for people and models to read: `timezone: Europe/Lisbon`."""
    return f"{key}: {content}" if key is not None and _adds(key, content) else content


def meaning_of(key: str | None, content: str) -> str:
    """The text that is embedded: `preferred name: Nina`."""
    words = key_words(key)
    return f"{' '.join(words)}: {content}" if key and words and _adds(key, content) else content


def key_words(key: str | None) -> list[str]:
    """The words of a key: `preferred_name` and `preferredName` are both "preferred name"."""
    if key is None or _MADE_UP.search(key):
        return []
    return _WORD.findall(_CAMEL.sub(" ", key))


def split_key(key: str) -> str:
    """Return a key with a space between its words, made up or not: to look for words in it."""
    return " ".join(_WORD.findall(_CAMEL.sub(" ", key)))


def joined(words: list[str]) -> list[str]:
    """Each two neighbors as one word: "time zone" is asked for as "timezone" too."""
    return [one + other for one, other in pairwise(words)]


def _adds(key: str, content: str) -> bool:
    """Not where the content begins with the key: `node:Apollo` of "Apollo is a project"."""
    name = _LAST_PART.search(key)
    if _MADE_UP.search(key) or name is None:
        return False
    said, rest = content[: len(name[0])], content[len(name[0]) : len(name[0]) + 1]
    return said.casefold() != name[0].casefold() or rest not in (" ", ":")
