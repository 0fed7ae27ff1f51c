"""Three people with codes, in any order: nobody hears another's private words unless both acted on
the same code, nor after one of them has left."""

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

import tacit
from tacit import limits
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.rooms import SetClock, private, said

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
