"""The agent at a terminal: the same as the bots have, for one person or for nobody."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tacit
from tacit import limits
from tacit.bots import texts
from tacit.bots.bot import Bot
from tacit.bots.terminal import TerminalConversation, TerminalScreen
from tacit.cli import main
from tacit.cli.output import TerminalWriter
from tacit.settings import ChatSettings
from tests.bots.scripted import ScriptedModel

ALICE = ("--as", "telegram:1001", "--name", "Alice")
JSON = (*ALICE, "--json")
GROUP = ("--chat", "telegram:-5", "--with", "telegram:2002,Bob")

Chat = Callable[..., tuple[str, str]]

# The bot behind it is tried on both databases over the channels, and the command line by itself.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite-file"], indirect=True)


@pytest.fixture
def chat(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Chat:
    """What `tacit chat` prints, and says beside it, when these lines are typed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def talk(*lines: str | bytes, options: tuple[str, ...] = ALICE) -> tuple[str, str]:
        typed = b"".join((x if isinstance(x, bytes) else x.encode()) + b"\n" for x in lines)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), encoding="utf-8"))
        assert main(["--db", database_url, "chat", *options]) == 0
        printed = capsys.readouterr()
        return printed.out, printed.err

    return talk


def test_a_number_presses_its_button_until_that_is_answered(chat: Chat) -> None:
    typed = ("I work at ACME.", "7", "It rains.", "5", "2", "/memory")
    shown, _ = chat(*typed, options=JSON)
    answers = [json.loads(line) for line in shown.splitlines()]
    assert len(answers) == len(typed)
    assert [one["numbers"] for one in answers[:3]] == [[1, 2], [3, 4], [5, 6]]
    assert all(one["buttons"] == ["Yes", "No"] for one in answers[:3])
    assert all(one["memory"] for one in answers)
    texts = [one["text"] for one in answers]
    assert texts[0] in texts[1], "a number that was never a button is text; all is answered"
    assert "I'll remember" in texts[3], "other lines came between"
    assert "answered already" in texts[4]
    assert "ACME" in texts[5]


def test_numbers_of_a_list_are_said_and_press_no_button_that_stood_there_before(chat: Chat) -> None:
    typed = ("I work at ACME.", "I live in Lisbon.", "2", "/memory")
    shown, _ = chat(*typed, options=JSON)
    answers = [json.loads(line) for line in shown.splitlines()]
    assert answers[0]["numbers"] == [1, 2]
    assert answers[1]["numbers"] == [], "its own numbers are enough"
    assert answers[2]["text"].endswith("lives in Lisbon"), "and not a no to the first"
    assert answers[3]["text"].endswith("works at ACME")
    assert "Lisbon" in answers[4]["text"]


def test_what_cannot_be_read_is_told_and_the_conversation_goes_on(chat: Chat) -> None:
    most = limits.CHAT_TEXT_MAX_CHARS
    told: dict[str | bytes, str] = {
        "x" * (most + 1): texts.LINE_TOO_LONG.format(most),
        "x" * (3 * most): texts.LINE_TOO_LONG.format(most),
        b"remember that I like caf\xe9": texts.LINE_NOT_UTF8,
        "remember that my motto is \x1b[31mred\0": texts.LINE_HAS_CONTROLS,
    }
    lines = ("5" * 5_000, "x" * most, "Remember that I prefer tea.")
    shown, beside = chat(*told, *lines, options=JSON)
    answers = [json.loads(line)["text"] for line in shown.splitlines()]
    assert answers[: len(told)] == list(told.values())
    assert len(answers) == len(told) + len(lines), "one record for each line"
    assert not set(answers[len(told) :]) & {"", *told.values()}
    assert "tea" in answers[-1]
    assert beside == ""


def test_that_there_is_no_model_is_told_to_people_when_it_starts(
    database_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    who, where = tacit.Requester("local:me"), tacit.Chat.private("local:me")
    with tacit.open(database_url, embedder=None) as memory:
        for as_json in (False, True):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
            screen = TerminalScreen(TerminalWriter(as_json=as_json), "you> ", enabled=True)
            bot = Bot(memory, ChatSettings())
            TerminalConversation(bot, who, where, screen, has_model=memory.llm.available).run()
            printed = capsys.readouterr()
            assert printed.out == ""
            assert printed.err == ("" if as_json else f"{texts.TERMINAL_NO_MODEL}\n")


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
    assert "Memory is disabled: the requester is unknown" in beside
    assert "--as local:me" in beside
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
    assert "Memory is disabled" in beside
