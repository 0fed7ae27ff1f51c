"""The inbox: what a channel brings is kept once, in order, until it is done, and then no longer."""

import re
import threading
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import select

import tacit
from bench.plans import plans_of, recorded
from tacit import Update, limits
from tacit.memory import Memory
from tacit.settings import JobsSettings, Settings
from tacit.storage.schema import updates
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, TEAM, SetClock, private
from tests.contract.traces import ERASE_ALL

BOT = "telegram"
WORD = "zqpayloadz"
BY_HAND = Settings(jobs=JobsSettings(on_open=False))


def brought(*ids: int, person: str | None = ALICE.key, chat: str = ALICE.key) -> list[Update]:
    return [Update(f"{id}", chat, f'{{"text": "{WORD} {id}"}}', person) for id in ids]


def ids(memory: Memory, **narrowing: int) -> list[int]:
    return [int(one.id) for one in memory.inbox.pending(BOT, **narrowing)]


def kept(memory: Memory) -> list[dict[str, Any]]:
    with memory._storage.database.read() as connection:
        rows = connection.execute(select(updates).order_by(updates.c.seq))
        return [dict(row._mapping) for row in rows]


def test_what_is_brought_again_is_known_whether_or_not_it_is_done(memory: Memory) -> None:
    assert memory.inbox.add(BOT, brought(1, 2, 2)) == 2
    assert memory.inbox.add(BOT, brought(2, 3)) == 1
    memory.inbox.complete(BOT, "2")
    assert memory.inbox.add(BOT, brought(1, 2, 3)) == 0
    assert ids(memory) == [1, 3]
    assert memory.inbox.add("slack", brought(1)) == 1  # another channel has its own numbers
    assert memory.space("other").inbox.add(BOT, brought(1)) == 1


def test_it_comes_back_as_it_came_and_in_order(memory: Memory, clock: SetClock) -> None:
    memory.inbox.add(BOT, brought(9, 4))
    clock.forward(seconds=-3_600)  # a clock that is set back moves nothing before what was there
    memory.inbox.add(BOT, brought(7, person=None, chat=TEAM))
    memory.inbox.add(BOT, brought(1))
    assert ids(memory) == [9, 4, 7, 1]
    first, second = memory.inbox.pending(BOT, limit=2)
    assert (first.chat, first.payload, first.attempts) == (ALICE.key, f'{{"text": "{WORD} 9"}}', 0)
    assert ids(memory, after=second.seq) == [7, 1]
    assert ids(memory, after=second.seq, limit=1) == [7]
    last = memory.inbox.pending(BOT)[-1].seq
    for id in (9, 4, 7, 1):
        memory.inbox.complete(BOT, f"{id}")
    memory.inbox.add(BOT, brought(2))
    assert ids(memory, after=last) == [2]  # numbers go on when nothing waits


def test_of_what_is_done_nothing_stays_but_its_id(memory: Memory) -> None:
    memory.inbox.add(BOT, brought(1))
    for _ in range(2):
        memory.inbox.complete(BOT, "1")
    (row,) = kept(memory)
    assert (row["update_id"], row["payload"], row["person"], row["chat"]) == ("1", "", None, None)
    assert not memory.inbox.fail(BOT, "1")
    memory.inbox.complete(BOT, "nobody's")
    assert len(kept(memory)) == 1


def test_what_fails_is_tried_again_until_it_is_set_aside(memory: Memory) -> None:
    memory.inbox.add(BOT, brought(1, 2))
    tries = [memory.inbox.fail(BOT, "1") for _ in range(limits.UPDATE_ATTEMPTS_MAX_COUNT - 1)]
    assert set(tries) == {True}
    assert memory.inbox.pending(BOT)[0].attempts == len(tries)
    assert not memory.inbox.fail(BOT, "1")
    assert ids(memory) == [2]
    assert not memory.inbox.fail(BOT, "1")
    assert memory.inbox.add(BOT, brought(1)) == 0


def test_the_sweep_forgets_what_is_done_in_two_days_and_what_was_set_aside_in_seven(
    database_url: str, opened: Open, clock: SetClock
) -> None:
    memory = opened(database_url, settings=BY_HAND)
    memory.inbox.add(BOT, brought(1, 2, 3))
    memory.jobs.expire()
    clock.forward(days=1)
    memory.inbox.complete(BOT, "1")
    while memory.inbox.fail(BOT, "2"):
        pass
    known: list[list[str]] = []
    for days in (1.5, 1, 4, 1):
        clock.forward(days=days)
        memory.jobs.expire()
        known.append([row["update_id"] for row in kept(memory)])
    assert known == [["1", "2", "3"], ["2", "3"], ["2", "3"], ["3"]]
    assert ids(memory) == [3]  # what nobody has done yet waits


@pytest.mark.parametrize("how", [*ERASE_ALL, "source"])
def test_what_somebody_sent_goes_with_what_is_theirs(database_url: str, opened: Open, how: str) -> None:
    memory = opened(database_url)
    alice = private(memory, ALICE)
    alice.remember("I like tea")
    memory.admin.link("slack:T1:U1", "acct:alice")
    memory.admin.link(ALICE.key, "acct:alice")
    memory.inbox.add(BOT, brought(1))
    memory.inbox.add(BOT, brought(2, person="slack:T1:U1", chat=TEAM))
    memory.inbox.add(BOT, brought(3, person=None))  # from her private chat, whoever it was
    memory.inbox.add(BOT, brought(4, person=BOB.key, chat=TEAM))
    left = {"space": [], "source": [1, 3]}.get(how, [4])
    _ = memory.operator("root").erase_source(TEAM) if how == "source" else ERASE_ALL[how](memory)
    assert ids(memory) == left
    assert sum(WORD in row["payload"] for row in kept(memory)) == len(left)
    told = {row["person"] for row in kept(memory)} - {None}
    assert how == "source" or told <= {f"ext:{BOB.key}"}
    if how != "space":  # and the channel does not bring it back
        assert memory.inbox.add(BOT, brought(1, 2, 3)) == 0


def test_those_who_take_in_the_same_at_once_take_in_each_once(shared_url: str, opened: Open) -> None:
    """As a webhook does in two processes: what one has read is never followed by something that
    has a number before it."""
    memories = [opened(shared_url), opened(shared_url)]
    memories[0].inbox.add("warm", brought(1))
    together, told, failed = threading.Barrier(4), list[int](), list[BaseException]()

    def take(number: int) -> None:
        together.wait()
        try:
            for start in range(0, 40, 5):
                told.append(memories[number % 2].inbox.add(BOT, brought(*range(start, start + 10))))
        except BaseException as error:  # noqa: BLE001 - told to the test below
            failed.append(error)

    seen, after = list[int](), 0
    threads = [threading.Thread(target=take, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    at_work = True
    while at_work:
        at_work = any(thread.is_alive() for thread in threads)  # then once more, for the rest
        while some := memories[0].inbox.pending(BOT, after=after, limit=7):
            seen += [int(one.id) for one in some]
            after = some[-1].seq
    assert failed == []
    assert sorted(seen) == list(range(45))
    assert sum(told) == 45
    assert seen == ids(memories[1])


@pytest.mark.parametrize(
    "update",
    [
        "text",
        Update("", "telegram:1", "{}"),
        Update("1", "", "{}"),
        Update("1", "telegram:1", "\x00"),
        Update("1", "telegram:1", "é" * (limits.UPDATE_MAX_BYTES // 2 + 1)),
        Update("1", "telegram:1", 7),  # type: ignore[arg-type]
        Update("1", "telegram:1", "{}", "Alice"),
    ],
    ids=["no update", "no id", "no chat", "not storable", "too long", "no text", "a name"],
)
def test_what_cannot_be_kept_is_refused_and_nothing_with_it_is_kept(memory: Memory, update: Any) -> None:
    with pytest.raises(tacit.InvalidInput):
        memory.inbox.add(BOT, [*brought(5), update])
    assert ids(memory) == []


def test_only_so_many_are_taken_in_at_a_time(memory: Memory) -> None:
    most = limits.UPDATES_MAX_COUNT
    with pytest.raises(tacit.InvalidInput, match="1,000 at a time"):
        memory.inbox.add(BOT, brought(*range(most + 1)))
    assert memory.inbox.add(BOT, brought(*range(most))) == most
    assert ids(memory, limit=most) == list(range(most))
    for bad in ("Telegram", "", "telegram:1", 7):
        with pytest.raises(tacit.InvalidInput, match="channel"):
            memory.inbox.add(bad, brought(1))  # type: ignore[arg-type]


def test_nothing_that_is_asked_of_the_inbox_reads_a_whole_space(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url, settings=BY_HAND)
    for start in range(0, 300, 100):
        others = (brought(n, person=f"telegram:{n + 1}", chat=f"telegram:{n + 1}")
                  for n in range(start, start + 100))  # fmt: skip
        memory.inbox.add(BOT, [one for some in others for one in some])
    alice = private(memory, ALICE)
    for n in range(50):
        private(memory, BOB, f"t{n}").remember(f"Number {n} is odd")
    memory.admin.maintain()
    with recorded(memory) as ran:
        memory.inbox.add(BOT, brought(1, 1_000))
        memory.inbox.pending(BOT, after=7)
        memory.inbox.fail(BOT, "5")
        memory.inbox.complete(BOT, "6")
        alice.unlearn("m1")
        memory.admin.erase_person(ALICE.key)
    asked = [one for one in ran if one.sql.startswith(("SELECT", "UPDATE updates"))]
    asked = [one for one in asked if re.search(r"updates|source_message|jobs.payload", one.sql)]
    with closing(plans_of(shared_url)) as plans:
        wide = [f"{step}: {one.sql}" for one in asked for step in plans.too_wide(one)]
    assert len(asked) > 8
    assert wide == []
