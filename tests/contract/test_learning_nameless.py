"""What is learned from somebody who has no name: a sentence tells of them once."""

import pytest

import tacit
from tacit.learn.reading.mentions import named_once
from tacit.learn.reading.tongue import tongue
from tacit.memory import Memory
from tests.contract.conftest import Open
from tests.contract.lessons import BY_HAND, contents, told

_CALLED = "The speaker likes it when Anna calls the speaker"


@pytest.fixture
def learning(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=BY_HAND)


def nameless(memory: Memory) -> tacit.View:
    view = memory.view(tacit.Requester("app:1"), tacit.Chat.private("app:1"))
    assert isinstance(view, tacit.View)
    return view


def test_a_fact_names_them_once(learning: Memory) -> None:
    view = nameless(learning)
    told(learning, view, "I moved my office to my house.")
    assert contents(view) == ["The speaker moved their office to their house"]


def test_what_is_theirs_is_still_known_as_theirs_when_it_changes(learning: Memory) -> None:
    view = nameless(learning)
    told(learning, view, "I take my daughter to my parents on Fridays.")
    told(learning, view, "I take my daughter to my parents on Mondays now.")
    assert contents(view) == ["The speaker takes their daughter to their parents on Mondays"]


@pytest.mark.parametrize(
    ("said", "once"),
    [
        # "Their" would be the boss's.
        (
            "The speaker's boss took The speaker's desk",
            "The speaker's boss took the speaker's desk",
        ),
        ("Anna is The speaker's sister", "Anna is the speaker's sister"),
        ("The speaker likes it when Anna calls The speaker", _CALLED),
        ("The speakers of The speakership are loud", "The speakers of The speakership are loud"),
    ],
)
def test_whose_it_is_stays_clear(said: str, once: str) -> None:
    assert named_once(said, "The speaker", tongue("en")) == once
    assert named_once(said, "Alice", tongue("en")) == said
