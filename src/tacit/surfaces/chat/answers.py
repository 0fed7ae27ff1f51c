"""Answers without a language model: “remember …”, questions to memory, and consent by buttons."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from tacit import chat_limits
from tacit.errors import InvalidInput
from tacit.memory import DisabledView, Memory, View
from tacit.model.memory import Memory as Record
from tacit.model.results import Bullet
from tacit.model.words import ChatKind
from tacit.surfaces.chat import wording
from tacit.surfaces.chat.agent import name_of
from tacit.surfaces.chat.calling import taught
from tacit.surfaces.chat.commands import fits, undo_button
from tacit.surfaces.chat.consent import Consent, about_the_same
from tacit.surfaces.chat.heard import Said
from tacit.surfaces.chat.say import Say, Span, say, worded

Noticed = frozenset[tuple[str, int]]  # memories by id, and in which version
# With a name beside the question everything about that person is closer to it. Measured with two
# common names and ten questions: most of what was meant at 0.65 and above, anything else hardly.
_CLOSE_MEANING_NAMED = 0.65


@dataclass(frozen=True, slots=True)
class Answers:
    memory: Memory
    consent: Consent

    def noticed(self, view: View | DisabledView, said: Said) -> Noticed:
        """What there is before a message is learned that asks for something to be remembered: in a
        group nobody is told which message a memory is from."""
        if said.chat.kind is ChatKind.PRIVATE or not wording.asks_to_remember(said.text):
            return frozenset()
        return frozenset((one.id, one.version) for one in _newest(view))

    def answer(
        self, view: View | DisabledView, said: Said, before: Noticed, *, learned: bool
    ) -> list[Say]:
        """To a message that has been handed over to be learned, if it could be."""
        if isinstance(view, DisabledView):
            return [say(wording.NOBODY)]
        if not said.text.strip():
            return []
        settled = self._settled(view, said)
        if settled:
            return settled
        alone = said.chat.kind is ChatKind.PRIVATE
        if wording.asks_to_remember(said.text):
            return self._remembered(view, said, before) if learned or alone else []
        if wording.is_question(said.text):
            return [known(view, said)]
        if learned:
            self._caught_up(said)
        asked = self.consent.with_buttons(view, said.who, keeping=True)
        return asked if asked or not alone else self._nothing_new(view, said)

    def _nothing_new(self, view: View, said: Said) -> list[Say]:
        """Where nobody else listens, not even a line that taught nothing is met with silence."""
        if said.who is not None:
            asked_before = self.consent.again(view, said.who, said.text)
            if asked_before:
                return asked_before
        kept = taught(view, said)
        if kept:  # without a question, as it is set, or because it changed something known
            return [_told(said, one) for one in kept]
        late = self.memory.waiting().turns
        return [say(*worded(wording.STILL_READING if late else wording.NOTHING_NEW))]

    def _settled(self, view: View, said: Said) -> list[Say]:
        """A plain yes or no. Where it is not clear what it is meant for, that is asked."""
        yes = wording.answered(said.text)
        if yes is None or said.who is None:
            return []
        asked = self.consent.waiting(view, said.who)
        if len(asked) == 1 and self.consent.was_asked(said.who, asked[0].id):
            key = f"{said.channel}:{said.update}"
            return [self.consent.settled(view, asked[0].id, key, yes=yes)]
        open_ones = self.consent.again(view, said.who)
        return [say(wording.WHICH), *open_ones] if len(open_ones) > 1 else open_ones

    def _remembered(self, view: View, said: Said, before: Noticed) -> list[Say]:
        """With what was understood, as far as it may be heard where it was said."""
        self._caught_up(said)
        alone = said.chat.kind is ChatKind.PRIVATE
        kept = taught(view, said) if alone else _spoken(view, said, before)
        asked = self.consent.with_buttons(view, said.who, keeping=True)
        if kept:
            return [*(_told(said, one) for one in kept), *asked]
        if asked:
            return asked
        if not alone:
            return [say(*worded(wording.NOTED_IN_PRIVATE))]
        late = self.memory.waiting().turns
        return [say(*worded(wording.NOTED if late else wording.NOT_UNDERSTOOD))]

    def _caught_up(self, said: Said) -> None:
        with suppress(InvalidInput):  # learning is switched off here
            self.memory.catch_up(chat_limits.CHAT_LEARNED_WAIT_SECONDS, thread=said.conversation)


def known(view: View, said: Said) -> Say:
    """With what has to do with the question. Whoever asks about themselves is then asked about by
    name as well: that the name fits is not enough."""
    text = said.text[: chat_limits.CHAT_TEXT_MAX_CHARS]
    named = f"{text} {name_of(said.who)}"
    if wording.asks_about_all(text):
        found = _recalled(view, named)
    else:
        found = {id: one for id, one in _recalled(view, text).items() if _fits(one)}
        if not found and wording.is_about_me(text):
            found = {id: one for id, one in _recalled(view, named).items() if _is_close(one)}
    if not found:
        return say(wording.UNKNOWN)
    lines = (f"\n• {one.text.partition('] ')[2] or one.text}" for one in found.values())
    return say(wording.KNOWN, *islice(lines, chat_limits.CHAT_FOUND_COUNT))


def _recalled(view: View, query: str) -> dict[str, Bullet]:
    found = view.query(query, top_k=chat_limits.CHAT_FOUND_COUNT, form="full")
    return {one.id: one for one in found}


def _fits(one: Bullet) -> bool:
    """What is only related to something else that was found, was not asked for."""
    return one.recalled is not None and fits(one.recalled)


def _is_close(one: Bullet) -> bool:
    return one.recalled is not None and one.recalled.signals.meaning >= _CLOSE_MEANING_NAMED


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
    return view.list(limit=chat_limits.CHAT_LOOKED_AT_COUNT)


def _told(said: Said, kept: Record) -> Say:
    assert said.who is not None
    button = undo_button(said.who, kept.id, kept.version)
    return say(wording.REMEMBERED, Span(kept.content, "strong"), buttons=((button,),))
