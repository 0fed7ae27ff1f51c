"""Whom a statement is about, and whose word counts."""

from tacit.memory import Memory
from tacit.records.accounts import NameKind
from tacit.records.memory import State, Trust
from tacit.view.view import View
from tests.contract.lessons import contents, only, told
from tests.contract.rooms import ALICE, BOB, CAROL, group, private


def names_of(memory: Memory, person: str) -> set[tuple[str, str]]:
    (found,) = [p for p in private(memory, ALICE).people.list() if person in p.identities]
    return {(name.kind.value, name.text) for name in found.names}


def test_my_wife_and_sarah_are_one_person(learning: Memory) -> None:
    view = private(learning, ALICE)
    told(learning, view, "My wife works at the post office", "Sarah is my wife")
    (person,) = only(view, "post office").subjects
    assert person in only(view, "Sarah").subjects
    assert (NameKind.NAME.value, "Sarah") in names_of(learning, person)
    told(learning, view, "Sarah works at the library now")
    assert [one for one in contents(view) if "post office" in one] == []


def test_a_new_boss_takes_the_word_from_the_old_one(learning: Memory) -> None:
    view = private(learning, ALICE)
    told(learning, view, "Tom is my boss", "Alec is my boss now")
    (alec,) = only(view, "Alec").subjects - {"ext:telegram:1001"}
    assert (NameKind.RELATION.value, "boss") in names_of(learning, alec)
    told(learning, view, "My boss likes early meetings")
    assert only(view, "early meetings").subjects == {alec}


def test_a_username_is_who_is_here(learning: Memory) -> None:
    group(learning, BOB).remember("hello")
    told(learning, group(learning, ALICE), "@bob loves pizza")
    kept = only(private(learning, ALICE), "pizza")
    assert kept.subjects == {"ext:telegram:2002"}
    assert kept.trust is Trust.HEARSAY


def test_who_could_be_two_people_is_not_guessed(learning: Memory) -> None:
    view = private(learning, ALICE)
    view.remember("met Sam at work", about=["telegram:51"])
    view.remember("met Sam at school", about=["telegram:52"])
    view.people.name("telegram:51", "Sam")
    view.people.name("telegram:52", "Sam")
    told(learning, view, "Sam works at Siemens")
    assert [one for one in contents(view) if "Siemens" in one] == []


def test_joint_facts_keep_both(learning: Memory) -> None:
    view = private(learning, ALICE)
    told(learning, view, "Sarah is my wife")
    assert len(only(view, "Sarah").subjects) == 2


def test_a_third_partys_claim_never_overrides_a_persons_own_word(learning: Memory) -> None:
    told(learning, group(learning, BOB), "I work at Bosch")
    told(learning, group(learning, ALICE), "Bob works at Siemens now")
    assert only(private(learning, BOB), "Bosch").state is State.ACTIVE
    assert only(private(learning, ALICE), "Siemens").trust is Trust.HEARSAY


def test_a_persons_own_word_outranks_hearsay_where_it_was_heard(learning: Memory) -> None:
    group(learning, BOB).remember("hello")
    told(learning, group(learning, ALICE), "Bob works at Siemens")
    assert [one for one in contents(private(learning, ALICE)) if "Siemens" in one]
    told(learning, group(learning, BOB), "I work at Bosch")
    assert [one for one in contents(private(learning, ALICE)) if "Siemens" in one] == []


def test_what_is_said_in_private_changes_nothing_for_others(learning: Memory) -> None:
    group(learning, BOB).remember("hello")
    told(learning, group(learning, ALICE), "Bob works at Siemens")
    assert contents(private(learning, ALICE))
    before = contents(private(learning, ALICE)), private(learning, ALICE).block().text
    told(learning, private(learning, BOB), "I work at Bosch")
    assert (contents(private(learning, ALICE)), private(learning, ALICE).block().text) == before
    assert [one for one in contents(private(learning, BOB)) if "Bosch" in one]


def test_hearsay_names_its_speaker_to_others_and_is_not_hedged_to_the_speaker(learning: Memory) -> None:
    told(learning, group(learning, ALICE), "My brother Erik works at Volvo")
    (own,) = [line for line in lines(private(learning, ALICE)) if "Volvo" in line]
    (heard,) = [line for line in lines(private(learning, BOB)) if "Volvo" in line]
    assert own.endswith("Alice's brother Erik works at Volvo")
    assert "said" not in own
    assert heard.endswith("Alice said that Alice's brother Erik works at Volvo")


def lines(view: View) -> list[str]:
    return view.block().text.splitlines()


def test_carol_learns_nothing_of_what_alice_told(learning: Memory) -> None:
    told(learning, private(learning, ALICE), "Carol works at Bosch", "Carol is my sister")
    assert contents(private(learning, CAROL)) == []
    assert private(learning, CAROL).recall("Bosch") == []
