"""Vectors on the command line: with the default model, without any, and with one that is away."""

import io
import sys
import time

import pytest

from tacit.cli.output import Progress
from tests.cli.conftest import Tacit

ALICE = ("--as", "telegram:1001")
# Nobody listens on port 1.
AWAY = {
    "TACIT_EMBEDDING_PROVIDER": "endpoint",
    "TACIT_EMBEDDING_URL": "http://127.0.0.1:1/v1",
    "TACIT_EMBEDDING_MODEL": "away",
}


def test_the_default_model_finds_by_meaning_also_what_was_there_before_it(
    on_file: Tacit, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_file("remember", "Alice adores felines", *ALICE)
    on_file("remember", "The invoice is due on Friday", *ALICE)
    assert on_file("recall", "does she like cats?", *ALICE).out == ""
    monkeypatch.setenv("TACIT_EMBEDDING_PROVIDER", "local")
    ran = on_file("reembed")
    assert ran.code == 0
    assert ran.out.endswith("dimension 384  2 of 2 memories\n")
    state = on_file("embedding", "--json").json
    assert (state["dimension"], state["done"], state["complete"]) == (384, 2, True)
    best = on_file("recall", "does she like cats?", *ALICE, "--json").json["recalled"][0]
    assert best["memory"]["content"] == "Alice adores felines"
    assert best["signals"]["meaning"] > 0
    assert best["signals"]["words"] == 0


def test_without_a_model_there_is_nothing_to_make(on_file: Tacit) -> None:
    ran = on_file("embedding")
    assert (ran.code, ran.out) == (0, "no model: recall matches words only\n")
    assert on_file("embedding", "--json").json["model"] is None
    ran = on_file("reembed")
    assert (ran.code, ran.out) == (2, "")
    assert "choose one with embedding.provider" in ran.err


def test_a_model_that_does_not_answer_is_code_6_for_reembed_alone(
    on_file: Tacit, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_file("remember", "green tea", *ALICE)
    for name, value in AWAY.items():
        monkeypatch.setenv(name, value)
    ran = on_file("reembed", "--json")
    assert (ran.code, ran.out) == (6, "")
    assert ran.error["type"] == "EmbeddingFailed"
    found = on_file("recall", "tea", *ALICE)
    assert found.code == 0
    assert "green tea" in found.out
    assert "tacit: recall goes by words alone: EmbeddingFailed\n" in found.err
    assert on_file("recall", "tea", *ALICE, "--json").err == ""


@pytest.mark.parametrize(
    ("terminal", "quiet", "shown"),
    [
        (True, False, "\r64 done\r256 done\n"),
        (False, False, "64 done\n256 done\n"),
        (False, True, ""),
    ],
)
def test_progress_is_a_growing_line_or_a_line_per_second(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, quiet: bool, shown: str
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    with Progress("done", quiet=quiet) as progress:
        for count in (0, 64, 100, 128, 256):  # within the same moment
            progress(count)
    assert stream.getvalue() == shown
