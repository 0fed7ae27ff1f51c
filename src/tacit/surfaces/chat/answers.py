"""Answers without a language model: “remember …”, questions to memory, and consent by buttons."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from tacit import limits
from tacit.errors import InvalidInput
from tacit.memory import DisabledView, Memory, View
from tacit.records.memory import ChatKind, State
from tacit.records.memory import Memory as Record
from tacit.records.results import Bullet
from tacit.surfaces.chat import wording
from tacit.surfaces.chat.agent import name_of
from tacit.surfaces.chat.calling import taught
from tacit.surfaces.chat.commands import fits, shortened, undo_button
from tacit.surfaces.chat.consent import Consent, about_the_same, telling_words
from tacit.surfaces.chat.decisions import UNCLEAR, parse_decision
from tacit.surfaces.chat.heard import Said
from tacit.surfaces.chat.say import Question, Say, Span, say, strong, worded

Noticed = frozenset[tuple[str, int]]  # memories by id, and in which version
# With a name beside the question everything about that person is closer to it. Measured with two
# common names and ten questions: most of what was meant at 0.65 and above, anything else hardly.
_CLOSE_MEANING_NAMED = 0.65


@dataclass(frozen=True, slots=True)
class Replied:
    messages: list[Say]
    says_more: bool = False  # the message says more than an answer, and is learned, too


@dataclass(frozen=True, slots=True)
class Answers:
    memory: Memory
    consent: Consent

    def snapshot_versions(self, view: View | DisabledView, said: Said) -> Noticed:
        """What there is before a message is learned that asks for something to be remembered: in a
        group nobody is told which message a memory is from."""
        if said.chat.kind is ChatKind.PRIVATE or not wording.asks_to_remember(said.text):
            return frozenset()
        return frozenset((one.id, one.version) for one in _newest(view))

    def reply(self, view: View, said: Said, asked: Question | None) -> Replied | None:
        """Do what a yes, a no or numbers decide about what the person was just asked; None: it is
        no such answer. What is not clear, or answers no question, is asked again."""
        if said.who is None:
            return None
        waiting = self.consent.list_pending(view, said.who)
        if asked is not None and (asked.forgets or asked.erases_all):
            asked = None  # and no question what to keep
        ids = asked.ids if asked is not None else ()
        shown = ids or tuple(one.id for one in waiting)
        words = {one.id: frozenset(telling_words(one.content, said.who)) for one in waiting}
        decision = parse_decision(
            said.text,
            [words.get(id, frozenset()) for id in shown],
            left=asked is not None and asked.is_remainder,
        )
        if decision is None or (decision.says_more and (len(shown) > 1 or not ids)):
            return None
        clear = bool(ids)
        if decision.bare:
            clear = clear and not self.consent.has_asked_to_share(view, said.who)
        if decision.says_more and not clear:
            return None
        if not clear or decision == UNCLEAR:
            again = self.consent.ask(view, said.who, again=True, before=wording.NOT_CLEAR)
            return Replied(again)
        told = self.consent.answer(view, shown, decision, f"{said.channel}:{said.update}")
        if decision.says_more:
            return Replied([told], says_more=True)
        still_waiting = self.consent.ask(view, said.who, again=True, left=True)
        return Replied([told, *still_waiting])

    def ask_new(self, view: View | DisabledView, said: Said) -> list[Say]:
        """Questions about what a message has taught besides."""
        self._wait_for_learning(said)
        return self.consent.ask(view, said.who)

    def answer(
        self, view: View | DisabledView, said: Said, before: Noticed, *, learned: bool
    ) -> list[Say]:
        """To a message that has been handed over to be learned, if it could be."""
        if isinstance(view, DisabledView):
            return [say(wording.NOBODY)]
        if not said.text.strip():
            return []
        alone = said.chat.kind is ChatKind.PRIVATE
        if wording.asks_to_remember(said.text):
            if not learned and not alone:
                return []
            told = self._confirm_request(view, said, before)
            if told or wording.is_plain_request(said.text):
                return told or self._explain_nothing_kept(said)
        if wording.asks_about_all(said.text):
            return self._list_everything(view, said)
        if wording.is_question(said.text):
            return self._answer_question(view, said)
        if learned:
            self._wait_for_learning(said)
        kept = taught(view, said) if alone else []
        told = [_told(said, one) for one in kept]
        told += self.consent.ask(view, said.who)
        return told if told or not alone else self._answer_small_talk(view, said)

    def _answer_small_talk(self, view: View, said: Said) -> list[Say]:
        """Where nobody else listens, not even a line that taught nothing is met with silence."""
        if self.memory.waiting().turns:
            return [say(*worded(wording.STILL_READING))]
        waiting = self.consent.ask(view, said.who, again=True)
        return waiting or [say(wording.small_talk(said.text))]

    def _answer_question(self, view: View, said: Said) -> list[Say]:
        found = known(view, said)
        waiting = self.consent.ask_about(view, said.who, said.text)
        if found is None:
            return waiting or [say(wording.UNKNOWN)]
        return [found, *waiting]

    def _list_everything(self, view: View, said: Said) -> list[Say]:
        """Everything of theirs that may be said here, and what waits for their yes."""
        found = everything(view, said)
        waiting = self.consent.ask(
            view, said.who, again=True, every=True, before=wording.NOT_SAVED_YET
        )
        if found is not None:
            return [found, *waiting]
        alone = said.chat.kind is ChatKind.PRIVATE
        if waiting:
            return waiting
        return [say(*worded(wording.NOTHING_YET if alone else wording.NOTHING_HERE))]

    def _confirm_request(self, view: View, said: Said, before: Noticed) -> list[Say]:
        """With what was understood, as far as it may be heard where it was said; nothing where
        nothing was."""
        self._wait_for_learning(said)
        alone = said.chat.kind is ChatKind.PRIVATE
        kept = taught(view, said) if alone else _spoken(view, said, before)
        asked = self.consent.ask(view, said.who)
        told = [_told(said, one) for one in kept]
        if not told and not asked and alone:
            told = [say(wording.KNOWN_ALREADY, strong(one)) for one in _same(view, said)]
        return [*told, *asked]

    def _explain_nothing_kept(self, said: Said) -> list[Say]:
        if said.chat.kind is not ChatKind.PRIVATE:
            return [say(*worded(wording.NOTED_IN_PRIVATE))]
        late = self.memory.waiting().turns
        return [say(*worded(wording.NOTED if late else wording.NOT_UNDERSTOOD))]

    def _wait_for_learning(self, said: Said) -> None:
        with suppress(InvalidInput):  # learning is switched off here
            self.memory.catch_up(limits.CHAT_LEARNED_WAIT_SECONDS, thread=said.conversation)


def known(view: View, said: Said) -> Say | None:
    """With what has to do with the question. Whoever asks about themselves is then asked about by
    name as well: that the name fits is not enough."""
    text = said.text[: limits.CHAT_TEXT_MAX_CHARS]
    found = {id: one for id, one in _recalled(view, text).items() if _fits(one)}
    if not found and wording.is_about_me(text):
        named = f"{text} {name_of(said.who)}"
        found = {id: one for id, one in _recalled(view, named).items() if _is_close(one)}
    if not found:
        return None
    lines = (f"\n• {one.text.partition('] ')[2] or one.text}" for one in found.values())
    return say(wording.KNOWN, *islice(lines, limits.CHAT_RESULTS_COUNT))


def everything(view: View, said: Said) -> Say | None:
    """The newest of what may be said here: in private, whatever is theirs or about them; where
    others listen, what they said there or is about them."""
    if said.who is None:
        return None
    most = limits.CHAT_ABOUT_ME_COUNT
    if said.chat.kind is ChatKind.PRIVATE:
        own = list(view.list(state=State.ACTIVE, limit=most + 1))
    else:
        me = f"ext:{said.who.key}"
        own = [one for one in view.list(limit=most + 1) if me in (one.owner, one.speaker)]
    about = view.about(said.who.key, limit=most + 1)
    found = {one.id: one for one in (*own, *about) if not one.is_turn}
    if not found:
        return None
    newest = sorted(found.values(), key=lambda one: (one.created_at, one.id))[-most:]
    spans = [Span(f"\n• {_line(one)}") for one in newest]
    more = worded(f"\n{wording.MORE_KNOWN}") if len(found) > most else ()
    return say(wording.KNOWN, *spans, *more)


def _line(one: Record) -> str:
    """The value of a key says little without it."""
    return shortened(one.content if one.key is None else f"{one.key}: {one.content}")


def _recalled(view: View, query: str) -> dict[str, Bullet]:
    found = view.query(query, top_k=limits.CHAT_RESULTS_COUNT, form="full")
    return {one.id: one for one in found}


def _fits(one: Bullet) -> bool:
    """What is only related to something else that was found, was not asked for."""
    return one.recalled is not None and fits(one.recalled)


def _is_close(one: Bullet) -> bool:
    return one.recalled is not None and one.recalled.signals.meaning >= _CLOSE_MEANING_NAMED


def _same(view: View, said: Said) -> list[str]:
    """What was known before, and says what they said just now: at most one."""
    text = said.text[: limits.CHAT_TEXT_MAX_CHARS]
    found = view.recall(text, top_k=limits.CHAT_RESULTS_COUNT)
    contents = (one.memory.content for one in found)
    return [one for one in contents if about_the_same(said.text, one, said.who)][:1]


def _spoken(view: View, said: Said, before: Noticed) -> list[Record]:
    """What is new since, was said by the sender, and is what they said just now."""
    own = None if said.who is None else f"ext:{said.who.key}"
    return [
        one
        for one in _newest(view)
        if (one.id, one.version) not in before
        and one.speaker == own
        and about_the_same(said.text, one.content, said.who)
    ]


def _newest(view: View | DisabledView) -> Iterable[Record]:
    return view.list(limit=limits.CHAT_NEWEST_MEMORIES_COUNT)


def _told(said: Said, kept: Record) -> Say:
    assert said.who is not None
    button = undo_button(said.who, kept.id, kept.version)
    return say(wording.REMEMBERED, Span(kept.content, "strong"), buttons=((button,),))
