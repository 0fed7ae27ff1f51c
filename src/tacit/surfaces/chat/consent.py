"""Asking before something is kept: what waits for a person's yes, and what they answer."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice

from tacit import chat_limits
from tacit.errors import Conflict, NotFound
from tacit.memory import DisabledView, View
from tacit.model.chat import Requester
from tacit.model.results import Proposal
from tacit.surfaces.chat import wording
from tacit.surfaces.chat.say import Button, Say, Span, say

_PRESSED = re.compile(r"p:([yn]):([0-9A-Za-z]{1,32})")
_WORD = re.compile(r"\w+")
_SAME_MIN_SHARE = 0.6  # of the words that count
# Words that say nothing of what a fact is about, or only that it is about whoever speaks; without
# their last s, as all words here.
_SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an and are at be by der die da dem den ein eine for from ha have her hi i in ist it my "
        "of on or our person sein seine that the their they thi to und user von wa want with zu",
    )
)


class Consent:
    """Who answers is always the view's own person: a proposal of somebody else is not there."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, set[str]] = OrderedDict()
        self._lock = threading.Lock()

    def waiting(self, view: View | DisabledView, who: Requester | None) -> list[Proposal]:
        """What can be asked about here whether it is to be kept, the oldest first; without what is
        known by now in other words, because the agent itself has kept it."""
        found = [one for one in _in_order(view) if not one.widens]
        unknown = (one for one in found if one.replaces or not _is_known(view, one, who))
        return list(islice(unknown, chat_limits.CHAT_PROPOSALS_MAX_COUNT))

    def with_buttons(
        self, view: View | DisabledView, who: Requester | None, *, keeping: bool
    ) -> list[Say]:
        """A question for each that this process has not asked yet. Whether others may hear
        something is always asked like this: no model answers for that, and no word in passing.
        `keeping`: so is whether something is kept at all."""
        if who is None:
            return []
        widening = [one for one in _in_order(view) if one.widens]
        some = [*(self.waiting(view, who) if keeping else ()), *widening]
        new = [one for one in some if self._ask(who.key, one.id)]
        return [_question(one) for one in new[: chat_limits.CHAT_PROPOSALS_MAX_COUNT]]

    def again(
        self, view: View | DisabledView, who: Requester, about: str | None = None
    ) -> list[Say]:
        """The questions that were asked and are still open; `about`: those that these words are
        about."""
        widening = [one for one in _in_order(view) if one.widens]
        open_ones = [
            one for one in (*self.waiting(view, who), *widening) if self.was_asked(who, one.id)
        ]
        return [
            _question(one)
            for one in open_ones[: chat_limits.CHAT_PROPOSALS_MAX_COUNT]
            if about is None or about_the_same(about, one.content, who)
        ]

    def was_asked(self, who: Requester, id: str) -> bool:
        with self._lock:
            return id in self._asked.get(who.key, ())

    def pressed(self, view: View | DisabledView, data: str, key: str) -> list[Say] | None:
        """None if it is no button of ours."""
        found = _PRESSED.fullmatch(data)
        if found is None:
            return None
        return [self.settled(view, found[2], key, yes=found[1] == "y", instead=True)]

    def settled(
        self, view: View | DisabledView, id: str, key: str, *, yes: bool, instead: bool = False
    ) -> Say:
        """Told to the person. What is not theirs to answer reads like what is no longer there."""
        meant = next((one for one in view.proposals() if one.id == id), None)
        if not self.settle(view, id, key, yes=yes):
            return say(wording.NOT_YOURS)
        return Say(spans=_outcome(meant, yes=yes), instead=instead)

    def settle(self, view: View | DisabledView, id: str, key: str, *, yes: bool) -> bool:
        """Whether it could be answered. `key` is the same if this is done again after a crash."""
        if not view.enabled:
            return False
        once = view.once(f"{key}/{'yes' if yes else 'no'}/{id}")
        try:
            if yes:
                once.approve(id)
            else:
                once.decline(id)
        except (Conflict, NotFound):  # it reads otherwise by now, or is not there
            return False
        return True

    def _ask(self, who: str, id: str) -> bool:
        with self._lock:
            asked = self._asked.setdefault(who, set())
            self._asked.move_to_end(who)
            while len(self._asked) > chat_limits.CHAT_ASKED_MAX_COUNT:
                self._asked.popitem(last=False)
            if id in asked:
                return False
            if len(asked) >= chat_limits.CHAT_ASKED_OF_ONE_MAX_COUNT:
                asked.clear()
            asked.add(id)
            return True


def _in_order(view: View | DisabledView) -> list[Proposal]:
    found = sorted(view.proposals(), key=lambda one: (one.created_at, one.id))
    return found[: chat_limits.CHAT_LOOKED_AT_COUNT]


def _question(one: Proposal) -> Say:
    """The whole is asked with the content last, so that it reads as a quote."""
    yes = Button(label=wording.YES, data=f"p:y:{one.id}")
    no = Button(label=wording.NO, data=f"p:n:{one.id}")
    asked = wording.ASKED_WIDER if one.widens else wording.ASKED
    return say(asked, Span(one.content, "strong"), buttons=((yes, no),))


def _outcome(meant: Proposal | None, *, yes: bool) -> tuple[Span, ...]:
    if meant is None:
        return (Span(wording.KEPT_PLAIN if yes else wording.LEFT),)
    if meant.widens:
        return (Span(wording.WIDER if yes else wording.NOT_WIDER), Span(meant.content, "strong"))
    return (Span(wording.KEPT), Span(meant.content, "strong")) if yes else (Span(wording.LEFT),)


def same_as(content: str, waiting: Iterable[Proposal], own: Requester | None) -> Proposal | None:
    """The one that says what a model put in its own words; None if that is not sure."""
    found = [one for one in waiting if alike(content, one.content, own)]
    return found[0] if len(found) == 1 else None


def alike(one: str, other: str, own: Requester | None) -> bool:
    """Whether two sentences say the same about the same: no name and no number of the one is
    missing in the other, and most of the other words are shared."""
    these, those = _words(one), _words(other)
    first, second = _telling(one, own), _telling(other, own)
    if not first or not second:
        return False
    telling = {word for word in first ^ second if (these | those)[word]}
    return not telling and len(first & second) >= _SAME_MIN_SHARE * max(len(first), len(second))


def about_the_same(said: str, content: str, own: Requester | None) -> bool:
    """Whether most of what a fact tells was spoken of, and all numbers in it."""
    spoken, told = _words(said).keys(), _words(content).keys()
    numbers = {word for word in told if any(map(str.isdigit, word))}
    telling = _telling(content, own)
    return numbers <= spoken and len(telling & spoken) >= _SAME_MIN_SHARE * max(len(telling), 1)


def mentions(said: str, content: str, own: Requester | None) -> bool:
    """Whether anything of what a fact tells was spoken of."""
    return not _telling(content, own).isdisjoint(_words(said))


def _telling(content: str, own: Requester | None) -> set[str]:
    names = _words(f"{own.name or ''} {own.username or ''}").keys() if own else set()
    return _words(content).keys() - names - _SMALL - {""}


def _words(text: str) -> dict[str, bool]:
    """Each word, and whether it is a name or a number: in the middle of a sentence a capital letter
    says so, and at its beginning one may."""
    return {
        word.casefold().removesuffix("s"): word[0].isupper() or any(map(str.isdigit, word))
        for word in _WORD.findall(text)
    }


def _is_known(view: View | DisabledView, proposal: Proposal, who: Requester | None) -> bool:
    found = view.suggest_update(proposal.content)
    return found is not None and alike(found.content, proposal.content, who)
