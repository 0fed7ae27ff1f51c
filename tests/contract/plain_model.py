"""The same rules once more, as plain dictionaries: what a store of public, lasting facts about
their own speakers must answer. Written from the documents and not from the code."""

from __future__ import annotations

from dataclasses import dataclass, field

PHONE, WEB, BOB = "ext:telegram:1001", "acct:alice", "ext:telegram:2002"
ACCOUNTS = {PHONE: "acct:alice", BOB: "acct:bob"}
RANK = {"private_only": 0, "room": 1, "public_ok": 2}


@dataclass(frozen=True)
class Seat:
    """Somebody somewhere: the group is the same for all who sit in it."""

    who: str
    room: str | None  # the id of a private chat; None for the group

    @property
    def private(self) -> bool:
        return self.room is not None


@dataclass
class Wording:
    content: str
    speaker: str
    heard: frozenset[str]
    visibility: str


@dataclass
class Fact:
    id: str
    owner: str | None
    room: str | None  # where it was said; None for the group
    key: str | None
    visibility: str
    wordings: list[Wording]
    worded_at: int
    state: str = "active"
    replaced_by: str | None = None

    @property
    def now(self) -> Wording:
        return self.wordings[-1]


@dataclass
class Plain:
    facts: dict[str, Fact] = field(default_factory=dict)
    linked: set[str] = field(default_factory=set)

    # Who is whom

    def writes_as(self, who: str) -> str:
        return ACCOUNTS[who] if who in self.linked else who

    def same(self, one: str | None, other: str) -> bool:
        return one is not None and self.writes_as(one) == self.writes_as(other)

    def all_of(self, who: str) -> set[str]:
        return {one for one in (PHONE, WEB, BOB, "acct:bob") if self.same(one, who)}

    # What may be heard

    def shadowed(self, fact: Fact) -> bool:
        """Another value of the key wins among the owner's identities, whoever may hear it."""
        if fact.key is None or fact.owner is None or fact.state == "superseded":
            return False
        rivals = [
            one
            for one in self.facts.values()
            if one.key == fact.key
            and one.state != "superseded"
            and one.owner is not None
            and self.same(one.owner, fact.owner)
        ]
        winner = max(rivals, key=lambda one: (one.owner in ACCOUNTS.values(), one.worded_at))
        return winner.owner != fact.owner

    def hears(self, seat: Seat, fact: Fact, *, back: bool = False) -> bool:
        """`back`: if it were active again."""
        return (
            (back or fact.state == "active")
            and not self.shadowed(fact)
            and self.may_hear(seat, fact, fact.now, fact.visibility)
        )

    def may_hear(self, seat: Seat, fact: Fact, words: Wording, visibility: str) -> bool:
        said_in_group = fact.room is None
        hidden = visibility == "private_only" or (visibility == "room" and not said_in_group)
        if seat.private:
            if self.same(fact.owner, seat.who) or self.same(words.speaker, seat.who):
                return True
            return not hidden and said_in_group and bool(words.heard & self.all_of(seat.who))
        here = self.same(fact.owner, PHONE) or self.same(fact.owner, BOB)
        return not hidden and (said_in_group or (visibility == "public_ok" and here))

    def reaches(self, seat: Seat, fact: Fact, *, back: bool = False) -> bool:
        """Whether it exists for them: the owner in private has all of their own."""
        if seat.private and self.same(fact.owner, seat.who):
            return True
        return self.hears(seat, fact, back=back)

    def versions(self, seat: Seat, fact: Fact) -> list[str]:
        """The wordings somebody may hear: by who was there, and no further than they might go."""
        if seat.private and self.same(fact.owner, seat.who):
            return [one.content for one in fact.wordings]
        return [
            one.content
            for one in fact.wordings
            if self.may_hear(seat, fact, one, min(one.visibility, fact.visibility, key=RANK.__getitem__))
        ]

    def shown_visibility(self, seat: Seat, fact: Fact) -> str:
        """The owner in private sees what they set; others see only that it reaches them."""
        if fact.owner is None or (seat.private and self.same(fact.owner, seat.who)):
            return fact.visibility
        return "room" if fact.room is None else "public_ok"

    def value(self, seat: Seat, key: str) -> Fact | None:
        found = [
            one
            for one in self.facts.values()
            if one.key == key and self.same(one.owner, seat.who) and self.hears(seat, one)
        ]
        assert len(found) <= 1
        return found[0] if found else None

    # Who may change it

    def may_change(self, seat: Seat, fact: Fact, *, back: bool = False) -> bool:
        mine = self.same(fact.owner, seat.who) or self.same(fact.now.speaker, seat.who)
        member = fact.owner is None and not seat.private
        return self.reaches(seat, fact, back=back) and (mine or member)

    def is_theirs(self, seat: Seat, fact: Fact) -> bool:
        """All of it: who words a room's fact anew has not said what others said before."""
        alone = fact.owner is not None or len(fact.wordings) == 1
        spoke = alone and self.same(fact.now.speaker, seat.who)
        return self.reaches(seat, fact) and (self.same(fact.owner, seat.who) or spoke)

    def taken_over(self, seat: Seat, fact: Fact) -> str:
        """How far words go that replace a fact: a room's openness stays in that room."""
        elsewhere = not seat.private and fact.room != seat.room
        return "private_only" if elsewhere and fact.visibility == "room" else fact.visibility

    def may_set_visibility(self, seat: Seat, fact: Fact, to: str) -> bool:
        if not self.reaches(seat, fact):
            return False
        if seat.private and self.same(fact.owner, seat.who):
            return True
        reach = fact.visibility
        if reach == "room" and fact.room is not None:
            reach = "private_only"
        return self.is_theirs(seat, fact) and RANK[to] <= RANK[reach]

    def holds_key(self, fact: Fact) -> bool:
        """Whether the key of a forgotten fact has another value by now."""
        return fact.key is not None and any(
            one.key == fact.key
            and one.state == "active"
            and one.id != fact.id
            and (one.owner is None) == (fact.owner is None)
            and (fact.owner is None or self.same(one.owner, fact.owner))
            for one in self.facts.values()
        )

    def has_another(self, who: str, fact: Fact) -> bool:
        """Whether the one who writes has a value of this key already, under their own name."""
        return fact.key is not None and any(
            one.key == fact.key and one.state == "active" and one.id != fact.id
            for one in self.facts.values()
            if one.owner == self.writes_as(who)
        )

    def erased_with(self, seat: Seat, fact: Fact) -> set[str]:
        """To its owner a key is one thing, and so is a fact with what it replaced."""
        gone = {fact.id}
        if not self.same(fact.owner, seat.who):
            return gone
        assert fact.owner is not None
        if fact.key is not None:
            gone |= {one.id for one in self.facts.values() if one.key == fact.key and self.same(one.owner, fact.owner)}
        while True:
            more = {
                one.id for one in self.facts.values() if one.replaced_by in gone and self.same(one.owner, fact.owner)
            }
            if more <= gone:
                return gone
            gone |= more
