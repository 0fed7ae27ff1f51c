"""Without a tokenizer tokens are estimated: close to what a current vocabulary makes of a text."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given

from tacit.records.token_counts import estimate_tokens
from tests.prompts.strategies import texts

OFF_BY_MAX = 0.2


class Sample(NamedTuple):
    kind: str
    o200k: int
    cl100k: int
    text: str


def samples() -> list[Sample]:
    lines = (Path(__file__).parent / "token_counts.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [Sample(kind, int(o), int(c), json.loads(text)) for kind, o, c, text in rows]


@pytest.mark.parametrize("sample", samples(), ids=lambda one: one.kind)
def test_an_estimate_is_close_to_a_real_count(sample: Sample) -> None:
    assert abs(estimate_tokens(sample.text) / sample.o200k - 1) <= OFF_BY_MAX


@given(text=texts, more=texts)
def test_more_lines_are_never_fewer_tokens(text: str, more: str) -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens(text) <= estimate_tokens(f"{text}\n{more}")
    assert estimate_tokens(text) == estimate_tokens(text)
