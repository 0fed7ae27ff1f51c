"""Whole messages, with talk around what is stated, and what is kept of each."""

from datetime import UTC, datetime

import pytest

from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.rules import extract_by_rules

NOW = datetime(2026, 11, 15, 15, 0, tzinfo=UTC)  # a Sunday

KEPT = [
    ("I'm the oldest of three siblings", ["Alice is the oldest of three siblings"]),
    ("I have no siblings", ["Alice has no siblings"]),
    (
        (
            "Ugh, long day. Anyway, I finally moved into the new flat in Gracia last "
            "weekend. Pics soon!"
        ),
        ["Alice finally moved into the new flat in Gracia on the weekend of 7 November 2026"],
    ),
    (
        (
            "Hey all! Sorry for the late reply. I'll be in Vienna from the 3rd of December, "
            "so I can't make the party."
        ),
        ["Alice will be in Vienna from 3 December 2026"],
    ),
    (
        (
            "Thanks for the help yesterday! By the way, I'm vegetarian, so please skip the "
            "steak place next time."
        ),
        ["Alice is vegetarian"],
    ),
    (
        "Good news!! I got the job at Philips, starting on 1 December 🎉",
        ["Alice got the job at Philips, starting on 1 December 2026"],
    ),
    (
        "ok so i talked to my doctor and i have celiac disease :( no more bread for me",
        ["Alice has celiac disease"],
    ),
    ("I can't come tomorrow, my son has a fever", ["Alice cannot come on 16 November 2026"]),
    ("My name is Katarzyna but everyone calls me Kasia", ["Alice wants to be called Kasia"]),
    ("I'm Katarzyna, but please call me Kasia.", ["Alice wants to be called Kasia"]),
    (
        "I was wrong earlier, my appointment is on Thursday, not Wednesday.",
        ["Alice's appointment is on 19 November 2026"],
    ),
    (
        "Actually scratch that. We live in Ghent now, we moved there in June.",
        ["Alice lives in Ghent"],
    ),
    (
        "I've just started at ING as a product owner, so my mornings are packed.",
        ["Alice has just started at ING as a product owner"],
    ),
    ("Tomás and I broke up. I'm fine, just sad.", ["Alice and Tomás broke up"]),
    (
        "Please keep in mind that I don't check messages after 6pm",
        ["Alice does not check messages after 6pm"],
    ),
    ("Our standup moved to 9:30", ["Alice's standup moved to 9:30"]),
    ("The standup is at 9:30 from now on", ["The standup is at 9:30"]),
    ("we use Postgres at work", ["Alice uses Postgres at work"]),
    ("I have 2 sisters and a brother", ["Alice has 2 sisters and a brother"]),
    ("I've got three kids: Mia, Leo and Tim", ["Alice has three kids: Mia, Leo and Tim"]),
    ("I'm the youngest of four", ["Alice is the youngest of four"]),
    (
        "I ran my first marathon last Sunday",
        ["Alice ran Alice's first marathon on 8 November 2026"],
    ),
    ("I speak Dutch at home with the kids", ["Alice speaks Dutch at home with the kids"]),
    (
        "I'm in Rome this week for a conference",
        ["Alice is in Rome in the week of 9 November 2026 for a conference"],
    ),
]


@pytest.mark.parametrize(("text", "contents"), KEPT)
def test_what_a_message_states_is_found_among_its_talk(text: str, contents: list[str]) -> None:
    assert [
        found.content for found in extract_by_rules(text, "Alice", NOW, load_locale("en"))
    ] == contents
