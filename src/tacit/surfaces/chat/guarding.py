"""What a model may not write down itself: a tool would keep it without whom it is kept from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tacit import limits
from tacit.errors import InvalidInput
from tacit.memory import Memory, View
from tacit.records.memory import Sensitivity
from tacit.records.request import Requester
from tacit.surfaces.chat.consent import about_the_same, mentions


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    memory: Memory
    who: Requester | None
    said: str  # the message that is answered
    before: Collection[str]  # what people said there before it
    waiting: Collection[str]  # what waits for the person's yes

    def refuses(self, view: View, written: str, changed: object = None) -> bool:
        """Where the person's own words say who may not hear it, now or a while ago; where it
        waits for their yes, whoever it is kept from; and where it is a memory again that is kept
        from somebody, unless that is the one that is `changed`."""
        if self._is_guarded(self.said) or self._is_guarded(written):
            return True
        if any(about_the_same(written, one, self.who) for one in self.waiting):
            return True
        spoken_of = (one for one in self.before if mentions(one, written, self.who))
        return any(map(self._is_guarded, spoken_of)) or self._is_withheld(view, written, changed)

    def minimum_sensitivity(self, written: str) -> Sensitivity | None:
        """As what it must be kept at the least; None where its words do not say so."""
        try:
            found = self.memory.sensitivity_of(written)
        except InvalidInput:
            return None  # nor can it be kept
        return found if found is Sensitivity.SENSITIVE else None

    def _is_guarded(self, words: str) -> bool:
        try:
            return bool(words.strip()) and self.memory.is_guarded(words)
        except InvalidInput:
            return True  # nobody can tell

    def _is_withheld(self, view: View, written: str, changed: object) -> bool:
        try:
            query = written[: limits.QUERY_MAX_CHARS]
            found = view.recall(query, top_k=limits.CHAT_RESULTS_COUNT)
        except InvalidInput:
            return True
        return any(
            one.memory.withheld_from
            and one.memory.id != changed
            and about_the_same(written, one.memory.content, self.who)
            for one in found
        )
