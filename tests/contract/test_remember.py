"""Remembering: what a plain write becomes, and what each field does."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

import tacit
from tacit.memory import Memory
from tacit.records.memory import ChatKind, Trust
from tacit.settings import MemorySettings, Settings, TtlDaysSettings
from tests.contract.rooms import ALICE, BOB, SetClock, get_value, group, kept, private, said


def test_a_plain_write_is_knowledge_of_the_speakers_own(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    done = view.remember("Lisbon is sunny")
    assert done
    assert (done.state, done.version, done.created, done.supersedes) == ("active", 1, True, None)

    found = view.show(done.id)
    assert (found.kind, found.category, found.key) == ("knowledge", "fact", None)
    assert (found.owner, found.speaker) == ("ext:telegram:1001", "ext:telegram:1001")
    assert found.subjects == frozenset()
    assert (found.learned_in, found.learned_kind) == ("telegram:1001", ChatKind.PRIVATE)
    assert found.heard_by == frozenset()
    assert (found.visibility, found.sensitivity) == ("private_only", "personal")
    assert not found.portable
    assert (found.importance, found.confidence, found.pinned, found.tags) == (3, None, False, ())
    assert (found.trust, found.inferred) == (Trust.STATED, False)
    assert (found.created_at, found.updated_at, found.observed_at) == (clock.now,) * 3
    assert (found.expires_at, found.purge_at, found.superseded_by) == (None, None, None)
    assert (found.source.channel, found.source.chat) == ("telegram", "telegram:1001")
    assert (found.space, found.thread) == ("default", "telegram:1001")


def test_a_write_in_a_group_is_private_unless_it_is_said_to_be_the_rooms(memory: Memory) -> None:
    view = group(memory, ALICE)
    plain = kept(view, "I am allergic to nuts")
    room = kept(view, "I like walnuts", visibility="room", sensitivity="public")
    own = private(memory, ALICE)
    assert own.show(plain).visibility == "private_only"
    assert own.show(plain).learned_kind is ChatKind.GROUP
    assert own.show(plain).heard_by == {"ext:telegram:1001", "ext:telegram:2002"}
    assert said(group(memory, BOB).list()) == ["I like walnuts"]
    assert own.show(room).visibility == "room"
    id = kept(group(memory, ALICE), "Standup is at 9", for_room=True, sensitivity="public")
    found = group(memory, BOB).show(id)
    assert (found.owner, found.speaker) == (None, "ext:telegram:1001")
    assert (found.visibility, found.learned_kind) == ("room", ChatKind.GROUP)


KINDS: dict[str, tuple[str, int | None, bool]] = {
    "preference": ("preference", None, True),
    "identity": ("profile", None, True),
    "relationship": ("relationship", None, True),
    "knowledge": ("fact", None, True),
    "context": ("context", 7, False),
    "event": ("event", 30, False),
    "task": ("task_state", 14, False),
    "observation": ("context", 3, False),
    "insight": ("relationship_dynamic", None, False),
    "procedure": ("procedure", None, False),
}


def test_a_kind_settles_category_lifetime_and_whether_it_travels(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    assert set(KINDS) == set(tacit.Kind)
    for kind, (category, days, portable) in KINDS.items():
        found = view.show(kept(view, "something", kind=kind))
        fades = None if days is None else clock.now + timedelta(days=days)
        assert (found.category, found.expires_at, found.portable) == (category, fades, portable)


def test_every_field_that_is_named_is_kept(memory: Memory) -> None:
    view = private(memory, ALICE)
    lisbon = timezone(timedelta(hours=1))
    id = kept(
        view,
        "Paid the rent",
        kind="task",
        category="project",
        slot="rent/paid",
        visibility="public_ok",
        sensitivity="sensitive",
        portable=True,
        importance=5,
        confidence=0.25,
        pinned=True,
        tags=["home", "money", "home"],
        observed_at=datetime(2026, 2, 1, 1, 30, tzinfo=lisbon),
        expires_at=datetime(2027, 1, 1, tzinfo=UTC),
        message="77",
        agent="butler",
        run="r1",
        role="user",
    )
    found = view.show(id)
    assert (found.kind, found.category, found.slot) == ("task", "project", "rent/paid")
    assert (found.visibility, found.sensitivity) == ("public_ok", "sensitive")
    assert found.portable
    assert found.pinned
    assert (found.importance, found.confidence, found.tags) == (5, 0.25, ("home", "money"))
    assert found.observed_at == datetime(2026, 2, 1, 0, 30, tzinfo=UTC)
    assert found.expires_at == datetime(2027, 1, 1, tzinfo=UTC)
    assert found.source.message == "77"
    assert (found.agent, found.run, found.role) == ("butler", "r1", "user")


def test_a_fading_memory_is_gone_at_the_very_moment_it_expires(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "On holiday", category="context", key="mood", kind="context")
    clock.forward(days=7, seconds=-1)
    assert view.get("context", "mood") is not None
    assert said(view.list()) == ["On holiday"]
    assert [one.memory.id for one in view.recall("holiday")] == [id]

    clock.forward(seconds=1)
    assert view.get("context", "mood") is None
    assert said(view.list()) == []
    assert view.recall("holiday") == []
    assert view.explain(id).rule == "D1"


def test_an_expired_memory_is_listed_as_expired_and_not_as_active(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "On holiday", kind="observation")
    clock.forward(days=4)
    assert [one.id for one in view.list(state="expired")] == [id]
    assert said(view.list(state="active")) == []
    assert view.show(id).state == "expired"


def test_writing_an_expired_key_again_brings_it_back_to_life(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.put("context", "mood", "tired", kind="context")
    clock.forward(days=8)
    view.put("context", "mood", "tired")
    found = get_value(view, "context", "mood")
    assert found.expires_at == clock.now + timedelta(days=7)


def test_settings_add_categories_and_decide_how_long_a_kind_lives(database_url: str, clock: SetClock) -> None:
    chosen = Settings(memory=MemorySettings(ttl_days=TtlDaysSettings(task=2), categories=("wine",)))
    with tacit.open(database_url, settings=chosen, clock=clock) as memory:
        view = private(memory, ALICE)
        found = view.show(kept(view, "Call the bank", kind="task"))
        view.put("wine", "red", "Douro")
        assert said(view.list("wine")) == ["Douro"]
    assert found.expires_at == clock.now + timedelta(days=2)


def test_what_was_said_where_nobody_knows_who_listens_reaches_its_owner_alone(memory: Memory) -> None:
    somewhere = memory.view(ALICE, tacit.Chat.unknown("web:lobby"))
    id = somewhere.remember("I was here").id
    assert id is not None
    own = private(memory, ALICE)
    assert own.show(id).learned_kind is None
    with pytest.raises(tacit.NotFound):
        somewhere.show(id)
    own.set_visibility(id, "public_ok")
    assert said(somewhere.list()) == []


def test_reading_counts_uses_and_moves_nothing_else(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = kept(view, "Lisbon is sunny", category="fact", key="weather")
    written = clock.now
    clock.forward(days=1)
    view.get("fact", "weather")
    view.show(id)
    view.recall("sunny")
    memory.admin.maintain()
    found = view.show(id)
    assert (found.access_count, found.last_accessed_at) == (3, clock.now)
    assert found.updated_at == written
    assert len(view.history(id)) == 1


def test_only_the_owner_in_private_lends_a_memory_to_every_room(memory: Memory) -> None:
    with pytest.raises(tacit.InvalidInput, match="visibility"):
        group(memory, ALICE).remember("I like tea", visibility="public_ok")
    with pytest.raises(tacit.InvalidInput, match="visibility"):
        private(memory, ALICE).remember("I like tea", visibility="room")
    with pytest.raises(tacit.InvalidInput, match="for_room"):
        private(memory, ALICE).remember("Standup is at 9", for_room=True)
    assert memory.admin.stats().memories == 0
    private(memory, ALICE).remember("I like tea", visibility="public_ok", sensitivity="public")
    assert said(group(memory, BOB).list()) == ["I like tea"]
