"""Codes that people copy by hand: easy to write, hard to guess, and none is an error."""

from hypothesis import given
from hypothesis import strategies as st

from tacit import limits
from tacit.identity import INVALID_LINK_CODE, LINK_CODE_ALPHABET, create_link_code, normalize_link_code


def test_a_code_has_fifty_bits_of_letters_that_nobody_mistakes() -> None:
    assert len(set(LINK_CODE_ALPHABET)) == len(LINK_CODE_ALPHABET) == 32
    assert set(LINK_CODE_ALPHABET).isdisjoint("01IOio")
    made = {create_link_code() for _ in range(200)}
    assert len(made) == 200
    for code in made:
        first, last = code.split("-")
        assert len(first) == len(last) == limits.LINK_CODE_CHARS // 2 == 5
        assert set(first + last) <= set(LINK_CODE_ALPHABET)
    assert set("".join(made)) - {"-"} == set(LINK_CODE_ALPHABET)


def test_a_code_is_the_same_however_it_is_written() -> None:
    written = ["ABCDE-23456", "abcde23456", " aBcDe 23456\n", "ABCDE\u201323456", "A-B-C-D-E 23456"]
    assert {normalize_link_code(code) for code in written} == {"ABCDE23456"}
    made = create_link_code()
    assert normalize_link_code(made.lower()) == made.replace("-", "")


@given(st.text(max_size=60) | st.text(LINK_CODE_ALPHABET + "01IOßıſ-", min_size=9, max_size=12))
def test_whatever_somebody_writes_is_a_code_or_none(written: str) -> None:
    found = normalize_link_code(written)
    assert found == INVALID_LINK_CODE or (len(found) == 10 and set(found) <= set(LINK_CODE_ALPHABET))
