"""After it was closed a memory is closed, for every view of it, on every database."""

import pytest

import tacit
from tests.contract.rooms import ALICE, private


def test_a_view_of_a_memory_that_was_closed_says_so(database_url: str) -> None:
    memory = tacit.open(database_url, embedder=None)
    view = private(memory, ALICE)
    view.remember("Alice drinks green tea")
    steps = view.checkpoints.steps
    memory.close()
    memory.close()
    for use in (
        lambda: view.remember("Alice drinks coffee"),
        lambda: view.recall("tea"),
        view.list,
        lambda: steps.find("trip"),
        memory.admin.stats,
    ):
        with pytest.raises(tacit.StoreUnavailable, match="was closed; open it again"):
            use()
