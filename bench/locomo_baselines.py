"""What recall is measured against on LoCoMo: plain rankings of the same turns.

Each takes a conversation and gives, for every question, a score for every turn. They know nothing
of people or rooms; all are computed in the run that prints them.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bench.locomo_data import Conversation, Turn
from tacit.embeddings.embedder import Embedder

Scores = NDArray[np.float64]  # a row for each question, a column for each turn

_K1, _B = 0.9, 0.4
_FUSION = 60  # the constant of reciprocal-rank fusion
_STOP_WORDS = (
    "a about after all also am an and any are as at be because been before being between both but "
    "by can could did do does doing down during each few for from further had has have having he "
    "her here hers him his how i if in into is it its itself just me more most my no nor not of "
    "off on once only or other our out over own same she should so some such than that the their "
    "them then there these they this those through to too under until up very was we were what "
    "when where which while who whom why will with would you your"
)


def baselines(talk: Conversation, embedder: Embedder) -> dict[str, Scores]:
    """Every baseline by its name."""
    turns, asked = talk.turns, [question.text for question in talk.questions]
    said = [f"{turn.speaker}: {turn.text}" for turn in turns]
    dated = [f"{turn.at:%d %B %Y} {text}" for turn, text in zip(turns, said, strict=True)]
    windows = [" ".join(texts) for texts in _windows(turns, dated)]
    spoken = [" ".join(texts) for texts in _windows(turns, said)]
    words = plain_fts5(said, asked)
    questions = embedder.embed(asked)
    vectors = _cosine(questions, embedder.embed(said))
    bm25 = _scaled(porter_bm25(said, asked))
    around = _scaled(porter_bm25(dated, asked)) + _scaled(porter_bm25(windows, asked))
    meaning = vectors + _cosine(questions, embedder.embed(spoken))
    return {
        "FTS5 BM25 alone": words,
        "the same vectors alone": vectors,
        "reciprocal-rank fusion of the two": fused(words, vectors),
        "BM25 (Porter, k1 .9, b .4)": bm25,
        ".5 BM25/max + cosine": 0.5 * bm25 + vectors,
        "BM25 of dated turns + of windows": around,
        "those + .7 cosine of turns and windows": around + 0.7 * meaning,
    }


def top(scores: Scores, turns: Sequence[Turn], count: int) -> list[list[str]]:
    """The ids of each question's best turns, best first; earlier turns first among equals. A turn
    that scored nothing was not found."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    return [[turns[n].id for n in row if scores[question, n] > 0] for question, row in enumerate(order)]


def plain_fts5(texts: Sequence[str], asked: Sequence[str]) -> Scores:
    """SQLite's own ranking with its own settings: every word quoted, any of them will do."""
    found = np.zeros((len(asked), len(texts)))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE turns USING fts5(text)")
    rows = enumerate(texts)
    connection.executemany("INSERT INTO turns (rowid, text) VALUES (?, ?)", rows)
    for n, tokens in enumerate(_tokens(asked, "unicode61")):
        match = " OR ".join(f'"{token}"' for token in dict.fromkeys(tokens))
        if match:
            ranked = "SELECT rowid, -rank FROM turns WHERE turns MATCH ?"
            for turn, score in connection.execute(ranked, (match,)):
                # Common words may have a weight of nought or below: still found, though last.
                found[n, turn] = max(score, 1e-9)
    connection.close()
    return found


def porter_bm25(texts: Sequence[str], asked: Sequence[str]) -> Scores:
    """Stemmed, stop words removed, with the two parameters that were best before."""
    documents = [Counter(tokens) for tokens in _tokens(texts, "porter unicode61", _STOP_WORDS)]
    lengths = np.array([document.total() for document in documents], dtype=np.float64)
    spread = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()), 1.0))
    places: dict[str, tuple[list[int], list[int]]] = {}
    for n, document in enumerate(documents):
        for token, count in document.items():
            where, counts = places.setdefault(token, ([], []))
            where.append(n)
            counts.append(count)
    found = np.zeros((len(asked), len(texts)))
    for n, tokens in enumerate(_tokens(asked, "porter unicode61", _STOP_WORDS)):
        for token in dict.fromkeys(tokens):
            if token in places:
                where, counts = places[token]
                rarity = np.log(1 + (len(texts) - len(where) + 0.5) / (len(where) + 0.5))
                often = np.array(counts, dtype=np.float64)
                found[n, where] += rarity * often * (_K1 + 1) / (often + spread[where])
    return found


def fused(*rankings: Scores) -> Scores:
    """Reciprocal-rank fusion: by place alone, and only of what each ranking found."""
    found = np.zeros_like(rankings[0])
    for scores in rankings:
        order = np.argsort(-scores, axis=1, kind="stable")
        places = np.empty_like(order)
        np.put_along_axis(places, order, np.arange(scores.shape[1])[None, :], axis=1)
        found += np.where(scores > 0, 1 / (_FUSION + 1 + places), 0)
    return found


def _cosine(questions: NDArray[np.float32], texts: NDArray[np.float32]) -> Scores:
    """Moved up by one, so that whatever has a vector is found."""
    return (questions @ texts.T).astype(np.float64) + 1


def _scaled(scores: Scores) -> Scores:
    best = scores.max(axis=1, keepdims=True)
    return scores / np.where(best > 0, best, 1)


def _windows(turns: Sequence[Turn], texts: Sequence[str]) -> list[list[str]]:
    """Each turn with the one before and the one after it in its session."""
    return [
        [texts[near] for near in (n - 1, n, n + 1) if 0 <= near < len(turns) and turns[near].session == turn.session]
        for n, turn in enumerate(turns)
    ]


def _tokens(texts: Sequence[str], tokenizer: str, without: str = "") -> list[list[str]]:
    """As SQLite's own tokenizers see them: they know Porter's stems, so that we need not."""
    connection = sqlite3.connect(":memory:")
    stop = dict(_read(connection, "stops", [without], tokenizer))
    found: list[list[str]] = [[] for _ in texts]
    for term, doc in _read(connection, "texts", texts, tokenizer):
        if term not in stop:
            found[doc].append(term)
    connection.close()
    return found


def _read(connection: sqlite3.Connection, name: str, texts: Sequence[str], tokenizer: str) -> list[tuple[str, int]]:
    execute: Callable[..., sqlite3.Cursor] = connection.execute
    execute(f"CREATE VIRTUAL TABLE {name} USING fts5(text, tokenize = '{tokenizer}')")
    connection.executemany(f"INSERT INTO {name} (rowid, text) VALUES (?, ?)", enumerate(texts))
    execute(f"CREATE VIRTUAL TABLE {name}_terms USING fts5vocab('{name}', 'instance')")
    return execute(f"SELECT term, doc FROM {name}_terms ORDER BY doc, offset").fetchall()
