"""One memory system of somebody else's, in an environment of its own, measured on command.

Started by bench/peers.py with the folder of the corpus, the system's name and a database URL. Each
line of standard input is a command in JSON; each is answered with one line of JSON. Nothing of
ours is imported here: this interpreter does not have it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import numpy as np

TOP = 10
_BATCH_COUNT = 500
Answer = dict[str, Any]


class Corpus:
    """Texts, their vectors and whose they are: item n and question n are user n % users'."""

    def __init__(self, folder: Path) -> None:
        about = json.loads((folder / "corpus.json").read_text())
        self.items: list[str] = about["items"]
        self.questions: list[str] = about["questions"]
        self._users: int = about["users"]
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        self._rows = {text: vectors[n] for n, text in enumerate(self.items + self.questions)}
        self._lists: dict[str, list[float]] = {}

    def user(self, n: int) -> str:
        return f"user-{n % self._users:03}"

    def prepare(self, texts: Sequence[str]) -> None:
        """As lists of numbers, which is how all of these take vectors, before anything is timed."""
        self._lists = {text: self._rows[text].tolist() for text in texts}

    def vector(self, text: str) -> list[float]:
        found: list[float] = self._lists.get(text) or self._rows[text].tolist()
        return found

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.vector(text) for text in texts]

    @property
    def dimension(self) -> int:
        return len(self._rows[self.items[0]])


class System(Protocol):
    def fill(self, numbers: Sequence[int]) -> None: ...

    def write(self, number: int) -> None:
        """One item, kept when this returns."""

    def search(self, question: int) -> int:
        """The nearest of the user's own; how many were found."""


class LangGraph:
    """Any of LangGraph's stores: a namespace for each user."""

    def __init__(self, store: Any, corpus: Corpus) -> None:
        self._store, self._corpus = store, corpus
        self._put: Any = importlib.import_module("langgraph.store.base").PutOp

    def fill(self, numbers: Sequence[int]) -> None:
        for start in range(0, len(numbers), _BATCH_COUNT):
            self._store.batch(
                [
                    self._put((self._corpus.user(n),), str(n), {"text": self._corpus.items[n]})
                    for n in numbers[start : start + _BATCH_COUNT]
                ]
            )

    def write(self, number: int) -> None:
        text = self._corpus.items[number]
        self._store.put((self._corpus.user(number),), str(number), {"text": text})

    def search(self, question: int) -> int:
        space = (self._corpus.user(question),)
        found = self._store.search(space, query=self._corpus.questions[question], limit=TOP)
        if any(item.namespace != space for item in found):
            raise RuntimeError("the store answered with another user's items")
        return len(found)


class Chroma:
    """A collection on the disk, filtered by the user in the metadata."""

    def __init__(self, folder: Path, corpus: Corpus) -> None:
        chromadb: Any = importlib.import_module("chromadb")
        quiet = chromadb.config.Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(path=str(folder), settings=quiet)
        self._items = client.create_collection(
            "items", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        self._corpus = corpus

    def fill(self, numbers: Sequence[int]) -> None:
        for start in range(0, len(numbers), _BATCH_COUNT):
            self._add(numbers[start : start + _BATCH_COUNT])

    def write(self, number: int) -> None:
        self._add([number])

    def search(self, question: int) -> int:
        user = self._corpus.user(question)
        found = self._items.query(
            query_embeddings=[self._corpus.vector(self._corpus.questions[question])],
            n_results=TOP,
            where={"user": user},
        )
        if any(about["user"] != user for about in found["metadatas"][0]):
            raise RuntimeError("the collection answered with another user's items")
        return len(found["ids"][0])

    def _add(self, numbers: Sequence[int]) -> None:
        texts = [self._corpus.items[n] for n in numbers]
        self._items.add(
            ids=[str(n) for n in numbers],
            embeddings=self._corpus.embed(texts),
            documents=texts,
            metadatas=[{"user": self._corpus.user(n)} for n in numbers],
        )


def opened(name: str, folder: Path, url: str, corpus: Corpus, stack: ExitStack) -> System:
    if name == "chromadb":
        return Chroma(folder / "chromadb", corpus)
    # Their SQLite store reads `text_fields` and the others `fields`.
    fields = {"fields": ["text"], "text_fields": ["text"]}
    index: Any = {"dims": corpus.dimension, "embed": corpus.embed, **fields}
    if name == "memory":
        stores: Any = importlib.import_module("langgraph.store.memory")
        return LangGraph(stores.InMemoryStore(index=index), corpus)
    if name == "sqlite":
        stores = importlib.import_module("langgraph.store.sqlite")
        opening = stores.SqliteStore.from_conn_string(str(folder / "langgraph.db"), index=index)
    elif name in ("postgres", "postgres-exact"):
        stores = importlib.import_module("langgraph.store.postgres")
        if name == "postgres-exact":
            index["ann_index_config"] = {"kind": "flat"}
        opening = stores.PostgresStore.from_conn_string(url, index=index)
    else:
        raise ValueError(f"no system is called {name}")
    store = stack.enter_context(opening)
    store.setup()
    return LangGraph(store, corpus)


def timed(act: Callable[[int], object], number: int) -> tuple[float, object]:
    start = time.perf_counter()
    found = act(number)
    return time.perf_counter() - start, found


def obey(system: System, corpus: Corpus, command: Answer) -> Answer:
    """`fill`: items from … to …; `search`: questions; `write`: items, each with a search after."""
    if command["do"] == "fill":
        return {"seconds": timed(lambda _: system.fill(range(*command["items"])), 0)[0]}
    if command["do"] == "search":
        corpus.prepare([corpus.questions[n] for n in command["questions"]])
        found = [timed(system.search, n) for n in command["questions"]]
        return {"searches": [seconds for seconds, _ in found], "found": [n for _, n in found]}
    corpus.prepare(
        [corpus.items[n] for n, _ in command["writes"]]
        + [corpus.questions[question] for _, question in command["writes"]]
    )
    pairs = [(timed(system.write, item)[0], timed(system.search, question)[0]) for item, question in command["writes"]]
    return {"writes": [write for write, _ in pairs], "searches": [search for _, search in pairs]}


def main(arguments: Sequence[str]) -> None:
    folder, name, url = Path(arguments[0]), arguments[1], arguments[2]
    # What a library prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    corpus = Corpus(folder)
    with ExitStack() as stack:
        system = opened(name, folder, url, corpus, stack)
        print(json.dumps({"ready": True}), file=answers, flush=True)
        for line in sys.stdin:
            print(json.dumps(obey(system, corpus, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
