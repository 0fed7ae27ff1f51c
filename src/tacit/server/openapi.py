"""Complete the OpenAPI document: headers, security, problems and text patterns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

from tacit import limits, wire
from tacit.records.accounts import Scope
from tacit.records.memory import ChatKind
from tacit.server import schemas
from tacit.server.authentication import LOCAL_SCOPES
from tacit.server.routing import (
    BODY_EXTENSION,
    IDEMPOTENT_EXTENSION,
    JSON_BODY,
    LOCAL_EXTENSION,
    MEDIA_TYPES_EXTENSION,
    REQUEST_HEADERS_EXTENSION,
    RESPONSE_HEADERS_EXTENSION,
    SCOPE_EXTENSION,
)
from tacit.settings import Settings, category_names

# The headers that a request may have, as the document tells of them.

Document = dict[str, Any]
IDEMPOTENCY_PARAMETER = "Idempotency-Key"
THREAD_HEADER = "X-Tacit-Thread"
# They are percent-encoded UTF-8, so what is no UTF-8 is no value. A lone % stands for itself.
_HEX = "[0-9A-Fa-f]"
_LONE_PERCENT = f"%(?!{_HEX}{{2}})"
_CONTINUATION_BYTE = f"%[89ABab]{_HEX}"
_BEYOND_LATIN = (
    f"%([Cc][4-9A-Fa-f]|[Dd]{_HEX}){_CONTINUATION_BYTE}"
    f"|%([Ee]0%[ABab]{_HEX}|[Ee][1-9A-CEFa-cef]{_CONTINUATION_BYTE}|[Ee][Dd]%[89]{_HEX}){_CONTINUATION_BYTE}"
    f"|%([Ff]0%[9ABab]{_HEX}|[Ff][1-3]{_CONTINUATION_BYTE}|[Ff]4%8{_HEX}){_CONTINUATION_BYTE}{_CONTINUATION_BYTE}"
)
_ENCODED_CHAR = f"{_LONE_PERCENT}|%[0-7]{_HEX}|%[Cc][23]{_CONTINUATION_BYTE}|{_BEYOND_LATIN}"
# Neither a space nor invisible, as far as Latin goes.
_VISIBLE_LATIN = f"%2[1-9A-Fa-f]|%[3-6]{_HEX}|%7[0-9A-Ea-e]|%[Cc]2%[Aa][1-9A-CEFa-cef]"
_VISIBLE_CHAR = f"([!-$&-~]|{_LONE_PERCENT}|{_VISIBLE_LATIN}|%[Cc]2%[Bb]{_HEX}|%[Cc]3{_CONTINUATION_BYTE}|{_BEYOND_LATIN})"
_LABEL_CHAR = f"( |%20|%[Cc]2%[Aa]0|{_VISIBLE_CHAR})"
_LABEL_HEADER = {
    "pattern": f"^{_VISIBLE_CHAR}({_LABEL_CHAR}{{0,{limits.LABEL_MAX_CHARS - 2}}}{_VISIBLE_CHAR})?$"
}
_NAME_HEADER = {"pattern": f"^([\t -$&-~]|{_ENCODED_CHAR})*$"}
_PARTICIPANT_NAME = rf"(;([\t -$&-+\--:<-~]|{_ENCODED_CHAR})*)"  # neither a comma nor a semicolon
_KEY_LENGTH = f"(?=[^,; \t]{{1,{limits.EXTERNAL_KEY_MAX_CHARS}}}([,; \t]|$))"
_PARTICIPANT = f"({_KEY_LENGTH}{schemas.PERSON_PATTERN}[ \t]*{_PARTICIPANT_NAME}{{0,2}})?"
_PARTICIPANTS_HEADER = {
    "pattern": f"^[ \t]*{_PARTICIPANT}(,[ \t]*{_PARTICIPANT})*$",
    "examples": ["telegram:2;Bob"],
}
_IDEMPOTENCY_KEY = {"pattern": f"^[!-~]{{1,{limits.IDEMPOTENCY_KEY_MAX_CHARS}}}$"}

IDENTITY_HEADERS: dict[str, tuple[str, Document]] = {
    "X-Tacit-Requester": (
        "Who asks, as their channel knows them: telegram:1001.",
        schemas.PERSON_KEY,
    ),
    "X-Tacit-Name": ("What they are called.", _NAME_HEADER),
    "X-Tacit-Username": ("Their name on the channel.", _NAME_HEADER),
    "X-Tacit-Chat": ("Where the answer goes; without it, their own private chat.", schemas.CHAT_ID),
    "X-Tacit-Chat-Kind": ("What kind of chat that is.", {"enum": [str(k) for k in ChatKind]}),
    "X-Tacit-Participants": (
        f"Up to {limits.PARTICIPANTS_MAX_COUNT:,} who are there: telegram:2;Bob;bob_l,slack:T1:U2.",
        _PARTICIPANTS_HEADER,
    ),
    "X-Tacit-Complete": ("Whether that is everybody.", {"enum": ["true", "false"]}),
    THREAD_HEADER: (
        f"The conversation, in at most {limits.LABEL_MAX_CHARS} characters; without it, the chat.",
        _LABEL_HEADER,
    ),
    "X-Tacit-Agent": (
        f"The agent that asks, in at most {limits.LABEL_MAX_CHARS} characters.",
        _LABEL_HEADER,
    ),
}
OTHER_HEADERS: dict[str, tuple[str, Document]] = {
    IDEMPOTENCY_PARAMETER: ("Done at most once, however often it is sent.", _IDEMPOTENCY_KEY),
    "If-Match": ("The ETag of the version that is changed.", {}),
    "If-None-Match": ("The ETag of the version that is known.", {}),
}
# For nobody in particular: there is no view, and so nobody who asks through it.
_SCOPES_WITHOUT_VIEW = (Scope.ADMIN, Scope.ACT_AS)


def list_identity_headers(scope: str, path: str) -> list[str]:
    """Which of those that say who asks a route looks at. A thread in its path is the one meant."""
    if scope in _SCOPES_WITHOUT_VIEW:
        return []
    return [name for name in IDENTITY_HEADERS if name != THREAD_HEADER or "{thread}" not in path]


def describe_headers() -> Document:
    return {
        name: {
            "name": name,
            "in": "header",
            "description": says,
            "required": False,
            "schema": {"type": "string", **shape},
        }
        for name, (says, shape) in {**IDENTITY_HEADERS, **OTHER_HEADERS}.items()
    }


# How texts in requests are spelled, as patterns for the document. The library is what checks them.
#
# Beyond U+00FF the patterns allow everything, though what cannot be seen is refused there too: the
# whole of it would be some seven hundred ranges.

_CONTROL_CHARS = r"\x00-\x1f\x7f-\x9f"
_INVISIBLE = rf"{_CONTROL_CHARS}\xad"
_FORBIDDEN_IN_TEXT = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_VISIBLE = rf"[^{_INVISIBLE} \xa0]"  # neither a space nor invisible
NAME_PATTERN = rf"^{_VISIBLE}([^{_INVISIBLE}]*{_VISIBLE})?$"
CONTENT_PATTERN = rf"^[^{_FORBIDDEN_IN_TEXT}]*{_VISIBLE}[^{_FORBIDDEN_IN_TEXT}]*$"
_NAMES_MAX_CHARS = (limits.NAME_MAX_CHARS, limits.LABEL_MAX_CHARS, limits.TAG_MAX_CHARS)
_NAME_SCHEMA: Document = {
    "minLength": 1,
    "maxLength": limits.LABEL_MAX_CHARS,
    "pattern": NAME_PATTERN,
}
_PATH_PARAMETERS: Mapping[str, Document] = {
    "key": _NAME_SCHEMA,
    "thread": _NAME_SCHEMA,
    "chat": schemas.CHAT_ID,
}


def add_text_patterns(document: Document, categories: Sequence[str]) -> None:
    """Give every text that a request holds its spelling, by how long it may be: names of things
    are short, what people say is not."""
    known: Document = {"enum": list(categories)}
    for path in document["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter.get("in") == "path":
                    more = known if parameter["name"] == "category" else {}
                    parameter["schema"].update(more or _PATH_PARAMETERS.get(parameter["name"], {}))
                elif "schema" in parameter:
                    _add_patterns(parameter["schema"], known)
    schemas = document["components"]["schemas"]
    for name in _request_schema_names(document):
        _add_patterns(schemas[name], known)


def _request_schema_names(document: Document) -> list[str]:
    """The schemas of what is sent to us; what we send needs no spelling."""
    bodies = (
        operation.get("requestBody", {}).get("content", {}).values()
        for path in document["paths"].values()
        for operation in path.values()
    )
    refs = (media["schema"].get("$ref", "") for found in bodies for media in found)
    return sorted({ref.rpartition("/")[2] for ref in refs if ref})


def _add_patterns(schema: Any, categories: Document) -> None:
    for text in _find_text_schemas(schema):
        most = text["maxLength"]
        if most == limits.CATEGORY_MAX_CHARS:
            text.update(categories)
            del text["maxLength"], text["minLength"]
        elif most in _NAMES_MAX_CHARS:
            text["pattern"] = NAME_PATTERN
        else:
            text["pattern"] = CONTENT_PATTERN


def _find_text_schemas(schema: Any) -> Iterator[Document]:
    """Those that may not be empty and say no more of themselves."""
    if isinstance(schema, list):
        for one in schema:
            yield from _find_text_schemas(one)
    elif isinstance(schema, dict):
        said = schema.keys() & {"enum", "pattern", "format"}
        if schema.get("type") == "string" and "minLength" in schema and not said:
            yield schema
        for one in list(schema.values()):
            yield from _find_text_schemas(one)


# The OpenAPI document: what FastAPI finds in the routes, and what it cannot know.

API_DESCRIPTION = """Long-term memory for agents that knows what to leave unsaid.

Every request names who asks and where, and gets what may be said to them there. A key is bound to
one person, or it acts for others (`act-as`) and vouches for them with the `X-Tacit-…` headers,
whose values are percent-encoded UTF-8. What is absent and what is not for the caller look alike."""
KEY_SCHEME = "key"
PROBLEM_NAME = "Problem"
_RESPONSE_HEADERS: Document = {
    "ETag": "The version, as If-Match takes it.",
    "Location": "Where it is from now on.",
    "Retry-After": "In how many seconds to ask again.",
    "WWW-Authenticate": "How to say who asks: Bearer.",
    "X-Request-Id": "What to name when asking about this request.",
}
_HEADERS_BY_STATUS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}
_PROBLEM_SCHEMA: Document = {
    "type": "object",
    "description": "What went wrong (RFC 9457).",
    "properties": {
        "type": {"type": "string", "pattern": f"^{wire.PROBLEM_URN}[a-z-]+$"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What was wrong, and what to do."},
        "request_id": {"type": "string"},
        "field": {"type": "string", "description": "Of what was sent."},
        "suggestion": {"type": "object", "description": "The memory to update instead."},
    },
    "required": ["type", "title", "status", "request_id"],
}
_NDJSON_DESCRIPTION = (
    "An object of JSON in each line: at most "
    f"{limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT} memories, each version counted, and "
    f"{limits.IMPORT_REQUEST_MAX_CHARS:,} characters in all."
)


def install_openapi(app: FastAPI, settings: Settings, *, local: bool) -> None:
    """`local`: some routes answer without a key."""
    made: list[Document] = []
    by_fastapi = app.openapi

    def document() -> Document:
        if not made:
            made.append(_complete_document(by_fastapi(), category_names(settings), local))
        return made[0]

    app.openapi = document  # type: ignore[method-assign]


def _complete_document(found: Document, categories: Sequence[str], local: bool) -> Document:
    components = found.setdefault("components", {})
    components["securitySchemes"] = {
        KEY_SCHEME: {
            "type": "http",
            "scheme": "bearer",
            "description": "A key made with `tacit keys create`.",
        }
    }
    components.setdefault("schemas", {})[PROBLEM_NAME] = _PROBLEM_SCHEMA
    components["parameters"] = describe_headers()
    components["headers"] = {
        name: {"description": says, "schema": {"type": "string"}}
        for name, says in _RESPONSE_HEADERS.items()
    }
    for path, methods in found["paths"].items():
        for operation in methods.values():
            _complete_operation(path, operation, local)
    add_text_patterns(found, categories)
    return found


def _complete_operation(path: str, operation: Document, local: bool) -> None:
    scope = operation.pop(SCOPE_EXTENSION, None)
    once, takes = (
        operation.pop(IDEMPOTENT_EXTENSION, False),
        operation.pop(REQUEST_HEADERS_EXTENSION, []),
    )
    sends, media = (
        operation.pop(RESPONSE_HEADERS_EXTENSION, []),
        operation.pop(MEDIA_TYPES_EXTENSION, [JSON_BODY]),
    )
    reads, or_local = operation.pop(BODY_EXTENSION, None), operation.pop(LOCAL_EXTENSION, False)
    if scope is not None:
        without: list[Document] = [{}] if local and (scope in LOCAL_SCOPES or or_local) else []
        operation["security"] = [*without, {KEY_SCHEME: []}]
        operation["x-scope"] = scope
        names = [
            *list_identity_headers(scope, path),
            *takes,
            *([IDEMPOTENCY_PARAMETER] if once else []),
        ]
        parameters = operation.setdefault("parameters", [])
        parameters += [{"$ref": f"#/components/parameters/{name}"} for name in names]
    if reads not in (None, JSON_BODY):
        lines = {"type": "string", "description": _NDJSON_DESCRIPTION}
        operation["requestBody"] = {"required": True, "content": {reads: {"schema": lines}}}
    for code, response in operation["responses"].items():
        _complete_response(int(code), response, media)
        if int(code) < 400:
            response["headers"].update(_header_refs(sends))


def _complete_response(code: int, response: Document, media: list[str]) -> None:
    if code >= 400:
        schema = {"$ref": f"#/components/schemas/{PROBLEM_NAME}"}
        response["content"] = {wire.PROBLEM_CONTENT_TYPE: {"schema": schema}}
        if response.get("description") in (None, "", HTTPStatus(code).phrase):
            response["description"] = HTTPStatus(code).phrase
    elif media != [JSON_BODY] and code not in (204, 304):
        response["content"] = {one: {"schema": {"type": "string"}} for one in media}
    response["headers"] = _header_refs(["X-Request-Id", *_HEADERS_BY_STATUS.get(code, ())])


def _header_refs(names: list[str]) -> Document:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
