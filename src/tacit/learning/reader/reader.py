"""Read a message with the trained reader: which words state a fact, and what kind of fact it is."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from tacit import limits
from tacit.errors import LanguageFailed
from tacit.learning.reader.network import Network, Rows, load_arrays
from tacit.learning.reader.wordpiece import WordPieceTokenizer

# The labels in the order of the heads. The training code has the same lists; a test compares them.
KINDS = ("identity", "preference", "instruction", "relationship", "knowledge", "context", "event", "task")
ABOUT = ("me", "us", "group", "other", "thing")
SENSITIVITIES = ("public", "personal", "sensitive")
LASTS = ("stays", "while", "once")
CHANGES = ("none", "fix", "change", "end")
SLOTS = (
    *("none", "name", "pronouns", "age", "birthday", "home", "address", "origin", "nationality", "employer", "job"),
    *("school", "partner", "status", "boss", "phone", "email", "timezone", "diet", "language", "car", "device"),
    *("height", "weight", "size", "pay"),
)
SPAN_HEADS = {"kind": KINDS, "about": ABOUT, "sens": SENSITIVITIES, "lasts": LASTS, "change": CHANGES, "slot": SLOTS}
RESTS = (
    *("none", "question", "chat", "order", "hypothetical", "joke", "quote", "paste", "injection", "general", "moment"),
    *("secret", "off"),
)
HOLDS = ("none", "names", "private", "room")
MESSAGE_HEADS = {"rest": RESTS, "ask": ("no", "yes"), "hold": HOLDS}
RELATIONS = ("repeats", "refines", "replaces", "ends", "coexists", "unrelated")

_WEIGHTS_SHA256 = {
    "words": "e1ef16d267581032d87170841e8fd6b522ec80c93e72afb85960bc9c4def44e9",
    "layers": "1a14c6441800868881e2083835ba91592883c3e5dd57e2746406890b24304d13",
}
_BEFORE_MAX_TOKENS = 40
_WINDOW_MAX_TOKENS = 192
_PAIR_SIDE_MAX_TOKENS = 80
_TOKEN_MIN_CHANCE = 0.4  # of being in a fact, for a token of a span
_SENTENCE_ENDS = frozenset(".!?;")
_LOG = logging.getLogger(__name__)
_LETTERS = re.compile(r"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSpan:
    """Words of a message that state a fact, with what the reader takes them for."""

    start: int
    end: int
    score: float  # how sure the reader is that they are worth keeping, from 0 to 1
    chances: dict[str, dict[str, float]]  # of each label of each head
    who: str | None  # the words that name the person whom it is about, where it is another person

    def best(self, head: str) -> str:
        chances = self.chances[head]
        return max(chances, key=chances.__getitem__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReading:
    """What the reader takes a message for: its facts, and what it is as a whole."""

    spans: tuple[ReadSpan, ...]
    chances: dict[str, dict[str, float]]  # of each label of each head, for the message as a whole
    pieces: tuple[tuple[int, int, float], ...]  # of the message, each with its chance of being in a fact

    def chance_of(self, start: int, end: int) -> float | None:
        """Return the mean chance that the words from `start` to `end` state a fact; None where they were not read."""
        found = [chance for first, last, chance in self.pieces if first < end and last > start]
        return sum(found) / len(found) if found else None


@dataclass(frozen=True, slots=True)
class _Window:
    """A stretch of a message that is read at once, with what stands before it."""

    ids: list[int]
    segments: list[int]
    first: int  # the first token of the stretch
    places: list[tuple[int, int]]  # of its tokens, in the message


class TrainedReader:
    """The reader and the pair judge, which share one encoder."""

    def __init__(self, folder: Path) -> None:
        arrays = {name: load_arrays(folder / f"{name}.npz", digest) for name, digest in _WEIGHTS_SHA256.items()}
        self._network = Network(arrays["words"], arrays["layers"])
        vocabulary = (resources.files("tacit.embeddings") / "data" / "wordpiece.txt").read_text("utf-8")
        numbers = {piece: number for number, piece in enumerate(vocabulary.removesuffix("\n").split("\n"))}
        self._tokenizer = WordPieceTokenizer(numbers)
        self._open, self._close = numbers["[CLS]"], numbers["[SEP]"]

    def read(self, text: str, before: str = "") -> MessageReading:
        """Read a message. `before` is what was said to the person just before it."""
        windows = self._windows(text, before)
        hidden = self._network.encode([one.ids for one in windows], [one.segments for one in windows])
        spans: list[ReadSpan] = []
        pieces: list[tuple[int, int, float]] = []
        for one, rows in zip(windows, hidden, strict=True):
            tags = self._network.head("tag", rows[one.first : one.first + len(one.places)])
            spans += self._spans(text, one, rows, tags)
            inner = (tags[:, 1] + tags[:, 2]).tolist()
            pieces += [(*place, chance) for place, chance in zip(one.places, inner, strict=True)]
        whole = np.stack([rows[0] for rows in hidden])
        chances = {}
        for name, labels in MESSAGE_HEADS.items():
            # A long message is as sure of a label as its surest part; that it has facts, the spans say.
            found = self._network.head(f"message.{name}", whole)
            chances[name] = dict(zip(labels, found.max(0).tolist(), strict=True))
        return MessageReading(spans=tuple(spans), chances=chances, pieces=tuple(pieces))

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
        """Return for each pair of a known and a new sentence the chance of each relation between them."""
        if not pairs:
            return []
        ids, segments = [], []
        for known, new in pairs:
            one = self._tokenizer.tokenize(known).ids[:_PAIR_SIDE_MAX_TOKENS]
            other = self._tokenizer.tokenize(new).ids[:_PAIR_SIDE_MAX_TOKENS]
            ids.append([self._open, *one, self._close, *other, self._close])
            segments.append([0] * (len(one) + 2) + [1] * (len(other) + 1))
        hidden = self._network.encode(ids, segments)
        found = self._network.head("pair", np.stack([rows[0] for rows in hidden]))
        return [dict(zip(RELATIONS, row, strict=True)) for row in found.tolist()]

    def _windows(self, text: str, before: str) -> list[_Window]:
        """Cut a message into stretches that fit, at the ends of sentences as far as there are any."""
        own = self._tokenizer.tokenize(text)
        count = min(len(own.ids), limits.READ_MAX_TOKENS)
        lead = self._tokenizer.tokenize(before[-limits.READ_BEFORE_MAX_CHARS :]).ids[-_BEFORE_MAX_TOKENS:]
        windows: list[_Window] = []
        start = 0
        while start < count or not windows:
            head = [self._open, *lead, self._close]
            stop = min(count, start + _WINDOW_MAX_TOKENS - len(head) - 1)
            if stop < count:
                ends = (
                    n for n in range(stop, start + (stop - start) // 2, -1) if text[own.places[n - 1][0]] in ".!?;\n"
                )
                stop = next(ends, stop)
            ids = own.ids[start:stop]
            windows.append(
                _Window(
                    ids=[*head, *ids, self._close],
                    segments=[0] * len(head) + [1] * (len(ids) + 1),
                    first=len(head),
                    places=own.places[start:stop],
                )
            )
            lead = own.ids[max(start, stop - _BEFORE_MAX_TOKENS) : stop]
            start = stop
            if start == count:
                break
        return windows

    def _spans(self, text: str, window: _Window, rows: Rows, tags: Rows) -> list[ReadSpan]:
        inner = rows[window.first : window.first + len(window.places)]
        if not len(inner):
            return []
        named = self._network.head("who", inner)[:, 1]
        found = []
        for start, stop, score in find_spans(tags[:, 1], tags[:, 2]):
            first, last = _whole_words(text, window.places[start][0], window.places[stop - 1][1])
            if _LETTERS.search(text, first, last) is None:
                continue
            vector = np.concatenate([inner[start:stop].mean(0), rows[0]])[None]
            chances = {
                name: dict(zip(labels, self._network.head(f"span.{name}", vector)[0].tolist(), strict=True))
                for name, labels in SPAN_HEADS.items()
            }
            who = _named(text, window, named, start, stop)
            found.append(ReadSpan(start=first, end=last, score=score, chances=chances, who=who))
        return found


def find_spans(begin: Rows, inside: Rows) -> list[tuple[int, int, float]]:
    """Read spans off the chances of tags, each with its score: the mean chance that its tokens are in a fact.

    A token is in a span from a low chance on; one begins anew where beginning is likelier than going on.
    """
    spans: list[tuple[int, int, float]] = []
    start = None
    inner = begin + inside
    for n in range(len(begin) + 1):
        held = n < len(begin) and inner[n] >= _TOKEN_MIN_CHANCE
        if start is not None and (not held or begin[n] > inside[n]):
            spans.append((start, n, float(inner[start:n].mean())))
            start = None
        if held and start is None:
            start = n
    return spans


def _named(text: str, window: _Window, chances: Rows, start: int, stop: int) -> str | None:
    """Return the words that name a person: within the span, else the nearest before it."""
    marked = [n for n in range(stop) if chances[n] >= 0.5]
    inside = [n for n in marked if n >= start]
    if inside:
        chosen = [n for n in inside if n - inside[0] == inside.index(n)]
    elif marked:
        chosen = [n for n in marked if marked[-1] - n == len(marked) - 1 - marked.index(n)]
    else:
        return None
    first, last = _whole_words(text, window.places[chosen[0]][0], window.places[chosen[-1]][1])
    return text[first:last]


def _whole_words(text: str, first: int, last: int) -> tuple[int, int]:
    """Widen a stretch that begins or ends within a word."""
    while first > 0 and text[first].isalnum() and text[first - 1].isalnum():
        first -= 1
    while last < len(text) and text[last].isalnum() and text[last - 1].isalnum():
        last += 1
    return first, last


_loaded: list[TrainedReader | LanguageFailed] = []
_loading = threading.Lock()


def load_reader() -> TrainedReader:
    """Return the reader of the process; loading takes a moment and 70 MB. Raises LanguageFailed if that failed."""
    with _loading:
        if not _loaded:
            try:
                _loaded.append(TrainedReader(Path(__file__).with_name("weights")))
            except LanguageFailed as error:
                _LOG.error("The trained reader cannot be used, and only plain sentences are understood: %s", error)
                _loaded.append(error)
    if isinstance(_loaded[0], LanguageFailed):
        raise _loaded[0]
    return _loaded[0]
