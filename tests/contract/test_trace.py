"""A message's way through the stages, told to whoever said it; kept, or rehearsed and undone."""

import pytest

import tacit
from tacit import Message
from tacit.memory import Memory
from tests.contract.lessons import contents, told
from tests.contract.rooms import ALICE, BOB, group, private
from tests.contract.rows import rows

TABLES = ("memories", "people", "person_names", "subjects", "chats", "jobs", "history", "learned_facts")


def test_a_rehearsed_message_leaves_nothing_behind(learning: Memory) -> None:
    own = private(learning, ALICE)
    steps = own.trace("I live in Lisbon with my wife Sarah")
    assert [step.stage for step in steps][:3] == ["screen", "extract", "verify"]
    assert steps[-1].says.startswith("active: Alice")
    assert learning.spaces() == []
    for table in TABLES:
        assert rows(learning, f"SELECT count(*) FROM {table}") == [(0,)]
    own.trace("I live in Lisbon", keep=True)
    own.trace("I live in Porto now")
    assert contents(own) == ["Alice lives in Lisbon"]
    assert own.trace("my password is hunter2xyz")[0].says.startswith("refuse: it holds a secret")


def test_in_a_group_a_trace_tells_nothing_of_what_was_said_elsewhere(learning: Memory) -> None:
    told(learning, private(learning, ALICE), "I live in Lisbon")
    known = group(learning, ALICE).trace("I live in Porto now")
    unknown = group(learning, BOB).trace("I live in Porto now")
    assert [step.stage for step in known] == [step.stage for step in unknown]
    assert "reconcile" not in {step.stage for step in known}
    assert not any("Lisbon" in step.says for step in known)


def test_nobody_is_told_in_a_trace_what_others_said_of_them(learning: Memory) -> None:
    own = group(learning, BOB)
    told(learning, own, "Alice works at the post office")
    for view in (private(learning, ALICE), group(learning, ALICE)):
        steps = view.trace("I work at the bakery")
        assert steps[-1].stage == "kept"
        assert not any("hearsay" in step.says for step in steps)


def test_what_is_kept_is_named_and_what_is_rehearsed_is_not(learning: Memory) -> None:
    own = private(learning, ALICE)
    steps = own.trace(Message("tool", "The door is open"), keep=True)
    (held,) = own.list(state="quarantined")
    assert [(step.stage, step.says) for step in steps] == [
        ("screen", "quarantine: it comes from a tool"),
        ("kept", f"quarantined {held.id}: The door is open"),
    ]
    assert own.trace(Message("tool", "The door is shut"))[-1].says == "quarantined: The door is shut"


def test_a_text_that_cannot_be_a_message_is_refused(learning: Memory) -> None:
    for wrong in ("", " ", 7, None):
        with pytest.raises(tacit.InvalidInput):
            private(learning, ALICE).trace(wrong)  # type: ignore[arg-type]


def test_the_view_of_nobody_traces_nothing(learning: Memory) -> None:
    assert learning.view(None, tacit.Chat.private("telegram:1001")).trace("I live in Rome") == ()
