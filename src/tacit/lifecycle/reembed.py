"""Making the vectors that are missing in a space, some at a time."""

from __future__ import annotations

from sqlalchemy import Connection

from tacit import limits
from tacit.embeddings.embedder import Embedder
from tacit.lifecycle.progress import Progress, Save, Work
from tacit.store import missing
from tacit.store.core import Store


def reembedding(store: Store, embedder: Embedder) -> Work:
    """The same as `recall/indexing.py` does by itself when a memory is opened or something was
    written without a vector: for spaces that nobody opens, and models that did not answer."""
    database = store.database

    def step(space: str, before: Progress, save: Save) -> Progress:
        model = embedder.name
        if before.cursor is None:
            with database.read() as connection:
                if missing.is_complete(connection, space, model):
                    return before.advance(None, embedded=0)
            database.write(lambda c: missing.look(c, database.dialect, space, model))
        with database.read() as connection:
            after = before.cursor or ""
            some = missing.page(connection, space, model, after, limits.EMBEDDING_BATCH_COUNT)
        vectors = embedder.embed([one.text for one in some]) if some else ()
        made = [(one, row.tobytes()) for one, row in zip(some, vectors, strict=True)]

        def work(connection: Connection) -> Progress:
            if made:
                count = missing.keep(connection, database.dialect, space, model, made)
                done = before.advance(some[-1].id, embedded=count)
            else:
                # Whoever wrote without a vector meanwhile has woken the indexing.
                missing.settle(connection, space, model, store.clock())
                done = before.advance(None, embedded=0)
            save(connection, done)
            return done

        return database.write(work)

    return step
