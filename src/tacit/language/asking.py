"""A language model at an endpoint: tries, repairs, forms of output, time and budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from threading import Event, Lock
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from tacit import limits
from tacit.clock import Clock, system_clock
from tacit.errors import (
    InvalidInput,
    LanguageBadAnswer,
    LanguageFailed,
    LanguageUnavailable,
    MissingExtra,
)
from tacit.language.address import Provider, address
from tacit.language.budget import Budget, Prices
from tacit.language.port import CLOSED, Answer, LanguageModel, Talked
from tacit.language.spoken import spelled, spoken
from tacit.language.tries import Tries, encodable, everything
from tacit.model.talk import Offered, TalkTurn, parse_tools, parse_turns, said

if TYPE_CHECKING:
    from tacit.language.engine import Engine, Form, Reply
    from tacit.language.shape import Shape

T = TypeVar("T")
Output = Literal["auto", "tool", "schema", "prompt"]
OUTPUTS: tuple[Output, ...] = ("auto", "tool", "schema", "prompt")

# In the order in which `auto` tries them. Local servers hold a model to a schema more reliably
# than to a tool; every model of Anthropic's knows tools, and only newer ones schemas.
_FORMS: dict[Provider, tuple[Form, ...]] = {
    "openai": ("schema", "tool", "prompt"),
    "anthropic": ("tool", "prompt"),
}
_IN_JSON = """\
Answer with one JSON object and nothing else: no words before or after it, no Markdown fence.
It must be valid against this JSON schema:
"""
_DECLINED = "the language model {!r} declined to answer: its filter objects"
_AGAIN = """\
That is not a valid answer:
{faults}
Give the whole answer again{how}, corrected{cut}."""


class EndpointModel(LanguageModel):
    """Everything that decides where a question goes comes from the operator, here."""

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = limits.LANGUAGE_TIMEOUT_DEFAULT_SECONDS,
        retries: int = limits.LANGUAGE_RETRIES_DEFAULT_COUNT,
        max_output_tokens: int = limits.LANGUAGE_OUTPUT_DEFAULT_TOKENS,
        temperature: float | None = limits.LANGUAGE_TEMPERATURE_DEFAULT,
        output: Output = "auto",
        prices: Prices | None = None,
        pause: Callable[[float], object] | None = None,
        clock: Clock = system_clock,
    ) -> None:
        if not model.strip() or len(model) > limits.LABEL_MAX_CHARS or not model.isprintable():
            raise InvalidInput("language.model", "is not a model's name; use the endpoint's own")
        shortest, longest = limits.LANGUAGE_TIMEOUT_MIN_SECONDS, limits.LANGUAGE_TIMEOUT_MAX_SECONDS
        _within("timeout_seconds", timeout_seconds, shortest, longest)
        _within("retries", retries, 0, limits.LANGUAGE_RETRIES_MAX_COUNT)
        _within("max_output_tokens", max_output_tokens, 1, limits.LANGUAGE_OUTPUT_MAX_TOKENS)
        _within("temperature", temperature or 0.0, 0, limits.LANGUAGE_TEMPERATURE_MAX)
        if output not in OUTPUTS:
            raise InvalidInput("language.output", f"choose one of {', '.join(OUTPUTS)}")
        self._address = address(provider, base_url, api_key)
        for library in ("pydantic_ai", provider):
            if find_spec(library) is None:
                raise MissingExtra("language", f"a language model of the provider {provider}")
        self.name = model
        self.timeout_seconds = timeout_seconds
        self.retries = retries
        self.max_output_tokens = max_output_tokens
        self.temperature = temperature
        self.prices = prices or Prices()
        self.closed = Event()
        self.pause = self.closed.wait if pause is None else pause
        self._clock = clock
        self._forms = _FORMS[provider] if output == "auto" else (output,)
        self._client: Engine | None = None
        self._building = Lock()

    def __repr__(self) -> str:
        return f"EndpointModel({self._address!r}, {self.name!r})"

    def ask(
        self, instructions: str, text: str, schema: type[T], *, budget: Budget | None
    ) -> Answer[T]:
        most = limits.LANGUAGE_TEXT_MAX_CHARS
        if len(instructions) + len(text) > most:
            raise InvalidInput("text", f"is longer than {most:,} characters")
        engine = self._get_client()
        from tacit.language.shape import shape

        wanted = shape(schema)
        call = _Call(
            attempts=self._start_attempts(engine, budget),
            shape=wanted,
            instructions=encodable(instructions),
            text=encodable(text),
            name=self.name,
            temperature=self.temperature,
        )
        forms = self._forms
        for number, form in enumerate(forms):
            outcome = call.ask_in_form(form, last=number + 1 == len(forms))
            if not isinstance(outcome, LanguageFailed):
                # What was not understood once is not tried before what was, from now on.
                self._forms = (*forms[number:], *forms[:number])
                return outcome
        raise AssertionError("the last form returns or raises")

    def talk(
        self,
        instructions: str,
        turns: Sequence[TalkTurn],
        tools: Sequence[Offered],
        *,
        budget: Budget | None,
    ) -> Talked:
        rules = said("instructions", instructions)
        before, offered = parse_turns(turns), parse_tools(tools)
        sent = spelled(rules, before, offered)
        if sum(map(len, sent)) > limits.LANGUAGE_TEXT_MAX_CHARS:
            most = f"{limits.LANGUAGE_TEXT_MAX_CHARS:,} characters"
            raise InvalidInput("turns", f"are longer than {most} with all else: leave some out")
        engine = self._get_client()
        from tacit.language.talking import Conversation

        tries = self._start_attempts(engine, budget)
        conversation = Conversation(
            instructions=rules,
            turns=before,
            tools=offered,
            max_output_tokens=self.max_output_tokens,
            temperature=self.temperature,
        )
        reply = tries.send(conversation, sent)
        if reply.declined:
            raise LanguageBadAnswer(_DECLINED.format(self.name))
        found = spoken(reply, before, offered)
        return Talked(reply=found, usage=tries.usage, attempts=tries.attempts)

    def close(self) -> None:
        self.closed.set()
        with self._building:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _start_attempts(self, engine: Engine, budget: Budget | None) -> Tries:
        """The time begins here."""
        return Tries(
            engine=engine,
            prices=self.prices,
            budget=budget,
            max_output_tokens=self.max_output_tokens,
            retries=self.retries,
            until=time.monotonic() + self.timeout_seconds,
            closed=self.closed,
            pause=self.pause,
        )

    def _get_client(self) -> Engine:
        """At the first question, and after a fork once more."""
        with self._building:
            if self.closed.is_set():
                raise LanguageUnavailable(CLOSED)
            if self._client is None or not self._client.alive:
                try:
                    from tacit.language.engine import Engine
                except ImportError as error:
                    raise MissingExtra("language", "a language model") from error
                self._client = Engine(self._address, self.name, self._clock)
            return self._client


@dataclass(slots=True, kw_only=True)
class _Call(Generic[T]):
    """One question from beginning to end, in the forms that are tried for it."""

    attempts: Tries
    shape: Shape[T]
    instructions: str
    text: str
    name: str  # of the model
    temperature: float | None

    def ask_in_form(self, form: Form, *, last: bool) -> Answer[T] | LanguageFailed:
        """The answer, or the failure of this form where another may do better."""
        from tacit.language.engine import Reply
        from tacit.language.shape import Met

        turns: tuple[str, ...] = (self.text,)
        for repairs_left in range(limits.LANGUAGE_REPAIRS_MAX_COUNT, -1, -1):
            reply = self._send(form, turns, last=last)
            if not isinstance(reply, Reply):
                return reply
            called = reply.arguments is not None
            found = (
                self.shape.parse_text(reply.text)
                if reply.arguments is None
                else self.shape.parse_arguments(reply.arguments)
            )
            if isinstance(found, Met):
                return Answer(
                    value=found.value,
                    usage=self.attempts.usage,
                    model=self.name,
                    attempts=self.attempts.attempts,
                )
            if reply.declined:
                raise LanguageBadAnswer(_DECLINED.format(self.name))
            if form == "tool" and not called and not last:
                # It never heard of the tool, and with it of the schema.
                return LanguageBadAnswer(f"{self._who} ignores tools")
            if repairs_left:
                turns = (*turns, _quoted(reply), _again(found.sentences, form, cut=reply.cut))
        raise LanguageBadAnswer(
            f"{self._who} gave no answer of the form that was asked for, also when told what was "
            "wrong: use a more able model, raise language.max_output_tokens, or set "
            "language.output to what the server can do"
        )

    @property
    def _who(self) -> str:
        return f"the language model {self.name!r}"

    def _send(self, form: Form, turns: tuple[str, ...], *, last: bool) -> Reply | LanguageFailed:
        from tacit.language.engine import Question

        written = self.instructions
        if form != "tool":  # also beside a schema: servers hold a model to it without telling it
            written = f"{written}\n\n{_IN_JSON}{self.shape.json_text}"
        question = Question(
            instructions=written,
            turns=turns,
            json_schema=self.shape.json_schema,
            form=form,
            max_output_tokens=self.attempts.max_output_tokens,
            temperature=self.temperature,
        )
        sent = (written, self.shape.json_text, *turns)
        if last:
            return self.attempts.send(question, sent)
        return self.attempts.send_in_form(question, sent)


def _quoted(reply: Reply) -> str:
    """The model's own words, to be looked at again. Never empty: some servers refuse that."""
    return everything(reply)[: limits.LANGUAGE_REPAIR_QUOTE_MAX_CHARS].strip() or "(nothing)"


def _again(faults: tuple[str, ...], form: Form, *, cut: bool) -> str:
    return _AGAIN.format(
        faults="\n".join(f"- {fault}" for fault in faults),
        how=" by calling the tool" if form == "tool" else ", as one JSON object",
        cut=", and shorter: it was cut off" if cut else "",
    )


def _within(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise InvalidInput(f"language.{name}", f"is {value}; choose {least:g} to {most:,g}")
