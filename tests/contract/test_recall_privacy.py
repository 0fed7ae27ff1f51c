"""What comes to mind tells nothing of what may not be heard, nor of what is heard no longer."""

from dataclasses import replace
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.settings import Settings
from tacit.settings.sections import MemorySettings
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.conversations import KEEP
from tests.contract.embedders import Table
from tests.contract.hearing import heard
from tests.contract.rooms import ALICE, ALOUD, BOB, LENT, SetClock, group, kept, private
from tests.contract.traces import rows_with

WORDS = {"tea": (1, 0, 0), "coffee": (0.8, 0.6, 0), "cup": (0.6, 0.8, 0)}


def user(content: str) -> tacit.Message:
    return tacit.Message(role="user", content=content)


def test_words_that_were_taken_back_find_nothing_whoever_asks_first(memory: Memory) -> None:
    alice, bob, here = private(memory, ALICE), private(memory, BOB), group(memory, BOB)
    id = kept(group(memory, ALICE), "Alice keeps a walrus", **ALOUD)
    for number in range(5):
        kept(group(memory, ALICE), f"Alice drinks tea {number}", **ALOUD)
    for view in (alice, bob, here):
        assert len(view.recall("walrus")) == 1
    group(memory, ALICE).update(id, "Alice keeps a pelican")
    for view in (alice, bob, here):
        assert view.recall("walrus") == []
        assert len(view.recall("pelican", top_k=20)) == 1


def test_what_is_lowered_leaves_the_figures_of_those_who_ask_later(memory: Memory, clock: SetClock) -> None:
    alice, said = private(memory, ALICE), group(memory, ALICE)
    here, other = group(memory, BOB), group(memory, BOB, thread="another")
    id = kept(said, "Alice drinks walrus tea", **ALOUD)
    for number in range(3):
        clock.forward(seconds=1)
        kept(said, f"tea number {number}", **ALOUD)
    for view in (alice, here):
        assert view.recall("walrus tea")
    clock.forward(seconds=1)
    before = here.block()
    alice.set_visibility(id, "private_only")
    assert alice.recall("walrus tea")
    told = heard(here, "walrus tea", top_k=3), here.block().cut, other.block().cut
    assert id in before.ids
    assert id not in here.block().ids
    without = memory.space("without-it")
    clock.now -= timedelta(seconds=3)
    for number in range(3):
        kept(group(without, ALICE), f"tea number {number}", **ALOUD)
        clock.forward(seconds=1)
    assert told == (heard(group(without, BOB), "walrus tea", top_k=3), {}, {})


def test_what_has_expired_is_not_in_the_figures(shared_url: str, opened: Open, clock: SetClock) -> None:
    warm = opened(shared_url, settings=KEEP)
    alice, bob = group(warm, ALICE), group(warm, BOB)
    kept(alice, "tea and a walrus", **ALOUD)
    kept(alice, "apple pie with tea and cream", **ALOUD)
    kept(alice, "apple tea", expires_at=clock.now + timedelta(hours=1), **ALOUD)
    bob.record([user("walrus and apple pie")], session="s")
    clock.forward(days=6)
    bob.record([user("it was good")], session="s")
    both: Any = {"include": ["memories", "turns"], "top_k": 20}
    assert len(bob.recall("tea apple", **both)) == 3
    assert len(bob.recall("tea apple", include=["turns"])) == 2
    clock.forward(days=2)
    cold = group(opened(shared_url, settings=KEEP), BOB)
    for how in (both, {"include": ["turns"]}):
        assert heard(bob, "tea apple", **how) == heard(cold, "tea apple", **how)


def test_likeness_to_what_is_hidden_relates_nothing_for_others(database_url: str, opened: Open) -> None:
    memory = opened(database_url, embedder=Table(WORDS))
    told = []
    for hidden in (0, 6):
        world = memory.space(f"with-{hidden}")
        alice, alone, bob = group(world, ALICE), private(world, ALICE), private(world, BOB)
        kept(alice, "coffee said", **ALOUD)
        for number in range(hidden):
            kept(alone, f"tea secret {number}")
        kept(alice, "tea said", **ALOUD)
        told.append([heard(bob, "tea"), heard(bob, "tea", top_k=1), bob.fresh("tea", top_k=1).text])
    assert told[0] == told[1]


def test_an_agent_cannot_test_words_against_what_is_not_on_its_list(
    database_url: str, opened: Open, clock: SetClock
) -> None:
    memory = opened(database_url, settings=Settings(allowlists={"planner": ("goal",)}))
    alone = private(memory, ALICE)
    planner = memory.view(ALICE, tacit.Chat.private("telegram:1001"), agent="planner")
    assert isinstance(planner, View)
    kept(alone, "run a marathon", category="goal")
    before = heard(planner, "marathon cancer")
    alone.put("fact", "plan", "cancer treatment on Mondays")
    then = clock.now
    assert heard(planner, "marathon cancer") == before
    clock.forward(seconds=1)
    group(memory, ALICE).put("fact", "plan", "nothing")  # takes the place of the one before
    found = planner.recall("marathon cancer", as_of=then)
    assert [one.memory.content for one in found] == ["run a marathon"]


def test_an_agent_cannot_tell_who_speaks_in_turns_that_are_not_on_its_list(database_url: str, opened: Open) -> None:
    settings = replace(KEEP, allowlists={"planner": ("goal",)})
    memory = opened(database_url, settings=settings, embedder=Table(WORDS))
    alone = private(memory, ALICE)
    planner = memory.view(ALICE, tacit.Chat.private("telegram:1001"), agent="planner")
    assert isinstance(planner, View)
    kept(alone, "tea every day", category="goal")
    both: Any = {"include": ["memories", "turns"]}
    before = heard(planner, "tea with coffee", **both)
    alone.record([tacit.Message(role="user", content="hello", name="Coffee")])
    assert heard(planner, "tea with coffee", **both) == before


def test_what_is_erased_crowds_nothing_out(database_url: str, opened: Open) -> None:
    memory = opened(database_url, embedder=Table(WORDS))
    alone = private(memory, ALICE)
    gone = [kept(alone, f"tea {number}") for number in range(6)]
    stays = kept(alone, "coffee stays")
    for id in gone:
        alone.erase(id)
    kept(alone, "tea is new")
    (first,) = alone.recall("tea", top_k=1)
    assert [other.id for other in first.related] == [stays]


def test_the_place_of_a_turn_does_not_count_what_others_do_unheard(
    database_url: str, opened: Open, clock: SetClock
) -> None:
    memory = opened(database_url, settings=KEEP)
    steps = []
    for hidden in (0, 3):
        world = memory.space(f"with-{hidden}")
        bob, alice = group(world, BOB), group(world, ALICE)
        bob.record([user("walrus one")])
        for number in range(hidden):
            alice.put("goal", f"quiet {number}", "for nobody's ears")
        bob.record([user("walrus two")])
        clock.forward(seconds=1)
        found = private(world, BOB).recall("walrus", include=["turns"])
        places = [one.memory.seq or 0 for one in found]
        steps.append(max(places) - min(places))
    assert steps[0] == steps[1]


def test_a_hidden_write_changes_no_answer_where_there_is_a_lot(
    memory: Memory, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PERMITTED_SET_MAX_COUNT", 5)
    alice, bob = group(memory, ALICE), group(memory, BOB)
    for number in range(3):
        kept(alice, f"plays chess {number}", about=["telegram:2002"], **ALOUD)
        clock.forward(seconds=1)
    bob.put("goal", "first", "for nobody's ears")
    before = heard(alice, "Bob chess")
    bob.put("goal", "other", "for nobody's ears")
    assert heard(alice, "Bob chess") == before


def test_no_trace_of_an_erased_person_is_left_in_what_recall_keeps(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url, settings=KEEP, embedder=Table(WORDS))
    alone = private(memory, tacit.Requester("telegram:777123", name="Eve"))
    kept(alone, "tea")
    alone.record([user("tea, she said")])
    alone.block()
    memory.admin.erase_person("telegram:777123")
    left = set(rows_with(shared_url, "777123"))
    assert not left & {"revisions", "blocks", "vectors", "relations", "derived_from", "memories"}


def test_an_identity_read_alone_has_a_block_that_stands(database_url: str, opened: Open, clock: SetClock) -> None:
    settings = Settings(memory=MemorySettings(read="canonical"))
    memory = opened(database_url, settings=settings)
    memory.admin.link("telegram:1001", "acct:alice")
    view = private(memory, ALICE)
    kept(view, "likes tea")
    clock.forward(seconds=1)
    first = view.block()
    clock.forward(seconds=60)
    kept(view, "likes coffee")
    clock.forward(seconds=60)
    assert view.block() == first
    assert "likes coffee" in view.fresh("x").text


def test_a_vector_made_meanwhile_is_never_of_an_older_wording(migrated_postgres_url: str, opened: Open) -> None:
    """The background embeds the old wording while the new one is being written."""
    embedder = Table(WORDS)
    memory = opened(migrated_postgres_url, embedder=embedder)
    alone = private(memory, ALICE)
    embedder.gate.clear()
    embedder.down = True
    id = kept(alone, "tea in secret")  # the background waits at the gate to embed it
    embedder.down = False
    engine = create_engine(make_url(migrated_postgres_url).set(drivername="postgresql+psycopg"))
    with engine.connect() as holding:
        # The last thing that an update waits for, once its vector is written.
        holding.execute(text("SELECT * FROM thread_revisions FOR UPDATE"))
        update = Thread(target=lambda: alone.update(id, "cup in the open"))
        update.start()
        _wait_for_locks(engine, 1)
        embedder.gate.set()
        _wait_for_locks(engine, 2)
        holding.rollback()
        update.join()
    engine.dispose()
    assert not memory.admin.reembed()
    (found,) = alone.recall("cup")
    assert found.signals.meaning == 1.0


def _wait_for_locks(engine: Any, count: int) -> None:
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    for _ in range(2_000):
        with engine.connect() as looking:
            if looking.execute(waiting).scalar_one() >= count:
                return
    pytest.fail("nobody waits")


BOB_AT_WORK = tacit.Requester("slack:T1:U9", name="Robert")


def link_bob(memory: Memory) -> None:
    """Alice knows him as telegram:2002. That he is slack:T1:U9 too is his to tell."""
    for key in ("telegram:2002", "slack:T1:U9"):
        memory.admin.link(key, "acct:bob")


def test_a_name_given_in_private_is_said_in_no_group(memory: Memory, clock: SetClock) -> None:
    alice, alone = group(memory, ALICE), private(memory, ALICE)
    kept(alice, "plays chess", about=["telegram:2002"], **ALOUD)
    before = heard(alice, "is the adder good at chess")
    alone.people.name("telegram:2002", "Adder")
    clock.forward(seconds=1)
    assert heard(alice, "is the adder good at chess") == before
    assert "Adder" not in alice.block().text
    assert "Bob" in alice.block().text
    assert "Adder" in alone.block().text


@pytest.mark.parametrize("who", ["actor", "user"])
def test_a_filter_does_not_tell_who_else_somebody_is(memory: Memory, who: str) -> None:
    kept(private(memory, BOB_AT_WORK), "likes tea", **LENT)
    link_bob(memory)
    alice = group(memory, ALICE)
    kept(alice, "hello")
    (shown,) = alice.recall("tea")
    assert (shown.memory.owner, shown.memory.speaker) == ("ext:telegram:2002",) * 2
    found = {
        key: len(alice.recall("tea", **{who: key}))  # type: ignore[arg-type]
        for key in ("slack:T1:U9", "slack:T1:U8", "telegram:2002", "Bob")
    }
    assert found == {"slack:T1:U9": 0, "slack:T1:U8": 0, "telegram:2002": 1, "Bob": 1}


def test_whom_a_key_belongs_to_cannot_be_tried_by_writing_about_it(memory: Memory) -> None:
    link_bob(memory)
    alice = group(memory, ALICE)
    for key in ("slack:T1:U9", "slack:T1:U8"):
        kept(private(memory, ALICE), f"probe {key}", about=[key], **LENT)
    shown = {one.memory.content: one.memory.subjects for one in alice.recall("probe")}
    assert shown == {"probe slack:T1:U9": {"ext:slack:T1:U9"}, "probe slack:T1:U8": {"ext:slack:T1:U8"}}
    assert [len(alice.people.about(f"slack:T1:U{number}")) for number in (8, 9)] == [1, 1]


def test_whom_a_key_belongs_to_cannot_be_tried_by_naming_it(memory: Memory, clock: SetClock) -> None:
    link_bob(memory)
    kept(group(memory, BOB), "plays chess", about=["telegram:2002"], **ALOUD)
    alone = private(memory, ALICE)
    for key, name in (("slack:T1:U9", "Zed"), ("slack:T1:U8", "Yak")):
        alone.people.name(key, name)
    clock.forward(seconds=1)
    assert heard(alone, "is Zed good at chess") == heard(alone, "is Yak good at chess")
    assert "[Bob]" in alone.block().text
    named = {name.text: person.identities for person in alone.people.list() for name in person.names}
    assert named["Zed"] == {"ext:slack:T1:U9"}
    assert named["Bob"] == {"ext:telegram:2002"}
