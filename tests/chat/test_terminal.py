"""The agent at a terminal: the same as the bots have, for one person or for nobody."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.surfaces.cli import main
from tests.chat.scripted import ScriptedModel

ALICE = ("--as", "telegram:1001", "--name", "Alice")
GROUP = ("--chat", "telegram:-5", "--with", "telegram:2002,Bob")

Chat = Callable[..., tuple[str, str]]

# The bot behind it is tried on both databases over the channels, and the command line by itself.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite-file"], indirect=True)


@pytest.fixture
def chat(
    database_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Chat:
    """What `tacit chat` prints, and says beside it, when these lines are typed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def talk(*lines: str, options: tuple[str, ...] = ALICE) -> tuple[str, str]:
        typed = "".join(f"{line}\n" for line in lines).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), encoding="utf-8"))
        assert main(["--db", database_url, "chat", *options]) == 0
        printed = capsys.readouterr()
        return printed.out, printed.err

    return talk


def test_what_is_said_is_asked_about_by_number_and_known_the_next_time(chat: Chat) -> None:
    asked, _ = chat("My cat is called Tom.", "1")
    assert "[1] Yes  [2] No" in asked
    assert asked.count("cat is called Tom") == 2, "once in the question, once in the answer"
    told, beside = chat("What is my cat called?", "/memory")
    assert told.count("cat is called Tom") == 2
    assert "Ctrl-D" in beside


def test_a_number_that_is_no_choice_is_a_message_like_any_other(chat: Chat) -> None:
    shown, _ = chat("My cat is called Tom.", "7", "1", "/memory", options=(*ALICE, "--json"))
    answers = [json.loads(line) for line in shown.splitlines()]
    assert answers[0]["buttons"] == ["Yes", "No"]
    assert all(one["memory"] for one in answers)
    assert "Tom" not in answers[-1]["text"], "the choice was over when something else was said"


def test_what_was_said_in_private_is_not_told_in_a_group(chat: Chat) -> None:
    chat("Remember that I am allergic to peanuts.")
    alone, _ = chat("What am I allergic to?")
    assert "peanuts" in alone
    together, _ = chat("What am I allergic to?", options=(*ALICE, *GROUP))
    assert together.strip()
    assert "peanuts" not in together


def test_without_an_identity_there_is_an_answer_and_no_memory(chat: Chat) -> None:
    shown, beside = chat("My cat is called Tom.", "What is my cat called?", options=())
    assert shown.strip()
    assert "Tom" not in shown
    assert "memory is disabled: nobody is known to be asking" in beside
    answers = chat("What is my cat called?", options=("--json",))[0].splitlines()
    assert [json.loads(line)["memory"] for line in answers] == [False] * len(answers) != []


def test_a_model_answers_with_what_is_known_and_cannot_move_the_cursor(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat("Remember that I prefer tea.")
    with ScriptedModel() as model:
        monkeypatch.setenv("TACIT_LANGUAGE_PROVIDER", model.settings.provider)
        monkeypatch.setenv("TACIT_LANGUAGE_MODEL", model.settings.model)
        monkeypatch.setenv("TACIT_LANGUAGE_BASE_URL", model.settings.base_url)
        model.script = ["Tea, \x1b[2Jof course."]
        shown, _ = chat("What do I like to drink?")
        assert "prefers tea" in model.prompts[-1].instructions
        nobody, beside = chat("What do I like to drink?", options=())
        assert "tea" not in model.prompts[-1].text
    assert "\x1b" not in shown
    assert "of course." in shown
    assert nobody.strip() == "All right."
    assert "memory is disabled" in beside
