"""Write the table of keys in docs/settings.md and tacit.example.yaml from the declared settings.

python -m scripts.settings_reference
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import Field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from tacit.settings import variable_name
from tacit.settings.load import declared_fields, sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "settings.md"
EXAMPLE = ROOT / "tacit.example.yaml"
COLUMNS = 100

_TABLE = re.compile(r"(?<=\| key \| variable \| default \| meaning \|\n\|---\|---\|---\|---\|\n)(\|.*\n)+")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#]*)[^)]*\)")
_HEAD = """\
# Every setting with its default: this file changes nothing until you edit it.
# Copy it to ./tacit.yaml or ~/.tacit/tacit.yaml. docs/settings.md has the same reference.
"""
_TAIL = """
# How categories get into a prompt: in the block, or by recall only and at most so many:
#   - name: event
#     context: rag
#     rag_length: 30
categories:
  system: []
  custom: []

# Categories that an agent may use: planner: [goal, project]. As soon as one agent has a list, an
# agent without one may use no category.
allowlists: {}
"""


def format_value(value: object) -> str:
    """Format a value as a person writes it into a variable."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, timedelta):
        minutes, seconds = divmod(int(value.total_seconds()), 60)
        parts = {"h": minutes // 60, "m": minutes % 60, "s": seconds}
        return "".join(f"{number}{unit}" for unit, number in parts.items() if number) or "0s"
    if isinstance(value, tuple):
        return ",".join(value)
    return "" if value is None else str(value).removesuffix(".0")


def describe(key: str, one: Field[Any]) -> str:
    """Describe a setting: its description, then the values it takes."""
    section, _, name = key.rpartition(".")
    about = one.metadata
    described: str = about["description"]
    if about["within"] is not None:
        low, high = map(format_value, about["within"])
        return f"{described} {low} to {high}."
    hint = get_type_hints(sections()[section])[name]
    words = [f"`{word}`" for word in get_args(hint)] if get_origin(hint) is Literal else []
    if about["parse"] is not None or all(word in described for word in words):
        return described
    return f"{described} {', '.join(words[:-1])} or {words[-1]}."


def table() -> str:
    rows = []
    for key, one in declared_fields().items():
        default = format_value(one.default)
        shown = f" `{default}` " if default else " "
        rows.append(f"| `{key}` | `{variable_name(key)}` |{shown}| {describe(key, one)} |\n")
    return "".join(rows)


def page() -> str:
    made, count = _TABLE.subn(lambda _: table(), PAGE.read_text())
    assert count == 1, "docs/settings.md has no table of keys"
    return made


def example() -> str:
    return _HEAD + "\n".join(_example_lines("", "")) + "\n" + _TAIL


def _example_lines(section: str, indent: str) -> Iterator[str]:
    for one in fields(sections()[section]):
        key = f"{section}.{one.name}" if section else one.name
        if key in sections():
            yield from [] if section else [""]
            yield f"{indent}{one.name}:"
            yield from _example_lines(key, indent + "  ")
        elif key in declared_fields():
            text = _LINK.sub(_plain_link, describe(key, one)).replace("**", "")
            start = f"{indent}# "
            yield from textwrap.wrap(
                text, COLUMNS, initial_indent=start, subsequent_indent=start,
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
            yield f"{indent}{one.name}: {_example_value(one.default)}"


def _plain_link(link: re.Match[str]) -> str:
    return f"{link[1]} (docs/{link[2] or PAGE.name})"


def _example_value(value: object) -> str:
    if value is None or isinstance(value, tuple):
        return "null" if value is None else "[]"
    return '""' if value == "" else '"off"' if value == "off" else format_value(value)


if __name__ == "__main__":
    PAGE.write_text(page())
    EXAMPLE.write_text(example())
