"""Asking before something is kept: what waits for a person's yes, and what they answer."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from tacit import limits
from tacit.errors import Conflict, NotFound
from tacit.memory import DisabledView, View
from tacit.records.request import Requester
from tacit.records.results import Proposal
from tacit.surfaces.chat import wording
from tacit.surfaces.chat.decisions import Decision
from tacit.surfaces.chat.say import Button, Question, Say, Span, say

_PRESSED = re.compile(r"p:([yn]):([0-9A-Za-z]{1,32}(?:,[0-9A-Za-z]{1,32})*)")
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

    def list_pending(self, view: View | DisabledView, who: Requester | None) -> list[Proposal]:
        """What can be asked about here whether it is to be kept: the newest ones, in order; without
        what is known by now in other words, because the agent itself has kept it."""
        return self._list_pending(view, who)[-limits.CHAT_PROPOSALS_MAX_COUNT :]

    def ask_with_buttons(
        self, view: View | DisabledView, who: Requester | None, *, keeping: bool
    ) -> list[Say]:
        """A question for each that this process has not asked yet. Whether others may hear
        something is always asked like this: no model answers for that, and no word in passing.
        `keeping`: so is whether something is kept at all."""
        if who is None:
            return []
        some = [*(self.list_pending(view, who) if keeping else ()), *_widening(view)]
        new = (one for one in some if self._mark_asked(who.key, one.id))
        return [_question(one) for one in islice(new, limits.CHAT_PROPOSALS_MAX_COUNT)]

    def ask(
        self,
        view: View | DisabledView,
        who: Requester | None,
        *,
        again: bool = False,
        every: bool = False,
        before: str = "",
        left: bool = False,
    ) -> list[Say]:
        """Ask about what waits, as one question that can be answered in words, if this process has
        not asked about all of it; `again`: also if it has. `every`: what is asked about later is
        told as well. `left`: some of it was answered just now."""
        if who is None:
            return []
        wider = [one for one in _widening(view) if self._mark_asked(who.key, one.id) or again]
        found = self._list_pending(view, who)
        shown = found[-limits.CHAT_PROPOSALS_MAX_COUNT :]
        new = [one for one in shown if self._mark_asked(who.key, one.id)]
        older = found[: -len(shown)][-limits.CHAT_ABOUT_ME_COUNT :] if every else []
        asked = new or (again and shown)
        keeping = [_asking(shown, len(found), before, older, left=left)] if asked else []
        return [*map(_question, wider[: limits.CHAT_PROPOSALS_MAX_COUNT]), *keeping]

    def ask_about(self, view: View | DisabledView, who: Requester | None, words: str) -> list[Say]:
        """Ask about what waits and has to do with these words."""
        if who is None:
            return []
        found = [one for one in self.list_pending(view, who) if mentions(words, one.content, who)]
        for one in found:
            self._mark_asked(who.key, one.id)
        return [_asking(found, len(found), wording.NOT_SAVED_YET)] if found else []

    def has_asked_to_share(self, view: View | DisabledView, who: Requester) -> bool:
        """Whether a question is open that no words answer, but buttons alone."""
        return any(self._has_asked(who, one) for one in _widening(view))

    def _has_asked(self, who: Requester, one: Proposal) -> bool:
        with self._lock:
            return one.id in self._asked.get(who.key, ())

    def answer(
        self, view: View | DisabledView, ids: Sequence[str], decision: Decision, key: str
    ) -> Say:
        """Do what a reply decides, and tell it. What expired or was answered meanwhile is left."""
        contents = {one.id: one.content for one in view.proposals() if not one.widens}
        done: dict[bool, list[str]] = {True: [], False: []}
        gone = 0
        for place, id in enumerate(ids):
            yes = place in decision.yes
            if not yes and place not in decision.no:
                continue
            if id in contents and self.apply_answer(view, id, key, yes=yes):
                done[yes].append(contents[id])
            else:
                gone += 1
        return _told(done[True], done[False], gone)

    def handle_button(self, view: View | DisabledView, data: str, key: str) -> list[Say] | None:
        """None if it is no button of ours."""
        found = _PRESSED.fullmatch(data)
        if found is None:
            return None
        ids, yes = found[2].split(","), found[1] == "y"
        if len(ids) == 1:
            return [self.answer_one(view, ids[0], key, yes=yes, instead=True)]
        every = frozenset(range(len(ids)))
        decision = Decision(yes=every) if yes else Decision(no=every)
        return [replace(self.answer(view, ids, decision, key), instead=True)]

    def answer_one(
        self, view: View | DisabledView, id: str, key: str, *, yes: bool, instead: bool = False
    ) -> Say:
        """Told to the person. What is not theirs to answer reads like what is no longer there."""
        meant = next((one for one in view.proposals() if one.id == id), None)
        if not self.apply_answer(view, id, key, yes=yes):
            return say(wording.NOT_YOURS)
        return Say(spans=_outcome(meant, yes=yes), instead=instead)

    def apply_answer(self, view: View | DisabledView, id: str, key: str, *, yes: bool) -> bool:
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

    def _mark_asked(self, who: str, id: str) -> bool:
        with self._lock:
            asked = self._asked.setdefault(who, set())
            self._asked.move_to_end(who)
            while len(self._asked) > limits.CHAT_QUESTIONED_PEOPLE_MAX_COUNT:
                self._asked.popitem(last=False)
            if id in asked:
                return False
            if len(asked) >= limits.CHAT_QUESTIONS_PER_PERSON_MAX_COUNT:
                asked.clear()
            asked.add(id)
            return True

    def _list_pending(self, view: View | DisabledView, who: Requester | None) -> list[Proposal]:
        found = [one for one in _in_order(view) if not one.widens]
        older, looked_at = (
            found[: -limits.CHAT_NEWEST_MEMORIES_COUNT],
            found[-limits.CHAT_NEWEST_MEMORIES_COUNT :],
        )
        unknown = [one for one in looked_at if one.replaces or not _is_known(view, one, who)]
        return [*older, *unknown]


def _in_order(view: View | DisabledView) -> list[Proposal]:
    return sorted(view.proposals(), key=lambda one: (one.created_at, one.id))


def _widening(view: View | DisabledView) -> list[Proposal]:
    return [one for one in _in_order(view) if one.widens]


def _question(one: Proposal, *, left: bool = False) -> Say:
    """The whole is asked with the content last, so that it reads as a quote."""
    asked = wording.ASKED_WIDER if one.widens else wording.ASKED
    asks = None if one.widens else Question(ids=(one.id,), is_remainder=left)
    return say(asked, Span(one.content, "strong"), buttons=(_yes_and_no(one.id),), asks=asks)


def _yes_and_no(ids: str, yes: str = wording.YES, no: str = wording.NO) -> tuple[Button, ...]:
    return Button(label=yes, data=f"p:y:{ids}"), Button(label=no, data=f"p:n:{ids}")


def _asking(
    shown: Sequence[Proposal],
    total: int,
    before: str = "",
    older: Sequence[Proposal] = (),
    *,
    left: bool = False,
) -> Say:
    """One question for all: each has a number, and a button to keep it alone. `older` ones are told
    and not asked about."""
    if len(shown) == 1 == total:
        asked = _question(shown[0], left=left)
        return replace(asked, spans=(Span(before), *asked.spans)) if before else asked
    spans = [Span(before)] if before else []
    newest = wording.NEWEST_FIRST.format(len(shown)) if total > len(shown) else ""
    spans.append(Span(wording.THINGS_WAIT.format(total, newest)))
    for number, one in enumerate(shown, start=1):
        spans += [Span(f"\n{number}. "), Span(one.content, "strong")]
    spans += [part for one in older for part in (Span("\n• "), Span(one.content, "strong"))]
    ids = tuple(one.id for one in shown)
    singly = (Button(label=str(n), data=f"p:y:{id}") for n, id in enumerate(ids, start=1))
    rows = (_yes_and_no(",".join(ids), wording.ALL, wording.NONE), tuple(singly))
    asks = Question(ids=ids, is_remainder=left)
    return say(*spans, "\n" + wording.HOW_TO_ANSWER, buttons=rows, asks=asks)


def _told(kept: Sequence[str], left: Sequence[str], gone: int) -> Say:
    if gone and not kept and not left:
        return say(wording.NOT_YOURS)
    spans: list[Span] = []
    if len(kept) == 1:
        spans += [Span(wording.KEPT), Span(kept[0], "strong")]
    elif kept:
        spans.append(Span(wording.KEPT.rstrip()))
        spans += [part for one in kept for part in (Span("\n• "), Span(one, "strong"))]
    if left and kept:
        spans.append(Span(f"\n{wording.LEFT_OTHERS}{'; '.join(left)}"))
    elif left:
        spans.append(Span(wording.LEFT if len(left) == 1 else wording.LEFT_ALL.format(len(left))))
    if gone:
        spans.append(Span(f"\n{wording.SOME_GONE}"))
    return Say(spans=tuple(spans))


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
    first, second = telling_words(one, own), telling_words(other, own)
    if not first or not second:
        return False
    telling = {word for word in first ^ second if (these | those)[word]}
    return not telling and len(first & second) >= _SAME_MIN_SHARE * max(len(first), len(second))


def about_the_same(said: str, content: str, own: Requester | None) -> bool:
    """Whether most of what a fact tells was spoken of, and all numbers in it."""
    spoken, told = _words(said).keys(), _words(content).keys()
    numbers = {word for word in told if any(map(str.isdigit, word))}
    telling = telling_words(content, own)
    return numbers <= spoken and len(telling & spoken) >= _SAME_MIN_SHARE * max(len(telling), 1)


def mentions(said: str, content: str, own: Requester | None) -> bool:
    """Whether anything of what a fact tells was spoken of."""
    return not telling_words(content, own).isdisjoint(_words(said))


def telling_words(content: str, own: Requester | None) -> set[str]:
    """The words of a fact that tell it from others, without their last s."""
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
