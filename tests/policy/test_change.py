"""Who may change a memory: the whole table, and what holds whatever the memory."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InvalidInput, NotFound
from tacit.memory import Memory as Facade
from tacit.policy.rules import ChangeAction, RequesterRole, may_change
from tacit.records.memory import ChatKind, Memory, Purpose, Sensitivity, State, Visibility
from tacit.records.request import Request
from tacit.view.view import View
from tests.policy.cells import ALICE, BOB, CAROL, ELSEWHERE, HERE, NOW, Fields, group_learned, memory, request
from tests.policy.oracle import RULES, Reading, expected
from tests.policy.strategies import memories, requests, visibilities

A, B, C = ALICE.now[1], BOB.id, CAROL.id

# Said in this group, and heard by everybody in it: whatever Alice may not do, she may hear it.
SAID: Fields = {
    **group_learned(HERE),
    "speaker": B,
    "subjects": frozenset({C}),
    "heard_by": frozenset({A, B, C}),
    "visibility": Visibility.ROOM,
    "sensitivity": Sensitivity.PUBLIC,
}
# What Alice is to it, and nothing else.
STANDINGS: dict[str, Memory] = {
    "owner": memory(**(SAID | {"owner": A})),
    "speaker": memory(**(SAID | {"owner": B, "speaker": A})),
    "subject": memory(**(SAID | {"owner": B, "subjects": frozenset({A})})),
    "member": memory(**(SAID | {"owner": None})),
    "listener": memory(**(SAID | {"owner": B})),
}
PRIVATE = request(ALICE, ChatKind.PRIVATE)
GROUP = request(ALICE, ChatKind.GROUP, (BOB, CAROL))

UP, DOWN = Visibility.PUBLIC_OK, Visibility.PRIVATE_ONLY
ACTS: dict[str, tuple[ChangeAction, Visibility | None]] = {
    "update": (ChangeAction.UPDATE, None),
    "pin": (ChangeAction.PIN, None),
    "forget": (ChangeAction.FORGET, None),
    "restore": (ChangeAction.RESTORE, None),
    "erase": (ChangeAction.ERASE, None),
    "raise visibility": (ChangeAction.SET_VISIBILITY, UP),
    "lower visibility": (ChangeAction.SET_VISIBILITY, DOWN),
    "withhold": (ChangeAction.WITHHOLD, None),
}

# A room's own fact is its members' there, and nobody's in private. An owner raises in private only;
# to lower it they may anywhere, as a speaker or a subject may.
TABLE = """
                    in private                                in the group
act                 owner speaker subject member listener     owner speaker subject member listener
update              yes   yes     yes     no     no           yes   yes     yes     yes    no
pin                 yes   no      no      no     no           yes   no      no      yes    no
forget              yes   yes     yes     no     no           yes   yes     yes     yes    no
restore             yes   yes     yes     no     no           yes   yes     yes     yes    no
erase               yes   yes     yes     no     no           yes   yes     yes     no     no
raise visibility    yes   no      no      no     no           no    no      no      no     no
lower visibility    yes   yes     yes     no     no           yes   yes     yes     no     no
withhold            yes   yes     yes     no     no           yes   yes     yes     no     no
"""


def table() -> Iterator[tuple[str, str, str, bool]]:
    for line in TABLE.strip().splitlines()[2:]:
        act, cells = line[:20].strip(), line[20:].split()
        places = ["private"] * len(STANDINGS) + ["group"] * len(STANDINGS)
        for place, standing, cell in zip(places, [*STANDINGS] * 2, cells, strict=True):
            yield act, standing, place, cell == "yes"


@pytest.mark.parametrize(("act", "standing", "place", "may"), [*table()])
def test_the_table_says_who_may_change_a_memory(act: str, standing: str, place: str, may: bool) -> None:
    what, to = ACTS[act]
    stored = STANDINGS[standing]
    if what is ChangeAction.RESTORE:
        stored = replace(stored, state=State.FORGOTTEN)
    found = may_change(what, PRIVATE if place == "private" else GROUP, stored, to)
    assert found == (RequesterRole(standing) if may else None)


def test_the_table_is_whole() -> None:
    assert {act for act, *_ in table()} == set(ACTS)
    assert {act for act, _ in ACTS.values()} == set(ChangeAction)
    assert set(STANDINGS) - {"listener"} == set(RequesterRole)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("standing", STANDINGS)
def test_whoever_it_is_withheld_from_may_do_nothing_in_any_standing_but_the_owners(act: str, standing: str) -> None:
    what, to = ACTS[act]
    hidden = replace(STANDINGS[standing], withheld_from=frozenset({ALICE.past[0]}))
    assert may_change(what, GROUP, hidden, to) is None
    in_private = may_change(what, PRIVATE, hidden, to)
    assert in_private == (RequesterRole.OWNER if standing == "owner" else None)


@pytest.mark.parametrize("standing", [s for s in STANDINGS if s != "owner"])
def test_what_is_no_longer_active_can_be_restored_by_who_may_and_nothing_else(standing: str) -> None:
    forgotten = replace(STANDINGS[standing], state=State.FORGOTTEN)
    lapsed = replace(STANDINGS[standing], expires_at=NOW)
    for stored in (forgotten, lapsed):
        may = {act for act, to in ACTS.values() if may_change(act, GROUP, stored, to)}
        assert may <= {ChangeAction.RESTORE}


def test_a_rooms_own_fact_is_changed_in_that_room_only() -> None:
    carried = replace(STANDINGS["member"], portable=True, learned_in=ELSEWHERE)
    everybody = replace(GROUP, complete=True)
    assert expected(everybody, carried) == "G3b"
    assert not any(may_change(act, everybody, carried, to) for act, to in ACTS.values())


def test_what_was_concluded_is_nobodys_own_words() -> None:
    concluded = replace(STANDINGS["speaker"], inferred=True)
    assert may_change(ChangeAction.FORGET, PRIVATE, concluded) is None


# What holds whatever the memory

often = settings(max_examples=250)
acts = st.sampled_from([*ACTS.values()])
recalling = requests(purpose=Purpose.RECALL)


@often
@given(recalling, memories(), acts, st.booleans())
def test_whoever_may_not_reach_a_memory_may_not_change_it(
    asked: Request, stored: Memory, act: tuple[ChangeAction, Visibility | None], overridden: bool
) -> None:
    stored = replace(stored, overridden=overridden)
    what, to = act
    if may_change(what, asked, stored, to) is None:
        return
    own = asked.private and asked.requester in Reading(asked, stored).owner
    alive = replace(stored, state=State.ACTIVE, expires_at=None)
    heard = RULES[expected(asked, alive if what is ChangeAction.RESTORE else stored)]
    assert own or (heard and not overridden)


@often
@given(recalling, memories(), visibilities)
def test_only_the_owner_in_private_raises_visibility(asked: Request, stored: Memory, to: Visibility) -> None:
    goes = Reading(asked, stored)
    if may_change(ChangeAction.SET_VISIBILITY, asked, stored, to) is None:
        return
    if to.rank > Visibility(goes.visibility).rank:
        assert asked.private
        assert asked.requester in goes.owner


@often
@given(requests(requester=None), memories(), acts)
def test_nobody_may_change_anything(
    asked: Request, stored: Memory, act: tuple[ChangeAction, Visibility | None]
) -> None:
    assert may_change(act[0], asked, stored, act[1]) is None


# Through the façade

HIM, HER = tacit.Requester("telegram:2"), tacit.Requester("telegram:1")
HIS_CHAT, HER_CHAT = tacit.Chat.private("telegram:2"), tacit.Chat.private("telegram:1")
THE_GROUP = tacit.Chat.group("telegram:-5", ["telegram:1", "telegram:2"])
Attempt = Callable[[View, str], object]

ATTEMPTS: dict[str, Attempt] = {
    "show": lambda view, id: view.show(id),
    "history": lambda view, id: view.history(id),
    "explain": lambda view, id: view.explain(id),
    "explain elsewhere": lambda view, id: view.explain(id, THE_GROUP),
    "update": lambda view, id: view.update(id, "other words"),
    "update a version": lambda view, id: view.update(id, "other words", if_version=3),
    "update a field": lambda view, id: view.update(id, pinned=True),
    "pin": lambda view, id: view.pin(id),
    "raise": lambda view, id: view.set_visibility(id, "public_ok"),
    "lower": lambda view, id: view.set_visibility(id, "private_only"),
    "withhold": lambda view, id: view.withhold_from(id, ["telegram:3"]),
    "forget": lambda view, id: view.forget(id),
    "restore": lambda view, id: view.restore(id),
    "erase": lambda view, id: view.erase(id),
}


@pytest.fixture
def opened(database_url: str) -> Iterator[Facade]:
    with tacit.open(database_url) as found:
        yield found


def view(opened: Facade, who: tacit.Requester, chat: tacit.Chat) -> View:
    found = opened.view(who, chat)
    assert isinstance(found, View)
    return found


def test_deny_looks_like_absent(opened: Facade) -> None:
    """For every act and every reason: the same error with the same words."""
    hers = view(opened, HER, HER_CHAT)
    private = hers.remember("Alice is allergic to bees").id
    hidden = view(opened, HER, THE_GROUP).remember("Alice plans a party").id
    gone = hers.remember("Alice likes fog").id
    forgotten = hers.remember("Alice disliked fog").id
    assert private
    assert hidden
    assert gone
    assert forgotten
    hers.erase(gone)
    hers.forget(forgotten)
    before = sorted(hers.export())
    ids = [private, hidden, forgotten, gone, "AAAAAAAA", "malformed", "", "'; --", private.lower()]
    said = set()
    for chat in (HIS_CHAT, THE_GROUP):
        for attempt in ATTEMPTS.values():
            for id in ids:
                with pytest.raises(NotFound) as refusal:
                    attempt(view(opened, HIM, chat), id)
                said.add((type(refusal.value), str(refusal.value), refusal.value.__cause__))
    assert said == {(NotFound, "no such memory here", None)}
    assert sorted(hers.export()) == before


def test_an_operator_does_everything_but_raise_visibility_and_history_names_them(opened: Facade) -> None:
    hers = view(opened, HER, HER_CHAT)
    id = hers.remember("Alice works at the harbour", visibility="public_ok").id
    assert id
    operator = opened.operator("olga")
    operator.update(id, "Alice works at the port")
    operator.forget(id)
    operator.restore(id)
    operator.withhold_from(id, ["telegram:9"])
    operator.lower_visibility(id, "private_only")
    for wider in (Visibility.ROOM, Visibility.PUBLIC_OK):
        with pytest.raises(InvalidInput):
            operator.lower_visibility(id, wider)
    acts = hers.history(id)
    assert [entry.actor for entry in acts[1:]] == ["operator:olga"] * 5
    assert hers.show(id).visibility is Visibility.PRIVATE_ONLY
    assert operator.erase(id).count == 1
    with pytest.raises(NotFound):
        operator.forget(id)
