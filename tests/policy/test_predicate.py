"""The filter that databases apply allows exactly what `decide` allows; `decide`, what is written.

A sample of what `make disclosure-matrix` walks in full.
"""

from contextlib import closing

from tacit.storage.backend import DatabaseOptions, migrate_schema, open_database
from tacit.storage.store import Store
from tests.policy.cells import NOW
from tests.policy.matrix import GAPS, RULED, STATES, Tally, sample, walk
from tests.policy.stored import Dice, ask, fill

# In all, 100,000 cells; most where the rules that need the most to come together are.
DECIDED_CELLS = {RULED: 60_000, STATES: 20_000, GAPS: 20_000}
STORED_COUNT, REQUEST_COUNT = 500, 60


def test_a_sample_of_every_world_is_decided_as_the_rules_say() -> None:
    tally = Tally()
    for world, cells in DECIDED_CELLS.items():
        tally += walk(world, sample(world, cells))
    assert tally.cells >= sum(DECIDED_CELLS.values())
    assert not tally.mismatches, tally.mismatches[:3]
    assert not tally.unreached


def test_queries_return_what_decide_allows(database_url: str) -> None:
    database = open_database(database_url, DatabaseOptions())
    migrate_schema(database)
    with closing(Store(database, lambda: NOW)) as store:
        dice = Dice(20)
        kept = [dice.kept(number) for number in range(STORED_COUNT)]
        fill(store, kept)
        tally = ask(store, kept, [dice.request() for _ in range(REQUEST_COUNT)], seed=20)
    assert not tally.mismatches, tally.mismatches[:3]
    assert tally.cells >= 20_000
    # A comparison of nothing with nothing would agree too.
    assert tally.returned > STORED_COUNT
    assert tally.by_id > REQUEST_COUNT
    assert tally.glances > 0
    assert not tally.unreached
