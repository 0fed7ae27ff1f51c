"""A token budget holds: the bound is never below a real tokenizer's count."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tacit.errors import InvalidInput, MissingExtra
from tacit.records.token_counts import TokenCounter, count_parts_within, load_token_counter, token_upper_bound
from tests.prompts.strategies import texts

WORDS = "Ana lives in Lisbon and prefers short answers. Alec is her boss at the bakery. " * 20
encodable = texts.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Byte-level BPE that puts a space before the text and normalises it: the worst there is."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|end|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator([WORDS], trainer)
    tokenizer.enable_truncation(4)  # a file may say so; a count must not believe it
    path = tmp_path_factory.mktemp("tokens") / "tokenizer.json"
    tokenizer.save(str(path))
    return str(path)


@pytest.fixture(scope="module")
def real(byte_level: str) -> TokenCounter:
    return load_token_counter(byte_level)


@given(text=encodable)
def test_the_bound_is_never_below_a_byte_level_tokenizer(real: TokenCounter, text: str) -> None:
    assert real(text) <= token_upper_bound(text)


def test_a_real_tokenizer_counts_less_and_is_not_cut_short(real: TokenCounter) -> None:
    assert 4 < real(WORDS) < len(WORDS) / 2
    assert real("") == token_upper_bound("") == 0


@given(st.lists(encodable, max_size=8), st.integers(0, 300))
def test_what_is_within_a_budget_fits_and_one_more_would_not(parts: list[str], budget: int) -> None:
    fitting = count_parts_within(parts, budget, token_upper_bound)
    assert token_upper_bound("\n".join(parts[:fitting])) <= budget
    if fitting < len(parts):
        assert token_upper_bound("\n".join(parts[: fitting + 1])) > budget


@given(parts=st.lists(encodable, max_size=8), budget=st.integers(0, 100))
def test_a_real_budget_is_never_exceeded(real: TokenCounter, parts: list[str], budget: int) -> None:
    assert real("\n".join(parts[: count_parts_within(parts, budget, real)])) <= budget


def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "tokenizer.json"
    bad.write_text("{}")
    for path in (bad, tmp_path / "absent.json"):
        with pytest.raises(InvalidInput, match=r"not a readable tokenizer\.json"):
            load_token_counter(str(path))


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match=r"\.\[embeddings\]"):
        load_token_counter("tokenizer.json")
