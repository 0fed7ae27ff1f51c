"""Every kind of secret is refused by name, near misses are kept, nothing of a secret is told."""

import dataclasses
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.screening.secrets import Secret, find_secret, secret_kinds
from tests.corpus import check_corpus, check_each, read_corpus
from tests.screening.secret_values import ACCOUNT, RED, VISA, fill_in, pem, spaced

DATA = Path(__file__).parent / "data"
CASES = [(kind, what, fill_in(text)) for kind, what, text in read_corpus(DATA / "secrets.tsv")]
POSITIVES = [(kind, text) for kind, what, text in CASES if what == "refused"]
NEAR_MISSES = [(kind, text) for kind, what, text in CASES if what == "kept"]
WORDS = """
    I we you they like love hate visited moved bought a the my our old new red dog cat house train
    coffee in at near with and but because Lisbon Berlin Bob Alice Monday May 3 12 2026 meeting
    project token key code login account number order ich wir mag liebe das die Haus Hund
    """.split()  # noqa: SIM905 (a list of words reads better as one)
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=60).map(" ".join)


def kind_of(text: str) -> str | None:
    found = find_secret(text)
    return None if found is None else found.kind


def test_a_secret_is_refused_by_the_name_of_its_kind() -> None:
    check_each(POSITIVES, lambda case: kind_of(case[1]) == case[0])


def test_a_near_miss_is_kept() -> None:
    check_each(NEAR_MISSES, lambda case: kind_of(case[1]) is None)


def test_an_ordinary_message_is_kept() -> None:
    check_corpus(DATA / "no_secrets.tsv", 1, lambda text: [kind_of(text) or ""])


def test_every_kind_has_an_example_and_a_near_miss() -> None:
    names = [kind.name for kind in secret_kinds()]
    assert set(names) == {kind for kind, _ in POSITIVES} == {kind for kind, _ in NEAR_MISSES}
    assert len(names) == len(set(names)) >= 30


def test_every_kind_says_what_it_is_in_one_sentence_and_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "screening.md").read_text()
    for kind in secret_kinds():
        assert kind.says[0].isupper()
        assert kind.says.endswith(".")
        assert kind.name == kind.name.lower()
        assert f"| `{kind.name}` | {kind.says} |" in page


def test_an_example_from_a_manual_is_refused_like_any_other() -> None:
    assert find_secret("AKIA" + "IOSFODNN7" + "EXAMPLE") == find_secret("AK" + "IA" + "IOSFODNN7SOMETHI")
    assert find_secret("4111 1111 " + "1111 1111") is not None


@given(st.sampled_from(POSITIVES), sentences, sentences, st.sampled_from(["\n", "\n\n", " \n"]))
def test_a_secret_is_found_wherever_it_stands_in_a_long_text(
    case: tuple[str, str], before: str, after: str, gap: str
) -> None:
    assert find_secret(f"{before}.{gap}{case[1]}{gap}{after}") is not None


@given(sentences)
def test_ordinary_words_are_never_a_secret(text: str) -> None:
    assert find_secret(text) is None


@given(st.text(max_size=300))
def test_any_text_can_be_screened(text: str) -> None:
    found = find_secret(text)
    assert found is None or found.kind in {kind.name for kind in secret_kinds()}


@given(st.sampled_from(POSITIVES))
def test_what_is_said_of_a_secret_holds_nothing_of_it(case: tuple[str, str]) -> None:
    kind, text = case
    found = find_secret(text)
    assert found is not None
    told = f"{found!r} {found} {dataclasses.asdict(found)} {Exception(found)}"
    pieces = [piece for piece in text.split() if any(char.isdigit() for char in piece)]
    assert all(piece not in told for piece in pieces if len(piece) > 3)
    assert found == Secret(kind=kind, says=next(k.says for k in secret_kinds() if k.name == kind))


@given(st.data(), st.sampled_from("\u200b\u200c\u200d\u2060\ufeff\u00ad"))
def test_invisible_characters_hide_nothing(data: st.DataObject, unseen: str) -> None:
    text = data.draw(st.sampled_from([VISA, spaced(VISA), ACCOUNT, f"my password is {RED}"]))
    place = data.draw(st.integers(0, len(text)))
    assert find_secret(text[:place] + unseen + text[place:]) is not None


@pytest.mark.parametrize("zero", ["\uff10", "\u0660", "\u06f0", "\U0001d7ce"])
def test_digits_of_other_forms_are_digits(zero: str) -> None:
    first = ord(zero)
    assert unicodedata.decimal(zero) == 0
    card = "".join(chr(first + int(digit)) for digit in VISA)
    found = find_secret(f"card {card}")
    assert found is not None
    assert found.kind == "payment_card"


def test_letters_of_other_scripts_do_not_hide_a_label() -> None:
    assert find_secret(f"my p\u0430ssw\u043erd is {RED}") is not None
    assert find_secret(f"my password is {RED}".translate({ord("a"): "\uff41"})) is not None


@pytest.mark.parametrize("wrap", ["\n", "\r\n", "\\n", " ", "\n\n", "\u200b\n", "\\r\\n"])
def test_a_key_file_is_found_however_its_lines_are_broken(wrap: str) -> None:
    assert find_secret(pem("RSA PRIVATE KEY", wrap)) is not None


def test_a_dash_that_is_not_a_hyphen_parts_digits_all_the_same() -> None:
    assert find_secret(spaced(VISA, "\u2013")) is not None
    assert find_secret(spaced(VISA, "\u00a0")) is not None
