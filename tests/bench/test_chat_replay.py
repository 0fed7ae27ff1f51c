"""What the replay of many updates would find, if it were there."""

from collections import Counter
from dataclasses import replace

import pytest

from bench.chat_replay import Replayed

FINE = Replayed(
    updates=100,
    seconds=1.0,
    sizes=[100, 102, 101, 103, 102],
    told={"out_of_order": 0, "heard": 100},
    failures=Counter(),
    unanswered=0,
)


def test_a_replay_in_which_nothing_went_wrong_is_fine() -> None:
    assert FINE.wrong == []


@pytest.mark.parametrize(
    ("done", "wrong"),
    [
        (replace(FINE, failures=Counter({"update failed": 2})), "2 times: update failed"),
        (replace(FINE, told={**FINE.told, "out_of_order": 1}), "1 were heard out of order"),
        (replace(FINE, told={**FINE.told, "heard": 99}), "99 of 100 were heard"),
        (replace(FINE, unanswered=3), "3 questions were not answered"),
        (replace(FINE, sizes=[100, 110, 120, 130, 140]), "it grew to 1.40 times its size"),
    ],
)
def test_whatever_goes_wrong_is_found(done: Replayed, wrong: str) -> None:
    assert done.wrong == [wrong]
