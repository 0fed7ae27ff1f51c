"""Ask for consent before something is stored, apply answers, and guard writes of the model."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from cachetools import LRUCache

from tacit import limits
from tacit.bots import texts
from tacit.bots.messages import Button, OpenQuestion, OutboundMessage, Span, make_message, strong_span
from tacit.bots.phrases import ReplyDecision, covers_content, mentions_content, says_the_same
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.memory import Memory, View
from tacit.records.memory import Sensitivity
from tacit.records.request import Requester
from tacit.records.results import Proposal

_BUTTON_DATA = re.compile(r"p:([yn]):([0-9A-Za-z]{1,32}(?:,[0-9A-Za-z]{1,32})*)")


class Consent:
    """Ask about a view's proposals. A view has only the proposals of its own person."""

    def __init__(self) -> None:
        self._asked: LRUCache[str, set[str]] = LRUCache(limits.CHAT_QUESTIONED_PEOPLE_MAX_COUNT)
        self._lock = threading.Lock()

    def list_pending(self, view: View, who: Requester | None) -> list[Proposal]:
        """Return the newest proposals to store something, in order.

        Leaves out those whose content the agent has stored meanwhile in other words.
        """
        return self._list_pending(view, who)[-limits.CHAT_PROPOSALS_MAX_COUNT :]

    def ask_with_buttons(self, view: View, who: Requester | None, *, keeping: bool) -> list[OutboundMessage]:
        """Ask one question with buttons for each proposal that this process has not asked yet.

        Consent to share is always asked like this, so that no model and no casual reply gives it.
        `keeping`: also ask about proposals to store something.
        """
        if who is None:
            return []
        some = [*(self.list_pending(view, who) if keeping else ()), *_list_proposals(view, widens=True)]
        new = (one for one in some if self._mark_asked(who.key, one.id))
        return [_ask_one(one) for one in islice(new, limits.CHAT_PROPOSALS_MAX_COUNT)]

    def ask(
        self,
        view: View,
        who: Requester | None,
        *,
        again: bool = False,
        every: bool = False,
        before: str = "",
        left: bool = False,
    ) -> list[OutboundMessage]:
        """Ask about pending proposals in one question that can be answered in words.

        Asks nothing if this process has asked about all of them, unless `again`. `every`: also
        list older ones that do not fit the question. `left`: some were answered just now.
        """
        if who is None:
            return []
        wider = [one for one in _list_proposals(view, widens=True) if self._mark_asked(who.key, one.id) or again]
        found = self._list_pending(view, who)
        shown = found[-limits.CHAT_PROPOSALS_MAX_COUNT :]
        new = [one for one in shown if self._mark_asked(who.key, one.id)]
        older = found[: -len(shown)][-limits.CHAT_ABOUT_ME_COUNT :] if every else []
        asked = new or (again and shown)
        keeping = [_ask_several(shown, len(found), before, older, left=left)] if asked else []
        return [*map(_ask_one, wider[: limits.CHAT_PROPOSALS_MAX_COUNT]), *keeping]

    def ask_about(self, view: View, who: Requester | None, words: str) -> list[OutboundMessage]:
        """Ask about pending proposals that share words with the text."""
        if who is None:
            return []
        found = [one for one in self.list_pending(view, who) if mentions_content(words, one.content, who)]
        for one in found:
            self._mark_asked(who.key, one.id)
        return [_ask_several(found, len(found), texts.NOT_SAVED_YET)] if found else []

    def has_asked_to_share(self, view: View, who: Requester) -> bool:
        """Whether a question is open that only buttons can answer."""
        shared = {one.id for one in _list_proposals(view, widens=True)}
        with self._lock:
            return not shared.isdisjoint(self._asked.get(who.key, ()))

    def answer(self, view: View, ids: Sequence[str], decision: ReplyDecision, key: str) -> OutboundMessage:
        """Apply a reply's decision and describe the outcome; skip expired or answered proposals."""
        contents = {one.id: one.content for one in view.proposals.list() if not one.widens}
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
        return _describe_answers(done[True], done[False], gone)

    def handle_button(self, view: View, data: str, key: str) -> list[OutboundMessage] | None:
        """Handle a consent button; return None for other buttons."""
        found = _BUTTON_DATA.fullmatch(data)
        if found is None:
            return None
        ids, yes = found[2].split(","), found[1] == "y"
        if len(ids) == 1:
            return [self._answer_one(view, ids[0], key, yes=yes)]
        every = frozenset(range(len(ids)))
        decision = ReplyDecision(yes=every) if yes else ReplyDecision(no=every)
        return [replace(self.answer(view, ids, decision, key), instead=True)]

    def _answer_one(self, view: View, id: str, key: str, *, yes: bool) -> OutboundMessage:
        """Apply one answer and describe it. A foreign proposal and a missing one get one reply."""
        meant = next((one for one in view.proposals.list() if one.id == id), None)
        if not self.apply_answer(view, id, key, yes=yes):
            return make_message(texts.NOT_YOUR_PROPOSAL)
        if meant is None or not (yes or meant.widens):
            told = make_message(texts.PROPOSAL_KEPT_PLAIN if yes else texts.PROPOSAL_DECLINED)
        else:
            shared = texts.NOW_SHARED if yes else texts.STAYS_PRIVATE
            kept = shared if meant.widens else texts.PROPOSAL_KEPT
            told = make_message(kept, strong_span(meant.content))
        return replace(told, instead=True)

    def apply_answer(self, view: View, id: str, key: str, *, yes: bool) -> bool:
        """Approve or decline; return whether it was pending. `key` makes a retry idempotent."""
        if not view.enabled:
            return False
        once = view.once(f"{key}/{'yes' if yes else 'no'}/{id}")
        try:
            if yes:
                once.proposals.approve(id)
            else:
                once.proposals.decline(id)
        except (Conflict, NotFound):  # changed or answered meanwhile
            return False
        return True

    def _mark_asked(self, who: str, id: str) -> bool:
        with self._lock:
            asked = self._asked.setdefault(who, set())
            if id in asked:
                return False
            if len(asked) >= limits.CHAT_QUESTIONS_PER_PERSON_MAX_COUNT:
                asked.clear()
            asked.add(id)
            return True

    def _list_pending(self, view: View, who: Requester | None) -> list[Proposal]:
        found = _list_proposals(view, widens=False)
        count = limits.CHAT_NEWEST_MEMORIES_COUNT
        newest = (one for one in found[-count:] if one.replaces or not _is_known(view, one, who))
        return [*found[:-count], *newest]


def _list_proposals(view: View, *, widens: bool) -> list[Proposal]:
    """Return the proposals to share something, or those to store something, in order."""
    found = (one for one in view.proposals.list() if one.widens is widens)
    return sorted(found, key=lambda one: (one.created_at, one.id))


def _ask_one(one: Proposal, *, left: bool = False, before: str = "") -> OutboundMessage:
    asked = texts.ASK_TO_SHARE if one.widens else texts.ASK_TO_KEEP
    asks = None if one.widens else OpenQuestion(ids=(one.id,), is_remainder=left)
    row = _make_buttons([one.id], texts.YES_BUTTON, texts.NO_BUTTON)
    return make_message(before, asked, strong_span(one.content), buttons=(row,), asks=asks)


def _make_buttons(ids: Sequence[str], yes: str, no: str) -> tuple[Button, ...]:
    joined = ",".join(ids)
    return Button(label=yes, data=f"p:y:{joined}"), Button(label=no, data=f"p:n:{joined}")


def _ask_several(
    shown: Sequence[Proposal], total: int, before: str = "", older: Sequence[Proposal] = (), *, left: bool = False
) -> OutboundMessage:
    """Make one question with a number and a button for each proposal; only list `older` ones."""
    if len(shown) == 1 == total:
        return _ask_one(shown[0], left=left, before=before)
    newest = texts.NEWEST_FIRST.format(len(shown)) if total > len(shown) else ""
    spans = [Span(before), Span(texts.PENDING_COUNT.format(total, newest))]
    for number, one in enumerate(shown, start=1):
        spans += [Span(f"\n{number}. "), strong_span(one.content)]
    ids = tuple(one.id for one in shown)
    singly = tuple(Button(label=str(n), data=f"p:y:{id}") for n, id in enumerate(ids, start=1))
    return make_message(
        *spans,
        *_list_contents(one.content for one in older),
        f"\n{texts.HOW_TO_ANSWER}",
        buttons=(_make_buttons(ids, texts.ALL_BUTTON, texts.NONE_BUTTON), singly),
        asks=OpenQuestion(ids=ids, is_remainder=left),
    )


def _list_contents(contents: Iterable[str]) -> list[Span]:
    return [span for one in contents for span in (Span("\n• "), strong_span(one))]


def _describe_answers(kept: Sequence[str], left: Sequence[str], gone: int) -> OutboundMessage:
    if gone and not kept and not left:
        return make_message(texts.NOT_YOUR_PROPOSAL)
    spans: list[str | Span] = []
    if len(kept) == 1:
        spans += [texts.PROPOSAL_KEPT, strong_span(kept[0])]
    elif kept:
        spans += [texts.PROPOSAL_KEPT.rstrip(), *_list_contents(kept)]
    if left and kept:
        spans.append(f"\n{texts.OTHERS_DECLINED}{'; '.join(left)}")
    elif left:
        many = texts.PROPOSALS_DECLINED.format(len(left))
        spans.append(texts.PROPOSAL_DECLINED if len(left) == 1 else many)
    if gone:
        spans.append(f"\n{texts.REST_NOT_PENDING}")
    return make_message(*spans)


def find_same_proposal(content: str, waiting: Iterable[Proposal], own: Requester | None) -> Proposal | None:
    """Return the one proposal with the same content; None if there is none or several."""
    found = [one for one in waiting if says_the_same(content, one.content, own)]
    return found[0] if len(found) == 1 else None


def _is_known(view: View, proposal: Proposal, who: Requester | None) -> bool:
    found = view.suggest_update(proposal.content)
    return found is not None and says_the_same(found.content, proposal.content, who)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteGuard:
    """Refuse writes by a model's tool of facts with a hold, which the tool would drop."""

    memory: Memory
    who: Requester | None
    said: str  # the message that is answered
    before: Collection[str]  # earlier messages of people in this chat
    waiting: Collection[str]  # contents of the person's proposals

    def refuses(self, view: View, written: str, changed: object = None) -> bool:
        """Whether learning, not a tool, must store this text.

        True if the message, or an earlier one on the same topic, holds it from a person; if a
        proposal covers it; or if it repeats a withheld memory other than the `changed` one.
        """
        if self._is_guarded(self.said) or self._is_guarded(written):
            return True
        if any(covers_content(written, one, self.who) for one in self.waiting):
            return True
        related = (one for one in self.before if mentions_content(one, written, self.who))
        return any(map(self._is_guarded, related)) or self._is_withheld(view, written, changed)

    def minimum_sensitivity(self, written: str) -> Sensitivity | None:
        """Return SENSITIVE if the text is, else None."""
        try:
            found = self.memory.llm.sensitivity_of(written)
        except InvalidInput:
            return None  # it cannot be stored either
        return found if found is Sensitivity.SENSITIVE else None

    def _is_guarded(self, words: str) -> bool:
        try:
            return bool(words.strip()) and self.memory.llm.has_hold(words)
        except InvalidInput:
            return True  # when in doubt, refuse

    def _is_withheld(self, view: View, written: str, changed: object) -> bool:
        try:
            query = written[: limits.QUERY_MAX_CHARS]
            found = view.recall(query, top_k=limits.CHAT_RESULTS_COUNT)
        except InvalidInput:
            return True
        return any(
            one.memory.withheld_from
            and one.memory.id != changed
            and covers_content(written, one.memory.content, self.who)
            for one in found
        )
