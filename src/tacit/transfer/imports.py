"""Check the items of an import one by one, and sort out those that are known already."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput, SecretRefused
from tacit.learning.composition import find_floor, join_words, list_texts
from tacit.records.drafts import (
    Draft,
    ImportRun,
    RefusedItem,
    draft_from_item,
    measure_items,
    parse_import_item,
    parse_source_id,
)
from tacit.records.memory import CATEGORY_OF_KIND, Kind, Sensitivity, Trust
from tacit.records.request import Request
from tacit.screening.instructions import find_instruction
from tacit.screening.secrets import find_secret
from tacit.storage import imports, people

_BY_ID, _BY_WORDS = "id", "words"
_HIDDEN_REASON = "cannot be imported, and the reason would quote a secret: check it in the source"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedItem:
    """An item that may be stored."""

    position: int  # among those handed in
    draft: Draft
    named: tuple[str, str]  # what identifies it: its id in the source, or its content

    @property
    def content(self) -> str:
        return self.draft.content or ""

    @property
    def kind(self) -> Kind:
        return self.draft.kind or Kind.KNOWLEDGE

    @property
    def category(self) -> str:
        return self.draft.category or CATEGORY_OF_KIND[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportBatch:
    """The items of one call."""

    source: str
    count: int  # of everything handed in
    items: tuple[CheckedItem, ...]
    refused: tuple[RefusedItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedBatch:
    """A batch, sorted by what happens to each item."""

    new: list[tuple[CheckedItem, str]] = field(default_factory=list)  # with its token
    # With its token, and the id of the memory.
    known: list[tuple[CheckedItem, str, str]] = field(default_factory=list)
    # With the run that brought it.
    repeated: list[tuple[CheckedItem, str | None]] = field(default_factory=list)
    refused: list[RefusedItem] = field(default_factory=list)


def parse_batch(source: str, items: object, categories: Collection[str], at: datetime) -> ImportBatch:
    """Check the items of a call; a bad one does not affect the others."""
    given = _check_list(items)
    found: list[CheckedItem] = []
    refused: list[RefusedItem] = []
    for place, value in enumerate(given):
        try:
            found.append(_check_item(place, value, categories, at))
        except InvalidInput as error:
            refused.append(build_refusal(place, error))
    return ImportBatch(source=source, count=len(given), items=tuple(found), refused=tuple(refused))


def _check_list(items: object) -> list[object]:
    most = limits.IMPORT_ITEMS_MAX_COUNT
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput("items", "expected a list of them, each with a content")
    given = list(islice(items, most + 1))
    if len(given) > most:
        raise InvalidInput("items", f"takes at most {most} at once: pass the rest in another call")
    most = limits.IMPORT_ITEMS_MAX_CHARS  # of all together; each item has limits of its own
    if len(given) > 1 and measure_items(given, most) > most:
        raise InvalidInput(
            "items",
            f"are more than {most:,} characters in all, where each value counts "
            f"{limits.IMPORT_VALUE_CHARS} more: pass fewer at once",
        )
    return given


def _check_item(place: int, value: object, categories: Collection[str], at: datetime) -> CheckedItem:
    item = parse_import_item(value)
    asked = draft_from_item(item, categories)
    _refuse_instructions(asked)
    if asked.expires_at is not None and asked.expires_at <= at:
        raise InvalidInput("expires_at", "is past; what has expired is not kept")
    if asked.observed_at is not None:
        asked = replace(asked, observed_at=min(asked.observed_at, at))
    foreign = parse_source_id(item)
    named = (_BY_WORDS, asked.content or "") if foreign is None else (_BY_ID, foreign)
    # The source does not tell the sensitivity: the words do.
    said = join_words(asked.content or "", key=asked.key, tags=asked.tags or (), data=asked.data or None)
    asked = replace(
        asked, about=asked.about or None, sensitivity=find_floor(said, Sensitivity.PERSONAL), trust=Trust.IMPORTED
    )
    return CheckedItem(position=place, draft=asked, named=named)


def _refuse_instructions(asked: Draft) -> None:
    """Refuse instructions, by the rules of learning.

    They are not quarantined, because there is no speaker to ask what was meant.
    """
    said = [("content", asked.content or ""), ("key", asked.key or "")]
    said += [("tags", one) for one in asked.tags or ()]
    said += [("about", str(one)) for one in asked.about or ()]
    said += [("data", one) for one in list_texts(asked.data)]
    for name, words in said:
        found = find_instruction(words)
        if found is not None:
            why = f"reads as an instruction ({found.replace('_', ' ')}) and not as a fact"
            raise InvalidInput(name, f"{why}; if it is one, remember it in other words")


def build_refusal(place: int, error: InvalidInput) -> RefusedItem:
    """Build a refusal without quoting the input."""
    secret = error.kind if isinstance(error, SecretRefused) else None
    told = str(error) if find_secret(str(error)) is None else f"{error.field}: {_HIDDEN_REASON}"
    return RefusedItem(place=place, why=told, secret=secret)


def sort_batch(
    connection: Connection, request: Request, secret: str, batch: ImportBatch, make: Callable[[CheckedItem], str]
) -> SortedBatch:
    """Sort a batch: what the owner has by id, content or key stays as it is.

    `make` returns the id of a new item, or refuses it.
    """
    tokens = {one.position: imports.import_token(secret, batch.source, *one.named) for one in batch.items}
    where = (connection, request.space, request.own_identities)
    known = imports.find_known_tokens(*where, set(tokens.values()))
    unknown = [one for one in batch.items if tokens[one.position] not in known]
    words = {one.content for one in unknown if one.draft.key is None}
    said = imports.find_same_contents(connection, request, words)
    keyed = {
        (category, key): id
        for category, keys in _import_keys(unknown)
        for key, id in imports.find_key_holders(connection, request, category, keys).items()
    }
    done = SortedBatch(refused=list(batch.refused))
    brought: set[str] = set()  # tokens that are new in this batch
    for item in batch.items:
        token, key = tokens[item.position], item.draft.key
        here = said.get(item.content) if key is None else keyed.get((item.category, key))
        if token in known:
            done.repeated.append((item, known[token]))
        elif token in brought:
            done.repeated.append((item, None))
        elif here is not None:
            brought.add(token)
            done.known.append((item, token, here))
        else:
            try:
                id = make(item)
            except InvalidInput as error:
                done.refused.append(build_refusal(item.position, error))
                continue
            brought.add(token)
            said[item.content] = id
            if key is not None:
                keyed[item.category, key] = id
            done.new.append((item, token))
    return done


def _import_keys(items: Iterable[CheckedItem]) -> list[tuple[str, set[str]]]:
    wanted: dict[str, set[str]] = {}
    for item in items:
        if item.draft.key is not None:
            wanted.setdefault(item.category, set()).add(item.draft.key)
    return sorted(wanted.items())


def list_lapsed(connection: Connection, request: Request, batch: ImportBatch) -> list[str]:
    """List expired memories whose key alone blocks these items."""
    return [
        id
        for category, keys in _import_keys(batch.items)
        for id in imports.list_expired_holders(connection, request, category, keys)
    ]


def check_people(connection: Connection, request: Request, item: CheckedItem, seen: set[object]) -> None:
    """Check that the subjects can be resolved, before anything is written.

    A new person is created only with the memory that names them.
    """
    for who in item.draft.about or ():
        if not isinstance(who, str) or who not in seen:
            people.resolve_person(connection, request, who, "about")
            seen.add(who)


def count_batch(run: ImportRun, batch: ImportBatch, found: SortedBatch, after: int | None) -> dict[str, int]:
    """Return the counts by which a run advances.

    Its own memories do not count as duplicates when they come again; items before `after` do not
    count at all.
    """
    fresh = 0 if after is None else run.done - after
    again = [item for item, by in found.repeated if by != run.run and item.position >= fresh]
    here = [item for item, *_ in found.known if item.position >= fresh]
    until = run.done if after is None or after > run.done else max(run.done, after + batch.count)
    return {
        "created": len(found.new),
        "already": len(again) + len(here),
        "refused": sum(one.place >= fresh for one in found.refused),
        "done": until - run.done,
    }
