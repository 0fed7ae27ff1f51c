"""The language model that learns, to talk with: for agents that run where the memory is open."""

from __future__ import annotations

from collections.abc import Sequence

from tacit import limits
from tacit.errors import InvalidInput
from tacit.facade.opened import Opened
from tacit.learning.extraction.holds import has_hold
from tacit.learning.extraction.locale import AUTO
from tacit.learning.pipeline import choose_locale
from tacit.lifecycle.inferred import estimate_sensitivity, make_budget
from tacit.records.conversation import TalkReply, TalkTurn, ToolSpec
from tacit.records.memory import Sensitivity
from tacit.records.validation import check_storable


class MemoryTalking(Opened):
    def has_model(self) -> bool:
        """Whether there is a language model to talk with."""
        return self._runtime.model is not None

    def is_guarded(self, words: str) -> bool:
        """Whether these words say themselves that not everybody may hear them: a surprise, a
        confidence. An agent leaves such a message to `learn`, which keeps it from whom it names;
        what a tool writes down instead would not."""
        return has_hold(_words(words))

    def sensitivity_of(self, words: str) -> Sensitivity:
        """How sensitive a fact is by its words: personal at the least."""
        said = _words(words)
        return estimate_sensitivity(said, choose_locale(AUTO, said))

    def talk(
        self, instructions: str, turns: Sequence[TalkTurn], tools: Sequence[ToolSpec] = ()
    ) -> TalkReply:
        """What the model says next, or which of these tools it calls. It hears what is given here
        and nothing else: what of memory goes in is up to the caller. Blocks for as long as
        `language.timeout_seconds`, and spends from this space's budget for the day. Raises a
        `LanguageFailed` where there is no answer."""
        model = self._runtime.model
        if model is None:
            raise InvalidInput("language", "no model is set; choose one with language.provider")
        budget = make_budget(self._storage, self._space, self._runtime.allowance)
        return model.talk(instructions, turns, tools, budget=budget).reply


def _words(given: object) -> str:
    return check_storable("words", given, limits.LANGUAGE_TEXT_MAX_CHARS)
