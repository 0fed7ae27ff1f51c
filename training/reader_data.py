"""Turn labelled messages and pairs into the numbers that the reader is trained on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labels import ABOUT, HOLDS, RELATIONS, RESTS, SPAN_HEADS
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

Row = dict[str, Any]

MAX_TOKENS = 192
MAX_BEFORE_TOKENS = 40
CLS, SEP = 101, 102


@dataclass(frozen=True, slots=True)
class Example:
    """A message as numbers: tokens, a tag for each, spans of facts with labels, labels of the whole."""

    tokens: list[int]
    segments: list[int]
    tags: list[int]  # -100 outside of the message itself
    who: list[int]  # 1 for the words that name somebody whom a fact is about, in the message or before it
    spans: list[tuple[int, int, dict[str, int]]]  # first token, token after the last, labels
    labels: dict[str, int]
    row: Row


@dataclass(frozen=True, slots=True)
class Pair:
    tokens: list[int]
    segments: list[int]
    label: int
    row: Row


def load_tokenizer(vocabulary: Path) -> Tokenizer:
    words = vocabulary.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocab=numbers, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def read_jsonl(folder: Path, writers: Iterable[str], name: str) -> list[Row]:
    rows = []
    for writer in writers:
        path = folder / writer / f"{name}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        rows += [json.loads(line) | {"writer": writer} for line in lines if line]
    return rows


def message_example(row: Row, tokenizer: Tokenizer) -> Example:
    """Encode `[CLS] turn before [SEP] message [SEP]` and align the spans and the people with its tokens."""
    before = tokenizer.encode(row.get("before", ""), add_special_tokens=False)
    dropped = max(0, len(before.ids) - MAX_BEFORE_TOKENS)
    head = [CLS, *before.ids[dropped:], SEP]
    own = tokenizer.encode(row["text"], add_special_tokens=False)
    ids, offsets = own.ids[: MAX_TOKENS - len(head) - 1], own.offsets
    tags = [0] * len(ids)
    spans = []
    named: set[int] = set()
    named_before: set[int] = set()
    for fact in row.get("facts", ()):
        start = row["text"].index(fact["span"])
        inside = _covered(offsets[: len(ids)], start, start + len(fact["span"]))
        if not inside:
            continue
        first, last = inside[0], inside[-1] + 1
        for n in range(first, last):
            tags[n] = 1 if n == first else 2
        spans.append((first + len(head), last + len(head), _span_labels(fact)))
        for person in fact["about"]:
            if person not in ("me", "us", "group"):
                found = _mentioned(row["text"], person, offsets[: len(ids)])
                named |= found
                if not found:
                    named_before |= _mentioned(row.get("before", ""), person, before.offsets)
    who = [0, *(int(n in named_before) for n in range(dropped, len(before.ids))), 0]
    return Example(
        tokens=[*head, *ids, SEP],
        segments=[0] * len(head) + [1] * (len(ids) + 1),
        tags=[-100] * len(head) + tags + [-100],
        who=[*who, *(int(n in named) for n in range(len(ids))), 0],
        spans=spans,
        labels={
            "rest": RESTS.index(row.get("rest", "none")),
            "ask": int(bool(row.get("ask"))),
            "hold": HOLDS.index("names" if isinstance(row.get("hold"), list) else row.get("hold", "none")),
        },
        row=row,
    )


def _covered(offsets: list[tuple[int, int]], start: int, end: int) -> list[int]:
    return [n for n, (a, b) in enumerate(offsets) if a < end and b > start]


def _mentioned(text: str, person: str, offsets: list[tuple[int, int]]) -> set[int]:
    """Return the tokens of a text that name a person, as far as the name or its last word stands there."""
    for name in (
        person,
        re.sub(r"^(my|her|his|their|our|the) ", "", person, flags=re.IGNORECASE),
        person.rsplit(maxsplit=1)[-1],
    ):
        places = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
        found = {n for place in places for n in _covered(offsets, *place.span())}
        if found:
            return found
    return set()


def _span_labels(fact: Row) -> dict[str, int]:
    about = fact["about"]
    whom = about[0] if about and about[0] in ("me", "us", "group") else "other" if about else "thing"
    labels = {"about": ABOUT.index(whom)}
    for name, values in SPAN_HEADS.items():
        if name != "about":
            labels[name] = values.index(fact.get(name, "none"))
    return labels


def pair_example(row: Row, tokenizer: Tokenizer) -> Pair:
    known = tokenizer.encode(row["known"], add_special_tokens=False).ids[:80]
    new = tokenizer.encode(row["new"], add_special_tokens=False).ids[:80]
    return Pair(
        tokens=[CLS, *known, SEP, *new, SEP],
        segments=[0] * (len(known) + 2) + [1] * (len(new) + 1),
        label=RELATIONS.index(row["label"]),
        row=row,
    )


def derived_pairs(rows: list[Row]) -> list[Row]:
    """Make pairs of labelled messages: what a message states repeats its own sentence and coexists with the others of
    the message; a message that states nothing has nothing to do with the sentence of the one before it."""
    found = []
    last = ""
    for row in rows:
        facts = row.get("facts", ())
        for one in facts:
            found.append({"known": one["fact"], "new": one["span"], "label": "repeats"})
            found += [
                {"known": one["fact"], "new": other["span"], "label": "coexists"} for other in facts if other is not one
            ]
        if last and not facts:
            found.append({"known": last, "new": row["text"], "label": "unrelated"})
        last = facts[-1]["fact"] if facts else last
    return found
