"""Turn labelled messages and pairs into the numbers that the reader is trained on."""

from __future__ import annotations

import json
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
    """Encode `[CLS] turn before [SEP] message [SEP]` and align the spans with its tokens."""
    before = tokenizer.encode(row.get("before", ""), add_special_tokens=False).ids[-MAX_BEFORE_TOKENS:]
    head = [CLS, *before, SEP]
    own = tokenizer.encode(row["text"], add_special_tokens=False)
    ids, offsets = own.ids[: MAX_TOKENS - len(head) - 1], own.offsets
    tags = [0] * len(ids)
    spans = []
    for fact in row.get("facts", ()):
        start = row["text"].index(fact["span"])
        end = start + len(fact["span"])
        inside = [n for n in range(len(ids)) if offsets[n][0] < end and offsets[n][1] > start]
        if not inside:
            continue
        first, last = inside[0], inside[-1] + 1
        for n in range(first, last):
            tags[n] = 1 if n == first else 2
        spans.append((first + len(head), last + len(head), _span_labels(fact)))
    return Example(
        tokens=[*head, *ids, SEP],
        segments=[0] * len(head) + [1] * (len(ids) + 1),
        tags=[-100] * len(head) + tags + [-100],
        spans=spans,
        labels={
            "rest": RESTS.index(row.get("rest", "none")),
            "ask": int(bool(row.get("ask"))),
            "hold": HOLDS.index("names" if isinstance(row.get("hold"), list) else row.get("hold", "none")),
        },
        row=row,
    )


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
