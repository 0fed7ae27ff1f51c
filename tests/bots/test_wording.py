"""How people say yes and no, ask, and ask to be remembered; and when two sentences are one fact."""

import re
from pathlib import Path

import pytest
import yaml

from tacit import bots
from tacit.bots.phrases import (
    asks_to_keep,
    asks_to_remember,
    covers_content,
    is_question,
    parse_yes_no,
    says_the_same,
)
from tests.contract.rooms import ALICE


@pytest.mark.parametrize(
    "text", ["Yes", "yes, please!", "Ja, gerne", "ok", "Sure, do it.", "yep 👍"]
)
def test_a_plain_yes(text: str) -> None:
    assert parse_yes_no(text) is True


@pytest.mark.parametrize("text", ["No", "Nein, danke", "no thanks", "No, it's just for this task"])
def test_a_plain_no(text: str) -> None:
    assert parse_yes_no(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "Yes, but not the part about the job",
        "No problem, remember it",
        "yesterday",
        "notes",
        "I said yes",
        "",
        "yes " * 100,
    ],
)
def test_what_says_more_is_neither(text: str) -> None:
    assert parse_yes_no(text) is None


def test_what_people_want_is_told_by_how_they_begin() -> None:
    for text in ("Remember that I like tea", "please remember: x", "Merk dir, dass", "from now on"):
        assert asks_to_remember(text)
    for text in ("Do you remember me?", "remember when we met", "Remember that?", "I remember"):
        assert not asks_to_remember(text)
    for text in ("What do I like?", "wer ist mein Chef", "Alec is my boss?"):
        assert is_question(text)
    assert not is_question("I like tea")
    assert asks_to_keep("Got it - should I remember that for future conversations?")
    assert asks_to_keep("Soll ich mir das merken?")
    assert not asks_to_keep("I'll remember that.")
    assert not asks_to_keep("Shall I tell you more?")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Alec is the user's boss", "Alec is Alice's boss", True),
        ("User prefers Friday due dates", "Alice prefers due dates on Fridays", True),
        ("Alec is Bob's boss", "Alec is Alice's boss", False),
        ("Standup is at 9", "Standup is at 10", False),
        ("Alice likes tea", "Alice hates tea in the morning", False),
        ("", "Alec is Alice's boss", False),
    ],
)
def test_what_a_model_adds_is_what_waits_only_if_it_says_the_same(
    one: str, other: str, same: bool
) -> None:
    assert says_the_same(one, other, ALICE) is same


def test_a_yes_counts_for_what_was_spoken_of() -> None:
    said = "Alec is my boss by the way. Got it - should I remember that?"
    assert covers_content(said, "Alec is Alice's boss", ALICE)
    assert not covers_content("Shall I remember the stamps?", "Alec is Alice's boss", ALICE)


def test_every_text_that_the_bots_name_is_in_the_file_and_none_is_there_for_nothing() -> None:
    folder = Path(bots.__file__).parent
    source = "".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    written = yaml.safe_load((folder / "texts.yaml").read_text("utf-8"))
    assert set(re.findall(r"\btexts\.([A-Z_0-9]+)", source)) == written.keys()
    assert all(isinstance(text, str) for text in written.values())
