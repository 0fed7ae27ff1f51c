"""What another memory kept, taken in: each thing is checked by itself, known again by a hash, and
kept as if its owner had said it in the private chat of the import."""

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
_UNTOLD = "cannot be used, and why would repeat a secret: look at it where it comes from"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One that may be kept."""

    position: int  # among those that were handed in
    draft: Draft
    named: tuple[str, str]  # what it is known by: its id there, or its words

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
class Batch:
    """What one call brings."""

    source: str
    count: int  # of everything that was handed in
    items: tuple[Item, ...]
    refused: tuple[RefusedItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """The same, by what is to become of it."""

    new: list[tuple[Item, str]] = field(default_factory=list)  # with its token
    known: list[tuple[Item, str, str]] = field(default_factory=list)  # token, and the memory's id
    repeated: list[tuple[Item, str | None]] = field(default_factory=list)  # the run that brought it
    refused: list[RefusedItem] = field(default_factory=list)


def parse(source: str, items: object, categories: Collection[str], at: datetime) -> Batch:
    """What is wrong with one of them is no harm to the others."""
    given = _given(items)
    found: list[Item] = []
    refused: list[RefusedItem] = []
    for place, value in enumerate(given):
        try:
            found.append(_checked(place, value, categories, at))
        except InvalidInput as error:
            refused.append(refusal(place, error))
    return Batch(source=source, count=len(given), items=tuple(found), refused=tuple(refused))


def _given(items: object) -> list[object]:
    most = limits.IMPORT_ITEMS_MAX_COUNT
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput("items", "expected a list of them, each with a content")
    given = list(islice(items, most + 1))
    if len(given) > most:
        raise InvalidInput("items", f"takes at most {most} at once: hand in the rest afterwards")
    _check_size(given)
    return given


def _check_size(given: list[object]) -> None:
    """All of them together; one alone is held to its own limits."""
    most = limits.IMPORT_ITEMS_MAX_CHARS
    if len(given) > 1 and measure_items(given, most) > most:
        raise InvalidInput(
            "items",
            f"are more than {most:,} characters in all, where each value counts "
            f"{limits.IMPORT_VALUE_CHARS} more: hand in fewer at once",
        )


def _checked(place: int, value: object, categories: Collection[str], at: datetime) -> Item:
    item = parse_import_item(value)
    asked = draft_from_item(item, categories)
    _refuse_instructions(asked)
    if asked.expires_at is not None and asked.expires_at <= at:
        raise InvalidInput("expires_at", "is past; what has expired is not kept")
    if asked.observed_at is not None:
        asked = replace(asked, observed_at=min(asked.observed_at, at))
    foreign = parse_source_id(item)
    named = (_BY_WORDS, asked.content or "") if foreign is None else (_BY_ID, foreign)
    # Nobody here says how sensitive it is: its words do.
    said = join_words(
        asked.content or "", key=asked.key, tags=asked.tags or (), data=asked.data or None
    )
    asked = replace(
        asked,
        about=asked.about or None,
        sensitivity=find_floor(said, Sensitivity.PERSONAL),
        trust=Trust.IMPORTED,
    )
    return Item(position=place, draft=asked, named=named)


def _refuse_instructions(asked: Draft) -> None:
    """By the judgement that learning has. Nobody said this here, whom one could ask what it means:
    it is not set aside, it does not come in."""
    said = [("content", asked.content or ""), ("key", asked.key or "")]
    said += [("tags", one) for one in asked.tags or ()]
    said += [("about", str(one)) for one in asked.about or ()]
    said += [("data", one) for one in list_texts(asked.data)]
    for name, words in said:
        found = find_instruction(words)
        if found is not None:
            why = f"reads as an instruction ({found.replace('_', ' ')}) and not as a fact"
            raise InvalidInput(name, f"{why}; if it is one, remember it in other words")


def refusal(place: int, error: InvalidInput) -> RefusedItem:
    """Some reasons quote what was handed in, and that may be anything."""
    secret = error.kind if isinstance(error, SecretRefused) else None
    told = str(error) if find_secret(str(error)) is None else f"{error.field}: {_UNTOLD}"
    return RefusedItem(place=place, why=told, secret=secret)


def sort(
    connection: Connection,
    request: Request,
    secret: str,
    batch: Batch,
    make: Callable[[Item], str],
) -> Sorted:
    """What was imported before stays as it is by now, forgotten or not; so does what its owner has
    in the same words, or under the same key. `make` gives the id of what is new, or refuses it."""
    tokens = {
        one.position: imports.import_token(secret, batch.source, *one.named) for one in batch.items
    }
    where = (connection, request.space, request.own_identities)
    known = imports.find_known_tokens(*where, set(tokens.values()))
    unknown = [one for one in batch.items if tokens[one.position] not in known]
    words = {one.content for one in unknown if one.draft.key is None}
    said = imports.find_same_contents(connection, request, words)
    keyed = {
        (category, key): id
        for category, keys in _keys(unknown)
        for key, id in imports.find_key_holders(connection, request, category, keys).items()
    }
    done = Sorted(refused=list(batch.refused))
    brought: set[str] = set()  # tokens that are new in this very batch
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
                done.refused.append(refusal(item.position, error))
                continue
            brought.add(token)
            said[item.content] = id
            if key is not None:
                keyed[item.category, key] = id
            done.new.append((item, token))
    return done


def _keys(items: Iterable[Item]) -> list[tuple[str, set[str]]]:
    wanted: dict[str, set[str]] = {}
    for item in items:
        if item.draft.key is not None:
            wanted.setdefault(item.category, set()).add(item.draft.key)
    return sorted(wanted.items())


def lapsed(connection: Connection, request: Request, batch: Batch) -> list[str]:
    """What stands in the way of these by its key alone: nobody hears it any more."""
    return [
        id
        for category, keys in _keys(batch.items)
        for id in imports.list_expired_holders(connection, request, category, keys)
    ]


def check_people(connection: Connection, request: Request, item: Item, seen: set[object]) -> None:
    """Whoever it is about can be told. Asked before anything is written: somebody new becomes a
    person only with the memory that names them."""
    for who in item.draft.about or ():
        if not isinstance(who, str) or who not in seen:
            people.resolve_person(connection, request, who, "about")
            seen.add(who)


def counted(run: ImportRun, batch: Batch, found: Sorted, after: int | None) -> dict[str, int]:
    """By how much a run moves on. What it made itself is no surprise when it comes again; where it
    is said how much came before, nothing counts that was dealt with."""
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
