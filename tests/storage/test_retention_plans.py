"""Sweeps and purges find what is due by indexes: none of them reads all memories of a space."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import tacit
from bench.crowd import Group, mixed, one_group, others
from bench.filling import Filling
from bench.plans import plans_of, recorded
from bench.sinks import open_sink
from tacit.settings import LearnSettings, LifecycleSettings, Settings
from tests.contract.rooms import ALICE, SetClock, kept, private

GROUP = Group("telegram:-50", tuple(range(2001, 2011)))
# By a range, behind the space: only as far as something is due. Or few rows, and all of them old.
DUE = re.compile(
    r"ix_memories_expires_at|ix_memories_decay|ix_memories_purge_at|ix_pair_checks_checked_at"
    r"|(?:SEARCH|SCAN|Seq Scan on) (?:clock_guard|declined_proposals|learning_days|proposals|pair_checks)\b"
    r"|clock_guard_pkey|declined_proposals_pkey|learning_days_pkey|proposals_pkey|pair_checks_pkey"
    r"|ix_proposals_\w+|thread ?> ?|thread_revisions_pkey|owner ?> ?"
)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "postgres":
        yield request.getfixturevalue("migrated_postgres_url")
    else:
        yield f"sqlite:///{tmp_path / 'tacit.db'}"


def test_no_sweep_and_no_purge_reads_a_whole_space(url: str) -> None:
    clock = SetClock()
    settings = Settings(learn=LearnSettings(workers=0), lifecycle=LifecycleSettings(max_entries=1_000))
    with tacit.open(url, clock=clock, settings=settings, embedder=None) as memory:
        kept(private(memory, ALICE), "Alice likes tea")  # makes the space
        memory.jobs.expire()
    filling = Filling(open_sink(url))
    filling.add(mixed((600, one_group(GROUP, 60)), (3_000, others(3_000, 600))))
    filling.close()
    wide: list[str] = []
    with tacit.open(url, clock=clock, settings=settings, embedder=None) as memory:
        alice = private(memory, ALICE)
        for n in range(5):
            kept(alice, f"Alice saw {n} boats", kind="context")
            alice.forget(kept(alice, f"Alice saw {n} birds"))
        for _ in range(6):
            clock.forward(days=6)
            with recorded(memory) as ran:
                memory.jobs.expire()
                memory.jobs.purge()
            with closing(plans_of(url)) as plans:
                for statement in ran:
                    if "FROM events" in statement.sql:
                        continue  # not the sweep's own: what happened is written on the way
                    if statement.sql.startswith(("SELECT", "WITH")):
                        wide += plans.too_wide(statement)
    unexpected = {step for step in wide if not DUE.search(step)}
    assert unexpected == set()
    assert any("ix_memories_decay" in step for step in wide)  # they were looked at
    assert any("ix_memories_purge_at" in step for step in wide)
