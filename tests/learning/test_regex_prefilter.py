"""What a pattern needs: it may be too little, and never too much."""

import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench.learn_data import messages
from tacit.learning.corrections.cues import load_cues, load_restatements
from tacit.learning.extraction.locale import (
    ANY_TEXT,
    Rewrite,
    apply_rewrites,
    find_required_literals,
    list_locales,
    load_locale,
    make_rewrite,
    may_match,
)
from tacit.text import fold_case

WITH_REWRITES = [code for code in list_locales() if load_restatements(code).said]


def listed(code: str) -> list[Rewrite]:
    own, other = load_locale(code), load_restatements(code)
    return [*own.spelling, *own.rewrites, *other.said, *other.known]


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        (r"\bgaffer\b", ("gaffer",)),
        (r"\b(?:tues?)\b", ("tue",)),
        (r"(?:tea|coffee) then", (" then",)),
        (r"(?:tea|coffee)+", ("tea", "coffee")),
        (r"(?P<what>tea)?cup(?=board)", ("cup",)),
        (r"no{2,3}pe", ("no", "pe")[:1]),
        (r"Hello|Hi", ("hello", "hi")),
        (r"a\.b\-c", ("a.b-c",)),
        (r"(?<!never )again", ("again",)),
        (r"[]x]yes", ("yes",)),
    ],
)
def test_the_most_telling_piece_is_needed(pattern: str, pieces: tuple[str, ...]) -> None:
    assert find_required_literals(pattern) == pieces


@pytest.mark.parametrize(
    "pattern", [r"\w+", r"a|\d+", r"(?:tea)?", r"(?:tea){0,2}", r"(?i)tea", r"(x)?(?(1)tea|cup)", "é+", ""]
)
def test_what_cannot_be_told_is_nothing(pattern: str) -> None:
    assert find_required_literals(pattern) == ANY_TEXT


def test_no_rule_is_passed_over_that_would_have_matched() -> None:
    """Every rule of every language, on every message of the labelled set."""
    assert WITH_REWRITES
    for code in list_locales():
        own = load_locale(code)
        forms = (*own.does, *own.owns, *own.wholes, *own.plain, *own.plain_of)
        rules = [(one.pattern, one.needs) for one in listed(code)]
        rules += [(one.match, one.needs) for one in own.holds]
        rules += [(one.match, find_required_literals(one.match.pattern)) for one in forms]
        rules += [(one, own.needs[name]) for name, one in own.patterns.items()]
        rules += [*load_cues(code).endings, *((one.said, one.needs) for one in load_cues(code).topics)]
        rules += [(one, load_cues(code).needs[name]) for name, one in load_cues(code).patterns.items()]
        for text in {one.text for one in messages()}:
            seen = fold_case(text)
            for pattern, needs in rules:
                if not may_match(needs, seen):
                    assert pattern.search(text) is None, (pattern.pattern, text)


def test_what_is_cut_out_of_a_text_is_no_piece_that_a_hold_needs() -> None:
    pieces = {piece for code in list_locales() for one in load_locale(code).holds for piece in one.needs}
    assert all(piece.strip(" .") for piece in pieces - {""})


def test_a_letter_that_a_pattern_takes_for_another_is_seen_as_that() -> None:
    for letter in "abcdefghijklmnopqrstuvwxyz":
        pattern = re.compile(f"x{letter}y", re.IGNORECASE)
        for code in range(sys.maxunicode + 1):
            said = f"x{chr(code)}y"
            if code < 0x3000 and pattern.search(said):
                assert may_match(find_required_literals(pattern.pattern), fold_case(said)), hex(code)


PARTS = st.recursive(
    st.sampled_from(["a", "bc", "D", r"\b", r"\w", ".", "[a-c]", r"\.", "é", " "]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda ways: f"(?:{'|'.join(ways)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{0,2}", "{2}", "??"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        inner.map(lambda one: f"(?={one})"),
        inner.map(lambda one: f"(?!{one})"),
    ),
    max_leaves=8,
)


@given(PARTS, st.text("abcdDé. x", max_size=12))
@example("bc?", "b")
def test_whatever_matches_holds_what_is_needed(pattern: str, text: str) -> None:
    compiled = re.compile(pattern, re.IGNORECASE)
    if compiled.search(text):
        assert may_match(find_required_literals(pattern), fold_case(text))


@given(PARTS, st.text("abcdDé. x", max_size=12))
def test_rewriting_is_what_trying_each_would_be(pattern: str, text: str) -> None:
    rules = [make_rewrite(re.compile(one, re.IGNORECASE), "bca") for one in (pattern, "a+", "ca")]
    plain = text
    for rule in rules:
        plain = rule.pattern.sub(rule.new, plain)
    assert apply_rewrites(rules, text) == plain
