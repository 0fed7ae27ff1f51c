"""Text that instructs is told from text that tells, in English and German, whatever hides it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.screening.instructions import find_instruction, list_phrase_reasons
from tests.corpus import check_corpus, read_corpus

DATA = Path(__file__).parent / "data"
INSTRUCTIONS = read_corpus(DATA / "instructions.tsv")
REASONS = {reason for _, reason in INSTRUCTIONS}


@pytest.mark.parametrize("corpus", ["instructions.tsv", "ordinary_messages.tsv"])
def test_a_message_is_suspicious_for_its_reason_or_not_at_all(corpus: str) -> None:
    """Columns: message, and the reason; none for what people say and want for themselves."""
    check_corpus(DATA / corpus, 1, lambda text: [find_instruction(text) or ""])


def test_every_reason_of_the_phrases_has_an_example() -> None:
    assert set(list_phrase_reasons()) <= REASONS


@given(
    st.sampled_from(INSTRUCTIONS),
    st.lists(st.sampled_from(["I like tea.", "We met in May.", "Tee ist gut."]), max_size=40),
)
def test_an_instruction_is_found_at_the_end_of_a_long_text(case: list[str], before: list[str]) -> None:
    assert find_instruction("\n\n".join([*before, case[0]])) is not None


@given(st.text())
def test_any_text_gets_a_short_name_or_none(text: str) -> None:
    reason = find_instruction(text)
    assert reason is None or reason in REASONS


@given(st.sampled_from(INSTRUCTIONS))
def test_the_reason_never_quotes_the_text(case: list[str]) -> None:
    reason = find_instruction(case[0] + " canary7361")
    assert reason is None or "canary" not in reason
