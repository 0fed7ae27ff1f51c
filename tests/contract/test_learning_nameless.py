"""What is learned from somebody who has no name: a sentence tells of them once."""

import pytest

import tacit
from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.mentions import name_speaker_once
from tacit.memory import Memory
from tests.contract.lessons import contents, told

_CALLED = "The user likes it when Anna calls the user"


def nameless(memory: Memory) -> tacit.View:
    view = memory.view(tacit.Requester("app:1"), tacit.Chat.private("app:1"))
    assert isinstance(view, tacit.View)
    return view


def test_a_fact_names_them_once(learning: Memory) -> None:
    view = nameless(learning)
    told(learning, view, "I moved my office to my house.")
    assert contents(view) == ["The user moved their office to their house"]


def test_what_is_theirs_is_still_known_as_theirs_when_it_changes(learning: Memory) -> None:
    view = nameless(learning)
    told(learning, view, "I take my daughter to my parents on Fridays.")
    told(learning, view, "I take my daughter to my parents on Mondays now.")
    assert contents(view) == ["The user takes their daughter to their parents on Mondays"]


@pytest.mark.parametrize(
    ("said", "once"),
    [
        # "Their" would be the boss's.
        ("The user's boss took The user's desk", "The user's boss took the user's desk"),
        ("Anna is The user's sister", "Anna is the user's sister"),
        ("The user likes it when Anna calls The user", _CALLED),
        ("The users of The usership are loud", "The users of The usership are loud"),
    ],
)
def test_whose_it_is_stays_clear(said: str, once: str) -> None:
    assert name_speaker_once(said, "The user", load_locale("en")) == once
    assert name_speaker_once(said, "Alice", load_locale("en")) == said


@pytest.mark.parametrize("told_by", ["a statement", "a key", "an earlier request"])
def test_a_name_that_is_known_is_used(learning: Memory, told_by: str) -> None:
    view = nameless(learning)
    if told_by == "a statement":
        told(learning, view, "my name is Nora")
    elif told_by == "a key":
        view.put("profile", "preferred_name", "Nora")
    else:
        named = tacit.Requester("app:1", name="Nora")
        learning.view(named, tacit.Chat.private("app:1")).remember("Nora plays chess")
    told(learning, view, "I live in Berlin")
    assert "Nora lives in Berlin" in contents(view)


def test_a_name_told_in_private_is_not_said_in_a_group(learning: Memory) -> None:
    told(learning, nameless(learning), "my name is Nora")
    members = [tacit.Requester("app:1"), tacit.Requester("app:2")]
    room = tacit.Chat.group("app:-5", participants=members)
    view = learning.view(members[0], room)
    assert isinstance(view, tacit.View)
    told(learning, view, "I like tea")
    assert contents(view) == ["The user likes tea"]
