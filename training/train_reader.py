"""Train the reader and the pair judge: one encoder, tags for facts, labels for facts, messages and pairs.

    python training/train_reader.py --base model.onnx --vocabulary wordpiece.txt --data training/data --out OUT

Writers of the test part are never trained on. Prints figures on them after the last epoch.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
from base_weights import base_encoder
from labels import MESSAGE_HEADS, RELATIONS, SPAN_HEADS, TAGS
from reader_data import Example, Pair, derived_pairs, load_tokenizer, message_example, pair_example, read_jsonl
from torch import nn

WIDTH = 384
# How much each part of the loss counts.
TAG_WEIGHT, WHO_WEIGHT, SPAN_WEIGHT, MESSAGE_WEIGHT, PAIR_WEIGHT = 3.0, 1.0, 1.0, 0.5, 1.0
WORDS = "encoder.embeddings.word_embeddings.weight"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
TOKEN_MIN_CHANCE = 0.4
SPAN_MIN_SHARE, FACT_MIN_SHARE = 0.5, 0.6


class Reader(nn.Module):
    """An encoder with a head for each label. A span is the mean of its tokens beside the whole."""

    def __init__(self, base: Path, layers: tuple[int, ...]) -> None:
        super().__init__()
        self.encoder = base_encoder(base, layers)
        self.drop = nn.Dropout(0.1)
        self.tag = nn.Linear(WIDTH, len(TAGS))
        self.who = nn.Linear(WIDTH, 2)
        self.span = nn.ModuleDict({name: nn.Linear(2 * WIDTH, len(values)) for name, values in SPAN_HEADS.items()})
        self.message = nn.ModuleDict({name: nn.Linear(WIDTH, len(values)) for name, values in MESSAGE_HEADS.items()})
        self.pair = nn.Linear(WIDTH, len(RELATIONS))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        hidden = self.encoder(input_ids=ids, attention_mask=mask, token_type_ids=segments).last_hidden_state
        return self.drop(hidden)


def pad(rows: list[list[int]], fill: int, device: str) -> torch.Tensor:
    length = max(map(len, rows))
    return torch.tensor([row + [fill] * (length - len(row)) for row in rows], device=device)


def encode(model: Reader, items: list[Example] | list[Pair], device: str) -> torch.Tensor:
    ids = pad([one.tokens for one in items], 0, device)
    segments = pad([one.segments for one in items], 0, device)
    return model(ids, (ids != 0).long(), segments)


def message_loss(model: Reader, items: list[Example], device: str, smooth: float) -> torch.Tensor:
    cross = nn.functional.cross_entropy
    hidden = encode(model, items, device)
    tags = pad([one.tags for one in items], -100, device)
    guessed = model.tag(hidden).flatten(0, 1)
    loss = TAG_WEIGHT * cross(guessed, tags.flatten(), ignore_index=-100, label_smoothing=smooth)
    who = pad([one.who for one in items], -100, device)
    loss = loss + WHO_WEIGHT * cross(model.who(hidden).flatten(0, 1), who.flatten(), ignore_index=-100)
    whole = hidden[:, 0]
    for name, head in model.message.items():
        gold = torch.tensor([one.labels[name] for one in items], device=device)
        loss = loss + MESSAGE_WEIGHT * cross(head(whole), gold)
    spans = [(n, *span) for n, one in enumerate(items) for span in one.spans]
    if spans:
        means = torch.stack([torch.cat([hidden[n, a:b].mean(0), whole[n]]) for n, a, b, _ in spans])
        for name, head in model.span.items():
            gold = torch.tensor([labels[name] for *_, labels in spans], device=device)
            loss = loss + SPAN_WEIGHT * cross(head(means), gold)
    return loss


def pair_loss(model: Reader, items: list[Pair], device: str) -> torch.Tensor:
    gold = torch.tensor([one.label for one in items], device=device)
    return PAIR_WEIGHT * nn.functional.cross_entropy(model.pair(encode(model, items, device)[:, 0]), gold)


def find_spans(begin: np.ndarray, inside: np.ndarray) -> list[tuple[int, int, float]]:
    """Read spans off the probabilities of tags, each with its score: the mean chance that its tokens are in a fact.

    A token is in a span from a low chance on; one begins anew where beginning is likelier than going on.
    """
    spans: list[tuple[int, int, float]] = []
    start = None
    inner = begin + inside
    for n in range(len(begin) + 1):
        held = n < len(begin) and inner[n] >= TOKEN_MIN_CHANCE
        if start is not None and (not held or begin[n] > inside[n]):
            spans.append((start, n, float(inner[start:n].mean())))
            start = None
        if held and start is None:
            start = n
    return spans


@torch.no_grad()
def evaluate(model: Reader, examples: list[Example], pairs: list[Pair], device: str) -> dict[str, object]:
    """Return figures: facts found and kept by chance at several thresholds, labels, and pairs."""
    model.eval()
    curves: dict[float, Counter[str]] = {t: Counter() for t in THRESHOLDS}
    right: dict[str, list[bool]] = defaultdict(list)
    for start in range(0, len(examples), 256):
        items = examples[start : start + 256]
        hidden = encode(model, items, device)
        tags = model.tag(hidden).softmax(-1).float().cpu().numpy()
        people = model.who(hidden).argmax(-1).tolist()
        for one, best in zip(items, people, strict=True):
            right["who"] += [got == gold for gold, got in zip(one.who, best, strict=False) if gold or got]
        for name, head in model.message.items():
            best = head(hidden[:, 0]).argmax(-1).tolist()
            right[name] += [one.labels[name] == got for one, got in zip(items, best, strict=True)]
        for n, one in enumerate(items):
            count_spans(one, tags[n], curves)
            for a, b, labels in one.spans:
                vector = torch.cat([hidden[n, a:b].mean(0), hidden[n, 0]])
                for name, head in model.span.items():
                    got = int(head(vector).argmax())
                    right[name].append(got == labels[name])
                    if name == "sens":
                        right["sensitivity not below"].append(got >= labels["sens"])
    report: dict[str, object] = {}
    for threshold, c in curves.items():
        report[f"facts at {threshold}"] = (
            f"precision {c['right'] / max(1, c['found']):.3f} recall {c['reached'] / max(1, c['gold']):.3f} "
            f"messages without facts kept {c['false messages'] / max(1, c['negatives']):.3f}"
        )
    report |= {name: f"{np.mean(values):.3f} of {len(values)}" for name, values in right.items()}
    return report | evaluate_pairs(model, pairs, device)


def count_spans(one: Example, tags: np.ndarray, curves: dict[float, Counter[str]]) -> None:
    """Count a span as right if half of it lies in facts, and a fact as found if most of it lies in spans."""
    own = [k for k, tag in enumerate(one.tags) if tag != -100]
    if not own:
        return
    first, last = own[0], own[-1] + 1
    stated = {k for a, b, _ in one.spans for k in range(a, b)}
    spans = find_spans(tags[first:last, 1], tags[first:last, 2])
    for threshold, counts in curves.items():
        found = [range(a + first, b + first) for a, b, score in spans if score >= threshold]
        covered = {k for span in found for k in span}
        counts["found"] += len(found)
        counts["right"] += sum(sum(k in stated for k in span) >= SPAN_MIN_SHARE * len(span) for span in found)
        counts["gold"] += len(one.spans)
        counts["reached"] += sum(
            sum(k in covered for k in range(a, b)) >= FACT_MIN_SHARE * (b - a) for a, b, _ in one.spans
        )
        counts["negatives"] += not one.spans
        counts["false messages"] += not one.spans and bool(found)


@torch.no_grad()
def evaluate_pairs(model: Reader, pairs: list[Pair], device: str) -> dict[str, object]:
    """Return how many pairs are right, and for each label what was answered."""
    confusion: Counter[tuple[str, str]] = Counter()
    for start in range(0, len(pairs), 256):
        chunk = pairs[start : start + 256]
        best = model.pair(encode(model, chunk, device)[:, 0]).argmax(-1).tolist()
        confusion.update((RELATIONS[one.label], RELATIONS[got]) for one, got in zip(chunk, best, strict=True))
    if not pairs:
        return {}
    same = sum(count for (gold, got), count in confusion.items() if gold == got)
    rows = {f"pair {gold}": {got: n for got in RELATIONS if (n := confusion[gold, got])} for gold in RELATIONS}
    return {"pairs": f"{same / len(pairs):.3f} of {len(pairs)}", **rows}


def train(options: argparse.Namespace) -> None:
    random.seed(options.seed)
    np.random.seed(options.seed)
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = load_tokenizer(options.vocabulary)
    learned = sorted(one.name for one in options.data.iterdir() if one.name not in options.test)
    rows = read_jsonl(options.data, learned, "messages")
    messages = [message_example(row, tokenizer) for row in rows]
    written = [pair_example(row, tokenizer) for row in read_jsonl(options.data, learned, "pairs")]
    derived = [pair_example(row, tokenizer) for row in derived_pairs(rows)] if options.derive else []
    model = Reader(options.base, tuple(options.layers)).to(device)
    steps = options.epochs * (len(messages) // options.batch + 1)
    heads = [p for name, p in model.named_parameters() if not name.startswith("encoder.")]
    optimizer = torch.optim.AdamW(
        [{"params": model.encoder.parameters(), "lr": options.rate}, {"params": heads, "lr": options.rate * 10}],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (0.1 * steps)) * max(0.02, 1 - step / steps)
    )
    started = time.time()
    for epoch in range(options.epochs):
        model.train()
        random.shuffle(messages)
        pairs = written + random.sample(derived, min(len(derived), int(options.derive * len(written))))
        random.shuffle(pairs)
        total = 0.0
        count = len(messages) // options.batch + 1
        for number in range(count):
            batch = messages[number * options.batch : (number + 1) * options.batch]
            share = pairs[number * len(pairs) // count : (number + 1) * len(pairs) // count]
            loss = torch.zeros((), device=device)
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                if batch:
                    loss = loss + message_loss(model, batch, device, options.smooth)
                if share:
                    loss = loss + pair_loss(model, share, device)
            if not loss.requires_grad:
                continue
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += float(loss)
        print(f"[{time.time() - started:6.1f} s] epoch {epoch + 1}: loss {total / count:.3f}", flush=True)
    for writer in options.test:
        held = [message_example(row, tokenizer) for row in read_jsonl(options.data, [writer], "messages")]
        held_pairs = [pair_example(row, tokenizer) for row in read_jsonl(options.data, [writer], "pairs")]
        print(f"== {writer}: {len(held)} messages, {len(held_pairs)} pairs; trained on {len(messages)}, {len(written)}")
        for name, value in evaluate(model, held, held_pairs, device).items():
            print(f"{name:24} {value}")
    if options.out:
        save(model, options.out, options.layers)


def save(model: Reader, folder: Path, layers: list[int]) -> None:
    """Write the weights as int8 with a scale for each row, the table of tokens in a file of its own."""
    table: dict[str, np.ndarray] = {}
    rest: dict[str, np.ndarray] = {"layers": np.array(len(layers))}
    for name, value in model.state_dict().items():
        array = value.detach().float().cpu().numpy()
        arrays = table if name == WORDS else rest
        if array.ndim == 2 and min(array.shape) > 64:
            scale = np.maximum(np.abs(array).max(1, keepdims=True), 1e-12) / 127
            arrays[f"{name}|q"] = np.clip(np.round(array / scale), -127, 127).astype(np.int8)
            arrays[f"{name}|s"] = scale.astype(np.float32)
        elif "position_ids" not in name:
            arrays[name] = array.astype(np.float32)
    folder.mkdir(parents=True, exist_ok=True)
    for name, arrays in (("words", table), ("layers", rest)):
        path = folder / f"{name}.npz"
        np.savez(path, **arrays)
        print(json.dumps({"file": path.name, "bytes": path.stat().st_size, "sha256": digest(path)}))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--smooth", type=float, default=0.1, help="label smoothing of the tags")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--test", nargs="*", default=["kirsi", "leo", "nils"])
    parser.add_argument("--layers", nargs="*", type=int, default=[0, 1, 2, 3, 4, 5])
    parser.add_argument("--derive", type=float, default=1.0, help="pairs made of messages, for each written one")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1.3e-4)
    parser.add_argument("--seed", type=int, default=7)
    train(parser.parse_args())
