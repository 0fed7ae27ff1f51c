"""Vectors on the command line: with the default model, without any, and with one that is away."""

import io
import sys

import pytest

from tacit.cli.output import CountProgress
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


def told(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: bool = False) -> str:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with CountProgress("done", quiet=quiet) as progress:
        for count in (0, 64, 100, 128, 192, 256):
            progress(count)
    return stream.getvalue()


def test_progress_grows_on_one_line_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, terminal=True) == (
        "\r64 done\r100 done\r128 done\r192 done\r256 done\n"
    )


def test_progress_in_a_log_comes_each_time_it_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, terminal=False) == "64 done\n128 done\n256 done\n"
    assert told(monkeypatch, terminal=False, quiet=True) == ""
