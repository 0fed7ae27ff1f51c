"""How the rules read their requirements where those disagree, and what a view makes of that."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.errors import TacitError
from tacit.memory import Memory
from tacit.policy.rules import decide
from tacit.records.memory import ChatKind, Kind, Sensitivity, Visibility
from tacit.view.view import View
from tests.policy.cells import (
    ALICE,
    BOB,
    CAROL,
    ELSEWHERE,
    HERE,
    NO_PROVENANCE,
    PRIVATE_LEARNED,
    Fields,
    Person,
    group_learned,
    memory,
    request,
)

A, B, C = ALICE.id, BOB.id, CAROL.id
PUBLIC, PERSONAL = Sensitivity.PUBLIC, Sensitivity.PERSONAL

# Bob said something about Alice in the group, while Carol listened.
BEHIND_HER_BACK: Fields = {
    "owner": B,
    "speaker": B,
    "subjects": frozenset({A}),
    "heard_by": frozenset({B, C}),
    "visibility": Visibility.ROOM,
    "sensitivity": PERSONAL,
    "portable": True,
    **group_learned(HERE),
}


def told_in_group(who: Person, *others: Person, complete: bool = False, **fields: object) -> bool:
    asked = request(who, ChatKind.GROUP, others, complete=complete)
    return decide(asked, memory(**(BEHIND_HER_BACK | fields))).allowed


def told_in_private(who: Person, **fields: object) -> bool:
    return decide(request(who), memory(**(BEHIND_HER_BACK | fields))).allowed


def test_a_sensitive_fact_is_not_told_in_a_group_even_to_its_subject_or_owner() -> None:
    for who in (ALICE, BOB, CAROL):
        assert not told_in_group(who, ALICE, BOB, sensitivity=Sensitivity.SENSITIVE)


def test_a_personal_fact_is_told_in_its_group_to_its_subject_and_its_speaker_only() -> None:
    assert told_in_group(ALICE, BOB, CAROL)
    assert told_in_group(BOB, ALICE, CAROL)
    assert not told_in_group(CAROL, ALICE, BOB)


def test_a_personal_fact_is_told_in_another_group_by_its_owners_public_ok_only() -> None:
    elsewhere = group_learned(ELSEWHERE)
    for who in (ALICE, BOB, CAROL):
        assert not told_in_group(who, ALICE, BOB, CAROL, **elsewhere)
    assert told_in_group(BOB, ALICE, visibility=Visibility.PUBLIC_OK, **elsewhere)
    assert not told_in_group(ALICE, BOB, visibility=Visibility.PUBLIC_OK, **elsewhere)


def test_a_public_fact_is_told_where_it_was_learned_unless_its_subject_missed_it() -> None:
    assert told_in_group(CAROL, BOB, sensitivity=PUBLIC)
    assert not told_in_group(CAROL, BOB, ALICE, sensitivity=PUBLIC)
    assert told_in_group(CAROL, BOB, ALICE, sensitivity=PUBLIC, heard_by=frozenset({A, B, C}))


def test_a_public_fact_is_told_elsewhere_to_its_subject_or_where_everybody_heard_it() -> None:
    fact: Fields = {"sensitivity": PUBLIC, **group_learned(ELSEWHERE)}
    assert told_in_group(ALICE, CAROL, **fact)
    assert not told_in_group(CAROL, ALICE, **fact)
    assert told_in_group(CAROL, BOB, complete=True, **fact)
    assert not told_in_group(CAROL, BOB, complete=False, **fact)
    assert not told_in_group(CAROL, BOB, ALICE, complete=True, **fact)


def test_what_was_said_behind_a_persons_back_stays_there() -> None:
    assert not told_in_private(ALICE)
    assert told_in_private(ALICE, heard_by=frozenset({A}))
    assert told_in_private(ALICE, sensitivity=PUBLIC)
    assert not told_in_private(ALICE, sensitivity=PUBLIC, portable=False)
    assert not told_in_private(ALICE, sensitivity=PUBLIC, **PRIVATE_LEARNED)


def test_a_surprise_stays_a_surprise() -> None:
    party: Fields = {"sensitivity": PUBLIC, "heard_by": frozenset({A, B, C})}
    assert told_in_private(ALICE, **party)
    assert not told_in_private(ALICE, withheld_from=frozenset({A}), **party)
    assert told_in_private(CAROL, withheld_from=frozenset({A}), **party)
    assert not told_in_group(CAROL, BOB, withheld_from=frozenset({A}), **party)
    assert told_in_group(CAROL, BOB, complete=True, withheld_from=frozenset({A}), **party)


def test_without_provenance_only_the_owner_is_told_and_only_in_private() -> None:
    lent: Fields = {"visibility": Visibility.PUBLIC_OK, "sensitivity": PUBLIC, **NO_PROVENANCE}
    assert told_in_private(BOB, **lent)
    assert not told_in_private(ALICE, **lent)
    assert not told_in_group(BOB, ALICE, **lent)


# What a view writes where nobody says otherwise

HER, HIM = tacit.Requester("telegram:1"), tacit.Requester("telegram:2")
AT_HOME = tacit.Chat.private("telegram:1")
TOGETHER = tacit.Chat.group("telegram:-5", ["telegram:1", "telegram:2"])
LASTING = {Kind.PREFERENCE, Kind.IDENTITY, Kind.RELATIONSHIP, Kind.KNOWLEDGE}


@pytest.fixture(scope="module")
def opened() -> Iterator[Memory]:
    with tacit.open("sqlite://") as found:
        yield found


def view(opened: Memory, who: tacit.Requester, chat: tacit.Chat) -> View:
    found = opened.view(who, chat)
    assert isinstance(found, View)
    return found


def written(opened: Memory, chat: tacit.Chat, **fields: Any) -> tuple[str, View]:
    """A memory of hers, and the view in which she sees all of it."""
    id = view(opened, HER, chat).remember("Alice keeps bees", **fields).id
    assert id
    return id, view(opened, HER, AT_HOME)


@pytest.mark.parametrize("chat", [AT_HOME, TOGETHER], ids=["in private", "in a group"])
def test_an_explicit_write_is_private_only_and_personal_unless_the_person_says_otherwise(
    opened: Memory, chat: tacit.Chat
) -> None:
    id, hers = written(opened, chat)
    assert hers.show(id).visibility is Visibility.PRIVATE_ONLY
    assert hers.show(id).sensitivity is PERSONAL


@pytest.mark.parametrize("kind", Kind)
def test_lasting_kinds_are_portable_and_passing_ones_are_not(opened: Memory, kind: Kind) -> None:
    id, hers = written(opened, AT_HOME, kind=kind)
    assert hers.show(id).portable is (kind in LASTING)


def test_public_ok_cannot_be_asked_for_where_others_listen(opened: Memory) -> None:
    with pytest.raises(tacit.InvalidInput):
        written(opened, TOGETHER, visibility="public_ok")


def test_without_an_identity_memory_is_disabled_and_says_so(opened: Memory) -> None:
    nobody = opened.view(None, AT_HOME)
    written(opened, AT_HOME)
    assert not nobody.enabled
    assert nobody.why_disabled
    assert not nobody.list().items
    assert not nobody.remember("Somebody keeps bees")


_CHATS = st.sampled_from([tacit.Chat.private("telegram:2"), TOGETHER])
_ACTS = st.sampled_from(["set", "update", "put", "restore", "withhold", "pin"])


@given(st.lists(st.tuples(_ACTS, _CHATS, st.booleans(), st.sampled_from(Visibility)), max_size=6))
def test_nothing_but_the_owners_own_act_in_private_raises_visibility(
    opened: Memory, story: list[tuple[str, tacit.Chat, bool, Visibility]]
) -> None:
    """Bob anywhere, and Alice in the group, try what they like on what the room may hear."""
    id, hers = written(opened, TOGETHER, visibility="room", about=["telegram:2"], sensitivity="public")
    widest = Visibility.ROOM
    for act, chat, alice, to in story:
        acting = view(opened, HER, TOGETHER) if alice else view(opened, HIM, chat)
        try:
            if act == "set":
                acting.set_visibility(id, to)
            elif act == "update":
                acting.update(id, f"Alice keeps bees, {to}")
            elif act == "put":
                acting.put("fact", "bees", f"Alice keeps bees, {to}", visibility=to)
            elif act == "withhold":
                acting.withhold_from(id, ["telegram:3"])
            else:
                getattr(acting, act)(id)
        except TacitError:
            pass  # refused, as most of it should be
        now = hers.show(id).visibility
        assert now.rank <= widest.rank
        widest = now
