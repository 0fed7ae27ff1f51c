"""Export and import: one's own memories as JSON lines, out of one store and into another."""

import json
from collections.abc import Iterator

import pytest

import tacit
from tacit import limits
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private, said


@pytest.fixture
def other(clock: SetClock) -> Iterator[Memory]:
    with tacit.open("sqlite://", clock=clock) as memory:
        yield memory


def test_a_round_trip_keeps_words_versions_and_fields(memory: Memory, other: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    view.put("profile", "city", "Porto", importance=5, visibility="public_ok", tags=["home"])
    clock.forward(days=1)
    view.put("profile", "city", "Lisbon")
    view.remember("On holiday\nin “Évora” \U0001f334", kind="task", pinned=True, confidence=0.5)
    lines = list(view.export())
    done = private(other, ALICE).imports.add_lines(lines)
    assert (done.created, done.skipped, done.refused) == (2, 0, ())

    there = private(other, ALICE)
    city = there.get("profile", "city")
    assert city is not None
    assert (city.content, city.version, city.importance) == ("Lisbon", 2, 5)
    assert (city.visibility, city.tags, city.trust) == ("public_ok", ("home",), "imported")
    assert city.created_at == clock.now.replace(day=1)
    assert [e.content for e in there.history(city.id)] == ["Porto", "Lisbon"]
    (task,) = there.list("task_state")
    original = next(one for one in view.list("task_state"))
    for name in ("content", "kind", "pinned", "confidence", "expires_at", "portable", "observed_at"):
        assert getattr(task, name) == getattr(original, name), name


def test_importing_a_file_twice_changes_nothing(memory: Memory, other: Memory) -> None:
    view = private(memory, ALICE)
    view.put("profile", "city", "Lisbon")
    view.remember("I run")
    lines = list(view.export())
    assert private(other, ALICE).imports.add_lines(lines).created == 2
    again = private(other, ALICE).imports.add_lines(lines)
    assert (again.created, again.skipped) == (0, 2)
    assert private(other, ALICE).stats().memories == 2


def test_an_export_holds_ones_own_in_every_state_and_nothing_else(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.remember("mine")
    own.forget(kept(own, "forgotten"))
    group(memory, ALICE).remember("the room's", for_room=True, sensitivity="public")
    group(memory, BOB).remember("Bob's", visibility="room", sensitivity="public")
    lines = [json.loads(line) for line in own.export()]
    assert {(line["content"], line["state"]) for line in lines} == {("mine", "active"), ("forgotten", "forgotten")}
    assert list(group(memory, ALICE).export()) == []


def test_a_long_export_is_complete(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PAGE_MAX_COUNT", 7)  # several pages, from a few memories
    view = private(memory, ALICE)
    lines = [json.dumps({"content": f"fact {number}"}) for number in range(24)]
    assert view.imports.add_lines(lines).created == 24
    assert sorted(json.loads(line)["content"] for line in view.export()) == sorted(
        f"fact {number}" for number in range(24)
    )


def test_what_is_not_active_is_not_brought_back_by_an_import(memory: Memory) -> None:
    view = private(memory, ALICE)
    lines = [json.dumps({"content": "gone", "state": "forgotten"})]
    assert view.imports.add_lines(lines).skipped == 1
    assert view.stats().memories == 0


def test_provenance_cannot_be_carried_in_a_file(memory: Memory) -> None:
    view = private(memory, ALICE)
    forged = {
        "content": "forged",
        "id": "AAAAAAAA",
        "owner": "ext:telegram:2002",
        "speaker": "ext:telegram:2002",
        "learned_in": "telegram:-100",
        "learned_kind": "group",
        "heard_by": ["ext:telegram:2002"],
        "trust": "stated",
        "space": "other",
        "version": 7,
        "inferred": False,
    }
    assert view.imports.add_lines([json.dumps(forged)]).created == 1
    (found,) = view.list()
    assert (found.owner, found.learned_in, found.trust) == ("ext:telegram:1001", "telegram:1001", "imported")
    assert found.id != "AAAAAAAA"
    assert (found.heard_by, found.version, found.space) == (frozenset(), 1, "default")
    assert said(private(memory, BOB).list()) == []
    assert memory.spaces() == ["default"]


def test_a_time_in_the_future_is_not_believed(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    line = json.dumps({"content": "tomorrow's", "created_at": "2999-01-01T00:00:00+00:00"})
    assert view.imports.add_lines([line]).created == 1
    assert next(iter(view.list())).created_at == clock.now


BAD_LINES = [
    "not json",
    "[]",
    "5",
    "null",
    '"text"',
    "{}",
    '{"content": ""}',
    '{"content": "\\u0000"}',
    '{"content": "\\ud800"}',
    '{"content": 5}',
    '{"content": "x", "kind": "nonsense"}',
    '{"content": "x", "category": "nonsense"}',
    '{"content": "x", "confidence": 7}',
    '{"content": "x", "confidence": NaN}',
    '{"content": "x", "importance": true}',
    '{"content": "x", "created_at": "yesterday"}',
    '{"content": "x", "created_at": "2026-01-01T00:00:00"}',
    '{"content": "x", "expires_at": 5}',
    '{"content": "x", "versions": 5}',
    '{"content": "x", "versions": [5]}',
    '{"content": "x", "versions": [{"content": ""}]}',
    '{"content": "x", "state": "nonsense"}',
    '{"content": "x", "about": "Sarah"}',
    '{"content": "x", "about": [5]}',
    '{"content": "x", "tags": {"a": 1}, "key": "\\u200b"}',
    '{"content": "' + "x" * 1_000_000 + '"}',
    '{"content": ' + "[" * 100_000,
    '{"content": "x", "importance": ' + "9" * 5000 + "}",
]


def test_bad_lines_are_refused_one_by_one_and_good_ones_kept(memory: Memory) -> None:
    view = private(memory, ALICE)
    lines: list[str] = []
    for number, bad in enumerate(BAD_LINES):
        lines += [json.dumps({"content": f"good {number}"}), bad, "", "  \n"]
    done = view.imports.add_lines(lines)
    assert done.created == len(BAD_LINES)
    assert len(done.refused) == len(BAD_LINES)
    assert [told.split(":")[0] for told in done.refused] == [
        f"line {4 * number + 2}" for number in range(len(BAD_LINES))
    ]
    assert view.stats().memories == len(BAD_LINES)
    assert memory.admin.maintain().healthy


def test_importing_works_in_a_private_chat_only(memory: Memory) -> None:
    done = group(memory, ALICE).imports.add_lines([json.dumps({"content": "x"})])
    assert done.created == 0
    assert "private chat only" in done.refused[0]
    assert memory.admin.stats().memories == 0
