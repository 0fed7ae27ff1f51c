"""The steps of graphs: whose they are, in front of whom they are there, and how they go."""

import base64
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.records.checkpoints import GraphStep, StepValue, StepWrite, StoredGraphStep
from tacit.storage import checkpoints, engine, spaces
from tacit.view.checkpoints import GraphSteps
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, ALOUD, BOB, CAROL, FAMILY, TEAM, SetClock, group, in_pages, kept, private
from tests.contract.traces import ERASE_ALL, traces

ACCOUNT = tacit.Requester("acct:42")


def saved(view: View, word: str, id: str = "1", thread: str = "t", **fields: Any) -> GraphSteps:
    """A step with a value and a write, both of this word."""
    steps, data = view.checkpoints.steps, word.encode()
    step = GraphStep(thread=thread, id=id, type="x", data=b"-", versions={"said": word}, **fields)
    steps.save(step, [StepValue(channel="said", version=word, type="x", data=data)])
    write = StepWrite(task="task", index=0, channel="said", type="x", data=data)
    steps.write(thread, "", id, [write])
    return steps


def found_step(steps: GraphSteps, thread: str = "t", ns: str = "", id: str | None = None) -> StoredGraphStep:
    """A step that is there."""
    found = steps.find(thread, ns, id)
    assert found is not None
    return found


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
    even = in_pages(steps.list, metadata={"even": True}, limit=4)
    assert [one.step.metadata["step"] for one in even] == list(range(24, -1, -2))
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


@pytest.mark.parametrize("act", [*ERASE_ALL, "chat", "thread"])
def test_whatever_erases_takes_them_along_to_the_last_byte(shared_url: str, opened: Open, act: str) -> None:
    memory, word = opened(shared_url), "Qxstepword"
    here = group(memory, ALICE) if act == "chat" else private(memory, ALICE)
    saved(here, word)
    saved(private(memory, BOB), "Bob's")
    if act == "chat":
        memory.operator("ops").erase_source(TEAM)
    elif act == "thread":
        here.checkpoints.steps.delete_thread("t")
    else:
        ERASE_ALL[act](memory)
    assert told(here) is None
    assert (told(private(memory, BOB)) == "Bob's") is (act != "space")
    memory.close()
    if act != "thread":
        assert traces(shared_url, word) == []


def test_an_erasure_takes_what_may_have_been_saved_of_it_since(memory: Memory, clock: SetClock) -> None:
    for who in (ALICE, BOB, CAROL):
        saved(private(memory, who), "before", thread="old")
    clock.forward(seconds=1)
    id = kept(group(memory, ALICE), "A party", **ALOUD)
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
    first = found_step(here.checkpoints.steps, "t")
    first.step.metadata["a"].append(2)  # whoever gets it may change it
    again = found_step(here.checkpoints.steps, "t")
    assert (again.step.metadata, again.writes) == ({"a": [1]}, ())
    write = StepWrite(task="k", index=0, channel="c", type="x", data=b"-")
    there.checkpoints.steps.write("t", "", "5", [write])
    found = found_step(here.checkpoints.steps, "t")
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
            found = found_step(steps, "t", "", id)
            assert sorted(found.values, key=lambda one: one.channel) == [kept_value, new]


def step(id: str, **versions: str) -> GraphStep:
    return GraphStep(thread="t", id=id, type="x", data=b"-", versions=versions)


def value(channel: str, version: str, data: bytes) -> StepValue:
    return StepValue(channel=channel, version=version, type="x", data=data)


def write(data: bytes, index: int = 0) -> StepWrite:
    return StepWrite(task="k", index=index, channel="c", type="x", data=data)


def test_a_save_that_is_interrupted_leaves_nothing_and_holds_nobody_up(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'tacit.db'}"
    here, there = (private(opened(url), ALICE) for _ in range(2))
    here.checkpoints.steps.save(step("1", c="1"), [value("c", "1", b"whole")])
    assert there.remember("I was here")
    execute, calls = engine.execute_on_driver, itertools.count(1)

    def interrupted(*given: Any, **how: Any) -> Any:
        if next(calls) == 3:  # after the guard and the step, before its value
            raise KeyboardInterrupt
        return execute(*given, **how)

    monkeypatch.setattr(engine, "execute_on_driver", interrupted)
    with pytest.raises(KeyboardInterrupt):
        here.checkpoints.steps.save(step("2", c="2"), [value("c", "2", b"half")])
    found = found_step(here.checkpoints.steps, "t")
    assert found.step.id == "1"
    assert here.remember("I write again")
    assert there.remember("And so does somebody else")


@pytest.mark.parametrize("values", [[], [value("c", "2", b"new")]])
def test_the_short_way_adds_nothing_once_identities_have_changed(
    memory: Memory, values: list[StepValue], monkeypatch: pytest.MonkeyPatch
) -> None:
    view = private(memory, ALICE)
    view.checkpoints.steps.save(step("1", c="1"), [value("c", "1", b"old")])
    database, answers = memory._storage.database, []
    write_if = database.write_if

    def noted(*given: Any) -> bool:
        answers.append(write_if(*given))
        return answers[-1]

    monkeypatch.setattr(database, "write_if", noted)
    later = step("2", c=values[0].version if values else "1")
    view.checkpoints.steps.save(later, values)
    with database.read() as connection:
        rev = spaces.identity_revision(connection, "default")
    moved = {"space": "default", "rev": rev + 1}
    guard, added = checkpoints._IDENTITIES_UNCHANGED, answers.copy()
    row = {"space_id": "default", "person": "ext:x", "chat": "", "thread": "t", "ns": ""}
    assert added == [True]
    assert not write_if((guard, moved), [(checkpoints._KEEP_WRITE, _written(row, n)) for n in "12"])
    assert not write_if((guard, moved), [(checkpoints._KEEP_WRITE, _written(row, "1"))])
    with database.read() as connection:
        assert not connection.execute(text("SELECT * FROM graph_writes")).all()


def _written(row: dict[str, Any], task: str) -> dict[str, Any]:
    written = {"step": "2", "task": task, "idx": 0, "path": "", "channel": "c", "type": "x"}
    return {**row, **written, "audience": None, "categories": None, "saved_at": 1, "data": b"-"}


def test_what_is_handed_in_twice_at_once_is_kept_once(memory: Memory) -> None:
    steps = private(memory, ALICE).checkpoints.steps
    for _ in range(2):
        steps.save(step("1", c="1"), [value("c", "1", b"same"), value("c", "1", b"same")])
        steps.write("t", "", "1", [write(b"first"), write(b"second")])
        found = found_step(steps, "t")
        assert [one.data for one in found.values] == [b"same"]
        assert [one.data for one in found.writes] == [b"first"]
        steps.write("t", "", "1", [write(b"third"), write(b"last")], replace=True)
        found = found_step(steps, "t")
        assert [one.data for one in found.writes] == [b"last"]
        steps.delete_thread("t")


def test_a_step_whose_values_are_anothers_by_now_is_absent_and_not_half_there(memory: Memory) -> None:
    there, here = private(memory, ACCOUNT), private(memory, ALICE)
    here.checkpoints.steps.save(step("1", a="1"), [value("a", "1", b"telegram")])
    memory.admin.link(ALICE.key, ACCOUNT.key)
    there.checkpoints.steps.save(step("2", a="1", b="2"), [value("b", "2", b"account")])
    whole = found_step(there.checkpoints.steps, "t")
    assert {one.data for one in whole.values} == {b"telegram", b"account"}
    memory.admin.unlink(ALICE.key)
    assert there.checkpoints.steps.find("t") is None
    assert list(there.checkpoints.steps.list()) == []
    found = found_step(here.checkpoints.steps, "t")
    assert [one.data for one in found.values] == [b"telegram"]


def test_an_erasure_reaches_who_was_the_same_person_while_it_was_there(memory: Memory, clock: SetClock) -> None:
    there, here = private(memory, ACCOUNT), private(memory, ALICE)
    id = here.remember("I have a secret garden").id
    memory.admin.link(ALICE.key, ACCOUNT.key)
    clock.forward(seconds=1)
    assert [one.content for one in there.list()] == ["I have a secret garden"]
    there.checkpoints.steps.save(step("1", c="1"), [value("c", "1", b"I have a secret garden")])
    there.checkpoints.save({"heard": "I have a secret garden"})
    memory.admin.unlink(ALICE.key)
    here.erase(id)
    assert there.checkpoints.steps.find("t") is None
    assert there.checkpoints.get() is None


def test_a_graph_within_a_graph_is_not_for_who_came_while_it_ran(memory: Memory) -> None:
    def within(ns: str, id: str) -> GraphStep:
        return GraphStep(thread="t", ns=ns, id=id, type="x", data=b"-")

    group(memory, ALICE).checkpoints.steps.save(step("1"))
    later = group(memory, ALICE, here=(ALICE, BOB, CAROL)).checkpoints.steps
    for number, ns in enumerate(("child", "child|grandchild"), start=2):
        later.save(within(ns, str(number)))
        assert later.find("t", ns) is None
    later.save(step("4"))  # they begin anew, with all who are there
    later.save(within("child", "5"))
    assert later.find("t", "child") is not None
    memory.chats.leave(TEAM, CAROL.key)
    assert group(memory, ALICE).checkpoints.steps.find("t", "child|grandchild") is not None
