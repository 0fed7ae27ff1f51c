"""However many turns are recorded within one second, each has an id of its own."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tacit import Message
from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.conversations import KEEP, stored
from tests.contract.rooms import ALICE, BOB, kept, private

BATCH_COUNT, BATCHES_COUNT = 500, 10


def record(memory: Memory, number: int) -> list[str]:
    view = private(memory, (ALICE, BOB)[number % 2], thread=f"thread {number}")
    said = [Message("user", f"turn {number} {turn}") for turn in range(BATCH_COUNT)]
    return list(view.record(said).ids)


def test_thousands_of_turns_are_recorded_in_one_second(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=KEEP)  # its clock stands still
    ids = [id for number in range(BATCHES_COUNT) for id in record(memory, number)]
    assert len(set(ids)) == stored(memory) == BATCH_COUNT * BATCHES_COUNT


def test_turns_are_recorded_by_many_at_once(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url, settings=KEEP)
    with ThreadPoolExecutor(4) as pool:
        batches = list(pool.map(partial(record, memory), range(BATCHES_COUNT)))
    assert len({id for ids in batches for id in ids}) == BATCH_COUNT * BATCHES_COUNT
    kept(private(memory, ALICE), "Sarah likes tea")
