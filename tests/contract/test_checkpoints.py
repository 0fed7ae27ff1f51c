"""Checkpoints of agents: one state for a person and a thread, and gone with what it may tell."""

import json
from typing import Any

import pytest

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, FAMILY, SetClock, group, kept, private, said
from tests.contract.threads import errors, together
from tests.contract.traces import ERASE_ALL, traces

STATE: dict[str, Any] = {"step": 3, "done": [True, None, 0.5], "said": "Où est-ce ? 🚂", "of": {}}
ACCOUNT = tacit.Requester("acct:42")


@pytest.fixture
def plain(opened: Open) -> Memory:
    """Where nothing depends on the database."""
    return opened("sqlite://")


def narrowed(memory: Memory, categories: list[str] | None) -> View:
    view = memory.view(ALICE, tacit.Chat.private(ALICE.key), categories=categories)
    assert isinstance(view, View)
    return view


def data(view: View, thread: str | None = None) -> Any:
    """What is saved, which is there."""
    found = view.checkpoints.get(thread)
    assert found is not None
    return found.data


def test_a_checkpoint_comes_back_as_it_was_saved(shared_url: str, opened: Open) -> None:
    saved = private(opened(shared_url), ALICE).checkpoints.save(STATE)
    again = private(opened(shared_url), ALICE)
    assert again.checkpoints.get() == saved
    assert (saved.data, saved.version, saved.thread) == (STATE, 1, ALICE.key)
    for one in (None, 0, "", [], "x" * 1000, 2**70, [[["deep"]]], {"a": {"b": {"c": 1}}}):
        again.checkpoints.save(one)
        assert data(again) == one


def test_each_thread_and_each_person_has_one(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.checkpoints.save("first")
    clock.forward(seconds=5)
    second = view.checkpoints.save("second")
    view.checkpoints.save("elsewhere", thread="elsewhere")
    private(memory, BOB).checkpoints.save("Bob's", thread=ALICE.key)
    found = view.checkpoints.get()
    assert found == second
    assert found is not None
    assert (found.version, found.updated_at) == (2, clock.now)
    assert data(private(memory, ALICE, thread="elsewhere")) == "elsewhere"
    assert view.checkpoints.get("nowhere") is None
    assert memory.space("another").view(ALICE, tacit.Chat.private(ALICE.key)).checkpoints.get() is None


def test_whoever_read_an_older_version_is_told_so(memory: Memory) -> None:
    view = private(memory, ALICE)
    first = view.checkpoints.save("one", version=0)
    with pytest.raises(tacit.Conflict, match="version 1"):
        view.checkpoints.save("again", version=0)
    second = view.checkpoints.save("two", version=first.version)
    with pytest.raises(tacit.Conflict, match="version 2"):
        view.checkpoints.save("three", version=first.version)
    assert view.checkpoints.get() == second
    view.checkpoints.delete()
    with pytest.raises(tacit.Conflict, match="version 0"):
        view.checkpoints.save("three", version=second.version)
    for bad in (-1, True, "1", 2**63):
        with pytest.raises(tacit.InvalidInput, match="version"):
            view.checkpoints.save("x", version=bad)  # type: ignore[arg-type]


def test_of_many_who_go_on_from_one_version_one_succeeds(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    start = private(memories[0], ALICE).checkpoints.save("start")
    told = together(4, lambda n: private(memories[n % 2], ALICE).checkpoints.save(n, version=start.version))
    assert [type(one) for one in errors(told)] == [tacit.Conflict] * 3


def test_what_json_has_no_word_for_is_refused(plain: Memory) -> None:
    view = private(plain, ALICE)
    endless: list[Any] = []
    endless.append(endless)
    deep: Any = "x"
    for _ in range(limits.CHECKPOINT_DEPTH_MAX_COUNT + 1):
        deep = [deep]
    bad = [object(), {1: 2}, {"a": b"x"}, float("nan"), [float("inf")], {"a": {1, 2}}, "a\x00b"]
    bad += ["\ud800", {"\ud800": 1}, {"a\x00": 1}, endless, deep, 10**5000]
    bad += ["x" * limits.CHECKPOINT_MAX_BYTES, ["é" * (limits.CHECKPOINT_MAX_BYTES // 2)]]
    for data in bad:
        with pytest.raises(tacit.InvalidInput, match="data"):
            view.checkpoints.save(data)
    assert view.checkpoints.get() is None


def test_where_others_listen_there_is_none(plain: Memory) -> None:
    private(plain, ALICE, thread="plans").checkpoints.save("mine")
    for view in (
        group(plain, ALICE, thread="plans"),
        plain.view(ALICE, tacit.Chat.unknown("web:9"), thread="plans"),
        plain.view(BOB, tacit.Chat.private(ALICE.key), thread="plans"),
    ):
        assert view.checkpoints.get() is None
        with pytest.raises(tacit.InvalidInput, match="private"):
            view.checkpoints.save("x")
        with pytest.raises(tacit.InvalidInput, match="private"):
            view.checkpoints.delete()
    assert private(plain, BOB, thread="plans").checkpoints.get() is None


def test_an_agent_that_may_use_less_does_not_read_what_another_saved(plain: Memory) -> None:
    whole, narrow = narrowed(plain, None), narrowed(plain, ["profile"])
    whole.checkpoints.save("with everything")
    assert narrow.checkpoints.get() is None
    with pytest.raises(tacit.Conflict, match="thread"):
        narrow.checkpoints.save("mine")
    narrow.checkpoints.delete()
    assert whole.checkpoints.get() is not None
    saved = narrow.checkpoints.save("mine", thread="own")
    for view in (narrow, whole, narrowed(plain, ["profile", "project"])):
        assert view.checkpoints.get("own") == saved
    assert narrowed(plain, ["project"]).checkpoints.get("own") is None
    assert not [line for line in narrow.export(everything=True) if "with everything" in line]


def test_linked_identities_share_theirs_and_unlinked_ones_keep_their_own(memory: Memory, clock: SetClock) -> None:
    there = memory.view(ACCOUNT, tacit.Chat.private("web:42"), thread="plans")
    here = private(memory, ALICE, thread="plans")
    there.checkpoints.save("by the account")
    clock.forward(seconds=1)
    here.checkpoints.save("by telegram")
    memory.admin.link(ALICE.key, ACCOUNT.key)
    assert data(here) == data(there) == "by telegram"
    clock.forward(seconds=1)
    there.checkpoints.save("by both", version=1)
    memory.admin.unlink(ALICE.key)
    assert [data(here), data(there)] == ["by both", "by the account"]
    memory.admin.link(ALICE.key, ACCOUNT.key)
    for _ in range(2):
        here.checkpoints.delete()  # under every identity
    assert here.checkpoints.get() is there.checkpoints.get() is None


def test_an_erasure_takes_what_may_have_been_saved_of_it_and_nothing_older(memory: Memory, clock: SetClock) -> None:
    here = (ALICE, BOB)
    for who in (ALICE, BOB, CAROL):
        private(memory, who).checkpoints.save("before", thread="old")
    clock.forward(seconds=1)
    id = kept(group(memory, ALICE, here=here), "A party", **ALOUD)
    for who in (ALICE, BOB, CAROL):
        private(memory, who).checkpoints.save("since", thread="new")
    done = private(memory, ALICE).erase(id)
    assert done.certificate is not None
    assert "checkpoints" not in done.certificate.counts  # how many Bob had is not told to Alice
    for who, left in ((ALICE, False), (BOB, False), (CAROL, True)):
        assert private(memory, who).checkpoints.get("old"), who
        assert bool(private(memory, who).checkpoints.get("new")) is left, who


def test_an_erasure_takes_what_was_saved_with_those_whom_it_was_about(memory: Memory) -> None:
    """Also where they were not there to hear it, and where an earlier wording was about them."""
    room = group(memory, ALICE, FAMILY, here=(ALICE,))
    id = kept(room, "He plays the cello", about=[BOB.key], portable=True, **ALOUD)
    assert said(private(memory, BOB).people.about("me")) == ["He plays the cello"]
    private(memory, BOB).checkpoints.save({"heard": "He plays the cello"})
    room.update(id, "She plays the cello", about=[CAROL.key])
    private(memory, CAROL).checkpoints.save({"heard": "She plays the cello"})
    private(memory, ALICE).erase(id)
    assert private(memory, BOB).checkpoints.get() is None
    assert private(memory, CAROL).checkpoints.get() is None
    taken_back = kept(group(memory, ALICE), "A party", **ALOUD)
    private(memory, BOB).checkpoints.save("A party")
    private(memory, ALICE).set_visibility(taken_back, "private_only")
    private(memory, ALICE).erase(taken_back)
    assert private(memory, BOB).checkpoints.get() is None


def test_what_somebody_was_never_told_takes_nothing_of_theirs_along(memory: Memory) -> None:
    """It would tell them of it."""
    room = group(memory, ALICE)
    fields: dict[str, Any] = {"sensitivity": "public", "portable": True}
    hidden = [
        kept(room, "A note to myself"),
        kept(room, "Bob plays the cello", about=[BOB.key], **fields),
        kept(private(memory, ALICE), "Bob sings", about=[BOB.key], **fields),
        kept(
            group(memory, ALICE, FAMILY, here=(ALICE,)),
            "A surprise for Bob",
            about=[BOB.key],
            withheld_from=[BOB.key],
            visibility="room",
            **fields,
        ),
    ]
    private(memory, BOB).checkpoints.save("Bob's")
    for id in hidden:
        private(memory, ALICE).erase(id)
    assert private(memory, BOB).checkpoints.get() is not None


@pytest.mark.parametrize("act", ERASE_ALL)
def test_whatever_erases_a_person_erases_their_checkpoints(shared_url: str, opened: Open, act: str) -> None:
    memory, word = opened(shared_url), "Qxcheckpointword"
    private(memory, ALICE).checkpoints.save({"said": [word]})
    private(memory, BOB).checkpoints.save("Bob's")
    ERASE_ALL[act](memory)
    assert private(memory, ALICE).checkpoints.get() is None
    assert bool(private(memory, BOB).checkpoints.get()) is (act != "space")
    memory.close()
    assert traces(shared_url, word) == []


def test_an_export_of_everything_takes_them_along(memory: Memory) -> None:
    view = private(memory, ALICE)
    count = 45  # more than a page
    for number in range(count):
        view.checkpoints.save({"n": number}, thread=f"thread {number}")
    private(memory, BOB).checkpoints.save("Bob's")
    lines = list(view.export(everything=True))
    parts = [json.loads(line) for line in lines]
    found = [part for part in parts if part["type"] == "checkpoint"]
    assert sorted(part["data"]["n"] for part in found) == list(range(count))
    assert len({part["thread"] for part in found}) == count
    assert sum("thread 7" in line for line in view.export(format="markdown")) == 1
    assert not any("checkpoint" in line for line in view.export())
    elsewhere = memory.space("another").view(ALICE, tacit.Chat.private(ALICE.key))
    done = elsewhere.imports.add_lines(lines)
    assert (done.created, done.refused) == (0, ())
    assert elsewhere.checkpoints.get("thread 7") is None


def test_there_is_a_limit_to_how_many(plain: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHECKPOINTS_MAX_COUNT", 2)
    view = private(plain, ALICE)
    view.checkpoints.save(1, thread="a")
    view.checkpoints.save(2, thread="b")
    with pytest.raises(tacit.InvalidInput, match="at most 2"):
        view.checkpoints.save(3, thread="c")
    view.checkpoints.save(4, thread="b")
    view.checkpoints.delete("a")
    view.checkpoints.save(3, thread="c")


def test_a_checkpoint_that_is_sent_twice_is_saved_once(plain: Memory) -> None:
    view = private(plain, ALICE)
    first = view.once("a").checkpoints.save(STATE)
    assert view.once("a").checkpoints.save(STATE) == first
    view.checkpoints.save("gone on")
    assert view.once("a").checkpoints.save(STATE) == first
    assert data(view) == "gone on"
    view.checkpoints.delete()
    with pytest.raises(tacit.NotFound, match="checkpoint"):
        view.once("a").checkpoints.save(STATE)
