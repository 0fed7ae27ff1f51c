"""Contents of memories as lines of Markdown, and back. Content is Markdown already: only what would
be misread as the form of a note is escaped. Each content has one form, and that one content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from tacit import limits
from tacit.records.notes import CHECKBOX_SECTIONS, NoteItem, Section

# Every run of backslashes is taken whole (`*+`), from where it begins: no line is read twice.
_RUN = r"(?<!\\)(\\*+)"
_CODE = r"&#(?:9|10|13|32);"
_TO_CODE = re.compile(_RUN + rf"({_CODE}|[\r\n]|\A[ \t]|[ \t]\Z)")
_FROM_CODE = re.compile(_RUN + rf"({_CODE})")
_COMMENT = re.compile(_RUN + "<!--")
_ID = re.compile(r"(?<!\\)<!-- ([A-Za-z0-9]{8})( conflict)? -->[ \t\r]*\Z")
_ADDED = re.compile(r"\(added ([0-9]{4}-[0-9]{2}-[0-9]{2})\)\Z")
_ADDED_CHARS = len("(added 2026-01-31)")
_TICKS = re.compile("`++")
_BOX = re.compile(r"\[([ xX])\](?=[ \t]|\Z)")

# A title is short, without a full stop, and without anything that Markdown reads.
_READ = r"*`\[\]<>\\.:"
_T = rf"[^\s&{_READ}](?:[^{_READ}]{{0,{limits.NOTE_TITLE_MAX_CHARS - 2}}}[^\s{_READ}])?"
_TITLE = re.compile(rf"({_T}): (?=[^ \t])")
_BOLD = re.compile(rf"\*\*({_T})(?:\*\*:|:\*\*)[ \t]+(?=[^ \t])")

_SPECIAL = (
    r"(?=[-+*](?:[ \t]|\Z)|#{1,6}(?:[ \t]|\Z)|>|```|~~~"
    r"|(?:-[ \t]*+){3,}+\Z|(?:_[ \t]*+){3,}+\Z|(?:\*[ \t]*+){3,}+\Z"
    r"|<(?!!--)[!/?A-Za-z]|\[[ xX]\](?:[ \t]|\Z)|\[[^\]]*+\]:{titled})"
)
_START = re.compile(r"(\\*+)" + _SPECIAL.replace("{titled}", ""))
_START_TITLED = re.compile(r"(\\*+)" + _SPECIAL.replace("{titled}", "|" + _BOLD.pattern))
_NUMBER = re.compile(r"([0-9]{1,9})(\\*+)(?=[.)](?:[ \t]|\Z))")
_PLAIN_START = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLine:
    """What the first line of a bullet says, after its marker."""

    text: str
    id: str | None = None
    conflict: bool = False
    done: bool | None = None
    added: date | None = None


def is_titled(section: Section) -> bool:
    """Whether `Title: rest` is written with the title in bold there."""
    return section not in CHECKBOX_SECTIONS and section is not Section.PAGE


def write_first(item: NoteItem, *, dated: bool, asides: str = "", flat: bool = False) -> str:
    """The first line of an item, without its marker. `asides` are the comments of a person. If it
    is to be flat, this line holds all of the content."""
    bare = dated and item.added is None  # then a date at the end of the content looks like its own
    line = item.content if flat else item.content.split("\n", 1)[0]
    text = write_text(line, dated=bare, titled=is_titled(item.section))
    parts = [] if item.done is None else ["[x]" if item.done else "[ ]"]
    parts.append(text)
    if dated and item.added is not None:
        parts.append(f"(added {item.added.isoformat()})")
    parts.append(asides)
    if item.id is not None:
        parts.append(id_comment(item))
    return " ".join(part for part in parts if part)


def id_comment(item: NoteItem) -> str:
    return f"<!-- {item.id}{' conflict' if item.conflict else ''} -->"


def write_text(line: str, *, dated: bool = False, titled: bool = False) -> str:
    """One line of a content as Markdown that means it."""
    text = _TO_CODE.sub(_coded, line)
    if "<!--" in text:
        text = _COMMENT.sub(r"\1\\<!--", text)
    if dated and text.endswith(")"):
        text = _ADDED.sub(r"\\\g<0>", text)
    title = _TITLE.match(text) if titled else None
    if title is not None:
        return f"**{title[1]}**: {text[title.end() :]}"
    number = _NUMBER.match(text)
    if number is not None:
        return f"{number[0]}\\{text[number.end() :]}"
    start = _START_TITLED if titled else _START
    return "\\" + text if start.match(text) else text


def read_first(text: str, section: Section, *, dated: bool) -> FirstLine:
    """The opposite of `write_first`, for whatever somebody may have written there."""
    text = text.strip(" \t\r")
    id, conflict = None, False
    if text.endswith("-->"):
        found = _ID.search(text, max(0, len(text) - 32))
        if found is not None:
            id, conflict = found[1], found[2] is not None
            text = text[: found.start()].rstrip(" \t")
    done = None
    if section in CHECKBOX_SECTIONS:
        box = _BOX.match(text)
        done = box is not None and box[1] != " "
        text = text[box.end() :].lstrip(" \t") if box is not None else text
    text = _without_comments(text)
    added = None
    if dated and text.endswith(")"):
        text, added = _without_date(text)
    return FirstLine(
        text=_read(text, titled=is_titled(section)),
        id=id,
        conflict=conflict,
        done=done,
        added=added,
    )


def read_text(text: str) -> str:
    """What a further line says, after its marker."""
    return _read(_without_comments(text.strip(" \t\r")), titled=False)


def id_in(line: str) -> tuple[str, str | None]:
    """A line without the comment that holds an id, and this comment."""
    found = _ID.search(line) if line.endswith("-->") else None
    if found is None:
        return line, None
    return line[: found.start()].rstrip(" \t"), found[0]


def asides_of(text: str) -> str:
    """The comments of a person in a line, which are no part of what it says."""
    found = _ID.search(text)
    return " ".join(text[a:b] for a, b in _comments(text[: found.start()] if found else text))


def without_id(line: str) -> str:
    """The line without the comment that holds its id."""
    found = _ID.search(line) if line.rstrip().endswith("-->") else None
    if found is None:
        return line
    return line[: found.start()].rstrip(" \t") + ("\r" if line.endswith("\r") else "")


def without_ids(text: str) -> str:
    """A note as a model reads it: without the comments that hold ids."""
    if "<!--" not in text:
        return text
    return "\n".join(without_id(line) for line in text.split("\n"))


def _coded(found: re.Match[str]) -> str:
    """A character that no line can hold there, or the literal text of its code."""
    run, what = found[1], found[2]
    return run * 2 + ("\\" + what if what.startswith("&") else f"&#{ord(what)};")


def _uncoded(found: re.Match[str]) -> str:
    run, what = found[1], found[2]
    half = "\\" * (len(run) // 2)
    return half + (what if len(run) % 2 else chr(int(what[2:-1])))


def _without_date(text: str) -> tuple[str, date | None]:
    found = _ADDED.fullmatch(text, max(0, len(text) - _ADDED_CHARS))
    if found is None:
        return text, None
    at = found.start()
    if text[:at].endswith("\\"):
        return text[: at - 1] + text[at:], None
    try:
        return text[:at].rstrip(" \t"), date.fromisoformat(found[1])
    except ValueError:
        return text, None


def _read(text: str, *, titled: bool) -> str:
    if titled and text.startswith("**"):
        bold = _BOLD.match(text)
        if bold is not None:
            text = f"{bold[1]}: {text[bold.end() :]}"
    elif text.startswith("\\"):
        start = _START_TITLED if titled else _START
        text = text[1:] if start.match(text) else text
    elif "\\" in text[:11]:
        number = _NUMBER.match(text)
        if number is not None and number[2]:
            text = number[1] + text[len(number[1]) + 1 :]
    if "\\<!--" in text:
        text = _COMMENT.sub(lambda m: f"{m[1][1:]}<!--", text)
    return _FROM_CODE.sub(_uncoded, text) if "&#" in text else text


def _without_comments(text: str) -> str:
    """Without what Markdown does not show. In a code span it does show it."""
    if "<!--" not in text:
        return text
    kept, at = [], 0
    for start, end in _comments(text):
        kept.append(text[at:start].rstrip(" \t") if at or start else "")
        at = end
    kept.append(text[at:])
    return "".join(kept).strip(" \t")


def _comments(text: str) -> list[tuple[int, int]]:
    """Where comments are that are closed, outside of code spans."""
    code = _code_spans(text) if "`" in text else []
    spans: list[tuple[int, int]] = []
    at = passed = 0
    for found in _COMMENT.finditer(text):
        start = found.start()
        if start < at or found[1]:
            continue
        while passed < len(code) and code[passed][1] <= start:
            passed += 1
        if passed < len(code) and code[passed][0] < start:
            continue
        end = text.find("-->", start + 2)
        if end < 0:
            break
        at = end + 3
        spans.append((start, at))
    return spans


def _code_spans(text: str) -> list[tuple[int, int]]:
    """Each from a run of backticks to the next run that is as long."""
    runs = [(found.start(), found.end()) for found in _TICKS.finditer(text)]
    after: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        after.setdefault(runs[index][1] - runs[index][0], []).append(index)
    spans, at = [], 0
    while at < len(runs):
        start, end = runs[at]
        same = after[end - start]
        while same and same[-1] <= at:
            same.pop()
        if same and (start == 0 or text[start - 1] != "\\"):
            spans.append((start, runs[same[-1]][1]))
            at = same[-1]
        at += 1
    return spans
