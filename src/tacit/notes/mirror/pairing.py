"""Which line of a file stands for which memory of its note. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit.notes.merge.merging import matched
from tacit.notes.mirror.plan import Agreed, Kept, Line
from tacit.notes.text.document import Entry
from tacit.records import notes
from tacit.records.memory import Memory
from tacit.storage.notes import ItemRow

Shown = tuple[ItemRow, Memory]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A line and the memory it stands for."""

    entry: Entry
    row: ItemRow
    memory: Memory
    alternatives: tuple[Entry, ...] = ()  # further wordings of it, left by a conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class Loose:
    """A line that names a memory which the note does not show."""

    entry: Entry
    alternatives: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    pairs: tuple[Pair, ...] = ()
    unpaired: tuple[Loose, ...] = ()
    new: tuple[Entry, ...] = ()  # lines that name none
    missing: tuple[Shown, ...] = ()  # memories that no line stands for


def pair(entries: Sequence[Entry], shown: Sequence[Shown], agreed: Mapping[str, Agreed]) -> Pairing:
    """By id; then what lost its id, by its words, or as the next wording of what is missing."""
    named, others, new = _named(entries, agreed)
    rows = {row.memory_id: (row, memory) for row, memory in shown}
    pairs = {
        id: Pair(entry=entry, row=rows[id][0], memory=rows[id][1], alternatives=others.get(id, ()))
        for id, entry in named.items()
        if id in rows
    }
    loose = tuple(
        Loose(entry=entry, alternatives=others.get(id, ()))
        for id, entry in named.items()
        if id not in rows
    )
    left = [one for one in shown if one[0].memory_id not in pairs]
    found, new = _recognised(new, left, agreed)
    pairs |= found
    lost = tuple(one for one in left if one[0].memory_id not in pairs)
    return Pairing(pairs=tuple(pairs.values()), unpaired=loose, new=tuple(new), missing=lost)


def line_of(entry: Entry, others: Sequence[Entry] = ()) -> Line:
    return Line(
        content=entry.item.content,
        digest=entry.digest,
        done=entry.item.done,
        alternatives=tuple(other.item.content for other in others),
    )


def kept_of(row: ItemRow, memory: Memory) -> Kept:
    done = notes.item_from_memory(memory, row.section).done
    return Kept(content=memory.content, version=memory.version, done=done)


def _named(
    entries: Sequence[Entry], agreed: Mapping[str, Agreed]
) -> tuple[dict[str, Entry], dict[str, tuple[Entry, ...]], list[Entry]]:
    """By id: the line, and the wordings of conflicts. Of a line that was copied, the one that is as
    it was keeps the id; the others are new."""
    plain: dict[str, list[Entry]] = {}
    clashing: dict[str, list[Entry]] = {}
    new = [entry for entry in entries if entry.item.id is None]
    for entry in entries:
        if entry.item.id is not None:
            (clashing if entry.item.conflict else plain).setdefault(entry.item.id, []).append(entry)
    named: dict[str, Entry] = {}
    for id, some in plain.items():
        before = agreed.get(id)
        same = [one for one in some if before is not None and one.digest == before.digest]
        named[id] = (same or some)[0]
        new += [one for one in some if one is not named[id]]
    for id, some in clashing.items():
        if id not in named:  # of the two the other one was deleted: this is the wording now
            named[id] = some.pop(0)
    new.sort(key=lambda one: one.start)
    return named, {id: tuple(some) for id, some in clashing.items()}, new


def _recognised(
    new: Sequence[Entry], left: Sequence[Shown], agreed: Mapping[str, Agreed]
) -> tuple[dict[str, Pair], list[Entry]]:
    found: dict[str, Pair] = {}
    rest = list(new)

    def take(entry: Entry, one: Shown) -> None:
        row, memory = one
        found[memory.id] = Pair(entry=entry, row=row, memory=memory)
        rest.remove(entry)

    for entry in new:  # written, and the process ended before the file had the id
        for one in left:
            item, (row, memory) = entry.item, one
            same = item.content == memory.content and item.section is row.section
            if same and memory.id not in found:
                take(entry, one)
                break
    # Only what had a line before can have lost its id; a copied line has that of another.
    missing = {one[1].id: one for one in left if one[1].id in agreed and one[1].id not in found}
    old = [
        notes.item_from_memory(memory, row.section, row.added_on)
        for row, memory in missing.values()
    ]
    unnamed = [entry for entry in rest if entry.item.id is None]
    if old and unnamed:
        likely = matched(old, [entry.item for entry in unnamed])
        for entry, (_, before) in zip(unnamed, likely, strict=True):
            if before is not None and before.id is not None:
                take(entry, missing[before.id])
    return found, rest
