"""The commands of the memory tool, over the files of a view: what a model asks, and what it reads.

The forms are those that models know: a listing with sizes, numbered lines, edits by exact text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tacit.errors import Conflict, InvalidInput, NotFound, StoreError, TacitError
from tacit.memory import DisabledView, View

T = TypeVar("T")

ROOT = "/memories"
LEVELS_MAX_COUNT = 2  # of folders, in a listing
NUMBER_WIDTH = 6
AROUND_COUNT = 2  # lines shown on each side of an edit
QUOTE_MAX_CHARS = 200  # of what was looked for, when it is told back


class Refused(Exception):
    """What a model is told instead of a result. It says what to do."""


@dataclass(frozen=True, slots=True)
class Commands:
    """Each answers in words for a model, or raises `Refused` in such words."""

    view_of: View | DisabledView

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        inner = within(path)
        sizes = self._asked(path, lambda: self.view_of.file_sizes(inner))
        if inner in sizes:
            return _numbered(path, self._read(path, inner), view_range)
        return _listing(path.rstrip("/"), inner, sizes)

    def create(self, path: str, file_text: str) -> str:
        inner = _below_the_root(path)
        taken = f"File {path} already exists: edit it, or choose another name."
        self._asked(path, lambda: self.view_of.write_file(inner, file_text, new=True), taken)
        return f"File created at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        inner = _below_the_root(path)
        text = self._read(path, inner)
        found = _places(text, old_str)
        if not found:
            quoted = _quoted(old_str)
            raise Refused(
                f"Nothing was replaced: old_str {quoted} does not appear verbatim in {path}."
            )
        if len(found) > 1:
            lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in found)
            raise Refused(
                f"Nothing was replaced: old_str {_quoted(old_str)} appears more than once, in "
                f"lines: {lines}. Give enough of the text around it to make it unique."
            )
        place = found[0]
        after = text[:place] + new_str + text[place + len(old_str) :]
        return self._edited(path, inner, text, after, text.count("\n", 0, place))

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        inner = _below_the_root(path)
        text = self._read(path, inner)
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        if not 0 <= insert_line <= len(lines):
            raise Refused(
                f"Invalid `insert_line`: {insert_line}. Give a number in the range "
                f"[0, {len(lines)}]; 0 puts the text first."
            )
        lines.insert(insert_line, insert_text.removesuffix("\n"))
        return self._edited(path, inner, text, "\n".join(lines) + "\n", insert_line)

    def delete(self, path: str) -> str:
        inner = _below_the_root(path)
        self._asked(path, lambda: self.view_of.delete_file(inner))
        return f"Deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        old, new = _below_the_root(old_path), _below_the_root(new_path)
        taken = f"The destination {new_path} already exists: choose another name."
        self._asked(old_path, lambda: self.view_of.rename_file(old, new), taken)
        return f"Renamed {old_path} to {new_path}"

    def _edited(self, path: str, inner: str, before: str, after: str, line: int) -> str:
        """What it reads like now, which may be tidier than what was written."""
        if before != after:
            write = self.view_of.write_file
            self._asked(path, lambda: write(inner, after, instead_of=before))
        try:
            lines = self._read(path, inner).split("\n")
        except Refused:
            return f"The file {path} has been edited: nothing is left of it."
        first = max(0, min(line, len(lines) - 1) - AROUND_COUNT)
        shown = lines[first : first + 2 * AROUND_COUNT + 1]
        return f"The file {path} has been edited. Around the change it reads:\n" + _lines(
            shown, first + 1
        )

    def _read(self, path: str, inner: str) -> str:
        return self._asked(path, lambda: self.view_of.read_file(inner))

    def _asked(self, path: str, act: Callable[[], T], taken: str | None = None) -> T:
        """`taken` is what a conflict means, if it is not that somebody else wrote meanwhile."""
        if not self.view_of.enabled:
            raise Refused("Memory is not available in this conversation.")
        try:
            return act()
        except NotFound:
            told = f"The path {path} does not exist: view {ROOT} to see what there is."
        except Conflict:
            told = taken or f"{path} was changed meanwhile: view it again, then repeat the edit."
        except InvalidInput as error:
            what = "cannot be used" if error.field == "path" else "was not changed"
            told = f"{path} {what}: {error.problem}."
        except StoreError:
            told = "Memory could not be reached just now: try again later."
        except TacitError as error:
            told = f"{path} was not changed: {error}."
        raise Refused(told)


def within(path: str) -> str:
    """The path below the root; the view looks at what is left of it before it touches anything."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise Refused(f"The path must begin with {ROOT}: for example {ROOT}/trips.md.")
    return path.removeprefix(ROOT).removeprefix("/").removesuffix("/")


def _below_the_root(path: str) -> str:
    inner = within(path)
    if not inner:
        raise Refused(f"{ROOT} itself stays as it is: name a file in it.")
    return inner


def _places(text: str, wanted: str) -> list[int]:
    """Where it begins, overlapping ones too, as far as they are told back."""
    found: list[int] = []
    if not wanted:
        return found
    place = text.find(wanted)
    while place != -1 and len(found) < 50:
        found.append(place)
        place = text.find(wanted, place + 1)
    return found


def _quoted(text: str) -> str:
    return f"`{text[:QUOTE_MAX_CHARS]}{'…' if len(text) > QUOTE_MAX_CHARS else ''}`"


def _numbered(path: str, text: str, wanted: Sequence[int] | None) -> str:
    lines = text.split("\n")
    first, last = 1, len(lines)
    if wanted is not None:
        first, last = _range(wanted, len(lines))
    return f"Content of {path} with line numbers:\n" + _lines(lines[first - 1 : last], first)


def _range(wanted: Sequence[int], count: int) -> tuple[int, int]:
    if len(wanted) == 2:
        first, last = max(1, wanted[0]), count if wanted[1] == -1 else min(wanted[1], count)
        if first <= last:
            return first, last
    raise Refused(
        f"Invalid `view_range`: the file has {count} lines. Give the first line and the last one, "
        "or -1 for the end."
    )


def _lines(lines: Sequence[str], first: int) -> str:
    return "\n".join(
        f"{number:>{NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first)
    )


def _listing(path: str, inner: str, sizes: Mapping[str, int]) -> str:
    """Sizes and paths, two levels deep; a folder ends with a slash and is as large as its files."""
    shown: dict[str, int] = {}
    for name, size in sizes.items():
        parts = name[len(inner) :].strip("/").split("/")
        for depth in range(1, min(len(parts), LEVELS_MAX_COUNT) + 1):
            whole = depth == len(parts)
            entry = "/".join(parts[:depth]) + ("" if whole else "/")
            shown[entry] = shown.get(entry, 0) + size
    lines = [f"{_size(sum(sizes.values()))}\t{path}"]
    lines += [f"{_size(shown[entry])}\t{path}/{entry}" for entry in sorted(shown)]
    return f"Files and folders in {path}, two levels deep, without hidden ones:\n" + "\n".join(
        lines
    )


def _size(count: int) -> str:
    size, unit = float(count), "B"
    for larger in ("K", "M"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f}{unit}" if size == int(size) else f"{size:.1f}{unit}"
