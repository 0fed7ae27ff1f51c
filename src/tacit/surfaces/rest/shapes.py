"""What the parts of a request look like, for the OpenAPI document. They come in as they are: the
library checks them, and says in its own words what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, WithJsonSchema

from tacit import limits
from tacit.records.accounts import NameKind
from tacit.records.conversation import Role
from tacit.records.memory import Kind
from tacit.records.notes import Section
from tacit.records.queries import INCLUDE_MEMORIES, INCLUDE_TURNS
from tacit.records.results import EventNode, EventOperation
from tacit.surfaces.rest import named

Shape = dict[str, Any]
# Spellings; those of names and of what people say come from their length (`wording`).
NO_NUL = r"^[^\x00]*$"
_LINES = r"^([^\x00-\x08\x0b-\x1f]|\r\n)*$"
_ODD = r'\x00-\x1f\x7f-\x9f\xad/\\%:<>"|?*'  # in no name of a file
_INSIDE = rf"[^{_ODD}]*[^{_ODD}\s.]"
_FOLDER = rf"[^{_ODD}\s._]({_INSIDE})?"
_FILE = rf"(_index\.md|({_FOLDER}/)?[^{_ODD}\s._]([^{_ODD}]*)?\.(md|txt))"


class Given(BaseModel):
    """What a request holds. A field that nobody knows is a mistake, and refused as one."""

    model_config = ConfigDict(extra="forbid")

    def sent_fields(self, *left_out: str) -> dict[str, Any]:
        """What was sent, and nothing else: the defaults are the library's own."""
        sent = self.model_fields_set - set(left_out)
        return {name: getattr(self, name) for name in sent}


def words(most: int, least: int = 0) -> Shape:
    shape: Shape = {"type": "string", "maxLength": most}
    return {**shape, "minLength": least} if least else shape


def whole(low: int, high: int) -> Shape:
    return {"type": "integer", "minimum": low, "maximum": high}


def one_of(known: Iterable[str]) -> Shape:
    return {"type": "string", "enum": [str(one) for one in known]}


def several(shape: Shape, *, least: int = 0, most: int | None = None) -> Shape:
    found: Shape = {"type": "array", "items": shape}
    if least:
        found["minItems"] = least
    return found if most is None else {**found, "maxItems": most}


def part(required: Iterable[str] = (), /, **fields: Shape) -> Shape:
    """An object with these fields and no others."""
    shape: Shape = {"type": "object", "properties": fields, "additionalProperties": False}
    return {**shape, "required": list(required)} if required else shape


def or_null(shape: Shape) -> Shape:
    return {"anyOf": [shape, {"type": "null"}]}


LABEL = words(limits.LABEL_MAX_CHARS, 1)
CONTENT = words(limits.CONTENT_MAX_CHARS, 1)
CATEGORIES = several(words(limits.CATEGORY_MAX_CHARS, 1), least=1)
IMPORTANCE = whole(limits.IMPORTANCE_MIN, limits.IMPORTANCE_MAX)
FRACTION: Shape = {"type": "number", "minimum": 0, "maximum": 1}
FLAG: Shape = {"type": "boolean"}
MOMENT: Shape = {"type": "string", "format": "date-time"}
# In a filter a day will do, and stands for its beginning in UTC.
DAY_OR_MOMENT: Shape = {"anyOf": [MOMENT, {"type": "string", "format": "date"}]}
KINDS = several(one_of(Kind), least=1)
INCLUDE = several(one_of((INCLUDE_MEMORIES, INCLUDE_TURNS)), least=1)
MESSAGE = part(
    ("role", "content"),
    role=one_of(Role),
    content=CONTENT,
    name=or_null(words(limits.NAME_MAX_CHARS, 1)),
    at=or_null(MOMENT),
    id=or_null(LABEL),
)
_TASK = part(("text",), text=CONTENT, done=FLAG)
_LINE = words(limits.CONTENT_MAX_CHARS)
DRAFT = part(
    (),
    summary=words(limits.SESSION_SUMMARY_MAX_CHARS),
    topics=several(
        part(("topic",), topic=CONTENT, users=_LINE, when=_LINE, event=_LINE, result=_LINE),
        most=limits.SESSION_PARTS_MAX_COUNT,
    ),
    facts=several(CONTENT, most=limits.SESSION_PARTS_MAX_COUNT),
    tasks=several(_TASK, most=limits.SESSION_PARTS_MAX_COUNT),
    follow_ups=several(_TASK, most=limits.SESSION_PARTS_MAX_COUNT),
    links=several(
        part(
            ("text", "target"),
            text=words(limits.LINK_MAX_CHARS),
            target=words(limits.LINK_MAX_CHARS, 1),
        ),
        most=limits.SESSION_PARTS_MAX_COUNT,
    ),
    promote=or_null(CONTENT),
    promote_to=one_of((Section.GOALS, Section.KEY_FACTS)),
    tags=several(words(limits.TAG_MAX_CHARS, 1), most=limits.SESSION_PARTS_MAX_COUNT),
)

Flag = Annotated[Any, WithJsonSchema(FLAG)]
Fraction = Annotated[Any, WithJsonSchema(FRACTION)]
Id = Annotated[Any, WithJsonSchema(named.ID)]
Label = Annotated[Any, WithJsonSchema(LABEL)]
LabelOrNone = Annotated[Any, WithJsonSchema(or_null(LABEL))]
Words = Annotated[Any, WithJsonSchema({**words(limits.QUERY_MAX_CHARS), "pattern": NO_NUL})]
Count = Annotated[Any, WithJsonSchema(whole(1, limits.RECALL_MAX_COUNT))]
Tokens = Annotated[Any, WithJsonSchema(whole(0, limits.BUDGET_MAX_TOKENS))]
TokensOrNone = Annotated[Any, WithJsonSchema(or_null(whole(0, limits.BUDGET_MAX_TOKENS)))]
Revision = Annotated[Any, WithJsonSchema(or_null(whole(0, limits.REVISION_MAX)))]
CategoriesOrNone = Annotated[Any, WithJsonSchema(or_null(CATEGORIES))]
ImportanceOrNone = Annotated[Any, WithJsonSchema(or_null(IMPORTANCE))]
FractionOrNone = Annotated[Any, WithJsonSchema(or_null(FRACTION))]
FlagOrNone = Annotated[Any, WithJsonSchema(or_null(FLAG))]
MomentOrNone = Annotated[Any, WithJsonSchema(or_null(MOMENT))]
KindsOrNone = Annotated[Any, WithJsonSchema(or_null(KINDS))]
IncludeOrNone = Annotated[Any, WithJsonSchema(or_null(INCLUDE))]
_MESSAGES = {
    **several(MESSAGE, most=limits.MESSAGES_MAX_COUNT),
    "description": f"At most {limits.MESSAGES_MAX_CHARS:,} characters in all.",
}
Messages = Annotated[Any, WithJsonSchema(_MESSAGES)]
MessageOrText = Annotated[Any, WithJsonSchema({"anyOf": [CONTENT, MESSAGE]})]
_DRAFT = {
    **or_null(DRAFT),
    "description": f"At most {limits.SESSION_DRAFT_MAX_CHARS:,} characters in all.",
}
Draft = Annotated[Any, WithJsonSchema(_DRAFT)]
Person = Annotated[Any, WithJsonSchema(words(limits.NAME_MAX_CHARS, 1))]
Category = Annotated[Any, WithJsonSchema(words(limits.CATEGORY_MAX_CHARS, 1))]
KeyName = Annotated[Any, WithJsonSchema(words(limits.KEY_MAX_CHARS, 1))]
Relation = Annotated[Any, WithJsonSchema(words(limits.TAG_MAX_CHARS, 1))]
ExternalKey = Annotated[Any, WithJsonSchema(named.OUTSIDE)]
Somebody = Annotated[Any, WithJsonSchema(named.PERSON)]
SomebodyOrNull = Annotated[Any, WithJsonSchema(or_null(named.PERSON))]
Identity = Annotated[Any, WithJsonSchema(named.IDENTITY)]
Named = Annotated[Any, WithJsonSchema(named.NAMED)]
ChatId = Annotated[Any, WithJsonSchema(named.CHAT)]
Called = Annotated[
    Any, WithJsonSchema(one_of([kind for kind in NameKind if kind is not NameKind.WITHHELD]))
]
Path = Annotated[Any, WithJsonSchema({"type": "string", "pattern": f"^{_FILE}$"})]
PathOrFolder = Annotated[
    Any, WithJsonSchema({"type": "string", "pattern": f"^({_FILE}|{_FOLDER})$"})
]
FolderOrNone = Annotated[
    Any, WithJsonSchema({"type": "string", "pattern": f"^({_FILE}|{_FOLDER})?$"})
]
FileText = Annotated[Any, WithJsonSchema({**words(limits.FILE_MAX_CHARS), "pattern": _LINES})]
FileTextOrNone = Annotated[
    Any, WithJsonSchema(or_null({**words(limits.NOTE_FILE_MAX_BYTES), "pattern": NO_NUL}))
]
Account = Annotated[Any, WithJsonSchema(named.ACCOUNT)]
FILTERS = part(
    (),
    **{name: or_null(LABEL) for name in ("user_id", "agent_id", "run_id", "actor_id", "role")},
    **{name: or_null(LABEL) for name in ("user", "agent", "run", "actor")},
    categories=or_null(CATEGORIES),
    kinds=or_null(KINDS),
    include=or_null(INCLUDE),
    pinned=or_null(FLAG),
    importance_min=or_null(IMPORTANCE),
    importance_max=or_null(IMPORTANCE),
    updated_after=or_null(DAY_OR_MOMENT),
    updated_before=or_null(DAY_OR_MOMENT),
    as_of=or_null(DAY_OR_MOMENT),
    threshold=or_null(FRACTION),
)
Filters = Annotated[Any, WithJsonSchema(or_null(FILTERS))]

NodeOrNone = Annotated[Any, WithJsonSchema(one_of(EventNode))]
OpOrNone = Annotated[Any, WithJsonSchema(one_of(EventOperation))]
Moment = Annotated[Any, WithJsonSchema(MOMENT)]
