"""Send the operations of a view to a server, and decode the answers into records."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from hashlib import sha256
from itertools import islice
from types import NoneType
from typing import Any, get_args
from urllib.parse import quote, urlencode

from tacit import limits
from tacit.client.transport import ApiRequest, Transport
from tacit.errors import InvalidInput, NoteOutside, NotFound, StoreError
from tacit.memory import Arguments, Operation, Repeat, Resource, bind_arguments, parameters_of, type_hints_of
from tacit.records import conversation, validation
from tacit.records.checkpoints import dump_checkpoint
from tacit.records.conversation import Message
from tacit.records.drafts import ImportItem
from tacit.records.memory import ExportFormat
from tacit.records.notes import SessionDraft
from tacit.records.queries import Search
from tacit.records.results import Imported, Page
from tacit.wire import WireFormatError, decode, encode

IDEMPOTENCY_HEADER = "idempotency-key"


@dataclass(frozen=True, slots=True)
class RemoteDispatch:
    """The dispatch of a view behind a server: each operation is the request of its endpoint."""

    server: Transport = field(repr=False)
    claims: Mapping[str, str] = field(repr=False)  # requester and chat, as headers
    key: str | None = field(default=None, repr=False)  # idempotency key of the next write

    @property
    def why_disabled(self) -> str | None:
        call = ApiRequest(method="GET", path="/api/view", headers=self.claims, repeatable=True)
        standing = _decode_answer(dict[str, Any], self.server.send(call))
        why: str | None = standing.get("why_disabled")
        return why

    def once(self, key: str) -> RemoteDispatch:
        given = validation.parse_identifier("once", key, limits.IDEMPOTENCY_KEY_MAX_CHARS)
        if not given.isascii() or " " in given:  # headers are ASCII
            given = f"sha256-{sha256(given.encode()).hexdigest()}"
        return replace(self, key=given)

    def invoke(self, operation: Operation, _: Resource, args: tuple[Any, ...], named: Arguments) -> Any:
        given = bind_arguments(operation.method, args, named)
        if operation.endpoint is None:
            raise InvalidInput(operation.name, "works only where the memory is open")
        if operation.name == "imports.add_lines":
            return self._import_lines(given["lines"])
        call = self._build_request(operation, given)
        gives = type_hints_of(operation.method)["return"]
        if operation.lines:
            return self.server.lines(call)
        if operation.name in ("files.list", "files.sizes"):
            sizes = {one.path: one.size_bytes for one in self._fetch_pages(_ListedFile, call)}
            return sizes if operation.name == "files.sizes" else list(sizes)
        if operation.endpoint.paged:
            return self._fetch_pages(get_args(gives)[0], call)
        try:
            return _decode_answer(gives, self.server.send(call))
        except NotFound:
            if call.method == "GET" and NoneType in get_args(gives):
                return None
            raise

    def _build_request(self, operation: Operation, given: Arguments) -> ApiRequest:
        """Build a request; a write has an idempotency key, so that a retry has no further effect."""
        endpoint = operation.endpoint
        assert endpoint is not None
        hints, defaults = type_hints_of(operation.method), parameters_of(operation.method)
        has_body = endpoint.method in ("POST", "PUT")
        body: dict[str, Any] = {}
        query: dict[str, str] = {}
        for name, value in given.items():
            unset = value is None and defaults.get(name) is None
            if unset or name in endpoint.path_names:
                continue
            if has_body and name not in endpoint.query:
                body[_WIRE_NAMES.get(name, name)] = _encode_argument(operation, name, value)
            else:
                query[name] = _encode_query(name, value, hints[name])
        path = _PATH_PART.sub(lambda part: _encode_path_part(part[1], given[part[1]]), endpoint.path)
        key = self.key
        if key is None and operation.repeat in (Repeat.REPLAYED, Repeat.HARMLESS):
            key = secrets.token_urlsafe(16)
        with_key = {IDEMPOTENCY_HEADER: key} if operation.writes and key is not None else {}
        return ApiRequest(
            method=endpoint.method,
            path=f"{path}?{urlencode(query)}" if query else path,
            headers={**self.claims, **with_key},
            body=body if has_body else None,
            # A trace that keeps what it learns would write again. Any other write without a key
            # replaces what the try before it did.
            repeatable=operation.repeat is not Repeat.REFUSED or not given.get("keep", False),
        )

    def _fetch_pages(self, kind: Any, call: ApiRequest) -> list[Any]:
        """Fetch all pages of a list that the library returns as a whole."""
        found: list[Any] = []
        joined = "&" if "?" in call.path else "?"
        asked: dict[str, Any] = {"limit": limits.PAGE_MAX_COUNT}
        while True:
            answer = self.server.send(replace(call, path=f"{call.path}{joined}{urlencode(asked)}"))
            page: Page[Any] = _decode_answer(Page[kind], answer)
            found += page.items
            if page.cursor is None:
                return found
            asked["cursor"] = page.cursor

    def _import_lines(self, lines: object) -> Imported:
        """Import lines in as many requests as needed, without retries.

        The caller may repeat the call: items that exist already are skipped.
        """
        if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
            raise InvalidInput("lines", "expected lines of text, as an open file gives them")
        call = ApiRequest(method="POST", path="/api/import", headers=self.claims)
        whole, before = Imported(), 0
        for few in _batch_lines(_terminate_lines(lines)):
            done: Imported = _decode_answer(Imported, self.server.send_lines(call, few))
            whole = Imported(
                created=whole.created + done.created,
                skipped=whole.skipped + done.skipped,
                refused=(*whole.refused, *(_renumber_line(one, before) for one in done.refused)),
            )
            before += len(few)
        return whole


def _decode_answer(gives: Any, answer: object) -> Any:
    try:
        if gives is NoneType:
            return None
        if gives in _SOLE_FIELDS:
            answer = decode(dict[str, Any], answer).get(_SOLE_FIELDS[gives])
        return decode(gives, answer)
    except WireFormatError as other:
        problem = f"the server answers in another form ({other}): is it of another version?"
        raise StoreError(problem) from None


# How arguments are sent. Only what JSON or an address would alter is checked here, as the library
# checks it; all else is refused by the server, in the words of the library.

_WIRE_NAMES = {"form": "return"}
_NAMES_IN_ERRORS = {"who": "withheld_from", "value": "content"}
_SOLE_FIELDS = {int: "count", str: "text"}  # answers that are one field of an object
_PATH_PART = re.compile(r"/\{(\w+)(?::\w+)?\}")
_PATH_PART_MAX_CHARS = {
    "category": limits.CATEGORY_MAX_CHARS,
    "key": limits.KEY_MAX_CHARS,
    "thread": limits.LABEL_MAX_CHARS,
}
_NO_MEMORY_ID = "-"
_SENT_AS_IS = (str, bytes, list, tuple, set, frozenset, Mapping)
_LINE_PATTERN = re.compile(r"line (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ListedFile:
    """A file as the server lists it."""

    path: str
    size_bytes: int


def _encode_path_part(name: str, value: object) -> str:
    if name == "thread" and value is None:
        return ""
    if name == "id":
        part = validation.parse_memory_id(value) or _NO_MEMORY_ID
    elif name == "path":
        part = _check_path(value)
    else:
        part = validation.parse_identifier(name, value, _PATH_PART_MAX_CHARS[name])
    quoted = quote(part, safe="")
    # Dots alone would name another path.
    return "/" + (quoted if part.strip(".") else quoted.replace(".", "%2E"))


def _encode_query(name: str, value: Any, hint: Any) -> str:
    kinds = get_args(hint) or (hint,)
    if bool in kinds:
        return str(validation.parse_bool(name, value)).lower()
    if int in kinds:
        return str(validation.parse_int(name, value, -limits.REVISION_MAX, limits.REVISION_MAX))
    if datetime in kinds:
        return validation.parse_datetime(name, value).isoformat()
    if name == "format":
        return validation.parse_enum(name, value, ExportFormat).value
    if name == "folder":
        return value if value == "" else _check_path(value)
    return validation.check_storable(name, value, limits.QUERY_MAX_CHARS)


def _encode_argument(operation: Operation, name: str, value: object) -> Any:
    check = _CHECKS.get(f"{operation.name}.{name}") or _CHECKS.get(name)
    return _encode_value(_NAMES_IN_ERRORS.get(name, name), value if check is None else check(value))


def _encode_value(name: str, value: object) -> Any:
    """Encode a value; errors call it `name`."""
    try:
        # A range, for example, is sent as a list.
        if isinstance(value, Collection) and not isinstance(value, _SENT_AS_IS):
            if len(value) > limits.CLIENT_PARTS_MAX_COUNT:
                raise InvalidInput(name, f"has more than {limits.CLIENT_PARTS_MAX_COUNT:,} parts")
            value = list(value)
        return encode(value)
    except WireFormatError as wrong:
        raise InvalidInput(name, wrong.problem) from None
    except RecursionError:
        raise InvalidInput(name, "is nested too deeply") from None


def _check_path(path: object) -> str:
    """Check that a path can be sent. The server checks whether it exists."""
    if not isinstance(path, str) or not path or "\n" in path:
        raise NoteOutside("is no path; write it like trips.md or work/plans.md")
    try:
        return validation.check_storable("path", path, limits.NOTE_PATH_MAX_BYTES)
    except InvalidInput as wrong:
        raise NoteOutside(wrong.problem) from None


def _check_messages(messages: object) -> list[Any]:
    found = conversation.check_message_list(messages)
    if not all(isinstance(one, Message) for one in found):
        raise InvalidInput("messages", "expected a list of tacit.Message")
    return found


def _check_checkpoint(data: object) -> object:
    """Refuse data that would not survive the round trip."""
    dump_checkpoint(data)
    return data


def _check_draft(draft: object) -> SessionDraft:
    if not isinstance(draft, SessionDraft):
        raise InvalidInput("draft", "expected a tacit.SessionDraft")
    return draft


def _check_search(search: object) -> Mapping[str, Any]:
    if not isinstance(search, Search):
        raise InvalidInput("search", f"expected a Search, got {type(search).__name__}")
    return _set_fields(search)


def _check_items(items: object) -> list[Any]:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput("items", "expected a list of them, each with a content")
    return [_encode_item(one) for one in islice(items, limits.IMPORT_ITEMS_MAX_COUNT + 1)]


def _encode_item(item: object) -> Any:
    """Encode an item; return None, which the server refuses by its position, if it is invalid."""
    found = _set_fields(item) if isinstance(item, ImportItem) else item
    if not isinstance(found, Mapping):
        return None
    try:
        return _encode_value("items", {name: _encode_time(one) for name, one in found.items()})
    except InvalidInput:
        return None


def _encode_time(value: object) -> object:
    """Return the value; replace a time without a zone by empty text, which the server refuses.

    As text, the server would read such a time as UTC.
    """
    naive = isinstance(value, datetime) and value.utcoffset() is None
    return "" if naive else value


def _set_fields(record: Search | ImportItem) -> dict[str, Any]:
    """Return the fields of a record that are not None."""
    found = {one.name: getattr(record, one.name) for one in fields(record)}
    return {name: value for name, value in found.items() if value is not None}


# By the name of an argument, or by that of an operation and its argument.
_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "messages": _check_messages,
    "items": _check_items,
    "search": _check_search,
    "draft": _check_draft,
    "data": validation.parse_data,
    "checkpoints.save.data": _check_checkpoint,
    "files.rename.old": _check_path,
    "files.rename.new": _check_path,
}


# Lines of an import, in as many requests as it takes.


def _terminate_lines(lines: Iterable[object]) -> Iterator[str]:
    most = limits.IMPORT_LINE_MAX_BYTES
    for line in lines:
        # Replace a line that is not text or is too long, so that the server refuses its number.
        said = line.rstrip("\n") if isinstance(line, str) else "?"
        long = len(said) > most or len(said.encode("utf-8", "replace")) > most
        yield f"{'x' * (most + 1) if long else said}\n"


def _batch_lines(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split lines into batches that the server accepts. Yields one batch if there are no lines."""
    few: list[str] = []
    chars = wordings = 0
    for line in lines:
        # The content is counted once per version and once for the memory.
        more = max(1, line.count('"content"'))
        full = wordings + more > limits.IMPORT_REQUEST_WORDINGS_MAX_COUNT
        if few and (full or chars + len(line) > limits.IMPORT_REQUEST_MAX_CHARS):
            yield few
            few, chars, wordings = [], 0, 0
        few.append(line)
        chars, wordings = chars + len(line), wordings + more
    yield few


def _renumber_line(refused: str, before: int) -> str:
    """Number a refused line by its place among all lines, not in its request."""
    named = _LINE_PATTERN.match(refused)
    return refused if named is None else f"line {int(named[1]) + before}{refused[named.end() :]}"
