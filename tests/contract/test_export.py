"""Everything a person may see about themselves, as lines and to be read; and not a word more."""

import json
from typing import Any

import pytest

import tacit
from tacit import Message, limits
from tacit.memory import Memory
from tacit.settings import MemorySettings, SessionsSettings, Settings
from tacit.settings.sections import LearnSettings
from tests.contract.conftest import Open
from tests.contract.rooms import ALICE, BOB, FAMILY, SetClock, group, kept, private, said

OPEN: dict[str, Any] = {"visibility": "room", "sensitivity": "public", "kind": "knowledge"}
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


def test_in_a_group_nothing_is_exported(lived: Memory) -> None:
    room = group(lived, ALICE)
    assert list(room.export(everything=True, turns=True)) == []
    assert list(room.export(format="markdown")) == []


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


def test_an_agent_with_an_allow_list_exports_its_categories_alone(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=Settings(allowlists={"clerk": ("goal",)}))
    private(memory, ALICE).remember("I run", category="profile", key="sport")
    private(memory, ALICE).remember("finish the book", category="goal")
    view = memory.view(ALICE, tacit.Chat.private(ALICE.key), agent="clerk")
    found = [json.loads(line) for line in view.export(everything=True, turns=True)]
    assert [(one["type"], one["content"]) for one in found] == [("memory", "finish the book")]


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
