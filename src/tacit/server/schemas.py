"""Types and models of what requests hold: parsed by Pydantic, with the limits of the library.

A type says what its JSON is. Numbers and times are parsed here, by the functions of the library and
in its words; limits and patterns of text are described here and checked by the library, which has
one rule for every surface.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    ValidationInfo,
    create_model,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import core_schema

from tacit import Search, SessionDraft, TaskDraft, TopicDraft, limits, wire
from tacit.records import validation
from tacit.records.accounts import NameKind
from tacit.records.conversation import Message, Role
from tacit.records.memory import ChatKind, Kind, Sensitivity, State, Visibility
from tacit.records.notes import NoteLink, Section
from tacit.records.queries import ANY_STATE
from tacit.records.request import Chat, Requester

Shape = dict[str, Any]


class RequestModel(BaseModel):
    """What a request holds. An unknown field is refused."""

    model_config = ConfigDict(extra="forbid", loc_by_alias=False)

    def sent_fields(self, *left_out: str) -> dict[str, Any]:
        """Return what was sent, and nothing else: the defaults are the library's own."""
        sent = self.model_fields_set - set(left_out)
        return {name: getattr(self, name) for name in sent}


def not_sent() -> Any:
    """Return the default of a field that may be left out but is never null."""
    return Field(default_factory=lambda: None)


class Described:
    """Metadata of a type: JSON schema keywords, and a function that parses the value first."""

    def __init__(self, parse: Callable[[str, Any], Any] | None = None, /, **keywords: object) -> None:
        self._parse = parse
        self._keywords = keywords

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        inner, parse = handler(source), self._parse
        if parse is None:
            return inner

        def before(value: Any, info: ValidationInfo) -> Any:
            return parse(info.field_name or "body", value)

        return core_schema.with_info_before_validator_function(before, inner)

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> Shape:
        return {**handler(schema), **self._keywords}


class RecordFields:
    """Metadata of a record: parse it as an object with the fields of its dataclass and no others.

    `types` are those of fields that have limits of their own; `hidden` fields are parsed but not
    described.
    """

    def __init__(self, *hidden: str, **types: Any) -> None:
        self._hidden = hidden
        self._types = types
        self._model: type[RequestModel] | None = None  # one, wherever the record is used

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        if self._model is None:
            self._model = self._create_model(source)

        def build(found: RequestModel) -> Any:
            return source(**found.sent_fields())

        inner = handler.generate_schema(self._model)
        return core_schema.no_info_after_validator_function(build, inner)

    def _create_model(self, record: Any) -> type[RequestModel]:
        hints = get_type_hints(record)
        parts: dict[str, Any] = {
            one.name: (
                self._types.get(one.name, hints[one.name]),
                ... if one.default is one.default_factory is MISSING else not_sent(),
            )
            for one in fields(record)
        }
        for name in self._hidden:
            annotation, default = parts[name]
            parts[name] = (SkipJsonSchema[annotation], default)  # type: ignore[misc, valid-type]
        return create_model(f"{record.__name__}Input", __base__=RequestModel, **parts)


# Numbers, flags, times and words of a vocabulary.


def _parse_whole(low: int, high: int) -> Callable[[str, Any], int]:
    def parse(field: str, value: Any) -> int:
        # 3.0 is a whole number in JSON schema.
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        return validation.parse_int(field, whole, low, high)

    return parse


def whole(low: int, high: int) -> Described:
    return Described(_parse_whole(low, high), minimum=low, maximum=high)


def query_whole(low: int, high: int) -> Described:
    """The same in a query string, where every value is text."""
    parse = _parse_whole(low, high)
    return Described(lambda field, value: parse(field, _parse_digits(value)), minimum=low, maximum=high)


def _parse_digits(value: Any) -> Any:
    digits = isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value)
    return int(value) if digits else value


def _parse_query_flag(value: Any) -> Any:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


Flag = Annotated[bool, Strict()]
QueryFlag = Annotated[bool, Strict(), BeforeValidator(_parse_query_flag)]
Fraction = Annotated[float, Described(validation.parse_fraction, minimum=0, maximum=1)]
Importance = Annotated[int, whole(limits.IMPORTANCE_MIN, limits.IMPORTANCE_MAX)]
ResultCount = Annotated[int, whole(1, limits.RECALL_MAX_COUNT)]
PageSize = Annotated[int, whole(1, limits.PAGE_MAX_COUNT)]
Tokens = Annotated[int, whole(0, limits.BUDGET_MAX_TOKENS)]
Revision = Annotated[int, whole(0, limits.REVISION_MAX)]
Time = Annotated[
    datetime, Described(lambda field, value: validation.parse_datetime(field, wire.parse_time(field, value)))
]
# In a filter a day will do, and stands for its beginning in UTC.
DateOrTime = Annotated[str, Described(anyOf=[{"type": "string", "format": one} for one in ("date-time", "date")])]


# How people, chats and accounts are named.

_KEY_PART = "[A-Za-z0-9._@+=-]+"
_ACCOUNT_PATTERN = f"acct:{_KEY_PART}"
_TELEGRAM_ID = "[1-9][0-9]{0,18}"
_PERSON_ID = "[A-Za-z0-9]{8}"


def _pattern_except(*channels: str) -> str:
    """Match the keys of any other channel: their parts are as the channel likes them."""
    return f"(?!({'|'.join(channels)}):)[a-z][a-z0-9_-]*(:{_KEY_PART})+"


_OTHER_CHANNEL = _pattern_except("telegram", "slack", "acct", "ext", "person")
_EXTERNAL_KEY_PATTERN = f"telegram:{_TELEGRAM_ID}|slack:{_KEY_PART}:{_KEY_PART}|{_OTHER_CHANNEL}"
PERSON_PATTERN = f"({_EXTERNAL_KEY_PATTERN}|{_ACCOUNT_PATTERN})"


def _key_schema(pattern: str, example: str) -> Shape:
    # Without an example, tools that look for the smallest one find none.
    return {"pattern": f"^({pattern})$", "maxLength": limits.EXTERNAL_KEY_MAX_CHARS, "examples": [example]}


PERSON_KEY = _key_schema(PERSON_PATTERN, "telegram:1001")
CHAT_ID = _key_schema(f"telegram:-?{_TELEGRAM_ID}|{_pattern_except('telegram', 'ext', 'person')}", "telegram:-5")
_IDENTITY_PATTERN = f"(ext:)?({_EXTERNAL_KEY_PATTERN})|{_ACCOUNT_PATTERN}|person:{_PERSON_ID}"
PersonKey = Annotated[str, Described(**PERSON_KEY)]
# A key of a channel, which is what can be linked to an account.
ExternalKey = Annotated[str, Described(**_key_schema(_EXTERNAL_KEY_PATTERN, "telegram:1001"))]
AccountKey = Annotated[str, Described(**_key_schema(_ACCOUNT_PATTERN, "acct:42"))]
IdentityKey = Annotated[str, Described(**_key_schema(_IDENTITY_PATTERN, "telegram:1001"))]
# A person who is known by name alone.
NamedPerson = Annotated[str, Described(**_key_schema(f"person:{_PERSON_ID}", "person:k3Xq81Zb"))]
ChatId = Annotated[str, Described(**CHAT_ID)]
_MEMORY_ID_PATTERN = f"^[A-Za-z0-9]{{{limits.ID_CHARS}}}$"
# A malformed id is only ever one that does not exist.
MemoryId = Annotated[
    str, Described(lambda _, value: validation.parse_memory_id(value) or "", pattern=_MEMORY_ID_PATTERN)
]


# Texts. Beyond U+00FF the patterns allow everything, though the library refuses invisible
# characters there too: the whole of them would be some seven hundred ranges.

_CONTROL_CHARS = r"\x00-\x1f\x7f-\x9f"
_INVISIBLE = rf"{_CONTROL_CHARS}\xad"
_FORBIDDEN_IN_TEXT = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_VISIBLE = rf"[^{_INVISIBLE} \xa0]"  # neither a space nor invisible
_NAME_PATTERN = rf"^{_VISIBLE}([^{_INVISIBLE}]*{_VISIBLE})?$"
_CONTENT_PATTERN = rf"^[^{_FORBIDDEN_IN_TEXT}]*{_VISIBLE}[^{_FORBIDDEN_IN_TEXT}]*$"
_NO_NUL = r"^[^\x00]*$"
CATEGORY_FORMAT = "category"  # the document names the categories of the settings in its place


def name_of(most: int) -> Described:
    return Described(minLength=1, maxLength=most, pattern=_NAME_PATTERN)


def text_of(most: int, least: int = 1) -> Described:
    return Described(minLength=least, maxLength=most, pattern=_CONTENT_PATTERN)


def at_most(most: int) -> Described:
    return Described(maxLength=most)


def items(*, least: int = 0, most: int | None = None, **more: object) -> Described:
    """Describe a list."""
    limit = {} if most is None else {"maxItems": most}
    return Described(**({"minItems": least} if least else {}), **limit, **more)


Label = Annotated[str, name_of(limits.LABEL_MAX_CHARS)]
PersonName = Annotated[str, name_of(limits.NAME_MAX_CHARS)]
KeyName = Annotated[str, name_of(limits.KEY_MAX_CHARS)]
Tag = Annotated[str, name_of(limits.TAG_MAX_CHARS)]
Slot = Annotated[str, name_of(limits.SLOT_MAX_CHARS)]
Content = Annotated[str, text_of(limits.CONTENT_MAX_CHARS)]
QueryText = Annotated[str, Described(maxLength=limits.QUERY_MAX_CHARS, pattern=_NO_NUL)]
KeyPrefix = Annotated[str, Described(maxLength=limits.KEY_MAX_CHARS, pattern=_NO_NUL)]
Category = Annotated[str, Described(format=CATEGORY_FORMAT)]
Categories = Annotated[list[Category], items(least=1)]
Kinds = Annotated[list[Kind], items(least=1)]
Include = Annotated[list[Literal["memories", "turns"]], items(least=1)]
People = Annotated[list[PersonName], items(most=limits.PEOPLE_PER_MEMORY_MAX_COUNT)]
Cursor = Annotated[str, Described(description="As the page before gave it.")]


# Names and texts of files.

_FILE_TEXT_PATTERN = r"^([^\x00-\x08\x0b-\x1f]|\r\n)*$"
_FORBIDDEN_FILE_CHARS = r'\x00-\x1f\x7f-\x9f\xad/\\%:<>"|?*'  # in no name of a file
_FILE_NAME_REST = rf"[^{_FORBIDDEN_FILE_CHARS}]*[^{_FORBIDDEN_FILE_CHARS}\s.]"
_FOLDER_PATTERN = rf"[^{_FORBIDDEN_FILE_CHARS}\s._]({_FILE_NAME_REST})?"
_FILE_PATTERN = (
    rf"(_index\.md|({_FOLDER_PATTERN}/)?[^{_FORBIDDEN_FILE_CHARS}\s._]"
    rf"([^{_FORBIDDEN_FILE_CHARS}]*)?\.(md|txt))"
)
FilePath = Annotated[str, Described(pattern=f"^{_FILE_PATTERN}$")]
FileOrFolderPath = Annotated[str, Described(pattern=f"^({_FILE_PATTERN}|{_FOLDER_PATTERN})$")]
FolderFilter = Annotated[str, Described(pattern=f"^({_FILE_PATTERN}|{_FOLDER_PATTERN})?$")]
FileText = Annotated[str, Described(maxLength=limits.FILE_MAX_CHARS, pattern=_FILE_TEXT_PATTERN)]
FormerFileText = Annotated[str, Described(maxLength=limits.NOTE_FILE_MAX_BYTES, pattern=_NO_NUL)]


# Records that requests hold.

MessageInput = Annotated[
    Message, RecordFields(role=Role, content=Content, name=PersonName | None, at=Time | None, id=Label | None)
]
Messages = Annotated[
    list[MessageInput],
    items(most=limits.MESSAGES_MAX_COUNT, description=f"At most {limits.MESSAGES_MAX_CHARS:,} characters in all."),
]
_Line = Annotated[str, at_most(limits.CONTENT_MAX_CHARS)]
_TopicInput = Annotated[TopicDraft, RecordFields(topic=Content, users=_Line, when=_Line, event=_Line, result=_Line)]
_TaskInput = Annotated[TaskDraft, RecordFields(text=Content, done=Flag)]
_LinkInput = Annotated[
    NoteLink,
    RecordFields(
        text=Annotated[str, at_most(limits.LINK_MAX_CHARS)], target=Annotated[str, text_of(limits.LINK_MAX_CHARS)]
    ),
]
_draft_list = items(most=limits.SESSION_PARTS_MAX_COUNT)
SessionDraftInput = Annotated[
    SessionDraft,
    RecordFields(
        summary=Annotated[str, at_most(limits.SESSION_SUMMARY_MAX_CHARS)],
        topics=Annotated[tuple[_TopicInput, ...], _draft_list],
        facts=Annotated[tuple[Content, ...], _draft_list],
        tasks=Annotated[tuple[_TaskInput, ...], _draft_list],
        follow_ups=Annotated[tuple[_TaskInput, ...], _draft_list],
        links=Annotated[tuple[_LinkInput, ...], _draft_list],
        promote=Content | None,
        promote_to=Literal[Section.GOALS, Section.KEY_FACTS],
        tags=Annotated[tuple[Tag, ...], _draft_list],
    ),
    Described(description=f"At most {limits.SESSION_DRAFT_MAX_CHARS:,} characters in all."),
]
_DisplayName = Annotated[str, at_most(limits.NAME_MAX_CHARS)]
RequesterInput = Annotated[
    Requester, RecordFields(key=PersonKey, name=_DisplayName | None, username=_DisplayName | None, is_bot=Flag)
]
ChatInput = Annotated[
    Chat,
    RecordFields(
        "vouched",
        id=ChatId,
        kind=ChatKind,
        participants=Annotated[tuple[PersonKey | RequesterInput, ...], items(most=limits.PARTICIPANTS_MAX_COUNT)],
        complete=Flag,
    ),
]
SearchInput = Annotated[
    Search,
    RecordFields(
        "owner",
        words=Annotated[str, Described(maxLength=limits.SEARCH_MAX_CHARS, pattern=_NO_NUL)] | None,
        category=Category | None,
        kind=Kind | None,
        about=PersonName | None,
        chat=ChatId | None,
        visibility=Visibility | None,
        sensitivity=Sensitivity | None,
        state=Annotated[str, Described(enum=[*map(str, State), ANY_STATE])] | None,
        pinned=Flag | None,
        since=Time | None,
        until=Time | None,
    ),
]


def _label_named(name: str) -> Described:
    """Describe a label that errors name as the library does."""
    most = limits.LABEL_MAX_CHARS
    return Described(
        lambda _, value: validation.parse_optional_identifier(name, value, most),
        minLength=1,
        maxLength=most,
        pattern=_NAME_PATTERN,
    )


class QueryFilters(RequestModel):
    user_id: Annotated[str, _label_named("user")] | None = None
    agent_id: Annotated[str, _label_named("agent")] | None = None
    run_id: Annotated[str, _label_named("run")] | None = None
    actor_id: Annotated[str, _label_named("actor")] | None = None
    role: Label | None = None
    user: Label | None = None
    agent: Label | None = None
    run: Label | None = None
    actor: Label | None = None
    categories: Categories | None = None
    kinds: Kinds | None = None
    include: Include | None = None
    pinned: Flag | None = None
    importance_min: Importance | None = None
    importance_max: Importance | None = None
    updated_after: DateOrTime | None = None
    updated_before: DateOrTime | None = None
    as_of: DateOrTime | None = None
    threshold: Fraction | None = None


_TurnId = Annotated[str, Described(pattern=_MEMORY_ID_PATTERN)]


AssignableNameKind = Annotated[NameKind, Described(enum=[str(one) for one in NameKind if one is not NameKind.WITHHELD])]


# The types of the arguments of operations, by name: in a path, in a JSON body and in a query string.
# A pair is a type with its default.

PATH_TYPES: Mapping[str, Any] = {
    "id": str,
    "category": Category,
    "key": KeyName,
    "path": FileOrFolderPath,
    "thread": Label,
}
BODY_TYPES: Mapping[str, Any] = {
    "about": People,
    "actor": Label,
    "agent": Label,
    "as_of": Time,
    "budget_tokens": Tokens,
    "by_model": Flag,
    "categories": Categories,
    "category": Category,
    "code": Annotated[str, Described(examples=["ABCDE-23456"])],
    "confidence": Fraction,
    "content": Content,
    "cursor": str,
    "data": Annotated[
        dict[Any, Any], Described(description="Kept and returned with the memory: JSON without secrets. {} clears it.")
    ],
    "draft": SessionDraftInput,
    "expires_at": Time,
    "for_room": Flag,
    "id": MemoryId,
    "importance": Importance,
    "importance_max": Importance,
    "importance_min": Importance,
    "include": Include,
    "into": NamedPerson,
    "key": KeyName,
    "kind": Kind,
    "kinds": Kinds,
    "limit": PageSize,
    "message": Label,
    "messages": Messages,
    "name": PersonName,
    "observed_at": Time,
    "on": Annotated[bool, Described(lambda _, value: validation.parse_bool("pin", value))],
    "other": MemoryId,
    "person": PersonName,
    "pinned": Flag,
    "portable": Flag,
    "query": QueryText,
    "relation": Tag,
    "role": Label,
    "run": Label,
    "search": (SearchInput | None, None),
    "sensitivity": Sensitivity,
    "session": Label,
    "since": Revision,
    "slot": Slot,
    "source": Label,
    "strength": Fraction,
    "tags": Annotated[list[Tag], items(most=limits.TAGS_MAX_COUNT)],
    "threshold": Fraction,
    "top_k": ResultCount,
    "turns": Annotated[list[_TurnId], items(most=limits.MESSAGES_MAX_COUNT)],
    "updated_after": Time,
    "updated_before": Time,
    "user": Label,
    "value": Content,
    "visibility": Visibility,
    "who": People,
    "withheld_from": People,
}
QUERY_TYPES: Mapping[str, Any] = {
    "days": Annotated[int, query_whole(1, limits.ACTIVITY_MAX_DAYS)],
    "limit": Annotated[int, query_whole(1, limits.GRAPH_NODES_MAX_COUNT)],
    "person": PersonName,
    "style": Literal["memory", "filtered", "summary"],
    "turns": QueryFlag,
    "visibility": Visibility,
}


# What the query strings of many routes hold.


class PageQuery(RequestModel):
    cursor: Cursor = not_sent()
    limit: Annotated[int, query_whole(1, limits.PAGE_MAX_COUNT)] = limits.PAGE_DEFAULT_COUNT


class MemoryFilterQuery(RequestModel):
    """What a list is narrowed to, beside its category."""

    prefix: KeyPrefix = not_sent()
    kind: Kind = not_sent()
    state: State = not_sent()
    pinned: QueryFlag = not_sent()


class MemoryCountQuery(MemoryFilterQuery):
    category: Category = not_sent()


class CategoryPageQuery(PageQuery, MemoryFilterQuery):
    """A page of one category."""


class MemoryPageQuery(PageQuery, MemoryCountQuery):
    """A page of all categories, or of one."""
