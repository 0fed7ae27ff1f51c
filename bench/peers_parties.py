"""The memory systems that are compared, ours and theirs, behind the same three acts."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

import tacit
from bench.sentences import asked, said
from bench.vectors import Precomputed, Vectors, word_vectors
from tacit.settings import Settings
from tacit.settings.sections import DbSettings, SqliteSettings

TOP = 10
_CHILD = Path(__file__).resolve().parent / "peers_child.py"
_FIRST_USER = 9_000

Times = list[float]


class PeerStopped(Exception):
    """A system of somebody else's could not go on; the message is the last it said."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Item n and question n are user n % users'."""

    items: Sequence[str]
    questions: Sequence[str]
    users: int
    vectors: Vectors  # of the items, then of the questions

    @classmethod
    def made(cls, items: int, questions: int, users: int) -> Corpus:
        told, wondered = list(islice(said(), items)), list(islice(asked(), questions))
        return cls(told, wondered, users, word_vectors([*told, *wondered]))

    def save(self, folder: Path) -> None:
        """As the children read it."""
        about = {"items": self.items, "questions": self.questions, "users": self.users}
        (folder / "corpus.json").write_text(json.dumps(about))
        np.save(folder / "vectors.npy", self.vectors)


class Party(Protocol):
    name: str

    def fill(self, start: int, stop: int) -> float:
        """Items from … to …; the seconds it took."""

    def search(self, questions: Sequence[int]) -> tuple[Times, list[int]]:
        """How long each took, and how many it found."""

    def write(self, pairs: Sequence[tuple[int, int]]) -> tuple[Times, Times]:
        """One item each, and then one question of the same user: how long each took."""

    def close(self) -> None: ...


@dataclass(slots=True)
class Ours:
    """Tacit on one database: every user in a private chat of their own."""

    name: str
    url: str
    corpus: Corpus
    settings: Settings | None = None
    memory: tacit.Memory = field(init=False)

    def __post_init__(self) -> None:
        texts = [*self.corpus.items, *self.corpus.questions]
        embedder = Precomputed(texts, self.corpus.vectors)
        self.memory = tacit.open(self.url, settings=self.settings, embedder=embedder)

    def fill(self, start: int, stop: int) -> float:
        begun = time.perf_counter()
        for n in range(start, stop):
            self._write(n)
        return time.perf_counter() - begun

    def search(self, questions: Sequence[int]) -> tuple[Times, list[int]]:
        both = [_timed(self._search, n) for n in questions]
        return [seconds for seconds, _ in both], [found for _, found in both]

    def write(self, pairs: Sequence[tuple[int, int]]) -> tuple[Times, Times]:
        both = [(_timed(self._write, n)[0], _timed(self._search, q)[0]) for n, q in pairs]
        return [written for written, _ in both], [searched for _, searched in both]

    def close(self) -> None:
        self.memory.close()

    def _view(self, n: int) -> tacit.View:
        """Made for every act, as an application does for every message."""
        key = f"telegram:{_FIRST_USER + n % self.corpus.users}"
        return self.memory.view(tacit.Requester(key), tacit.Chat.private(key))

    def _write(self, n: int) -> int:
        return self._view(n).remember(self.corpus.items[n]).version

    def _search(self, question: int) -> int:
        return len(self._view(question).recall(self.corpus.questions[question], top_k=TOP))


class OursInFull:
    """The same file, copied when it is full, with commits that also survive a power cut.

    Only for writes: searches would be those of the original.
    """

    def __init__(self, name: str, original: Path, copy: Path, corpus: Corpus) -> None:
        self.name = name
        self._original, self._copy, self._corpus = original, copy, corpus
        self._ours: Ours | None = None

    def fill(self, _start: int, _stop: int) -> float:
        self.close()
        begun = time.perf_counter()
        for left in self._copy.parent.glob(self._copy.name + "*"):
            left.unlink()
        source, target = sqlite3.connect(self._original), sqlite3.connect(self._copy)
        source.backup(target)
        source.close()
        target.close()
        chosen = Settings(db=DbSettings(sqlite=SqliteSettings(synchronous="full")))
        self._ours = Ours(self.name, f"sqlite:///{self._copy}", self._corpus, chosen)
        return time.perf_counter() - begun

    def search(self, _questions: Sequence[int]) -> tuple[Times, list[int]]:
        return [], []

    def write(self, pairs: Sequence[tuple[int, int]]) -> tuple[Times, Times]:
        assert self._ours is not None, "filled before it is written to"
        return self._ours.write(pairs)[0], []

    def close(self) -> None:
        if self._ours is not None:
            self._ours.close()


class Theirs:
    """A child process in the others' environment, told what to do line by line."""

    def __init__(self, name: str, system: str, python: Path, folder: Path, url: str, *, durable: bool = True) -> None:
        self.name, self._durable = name, durable
        self._errors = folder / f"{system}.errors"
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [python, _CHILD, folder, system, url],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._answer()

    def fill(self, start: int, stop: int) -> float:
        found: float = self._told({"do": "fill", "items": [start, stop]})["seconds"]
        return found

    def search(self, questions: Sequence[int]) -> tuple[Times, list[int]]:
        told = self._told({"do": "search", "questions": list(questions)})
        return told["searches"], told["found"]

    def write(self, pairs: Sequence[tuple[int, int]]) -> tuple[Times, Times]:
        told = self._told({"do": "write", "writes": list(pairs)})
        return (told["writes"] if self._durable else []), told["searches"]

    def close(self) -> None:
        # Without stdin it ends by itself, and closes what it has open.
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _told(self, command: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._stopped()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._stopped()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _stopped(self) -> NoReturn:
        said_last = self._errors.read_text(errors="replace").strip().splitlines() or ["nothing"]
        raise PeerStopped(said_last[-1])


def _timed(act: Callable[[int], int], number: int) -> tuple[float, int]:
    start = time.perf_counter()
    found = act(number)
    return time.perf_counter() - start, found
