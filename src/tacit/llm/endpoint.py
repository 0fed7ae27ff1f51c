"""A language model behind an HTTP endpoint: retries, repairs, output forms and budget."""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal
from importlib.util import find_spec
from itertools import chain, count
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit, urlunsplit

from tacit import limits
from tacit.clock import Clock, system_clock
from tacit.errors import InvalidInput, LanguageBadAnswer, LanguageFailed, LanguageUnavailable, MissingExtra
from tacit.http import backoff_seconds, check_api_key, is_model_name, parse_base_url
from tacit.llm.budget import Allowance, Budget, Prices, Usage
from tacit.llm.language_model import CLOSED_MESSAGE, LanguageModel, ModelAnswer, TalkResult
from tacit.records.conversation import (
    TOOL_NAME,
    ModelTurn,
    TalkReply,
    TalkTurn,
    ToolCall,
    ToolSpec,
    UserTurn,
    dump_json_object,
    make_encodable,
    parse_tools,
    parse_turns,
)
from tacit.records.token_counts import token_upper_bound

if TYPE_CHECKING:
    from tacit.llm.answer_schema import AnswerSchema
    from tacit.llm.client import ModelClient, ModelQuestion, ModelReply, OutputForm, RawToolCall, RequestFailure


Provider = Literal["openai", "anthropic"]
_PROVIDER_URLS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
# Endings that people paste, and that the library adds itself.
_PASTED_ENDINGS = {"openai": ("/chat/completions",), "anthropic": ("/v1/messages", "/v1")}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAddress:
    """The URL and API key of an endpoint. The key is not in `repr`, and is sent to this URL only."""

    provider: Provider
    url: str
    key: str | None = field(repr=False)

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def is_home(self) -> bool:
        """Whether this is the provider's own API, not a compatible one."""
        return self.url == _PROVIDER_URLS[self.provider]


def parse_address(provider: Provider, base_url: str | None, key: str | None) -> ModelAddress:
    url = _parse_base_url(provider, base_url) if base_url else _PROVIDER_URLS[provider]
    if url == _PROVIDER_URLS[provider] and not key:
        raise InvalidInput(
            "language.api_key_env",
            f"is needed for {_PROVIDER_URLS[provider]}: name the variable that holds the key, or set "
            "language.base_url to a server of your own",
        )
    checked = check_api_key("language.api_key_env", key, "names a variable that ")
    return ModelAddress(provider=provider, url=url, key=checked)


def _parse_base_url(provider: Provider, base_url: str) -> str:
    parts = parse_base_url("language.base_url", base_url.strip(), key_setting="language.api_key_env")
    path = parts.path.rstrip("/")
    for ending in _PASTED_ENDINGS[provider]:
        path = path.removesuffix(ending)
    if provider == "openai" and not path:
        path = "/v1"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


@dataclass(slots=True)
class RequestAttempts:
    """The requests of one call: remaining time, retries and budget, and usage so far."""

    model: EndpointModel
    client: ModelClient
    budget: Budget | None
    until: float  # deadline of all requests, on the monotonic clock
    retried: int = 0
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)

    def send(
        self, question: ModelQuestion, sent: Iterable[str], *, another: bool = False
    ) -> ModelReply | LanguageFailed:
        """Return a reply; retry transient failures. `sent` is all text of the request.

        With `another` return, and do not raise, a failure that another output form may avoid.
        """
        from tacit.llm.client import ModelReply

        sent_tokens = limits.LANGUAGE_TEMPLATE_TOKENS + sum(map(token_upper_bound, sent))
        while True:
            outcome = self._send_once(question, sent_tokens)
            if isinstance(outcome, ModelReply):
                return outcome
            if outcome.other_form and another:
                return outcome.error
            if not outcome.transient or self.retried == self.model.retries:
                raise outcome.error
            self.retried += 1
            default = limits.LANGUAGE_BACKOFF_SECONDS * 2 ** (self.retried - 1)
            default = min(default, limits.LANGUAGE_WAIT_MAX_SECONDS)
            wait = backoff_seconds(outcome.wait_seconds, default)
            if time.monotonic() + wait >= self.until:
                raise outcome.error
            self.model.pause(wait)

    def _send_once(self, question: ModelQuestion, sent_tokens: int) -> ModelReply | RequestFailure:
        from tacit.llm.client import ModelReply

        model = self.model
        if model.closed.is_set():
            raise LanguageUnavailable(CLOSED_MESSAGE)
        if self.budget is not None:
            self.budget.check_covers(model.prices.usage(sent_tokens, model.max_output_tokens))
        self.attempts += 1
        outcome = self.client.send(question, self.until)
        if isinstance(outcome, ModelReply):
            most = model.max_output_tokens if outcome.cut else token_upper_bound(reply_text(outcome))
            tokens = outcome.tokens_in or sent_tokens, outcome.tokens_out or most
        elif outcome.billable:
            tokens = sent_tokens, 0
        else:
            return outcome
        usage = model.prices.usage(*tokens)
        self.usage += usage
        if self.budget is not None:
            self.budget.record(usage)
        return outcome


def reply_text(reply: ModelReply) -> str:
    """Return all text of a reply: the arguments of the answer tool, else text and other calls."""
    if reply.arguments is not None:
        return _dump_arguments(reply.arguments)
    return "\n".join([replace_surrogates(reply.text), *(_dump_arguments(call.arguments) for call in reply.calls)])


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded and which errors would quote."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _dump_arguments(arguments: object) -> str:
    try:
        return replace_surrogates(arguments if isinstance(arguments, str) else json.dumps(arguments))
    except RecursionError:
        return "(too deep)"


# Replies of a conversation. They are untrusted input, made safe to pass on.

_UNKNOWN_TOOL = "unknown_tool"  # replaces a name that cannot be sent back
_KEPT_CONTROLS = frozenset("\n\t")


def list_sent_texts(instructions: str, turns: Iterable[TalkTurn], tools: Iterable[ToolSpec]) -> tuple[str, ...]:
    """Return every text that a conversation sends, to count its tokens."""
    sent = [instructions]
    for turn in turns:
        sent.append(turn.text)
        if isinstance(turn, ModelTurn):
            sent += [dump_json_object("turns", call.arguments) for call in turn.calls]
    for tool in tools:
        sent += [tool.name, tool.description, dump_json_object("tools", tool.parameters)]
    return tuple(sent)


def parse_talk_reply(reply: ModelReply, turns: Iterable[TalkTurn], tools: Iterable[ToolSpec]) -> TalkReply:
    text = _strip_controls(reply.text)
    most = limits.TALK_ANSWER_MAX_CHARS
    used = {call.id for turn in turns if isinstance(turn, ModelTurn) for call in turn.calls}
    names = {one.name for one in tools}
    calls: list[ToolCall] = []
    for number, call in enumerate(reply.calls[: limits.TALK_CALLS_MAX_COUNT], 1):
        # The last call of a truncated reply is incomplete.
        half = reply.cut and number == len(reply.calls)
        calls.append(_parse_call(call, names, used, half=half))
    return TalkReply(text=text[:most], calls=tuple(calls), cut=reply.cut or len(text) > most)


def _parse_call(call: RawToolCall, names: set[str], used: set[str], *, half: bool) -> ToolCall:
    free = (f"call_{number}" for number in count(len(used) + 1))
    fits = TOOL_NAME.fullmatch(call.id) and call.id not in used
    id = call.id if fits else next(one for one in free if one not in used)
    used.add(id)
    if call.name not in names:
        shown = call.name if TOOL_NAME.fullmatch(call.name) else _UNKNOWN_TOOL
        return ToolCall(id=id, name=shown, broken=True)
    arguments = None if half else _parse_call_arguments(call.arguments)
    if arguments is None:
        return ToolCall(id=id, name=call.name, broken=True)
    return ToolCall(id=id, name=call.name, arguments=arguments)


def _parse_call_arguments(arguments: str | dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the JSON object, or None if it is none or cannot be sent back."""
    if arguments is None or arguments == "":
        return {}  # some servers send this for a tool without arguments
    try:
        plain = arguments if isinstance(arguments, str) else json.dumps(arguments)
        if len(plain) > limits.TALK_CALL_MAX_CHARS:
            return None
        found = json.loads(plain, parse_constant=_refuse_constant)
        # The parser accepts numbers that overflow and lone surrogates; the encoder does not.
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and not _is_too_deep(found) else None


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(limits.TALK_CALL_MAX_DEPTH):
        pairs = (one.values() for one in level if isinstance(one, dict))
        items = (one for one in level if isinstance(one, list))
        level = [*chain.from_iterable(pairs), *chain.from_iterable(items)]
    return bool(level)


def _refuse_constant(word: str) -> object:
    raise ValueError(word)


def _strip_controls(text: str) -> str:
    """Remove control characters except line feeds and tabs."""
    plain = replace_surrogates(text).replace("\r\n", "\n")
    return "".join(c for c in plain if c in _KEPT_CONTROLS or unicodedata.category(c) != "Cc")


# The model.

T = TypeVar("T")
OutputSetting = Literal["auto", "tool", "schema", "prompt"]
OUTPUT_SETTINGS: tuple[OutputSetting, ...] = ("auto", "tool", "schema", "prompt")

# In the order in which `auto` tries them. Local servers enforce a schema more reliably than a tool;
# every Anthropic model supports tools, and only newer ones schemas.
_FORMS_BY_PROVIDER: dict[Provider, tuple[OutputForm, ...]] = {
    "openai": ("schema", "tool", "prompt"),
    "anthropic": ("tool", "prompt"),
}
_JSON_INSTRUCTIONS = """\
Answer with one JSON object and nothing else: no words before or after it, no Markdown fence.
It must be valid against this JSON schema:
"""
_DECLINED_MESSAGE = "the language model {!r} declined to answer: its filter objects"
_REPAIR_PROMPT = """\
That is not a valid answer:
{faults}
Give the whole answer again{how}, corrected{cut}."""


class EndpointModel(LanguageModel):
    """A model at an endpoint of the operator, with retries, repairs, output forms and budget."""

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
        output: OutputSetting = "auto",
        prices: Prices | None = None,
        pause: Callable[[float], object] | None = None,
        clock: Clock = system_clock,
    ) -> None:
        if not is_model_name(model):
            raise InvalidInput("language.model", "is not a model's name; use the endpoint's own")
        shortest, longest = limits.LANGUAGE_TIMEOUT_MIN_SECONDS, limits.LANGUAGE_TIMEOUT_MAX_SECONDS
        _check_range("timeout_seconds", timeout_seconds, shortest, longest)
        _check_range("retries", retries, 0, limits.LANGUAGE_RETRIES_MAX_COUNT)
        _check_range("max_output_tokens", max_output_tokens, 1, limits.LANGUAGE_OUTPUT_MAX_TOKENS)
        _check_range("temperature", temperature or 0.0, 0, limits.LANGUAGE_TEMPERATURE_MAX)
        if output not in OUTPUT_SETTINGS:
            raise InvalidInput("language.output", f"choose one of {', '.join(OUTPUT_SETTINGS)}")
        self._address = parse_address(provider, base_url, api_key)
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
        self._forms = _FORMS_BY_PROVIDER[provider] if output == "auto" else (output,)
        self._client: ModelClient | None = None
        self._building = Lock()

    def __repr__(self) -> str:
        return f"EndpointModel({self._address!r}, {self.name!r})"

    def ask(self, instructions: str, text: str, schema: type[T], *, budget: Budget | None) -> ModelAnswer[T]:
        most = limits.LANGUAGE_TEXT_MAX_CHARS
        if len(instructions) + len(text) > most:
            raise InvalidInput("text", f"is longer than {most:,} characters")
        attempts = self._start_attempts(budget)
        from tacit.llm.answer_schema import schema_of

        shape = schema_of(schema)
        written, said = replace_surrogates(instructions), replace_surrogates(text)
        forms = self._forms
        for number, form in enumerate(forms):
            last = number + 1 == len(forms)
            outcome = self._ask_in_form(attempts, shape, form, written, said, last=last)
            if not isinstance(outcome, LanguageFailed):
                # From now on, try the form that worked first.
                self._forms = (*forms[number:], *forms[:number])
                return outcome
        raise AssertionError("the last form returns or raises")

    def talk(
        self, instructions: str, turns: Sequence[TalkTurn], tools: Sequence[ToolSpec], *, budget: Budget | None
    ) -> TalkResult:
        rules = make_encodable("instructions", instructions)
        before, offered = parse_turns(turns), parse_tools(tools)
        sent = list_sent_texts(rules, before, offered)
        if sum(map(len, sent)) > limits.LANGUAGE_TEXT_MAX_CHARS:
            most = f"{limits.LANGUAGE_TEXT_MAX_CHARS:,} characters"
            raise InvalidInput("turns", f"are longer than {most} with all else: leave some out")
        attempts = self._start_attempts(budget)
        from tacit.llm.client import ModelQuestion

        reply = attempts.send(ModelQuestion(instructions=rules, turns=before, tools=offered), sent)
        assert not isinstance(reply, LanguageFailed)
        if reply.declined:
            raise LanguageBadAnswer(_DECLINED_MESSAGE.format(self.name))
        found = parse_talk_reply(reply, before, offered)
        return TalkResult(reply=found, usage=attempts.usage, attempts=attempts.attempts)

    def close(self) -> None:
        self.closed.set()
        with self._building:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _start_attempts(self, budget: Budget | None) -> RequestAttempts:
        """Start the timeout of a call."""
        client = self._get_client()
        return RequestAttempts(self, client, budget, time.monotonic() + self.timeout_seconds)

    def _get_client(self) -> ModelClient:
        """Return the client; create it at the first request and after a fork."""
        with self._building:
            if self.closed.is_set():
                raise LanguageUnavailable(CLOSED_MESSAGE)
            if self._client is None or not self._client.alive:
                try:
                    from tacit.llm.client import ModelClient
                except ImportError as error:
                    raise MissingExtra("language", "a language model") from error
                self._client = ModelClient(
                    self._address, self.name, self._clock, self.max_output_tokens, self.temperature
                )
            return self._client

    def _ask_in_form(
        self,
        attempts: RequestAttempts,
        shape: AnswerSchema[T],
        form: OutputForm,
        instructions: str,
        text: str,
        *,
        last: bool,
    ) -> ModelAnswer[T] | LanguageFailed:
        """Return the answer, or the failure of this form if another may succeed."""
        from tacit.llm.answer_schema import AnswerFault
        from tacit.llm.client import ModelQuestion, ModelReply

        if form != "tool":  # also with a schema: servers enforce it without showing it to the model
            instructions = f"{instructions}\n\n{_JSON_INSTRUCTIONS}{shape.json_text}"
        turns: tuple[TalkTurn, ...] = (UserTurn(text),)
        for repairs_left in range(limits.LANGUAGE_REPAIRS_MAX_COUNT, -1, -1):
            question = ModelQuestion(instructions=instructions, turns=turns, json_schema=shape.json_schema, form=form)
            sent = (instructions, shape.json_text, *(turn.text for turn in turns))
            reply = attempts.send(question, sent, another=not last)
            if not isinstance(reply, ModelReply):
                return reply
            arguments = reply.arguments
            found = shape.parse_text(reply.text) if arguments is None else shape.parse_arguments(arguments)
            if not isinstance(found, AnswerFault):
                return ModelAnswer(value=found, usage=attempts.usage, model=self.name, attempts=attempts.attempts)
            if reply.declined:
                raise LanguageBadAnswer(_DECLINED_MESSAGE.format(self.name))
            if form == "tool" and arguments is None and not last:
                # The server ignored the tool, so the model did not get the schema.
                return LanguageBadAnswer(f"the language model {self.name!r} ignores tools")
            if repairs_left:
                # Never an empty turn: some servers refuse that.
                quote = reply_text(reply)[: limits.LANGUAGE_REPAIR_QUOTE_MAX_CHARS].strip()
                prompt = _build_repair_prompt(found.sentences, form, cut=reply.cut)
                turns = (*turns, ModelTurn(quote or "(nothing)"), UserTurn(prompt))
        raise LanguageBadAnswer(
            f"the language model {self.name!r} gave no answer of the form that was asked for, also "
            "when told what was wrong: use a more able model, raise language.max_output_tokens, or "
            "set language.output to what the server can do"
        )


def _build_repair_prompt(faults: tuple[str, ...], form: OutputForm, *, cut: bool) -> str:
    return _REPAIR_PROMPT.format(
        faults="\n".join(f"- {fault}" for fault in faults),
        how=" by calling the tool" if form == "tool" else ", as one JSON object",
        cut=", and shorter: it was cut off" if cut else "",
    )


def _check_range(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise InvalidInput(f"language.{name}", f"is {value}; choose {least:g} to {most:,g}")


def create_allowance(tokens_per_day: int | None, cost_per_day: float | None) -> Allowance:
    """Return the daily allowance of a space."""
    if cost_per_day is None:
        return Allowance(tokens_per_day=tokens_per_day)
    try:
        micros = int((Decimal(str(cost_per_day)) * 1_000_000).to_integral(ROUND_FLOOR))
    except (ArithmeticError, ValueError):
        micros = -1
    if micros < 0:
        raise InvalidInput("language.cost_per_day", "is not an amount of money: use 0 or more")
    return Allowance(tokens_per_day=tokens_per_day, cost_micros_per_day=micros)


def read_api_key(variable: str, environ: Mapping[str, str]) -> str | None:
    """Return the API key in a variable of the environment; None where none is named."""
    if not variable:
        return None
    key = environ.get(variable, "").strip()
    if not key:  # do not show the name: some people set the key itself here
        raise InvalidInput(
            "language.api_key_env", "names a variable of the environment that is not set: set it, or correct the name"
        )
    return key
