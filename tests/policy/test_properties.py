"""What must stay true of disclosure, whatever the request and the memory."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tacit.policy.rules import decide
from tacit.records.memory import ChatKind, Memory, Purpose, Sensitivity, State, Visibility
from tacit.records.request import Request
from tests.policy.cells import HERE, NOW, PEOPLE, PRIVATE_LEARNED, SARAH, Fields, Person, request
from tests.policy.oracle import RULES, expected
from tests.policy.strategies import (
    identities,
    memories,
    persons,
    questions,
    requests,
    sensitivities,
    somebody_else,
    visibilities,
)

STRANGER = "ext:telegram:999"
RECALL = Purpose.RECALL

# The function is pure and quick, so it can be asked often.
often = settings(max_examples=250)


def allowed(asked: Request, stored: Memory) -> bool:
    return decide(asked, stored).allowed


def person_of(identity: str) -> Person | None:
    return next((person for person in PEOPLE if identity in person.now), None)


def people_of(*identities: str | None) -> set[Person | None]:
    return {person_of(identity) for identity in identities if identity}


def about(stored: Memory) -> set[Person | None]:
    """Whom it is about: as it says, else its speaker, else its owner."""
    return people_of(*stored.subjects) or people_of(stored.speaker) or people_of(stored.owner)


@often
@given(requests(), memories())
def test_the_decision_is_that_of_the_rules_as_written_down_a_second_time(asked: Request, stored: Memory) -> None:
    decision = decide(asked, stored)
    assert decision.rule == expected(asked, stored)
    assert decision.allowed is RULES[decision.rule]


@often
@given(requests(), memories(), sensitivities)
def test_raising_the_sensitivity_never_discloses_more(asked: Request, stored: Memory, other: Sensitivity) -> None:
    low, high = sorted((stored.sensitivity, other), key=lambda s: s.rank)
    stored, stricter = replace(stored, sensitivity=low), replace(stored, sensitivity=high)
    assert allowed(asked, stored) or not allowed(asked, stricter)


@often
@given(requests(), memories(), visibilities)
def test_lowering_the_visibility_never_discloses_more(asked: Request, stored: Memory, other: Visibility) -> None:
    low, high = sorted((stored.visibility, other), key=lambda v: v.rank)
    stored, stricter = replace(stored, visibility=high), replace(stored, visibility=low)
    assert allowed(asked, stored) or not allowed(asked, stricter)


@often
@given(requests(), memories(portable=True))
def test_clearing_portable_never_discloses_more(asked: Request, stored: Memory) -> None:
    assert allowed(asked, stored) or not allowed(asked, replace(stored, portable=False))


@often
@given(requests(), memories(confidential=False))
def test_setting_confidential_never_discloses_more(asked: Request, stored: Memory) -> None:
    assert allowed(asked, stored) or not allowed(asked, replace(stored, confidential=True))


@often
@given(requests(), memories(inferred=False))
def test_concluding_it_instead_of_hearing_it_never_discloses_more(asked: Request, stored: Memory) -> None:
    assert allowed(asked, stored) or not allowed(asked, replace(stored, inferred=True))


@often
@given(requests(), memories(), somebody_else)
def test_withholding_it_from_somebody_more_never_discloses_more(
    asked: Request, stored: Memory, more: frozenset[str]
) -> None:
    unknown = stored.withheld_unknown or SARAH in more
    kept_from = stored.withheld_from | more
    stricter = replace(stored, withheld_from=kept_from, withheld_unknown=unknown)
    assert allowed(asked, stored) or not allowed(asked, stricter)


@often
@given(requests(purpose=RECALL), memories(), st.sampled_from([s for s in State if s != State.ACTIVE]))
def test_what_is_no_longer_active_is_never_recalled(asked: Request, stored: Memory, state: State) -> None:
    assert not allowed(asked, replace(stored, state=state))
    assert not allowed(asked, replace(stored, expires_at=asked.at))


@often
@given(requests(), memories(), identities)
def test_having_been_heard_by_somebody_more_never_discloses_less(asked: Request, stored: Memory, listener: str) -> None:
    wider = replace(stored, heard_by=stored.heard_by | {listener})
    assert allowed(asked, wider) or not allowed(asked, stored)


@often
@given(questions(), memories(), persons)
def test_somebody_more_in_the_audience_never_discloses_more_unless_it_is_theirs_or_about_them(
    asked: Fields, stored: Memory, newcomer: Person
) -> None:
    assume(newcomer not in people_of(stored.owner) | about(stored))
    assume(newcomer != asked["requester"])
    larger = asked | {"others": [*asked["others"], newcomer]}
    assert allowed(request(**asked), stored) or not allowed(request(**larger), stored)


@often
@given(requests(purpose=RECALL), memories(**PRIVATE_LEARNED))
def test_what_was_learned_in_private_reaches_others_only_by_the_owners_public_ok(
    asked: Request, stored: Memory
) -> None:
    if not asked.private and allowed(asked, stored):
        assert stored.visibility is Visibility.PUBLIC_OK
        assert stored.owner is not None
        assert asked.person(stored.owner) in asked.audience


@often
@given(questions(kind=ChatKind.PRIVATE, others=()), memories(**PRIVATE_LEARNED))
def test_what_was_learned_in_private_never_reaches_another_persons_private_chat(asked: Fields, stored: Memory) -> None:
    assume(asked["requester"] not in people_of(stored.owner, stored.speaker))
    assert not allowed(request(**asked), stored)


@often
@given(requests(), memories(sensitivity=Sensitivity.SENSITIVE))
def test_what_is_sensitive_never_reaches_a_group(asked: Request, stored: Memory) -> None:
    assert asked.private or not allowed(asked, stored)


@often
@given(requests(), memories(inferred=True))
def test_what_is_inferred_reaches_its_owner_in_private_and_nobody_else(asked: Request, stored: Memory) -> None:
    if allowed(asked, stored):
        assert asked.private
        assert stored.owner is not None
        assert asked.person(stored.owner) == asked.requester


@often
@given(requests(requester=None), memories())
def test_nobody_is_told_anything(asked: Request, stored: Memory) -> None:
    assert not allowed(asked, stored)


@often
@given(requests(union=True), memories(), st.integers(0, 5))
def test_two_identities_of_one_person_behave_as_one(asked: Request, stored: Memory, turn: int) -> None:
    def another(identity: str) -> str:
        person = person_of(identity)
        return person.now[turn % len(person.now)] if person else identity

    def others(group: frozenset[str]) -> frozenset[str]:
        return frozenset(another(identity) for identity in group)

    renamed = replace(
        stored,
        owner=stored.owner and another(stored.owner),
        speaker=stored.speaker and another(stored.speaker),
        subjects=others(stored.subjects),
        heard_by=others(stored.heard_by),
        withheld_from=others(stored.withheld_from),
    )
    assert decide(asked, renamed) == decide(asked, stored)


@often
@given(questions(purpose=RECALL), memories(state=State.ACTIVE, expires_at=None), persons, st.integers(0, 5))
def test_withheld_from_reaches_every_identity_a_person_ever_had(
    asked: Fields, stored: Memory, present: Person, which: int
) -> None:
    asked |= {"others": [*asked["others"], present], "requester": asked["requester"] or present}
    hidden = frozenset({present.ever[which % len(present.ever)]})
    assert decide(request(**asked), replace(stored, withheld_from=hidden)).rule == "D3"


@often
@given(requests(), memories(), st.sampled_from([p for p in PEOPLE if p.past]))
def test_an_unlinked_identity_gives_a_person_no_claim(asked: Request, stored: Memory, person: Person) -> None:
    """What belongs to an identity that is no longer theirs might as well be a stranger's."""

    def belonging_to(whom: str) -> Memory:
        them = frozenset({whom})
        return replace(stored, owner=whom, speaker=whom, subjects=them, heard_by=them)

    assert decide(asked, belonging_to(person.past[0])) == decide(asked, belonging_to(STRANGER))


@pytest.mark.parametrize("kind", ChatKind)
@given(stored=memories())
def test_an_empty_audience_hears_nothing(kind: ChatKind, stored: Memory) -> None:
    nobody = Request(space="default", at=NOW, requester=None, chat=HERE, kind=kind, complete=True)
    assert not allowed(nobody, stored)
