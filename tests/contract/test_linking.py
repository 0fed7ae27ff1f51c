"""Codes: two identities become one person when both sides say so, and nobody else does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import ClassVar
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlalchemy import select

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.records.accounts import LinkWaiting
from tacit.storage.schema import link_attempts, link_offers
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.pairing import LAPTOP, TABLET, WEB, WRONG, asked, linked
from tests.contract.rooms import ALICE, BOB, SetClock, group, private, said
from tests.contract.threads import together
from tests.contract.traces import traces


@pytest.fixture
def plain(opened: Open) -> Memory:
    """Where nothing depends on the database."""
    return opened("sqlite://")


def test_a_code_makes_two_identities_one_person(memory: Memory, clock: SetClock) -> None:
    phone, laptop = private(memory, ALICE), private(memory, LAPTOP)
    phone.remember("said on the phone")
    laptop.remember("said on the laptop")
    offer = phone.account.offer_link()
    clock.forward(seconds=60)
    waiting = laptop.account.accept_link(offer.code.lower().replace("-", " "))
    assert waiting.identity == ALICE.key
    found = phone.account.pending_link()
    assert found == LinkWaiting(identity=LAPTOP.key, expires_at=waiting.expires_at)
    assert waiting.expires_at > offer.expires_at
    assert (said(phone.list()), said(laptop.list())) == (["said on the phone"], ["said on the laptop"])
    clock.forward(seconds=60 * limits.LINK_CODE_MINUTES - 1)
    link = phone.account.confirm_link()
    for view in (phone, laptop):
        assert said(view.list()) == ["said on the laptop", "said on the phone"]
        assert view.account.identities() == sorted([link.target, LAPTOP.key, ALICE.key])
        assert view.account.pending_link() is None
    (mine,), (theirs,) = memory.admin.links(ALICE.key), memory.admin.links(LAPTOP.key)
    assert theirs == link
    assert (mine.target, mine.holds, theirs.holds) == (link.target, True, True)
    assert mine.actor == theirs.actor == f"ext:{ALICE.key}"


def test_what_is_no_code_of_anybodys_is_refused_in_the_same_words(
    memory: Memory, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LINK_TRIES_MAX_COUNT", 100)
    phone, laptop, tablet = (private(memory, who) for who in (ALICE, LAPTOP, TABLET))
    expired = private(memory, BOB).account.offer_link().code
    clock.forward(seconds=60 * limits.LINK_CODE_MINUTES)
    gone = private(memory, WEB).account.offer_link().code
    private(memory, WEB).account.refuse_link()
    replaced = phone.account.offer_link().code
    taken = phone.account.offer_link().code
    tablet.account.accept_link(taken)
    own = laptop.account.offer_link().code
    elsewhere = private(memory.space("other"), ALICE).account.offer_link().code
    told = set()
    for code in (WRONG, expired, gone, replaced, taken, own, elsewhere, "", "yes", "x" * 10**5):
        with pytest.raises(tacit.NotFound) as refused:
            laptop.account.accept_link(code)
        told.add(str(refused.value))
    assert told == {"no such code here"}
    phone.account.confirm_link()
    with pytest.raises(tacit.NotFound, match="no such code here"):
        laptop.account.accept_link(taken)


def test_after_some_wrong_codes_even_the_right_one_is_refused_for_a_while(memory: Memory, clock: SetClock) -> None:
    laptop = private(memory, LAPTOP)
    for _ in range(limits.LINK_TRIES_MAX_COUNT):
        with pytest.raises(tacit.NotFound):
            laptop.account.accept_link(WRONG)
        clock.forward(seconds=60)
    laptop.wipe()  # which gives no new tries
    for code in (private(memory, ALICE).account.offer_link().code, WRONG):
        with pytest.raises(tacit.TooManyRequests) as refused:
            laptop.account.accept_link(code)
        assert refused.value.retry_after_seconds == 3600 - 60 * limits.LINK_TRIES_MAX_COUNT
    private(memory, TABLET).account.accept_link(private(memory, BOB).account.offer_link().code)
    clock.forward(seconds=refused.value.retry_after_seconds)
    laptop.account.accept_link(private(memory, ALICE).account.offer_link().code)


def test_it_works_in_the_persons_own_private_chat_only(plain: Memory) -> None:
    asked(plain, ALICE, LAPTOP)
    code = private(plain, BOB).account.offer_link().code
    for view in (
        group(plain, ALICE),
        plain.view(ALICE, tacit.Chat.unknown("web:9")),
        plain.view(ALICE, tacit.Chat.private(BOB.key)),
    ):
        acts = (view.account.offer_link, view.account.confirm_link, view.account.refuse_link, view.account.unlink)
        for act in (*acts, lambda view=view: view.account.accept_link(code)):
            with pytest.raises(tacit.InvalidInput, match="private chat only"):
                act()
        assert view.account.pending_link() is None
        assert view.account.identities() == []
    assert private(plain, ALICE).account.pending_link() is not None


def test_an_agent_that_may_use_less_links_nothing(plain: Memory) -> None:
    """What it may not read, it would read as the other identity."""
    asked(plain, ALICE, LAPTOP)
    code = private(plain, BOB).account.offer_link().code
    narrow = plain.view(ALICE, tacit.Chat.private(ALICE.key), categories=["profile"])
    for act in (narrow.account.offer_link, narrow.account.confirm_link, lambda: narrow.account.accept_link(code)):
        with pytest.raises(tacit.InvalidInput, match="narrowed"):
            act()
    narrow.account.refuse_link()
    assert private(plain, ALICE).account.pending_link() is None


def test_no_is_no_from_either_side_a_new_code_voids_the_old_and_a_late_yes_is_none(
    memory: Memory, clock: SetClock
) -> None:
    phone, laptop = private(memory, ALICE), private(memory, LAPTOP)
    for undo in (
        phone.account.refuse_link,
        laptop.account.refuse_link,
        phone.account.offer_link,
        phone.wipe,
        laptop.wipe,
    ):
        asked(memory, ALICE, LAPTOP)
        undo()
        assert phone.account.pending_link() is None
        with pytest.raises(tacit.NotFound, match="no such link here"):
            phone.account.confirm_link()
    phone.account.refuse_link()
    assert memory.admin.links(ALICE.key) == memory.admin.links(LAPTOP.key) == []
    phone = asked(memory, ALICE, LAPTOP)
    clock.forward(seconds=60 * limits.LINK_CODE_MINUTES)
    assert phone.account.pending_link() is None
    with pytest.raises(tacit.NotFound, match="no such link here"):
        phone.account.confirm_link()


def test_whoever_accepts_another_code_takes_the_first_answer_back(plain: Memory) -> None:
    phone = asked(plain, ALICE, LAPTOP)
    tablet = asked(plain, TABLET, LAPTOP)
    assert phone.account.pending_link() is None
    tablet.account.confirm_link()
    with pytest.raises(tacit.NotFound):
        phone.account.confirm_link()
    assert phone.account.identities() == [ALICE.key]


def test_further_identities_come_into_the_account_that_is_there(plain: Memory) -> None:
    first = linked(plain, ALICE, LAPTOP)
    second = linked(plain, LAPTOP, TABLET)
    assert second.target == first.target
    assert len(private(plain, ALICE).account.identities()) == 4
    plain.admin.link(BOB.key, "acct:bob")
    assert linked(plain, BOB, tacit.Requester("matrix:bob")).target == "acct:bob"
    third = linked(plain, WEB, tacit.Requester("slack:T1:UW"))
    assert third.target == WEB.key


def test_who_is_in_an_account_is_told_so_whatever_the_code_is(memory: Memory) -> None:
    linked(memory, ALICE, LAPTOP)
    memory.admin.link(TABLET.key, "acct:tablet", verified=False)
    right = private(memory, BOB).account.offer_link().code
    told = set()
    for who in (ALICE, LAPTOP, TABLET, WEB):
        for code in (right, WRONG):
            with pytest.raises(tacit.Conflict, match="unlink it first") as refused:
                private(memory, who).account.accept_link(code)
            told.add(str(refused.value))
    assert len(told) == 1
    with pytest.raises(tacit.Conflict, match="never verified"):
        private(memory, TABLET).account.offer_link()
    private(memory, TABLET).account.unlink()
    private(memory, TABLET).account.accept_link(right)


def test_who_came_into_an_account_meanwhile_stays_there(plain: Memory) -> None:
    phone = asked(plain, ALICE, LAPTOP)
    private(plain, LAPTOP).remember("said on the laptop")
    plain.admin.link(LAPTOP.key, "acct:other")
    with pytest.raises(tacit.Conflict, match="new code"):
        phone.account.confirm_link()
    assert said(phone.list()) == []
    assert plain.admin.links(ALICE.key) == []
    tablet = asked(plain, TABLET, BOB)
    plain.admin.link(TABLET.key, "acct:tablet", verified=False)
    with pytest.raises(tacit.Conflict, match="never verified"):
        tablet.account.confirm_link()
    assert private(plain, BOB).account.identities() == [BOB.key]


def test_a_person_has_only_so_many_identities(plain: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IDENTITIES_PER_PERSON_MAX_COUNT", 2)
    phone = asked(plain, ALICE, LAPTOP)
    with pytest.raises(tacit.InvalidInput, match="at most 2"):
        phone.account.confirm_link()
    assert plain.admin.links(ALICE.key) == plain.admin.links(LAPTOP.key) == []


def test_somebody_known_by_name_comes_along_and_is_no_key(plain: Memory) -> None:
    person = private(plain, BOB).people.name("Ally", "Alice")
    plain.admin.merge_people(person.id, LAPTOP.key)
    linked(plain, ALICE, LAPTOP)
    assert len(private(plain, ALICE).account.identities()) == 3
    assert not [one for one in private(plain, LAPTOP).account.identities() if one.startswith("person:")]


def test_unlinking_takes_effect_on_the_very_next_read(shared_url: str, opened: Open) -> None:
    here, there = opened(shared_url), opened(shared_url)
    phone, laptop = private(here, ALICE), private(there, LAPTOP)
    laptop.remember("said on the laptop")
    linked(here, ALICE, LAPTOP)
    laptop.remember("said as one")
    assert said(phone.list()) == ["said as one", "said on the laptop"]
    code = laptop.account.offer_link().code
    ended = laptop.account.unlink()
    assert ended.ended_at is not None
    assert (said(phone.list()), said(laptop.list())) == (["said as one"], ["said on the laptop"])
    assert (laptop.account.identities(), LAPTOP.key in phone.account.identities()) == ([LAPTOP.key], False)
    assert here.admin.links(LAPTOP.key) == [ended]
    with pytest.raises(tacit.NotFound, match="no such code here"):
        private(here, TABLET).account.accept_link(code)
    with pytest.raises(tacit.NotFound, match="no such link here"):
        laptop.account.unlink()
    linked(here, ALICE, LAPTOP)
    assert said(laptop.list()) == ["said as one", "said on the laptop"]


@pytest.mark.parametrize("who", [ALICE, LAPTOP], ids=["who offered", "who accepted"])
def test_what_an_erased_person_was_about_to_link_is_gone(memory: Memory, who: tacit.Requester) -> None:
    phone = asked(memory, ALICE, LAPTOP)
    memory.admin.erase_person(who.key)
    assert phone.account.pending_link() is None
    with pytest.raises(tacit.NotFound):
        phone.account.confirm_link()


def test_what_expired_is_swept_away_and_what_waits_is_not(plain: Memory, clock: SetClock) -> None:
    def rows() -> list[int]:
        with plain._storage.database.read() as connection:
            tables = (link_offers, link_attempts)
            return [len(connection.execute(select(table)).all()) for table in tables]

    private(plain, ALICE).account.offer_link()
    with pytest.raises(tacit.NotFound):
        private(plain, BOB).account.accept_link(WRONG)
    plain.jobs.expire()
    assert rows() == [1, 1]
    clock.forward(seconds=60 * limits.LINK_CODE_MINUTES)
    plain.jobs.expire()
    assert rows() == [0, 1]
    clock.forward(seconds=3600 * limits.LINK_TRIES_HOURS)
    plain.jobs.expire()
    assert rows() == [0, 0]


def test_codes_are_nowhere_in_the_database(shared_url: str, opened: Open) -> None:
    memory = opened(shared_url)
    code = private(memory, ALICE).account.offer_link().code
    assert code not in repr(private(memory, BOB).account.offer_link())
    memory.close()
    for written in (code, code.replace("-", "")):
        assert traces(shared_url, written) == []


def test_what_is_sent_twice_is_done_once(plain: Memory) -> None:
    phone, laptop = private(plain, ALICE), private(plain, LAPTOP)
    with pytest.raises(tacit.InvalidInput, match="once"):
        phone.once("a").account.offer_link()
    for _ in range(limits.LINK_TRIES_MAX_COUNT + 1):
        with pytest.raises(tacit.NotFound, match="no such code here"):
            laptop.once("wrong").account.accept_link(WRONG)
    code = phone.account.offer_link().code
    first = laptop.once("b").account.accept_link(code)
    assert laptop.once("b").account.accept_link(code) == first
    assert laptop.account.accept_link(code).identity == ALICE.key  # and without a key, too
    link = phone.once("c").account.confirm_link()
    assert phone.once("c").account.confirm_link() == link
    with pytest.raises(tacit.NotFound, match="no such code here"):
        laptop.once("b").account.accept_link(code)
    ended = laptop.once("d").account.unlink()
    assert laptop.once("d").account.unlink() == ended
    for _ in range(2):
        phone.once("e").account.refuse_link()


def at_once(*acts: Callable[[], object]) -> list[object]:
    """What each came to, done at the same moment: an answer, or the kind of the error."""
    told = together(len(acts), lambda number: acts[number]())
    return [type(one) if isinstance(one, BaseException) else one for one in told]


def test_tries_at_the_same_moment_are_all_counted(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    views = [private(memory, LAPTOP) for memory in memories]
    views[0].remember("I am here")
    count = limits.LINK_TRIES_MAX_COUNT + 3
    told = at_once(*(lambda n=n: views[n % 2].account.accept_link(WRONG) for n in range(count)))
    assert told.count(tacit.NotFound) == limits.LINK_TRIES_MAX_COUNT
    assert told.count(tacit.TooManyRequests) == 3


def test_of_two_who_accept_at_the_same_moment_one_does(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    code = private(memories[0], ALICE).account.offer_link().code
    told = at_once(
        lambda: private(memories[0], LAPTOP).account.accept_link(code),
        lambda: private(memories[1], BOB).account.accept_link(code),
    )
    assert tacit.NotFound in told
    found = private(memories[1], ALICE).account.pending_link()
    assert found is not None
    assert [one for one in told if isinstance(one, LinkWaiting)] == [
        LinkWaiting(identity=ALICE.key, expires_at=found.expires_at)
    ]


def test_of_two_who_confirm_at_the_same_moment_one_does(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    asked(memories[0], ALICE, LAPTOP)
    told = at_once(*(private(memory, ALICE).account.confirm_link for memory in memories))
    assert tacit.NotFound in told
    assert len(memories[0].admin.links(ALICE.key)) == len(memories[0].admin.links(LAPTOP.key)) == 1
    assert private(memories[1], LAPTOP).account.identities() == private(memories[0], ALICE).account.identities()


def test_confirming_crosswise_at_the_same_moment_ends_in_one_account(shared_url: str, opened: Open) -> None:
    memories = [opened(shared_url), opened(shared_url)]
    phone, laptop = private(memories[0], ALICE), private(memories[1], LAPTOP)
    codes = phone.account.offer_link().code, laptop.account.offer_link().code
    laptop.account.accept_link(codes[0])
    phone.account.accept_link(codes[1])
    told = at_once(phone.account.confirm_link, laptop.account.confirm_link)
    assert tacit.NotFound in told
    assert phone.account.identities() == laptop.account.identities()
    assert len(phone.account.identities()) == 3


KEYS = ("telegram:1001", "slack:T1:U2", "matrix:carol")


LASTS = timedelta(minutes=limits.LINK_CODE_MINUTES)


# The ways that lead furthest come more often than others.
ACTS = ["meet", "confirm", "accept", "offer", "meet", "confirm", "unlink", "say", "wait", "refuse"]


class Linking(RuleBasedStateMachine):
    opened: ClassVar[Memory]
    clock: ClassVar[SetClock]

    def __init__(self) -> None:
        super().__init__()
        self.memory = self.opened.space(f"s{uuid4().hex}")
        self.codes: list[tuple[str, str]] = []  # every one there ever was, and who gave it
        self.open: dict[str, tuple[str, datetime]] = {}  # giver → code, until when
        self.asked: dict[str, tuple[str, str, datetime]] = {}  # giver → code, who accepted, until
        self.account: dict[str, int] = {}
        self.numbers = count()
        self.words: dict[str, str | int] = {}  # what was said → whose it is: a key or an account
        for key in KEYS:
            self.say(key)

    def view(self, key: str) -> View:
        return private(self.memory, tacit.Requester(key))

    def say(self, key: str) -> None:
        word = f"{key} said {next(self.numbers)}"
        self.view(key).remember(word)
        self.words[word] = self.account.get(key, key)

    def void(self, *keys: str) -> None:
        for key in keys:
            self.open.pop(key, None)
            self.asked.pop(key, None)
        self.asked = {giver: one for giver, one in self.asked.items() if one[1] not in keys}

    def hears(self, key: str, owner: str | int) -> bool:
        mine = self.account.get(key)
        return owner == key or (mine is not None and mine in (owner, self.account.get(str(owner))))

    @rule(
        act=st.sampled_from(ACTS),
        key=st.sampled_from(KEYS),
        back=st.sampled_from([0, 0, 0, 1, 2]),
        astray=st.sampled_from([False, False, True]),
    )
    def act(self, act: str, key: str, back: int, astray: bool) -> None:
        """One rule for all: as rules of their own, most would be left out of most lives. Mostly
        it is one of those who can that tries to."""
        able = KEYS if astray else self.able(act) or KEYS
        key = able[KEYS.index(key) % len(able)]
        if act == "meet":
            self.offer(key)
            if astray:
                self.wait(limits.LINK_CODE_MINUTES)
            self.accept(KEYS[(KEYS.index(key) + 1 + back % 2) % len(KEYS)], 0)
        elif act == "accept":
            self.accept(key, back)
        elif act == "wait":
            self.wait(limits.LINK_CODE_MINUTES if astray else 2)
        else:
            plain = {"offer": self.offer, "confirm": self.confirm, "refuse": self.refuse}
            (plain | {"unlink": self.unlink, "say": self.say})[act](key)

    def able(self, act: str) -> Sequence[str]:
        if act == "confirm":
            return sorted(self.asked)
        if act == "unlink":
            return sorted(self.account)
        if act != "accept" or not self.codes:
            return KEYS
        giver = self.codes[-1][1]
        has_it = self.asked[giver][1] if giver in self.asked else giver
        return [key for key in KEYS if key not in {giver, has_it, *self.account}]

    def offer(self, key: str) -> None:
        offer = self.view(key).account.offer_link()
        self.open.pop(key, None)
        self.asked.pop(key, None)
        self.codes.append((offer.code, key))
        self.open[key] = (offer.code, self.clock.now + LASTS)

    def accept(self, key: str, back: int) -> None:
        """The newest code, or one of those before it."""
        if not self.codes:
            return
        code, giver = self.codes[max(0, len(self.codes) - 1 - back)]
        now = self.clock.now
        free = self.open.get(giver, ("", now))
        again = self.asked.get(giver)
        taken = again is not None and again[:2] == (code, key) and again[2] > now
        is_good = giver != key and free[0] == code and free[1] > now
        if key in self.account:
            refused(tacit.Conflict, lambda: self.view(key).account.accept_link(code))
        elif is_good or taken:
            assert self.view(key).account.accept_link(code).identity == giver
            kept = self.asked if taken else {**self.asked, giver: (code, key, now + LASTS)}
            others = {g: one for g, one in kept.items() if one[1] != key or g == giver}
            self.asked = others
            self.open.pop(giver, None)
        else:
            refused(tacit.NotFound, lambda: self.view(key).account.accept_link(code))

    def confirm(self, key: str) -> None:
        _, other, until = self.asked.get(key, ("", "", self.clock.now))
        if until <= self.clock.now:
            refused(tacit.NotFound, self.view(key).account.confirm_link)
            return
        assert self.view(key).account.confirm_link().source == f"ext:{other}"
        self.account[other] = self.account.setdefault(key, next(self.numbers))
        self.void(key, other)

    def refuse(self, key: str) -> None:
        self.view(key).account.refuse_link()
        self.void(key)

    def unlink(self, key: str) -> None:
        if key not in self.account:
            refused(tacit.NotFound, self.view(key).account.unlink)
            return
        self.view(key).account.unlink()
        del self.account[key]
        self.void(key)

    def wait(self, minutes: int) -> None:
        self.clock.forward(seconds=60 * minutes)

    @invariant()
    def everybody_hears_what_is_theirs_and_nothing_else(self) -> None:
        for key in KEYS:
            view = self.view(key)
            theirs = sorted(word for word, owner in self.words.items() if self.hears(key, owner))
            assert said(view.list()) == theirs
            _, other, until = self.asked.get(key, ("", "", self.clock.now))
            waiting = view.account.pending_link()
            assert (waiting and waiting.identity) == (other if until > self.clock.now else None)


def refused(error: type[tacit.TacitError], act: Callable[[], object]) -> None:
    with pytest.raises(error):
        act()


def test_nobody_hears_another_unless_both_acted_on_one_code(
    opened: Open, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LINK_TRIES_MAX_COUNT", 10_000)
    Linking.opened, Linking.clock = opened("sqlite://"), clock
    few = settings(max_examples=12, stateful_step_count=25, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Linking, settings=few)
