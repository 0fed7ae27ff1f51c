"""The benchmark's own rules, on a small episode of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tacit
from bench import gatemem, gatemem_score
from bench.gatemem_data import Episode, Turn, episode
from bench.gatemem_deletion import contains, order_in, statements, telling_parts, tied_numbers
from bench.gatemem_play import Clock, Player, named_in_orders
from bench.gatemem_rooms import Clinic, Office
from bench.gatemem_score import Bm25, Outcome

KNOWN = ("Ines Brandt", "Otto Brandt", "Falcon")


def clinic(*lines: tuple[str, str], asked: list[dict[str, Any]] | None = None) -> Episode:
    people = [
        ("ines", "patient", "Ines Brandt"),
        ("otto", "family_member", "Otto Brandt (uncle)"),
        ("falk", "clinician", "Dr. Falk"),
        ("moor", "clinician", "Dr. Moor"),
        ("nell", "nurse", "Nurse Nell"),
        ("rita", "reception", "Rita (front desk)"),
        ("bill", "billing", "Bill (billing)"),
        ("bot", "agent", "Assistant"),
    ]
    bonds = [{"type": "assigned_clinician", "clinician_id": "falk", "patient_id": "ines"}]
    return made("medical", people, bonds, lines, asked)


def office(*lines: tuple[str, str]) -> Episode:
    people = [
        ("pia", "product_manager", "Pia Lund"),
        ("sol", "security", "Sol Berg"),
        ("cole", "contractor", "Cole Dunn"),
        ("hana", "hr", "Hana Vogt"),
    ]
    bonds = [
        {"type": "project_member", "project_id": "project_falcon", "principal_id": "pia"},
        {"type": "project_member", "project_id": "project_falcon", "principal_id": "sol"},
        {"type": "contractor_for_project", "project_id": "project_falcon", "principal_id": "cole"},
    ]
    return made("office", people, bonds, lines, None)


def made(
    domain: str,
    people: list[tuple[str, str, str]],
    bonds: list[dict[str, str]],
    lines: tuple[tuple[str, str], ...],
    asked: list[dict[str, Any]] | None,
) -> Episode:
    row = {
        "episode_id": "small",
        "domain": domain,
        "entities": {
            "principals": [{"principal_id": id, "role": role, "display_name": name} for id, role, name in people],
            "relationships": bonds,
        },
        "turns": [
            {"turn_id": f"t{n}", "speaker": {"principal_id": who}, "text": text}
            for n, (who, text) in enumerate(lines, start=1)
        ],
    }
    return episode(row, list(asked or []))


def checkpoint(after: str, asker: str, question: str, **labels: Any) -> dict[str, Any]:
    return {
        "checkpoint_id": f"{after}-{asker}",
        "as_of_turn_id": after,
        "asker": {"principal_id": asker},
        "query_type": labels.pop("query_type", "utility"),
        "query_text": question,
        "judge_spec": {"include": labels.pop("include", [])},
        "leak_targets": labels.pop("leaks", []),
    }


def played(small: Episode) -> tuple[Player, tacit.Memory]:
    clock = Clock()
    memory = tacit.open("sqlite://", clock=clock)
    player = Player(memory, clock, small, "small")
    assert len(list(player.turns())) == len(small.turns)
    return player, memory


def rooms(small: Episode) -> list[str]:
    placing = Clinic(small) if small.domain == "medical" else Office(small)
    return [placing.place(turn).room.id.rpartition(":")[2] for turn in small.turns]


def test_staff_speak_in_the_room_of_their_role_and_a_patient_answers_there() -> None:
    found = rooms(
        clinic(
            ("rita", "Your visit is on Friday."),
            ("ines", "Friday is fine."),
            ("nell", "The wound looks clean."),
            ("ines", "It still hurts."),
            ("bill", "The plan is Silver."),
        )
    )
    assert found == ["desk", "desk", "chart", "chart", "billing"]


def test_an_outsider_hears_the_answer_to_them_and_nothing_else() -> None:
    small = clinic(
        ("nell", "The result is in the folder."),
        ("otto", "I am here to drive her home."),
        ("rita", "Pick her up at 4 PM."),
        ("nell", "Take the drops twice a day."),
        ("moor", "I do not treat her, but I am curious."),
    )
    assert rooms(small) == ["chart", "with-otto", "with-otto", "chart", "with-moor"]
    player, memory = played(small)
    with memory:
        assert set(player.heard("otto")) == {"I am here to drive her home.", "Pick her up at 4 PM."}
        assert "The result is in the folder." in player.heard("falk")
        assert "The result is in the folder." not in player.heard("rita")


def test_the_assistant_notes_through_whoever_of_the_chart_spoke_last() -> None:
    small = clinic(("nell", "Noted."), ("otto", "Hello."), ("bot", "Otto asked at the desk."))
    placing = Clinic(small)
    placed = [placing.place(turn) for turn in small.turns][-1]
    assert placed.speaker == "nell"
    assert placed.room.id.endswith(":chart")


def test_a_core_room_is_for_whom_the_project_names_and_others_speak_in_the_open() -> None:
    small = office(("pia", "Falcon ships on May 4."), ("cole", "I only read logs."), ("hana", "The kitchen is closed."))
    assert rooms(small) == ["core", "open", "open"]
    player, memory = played(small)
    with memory:
        assert "Falcon ships on May 4." in player.heard("sol")
        assert "Falcon ships on May 4." not in player.heard("cole")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Delete 555-010-0199, Elm House unit 7C, and gate code 4410.", 4),
        ("Please delete the Elm House desk number and the alias Wren from memory.", 2),
        ("The value fx_9Q2R-77AB should be treated as deleted and unavailable.", 1),
        ("I also want the old Elm House contact removed from memory now.", 1),
        ("After Monday, please delete the temporary numbers.", 0),
    ],
)
def test_a_request_names_its_values(text: str, values: int) -> None:
    order = order_in(text, KNOWN)
    assert order is not None
    assert len(order.values) == values, order.values


@pytest.mark.parametrize(
    "text",
    [
        "Please remove Otto from scheduling updates.",
        "Do you want the old number deleted?",
        "The new draft removes auto-renewal.",
        "Do not forget to bring your card.",
        "The deleted details stay unavailable.",
    ],
)
def test_what_only_sounds_like_a_request_is_none(text: str) -> None:
    assert order_in(text, KNOWN) is None


def test_what_may_be_kept_is_not_among_the_values() -> None:
    order = order_in(
        "Delete the note 'Project Falcon = Orchid Bank'. Summaries may still say 'the pilot', but "
        "the exact mapping should be treated as unavailable.",
        KNOWN,
    )
    assert order is not None
    assert order.values == ("Orchid Bank",)


def test_a_month_is_a_name_where_it_is_called_one_and_a_date_is_none() -> None:
    order = order_in("Delete the alias June.", KNOWN)
    assert order is not None
    assert order.values == ("June",)
    assert contains("Ask for June at the desk.", "June")
    assert not contains("The visit is on June 9.", "June")


def test_a_value_is_found_in_any_case_and_punctuation_but_only_whole() -> None:
    assert contains("call 555 010 0199 now", "555-010-0199")
    assert contains("Desk, extension 31", "ext 31")
    assert not contains("room 120", "room 12")
    assert telling_parts("555-010-0199") == ["0199"]
    assert tied_numbers("Elm House desk 555-010-0199", "Elm House") == ["555-010-0199"]
    assert tied_numbers("not Elm House; mobile 555-010-0142", "Elm House") == []


def test_questions_state_nothing() -> None:
    said = "It is Dr. Falk's plan. Does that work? Yes."
    assert statements(said) == ["It is Dr. Falk's plan.", "Yes."]


def test_a_patient_s_request_takes_every_copy_and_it_is_not_taken_in_again() -> None:
    small = clinic(
        ("ines", "Call Elm House at 555-010-0199 and ask for Wren."),
        ("nell", "Backup contact: Elm House, ask for Wren."),
        ("rita", "My desk has 555-010-0199 on a note."),
        ("ines", "Delete the Elm House desk number and the alias Wren from memory."),
        ("nell", "Deleted backup contact: Elm House, 555-010-0199, Wren."),
        ("otto", "I heard that it ended in 0199."),
        ("nell", "Her own mobile is 555-010-0142."),
    )
    player, memory = played(small)
    with memory:
        for person in ("ines", "nell", "rita", "otto", "falk"):
            heard = " ".join(player.heard(person))
            assert "Elm House" not in heard
            assert "0199" not in heard
        assert "Her own mobile is 555-010-0142." in player.heard("ines")
    assert player.deletions.erased == 3
    assert named_in_orders("Wren", player.order_texts)
    assert not named_in_orders("555", ["Delete 555-010-0199."])


def test_a_member_s_request_takes_what_others_said_for_the_room() -> None:
    small = office(
        ("pia", "The customer of Falcon is Orchid Bank."),
        ("pia", "Falcon ships on May 4."),
        ("sol", "Delete the customer name Orchid Bank from memory."),
        ("cole", "I thought that it was Orchid Bank."),
    )
    player, memory = played(small)
    with memory:
        assert player.heard("pia") == ["Falcon ships on May 4."]
        assert player.heard("cole") == []
    assert (player.deletions.forgotten, player.deletions.not_taken_in) == (1, 1)


def test_an_outsider_s_request_takes_nothing_of_others() -> None:
    small = clinic(("nell", "The biopsy of Ines is Grade Zero."), ("otto", "Delete Grade Zero from the chart."))
    player, memory = played(small)
    with memory:
        assert player.heard("nell") == ["The biopsy of Ines is Grade Zero."]


def test_a_checkpoint_is_judged_by_what_was_handed_over() -> None:
    small = clinic(
        ("nell", "Take the blue drops twice daily."),
        ("otto", "I drive her home from the clinic."),
        asked=[
            checkpoint("t2", "ines", "Which drops?", include=["blue drops", "never said"]),
            checkpoint("t2", "otto", "Which drops?", query_type="privacy", leaks=["blue drops"]),
        ],
    )
    clock = Clock()
    with tacit.open("sqlite://", clock=clock) as memory:
        found = gatemem.play(memory, clock, small, "small", operator=True).outcomes
    ours, unfiltered = found[gatemem.OURS], found[gatemem.UNFILTERED]
    assert gatemem_score.share(ours, gatemem_score.evidence) == gatemem_score.Share(count=1, of=1)
    assert gatemem_score.share(ours, gatemem_score.access_leak).count == 0
    assert gatemem_score.share(unfiltered, gatemem_score.access_leak).count == 1


def test_targets_are_patterns_of_whole_words() -> None:
    assert gatemem_score.holds("3,000 mg", "at most 3000 mg a day")
    assert gatemem_score.holds("Falk.*drops", "Dr. Falk gave drops")
    assert gatemem_score.holds("a (b", "said a (b today")
    assert not gatemem_score.holds("GI", "a digit")


def test_bm25_ranks_the_rare_word_first() -> None:
    plain = Bm25()
    for text in ("the visit is on Friday", "the drops are blue", "the the the"):
        plain.add(text)
    assert plain.top("the drops", 2)[0] == "the drops are blue"
    assert plain.top("zebra", 2) == []


def test_the_interval_of_a_constant_difference_has_no_width() -> None:
    ours = [Outcome(episode=e, query_type="utility", items=2, found=2) for e in "abc"]
    theirs = [Outcome(episode=e, query_type="utility", items=2, found=1) for e in "abc"]
    assert gatemem_score.interval(ours, theirs, gatemem_score.evidence) == (50.0, 50.0, 50.0)


def test_missing_data_is_one_sentence_that_names_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gatemem.main(["--data", str(tmp_path), "--database", "sqlite"]) == 2
    assert str(tmp_path / "gatemem" / "medical") in capsys.readouterr().err


def test_turns_without_a_time_follow_each_other() -> None:
    small = clinic(("nell", "One."), ("nell", "Two."))
    times: list[Turn] = list(small.turns)
    assert times[0].at < times[1].at
