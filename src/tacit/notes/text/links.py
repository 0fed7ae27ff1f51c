"""Markdown links of a note, written and found."""

from __future__ import annotations

import re

from tacit.records.notes import NoteLink

_FOUND = re.compile(
    r"(?<!\\)\[((?:[^\[\]\\]|\\.)*+)\]"
    r"\((?:<((?:[^<>\\]|\\.)*+)>|((?:[^\s()<>\\]|\\.)*+))(?:[ \t]++\"[^\"]*+\")?\)",
    re.DOTALL,
)
_IN_TEXT = re.compile(r"[\\\[\]&\r\n]")
_IN_TARGET = re.compile(r"[\\<>&\r\n]")
_BARE_TARGET = re.compile(r"[^\s()<>\\&]++")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|&#(10|13);")


def written(link: NoteLink) -> str:
    target = link.target
    if not _BARE_TARGET.fullmatch(target):
        target = f"<{_IN_TARGET.sub(_escaped, target)}>"
    return f"[{_IN_TEXT.sub(_escaped, link.text)}]({target})"


def found(text: str) -> list[NoteLink]:
    """The links in a text, in their order."""
    return [
        NoteLink(text=_ESCAPE.sub(_plain, m[1]), target=_ESCAPE.sub(_plain, m[2] or m[3] or ""))
        for m in _FOUND.finditer(text)
    ]


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    return f"&#{ord(char)};" if char in "\r\n" else f"\\{char}"


def _plain(found: re.Match[str]) -> str:
    return found[1] or chr(int(found[2]))
