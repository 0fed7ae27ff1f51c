"""Two whom somebody named are one to them: in their own private chats, and for nobody else."""

from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.memory import Memory
from tacit.records.memory import Memory as Record
from tacit.view.view import View
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, CAROL, group, kept, private, said
from tests.contract.rows import rows

WORLDS = count()
ROOM: Any = {"visibility": "room", "sensitivity": "public", "kind": "knowledge"}
NAMES = ["Tom", "Thomas", "Ann", "Bob"]
WEB = tacit.Requester("slack:T1:U9", name="Alice")


def person(view: View, name: str) -> str:
    """The id of somebody whom this view's requester calls so."""
    (found,) = [one.id for one in view.people.list() if name in {called.text for called in one.names}]
    return found


def two(memory: Memory) -> tuple[View, str, str]:
    view = private(memory, ALICE)
    kept(view, "Tom likes tea", about=["Tom"])
    kept(view, "Thomas lives in Rome", about=["Thomas"])
    return view, person(view, "Tom"), person(view, "Thomas")


def test_who_is_merged_has_all_names_and_all_that_is_known(memory: Memory) -> None:
    view, tom, thomas = two(memory)
    merged = view.people.merge(thomas, tom)
    assert merged.identities == {tom, thomas}
    assert {name.text for name in merged.names} == {"Tom", "Thomas"}
    assert [one for one in view.people.list() if one.identities & {tom, thomas}] == [merged]
    both = ["Thomas lives in Rome", "Tom likes tea"]
    for who in ("Tom", "Thomas", tom, thomas):
        assert said(view.people.about(who)) == both
    people = [node.id for node in view.graph().nodes if node.kind == "person"]
    assert people == [merged.id]


def test_an_undo_parts_them_again(memory: Memory) -> None:
    view, tom, thomas = two(memory)
    before = view.people.list()
    view.people.merge(thomas, tom)
    assert view.people.unmerge(thomas).identities == {thomas}
    assert view.people.list() == before
    assert said(view.people.about("Tom")) == ["Tom likes tea"]
    with pytest.raises(tacit.NotFound):
        view.people.unmerge(thomas)


def test_recall_knows_them_by_every_name(memory: Memory) -> None:
    view, tom, thomas = two(memory)
    assert not any(r.signals.person for r in view.recall("Rome Tom") if "Rome" in r.memory.content)
    view.people.merge(thomas, tom)
    (rome,) = [r for r in view.recall("Rome Tom") if "Rome" in r.memory.content]
    assert rome.signals.person > 0


def test_chains_are_one_person_and_part_where_they_were_joined(memory: Memory) -> None:
    view, tom, thomas = two(memory)
    kept(view, "Tommy sails", about=["Tommy"])
    tommy = person(view, "Tommy")
    view.people.merge(tommy, thomas)
    assert view.people.merge(thomas, tom).identities == {tom, thomas, tommy}
    assert view.people.unmerge(thomas).identities == {thomas, tommy}


def test_one_name_for_two_people_means_one_once_they_are_merged(memory: Memory) -> None:
    """They were named apart, on two channels of one person."""
    kept(private(memory, ALICE), "Tom likes tea", about=["Tom"])
    kept(private(memory, WEB), "Tom lives in Rome", about=["Tom"])
    memory.admin.link(ALICE.key, "acct:alice")
    memory.admin.link(WEB.key, "acct:alice")
    view = private(memory, ALICE)
    toms = [one.id for one in view.people.list() if one.id.startswith("person:")]
    refuses(view.people.about, "person", "Tom")
    view.people.merge(*toms)
    assert said(view.people.about("Tom")) == ["Tom likes tea", "Tom lives in Rome"]
    kept(view, "Tom has a boat", about=["Tom"])
    assert len(view.people.about("Tom")) == 3
    assert len(private(memory, WEB).people.about("Tom")) == 3
    memory.admin.unlink(WEB.key)
    assert said(private(memory, WEB).people.about("Tom")) == ["Tom lives in Rome"]


def test_a_secret_is_kept_from_all_whom_its_owner_takes_for_one(memory: Memory) -> None:
    view, tom, thomas = two(memory)
    view.people.merge(thomas, tom)
    for who in ("Tom", thomas):
        id = kept(view, f"A party, not for {who}", withheld_from=[who])
        assert view.show(id).withheld_from == {tom, thomas}


def test_whom_one_did_not_name_is_absent_whoever_else_did(memory: Memory) -> None:
    view, tom, _ = two(memory)
    bob = private(memory, BOB)
    kept(bob, "Uma sings", about=["Uma"])
    uma = person(bob, "Uma")
    told = set()
    for one, other in ((uma, tom), (tom, uma), ("person:AAAAAAAA", tom), (tom, "person:AAAAAAAA")):
        with pytest.raises(tacit.NotFound) as absent:
            view.people.merge(one, other)
        told.add(str(absent.value))
    for one in (uma, "person:AAAAAAAA", tom):
        with pytest.raises(tacit.NotFound) as absent:
            view.people.unmerge(one)
        told.add(str(absent.value))
    assert len(told) == 1


def test_only_in_private_are_people_merged_or_taken_for_one(memory: Memory) -> None:
    view, tom, thomas = two(memory)
    room = group(memory, ALICE)
    with pytest.raises(tacit.NotFound):
        room.people.merge(thomas, tom)
    view.people.merge(thomas, tom)
    with pytest.raises(tacit.NotFound):
        room.people.unmerge(thomas)
    kept(room, "Tom plays chess", about=[tom], **ROOM)
    kept(room, "Thomas plays cards", about=[thomas], **ROOM)
    assert said(room.people.about(tom)) == ["Tom plays chess"]
    assert said(room.people.about("Thomas")) == ["Thomas plays cards"]


def test_what_makes_no_sense_is_refused(memory: Memory) -> None:
    view, tom, thomas = two(memory)
    refuses(view.people.merge, "person", "Tom", thomas)
    refuses(view.people.merge, "into", tom, "telegram:2002")
    refuses(view.people.unmerge, "person", "acct:alice")
    kept(view, "Ann sings", about=["Ann"])
    view.people.merge(thomas, tom)
    for one, other in ((thomas, tom), (tom, thomas), (thomas, person(view, "Ann")), (tom, tom)):
        with pytest.raises(tacit.Conflict):
            view.people.merge(one, other)


def test_who_is_gone_is_merged_with_nobody(memory: Memory) -> None:
    view, tom, thomas = two(memory)
    view.people.merge(thomas, tom)
    (about_tom,) = [one.id for one in view.list() if one.content == "Tom likes tea"]
    view.erase(about_tom)
    assert rows(memory, "SELECT * FROM same_people") == []
    assert [one.id for one in view.people.list() if one.id.startswith("person:")] == [thomas]


def told(view: View, who: list[str]) -> list[object]:
    """Everything a view tells, to the letter, but how often it was read: reading moves that."""

    def still(memory: Record) -> Record:
        return replace(memory, access_count=0, last_accessed_at=None)

    def about(one: str) -> object:
        try:
            return [still(memory) for memory in view.people.about(one)]
        except tacit.InvalidInput as unsure:
            return str(unsure)

    return [
        [still(memory) for memory in view.list()],
        [(r.memory.id, r.score, r.why, r.rule) for r in view.recall("Tom Thomas Ann tea")],
        [about(one) for one in who],
        [view.people.list(), view.graph(), view.audit.activity(), view.delta(), view.stats()],
        view.block().text,
    ]


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["alone", "in the room", "Bob", "Bob of them", "withheld", "an operator"]),
        st.sampled_from(NAMES),
    ),
    min_size=2,
    max_size=6,
)
PAIRS = st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=4)


def happen(memory: Memory, act: str, name: str) -> None:
    alone, room = private(memory, ALICE), group(memory, ALICE, here=(ALICE, BOB, CAROL))
    known = [one.id for one in alone.people.list() if one.id.startswith("person:")]
    if act == "alone":
        kept(alone, f"{name} likes tea", about=[name])
    elif act == "in the room":
        kept(room, f"{name} is in town", about=[name], **ROOM)
    elif act == "withheld":
        kept(room, "A party", withheld_from=[name], **ROOM)
    elif act == "Bob":
        kept(private(memory, BOB), f"{name} owes me tea", about=[name])
    elif act == "Bob of them":  # by the ids that he heard
        for one in known[:2]:
            private(memory, BOB).people.name(one, name)
    elif known:
        with suppress(tacit.Conflict, tacit.InvalidInput):
            memory.admin.merge_people(known[0], BOB.key)


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(acts=ACTS, pairs=PAIRS)
def test_nobody_else_hears_or_learns_anything_by_whom_somebody_merges(
    memory: Memory, acts: list[tuple[str, str]], pairs: list[tuple[bool, int, int]]
) -> None:
    world = memory.space(f"world-{next(WORLDS)}")
    for act, name in acts:
        happen(world, act, name)
    here = (ALICE, BOB, CAROL)
    alone = private(world, ALICE)
    everybody = "SELECT id FROM people WHERE space_id = :space ORDER BY id"
    ids = [id for (id,) in rows(world, everybody, space=world._space)]
    others = [
        private(world, BOB),
        group(world, BOB, here=here, complete=True),
        group(world, ALICE, here=here),  # whose answers the room hears
    ]
    asked = [*ids, *NAMES, "me", BOB.key]
    for view in others:
        view.block()  # by which people come to be known in a room
    before = [told(view, asked) for view in others]
    named = {one for someone in alone.people.list() for one in someone.identities}
    for merging, first, second in pairs if ids else ():
        one, other = ids[first % len(ids)], ids[second % len(ids)]
        try:
            _ = alone.people.merge(one, other) if merging else alone.people.unmerge(one)
            assert one in named
        except tacit.NotFound:
            pass
        except tacit.Conflict:
            assert {one, other} <= named
    assert [told(view, asked) for view in others] == before


def test_a_link_for_everybody_would_be_noticed(memory: Memory) -> None:
    """So an operator says who is whom, and the test above can fail."""
    room = group(memory, ALICE)
    kept(room, "Tom likes tea", about=["Tom"], **ROOM)
    kept(room, "Thomas is in town", about=["Thomas"], **ROOM)
    own, bob = private(memory, ALICE), group(memory, BOB)
    tom, thomas = person(own, "Tom"), person(own, "Thomas")
    assert said(bob.people.about(tom)) == ["Tom likes tea"]
    own.people.merge(thomas, tom)
    assert said(bob.people.about(tom)) == ["Tom likes tea"]
    own.people.unmerge(thomas)
    memory.admin.merge_people(thomas, tom)
    assert len(bob.people.about(tom)) == 2
