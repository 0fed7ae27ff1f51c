"""The block: the same bytes until something changes, rebuilt at once when something must go."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select

import tacit
from tacit import SessionDraft, TopicDraft
from tacit.memory import Memory
from tacit.records.token_counts import estimate_tokens
from tacit.settings import Settings
from tacit.settings.sections import CategorySetting, PromptSettings
from tacit.storage.schema import metadata
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.processes import elsewhere
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, FAMILY, LENT, TEAM, SetClock, group, kept, private

ARCHIVE = "The Apollo archive is kept in Basel"
OF_MEMORIES = ("memory", "filtered")
STYLES = (*OF_MEMORIES, "summary")
ODD = ["# heading\n- [id:AAAAAAAA] x", "</tacit-memory>", "日本語 🍎 é\u200b", '{"a": [1]}', "a\tb"]


def fill(memory: Memory, clock: SetClock) -> None:
    own, here = private(memory, ALICE), group(memory, BOB)
    own.people.name("telegram:2002", "Robert")
    own.people.name("telegram:2002", "Bobby", "alias")
    own.people.name("telegram:2002", "éric", "alias")
    for number, text in enumerate([*ODD, *(f"fact {n}" for n in range(20))]):
        own.remember(text, category=("fact", "goal", "person")[number % 3], importance=number % 5 + 1)
        if number % 4:
            clock.forward(seconds=1)
    own.put("profile", "timezone", "Europe/Lisbon")
    own.remember("Robert likes tea", about=["telegram:2002"], pinned=True)
    here.remember("Alice plays chess", about=["telegram:1001"], **ALOUD)
    here.remember("we meet on Fridays", for_room=True, **ALOUD)
    own.sessions.end(draft=SessionDraft(summary="Paid the rent.", promote=ARCHIVE))
    here.sessions.end(draft=SessionDraft(topics=(TopicDraft(topic="Lunch", event="Pizza it is"),)))
    clock.forward(seconds=1)


def views(memory: Memory) -> list[View]:
    return [
        private(memory, ALICE),
        private(memory, ALICE, "another thread"),
        group(memory, ALICE),
        group(memory, BOB, here=(ALICE, BOB, CAROL), complete=True),
    ]


def blocks(memory: Memory) -> list[str]:
    return [view.block(style).text for view in views(memory) for style in STYLES]


def test_a_block_is_the_same_bytes_again_and_again(memory: Memory, clock: SetClock) -> None:
    fill(memory, clock)
    first = blocks(memory)
    assert all(first)
    assert len(set(first)) >= len(STYLES) * 2
    for _ in range(3):
        clock.forward(seconds=200)
        for view in views(memory):
            view.recall("tea")
            view.fresh("chess")
            view.list()
        assert blocks(memory) == first


def test_a_block_is_the_same_bytes_in_another_process(shared_url: str, opened: Open, clock: SetClock) -> None:
    memory = opened(shared_url)
    fill(memory, clock)
    first = blocks(memory)
    act = "from tests.contract.test_block import blocks; sys.stdout.write(repr(blocks(memory)))"
    assert elsewhere(shared_url, clock, act) == repr(first)
    assert blocks(opened(shared_url)) == first


def copied(source: Memory, target: Memory) -> None:
    """Every row, so that ids and times are the same in both databases."""
    with source._storage.database.read() as connection:
        found = {
            table: [dict(row) for row in connection.execute(select(table)).mappings()]
            for table in metadata.sorted_tables
        }

    def put(connection: Connection) -> None:
        for table, rows in found.items():
            if rows:
                connection.execute(insert(table), rows)

    target._storage.database.write(put)


def test_a_block_is_the_same_bytes_on_the_other_database(
    tmp_path: Path, migrated_postgres_url: str, opened: Open, clock: SetClock
) -> None:
    lite = opened(f"sqlite:///{tmp_path / 'tacit.db'}")
    fill(lite, clock)
    other = opened(migrated_postgres_url)
    copied(lite, other)
    assert blocks(other) == blocks(lite)
    for one, two in zip(views(lite), views(other), strict=True):
        assert one.block() == two.block()


def test_what_is_new_waits_for_the_next_conversation(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.remember("I play chess")
    clock.forward(seconds=1)
    first = view.block()
    clock.forward(seconds=1)
    id = kept(view, "I play go")
    assert view.block() == first
    assert [one.memory_id for one in view.delta(first.revision).changes] == [id]
    assert "+created: [Fact] I play go" in view.fresh("zebra").text
    clock.forward(seconds=4_600)  # the gap, and the quarter of it that use is noted by
    later = view.block()
    assert id in later.ids
    assert later.revision > first.revision
    assert view.delta(later.revision).changes == ()
    assert view.fresh("zebra").text == ""


def test_a_conversation_goes_on_while_pauses_are_shorter_than_the_gap(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.remember("I play chess")
    clock.forward(seconds=1)
    first = view.block()
    clock.forward(seconds=1)
    view.remember("I play go")
    for minutes in (14, 50, 59, 1, 58, 16, 46, 59):
        clock.forward(seconds=60 * minutes)
        assert view.block() == first, minutes
    clock.forward(seconds=60 * 76)
    assert len(view.block().ids) == 2


def test_the_gap_is_a_setting(database_url: str, opened: Open, clock: SetClock) -> None:
    settings = Settings(prompt=PromptSettings(conversation_gap=timedelta(minutes=5)))
    view = private(opened(database_url, settings=settings), ALICE)
    view.remember("I play chess")
    clock.forward(seconds=1)
    view.block()
    clock.forward(seconds=1)
    view.remember("I play go")
    assert len(view.block().ids) == 1
    clock.forward(seconds=400)
    assert len(view.block().ids) == 2


def test_another_thread_begins_its_own_conversation(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.remember("I play chess")
    clock.forward(seconds=1)
    view.block()
    clock.forward(seconds=1)
    view.remember("I play go")
    clock.forward(seconds=1)
    assert len(private(memory, ALICE, "second").block().ids) == 2
    assert len(view.block().ids) == 1


def test_a_block_taken_at_the_moment_of_a_write_tells_it_once(memory: Memory) -> None:
    """Several writes may share one reading of the clock, and so may the block."""
    view = private(memory, ALICE)
    ids = {kept(view, f"fact {number}") for number in range(5)}
    block = view.block()
    assert set(block.ids) == ids
    assert view.delta(block.revision).changes == ()
    assert view.fresh("zebra").text == ""


def test_a_write_that_was_under_way_is_news_and_not_in_the_block(migrated_postgres_url: str, clock: SetClock) -> None:
    """On PostgreSQL writes overlap: one that read the clock before the block did may end later."""
    reading, going_on = threading.Event(), threading.Event()

    def slow() -> Any:
        at = clock()
        if threading.current_thread().name.startswith("slow"):
            reading.set()
            assert going_on.wait(60)
        return at

    with tacit.open(migrated_postgres_url, clock=slow, embedder=None) as memory:
        view = private(memory, ALICE)
        view.remember("I play chess")
        clock.forward(seconds=1)
        with ThreadPoolExecutor(1, thread_name_prefix="slow") as pool:
            writing = pool.submit(view.remember, "I play go")
            assert reading.wait(60)
            clock.forward(seconds=1)
            first = view.block()
            going_on.set()
            id = writing.result().id
        assert id not in first.ids
        assert view.block() == first
        assert [one.memory_id for one in view.delta(first.revision).changes] == [id]


def test_three_styles_and_no_other(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "Europe/Lisbon", category="profile", key="timezone")
    clock.forward(seconds=1)
    texts = {style: view.block(style).text for style in STYLES}
    assert f"### Profile\n- [id:{id}] timezone: Europe/Lisbon" in texts["memory"]
    assert f'profile:\n  timezone = "Europe/Lisbon" [id:{id}]' in texts["filtered"]
    assert texts["summary"] == ""  # there are no notes
    assert view.block().text == texts["memory"]
    assert all(texts[style].count("tacit-memory") == 2 for style in OF_MEMORIES)
    bad: Any
    for bad in ("loud", "", 5, b"memory"):
        refuses(view.block, "style", bad)


def test_the_style_of_the_settings_is_the_usual_one(database_url: str, opened: Open, clock: SetClock) -> None:
    settings = Settings(prompt=PromptSettings(style="summary"))
    view = private(opened(database_url, settings=settings), ALICE)
    view.remember("I play chess")
    view.sessions.end(draft=SessionDraft(summary="Played chess."))
    clock.forward(seconds=1)
    assert view.block() == view.block("summary") != view.block("memory")


def test_a_block_is_ordered_and_says_what_it_holds(memory: Memory, clock: SetClock) -> None:
    fill(memory, clock)
    view = private(memory, ALICE)
    block = view.block()
    shown = [view.show(id) for id in block.ids]
    assert [(m.category, m.created_at, m.id) for m in shown] == sorted((m.category, m.created_at, m.id) for m in shown)
    places = [block.text.index(f"[id:{id}]") for id in block.ids]
    assert places == sorted(places)
    assert block.tokens == estimate_tokens(block.text)
    assert str(block) == block.text
    assert block.text.count("</tacit-memory>") == 1
    assert block.text.endswith("</tacit-memory>")


def test_what_comes_by_recall_alone_is_in_no_block(database_url: str, opened: Open, clock: SetClock) -> None:
    settings = Settings(categories=(CategorySetting(name="recipe", context="rag", rag_length=2),))
    view = private(opened(database_url, settings=settings), ALICE)
    for number in range(4):
        view.remember(f"apple pie number {number}", category="recipe")
    view.remember("I like apples")
    clock.forward(seconds=1)
    block = view.block()
    assert "pie" not in block.text
    assert "I like apples" in block.text
    assert block.cut == {}
    found = view.fresh("apple", top_k=1)
    assert found.text.count("[recipe]") == 2  # as many as it may
    assert sorted({one.memory.category for one in found.recalled}) <= ["fact", "recipe"]


def test_limits_are_fair_and_say_what_was_cut(database_url: str, opened: Open, clock: SetClock) -> None:
    settings = Settings(prompt=PromptSettings(items_max=6, chars_max=2_000))
    view = private(opened(database_url, settings=settings), ALICE)
    for number in range(40):
        view.remember(f"fact {number} {'x' * 100}", category="fact", importance=5)
    view.remember("one goal", category="goal", importance=1)
    view.remember("one project", category="project", importance=1)
    clock.forward(seconds=1)
    for style in OF_MEMORIES:
        block = view.block(style)
        assert len(block.text) <= 2_000
        assert len(block.ids) == 6
        assert "one goal" in block.text
        assert "one project" in block.text
        assert block.cut == {"fact": 36}


def test_those_who_begin_a_conversation_at_once_share_its_block(memory: Memory) -> None:
    view = private(memory, ALICE)
    for number in range(20):
        view.remember(f"fact {number}")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: view.block(), range(16)))
    assert len({(one.text, one.revision) for one in found}) == 1


GOING: dict[str, Callable[[Memory, View, str], object]] = {
    "forgotten": lambda _m, v, id: v.forget(id),
    "erased": lambda _m, v, id: v.erase(id),
    "erased by an operator": lambda m, _v, id: m.operator("root").erase(id),
    "wiped": lambda _m, v, _id: v.wipe(),
    "replaced from the group": lambda m, _v, id: group(m, ALICE).update(id, "other"),
}


def test_what_goes_leaves_the_block_at_once(memory: Memory, clock: SetClock) -> None:
    for number, (way, going) in enumerate(GOING.items()):
        space = memory.space(f"way-{number}")
        view = private(space, ALICE)
        view.remember("I play chess", **LENT)
        id = kept(view, "canary", **LENT)
        clock.forward(seconds=1)
        assert id in view.block().ids
        clock.forward(seconds=1)
        going(space, view, id)
        block = view.block()
        assert id not in block.ids, way
        assert "canary" not in block.text, way


CLOSING: dict[str, Callable[[Memory, View, str], object]] = {
    "made private": lambda _m, v, id: v.set_visibility(id, "private_only"),
    "made sensitive": lambda _m, v, id: v.update(id, sensitivity="sensitive"),
    "withheld": lambda _m, v, id: v.withhold_from(id, ["telegram:2002"]),
    "lowered by an operator": lambda m, _v, id: m.operator("x").lower_visibility(id, "private_only"),
    "forgotten": lambda _m, v, id: v.forget(id),
}


def test_what_may_no_longer_be_said_leaves_a_groups_block_at_once(memory: Memory, clock: SetClock) -> None:
    for number, (way, closing) in enumerate(CLOSING.items()):
        space = memory.space(f"way-{number}")
        own = private(space, ALICE)
        id = kept(own, "canary", **LENT)
        clock.forward(seconds=1)
        here = group(space, BOB)
        assert here.block().ids == (id,)
        closing(space, own, id)
        assert (here.block().text, here.block().ids) == ("", ()), way


def test_what_expires_leaves_the_block_by_the_clock(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.remember("I play chess")
    view.remember("canary", expires_at=clock.now + timedelta(minutes=10))
    clock.forward(seconds=1)
    assert "canary" in view.block().text
    clock.forward(seconds=599)
    assert "canary" not in view.block().text
    assert "chess" in view.block().text


def test_a_corrected_memory_is_not_told_in_its_old_words(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "I live in Porto")
    clock.forward(seconds=1)
    view.block()
    clock.forward(seconds=1)
    view.update(id, "I live in Lisbon")
    assert "Porto" not in view.block().text
    assert "Lisbon" in view.block().text + view.fresh("zebra").text


def test_another_audience_gets_another_block(memory: Memory, clock: SetClock) -> None:
    private(memory, ALICE).remember("lent", visibility="public_ok", sensitivity="public")
    private(memory, CAROL).remember("canary", visibility="public_ok", sensitivity="public")
    clock.forward(seconds=1)
    with_carol = group(memory, BOB, here=(ALICE, BOB, CAROL)).block()
    assert "canary" in with_carol.text
    memory.chats.leave(TEAM, CAROL.key)
    without = group(memory, BOB).block()
    assert "lent" in without.text
    assert "canary" not in without.text
    assert group(memory, BOB, FAMILY, here=(BOB,)).block().text == ""
    assert group(memory, BOB, here=(ALICE, BOB, CAROL)).block() == with_carol
