"""Slack's way of writing text, read: escapes, mentions, links, and what is quoted in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

# What stands between angle brackets means something: <@U1>, <#C1|general>, <!here>, <https://…|x>.
_MARK = re.compile(r"<([^<>]{1,4000})>")
_QUOTE = re.compile(r"^[ \t]*&gt;[ \t]?", re.MULTILINE)
_REST = re.compile(r"^[ \t]*&gt;&gt;&gt;", re.MULTILINE)
_PASTED = re.compile(r"```(.*?)(?:```|\Z)", re.DOTALL)
_NAME = re.compile(r"\w[\w'-]*")
_EMPTY = re.compile(r"\n{3,}")

Named = Callable[[str], str | None]  # what a user is called


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    own: str  # what the sender themselves wrote
    quoted: tuple[str, ...]  # what they quoted or pasted: nobody here said it
    mentioned: frozenset[str]  # users, by their ids


def words(text: str, named: Named, bot: str | None) -> Words:
    """The bot's name is an address, not a word: it is left out."""
    mentioned = frozenset(one[0] for one in map(_mention, _MARK.findall(text)) if one)
    own, quoted = _apart(text)
    plain = [_plain(one, named, bot) for one in quoted]
    return Words(
        own=_plain(own, named, bot),
        quoted=tuple(one for one in plain if one),
        mentioned=mentioned,
    )


def escaped(text: str) -> str:
    """Nothing in it means anything to Slack but itself."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _apart(text: str) -> tuple[str, list[str]]:
    """Own words, and quotes: everything after >>>, lines after >, and what stands in ```."""
    quoted: list[str] = []
    rest = _REST.search(text)
    if rest is not None:
        quoted.append(text[rest.end() :])
        text = text[: rest.start()]
    quoted += _PASTED.findall(text)
    text = _PASTED.sub("\n", text)
    own: list[str] = []
    block: list[str] = []
    for line in [*text.split("\n"), ""]:
        mark = _QUOTE.match(line)
        if mark is not None:
            block.append(line[mark.end() :])
            continue
        if block:
            quoted.append("\n".join(block))
            block = []
        own.append(line)
    return "\n".join(own), quoted


def _plain(text: str, named: Named, bot: str | None) -> str:
    def shown(found: re.Match[str]) -> str:
        return _shown(found[1], named, bot)

    read = _MARK.sub(shown, text)
    read = read.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return _EMPTY.sub("\n\n", read).strip()


def _shown(mark: str, named: Named, bot: str | None) -> str:
    user = _mention(mark)
    if user is not None:
        id, label = user
        return "" if id == bot else f"@{_first_name(named(id) or label) or id}"
    what, _, label = mark.partition("|")
    if what.startswith("#"):
        return f"#{label or what[1:]}"
    if what.startswith("!"):
        return label or f"@{what[1:].partition('^')[0]}"
    where = what.removeprefix("mailto:").removeprefix("tel:")
    return f"{label} ({where})" if label and label not in (where, what) else where


def _first_name(name: str) -> str:
    """People choose what they are called: with more than a word of it, they could put a sentence
    into the mouth of whoever mentions them."""
    found = _NAME.search(name)
    return found[0] if found else ""


def _mention(mark: str) -> tuple[str, str] | None:
    if not mark.startswith("@"):
        return None
    id, _, label = mark[1:].partition("|")
    return id, label.removeprefix("@")
