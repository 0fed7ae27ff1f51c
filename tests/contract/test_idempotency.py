"""Writes that may be sent twice: done once, and told again without anything that was kept of it."""

import copy
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import pytest
from sqlalchemy import func, select

import tacit
from bench.plans import plans_of, recorded
from tacit import Message, SessionDraft
from tacit.memory import Memory
from tacit.settings import MemorySettings, SessionsSettings, Settings
from tacit.settings.sections import LearnSettings
from tacit.storage.schema import idempotency_keys, idempotency_memories, metadata
from tacit.view.context import write
from tacit.view.idempotency import fingerprint_call
from tacit.view.view import VIEW_OPERATIONS, View
from tests.contract.conftest import Open
from tests.contract.hostile import NAIVE
from tests.contract.rooms import ALICE, BOB, TEAM, SetClock, get_value, group, kept, private, said
from tests.contract.threads import errors, together
from tests.contract.traces import cleaned

KEY = "6f1c0f0e-5c1f-4b43-a7c5-a3f3a4b1c8de"
WORD = "Qxonceword"
ACCOUNT = tacit.Requester("acct:42")
SETTINGS = Settings(learn=LearnSettings(workers=0), memory=MemorySettings(sessions=SessionsSettings(keep=True)))


@pytest.fixture
def keeping(database_url: str, opened: Open) -> Memory:
    """One that keeps turns, and learns only when it is told to."""
    return opened(database_url, settings=SETTINGS)


@pytest.fixture
def plain(opened: Open) -> Memory:
    """The same, where nothing depends on the database."""
    return opened("sqlite://", settings=SETTINGS)


def counts(memory: Memory) -> dict[str, int]:
    """How many rows each table has."""
    with memory._storage.database.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }


def test_a_write_that_is_sent_twice_is_done_once(memory: Memory) -> None:
    view = private(memory, ALICE)
    first = view.once(KEY).remember("I like tea", tags=["drinks"])
    before = counts(memory)
    again = private(memory, ALICE).once(KEY).remember("I like tea", tags=["drinks"])
    assert again == first
    assert counts(memory) == before
    assert said(view.list()) == ["I like tea"]


def test_another_key_is_another_write_and_no_key_is_none(memory: Memory) -> None:
    view = private(memory, ALICE)
    ids = {view.once(f"key {n}").remember("I like tea").id for n in range(2)}
    ids |= {view.remember("I like tea").id for _ in range(2)}
    assert len(ids) == 4
    assert counts(memory)["idempotency_keys"] == 2


def test_the_same_key_for_something_else_is_a_conflict(plain: Memory) -> None:
    view = private(plain, ALICE)
    id = view.once(KEY).remember("I like tea").id
    others: list[Callable[[], object]] = [
        lambda: view.once(KEY).remember("I like coffee"),
        lambda: view.once(KEY).remember("I like tea", pinned=True),
        lambda: view.once(KEY).update(id, "I like tea"),
        lambda: private(plain, ALICE, thread="another").once(KEY).remember("I like tea"),
        lambda: group(plain, ALICE).once(KEY).remember("I like tea"),
    ]
    for other in others:
        with pytest.raises(tacit.Conflict, match="key"):
            other()
    assert said(view.list()) == ["I like tea"]


def test_the_same_key_of_another_person_is_theirs(memory: Memory) -> None:
    hers = private(memory, ALICE).once(KEY).remember("I like tea")
    his = private(memory, BOB).once(KEY).remember("I like tea")
    assert his.id != hers.id
    with pytest.raises(tacit.Conflict):
        private(memory, BOB).once(KEY).remember("I like coffee")
    elsewhere = memory.space("another").view(ALICE, tacit.Chat.private(ALICE.key))
    assert elsewhere.once(KEY).remember("I like coffee").created


def test_what_failed_was_not_done_and_a_key_is_visible_text(plain: Memory) -> None:
    view = private(plain, ALICE)
    with pytest.raises(tacit.NotFound):
        view.once(KEY).update("AAAAAAAA", "two")
    with pytest.raises(tacit.SecretRefused):
        view.once(KEY).remember("my password is hunter2butlonger!")
    assert counts(plain)["idempotency_keys"] == 0
    assert view.once(KEY).remember("I like tea").created
    bad: list[Any] = ["", " a", "a" * 256, "a\x00", "a\ud800", None, 7, b"a"]
    for key in bad:
        with pytest.raises(tacit.InvalidInput, match="once"):
            view.once(key)


def test_those_who_send_the_same_at_the_same_moment_write_once(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    private(memories[0], ALICE).remember("I am here")
    told = together(4, lambda n: private(memories[n % 2], ALICE).once(KEY).put("profile", "drink", "tea"))
    assert errors(told) == []
    assert len({repr(one) for one in told}) == 1, told
    found = get_value(private(memories[1], ALICE), "profile", "drink")
    assert (found.content, found.version) == ("tea", 1)


def test_what_is_noted_stands_or_falls_with_the_write(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where noting it fails, nothing was written: there is no moment between the two."""
    view = private(memory, ALICE)
    view.remember("I am here")
    before = counts(memory)

    def broken(*_: object) -> None:
        raise RuntimeError("the power is out")

    monkeypatch.setattr("tacit.storage.idempotency.insert_result", broken)
    with pytest.raises(RuntimeError):
        view.once(KEY).remember("I like tea")
    assert counts(memory) == before
    monkeypatch.undo()
    assert view.once(KEY).remember("I like tea").created


def _two_named(view: View) -> list[str]:
    for name in ("Tom", "Thomas"):
        view.people.name(name, name, "name")
    return [one.id for one in view.people.list() if one.id.startswith("person:")]


def _story(view: View, other: str, id: str) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Every word that changes something, in an order in which each can."""
    return [
        ("remember", ("I like tea",), {"kind": "preference"}),
        ("put", ("profile", "drink", "tea"), {}),
        ("update", (id, "I like trains a lot"), {"if_version": 1}),
        ("pin", (id,), {}),
        ("set_visibility", (id, "public_ok"), {}),
        ("withhold_from", (id, ["telegram:2002"]), {}),
        ("relate", (id, other), {"strength": 0.5}),
        ("people.name", ("telegram:2002", "Bobby"), {}),
        ("people.merge", tuple(_two_named(view)), {}),
        ("people.unmerge", tuple(_two_named(view)[:1]), {}),
        ("record", ([Message("user", "Hello there")],), {}),
        ("learn", ([Message("user", "I live in Lisbon", id="m1")],), {}),
        ("unlearn", ("m1",), {}),
        ("sessions.end", (), {"draft": SessionDraft(facts=("The train leaves at nine",))}),
        ("files.write", ("trips.md", "- Rome in May\n"), {}),
        ("files.rename", ("trips.md", "travel.md"), {}),
        ("files.delete", ("travel.md",), {}),
        ("checkpoints.save", ({"step": 3},), {}),
        ("checkpoints.delete", (), {}),
        ("forget", (id,), {}),
        ("restore", (id,), {}),
        ("forget_key", ("profile", "drink"), {}),
        ("forget_category", ("preference",), {}),
        ("erase", (other,), {}),
        ("wipe", (), {}),
    ]


def test_every_word_that_changes_something_is_done_once(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    id, other = kept(view, "I like trains"), kept(view, "I like buses")
    story = _story(view, other, id)
    for word, args, named in story:
        first = attrgetter(word)(view.once(word))(*args, **named)
        before = counts(keeping)
        again = attrgetter(word)(view.once(word))(*args, **named)
        assert again == first, word
        assert counts(keeping) == before, word
    elsewhere = {"proposals.approve", "proposals.decline", "proposals.propose_public"}  # below, and in test_linking
    elsewhere |= {f"account.{one}_link" for one in ("accept", "confirm", "refuse")} | {"account.unlink"}
    assert {word for word, _, _ in story} | elsewhere == {
        one.name for one in VIEW_OPERATIONS.values() if one.replay is not None
    }


def test_answers_to_proposals_are_given_once(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    for key, word in (("drink", "approve"), ("food", "decline")):
        view.put("profile", key, "whatever there is")
        for _ in range(2):
            view.once(f"ask {word}").proposals.propose_public("profile", key)
        (asked,) = view.proposals.list()
        for _ in range(2):
            getattr(view.once(word).proposals, word)(asked.id)
        assert view.proposals.list() == []


def test_what_waits_for_a_yes_is_forgotten_once_and_leaves_nothing(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=Settings(learn=LearnSettings(confirm="new", workers=0)))
    view = private(memory, ALICE)
    view.learn([Message("user", "I'm allergic to peanuts")])
    memory.jobs.wait_for_learning()
    (asked,) = view.proposals.list()
    for _ in range(2):
        view.once(KEY).forget(asked.id)
    assert view.proposals.list() == []
    assert counts(memory)["idempotency_memories"] == 0


def test_a_list_that_can_be_gone_through_only_once_is_no_matter(plain: Memory) -> None:
    view = private(plain, ALICE)
    said_now = [Message("user", "Hello"), Message("assistant", "Hello to you")]
    first = view.once(KEY).record(one for one in said_now)
    assert len(first.ids) == 2
    assert view.once(KEY).record(iter(said_now)) == first
    assert view.once(KEY).record(dict.fromkeys(said_now).keys()) == first
    with pytest.raises(tacit.Conflict):
        view.once(KEY).record(iter(said_now[:1]))


def test_what_was_accepted_is_learned_once_and_secrets_are_named_again(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    turn = [Message("user", "Remember that box 17 holds item 4242")]
    turn.append(Message("user", "my password is hunter2butlonger!"))
    told = [view.once(KEY).learn(turn) for _ in range(2)]
    assert told[0] == told[1]
    assert (told[0].turns, len(told[0].refused)) == (1, 1)
    keeping.jobs.wait_for_learning()
    assert said(view.list()) == ["Box 17 holds item 4242"]


def test_what_was_erased_is_not_written_again(memory: Memory) -> None:
    view = private(memory, ALICE)
    done = view.once(KEY).remember("I like tea")
    pinned = view.once("pin")
    pinned.pin(done.id)
    view.erase(done.id)
    with pytest.raises(tacit.NotFound):
        view.once(KEY).remember("I like tea")
    with pytest.raises(tacit.NotFound):
        pinned.pin(done.id)
    assert said(view.list()) == []


def test_what_was_wiped_is_not_written_again(keeping: Memory) -> None:
    view = private(keeping, ALICE)
    view.once("a").remember("I like tea")
    view.once("b").learn([Message("user", "I live in Lisbon")])
    view.wipe()
    with pytest.raises(tacit.NotFound):
        view.once("a").remember("I like tea")
    with pytest.raises(tacit.NotFound):
        view.once("b").learn([Message("user", "I live in Lisbon")])
    keeping.jobs.wait_for_learning()
    assert said(view.list()) == []


def test_an_erasure_that_is_asked_for_again_finishes_what_was_left(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = private(memory, ALICE)
    id = kept(view, "I like tea")
    monkeypatch.setattr("tacit.lifecycle.erasure.scrub_files", lambda _: False)
    assert not view.once(KEY).erase(id).complete
    monkeypatch.undo()
    done = view.once(KEY).erase(id)
    assert (done.count, cleaned(done)) == (1, True)
    assert done.certificate is not None
    assert memory.admin.verify_certificate(done.certificate.to_json())


def test_a_repeat_tells_nothing_of_what_may_no_longer_be_heard(memory: Memory) -> None:
    """Bob reworded the room's memory, and has left the room since."""
    fields: dict[str, Any] = {"visibility": "room", "sensitivity": "public", "for_room": True}
    id = kept(group(memory, ALICE), "The party is on Friday", **fields)
    told = group(memory, BOB).once(KEY).update(id, "The party is on Saturday")
    assert group(memory, BOB).once(KEY).update(id, "The party is on Saturday") == told
    memory.chats.leave(TEAM, BOB.key)
    outside = group(memory, BOB, here=(ALICE,))
    with pytest.raises(tacit.NotFound) as refused:
        outside.once(KEY).update(id, "The party is on Saturday")
    memory.operator("tidy").erase(id)
    with pytest.raises(tacit.NotFound) as gone:
        outside.once(KEY).update(id, "The party is on Saturday")
    assert str(refused.value) == str(gone.value)


def test_an_agent_that_may_use_less_by_now_is_told_nothing(shared_url: str, opened: Open) -> None:
    def asked(categories: list[str] | None) -> View:
        chat = tacit.Chat.private(ALICE.key)
        view = opened(shared_url).view(ALICE, chat, categories=categories)
        assert isinstance(view, View)
        return view

    done = asked(None).once(KEY).put("profile", "drink", "tea")
    assert asked(["profile"]).once(KEY).put("profile", "drink", "tea") == done
    with pytest.raises(tacit.TacitError):
        asked(["project"]).once(KEY).put("profile", "drink", "tea")


def test_linked_identities_are_one_person_and_unlinked_ones_are_not(memory: Memory) -> None:
    def asked() -> View:
        view = memory.view(ACCOUNT, tacit.Chat.private("web:42"), thread="one")
        assert isinstance(view, View)
        return view

    done = asked().once(KEY).remember("I like tea")
    memory.admin.link(ALICE.key, ACCOUNT.key)
    assert asked().once(KEY).remember("I like tea") == done
    with pytest.raises(tacit.Conflict):
        private(memory, ALICE).once(KEY).remember("I like coffee")
    private(memory, ALICE).once("hers").remember("I like trains")
    memory.admin.unlink(ALICE.key)
    assert private(memory, ALICE).once(KEY).remember("I like coffee").created
    assert asked().once(KEY).remember("I like tea") == done
    with pytest.raises(tacit.NotFound):  # it is the account's by now; nor is it done again
        private(memory, ALICE).once("hers").remember("I like trains")


def test_a_repeat_is_known_for_a_day(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    first = view.once(KEY).put("profile", "drink", "tea")
    clock.forward(days=0.9)
    memory.jobs.expire()
    assert view.once(KEY).put("profile", "drink", "tea") == first
    clock.forward(days=0.2)
    memory.jobs.expire()
    assert counts(memory)["idempotency_keys"] == counts(memory)["idempotency_memories"] == 0


def test_nothing_that_was_said_is_kept_of_it(plain: Memory) -> None:
    view = private(plain, ALICE)
    id = kept(view, f"I like {WORD}")
    for word, args, named in _story(view, kept(view, WORD), id)[:12]:
        attrgetter(word)(view.once(f"{word} {WORD}"))(*args, **named)
    view.once(f"more {WORD}").remember(f"I like {WORD}", key=WORD, category="profile")
    with plain._storage.database.read() as connection:
        rows = [*connection.execute(select(idempotency_keys)), *connection.execute(select(idempotency_memories))]
    assert len(rows) > 12
    assert WORD not in repr(rows)
    assert "Lisbon" not in repr(rows)


def test_a_trace_cannot_be_kept_once_and_an_import_repeats_by_itself(plain: Memory) -> None:
    view = private(plain, ALICE)
    assert view.once(KEY).trace("I live in Lisbon") == view.trace("I live in Lisbon")
    with pytest.raises(tacit.InvalidInput, match="once"):
        view.once(KEY).trace("I live in Lisbon", keep=True)
    lines = ['{"content": "I like tea"}']
    assert view.once(KEY).imports.add_lines(lines).created == 1
    assert view.once(KEY).imports.add_lines(lines).skipped == 1
    moved = [tacit.ImportItem(content="I like cake")]
    assert view.once(KEY).imports.add("r", moved, source="mem0").created == 1
    assert view.once(KEY).imports.add("r", moved, source="mem0").already == 1
    assert view.once(KEY).imports.revert("r") == view.once(KEY).imports.revert("r")


def test_a_view_that_does_things_once_reads_like_any_other(plain: Memory) -> None:
    view = private(plain, ALICE)
    id = kept(view, "I like tea")
    once = view.once("another").once(KEY)
    reads: dict[str, tuple[Any, ...]] = {
        "people.about": ("me",), "audit.activity": (), "sessions.begin": (), "block": (), "browse": (),
        "checkpoints.get": (), "delta": (), "explain": (id,), "export": (), "files.list": (), "fresh": ("tea",),
        "get": ("profile", "drink"), "graph": (), "audience.of": (id,), "history": (id,), "imports.list": (),
        "list": (), "audit.access_log": (), "people.list": (), "proposals.list": (), "query": ("tea",),
        "recall": ("tea",), "show": (id,), "stats": (), "suggest_update": ("I like green tea",),
    }  # fmt: skip
    for word, args in reads.items():
        expected, found = (attrgetter(word)(one)(*args) for one in (view, once))
        if word == "export":
            expected, found = list(expected), list(found)
        assert found == expected, word
    with pytest.raises(tacit.NotFound):
        once.files.read("_index.md")
    assert counts(plain)["idempotency_keys"] == 0
    # The block of a conversation that begins is noted by whoever asks first.
    begun = private(plain, ALICE, thread="begun").once(KEY).block()
    assert begun == private(plain, ALICE, thread="begun").block()


def test_a_plain_write_pays_nothing_for_it_and_a_repeat_reads_no_table_through(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url)
    view = private(memory, ALICE)
    id = kept(view, "I am here")
    with recorded(memory) as ran:
        view.remember("I like tea")
        view.pin(id)
    assert ran
    assert not [one for one in ran if "done_" in one.sql or "checkpoints" in one.sql]
    for number in range(150):  # a table of a few rows is read in whichever way
        view.once(f"{KEY} {number}").pin(id, on=bool(number % 2))
        private(memory, BOB).checkpoints.save(1, thread=f"thread {number}")
    memory.admin.maintain()
    with recorded(memory) as ran:
        for _ in range(2):
            view.once(KEY).pin(id, on=False)
            view.checkpoints.save(1)
    ours = ("idempotency_keys", "idempotency_memories", "checkpoints")
    asked = [one for one in ran if one.sql.startswith("SELECT")]
    asked = [one for one in asked if any(f"FROM {table}" in " ".join(one.sql.split()) for table in ours)]
    assert len(asked) > 3
    with closing(plans_of(shared_url)) as plans:
        assert [step for one in asked for step in plans.too_wide(one)] == []


def test_a_write_that_nobody_thought_of_is_refused_rather_than_done_twice(plain: Memory) -> None:
    class Wider(View):
        @write(disabled=None)
        def change(self) -> None:
            self._context.write(lambda _: None)

    with pytest.raises(tacit.InvalidInput, match="once"):
        Wider(private(plain, ALICE)._context).once(KEY).change()


def test_what_was_asked_is_known_again_whatever_it_was() -> None:
    """The same values in the same places, however they are handed over; and nothing else."""
    mixed = [1, 1.0, True, "1", None, [1], {"1": 1}, {1: 1}, {1}, b"1", ["1"], "", [], {}]
    mixed += [NAIVE, NAIVE.replace(tzinfo=UTC), [[1], 2], [[1, 2]], "map"]
    prints = [fingerprint_call(KEY, {"value": value}) for value in mixed]
    assert len(set(prints)) == len(mixed)
    assert prints == [fingerprint_call(KEY, {"value": value}) for value in copy.deepcopy(mixed)]
    assert not set(prints) & {fingerprint_call("another", {"value": value}) for value in mixed}
    alike = [("room", tacit.Visibility.ROOM), ([1, 2], (1, 2)), ({"a": 1, "b": 2}, {"b": 2, "a": 1})]
    for one, other in alike:
        assert fingerprint_call(KEY, {"value": one}) == fingerprint_call(KEY, {"value": other})
    endless: list[Any] = []
    endless.append(endless)
    strange = [endless, datetime.max.replace(tzinfo=UTC), 10**5000, "\ud800", object(), float("nan")]
    for value in strange:
        assert len(fingerprint_call(KEY, {"value": value})) == 64
