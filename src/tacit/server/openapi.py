"""Complete the OpenAPI document: headers, security, problems and text patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

from tacit import limits, wire
from tacit.records.accounts import Scope
from tacit.records.memory import ChatKind
from tacit.server import schemas
from tacit.server.authentication import LOCAL_SCOPES
from tacit.server.schemas import CATEGORY_FORMAT
from tacit.settings import Settings, category_names

Document = dict[str, Any]
JSON_BODY = "application/json"
NDJSON_BODY = "application/x-ndjson"
LOCAL_EXTENSION = "x-local"  # taken out of the document
IDEMPOTENCY_PARAMETER = "Idempotency-Key"
THREAD_HEADER = "X-Tacit-Thread"
# Headers are percent-encoded UTF-8. A lone % stands for itself.
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
_VISIBLE_CHAR = (
    f"([!-$&-~]|{_LONE_PERCENT}|{_VISIBLE_LATIN}|%[Cc]2%[Bb]{_HEX}|%[Cc]3{_CONTINUATION_BYTE}|{_BEYOND_LATIN})"
)
_LABEL_CHAR = f"( |%20|%[Cc]2%[Aa]0|{_VISIBLE_CHAR})"
_LABEL_HEADER = {"pattern": f"^{_VISIBLE_CHAR}({_LABEL_CHAR}{{0,{limits.LABEL_MAX_CHARS - 2}}}{_VISIBLE_CHAR})?$"}
_NAME_HEADER = {"pattern": f"^([\t -$&-~]|{_ENCODED_CHAR})*$"}
_PARTICIPANT_NAME = rf"(;([\t -$&-+\--:<-~]|{_ENCODED_CHAR})*)"  # neither a comma nor a semicolon
_KEY_LENGTH = f"(?=[^,; \t]{{1,{limits.EXTERNAL_KEY_MAX_CHARS}}}([,; \t]|$))"
_PARTICIPANT = f"({_KEY_LENGTH}{schemas.PERSON_PATTERN}[ \t]*{_PARTICIPANT_NAME}{{0,2}})?"
_PARTICIPANTS_HEADER = {"pattern": f"^[ \t]*{_PARTICIPANT}(,[ \t]*{_PARTICIPANT})*$", "examples": ["telegram:2;Bob"]}
_IDEMPOTENCY_KEY = {"pattern": f"^[!-~]{{1,{limits.IDEMPOTENCY_KEY_MAX_CHARS}}}$"}

IDENTITY_HEADERS: dict[str, tuple[str, Document]] = {
    "X-Tacit-Requester": ("The requester's key on their channel: telegram:1001.", schemas.PERSON_KEY),
    "X-Tacit-Name": ("The requester's name.", _NAME_HEADER),
    "X-Tacit-Username": ("The requester's username on the channel.", _NAME_HEADER),
    "X-Tacit-Chat": ("The chat of the answer; without it, the requester's private chat.", schemas.CHAT_ID),
    "X-Tacit-Chat-Kind": ("The kind of the chat.", {"enum": [str(k) for k in ChatKind]}),
    "X-Tacit-Participants": (
        f"Up to {limits.PARTICIPANTS_MAX_COUNT:,} participants: telegram:2;Bob;bob_l,slack:T1:U2.",
        _PARTICIPANTS_HEADER,
    ),
    "X-Tacit-Complete": ("Whether these are all participants.", {"enum": ["true", "false"]}),
    THREAD_HEADER: (
        f"The conversation, in at most {limits.LABEL_MAX_CHARS} characters; without it, the chat.",
        _LABEL_HEADER,
    ),
    "X-Tacit-Agent": (
        f"The agent that sends the request, in at most {limits.LABEL_MAX_CHARS} characters.",
        _LABEL_HEADER,
    ),
}
OTHER_HEADERS: dict[str, tuple[str, Document]] = {
    IDEMPOTENCY_PARAMETER: ("A repeated request with the same key is done once.", _IDEMPOTENCY_KEY),
    "If-Match": ("The ETag of the version to change.", {}),
    "If-None-Match": ("The ETag of the version that the client has.", {}),
}
# Operations with these scopes have no view, and so no requester.
_SCOPES_WITHOUT_VIEW = (Scope.ADMIN, Scope.ACT_AS)


def list_identity_headers(scope: str, path: str) -> list[str]:
    """Return the identity headers that an operation reads. A thread in its path takes precedence."""
    if scope in _SCOPES_WITHOUT_VIEW:
        return []
    return [name for name in IDENTITY_HEADERS if name != THREAD_HEADER or "{thread" not in path]


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


API_DESCRIPTION = """Long-term memory for agents that controls disclosure.

Every request names its requester and chat, and gets what may be shown there. A key belongs to one
person, or it acts for others (`act-as`) and names them in the `X-Tacit-…` headers, whose values are
percent-encoded UTF-8. A memory that is absent and one that the caller may not see look alike."""
KEY_SCHEME = "key"
PROBLEM_NAME = "Problem"
_RESPONSE_HEADERS: Document = {
    "ETag": "The version, as If-Match takes it.",
    "Location": "The URL of the new resource.",
    "Retry-After": "Seconds to wait before the next try.",
    "WWW-Authenticate": "The authentication scheme: Bearer.",
    "X-Request-Id": "The id of this request in the logs.",
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
        "field": {"type": "string", "description": "The field that was wrong."},
        "suggestion": {"type": "object", "description": "The memory to update instead."},
    },
    "required": ["type", "title", "status", "request_id"],
}
_NDJSON_SCHEMA: Document = {
    "type": "string",
    "description": (
        "An object of JSON in each line: at most "
        f"{limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT} memories, each version counted, and "
        f"{limits.IMPORT_REQUEST_MAX_CHARS:,} characters in all."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a request to an operation needs before its body is read."""

    scope: Scope | None  # None: no authentication
    or_local: bool = False  # the local person needs no scope
    body_type: str | None = None  # the content type of the body; None: there is none


# What every operation may answer, and what comes with a body or an Idempotency-Key.
COMMON_ERRORS = (401, 403, 422, 429, 503)
BODY_ERRORS = (413, 415)
IDEMPOTENT_ERRORS = (404, 409)


def describe_operation(
    path: str,
    access: Access,
    status: int,
    problems: Sequence[int] | Mapping[int, Any],
    idempotent: bool,
    *,
    headers: Sequence[str],
    sends: Sequence[str],
    media: Sequence[str],
) -> dict[str, Any]:
    """Return the options of a FastAPI route that describe its headers, problems and security."""
    codes = [
        *(COMMON_ERRORS if access.scope else ()),
        *(BODY_ERRORS if access.body_type else ()),
        *(IDEMPOTENT_ERRORS if idempotent else ()),
    ]
    own = problems if isinstance(problems, Mapping) else dict.fromkeys(problems)
    every = {status: None, **dict.fromkeys(codes), **own}
    responses = {code: {**_describe_response(code, sends, media), **(more or {})}
                 for code, more in every.items()}  # fmt: skip
    extra: Document = {}
    if access.scope is not None:
        names = [*list_identity_headers(access.scope, path), *headers, *([IDEMPOTENCY_PARAMETER] if idempotent else [])]
        extra = {
            "x-scope": access.scope.value,
            "security": [{KEY_SCHEME: []}],
            "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in names],
        }
    if access.or_local:
        extra[LOCAL_EXTENSION] = True
    if access.body_type == NDJSON_BODY:
        content = {NDJSON_BODY: {"schema": _NDJSON_SCHEMA}}
        extra["requestBody"] = {"required": True, "content": content}
    return {"responses": responses, "openapi_extra": extra}


def _describe_response(code: int, sends: Sequence[str], media: Sequence[str]) -> Document:
    names = ["X-Request-Id", *_HEADERS_BY_STATUS.get(code, ()), *(sends if code < 400 else ())]
    response: Document = {"headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names}}
    if code >= 400:
        schema = {"$ref": f"#/components/schemas/{PROBLEM_NAME}"}
        response["description"] = HTTPStatus(code).phrase
        response["content"] = {wire.PROBLEM_CONTENT_TYPE: {"schema": schema}}
    elif JSON_BODY not in media and code not in (204, 304):
        response["content"] = {one: {"schema": {"type": "string"}} for one in media}
    return response


def install_openapi(app: FastAPI, settings: Settings, *, local: bool) -> None:
    """Complete FastAPI's document with shared components and the categories of the settings.

    `local`: some operations take requests without a key.
    """
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
            "description": "An API key. Create one with `tacit keys create`.",
        }
    }
    schemas = components.setdefault("schemas", {})
    schemas[PROBLEM_NAME] = _PROBLEM_SCHEMA
    for unused in ("HTTPValidationError", "ValidationError"):  # FastAPI's own form of 422
        schemas.pop(unused, None)
    components["parameters"] = describe_headers()
    components["headers"] = {
        name: {"description": says, "schema": {"type": "string"}} for name, says in _RESPONSE_HEADERS.items()
    }
    for methods in found["paths"].values():
        for operation in methods.values():
            or_local = operation.pop(LOCAL_EXTENSION, False)
            if local and (or_local or operation.get("x-scope") in LOCAL_SCOPES):
                operation["security"] = [{}, *operation["security"]]
    _name_categories(found, list(categories))
    return found


def _name_categories(part: Any, categories: list[str]) -> None:
    """Put the categories of the settings where a request names one."""
    if isinstance(part, list):
        for one in part:
            _name_categories(one, categories)
    elif isinstance(part, dict):
        if part.get("format") == CATEGORY_FORMAT and part.get("type") == "string":
            del part["format"]
            part["enum"] = categories
        for one in part.values():
            _name_categories(one, categories)
