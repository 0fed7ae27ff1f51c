"""One question on its way: what is left of its time, tries and budget, and what it took so far."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

from tacit import limits
from tacit.errors import LanguageFailed, LanguageUnavailable
from tacit.language.budget import Budget, Prices, Usage
from tacit.language.port import CLOSED
from tacit.model.tokens import at_most

if TYPE_CHECKING:
    from tacit.language.engine import Engine, Question, Reply
    from tacit.language.talking import Conversation
    from tacit.language.wire import Trouble


@dataclass(slots=True, kw_only=True)
class Tries:
    engine: Engine
    prices: Prices
    budget: Budget | None
    max_output_tokens: int
    retries: int
    until: float  # on the monotonic clock, for all of it together
    closed: Event
    pause: Callable[[float], object]
    retried: int = 0
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)

    def send(self, question: Question | Conversation, sent: Iterable[str]) -> Reply:
        """A reply after as many tries as are left. `sent` is all the text that it holds."""
        found = self.send_in_form(question, sent, another=False)
        if isinstance(found, LanguageFailed):
            raise found
        return found

    def send_in_form(
        self, question: Question | Conversation, sent: Iterable[str], *, another: bool = True
    ) -> Reply | LanguageFailed:
        """The same for a question that can be put in another form, too: what was wrong is returned
        where that may be understood."""
        from tacit.language.engine import Reply

        sent_tokens = limits.LANGUAGE_TEMPLATE_TOKENS + sum(map(at_most, sent))
        while True:
            outcome = self._send_once(question, sent_tokens)
            if isinstance(outcome, Reply):
                return outcome
            if outcome.other_form and another:
                return outcome.error
            if not outcome.transient or self.retried == self.retries:
                raise outcome.error
            self.retried += 1
            wait = _wait_seconds(outcome.wait_seconds, self.retried)
            if time.monotonic() + wait >= self.until:
                raise outcome.error
            self.pause(wait)

    def _send_once(self, question: Question | Conversation, sent_tokens: int) -> Reply | Trouble:
        from tacit.language.engine import Reply

        if self.closed.is_set():
            raise LanguageUnavailable(CLOSED)
        if self.budget is not None:
            self.budget.check_covers(self.prices.usage(sent_tokens, self.max_output_tokens))
        self.attempts += 1
        outcome = self.engine.send(question, self.until)
        if isinstance(outcome, Reply):
            said_tokens = self.max_output_tokens if outcome.cut else at_most(everything(outcome))
            self._record_usage(outcome.tokens_in or sent_tokens, outcome.tokens_out or said_tokens)
        elif outcome.billable:
            self._record_usage(sent_tokens, 0)
        return outcome

    def _record_usage(self, tokens_in: int, tokens_out: int) -> None:
        usage = self.prices.usage(tokens_in, tokens_out)
        self.usage += usage
        if self.budget is not None:
            self.budget.record(usage)


def everything(reply: Reply) -> str:
    """Everything that the model wrote: by the tool of a question if it called that, else in words
    and in the calls of other tools."""
    if reply.arguments is not None:
        return _spelled(reply.arguments)
    return "\n".join([encodable(reply.text), *(_spelled(call.arguments) for call in reply.calls)])


def encodable(text: str) -> str:
    """Without halves of characters, which no encoding can send and errors would quote."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _spelled(arguments: object) -> str:
    try:
        return encodable(arguments if isinstance(arguments, str) else json.dumps(arguments))
    except RecursionError:  # it could be read, and just so
        return "(too deep)"


def _wait_seconds(asked: float | None, attempt: int) -> float:
    """What was asked for, or twice as long each time; not quite the same for everybody."""
    if asked is not None:
        return asked + random.uniform(0.0, min(asked, 1.0) / 10)
    doubled = limits.LANGUAGE_BACKOFF_SECONDS * 2 ** (attempt - 1)
    doubled = min(doubled, limits.LANGUAGE_WAIT_MAX_SECONDS)
    return random.uniform(doubled / 2, doubled)
