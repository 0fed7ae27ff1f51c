"""Making the vectors that are missing in a space, some at a time."""

from __future__ import annotations

from sqlalchemy import Connection

from tacit import limits
from tacit.embeddings.embedder import Embedder
from tacit.lifecycle.progress import Progress, Save, Work
from tacit.storage.store import Store
from tacit.storage.vectors import (
    begin_embedding_check,
    finish_embedding_check,
    has_all_vectors,
    list_unembedded,
    save_vectors,
)


def reembedding(store: Store, embedder: Embedder) -> Work:
    """The same as `recall/indexing.py` does by itself when a memory is opened or something was
    written without a vector: for spaces that nobody opens, and models that did not answer."""
    database = store.database

    def step(space: str, before: Progress, save: Save) -> Progress:
        model = embedder.name
        if before.cursor is None:
            with database.read() as connection:
                if has_all_vectors(connection, space, model):
                    return before.advance(None, embedded=0)
            database.write(lambda c: begin_embedding_check(c, database.dialect, space, model))
        with database.read() as connection:
            after = before.cursor or ""
            some = list_unembedded(connection, space, model, after, limits.EMBEDDING_BATCH_COUNT)
        vectors = embedder.embed([one.text for one in some]) if some else ()
        made = [(one, row.tobytes()) for one, row in zip(some, vectors, strict=True)]

        def work(connection: Connection) -> Progress:
            if made:
                count = save_vectors(connection, database.dialect, space, model, made)
                done = before.advance(some[-1].id, embedded=count)
            else:
                # Whoever wrote without a vector meanwhile has woken the indexing.
                finish_embedding_check(connection, space, model, store.clock())
                done = before.advance(None, embedded=0)
            save(connection, done)
            return done

        return database.write(work)

    return step
