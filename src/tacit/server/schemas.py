"""JSON schemas and models of what requests hold: keys, fields, filters, pages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from tacit import Search, limits
from tacit.records.accounts import NameKind
from tacit.records.conversation import Role
from tacit.records.memory import Kind, Sensitivity, State, Visibility
from tacit.records.notes import Section
from tacit.records.queries import ANY_STATE, INCLUDE_MEMORIES, INCLUDE_TURNS, MATCH_ALL
from tacit.records.results import EventNode, EventOperation
from tacit.wire import build_record, parse_time

# How people, chats and accounts are named, as shapes for the document. The library checks them.

Shape = dict[str, Any]
_KEY_PART = "[A-Za-z0-9._@+=-]+"
_ACCOUNT_PATTERN = f"acct:{_KEY_PART}"
_TELEGRAM_ID = "[1-9][0-9]{0,18}"
_PERSON_ID = "[A-Za-z0-9]{8}"


def _pattern_except(*channels: str) -> str:
    """Whatever else there is: its parts are as the channel likes them."""
    return f"(?!({'|'.join(channels)}):)[a-z][a-z0-9_-]*(:{_KEY_PART})+"


_OTHER_CHANNEL = _pattern_except("telegram", "slack", "acct", "ext", "person")
_EXTERNAL_KEY_PATTERN = f"telegram:{_TELEGRAM_ID}|slack:{_KEY_PART}:{_KEY_PART}|{_OTHER_CHANNEL}"
PERSON_PATTERN = f"({_EXTERNAL_KEY_PATTERN}|{_ACCOUNT_PATTERN})"


def _pattern_schema(pattern: str, example: str) -> Shape:
    # Without an example, tools that look for the smallest one find none.
    return {
        "type": "string",
        "pattern": f"^({pattern})$",
        "maxLength": limits.EXTERNAL_KEY_MAX_CHARS,
        "examples": [example],
    }


PERSON_KEY = _pattern_schema(PERSON_PATTERN, "telegram:1001")
# A key of a channel, which is what can be linked to an account.
EXTERNAL_KEY = _pattern_schema(_EXTERNAL_KEY_PATTERN, "telegram:1001")
ACCOUNT_KEY = _pattern_schema(_ACCOUNT_PATTERN, "acct:42")
IDENTITY_KEY = _pattern_schema(
    f"(ext:)?({_EXTERNAL_KEY_PATTERN})|{_ACCOUNT_PATTERN}|person:{_PERSON_ID}", "telegram:1001"
)
NAMED_PERSON = _pattern_schema(f"person:{_PERSON_ID}", "person:k3Xq81Zb")  # somebody known by name
CHAT_ID = _pattern_schema(
    f"telegram:-?{_TELEGRAM_ID}|{_pattern_except('telegram', 'ext', 'person')}", "telegram:-5"
)
MEMORY_ID: Shape = {"type": "string", "pattern": f"^[A-Za-z0-9]{{{limits.ID_CHARS}}}$"}


# What the parts of a request look like, for the OpenAPI document. They come in as they are: the
# library checks them, and says in its own words what is wrong.

# Spellings; those of names and of what people say come from their length (`wording`).
NO_NUL = r"^[^\x00]*$"
_FILE_TEXT_PATTERN = r"^([^\x00-\x08\x0b-\x1f]|\r\n)*$"
_FORBIDDEN_FILE_CHARS = r'\x00-\x1f\x7f-\x9f\xad/\\%:<>"|?*'  # in no name of a file
_FILE_NAME_REST = rf"[^{_FORBIDDEN_FILE_CHARS}]*[^{_FORBIDDEN_FILE_CHARS}\s.]"
_FOLDER_PATTERN = rf"[^{_FORBIDDEN_FILE_CHARS}\s._]({_FILE_NAME_REST})?"
_FILE_PATTERN = rf"(_index\.md|({_FOLDER_PATTERN}/)?[^{_FORBIDDEN_FILE_CHARS}\s._]([^{_FORBIDDEN_FILE_CHARS}]*)?\.(md|txt))"


class RequestModel(BaseModel):
    """What a request holds. A field that nobody knows is a mistake, and refused as one."""

    model_config = ConfigDict(extra="forbid")

    def sent_fields(self, *left_out: str) -> dict[str, Any]:
        """What was sent, and nothing else: the defaults are the library's own."""
        sent = self.model_fields_set - set(left_out)
        return {name: getattr(self, name) for name in sent}


def string_schema(most: int, least: int = 0) -> Shape:
    shape: Shape = {"type": "string", "maxLength": most}
    return {**shape, "minLength": least} if least else shape


def integer_schema(low: int, high: int) -> Shape:
    return {"type": "integer", "minimum": low, "maximum": high}


def enum_schema(known: Iterable[str]) -> Shape:
    return {"type": "string", "enum": [str(one) for one in known]}


def array_schema(shape: Shape, *, least: int = 0, most: int | None = None) -> Shape:
    found: Shape = {"type": "array", "items": shape}
    if least:
        found["minItems"] = least
    return found if most is None else {**found, "maxItems": most}


def object_schema(required: Iterable[str] = (), /, **fields: Shape) -> Shape:
    """An object with these fields and no others."""
    shape: Shape = {"type": "object", "properties": fields, "additionalProperties": False}
    return {**shape, "required": list(required)} if required else shape


def nullable(shape: Shape) -> Shape:
    return {"anyOf": [shape, {"type": "null"}]}


LABEL = string_schema(limits.LABEL_MAX_CHARS, 1)
CONTENT = string_schema(limits.CONTENT_MAX_CHARS, 1)
CATEGORIES = array_schema(string_schema(limits.CATEGORY_MAX_CHARS, 1), least=1)
IMPORTANCE = integer_schema(limits.IMPORTANCE_MIN, limits.IMPORTANCE_MAX)
FRACTION: Shape = {"type": "number", "minimum": 0, "maximum": 1}
FLAG: Shape = {"type": "boolean"}
TIME: Shape = {"type": "string", "format": "date-time"}
# In a filter a day will do, and stands for its beginning in UTC.
DATE_OR_TIME: Shape = {"anyOf": [TIME, {"type": "string", "format": "date"}]}
KINDS = array_schema(enum_schema(Kind), least=1)
INCLUDE = array_schema(enum_schema((INCLUDE_MEMORIES, INCLUDE_TURNS)), least=1)
MESSAGE = object_schema(
    ("role", "content"),
    role=enum_schema(Role),
    content=CONTENT,
    name=nullable(string_schema(limits.NAME_MAX_CHARS, 1)),
    at=nullable(TIME),
    id=nullable(LABEL),
)
_TASK = object_schema(("text",), text=CONTENT, done=FLAG)
_LINE = string_schema(limits.CONTENT_MAX_CHARS)
DRAFT = object_schema(
    (),
    summary=string_schema(limits.SESSION_SUMMARY_MAX_CHARS),
    topics=array_schema(
        object_schema(
            ("topic",), topic=CONTENT, users=_LINE, when=_LINE, event=_LINE, result=_LINE
        ),
        most=limits.SESSION_PARTS_MAX_COUNT,
    ),
    facts=array_schema(CONTENT, most=limits.SESSION_PARTS_MAX_COUNT),
    tasks=array_schema(_TASK, most=limits.SESSION_PARTS_MAX_COUNT),
    follow_ups=array_schema(_TASK, most=limits.SESSION_PARTS_MAX_COUNT),
    links=array_schema(
        object_schema(
            ("text", "target"),
            text=string_schema(limits.LINK_MAX_CHARS),
            target=string_schema(limits.LINK_MAX_CHARS, 1),
        ),
        most=limits.SESSION_PARTS_MAX_COUNT,
    ),
    promote=nullable(CONTENT),
    promote_to=enum_schema((Section.GOALS, Section.KEY_FACTS)),
    tags=array_schema(string_schema(limits.TAG_MAX_CHARS, 1), most=limits.SESSION_PARTS_MAX_COUNT),
)

Flag = Annotated[Any, WithJsonSchema(FLAG)]
Fraction = Annotated[Any, WithJsonSchema(FRACTION)]
MemoryId = Annotated[Any, WithJsonSchema(MEMORY_ID)]
Label = Annotated[Any, WithJsonSchema(LABEL)]
LabelOrNone = Annotated[Any, WithJsonSchema(nullable(LABEL))]
QueryText = Annotated[
    Any, WithJsonSchema({**string_schema(limits.QUERY_MAX_CHARS), "pattern": NO_NUL})
]
ResultCount = Annotated[Any, WithJsonSchema(integer_schema(1, limits.RECALL_MAX_COUNT))]
Tokens = Annotated[Any, WithJsonSchema(integer_schema(0, limits.BUDGET_MAX_TOKENS))]
TokensOrNone = Annotated[Any, WithJsonSchema(nullable(integer_schema(0, limits.BUDGET_MAX_TOKENS)))]
Revision = Annotated[Any, WithJsonSchema(nullable(integer_schema(0, limits.REVISION_MAX)))]
CategoriesOrNone = Annotated[Any, WithJsonSchema(nullable(CATEGORIES))]
ImportanceOrNone = Annotated[Any, WithJsonSchema(nullable(IMPORTANCE))]
FractionOrNone = Annotated[Any, WithJsonSchema(nullable(FRACTION))]
FlagOrNone = Annotated[Any, WithJsonSchema(nullable(FLAG))]
TimeOrNone = Annotated[Any, WithJsonSchema(nullable(TIME))]
KindsOrNone = Annotated[Any, WithJsonSchema(nullable(KINDS))]
IncludeOrNone = Annotated[Any, WithJsonSchema(nullable(INCLUDE))]
_MESSAGES = {
    **array_schema(MESSAGE, most=limits.MESSAGES_MAX_COUNT),
    "description": f"At most {limits.MESSAGES_MAX_CHARS:,} characters in all.",
}
Messages = Annotated[Any, WithJsonSchema(_MESSAGES)]
MessageOrText = Annotated[Any, WithJsonSchema({"anyOf": [CONTENT, MESSAGE]})]
_DRAFT = {
    **nullable(DRAFT),
    "description": f"At most {limits.SESSION_DRAFT_MAX_CHARS:,} characters in all.",
}
SessionDraftOrNone = Annotated[Any, WithJsonSchema(_DRAFT)]
PersonName = Annotated[Any, WithJsonSchema(string_schema(limits.NAME_MAX_CHARS, 1))]
Category = Annotated[Any, WithJsonSchema(string_schema(limits.CATEGORY_MAX_CHARS, 1))]
KeyName = Annotated[Any, WithJsonSchema(string_schema(limits.KEY_MAX_CHARS, 1))]
RelationName = Annotated[Any, WithJsonSchema(string_schema(limits.TAG_MAX_CHARS, 1))]
ExternalKey = Annotated[Any, WithJsonSchema(EXTERNAL_KEY)]
PersonKey = Annotated[Any, WithJsonSchema(PERSON_KEY)]
PersonKeyOrNone = Annotated[Any, WithJsonSchema(nullable(PERSON_KEY))]
IdentityKey = Annotated[Any, WithJsonSchema(IDENTITY_KEY)]
NamedPerson = Annotated[Any, WithJsonSchema(NAMED_PERSON)]
ChatId = Annotated[Any, WithJsonSchema(CHAT_ID)]
AssignableNameKind = Annotated[
    Any, WithJsonSchema(enum_schema([kind for kind in NameKind if kind is not NameKind.WITHHELD]))
]
FilePath = Annotated[Any, WithJsonSchema({"type": "string", "pattern": f"^{_FILE_PATTERN}$"})]
FileOrFolderPath = Annotated[
    Any, WithJsonSchema({"type": "string", "pattern": f"^({_FILE_PATTERN}|{_FOLDER_PATTERN})$"})
]
FolderFilter = Annotated[
    Any, WithJsonSchema({"type": "string", "pattern": f"^({_FILE_PATTERN}|{_FOLDER_PATTERN})?$"})
]
FileText = Annotated[
    Any, WithJsonSchema({**string_schema(limits.FILE_MAX_CHARS), "pattern": _FILE_TEXT_PATTERN})
]
FileTextOrNone = Annotated[
    Any, WithJsonSchema(nullable({**string_schema(limits.NOTE_FILE_MAX_BYTES), "pattern": NO_NUL}))
]
AccountKey = Annotated[Any, WithJsonSchema(ACCOUNT_KEY)]
FILTERS = object_schema(
    (),
    **{name: nullable(LABEL) for name in ("user_id", "agent_id", "run_id", "actor_id", "role")},
    **{name: nullable(LABEL) for name in ("user", "agent", "run", "actor")},
    categories=nullable(CATEGORIES),
    kinds=nullable(KINDS),
    include=nullable(INCLUDE),
    pinned=nullable(FLAG),
    importance_min=nullable(IMPORTANCE),
    importance_max=nullable(IMPORTANCE),
    updated_after=nullable(DATE_OR_TIME),
    updated_before=nullable(DATE_OR_TIME),
    as_of=nullable(DATE_OR_TIME),
    threshold=nullable(FRACTION),
)
Filters = Annotated[Any, WithJsonSchema(nullable(FILTERS))]

NodeOrNone = Annotated[Any, WithJsonSchema(enum_schema(EventNode))]
OpOrNone = Annotated[Any, WithJsonSchema(enum_schema(EventOperation))]
Time = Annotated[Any, WithJsonSchema(TIME)]


# The fields of a memory as a request names them, and their shapes.

TIME_FIELDS = ("observed_at", "expires_at")
_PEOPLE = array_schema(
    string_schema(limits.NAME_MAX_CHARS, 1), most=limits.PEOPLE_PER_MEMORY_MAX_COUNT
)
_TAGS = array_schema(string_schema(limits.TAG_MAX_CHARS, 1), most=limits.TAGS_MAX_COUNT)
_DATA = {
    "type": "object",
    "description": "Kept and told with the memory: JSON without secrets. {} clears it.",
}
_TURNS = array_schema(MEMORY_ID, most=limits.MESSAGES_MAX_COUNT)

People = Annotated[Any, WithJsonSchema(nullable(_PEOPLE))]
LabelOrNull = Annotated[Any, WithJsonSchema(nullable(LABEL))]
FlagOrNull = Annotated[Any, WithJsonSchema(nullable(FLAG))]
TimeOrNull = Annotated[Any, WithJsonSchema(nullable(TIME))]


class MemoryFields(RequestModel):
    """What can be said of a memory besides its words. Nothing is required."""

    kind: Annotated[Any, WithJsonSchema(nullable(enum_schema(Kind)))] = None
    slot: Annotated[Any, WithJsonSchema(nullable(string_schema(limits.SLOT_MAX_CHARS, 1)))] = None
    about: People = None
    withheld_from: People = None
    sensitivity: Annotated[Any, WithJsonSchema(nullable(enum_schema(Sensitivity)))] = None
    portable: FlagOrNull = None
    importance: Annotated[Any, WithJsonSchema(nullable(IMPORTANCE))] = None
    confidence: Annotated[Any, WithJsonSchema(nullable(FRACTION))] = None
    pinned: FlagOrNull = None
    tags: Annotated[Any, WithJsonSchema(nullable(_TAGS))] = None
    observed_at: TimeOrNull = None
    expires_at: TimeOrNull = None
    message: LabelOrNull = None
    agent: LabelOrNull = None
    run: LabelOrNull = None
    role: LabelOrNull = None
    by_model: FlagOrNull = None
    turns: Annotated[Any, WithJsonSchema(nullable(_TURNS))] = None
    data: Annotated[Any, WithJsonSchema(nullable(_DATA))] = None


class NewMemoryFields(MemoryFields):
    visibility: Annotated[Any, WithJsonSchema(nullable(enum_schema(Visibility)))] = None
    for_room: FlagOrNull = None


class RememberFields(NewMemoryFields):
    content: Annotated[Any, WithJsonSchema(CONTENT)]
    category: Annotated[
        Any, WithJsonSchema(nullable(string_schema(limits.CATEGORY_MAX_CHARS, 1)))
    ] = None
    key: Annotated[Any, WithJsonSchema(nullable(string_schema(limits.KEY_MAX_CHARS, 1)))] = None


class PutFields(NewMemoryFields):
    value: Annotated[Any, WithJsonSchema(CONTENT)]


_NOT_ALLOWED = WithJsonSchema({"type": "null"})  # the library says what to use instead


class UpdateFields(MemoryFields):
    content: Annotated[Any, WithJsonSchema(nullable(CONTENT))] = None
    if_version: Annotated[Any, WithJsonSchema(nullable(integer_schema(1, 2**31)))] = None
    category: Annotated[
        Any, WithJsonSchema(nullable(string_schema(limits.CATEGORY_MAX_CHARS, 1)))
    ] = None
    key: Annotated[Any, _NOT_ALLOWED] = None
    visibility: Annotated[Any, _NOT_ALLOWED] = None
    for_room: Annotated[Any, WithJsonSchema({"enum": [False, None]})] = None
    turns: Annotated[Any, _NOT_ALLOWED] = None


# What query strings of many routes hold, with the shape that tells of it.

_KEY_PREFIX = {**string_schema(limits.KEY_MAX_CHARS), "pattern": NO_NUL}
_INTEGER_PATTERN = re.compile(r"-?[0-9]{1,18}")


def _parse_integer(value: Any) -> Any:
    """A number in a query string; anything else stays as it is, for the library to refuse."""
    return int(value) if isinstance(value, str) and _INTEGER_PATTERN.fullmatch(value) else value


def _parse_flag(value: Any) -> Any:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


INTEGER_FROM_QUERY = BeforeValidator(_parse_integer)
FLAG_FROM_QUERY = BeforeValidator(_parse_flag)
QueryFlag = Annotated[Any, FLAG_FROM_QUERY, WithJsonSchema(FLAG)]
Cursor = Annotated[
    Any, WithJsonSchema({"type": "string", "description": "As the page before gave it."})
]
Limit = Annotated[
    Any,
    INTEGER_FROM_QUERY,
    WithJsonSchema(
        {**integer_schema(1, limits.PAGE_MAX_COUNT), "default": limits.PAGE_DEFAULT_COUNT}
    ),
]


class PageQuery(RequestModel):
    cursor: Cursor = None
    limit: Limit = limits.PAGE_DEFAULT_COUNT


class MemoryFilterQuery(RequestModel):
    """What a list is narrowed to, beside its category."""

    prefix: Annotated[Any, WithJsonSchema(_KEY_PREFIX)] = None
    kind: Annotated[Any, WithJsonSchema(enum_schema(Kind))] = None
    state: Annotated[Any, WithJsonSchema(enum_schema(State))] = None
    pinned: QueryFlag = None


class MemoryCountQuery(MemoryFilterQuery):
    category: Category = None


class CategoryPageQuery(PageQuery, MemoryFilterQuery):
    """A page of one category."""


class MemoryPageQuery(PageQuery, MemoryCountQuery):
    """A page of all of them, or of one."""


# What memories are searched for, as it stands in a request.

_SEARCH_FIELDS: dict[str, Shape] = {
    "words": {**string_schema(limits.SEARCH_MAX_CHARS), "pattern": NO_NUL},
    "category": string_schema(limits.CATEGORY_MAX_CHARS, 1),
    "kind": enum_schema(Kind),
    "about": string_schema(limits.NAME_MAX_CHARS, 1),
    "chat": CHAT_ID,
    "visibility": enum_schema(Visibility),
    "sensitivity": enum_schema(Sensitivity),
    "state": enum_schema((*State, ANY_STATE)),
    "pinned": FLAG,
    "since": TIME,
    "until": TIME,
}
SEARCH = object_schema((), **{name: nullable(shape) for name, shape in _SEARCH_FIELDS.items()})
SearchOrNone = Annotated[Any, WithJsonSchema(nullable(SEARCH))]


def parse_search(found: object) -> Search:
    if found is None:
        return MATCH_ALL
    times = {name: _time_parser(name) for name in ("since", "until")}
    return build_record(Search, "search", found, **times)


def _time_parser(name: str) -> Any:
    return lambda value: parse_time(name, value)
