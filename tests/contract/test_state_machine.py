"""A long random life of one store, compared step by step with plain dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import tacit
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract import plain_model
from tests.contract.plain_model import BOB, PHONE, WEB, Fact, Plain, Seat, Wording
from tests.contract.rooms import SetClock, group, index_words, private

SEATS = (
    Seat(PHONE, "telegram:1001"),
    Seat(PHONE, None),
    Seat(BOB, "telegram:2002"),
    Seat(BOB, None),
    Seat(WEB, "web:alice"),
)
ACTS = ["remember", "put", "update", "set visibility", "forget", "restore", "erase"]
ACTS += ["put", "update", "link or unlink", "look"]  # twice what leads furthest


class Life(RuleBasedStateMachine):
    opened: ClassVar[Memory]
    clock: ClassVar[SetClock]

    def __init__(self) -> None:
        super().__init__()
        self.memory = self.opened.space(f"s{uuid4().hex}")
        self.plain = Plain()
        self.ids: list[str] = []  # also of erased ones
        self.turn = 0

    def view(self, seat: Seat) -> View:
        who = tacit.Requester(seat.who.removeprefix("ext:"))
        if seat.private:
            return private(self.memory, who)
        return group(self.memory, who, here=("telegram:1001", "telegram:2002"))

    def tick(self) -> int:
        self.clock.forward(seconds=1)
        self.turn += 1
        return self.turn

    def words(self, seat: Seat, content: str, visibility: str) -> Wording:
        # By the keys they have in the room: a link may end, and who was there was there.
        heard: frozenset[str] = frozenset() if seat.private else frozenset({PHONE, BOB})
        return Wording(content, self.plain.writes_as(seat.who), heard, visibility)

    def add(
        self,
        id: str | None,
        seat: Seat,
        content: str,
        visibility: str,
        *,
        key: str | None = None,
        for_room: bool = False,
    ) -> Fact:
        assert id is not None
        assert id not in self.plain.facts
        owner = None if for_room else self.plain.writes_as(seat.who)
        words = self.words(seat, content, visibility)
        fact = Fact(id, owner, seat.room, key, visibility, [words], self.turn)
        self.plain.facts[id] = fact
        self.ids.append(id)
        return fact

    def reword(self, fact: Fact, seat: Seat, content: str) -> None:
        fact.wordings.append(self.words(seat, content, fact.visibility))
        fact.worded_at = self.turn

    @rule(
        act=st.sampled_from(ACTS),
        seat=st.sampled_from(SEATS),
        number=st.integers(0, 30),
        content=st.sampled_from(["red", "green", "blue"]),
        key=st.sampled_from(["k1", "k2"]),
        visibility=st.sampled_from(["private_only", "room", "public_ok"]),
    )
    def act(self, act: str, seat: Seat, number: int, content: str, key: str, visibility: str) -> None:
        """One rule for all acts: as rules of their own, most would be left out of most lives."""
        self.tick()
        if number % 5 == 0:
            index_words(self.memory)
        if act == "remember":
            self.remember(seat, content, visibility, for_room=number % 2 == 0)
        elif act == "put":
            self.put(seat, key, content)
        elif act == "link or unlink":
            self.link_or_unlink(PHONE if number % 2 else BOB)
        elif act == "update":
            self.update(seat, number, content)
        elif act == "set visibility":
            self.set_visibility(seat, number, visibility)
        else:
            plain = {"forget": self.forget, "restore": self.restore, "erase": self.erase}
            (plain | {"look": self.look_closely})[act](seat, number)

    # What people do

    @initialize(seats=st.permutations(SEATS))
    def begin(self, seats: list[Seat]) -> None:
        """Something of everybody's, so that every act has something to act on from the start."""
        for seat in seats:
            self.tick()
            self.put(seat, "k1", "red")
            self.tick()
            self.remember(seat, "green", "public_ok", for_room=True)

    def remember(self, seat: Seat, content: str, visibility: str, for_room: bool) -> None:
        for_room = for_room and not seat.private
        if visibility == ("room" if seat.private else "public_ok"):  # not to be had here
            visibility = "private_only" if seat.private else "room"
        done = self.view(seat).remember(content, visibility=visibility, for_room=for_room, sensitivity="public")
        self.add(done.id, seat, content, visibility, for_room=for_room)

    def put(self, seat: Seat, key: str, content: str) -> None:
        me = self.plain.writes_as(seat.who)
        values = [one for one in self.plain.facts.values() if one.key == key]
        values = [one for one in values if one.state == "active" and self.plain.same(one.owner, me)]
        own = next((one for one in values if one.owner == me), None)
        done = self.view(seat).put("profile", key, content, sensitivity="public")
        if own is not None and own.room == seat.room:
            assert done.id == own.id
            if content != own.now.content:
                self.reword(own, seat, content)
            return
        # How far a linked identity's value may go was said of that value, and of no other.
        reach = self.plain.taken_over(seat, own) if own else "private_only"
        new = self.add(done.id, seat, content, reach, key=key)
        if own is not None:
            own.state, own.replaced_by = "superseded", new.id

    def some(self, seat: Seat, number: int) -> tuple[str, Fact | None]:
        """Mostly one that this seat could have to do with; now and then anybody's, or an erased."""
        ids = [
            one.id
            for one in self.plain.facts.values()
            if self.plain.may_change(seat, one, back=True) or self.plain.reaches(seat, one)
        ]
        ids = ids if ids and number % 4 else self.ids
        id = ids[number % len(ids)]
        return id, self.plain.facts.get(id)

    def refused(self, act: Callable[[], object], error: type[tacit.TacitError]) -> None:
        with pytest.raises(error) as caught:
            act()
        assert caught.type is error

    def update(self, seat: Seat, number: int, content: str) -> None:
        id, fact = self.some(seat, number)
        view = self.view(seat)
        if fact is None or not self.plain.may_change(seat, fact):
            return self.refused(lambda: view.update(id, content), tacit.NotFound)
        moves = fact.room != seat.room and content != fact.now.content
        taken = moves and fact.owner is not None and self.plain.has_another(seat.who, fact)
        if fact.state != "active" or (taken and self.plain.same(fact.owner, seat.who)):
            return self.refused(lambda: view.update(id, content), tacit.Conflict)
        done = view.update(id, content)
        if content == fact.now.content:
            assert done.id == id
        elif fact.room == seat.room:
            assert done.id == id
            self.reword(fact, seat, content)
        elif self.plain.same(fact.owner, seat.who):
            reach = self.plain.taken_over(seat, fact)
            new = self.add(done.id, seat, content, reach, key=fact.key)
            fact.state, fact.replaced_by = "superseded", new.id
        else:  # one's own words about a room, said elsewhere: the room's fact stays
            self.add(done.id, seat, content, "private_only")
            view.update(done.id, sensitivity="public")  # as everything is here
        return None

    def forget(self, seat: Seat, number: int) -> None:
        id, fact = self.some(seat, number)
        view = self.view(seat)
        if fact is None or not self.plain.may_change(seat, fact):
            return self.refused(lambda: view.forget(id), tacit.NotFound)
        view.forget(id)
        if fact.state == "active":
            fact.state = "forgotten"
        return None

    def restore(self, seat: Seat, number: int) -> None:
        id, fact = self.some(seat, number)
        view = self.view(seat)
        if fact is None or not self.plain.may_change(seat, fact, back=True):
            return self.refused(lambda: view.restore(id), tacit.NotFound)
        owners = seat.private and self.plain.same(fact.owner, seat.who)
        taken = fact.state == "forgotten" and self.plain.holds_key(fact)
        if fact.state == "superseded" or taken:
            error: type[tacit.TacitError] = tacit.Conflict if owners else tacit.NotFound
            return self.refused(lambda: view.restore(id), error)
        view.restore(id)
        fact.state = "active"
        return None

    def erase(self, seat: Seat, number: int) -> None:
        id, fact = self.some(seat, number)
        view = self.view(seat)
        if fact is None or not self.plain.is_theirs(seat, fact):
            return self.refused(lambda: view.erase(id), tacit.NotFound)
        gone = self.plain.erased_with(seat, fact)
        # Where others listen, it tells of no more than what they could hear.
        assert view.erase(id).count == (len(gone) if seat.private else 1)
        for one in gone:
            del self.plain.facts[one]
        for other in self.plain.facts.values():
            if other.replaced_by in gone:
                other.replaced_by = None
        return None

    def set_visibility(self, seat: Seat, number: int, visibility: str) -> None:
        id, fact = self.some(seat, number)
        view = self.view(seat)
        if fact is None or not self.plain.may_set_visibility(seat, fact, visibility):
            return self.refused(lambda: view.set_visibility(id, visibility), tacit.NotFound)
        view.set_visibility(id, visibility)
        fact.visibility = fact.now.visibility = visibility
        return None

    def link_or_unlink(self, key: str) -> None:
        external, account = key.removeprefix("ext:"), plain_model.ACCOUNTS[key]
        if key in self.plain.linked:
            self.memory.admin.unlink(external)
        else:
            self.memory.admin.link(external, account)
        self.plain.linked ^= {key}

    # What they hear

    def look_closely(self, seat: Seat, number: int) -> None:
        view = self.view(seat)
        for key in ("k1", "k2"):
            got, value = view.get("profile", key), self.plain.value(seat, key)
            assert (got and got.id) == (value and value.id)
        if not self.ids:
            return
        id, fact = self.some(seat, number)
        if fact is None or not self.plain.reaches(seat, fact):
            self.refused(lambda: view.show(id), tacit.NotFound)
            return
        heard = self.plain.versions(seat, fact)
        shown = view.show(id)
        assert (shown.content, shown.version) == (fact.now.content, max(1, len(heard)))
        assert shown.state == fact.state
        assert shown.visibility == self.plain.shown_visibility(seat, fact)
        told = {entry.version: entry.content for entry in view.history(id)}
        assert [told[number] for number in sorted(told)] == heard

    @invariant()
    def everybody_hears_what_they_may(self) -> None:
        """One seat after each step, in turn: all five would cost more and find little more."""
        self.check(SEATS[self.turn % len(SEATS)])

    def check(self, seat: Seat) -> None:
        heard = {one.id: one.content for one in self.view(seat).list(limit=500)}
        facts = self.plain.facts.values()
        assert heard == {one.id: one.now.content for one in facts if self.plain.hears(seat, one)}

    def teardown(self) -> None:
        for seat in SEATS:
            self.check(seat)


@pytest.mark.timeout(600)  # a failure is made small first, and that takes its time
def test_a_store_answers_like_plain_dictionaries(memory: Memory, clock: SetClock) -> None:
    class Here(Life):
        pass

    Here.opened, Here.clock = memory, clock
    run_state_machine_as_test(
        Here, settings=settings(max_examples=15, stateful_step_count=40, suppress_health_check=list(HealthCheck))
    )
    assert memory.admin.maintain().healthy
