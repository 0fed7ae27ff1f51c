"""The story of the three rooms is true, and what it tells to type next works."""

import re
import shlex
from pathlib import Path

import pytest

from tacit.bootstrap import open_memory
from tacit.cli import demo
from tacit.settings import Settings
from tests.cli.conftest import Tacit

RULES = {
    ("Alice's private chat", "Alice saves up for a houseboat"): "P1",
    ("Alice's private chat", "Bob is looking for a new job"): "PV",
    ("The group: Alice, Bob and Carol", "Alice saves up for a houseboat"): "GV",
    ("The group: Alice, Bob and Carol", "Alice lives in Lisbon"): "G2a",
    ("The group: Alice, Bob and Carol", "Saturday: a surprise for Bob"): "D3",
    ("The group: Alice, Bob and Carol", "Alice sees a heart specialist"): "GS",
    ("The group: Alice, Bob and Carol", "Bob brings the lemon cake"): "G1b",
    ("Bob's private chat", "Alice saves up for a houseboat"): "PV",
    ("Bob's private chat", "Saturday: a surprise for Bob"): "D3",
    ("Bob's private chat", "Bob brings the lemon cake"): "P3a",
    ("Bob's private chat", "Bob is looking for a new job"): "P1",
}


@pytest.fixture
def story(database_url: str) -> demo.DemoStory:
    with open_memory(database_url, settings=Settings(), embedder=None) as memory:
        return demo.build_story(memory)


def test_each_room_hears_what_the_rules_say(story: demo.DemoStory) -> None:
    """The rules of DISCLOSURE, worked out by hand for these six memories."""
    told = {(room.title, v.content): v.rule for room in story.rooms for v in room.verdicts}
    assert {where: told[where] for where in RULES} == RULES
    said = {room.title: [v.content for v in room.verdicts if v.said] for room in story.rooms}
    assert len(said["Alice's private chat"]) == 5
    assert said["The group: Alice, Bob and Carol"] == ["Alice lives in Lisbon", "Bob brings the lemon cake"]
    assert said["Bob's private chat"] == ["Bob brings the lemon cake", "Bob is looking for a new job"]
    for room in story.rooms:
        assert [v.id for v in room.verdicts] == [one.id for one in story.told]
    marks = "private_only, public_ok, public_ok withheld from Bob, public_ok sensitive, room"
    assert ", ".join(one.marked.replace(",", "") for one in story.told) == f"{marks}, private_only"


def test_the_printed_story_says_what_was_computed(bare: Tacit, home: Path) -> None:
    ran = bare("demo")
    assert (ran.code, ran.err) == (0, "")
    story = bare("demo", "--json").json
    assert [set(one) for one in (story, story["rooms"][0])] == [{"told", "rooms"}, {"title", "asks", "verdicts"}]
    chapters = re.split(r"^── ", ran.out, flags=re.MULTILINE)[1:]
    for room, chapter in zip(story["rooms"], chapters, strict=True):
        assert chapter.startswith(f"{room['title']} ── {room['asks']} asks: what do you know?")
        said, unsaid = re.split(r"^  unsaid", chapter, flags=re.MULTILINE)
        assert said.count("\n  says") == 1
        for verdict in room["verdicts"]:
            part = said if verdict["said"] else unsaid
            assert f"{verdict['content']} " in part
            assert re.search(rf"{re.escape(verdict['content'])} +{verdict['rule']}  ", part)
            assert verdict["because"].split()[0] in part
    assert list(home.iterdir()) == []  # the temporary database is gone, and no other was touched


def test_no_line_of_the_story_is_wider_than_its_terminal(bare: Tacit, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (100, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert max(len(line) for line in bare("demo").out.splitlines()) <= columns


def test_what_the_story_tells_to_type_next_works(bare: Tacit) -> None:
    typed = re.findall(r"^    (tacit .*)$", bare("demo").out, re.MULTILINE)
    commands = [shlex.split(line) for line in typed]
    assert len(commands) == 3
    remembered, recalled, listed = (bare(*command[1:]) for command in commands)
    assert (remembered.code, recalled.code, listed.code) == (0, 0, 0)
    assert "Sarah is my wife" in recalled.out
    assert listed.out == ""


def test_the_demo_keeps_its_hands_off_every_other_database(bare: Tacit, home: Path) -> None:
    for argv in (("--db", "mine"), ("--as", "telegram:1"), ("--space", "x"), ("--config", "x")):
        ran = bare("demo", *argv)
        assert ran.code == 2
        assert f"leave out {argv[0]}" in ran.err
    (home / "tacit.yaml").write_text("memory: {enabled: false}\n")
    assert bare("demo").code == 0
