"""A settings file as YAML nodes: they know their lines, and `no` is still the text written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tacit import limits
from tacit.settings.mistakes import reason, wrong

if TYPE_CHECKING:
    from yaml import Node

_QUOTED_WORD = re.compile(r" '[^'<\\]{2,}'")
_NULL = "tag:yaml.org,2002:null"
_PLAIN = {_NULL} | {f"tag:yaml.org,2002:{t}" for t in ("str", "int", "float", "bool", "timestamp")}


def document(file: Path) -> Node | None:
    import yaml

    written = _text_of(file)
    try:
        return yaml.SafeLoader(written).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark else file
        # Words of the file are left out: they may be a password.
        problem = _QUOTED_WORD.sub("", str(error.problem))
        raise wrong(where, f"is not valid YAML: {problem}; correct it there") from None
    except yaml.reader.ReaderError as error:
        line = written.count("\n", 0, error.position) + 1
        problem = f"contains the control character U+{error.character:04X}; remove it"
        raise wrong(f"{file}, line {line}", problem) from None
    except (ValueError, OverflowError, RecursionError):
        problem = "is not valid YAML: an escape, a version or the nesting is out of range"
        raise wrong(file, f"{problem}; write plain values") from None


def place(file: Path, node: Node) -> str:
    return f"{file}, line {node.start_mark.line + 1}"


def is_null(node: Node) -> bool:
    return node.tag == _NULL and isinstance(node.value, str)


def is_mapping(node: Node) -> bool:
    from yaml import MappingNode

    return isinstance(node, MappingNode)


def is_scalar(node: Node) -> bool:
    from yaml import ScalarNode

    return isinstance(node, ScalarNode)


def plain(node: Node) -> str | None:
    """The text of one plain value, or None where something else stands."""
    return str(node.value) if is_scalar(node) and node.tag in _PLAIN else None


def items(node: Node) -> list[Node] | None:
    """What a list holds, or None where something else stands."""
    from yaml import SequenceNode

    return list(node.value) if isinstance(node, SequenceNode) else None


def pairs(node: Node) -> Iterator[tuple[Node, Node]]:
    yield from node.value


def _text_of(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            raw = stream.read(limits.SETTINGS_FILE_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise wrong(file, f"cannot be read ({reason(error)}); name a file that can be") from None
    if len(raw) > limits.SETTINGS_FILE_MAX_BYTES:
        raise wrong(
            file, f"is longer than {limits.SETTINGS_FILE_MAX_BYTES:,} bytes; name a settings file"
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise wrong(f"{file}, line {line}", "is not UTF-8 text; save it as UTF-8") from None
