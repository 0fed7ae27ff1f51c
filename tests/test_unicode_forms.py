"""Normal forms as Unicode has them, of any text in time that grows with its length."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.text import COMBINING_MARKS_MAX_COUNT, NormalForm, fold_text, normalize_unicode

FORMS: tuple[NormalForm, ...] = ("NFC", "NFD", "NFKC", "NFKD")
MARKS = st.sampled_from("\u0301\u0316\u0344\u0f81\uff9e\u3099\u05b0")
LONG_RUNS = st.lists(
    st.one_of(
        st.text(max_size=5),
        st.lists(MARKS, min_size=20, max_size=200).map("".join),
        st.sampled_from("\u2014\U0001f600\u00b7").map(lambda mark: mark * 100),
    ),
    max_size=4,
).map("".join)


@given(st.text(), st.sampled_from(FORMS))
def test_ordinary_text_is_normalised_as_unicode_says(text: str, form: NormalForm) -> None:
    assert normalize_unicode(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_long_runs_of_what_is_no_mark_stay_whole(form: NormalForm) -> None:
    for text in ("\u2014" * 500, "\U0001f600" * 300, "e\u0301" * 500, "\u0939\u093f" * 200):
        assert normalize_unicode(form, text) == unicodedata.normalize(form, text)


@given(LONG_RUNS, st.sampled_from(("NFC", "NFKC")))
def test_no_more_marks_in_a_row_than_are_ever_written(text: str, form: NormalForm) -> None:
    row = 0
    for char in normalize_unicode("NFKD", text):
        row = row + 1 if unicodedata.combining(char) else 0
        assert row <= COMBINING_MARKS_MAX_COUNT + 3  # those that are part of a letter
    made = normalize_unicode(form, text)
    assert normalize_unicode(form, made) == made


def test_a_text_of_ligatures_is_folded_to_at_most_three_times_its_length() -> None:
    ligatures = "\ufdfa" * 1_000  # each of them is 18 characters when it is decomposed
    assert len(fold_text(ligatures)) <= 3 * len(ligatures)
    hangul = "\ud55c\uad6d\uc5b4" * 1_000  # three characters a syllable, composed again
    assert fold_text(hangul) == hangul
