"""The steps of graphs: whose they are, in front of whom they are there, and how they go."""

import base64
import json
from typing import Any

import pytest

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.records.checkpoints import GraphStep, StepValue, StepWrite
from tacit.view.checkpoints import GraphSteps
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, TEAM, SetClock, group, kept, private
from tests.contract.traces import traces

ACCOUNT = tacit.Requester("acct:42")
OPEN: dict[str, Any] = {"visibility": "room", "sensitivity": "public"}


def saved(view: View, word: str, id: str = "1", thread: str = "t", **fields: Any) -> GraphSteps:
    """A step with a value and a write, both of this word."""
    steps, data = view.checkpoints.steps, word.encode()
    step = GraphStep(thread=thread, id=id, type="x", data=b"-", versions={"said": word}, **fields)
    steps.save(step, [StepValue(channel="said", version=word, type="x", data=data)])
    write = StepWrite(task="task", index=0, channel="said", type="x", data=data)
    steps.write(thread, "", id, [write])
    return steps


def told(view: View, thread: str = "t", id: str | None = None) -> str | None:
    """The word of a step, if it is there, and nothing but it."""
    found = view.checkpoints.steps.find(thread, "", id)
    if found is None:
        return None
    (word,) = {one.data for one in found.values} | {one.data for one in found.writes}
    return word.decode()


def newcomers(memory: Memory, *here: tacit.Requester, who: tacit.Requester = ALICE) -> View:
    return group(memory, who, here=here)


def test_a_step_is_there_after_reopening_for_its_person_alone(shared_url: str, opened: Open) -> None:
    saved(private(opened(shared_url), ALICE), "mine")
    memory = opened(shared_url)
    assert told(private(memory, ALICE)) == "mine"
    assert told(private(memory, ALICE), "another") is None
    for view in (
        private(memory, BOB),
        group(memory, ALICE),
        memory.view(BOB, tacit.Chat.private(ALICE.key)),
        memory.view(ALICE, tacit.Chat.unknown("web:9")),
        memory.space("another").view(ALICE, tacit.Chat.private(ALICE.key)),
    ):
        assert isinstance(view, View)
        assert told(view) is None
        assert list(view.checkpoints.steps.list()) == []


def test_where_nobody_knows_who_listens_nothing_is_kept_or_taken_away(memory: Memory) -> None:
    saved(private(memory, ALICE), "mine")
    view = memory.view(ALICE, tacit.Chat.unknown("web:9"))
    assert isinstance(view, View)
    for act in (
        lambda: saved(view, "theirs"),
        lambda: view.checkpoints.steps.delete_thread("t"),
        lambda: view.checkpoints.steps.copy_thread("t", "u"),
        lambda: view.checkpoints.steps.prune(["t"]),
        lambda: view.checkpoints.steps.delete_runs(["r"]),
    ):
        with pytest.raises(tacit.InvalidInput, match="private chat"):
            act()
    assert told(private(memory, ALICE)) == "mine"


def test_in_a_group_it_is_there_while_nobody_came_who_was_not_there(memory: Memory) -> None:
    saved(newcomers(memory, ALICE, BOB), "before Bob")
    assert told(newcomers(memory, ALICE, BOB)) == "before Bob"
    assert told(newcomers(memory, ALICE, BOB, who=BOB)) is None
    assert told(private(memory, ALICE)) is None
    assert told(group(memory, ALICE, FAMILY, here=(ALICE,))) is None
    memory.chats.join(TEAM, CAROL.key)
    assert told(newcomers(memory, ALICE, BOB)) is None
    saved(newcomers(memory, ALICE, BOB), "before Carol", "2")
    assert [one.step.id for one in newcomers(memory, ALICE, BOB).checkpoints.steps.list("t")] == ["2"]
    memory.chats.leave(TEAM, CAROL.key)
    memory.chats.leave(TEAM, BOB.key)
    alone = newcomers(memory, ALICE)
    assert [told(alone, id=id) for id in ("1", "2")] == ["before Bob", "before Carol"]


def test_what_goes_on_from_a_step_is_not_for_who_came_in_between(memory: Memory) -> None:
    """The state of a run is that of its beginning, whoever is there at its end."""
    saved(newcomers(memory, ALICE, BOB), "first")
    view = newcomers(memory, ALICE, BOB, CAROL)
    saved(view, "second", "2", parent="1")
    assert told(view) is None
    memory.chats.leave(TEAM, CAROL.key)
    assert told(newcomers(memory, ALICE, BOB)) == "second"


def test_a_group_that_moved_takes_them_along(memory: Memory) -> None:
    saved(group(memory, ALICE, "telegram:-7"), "here")
    memory.chats.migrate("telegram:-7", "telegram:-1007")
    assert told(group(memory, ALICE, "telegram:-1007")) == "here"


def test_linked_identities_share_theirs_and_unlinked_ones_keep_their_own(memory: Memory) -> None:
    there, here = private(memory, ACCOUNT), private(memory, ALICE)
    saved(there, "account", "1")
    saved(here, "telegram", "2")
    memory.admin.link(ALICE.key, ACCOUNT.key)
    assert told(here) == told(there) == "telegram"
    assert [one.step.id for one in there.checkpoints.steps.list("t")] == ["2", "1"]
    saved(here, "both", "3")
    memory.admin.unlink(ALICE.key)
    assert [told(here), told(there)] == ["telegram", "both"]


def test_an_agent_that_may_use_less_reads_nothing_of_another(memory: Memory) -> None:
    def narrowed(*categories: str) -> View:
        view = memory.view(ALICE, tacit.Chat.private(ALICE.key), categories=list(categories))
        assert isinstance(view, View)
        return view

    whole, narrow = private(memory, ALICE), narrowed("profile")
    saved(whole, "everything", "1")
    assert told(narrow) is None
    narrow.checkpoints.steps.delete_thread("t")
    assert told(whole) == "everything"
    saved(narrow, "narrow", "2")
    assert [told(one) for one in (narrow, narrowed("profile", "fact"))] == ["narrow"] * 2
    assert told(narrowed("fact")) is None
    assert [one.step.id for one in whole.checkpoints.steps.list("t")] == ["2", "1"]


def test_a_long_list_comes_in_pages_the_newest_first(memory: Memory) -> None:
    steps = private(memory, ALICE).checkpoints.steps
    for number in range(25):
        data = {"step": number, "even": number % 2 == 0}
        id = f"{number:03}"
        steps.save(GraphStep(thread=f"t{number % 3}", id=id, type="x", data=b"-", metadata=data))
    seen, cursor = [], None
    while True:
        page = steps.list(metadata={"even": True}, limit=4, cursor=cursor)
        seen += [one.step.metadata["step"] for one in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == list(range(24, -1, -2))
    assert [one.step.id for one in steps.list("t0", before="010")] == ["009", "006", "003", "000"]
    assert list(steps.list(metadata={"nobody": "says so"})) == []
    wrongs: list[dict[str, Any]] = [{"limit": 0}, {"limit": 101}, {"cursor": "x"}, {"cursor": '["1"]'}]
    for wrong in wrongs:
        with pytest.raises(tacit.InvalidInput):
            steps.list(**wrong)


def test_what_is_too_large_or_no_bytes_is_refused(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STEP_PART_MAX_BYTES", 10)
    steps = private(memory, ALICE).checkpoints.steps
    for data in (b"x" * 11, "text", None):
        with pytest.raises(tacit.InvalidInput, match="step"):
            steps.save(GraphStep(thread="t", id="1", type="x", data=data))  # type: ignore[arg-type]
        value = StepValue(channel="c", version="1", type="x", data=data)  # type: ignore[arg-type]
        with pytest.raises(tacit.InvalidInput, match="value"):
            steps.save(GraphStep(thread="t", id="1", type="x", data=b""), [value])
    assert steps.find("t") is None


@pytest.mark.parametrize("act", ["wipe", "person", "space", "chat", "thread"])
def test_whatever_erases_takes_them_along_to_the_last_byte(shared_url: str, opened: Open, act: str) -> None:
    memory, word = opened(shared_url), "Qxstepword"
    here = group(memory, ALICE) if act == "chat" else private(memory, ALICE)
    saved(here, word)
    saved(private(memory, BOB), "Bob's")
    if act == "wipe":
        private(memory, ALICE).wipe()
    elif act == "person":
        memory.admin.erase_person(ALICE.key)
    elif act == "space":
        memory.admin.erase_space()
    elif act == "chat":
        memory.operator("ops").erase_source(TEAM)
    else:
        here.checkpoints.steps.delete_thread("t")
    assert told(here) is None
    assert (told(private(memory, BOB)) == "Bob's") is (act != "space")
    memory.close()
    if act != "thread":
        assert traces(shared_url, word) == []


def test_an_erasure_takes_what_may_have_been_saved_of_it_since(memory: Memory, clock: SetClock) -> None:
    for who in (ALICE, BOB, CAROL):
        saved(private(memory, who), "before", thread="old")
    clock.forward(seconds=1)
    id = kept(group(memory, ALICE), "A party", **OPEN)
    for who in (ALICE, BOB, CAROL):
        saved(private(memory, who), "since", thread="new")
    saved(group(memory, BOB), "in the room", thread="new")
    elsewhere = group(memory, CAROL, FAMILY, here=(CAROL,))
    saved(elsewhere, "elsewhere", thread="new")
    done = private(memory, ALICE).erase(id)
    assert done.certificate is not None
    assert "graph_steps" not in done.certificate.counts  # how many Bob had is not told to Alice
    for who, left in ((ALICE, None), (BOB, None), (CAROL, "since")):
        assert told(private(memory, who), "old") == "before", who
        assert told(private(memory, who), "new") == left, who
    assert told(group(memory, BOB), "new") is None
    assert told(elsewhere, "new") == "elsewhere"


def test_what_was_never_told_in_a_group_takes_nothing_of_a_group_along(memory: Memory) -> None:
    """It would tell them of it."""
    hidden = [
        kept(private(memory, ALICE), "A note to myself"),
        kept(group(memory, ALICE), "Kept to myself"),
        kept(group(memory, ALICE), "My illness", visibility="room", sensitivity="sensitive"),
    ]
    saved(group(memory, BOB), "Bob's")
    for id in hidden:
        private(memory, ALICE).erase(id)
    assert told(group(memory, BOB)) == "Bob's"


def test_an_export_of_everything_tells_them(memory: Memory) -> None:
    view = private(memory, ALICE)
    for number in range(25):  # more than a page
        saved(view, f"word {number}", f"{number:02}", metadata={"step": number})
    saved(private(memory, BOB), "Bob's")
    lines = list(view.export(everything=True))
    found = [part for part in map(json.loads, lines) if part["type"] == "step"]
    assert [part["id"] for part in found] == [f"{number:02}" for number in reversed(range(25))]
    (value,), (write,) = found[0]["values"], found[0]["writes"]
    assert base64.b64decode(value["data"]) == base64.b64decode(write["data"]) == b"word 24"
    assert (value["channel"], write["task"], found[0]["thread"]) == ("said", "task", "t")
    assert not any('"step"' in line for line in view.export())
    assert sum("Checkpoints of graphs" in line for line in view.export(format="markdown")) == 1
    elsewhere = memory.space("another").view(ALICE, tacit.Chat.private(ALICE.key))
    assert elsewhere.imports.add_lines(lines).refused == ()
    assert isinstance(elsewhere, View)
    assert told(elsewhere) is None


def test_what_is_at_hand_is_never_older_than_what_is_stored(shared_url: str, opened: Open, clock: SetClock) -> None:
    here, there = (private(opened(shared_url), ALICE) for _ in range(2))
    saved(there, "zero", "0")
    for number, view in enumerate((here, here, there, here), start=1):
        saved(view, f"word {number}", f"{number}")
        clock.forward(seconds=1)
        assert told(here) == told(there) == f"word {number}"
    bare = GraphStep(thread="t", id="5", type="x", data=b"-", metadata={"a": [1]})
    here.checkpoints.steps.save(bare)
    first = here.checkpoints.steps.find("t")
    assert first is not None
    first.step.metadata["a"].append(2)  # whoever gets it may change it
    again = here.checkpoints.steps.find("t")
    assert again is not None
    assert (again.step.metadata, again.writes) == ({"a": [1]}, ())
    write = StepWrite(task="k", index=0, channel="c", type="x", data=b"-")
    there.checkpoints.steps.write("t", "", "5", [write])
    found = here.checkpoints.steps.find("t")
    assert found is not None
    assert found.writes == (write,)
    there.checkpoints.steps.delete_thread("t")
    assert here.checkpoints.steps.find("t") is None


def test_a_value_that_did_not_change_is_there_with_each_step(memory: Memory) -> None:
    steps = private(memory, ALICE).checkpoints.steps
    kept_value = StepValue(channel="a", version="1", type="x", data=b"kept")
    for number in range(1, 5):
        new = StepValue(channel="b", version=f"{number}", type="x", data=f"{number}".encode())
        versions = {"a": "1", "b": f"{number}"}
        step = GraphStep(thread="t", id=f"{number}", type="x", data=b"-", versions=versions)
        steps.save(step, [new] if number > 1 else [kept_value, new])
        for id in (None, f"{number}"):
            found = steps.find("t", "", id)
            assert found is not None
            assert sorted(found.values, key=lambda one: one.channel) == [kept_value, new]
