"""What somebody tells of their health, and of their family's, is kept: all of it."""

import csv
from pathlib import Path

import pytest

import tacit
from tacit.memory import Memory
from tacit.records.memory import Sensitivity, State, Visibility
from tests.contract.lessons import contents, only, told
from tests.contract.rooms import ALICE, BOB, group, private

NORA = tacit.Requester("telegram:77", name="Nora")
COORDINATED = Path(__file__).parent / "data" / "coordinated_health.tsv"


PREDICATES = [
    ("I'm vegetarian and allergic to nuts", ["is vegetarian", "is allergic to nuts"]),
    ("I'm diabetic and on insulin", ["is diabetic", "is on insulin"]),
    ("I'm vegetarian but allergic to tofu", ["is vegetarian", "is allergic to tofu"]),
    ("I have diabetes and high blood pressure", ["has diabetes", "has high blood pressure"]),
    ("I'm vegan, lactose intolerant and allergic to soy", ["is vegan", "is lactose intolerant", "is allergic to soy"]),
    ("I'm deaf in one ear and wear a hearing aid", ["is deaf in one ear", "wears a hearing aid"]),
    ("I have asthma and am on an inhaler", ["has asthma", "is on an inhaler"]),
    # Half of it is not understood, or it is more than one message may teach: kept whole.
    ("I'm pregnant and on folic acid", ["is pregnant and on folic acid"]),
    ("I have epilepsy and am not allowed to drive", ["has epilepsy and is not allowed to drive"]),
    ("I'm vegan, diabetic, asthmatic and allergic to soy", ["is vegan, diabetic, asthmatic and allergic to soy"]),
    # What passes is no fact.
    ("I'm diabetic and tired today", ["is diabetic"]),
]


def test_predicates_that_share_a_subject_are_all_kept(learning: Memory) -> None:
    for number, (said, kept) in enumerate(PREDICATES):
        view = private(learning, tacit.Requester(f"telegram:{number + 1}", name="Nora"))
        told(learning, view, said)
        assert contents(view) == sorted(f"Nora {one}" for one in kept)
        assert view.proposals.list() == [], said


def test_each_half_is_as_sensitive_as_it_is(learning: Memory) -> None:
    view = private(learning, NORA)
    told(learning, view, "I'm vegetarian and allergic to nuts", "I'm bipolar and on lithium")
    for words in ("nuts", "bipolar", "lithium"):
        assert only(view, words).sensitivity is Sensitivity.SENSITIVE


def test_german_predicates_that_share_a_subject_are_all_kept(learning: Memory) -> None:
    view = private(learning, NORA)
    told(learning, view, "Ich bin Vegetarierin und allergisch gegen Nüsse")
    assert contents(view) == ["Nora ist Vegetarierin", "Nora ist allergisch gegen Nüsse"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("my daughter Mia is allergic to eggs", "Nora's daughter Mia is allergic to eggs"),
        ("My husband has epilepsy", "Nora's husband has epilepsy"),
        ("My mum has dementia", "Nora's mum has dementia"),
        ("our dog Rex is diabetic", "Nora's dog Rex is diabetic"),
        ("Meine Tochter Mia ist allergisch gegen Eier", "Noras Tochter Mia ist allergisch gegen Eier"),
    ],
)
def test_the_health_of_ones_family_is_kept_when_told_in_private(learning: Memory, said: str, kept: str) -> None:
    view = private(learning, NORA)
    told(learning, view, said)
    (found,) = view.list().items
    assert (found.content, found.state) == (kept, State.ACTIVE)
    assert found.sensitivity is Sensitivity.SENSITIVE
    assert found.visibility in (None, Visibility.PRIVATE_ONLY)
    assert view.proposals.list() == []
    assert contents(group(learning, NORA, here=(NORA, BOB))) == []


def test_a_child_is_known_by_name_from_then_on(learning: Memory) -> None:
    view = private(learning, NORA)
    told(learning, view, "my daughter Mia is allergic to eggs", "Mia is allergic to nuts")
    assert "Mia is allergic to nuts" in contents(view)


def test_in_a_group_the_health_of_ones_family_waits_for_a_yes(learning: Memory) -> None:
    told(learning, group(learning, ALICE), "my daughter Mia is allergic to eggs")
    assert contents(private(learning, ALICE)) == []
    assert contents(group(learning, ALICE)) == []
    assert contents(group(learning, BOB)) == []


def test_somebody_with_a_key_of_their_own_is_asked_about(learning: Memory) -> None:
    group(learning, BOB).remember("hello")
    view = private(learning, ALICE)
    told(learning, view, "Bob is my husband", "Bob has epilepsy")
    assert [one for one in contents(view) if "epilepsy" in one] == []
    assert ["epilepsy" in one.content for one in view.proposals.list()] == [True]


def test_others_than_family_are_asked_about(learning: Memory) -> None:
    view = private(learning, NORA)
    told(learning, view, "my colleague Sam has diabetes", "Zoe is HIV positive")
    assert contents(view) == []
    assert len(view.proposals.list()) == 2


def test_no_half_of_a_coordinated_sentence_is_lost_and_none_is_another_persons(learning: Memory) -> None:
    """Each line is told by another person called Nora: what is kept, and what waits for a yes."""
    wrong = []
    with COORDINATED.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    for number, row in enumerate(rows):
        view = private(learning, tacit.Requester(f"telegram:{9_000 + number}", name="Nora"))
        told(learning, view, row["said"])
        kept = "; ".join(contents(view))
        waiting = "; ".join(sorted(one.content for one in view.proposals.list()))
        if (kept, waiting) != (row["kept"], row["waiting"]):
            wrong.append(f"{row['said']}\n  - {row['kept']} | {row['waiting']}\n  + {kept} | {waiting}")
    assert len(rows) > 200
    assert not wrong, "\n" + "\n".join(wrong)


def test_a_whole_clause_about_another_person_waits_for_a_yes(learning: Memory) -> None:
    view = private(learning, NORA)
    told(learning, view, "I'm allergic to nuts, my colleague Sam to shellfish")
    assert contents(view) == []
    (waiting,) = view.proposals.list()
    assert waiting.content == "Nora is allergic to nuts, Nora's colleague Sam to shellfish"


def test_a_whole_clause_about_the_family_waits_in_a_group(learning: Memory) -> None:
    told(learning, group(learning, ALICE), "my son is allergic to nuts and so am I")
    assert contents(group(learning, ALICE)) == contents(private(learning, ALICE)) == []


def test_a_whole_clause_is_as_sensitive_as_its_most_sensitive_part(learning: Memory) -> None:
    view = private(learning, NORA)
    told(learning, view, "I'm lactose intolerant and my doctor told me to avoid sugar")
    assert only(view, "sugar").sensitivity is Sensitivity.SENSITIVE
