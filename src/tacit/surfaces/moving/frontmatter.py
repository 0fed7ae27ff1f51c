"""The head of a Markdown file: keys and values as text, within bounds. Anchors, aliases and tags
are refused, so that a few lines cannot come to more than they say."""

from __future__ import annotations

from typing import Any

import yaml

from tacit import limits

_FENCE = "---"
_CLOSING = ("---", "...")
_PARSER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every scalar is text
_OPENS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSES = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


def split(text: str) -> tuple[str, int]:
    """The head, and the number of the first line below it; an empty one where there is none."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return "", 0
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in _CLOSING:
            return "\n".join(lines[1:number]), number + 1
    return "", 0  # nothing closes it: a line across the page


def fields(head: str) -> dict[str, Any]:
    """Raises `ValueError` with a reason that says nothing of what stands there."""
    if len(head) > limits.IMPORTER_FRONTMATTER_MAX_CHARS:
        raise ValueError("the frontmatter is too long")
    try:
        depth = 0
        for event in yaml.parse(head, Loader=_PARSER):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise ValueError("the frontmatter has anchors or aliases (& or *)")
            if getattr(event, "tag", None):
                raise ValueError("the frontmatter has a tag (!)")
            depth += isinstance(event, _OPENS) - isinstance(event, _CLOSES)
            if depth > limits.IMPORTER_FRONTMATTER_DEPTH_MAX_COUNT:
                raise ValueError("the frontmatter is nested too deep")
        found = yaml.load(head, Loader=_PARSER)
    except yaml.YAMLError:
        raise ValueError("the frontmatter is no YAML") from None
    if found is None or found == "":
        return {}
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise ValueError("the frontmatter is no list of keys and values")
    return found
