"""A text of twice the length takes about twice the time, whatever it is made of.

The ratio of two times of one process, each the best of several: a busy machine slows both.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from bench.request_shapes import filled
from tacit.learning.composition import find_floor
from tacit.learning.extraction.locale import load_locale
from tacit.learning.extraction.rules import extract_by_rules
from tacit.learning.extraction.sentences import squeeze_spaces
from tacit.prompts.fence import make_inert
from tacit.records.validation import fold_name
from tacit.screening.instructions import find_instruction
from tacit.screening.secrets import find_secret
from tacit.text import split_words

GROWTH_MAX = 3.0  # a square would be 4
CHARS = 8_000


@pytest.mark.parametrize("act", [find_secret, find_instruction, find_floor, split_words, fold_name, make_inert])
@pytest.mark.parametrize("unit", ["marks", "\u0301\u0316", "0", "a.", "1.", "key=", "\n", "_"])
def test_twice_the_text_takes_about_twice_the_time(act: Callable[[str], object], unit: str) -> None:
    act(filled(unit, 100))
    once, twice = (_best(act, filled(unit, chars)) for chars in (CHARS, 2 * CHARS))
    # What takes no time at all cannot be compared; a square of this length takes longer.
    assert twice < 0.05 or twice / once < GROWTH_MAX


def _best(act: Callable[[str], object], text: str) -> float:
    times = []
    for _ in range(5):
        begun = time.process_time()
        act(text)
        times.append(time.process_time() - begun)
    return min(times)


def test_a_long_gap_in_a_message_is_read_as_a_short_one() -> None:
    assert squeeze_spaces("I like tea." + "\n" * 5_000 + "I live in Oslo") == ("I like tea.\n\nI live in Oslo")
    assert squeeze_spaces("I like" + " " * 9 + "tea") == "I like tea"
    assert squeeze_spaces("a\n\n  b") == "a\n\n  b"
    gap = " " * 1_500
    found = extract_by_rules(
        squeeze_spaces(f"I live in Oslo.{gap}ok"), "Ana", datetime(2026, 3, 1, tzinfo=UTC), load_locale("en")
    )
    assert [one.content for one in found] == ["Ana lives in Oslo"]
