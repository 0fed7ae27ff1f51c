"""Every rule of disclosure: a case that it decides, and a near miss that it does not."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.policy.rules import RULE_TEXTS, decide
from tacit.policy.rules import RULES as TABLE
from tacit.records.memory import ChatKind, Memory, Purpose, Sensitivity, State, Visibility
from tacit.records.request import Request
from tests.policy.cells import (
    ALICE,
    BOB,
    CAROL,
    ELSEWHERE,
    HERE_BEFORE,
    MEMORY_FIELDS,
    NOW,
    PRIVATE_LEARNED,
    SARAH,
    Fields,
    Person,
    group_learned,
    memory,
    request,
    withheld,
)
from tests.policy.oracle import RULES
from tests.policy.strategies import memories, requests

MANAGE = Purpose.MANAGE
A, B, C = ALICE.id, BOB.id, CAROL.id


def privately(who: Person | None) -> Request:
    return request(who, ChatKind.PRIVATE)


def in_group(who: Person | None, *others: Person, complete: bool = False) -> Request:
    return request(who, ChatKind.GROUP, others, complete=complete)


def somewhere(who: Person, *others: Person) -> Request:
    return request(who, ChatKind.UNKNOWN, others)


def managing(asked: Request) -> Request:
    return replace(asked, purpose=MANAGE)


@dataclass(frozen=True)
class Case:
    """A rule, what it decides, and the least change that makes another rule decide."""

    rule: str
    asked: Request
    stored: Fields
    instead: str
    near: Fields = field(default_factory=dict)
    near_asked: Request | None = None


def heard(*people: str) -> Fields:
    return {"heard_by": frozenset(people)}


def about(*people: str) -> Fields:
    return {"subjects": frozenset(people)}


HIDDEN: Fields = {"visibility": Visibility.PRIVATE_ONLY}
ROOM: Fields = {"visibility": Visibility.ROOM}
ANYWHERE: Fields = {"visibility": Visibility.PUBLIC_OK}
PUBLIC, PERSONAL, SENSITIVE = ({"sensitivity": s} for s in Sensitivity)
CONFIDENTIAL: Fields = {"confidential": True}

MINE: Fields = {"owner": A, "speaker": A, **PRIVATE_LEARNED}
LENT = MINE | ANYWHERE
SAID_HERE: Fields = {"owner": B, "speaker": B, **ROOM, **group_learned(HERE_BEFORE)}
ABOUT_ALICE = SAID_HERE | about(A)
PORTABLE: Fields = {"portable": True, **PUBLIC, **group_learned(ELSEWHERE)}
CARRIED = SAID_HERE | PORTABLE | heard(A, B, C)
LATER: Fields = {"expires_at": NOW + timedelta(microseconds=1)}

CASES = (
    Case("M1", managing(privately(ALICE)), MINE | {"state": State.FORGOTTEN}, "M0", {"owner": B}),
    Case("M0", managing(in_group(ALICE, BOB)), MINE, "M1", {}, managing(privately(ALICE))),
    Case("D1", privately(ALICE), MINE | {"state": State.PENDING}, "P1", {"state": State.ACTIVE}),
    Case("D1", privately(ALICE), MINE | {"expires_at": NOW}, "P1", LATER),
    Case("D2", privately(None), MINE, "P1", {}, privately(ALICE)),
    Case("D3", privately(ALICE), MINE | withheld(ALICE.past[0]), "P1", withheld(B)),
    Case("D3", in_group(ALICE), LENT | withheld(B), "G2b", {}, in_group(ALICE, complete=True)),
    Case("P1", privately(ALICE), MINE, "PV", {"owner": B, "speaker": B}),
    Case("D4", privately(BOB), {"owner": A, "speaker": B}, "P2", PRIVATE_LEARNED),
    Case("D4", in_group(ALICE), LENT | {"learned_in": None}, "G2b", PRIVATE_LEARNED),
    Case("P2", privately(BOB), MINE | {"speaker": B}, "PV", {"inferred": True}),
    Case("PV", privately(ALICE), ABOUT_ALICE | heard(A) | HIDDEN, "P3a", ROOM),
    Case("P3a", privately(ALICE), ABOUT_ALICE | heard(A) | SENSITIVE, "P0", heard(C)),
    Case("P3b", privately(ALICE), ABOUT_ALICE | PORTABLE, "P0", CONFIDENTIAL),
    Case("P3b", privately(ALICE), ABOUT_ALICE | PORTABLE, "P0", {"portable": False}),
    Case("P3b", privately(ALICE), ABOUT_ALICE | PORTABLE, "P0", PERSONAL),
    Case("P3b", privately(ALICE), ABOUT_ALICE | PORTABLE, "P0", about(C)),
    Case("P4", privately(ALICE), SAID_HERE | heard(A), "P0", SENSITIVE),
    Case("P0", privately(ALICE), SAID_HERE, "P4", heard(ALICE.now[2])),
    Case("GS", in_group(ALICE, BOB), LENT | SENSITIVE, "G2b", PERSONAL),
    Case("GV", in_group(ALICE, BOB), MINE, "G2b", ANYWHERE),
    Case("G1a", in_group(CAROL, BOB), SAID_HERE | PUBLIC, "G0", PERSONAL),
    Case("G1a", in_group(CAROL, ALICE), ABOUT_ALICE | PUBLIC | heard(A), "G0", heard(C)),
    Case("G1a", in_group(CAROL, BOB), SAID_HERE | PUBLIC, "G0", {}, somewhere(CAROL, BOB)),
    Case("G1a", in_group(CAROL, BOB), SAID_HERE | PUBLIC, "G0", group_learned(ELSEWHERE)),
    Case("G1b", in_group(ALICE, BOB), ABOUT_ALICE, "G0", {}, in_group(CAROL, ALICE, BOB)),
    Case("G1b", in_group(ALICE, BOB), ABOUT_ALICE, "G0", {}, somewhere(ALICE, BOB)),
    Case("G1b", in_group(BOB, ALICE), ABOUT_ALICE, "G0", group_learned(ELSEWHERE)),
    Case("G2a", somewhere(CAROL, ALICE), LENT | PUBLIC, "G0", {}, somewhere(CAROL, BOB)),
    Case("G2b", somewhere(ALICE, BOB), LENT, "G0", {}, somewhere(BOB, ALICE)),
    Case("G3a", in_group(ALICE, CAROL), ABOUT_ALICE | PORTABLE, "G0", about(A, B)),
    Case("G3a", in_group(ALICE, CAROL), ABOUT_ALICE | PORTABLE, "G0", CONFIDENTIAL),
    Case("G3a", in_group(ALICE, CAROL), ABOUT_ALICE | PORTABLE, "G0", PERSONAL),
    Case("G3a", in_group(ALICE, CAROL), ABOUT_ALICE | PORTABLE, "G0", {}, in_group(CAROL, ALICE)),
    Case("G3a", in_group(ALICE, CAROL), ABOUT_ALICE | PORTABLE, "G0", {}, somewhere(ALICE, CAROL)),
    Case("G3b", in_group(ALICE, CAROL, complete=True), CARRIED, "G0", heard(A, B)),
    Case("G3b", in_group(ALICE, complete=True), CARRIED, "G0", {}, in_group(ALICE)),
    Case("G3b", in_group(ALICE, complete=True), CARRIED, "G0", CONFIDENTIAL),
    Case("G0", in_group(CAROL, BOB), SAID_HERE, "G1b", {}, in_group(BOB, CAROL)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_rule_decides_its_case(case: Case) -> None:
    decision = decide(case.asked, memory(**case.stored))
    assert (decision.rule, decision.allowed) == (case.rule, RULES[case.rule])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{case.instead}")
def test_a_near_miss_is_decided_by_another_rule(case: Case) -> None:
    decision = decide(case.near_asked or case.asked, memory(**(case.stored | case.near)))
    assert (decision.rule, decision.allowed) == (case.instead, RULES[case.instead])
    assert RULES[case.instead] is not RULES[case.rule]


def test_every_rule_has_a_case_and_words_for_its_owner() -> None:
    names = [rule.name for rule in TABLE]
    assert names == list(RULES)
    assert [rule.allows for rule in TABLE] == list(RULES.values())
    assert {case.rule for case in CASES} == set(names)
    assert set(names) <= set(RULE_TEXTS)


# Before the rules


def test_inferred_forces_sensitive_and_private_only() -> None:
    lent = memory(**(LENT | PUBLIC | {"inferred": True}))
    assert decide(in_group(ALICE, BOB), lent).rule == "GS"
    told = memory(**(ABOUT_ALICE | heard(A, B, C) | {"inferred": True}))
    assert decide(privately(ALICE), told).rule == "PV"


def test_room_without_group_provenance_is_private_only() -> None:
    in_room = memory(**(MINE | ROOM | PUBLIC))
    assert decide(in_group(ALICE, BOB), in_room).rule == "GV"
    assert decide(privately(BOB), in_room).rule == "PV"


def test_somebody_unknown_in_withheld_from_forces_private_only() -> None:
    said = SAID_HERE | PUBLIC | heard(A, B, C)
    everybody = in_group(ALICE, BOB, complete=True)
    assert decide(everybody, memory(**said)).rule == "G1a"
    assert decide(everybody, memory(**(said | withheld(SARAH)))).rule == "GV"
    assert decide(privately(ALICE), memory(**(said | withheld(SARAH)))).rule == "PV"
    assert decide(privately(BOB), memory(**(said | withheld(SARAH)))).rule == "P1"


def test_it_is_withheld_from_who_is_here_even_where_their_past_is_unknown() -> None:
    nobody_knows = replace(privately(ALICE), audience_identities=frozenset())
    assert decide(nobody_knows, memory(**(MINE | withheld(A)))).rule == "D3"


# Missing fields, one by one: beside what the field counts as, what a looser reading would say


@pytest.mark.parametrize(
    ("missing", "asked", "stored", "rule"),
    [
        ("owner", privately(ALICE), MINE | {"speaker": None}, "PV"),
        ("speaker", privately(BOB), MINE | {"speaker": B}, "PV"),
        ("subjects", in_group(BOB), SAID_HERE, "G1b"),
        ("subjects", in_group(ALICE), SAID_HERE | {"owner": A, "speaker": None}, "G1b"),
        ("learned_in", privately(BOB), SAID_HERE | {"owner": None}, "D4"),
        ("learned_kind", privately(BOB), SAID_HERE | {"owner": None}, "D4"),
        ("heard_by", privately(ALICE), SAID_HERE, "P0"),
        ("confidential", privately(ALICE), ABOUT_ALICE | PORTABLE, "P3b"),
        ("visibility", in_group(BOB), SAID_HERE, "G1b"),
        ("visibility", in_group(ALICE), MINE, "GV"),
        ("sensitivity", in_group(CAROL), SAID_HERE, "G0"),
        ("sensitivity", in_group(BOB), SAID_HERE, "G1b"),
        ("portable", privately(ALICE), ABOUT_ALICE | PORTABLE, "P0"),
        ("inferred", privately(BOB), MINE | {"speaker": B}, "P2"),
        ("withheld_from", privately(ALICE), MINE, "P1"),
        ("state", privately(ALICE), MINE, "D1"),
    ],
)  # fmt: skip
def test_a_missing_field_counts_as_the_document_says(missing: str, asked: Request, stored: Fields, rule: str) -> None:
    assert decide(asked, memory(**(stored | {missing: None}))).rule == rule


# What each field counts as where nobody can read it.
DEFAULTS: Fields = {
    "owner": None,
    "speaker": None,
    "subjects": frozenset(),
    "learned_in": None,
    "learned_kind": None,
    "heard_by": frozenset(),
    "confidential": False,
    "visibility": None,
    "sensitivity": Sensitivity.PERSONAL,
    "portable": False,
    "inferred": False,
    "withheld_from": frozenset(),
    "withheld_unknown": False,
    "state": State.QUARANTINED,
    "expires_at": NOW - timedelta(days=1),
}
NAIVE = datetime(2999, 1, 1)  # noqa: DTZ001 - a time without a zone is one of the things to survive
GARBAGE: tuple[object, ...] = (
    7, -1.5, b"\xff", "", "?", (), [], {}, ["x"], {"x": 1}, {7}, object(), NAIVE, "public_ok ",
)  # fmt: skip


@settings(max_examples=400)
@given(requests(), memories(), st.sampled_from(sorted(DEFAULTS)), st.sampled_from((None, *GARBAGE)))
def test_an_unreadable_field_never_raises_and_never_opens(
    asked: Request, stored: Memory, name: str, value: object
) -> None:
    spoiled: Fields = {name: value}
    plain: Fields = {name: DEFAULTS[name]}
    decision = decide(asked, replace(stored, **spoiled))
    if name == "expires_at" and value is None:
        return  # it never expires: that is a value, and not a missing one
    if decision.allowed:
        assert decide(asked, replace(stored, **plain)).allowed


@settings(max_examples=200)
@given(requests(), st.fixed_dictionaries({n: st.sampled_from((None, *GARBAGE)) for n in DEFAULTS}))
def test_a_memory_of_nothing_but_garbage_is_never_disclosed(asked: Request, wild: Fields) -> None:
    assert not decide(asked, memory(**wild)).allowed


@given(requests(), memories(), st.sampled_from(sorted(set(MEMORY_FIELDS) - set(DEFAULTS))))
def test_fields_that_the_rules_do_not_name_decide_nothing(asked: Request, stored: Memory, name: str) -> None:
    spoiled: Fields = {name: object()}
    assert decide(asked, replace(stored, **spoiled)) == decide(asked, stored)
