"""Two wordings, word by word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.console.diff import diff_words
from tacit.limits import DIFF_EDITS_MAX_COUNT


def shown(before: str, after: str) -> str:
    marks = {"same": "{}", "added": "[+{}]", "removed": "[-{}]"}
    return "".join(marks[one.change].format(one.text) for one in diff_words(before, after))


@pytest.mark.parametrize(
    ("before", "after", "shows"),
    [
        ("Lives in Lyon", "Lives in Lyon", "Lives in Lyon"),
        ("Prefers tea to coffee", "Prefers green tea", "Prefers [+green] tea [-to coffee]"),
        ("Lives in Lyon.", "Lives in Paris!", "Lives in [-Lyon.][+Paris!]"),
        ("Likes chess, and go", "Likes chess and go", "Likes chess [-,] and go"),
        ("私は茶が好き", "私は水が好き", "私は[-茶][+水]が好き"),
        ("", "New", "[+New]"),
    ],
)
def test_what_changed_is_found_by_words(before: str, after: str, shows: str) -> None:
    assert shown(before, after) == shows


WORDS = st.lists(st.sampled_from("abc, \n"), max_size=14).map("".join)


@settings(max_examples=60)
@given(WORDS, WORDS)
def test_both_wordings_can_be_read_in_it(before: str, after: str) -> None:
    pieces = diff_words(before, after)
    for wording, other in ((before, "added"), (after, "removed")):
        read = "".join(one.text for one in pieces if one.change != other)
        assert "".join(read.split()) == "".join(wording.split())


def test_wordings_that_have_little_in_common_stand_one_after_the_other() -> None:
    before = " ".join(f"a{n} same" for n in range(DIFF_EDITS_MAX_COUNT))
    after = " ".join(f"b{n} same" for n in range(DIFF_EDITS_MAX_COUNT))
    assert [one.change for one in diff_words(before, after)] == ["removed", "added", "same", "same"]
