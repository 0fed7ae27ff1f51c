"""`read_file` and `write_file`: notes as files, for models that know how to keep those."""

from __future__ import annotations

from typing import Any

from tacit import limits
from tacit.memory import DisabledView, View, escape_fence, wrap_in_fence
from tacit.surfaces.tools.schemas import takes, words
from tacit.surfaces.tools.tool import Answer, Tool

_PATH = "Relative to the notes, for example trips.md, _index.md or 2026-03-01/telegram_1001.md"


_NO_FILES = "There are no files yet."


def file_tools(view: View | DisabledView) -> tuple[Tool, Tool]:
    return _read(view), _write(view)


def _read(view: View | DisabledView) -> Tool:
    def act(given: dict[str, Any]) -> Answer:
        path = given["path"]
        if path.strip("/"):
            return Answer(text=wrap_in_fence([escape_fence(view.read_file(path))]))
        paths = view.files()
        return Answer(
            text=wrap_in_fence([escape_fence(one) for one in paths]) if paths else _NO_FILES
        )

    return Tool(
        name="read_file",
        title="Read a note",
        description="Read a file of the notes that are kept for this conversation. They hold what "
        "was remembered, as Markdown: each bullet is one memory.",
        parameters=takes({"path": words(f"{_PATH}. Empty: tells which files there are")}, "path"),
        act=act,
        needs=("read",),
        always_available=False,
        idempotent=True,
    )


def _write(view: View | DisabledView) -> Tool:
    def act(given: dict[str, Any]) -> Answer:
        if not view.enabled:
            return Answer(text="Nothing was written: memory is not available in this conversation.")
        view.write_file(given["path"], given["text"])
        return Answer(text=f"Written: {given['path']}")

    return Tool(
        name="write_file",
        title="Write a note",
        description="Write a file of the notes. Read it first: each bullet is one memory, and one "
        "that is missing from the text is forgotten. Leave passwords, keys and card numbers out; "
        "they are refused.",
        parameters=takes(
            {
                "path": words(_PATH),
                "text": words(
                    "The whole file as it is to be; a fact is a line that begins with '- '",
                    maxLength=limits.FILE_MAX_CHARS,
                ),
            },
            "path",
            "text",
        ),
        act=act,
        needs=("write",),
        always_available=False,
        destructive=True,
        idempotent=True,
    )
