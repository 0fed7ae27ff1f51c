"""The judge by words and the counts of the lives and sentences, on examples of their own."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

import tacit
from bench import life, said
from bench.life_data import BadData, Change, Life, Words, lives, sentence
from bench.life_data import change as parse_change
from bench.life_data import life as parse_life
from bench.life_data import said as read_said
from bench.life_score import Tally, find_faults, judged_facts, says_over, states, states_as_current
from tacit.records.memory import Memory

OSLO: Words = (("oslo",),)


def _life(**changed: Any) -> Life:
    raw = {
        "me": "Tom",
        "messages": [{"at": "2026-02-01T08:00", "text": "moved to oslo"}],
        "facts": [{"fact": "Tom lives in Oslo", "words": [["oslo"]]}, {"fact": "Tom bakes", "words": [["bak"]]}],
        "outdated": [{"fact": "Tom lives in Turin", "over_since": 0, "words": [["turin"]]}],
        "false": [{"claim": "Tom rows", "words": [["row"], ["tom"]]}],
        "questions": [
            {"question": "where do i live", "answer": "Oslo", "said_in": [0], "words": [["oslo"]]},
            {"question": "what is my shoe size", "answer": "never said", "said_in": [], "words": []},
        ],
    }
    return parse_life("tom", {**raw, **changed})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Tom lives in OSLO.", (("oslo",),)),
        ("Tom is allergic to walnuts", (("allerg",), ("nut", "walnut"))),
        ("Tom’s rent is 2,100 a month", (("tom's rent",), ("2100", "2,100"))),
        ("The dog (a whippet)", (("whippet",),)),
        ("Tom flies to New\nYork", (("new york",),)),
        ("Costs $40", (("$40",),)),
        ("Call Ana on 4 January 2026", (("call",), ("sunday",))),
        ("Anything", ()),
    ],
)
def test_a_text_states_what_each_requirement_finds_at_the_beginning_of_a_word(text: str, words: Words) -> None:
    assert states(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Tom eats walnuts", (("nut",),)),
        ("Tom lives in Oslo", (("oslo",), ("bergen", "turin"))),
        ("New in town, from York", (("new york",),)),
        ("Tom lives in Oslo", ((),)),
        ("Call Ana on 4 January 2026", (("sunday",),)),
        ("Call Ana on 31 February 2026", (("call",), ("sunday",))),
    ],
)
def test_the_end_of_a_word_or_half_of_the_requirements_are_not_enough(text: str, words: Words) -> None:
    assert not states(text, words)


@pytest.mark.parametrize(
    "text",
    ["Tom left Oslo", "Tom no longer lives in Oslo", "Tom doesn't row in Oslo anymore", "Tom moved from Oslo to Turin"],
)
def test_a_text_that_says_that_something_is_over_does_not_state_it_as_current(text: str) -> None:
    assert states(text, OSLO)
    assert not states_as_current(text, OSLO)


@pytest.mark.parametrize(
    "text", ["Tom's left knee hurts in Oslo", "Tom is left-handed", "Tom moved to Oslo", "Tom rows"]
)
def test_what_only_looks_like_an_end_is_none(text: str) -> None:
    assert not says_over(text)


def test_a_life_is_judged_by_its_active_memories() -> None:
    tally = Tally()
    tally.judge(_life(), ["Tom moved to Oslo", "Tom lives in Turin", "Tom rows on the fjord"])
    assert (tally.known, tally.facts) == (1, 2)
    assert (tally.wrong, tally.memories, tally.believed, tally.claims) == (1, 3, 1, 1)
    assert (tally.current, tally.outdated) == (1, 1)
    assert [miss.split()[0] for miss in tally.misses] == ["UNKNOWN", "WRONG", "OUTDATED"]


def test_only_questions_whose_answer_was_said_are_asked() -> None:
    one, tally = _life(), Tally()
    tally.judge_answers(one, "turns", [["no", "moved to oslo"]])
    tally.judge_answers(one, "memories", [[]])
    assert dict(tally.answered) == {"turns": 1}
    assert len(tally.misses) == 1


def test_the_facts_themselves_are_all_known_and_counts_add_up() -> None:
    whole = Tally()
    for _ in range(2):
        whole.add(judged_facts(_life()))
    assert (whole.known, whole.facts, whole.wrong, whole.current) == (4, 4, 0, 0)


def test_each_target_of_the_lives_is_met_or_missed(capsys: pytest.CaptureFixture[str]) -> None:
    good = judged_facts(_life())
    good.questions, good.answered[life.BY_DEFAULT], good.seconds = 1, 1, [0.01]
    assert life.show({"tom": good}, good) == 0
    assert "MISSED" not in capsys.readouterr().out
    bad = Tally(seconds=[0.01])
    bad.judge(_life(), ["Tom lives in Turin", "Tom rows"])
    assert life.show({"tom": bad}, good) == 4
    assert capsys.readouterr().out.count("MISSED") == 4


@pytest.fixture
def held() -> list[Memory]:
    with tacit.open("sqlite://", embedder=None) as memory:
        view = memory.view(tacit.Requester("local:nora", name="Nora"), tacit.Chat.private("local:nora"))
        view.remember("Nora works at a bakery", sensitivity="public", portable=True)
        view.remember("Nora left the dairy", sensitivity="personal", portable=False)
        return list(view.list())


@pytest.mark.parametrize(
    ("wanted", "faults"),
    [
        ({"holds": [[["works"], ["baker"]]], "gone": [[["dairy"]]]}, []),
        ({"holds": [[["works"], ["dairy"]]]}, ["holds"]),
        ({"gone": [[["baker"]]]}, ["gone"]),
        ({"holds": [[["baker"]]], "sens": "personal"}, ["sens"]),
        ({"holds": [[["dairy"]]], "sens": "personal", "portable": False}, []),
        ({"holds": [[["baker"]]], "portable": False}, ["portable"]),
        ({"nothing": True}, ["nothing"]),
    ],
)
def test_a_sentence_is_right_if_every_check_holds(
    held: list[Memory], wanted: dict[str, Any], faults: list[str]
) -> None:
    assert find_faults(sentence({"of": 1, "text": "…", **wanted}), held, kept=True) == faults


def test_nothing_is_right_if_nothing_was_kept() -> None:
    assert find_faults(sentence({"of": 1, "text": "off the record", "nothing": True}), [], kept=False) == []


def _change(answer: list[list[str]]) -> Change:
    return parse_change(
        {
            "me": "Tom",
            "known": ["Tom lives in Turin", "Tom's aunt lives in Oslo"],
            "change": "moved",
            "outdated": [],
            "untouched": [1],
            "question": "where does Tom live?",
            "answer": answer,
            "ended": not answer,
        }
    )


@pytest.mark.parametrize(
    ("found", "replaced", "ended"),
    [
        (["Tom lives in Oslo"], True, False),
        (["Tom no longer lives in Turin"], False, True),
        (["Tom's aunt lives in Oslo"], False, False),  # was known before
        (["Tom lives in Oslo", "Tom left Turin", "Tom lives in Turin"], False, False),  # and is still told
        ([], False, False),
    ],
)
def test_a_question_is_answered_with_what_is_known_since(found: list[str], *, replaced: bool, ended: bool) -> None:
    assert said.is_answered(_change([["oslo"]]), found) is replaced
    assert said.is_answered(_change([]), found) is ended


def test_the_chat_is_told_yes_when_it_asks() -> None:
    shown = io.StringIO()
    typist = said.Typist(["I bake", "I row"], shown)
    assert typist.readline() == "I bake\n"
    shown.write(json.dumps({"text": "Keep it?", "buttons": ["Yes", "No"], "numbers": [3, 4]}) + "\n")
    assert typist.readline() == "3\n"
    shown.write(json.dumps({"text": "2 wait.\nSay “all”, “none” or the numbers.", "buttons": [], "numbers": []}) + "\n")
    assert typist.readline() == "all\n"
    assert typist.readline() == "I row\n"
    assert typist.readline() == ""


def test_bad_data_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="no lives"):
        lives(tmp_path)
    (tmp_path / "tom.json").write_text('{"me": "Tom"}')
    with pytest.raises(BadData, match=r"tom\.json: KeyError"):
        lives(tmp_path)
    (tmp_path / "said.jsonl").write_text('{"of": 1, "text": "I row", "holds": [["row"]]}\n')
    with pytest.raises(BadData, match=r"said\.jsonl:1"):
        read_said(tmp_path)
