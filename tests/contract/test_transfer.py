"""Export and import: one's own memories as JSON lines, out of one store and into another."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import tacit
from tacit import Message, limits
from tacit.memory import Memory
from tacit.settings import MemorySettings, SessionsSettings, Settings
from tacit.settings.sections import LearnSettings
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, FAMILY, OPEN, SetClock, get_value, group, kept, private, said


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
    city = get_value(there, "profile", "city")
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
    room = group(memory, ALICE)
    assert [*room.export(), *room.export(everything=True, turns=True), *room.export(format="markdown")] == []


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


def test_importing_works_in_a_private_chat_only_and_brings_back_nothing_that_is_gone(memory: Memory) -> None:
    done = group(memory, ALICE).imports.add_lines([json.dumps({"content": "x"})])
    assert done.created == 0
    assert "private chat only" in done.refused[0]
    assert memory.admin.stats().memories == 0
    view = private(memory, ALICE)
    lines = [json.dumps({"content": "gone", "state": "forgotten"})]
    assert view.imports.add_lines(lines).skipped == 1
    assert view.stats().memories == 0


CAREFUL = Settings(
    learn=LearnSettings(workers=0, confirm="new"), memory=MemorySettings(sessions=SessionsSettings(keep=True))
)


@pytest.fixture
def lived(database_url: str, opened: Open) -> Memory:
    memory = opened(database_url, settings=CAREFUL)
    own = private(memory, ALICE)
    id = kept(own, "I run", category="profile", key="sport")
    own.update(id, "I swim")
    own.forget(kept(own, "forgotten"))
    own.remember("Sarah is my wife", about=["Sarah"])
    group(memory, BOB).remember("Alice snores", about=[ALICE.key], **OPEN)
    private(memory, BOB).remember("Alice is dull", about=[ALICE.key])
    group(memory, BOB).remember("Bob's own", **OPEN)
    own.learn([Message("user", "My sister is called Ana")])
    memory.jobs.wait_for_learning()
    return memory


def parts(memory: Memory, who: tacit.Requester, **options: Any) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for line in private(memory, who).export(everything=True, **options):
        plain = json.loads(line)
        found.setdefault(plain["type"], []).append(plain)
    return found


def test_everything_a_person_may_see_about_themselves_is_there(lived: Memory) -> None:
    found = parts(lived, ALICE)
    (me,) = found["person"]
    assert me["identities"] == ["ext:telegram:1001"]
    assert {name["text"] for name in me["names"]} == {"Alice", "alice_l"}
    assert {one["chat"] for one in found["chat"]} == {"telegram:1001", "telegram:-100"}
    memories = {one["content"]: one for one in found["memory"]}
    assert {"I swim", "forgotten", "Sarah is my wife"} <= set(memories)
    assert [v["content"] for v in memories["I swim"]["versions"]] == ["I run", "I swim"]
    assert [h["event"] for h in memories["I swim"]["history"]] == ["ADD", "UPDATE"]
    assert [one["content"] for one in found["about"]] == ["Alice snores"]
    assert [one["content"] for one in found["proposal"]] == ["Alice's sister is called Ana"]
    assert "Sarah" in {n["text"] for one in found["known"] for n in one["names"]}
    assert "turn" not in found
    assert [t["content"] for t in parts(lived, ALICE, turns=True)["turn"]] == ["My sister is called Ana"]


def test_an_export_holds_nothing_that_was_said_behind_ones_back(lived: Memory) -> None:
    for form in ("jsonl", "markdown"):
        told = "\n".join(private(lived, ALICE).export(format=form, everything=True, turns=True))
        assert "Alice snores" in told
        assert "dull" not in told
        assert "Bob's own" not in told


def test_everything_can_be_imported_as_far_as_it_is_ones_own(lived: Memory, clock: SetClock) -> None:
    lines = list(private(lived, ALICE).export(everything=True, turns=True))
    with tacit.open("sqlite://", clock=clock, embedder=None) as other:
        done = private(other, ALICE).imports.add_lines(lines)
        assert done.refused == ()
        assert said(private(other, ALICE).list()) == ["I swim", "Sarah is my wife"]
        assert list(private(other, ALICE).export()) != []


def test_markdown_has_a_section_for_each_kind_and_words_stay_words(lived: Memory) -> None:
    view = private(lived, ALICE)
    view.remember("# not a heading\n- not a list\n<b>not bold</b> [no](link) `x`")
    view.remember("with more than words", data={"<i>": "kept\u2028# too"})
    told = "\n".join(view.export(format="markdown", turns=True))
    headings = [line for line in told.splitlines() if line.startswith("#")]
    assert headings == [
        "# What Tacit stores about you",
        "## Who you are",
        "## Chats you are in",
        "## Your memories",
        "## What others said about you",
        "## Waiting for your consent",
        "## People you know",
        "## Recorded turns",
    ]
    assert "\\# not a heading" in told
    assert "\\<b\\>" in told
    assert '<br>{"\\<i\\>": "kept' in told
    assert "before: I run" in told


def test_linked_identities_are_ones_own(memory: Memory) -> None:
    private(memory, ALICE).remember("by phone")
    memory.admin.link(ALICE.key, "acct:alice")
    private(memory, tacit.Requester("acct:alice")).remember("on the web")
    found = parts(memory, ALICE)
    assert found["person"][0]["identities"] == ["acct:alice", "ext:telegram:1001"]
    assert {one["content"] for one in found["memory"]} == {"by phone", "on the web"}


def test_a_chat_that_was_left_is_not_among_ones_chats(memory: Memory) -> None:
    group(memory, ALICE).remember("one", **OPEN)
    group(memory, ALICE, FAMILY).remember("two", **OPEN)
    memory.chats.leave(FAMILY, ALICE.key)
    assert {one["chat"] for one in parts(memory, ALICE)["chat"]} == {"telegram:-100"}


def test_a_long_export_of_everything_is_complete(
    database_url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(database_url, settings=CAREFUL)
    monkeypatch.setattr(limits, "PAGE_MAX_COUNT", 3)
    for number in range(10):
        private(memory, ALICE).remember(f"mine {number}")
        private(memory, ALICE).record([Message("user", f"said {number}")])
        group(memory, BOB).remember(f"of her {number}", about=[ALICE.key], **OPEN)
    found = parts(memory, ALICE, turns=True)
    for kind in ("memory", "about", "turn"):
        assert len(found[kind]) == 10, kind


def test_what_an_export_is_asked_for_is_checked_at_once(memory: Memory) -> None:
    bad: list[dict[str, Any]] = [{"format": "xml"}, {"everything": "yes"}, {"turns": 1}]
    for options in bad:
        with pytest.raises(tacit.InvalidInput):
            private(memory, ALICE).export(**options)
