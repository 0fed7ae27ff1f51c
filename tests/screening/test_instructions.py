"""Text that instructs is told from text that tells, in English and German, whatever hides it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.screening.instructions import find_instruction, list_phrase_reasons
from tests.screening.instruction_cases import INSTRUCTIONS
from tests.screening.ordinary_messages import ORDINARY

POSITIVES = [(reason, text) for reason, texts in INSTRUCTIONS.items() for text in texts]


@pytest.mark.parametrize(("reason", "text"), POSITIVES)
def test_an_instruction_is_suspicious_for_its_reason(reason: str, text: str) -> None:
    assert find_instruction(text) == reason


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_message_is_not_suspicious(text: str) -> None:
    assert find_instruction(text) is None


def test_the_tables_are_as_long_as_they_should_be() -> None:
    assert len({text for _, text in POSITIVES}) >= 60
    assert len(set(ORDINARY)) >= 100


def test_every_reason_of_the_phrases_has_an_example() -> None:
    assert set(list_phrase_reasons()) <= set(INSTRUCTIONS)


@given(
    st.sampled_from(POSITIVES),
    st.lists(st.sampled_from(["I like tea.", "We met in May.", "Tee ist gut."]), max_size=40),
)
def test_an_instruction_is_found_at_the_end_of_a_long_text(
    case: tuple[str, str], before: list[str]
) -> None:
    assert find_instruction("\n\n".join([*before, case[1]])) is not None


@given(st.text())
def test_any_text_gets_a_short_name_or_none(text: str) -> None:
    reason = find_instruction(text)
    assert reason is None or reason in INSTRUCTIONS


@given(st.sampled_from(POSITIVES))
def test_the_reason_never_quotes_the_text(case: tuple[str, str]) -> None:
    reason = find_instruction(case[1] + " canary7361")
    assert reason is None or "canary" not in reason
