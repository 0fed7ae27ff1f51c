"""How texts in requests are spelled, as patterns for the document. The library is what checks them.

Beyond U+00FF the patterns allow everything, though what cannot be seen is refused there too: the
whole of it would be some seven hundred ranges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tacit import limits
from tacit.surfaces.rest import named

Document = dict[str, Any]
_CONTROLS = r"\x00-\x1f\x7f-\x9f"
_UNSEEN = rf"{_CONTROLS}\xad"
_NOT_SAID = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_SEEN = rf"[^{_UNSEEN} \xa0]"  # neither a space nor invisible
NAME = rf"^{_SEEN}([^{_UNSEEN}]*{_SEEN})?$"
CONTENT = rf"^[^{_NOT_SAID}]*{_SEEN}[^{_NOT_SAID}]*$"
_NAMES_MAX_CHARS = (limits.NAME_MAX_CHARS, limits.LABEL_MAX_CHARS, limits.TAG_MAX_CHARS)
_NAMED: Document = {"minLength": 1, "maxLength": limits.LABEL_MAX_CHARS, "pattern": NAME}
_IN_PATHS: Mapping[str, Document] = {"key": _NAMED, "thread": _NAMED, "chat": named.CHAT}


def describe(document: Document, categories: Sequence[str]) -> None:
    """Give every text that a request holds its spelling, by how long it may be: names of things
    are short, what people say is not."""
    known: Document = {"enum": list(categories)}
    for path in document["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter.get("in") == "path":
                    more = known if parameter["name"] == "category" else {}
                    parameter["schema"].update(more or _IN_PATHS.get(parameter["name"], {}))
                elif "schema" in parameter:
                    _spell(parameter["schema"], known)
    schemas = document["components"]["schemas"]
    for name in _taken(document):
        _spell(schemas[name], known)


def _taken(document: Document) -> list[str]:
    """The schemas of what is sent to us; what we send needs no spelling."""
    bodies = (
        operation.get("requestBody", {}).get("content", {}).values()
        for path in document["paths"].values()
        for operation in path.values()
    )
    refs = (media["schema"].get("$ref", "") for found in bodies for media in found)
    return sorted({ref.rpartition("/")[2] for ref in refs if ref})


def _spell(schema: Any, categories: Document) -> None:
    for text in _texts(schema):
        most = text["maxLength"]
        if most == limits.CATEGORY_MAX_CHARS:
            text.update(categories)
            del text["maxLength"], text["minLength"]
        elif most in _NAMES_MAX_CHARS:
            text["pattern"] = NAME
        else:
            text["pattern"] = CONTENT


def _texts(schema: Any) -> Iterator[Document]:
    """Those that may not be empty and say no more of themselves."""
    if isinstance(schema, list):
        for one in schema:
            yield from _texts(one)
    elif isinstance(schema, dict):
        said = schema.keys() & {"enum", "pattern", "format"}
        if schema.get("type") == "string" and "minLength" in schema and not said:
            yield schema
        for one in list(schema.values()):
            yield from _texts(one)
