"""Send one request through pydantic_ai, in an event loop of its own thread."""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal, TypeVar, cast

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from tacit import limits
from tacit.clock import Clock
from tacit.errors import LanguageBadAnswer, LanguageFailed, LanguageRefused, LanguageUnavailable
from tacit.http import find_error_code, parse_json_object, parse_retry_after
from tacit.llm.endpoint import ModelAddress
from tacit.llm.language_model import CLOSED_MESSAGE
from tacit.records.conversation import ModelTurn, TalkTurn, ToolSpec, ToolTurn, UserTurn

# The libraries log whole prompts at debug level. Records of our own thread are dropped.

CLIENT_THREAD_NAME = "tacit-language"
_LIBRARIES = ("openai", "anthropic", "httpx2", "httpcore2", "pydantic_ai")


class _ClientThreadFilter(logging.Filter):
    """Filter by thread, so that an application that uses the same libraries keeps its records."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.threadName != CLIENT_THREAD_NAME


_FILTER = _ClientThreadFilter()


def silence_libraries() -> None:
    """Add the filter to the loggers of the libraries, which must be imported before."""
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.split(".")[0] in _LIBRARIES:
            logger.addFilter(_FILTER)  # twice is once


ResultT = TypeVar("ResultT")


class EventLoopThread:
    """An event loop in its own thread. Callers may be in any thread, also one with a loop."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name=CLIENT_THREAD_NAME, daemon=True)
        self._thread.start()
        self._ready.wait()

    @property
    def alive(self) -> bool:
        """False after a fork, which does not copy threads."""
        return self._thread.is_alive()

    def run(self, work: Callable[[], Coroutine[Any, Any, ResultT]], timeout_seconds: float) -> ResultT:
        """Return the result of the coroutine, which must end by itself within the timeout."""
        future: Future[ResultT] = Future()
        try:
            self._loop.call_soon_threadsafe(self._begin, work, future)
            return future.result(timeout_seconds + limits.LANGUAGE_STOP_WAIT_MAX_SECONDS)
        except (CancelledError, TimeoutError, RuntimeError):
            pass  # the loop is closed
        raise LanguageUnavailable(CLOSED_MESSAGE)

    def close(self) -> None:
        """Cancel running tasks and end the thread."""
        self._closing = True
        if self.alive:
            try:
                self._loop.call_soon_threadsafe(self._stop.set)
            except RuntimeError:
                return  # closed already
            self._thread.join(limits.LANGUAGE_STOP_WAIT_MAX_SECONDS)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._ready.set()
        await self._stop.wait()  # what still runs then is cancelled by `asyncio.run`

    def _begin(self, work: Callable[[], Coroutine[Any, Any, ResultT]], future: Future[ResultT]) -> None:
        if self._closing:
            future.cancel()
            return
        # Create the coroutine here: one that is never awaited would warn.
        task = self._loop.create_task(work())

        def done(task: asyncio.Task[ResultT]) -> None:
            if task.cancelled():
                future.cancel()
            elif (problem := task.exception()) is not None:
                future.set_exception(problem)
            else:
                future.set_result(task.result())

        task.add_done_callback(done)


# The transport below the library limits host, headers, key, size and number of requests. Free text
# of the endpoint never reaches an error, and the library sees complete responses only.

# Other headers of the library describe the machine or come from its environment.
_ALLOWED_HEADERS = ("content-type", "accept", "anthropic-version", "anthropic-beta")
_REFUSALS = {
    400: "does not accept the request: check language.model, language.output and language.temperature",
    401: "refuses the key: check the variable that language.api_key_env names",
    402: "wants to be paid first: look at the account there",
    403: "refuses the key: check what it may be used for",
    404: "has no such address or model: check language.base_url and language.model",
    413: "finds the question too long: use a model that reads more",
}
_REFUSALS[422] = _REFUSALS[400]
_TRANSIENT_STATUSES = {408, 409, 425, 429}
# An exhausted account answers with the status of a busy endpoint, but retrying does not help.
_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "billing_error"}
# Statuses with which servers refuse an unsupported output form. Some answer 404 or 500 instead; then
# the text of the refusal decides.
_OTHER_FORM_STATUSES = {400, 422, 501}
_OTHER_FORM_WORDS = re.compile(rb"tool|response_format|json_schema|grammar|jinja|output_config")
_OTHER_CAUSE_CODES = {"context_length_exceeded", "model_not_found", "invalid_api_key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailure:
    error: LanguageFailed  # raised if no attempt is left
    transient: bool = False  # a retry may succeed
    wait_seconds: float | None = None
    other_form: bool = False  # another output form may work
    billable: bool = False  # the endpoint accepted the request and may charge for it


@dataclass(slots=True)
class HttpExchange:
    """The state of one request."""

    sent: bool = False
    failure: RequestFailure | None = None


CURRENT_EXCHANGE: ContextVar[HttpExchange] = ContextVar("tacit_language_exchange")


class RequestAborted(Exception):
    """Stop the library; the exchange holds the failure."""

    def __init__(self, failure: RequestFailure | None = None) -> None:
        super().__init__()
        self.failure = failure


class BoundedTransport(httpx2.AsyncBaseTransport):
    def __init__(self, address: ModelAddress, clock: Clock) -> None:
        self._address = address
        self._origin = _origin(httpx2.URL(address.url))
        self._clock = clock
        self.who = f"the language model at {address.host}"
        # trust_env: the environment could set a proxy or other certificate authorities.
        # Without TLS, skip loading the certificate authorities, which is slow.
        secure = self._origin[0] == "https" or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._inner = httpx2.AsyncHTTPTransport(verify=secure, trust_env=False, retries=0)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = CURRENT_EXCHANGE.get()
        if exchange.sent or _origin(request.url) != self._origin:
            raise RequestAborted  # the library must not retry or use another host
        exchange.sent = True
        try:
            response = await self._inner.handle_async_request(self._rewrite_request(request))
            try:
                body = await self._body(response)
            finally:
                await response.aclose()
        except RequestAborted as found:
            exchange.failure = found.failure
        except httpx2.HTTPError as error:
            exchange.failure = self._unreachable(error)
        if exchange.failure is not None:
            raise RequestAborted
        headers = {"content-type": "application/json"}
        return httpx2.Response(200, headers=headers, content=body)

    def _rewrite_request(self, request: httpx2.Request) -> httpx2.Request:
        headers = {name: request.headers[name] for name in _ALLOWED_HEADERS if name in request.headers}
        headers |= {"accept-encoding": "identity", "user-agent": "tacit"}
        if self._address.key is not None:
            if self._address.provider == "anthropic":
                headers["x-api-key"] = self._address.key
            else:
                headers["authorization"] = f"Bearer {self._address.key}"
        return httpx2.Request(request.method, request.url, headers=headers, content=request.content)

    async def _body(self, response: httpx2.Response) -> bytes:
        if response.status_code != 200:
            raise RequestAborted(await self._refusal(response))
        if response.headers.get("content-encoding", "identity") != "identity":
            problem = f"{self.who} sends a compressed response: turn off compression there"
            raise RequestAborted(RequestFailure(error=LanguageRefused(problem), billable=True))
        body, whole = await _read_body(response, limits.LANGUAGE_ANSWER_MAX_BYTES)
        if not whole:
            problem = (
                f"{self.who} answers with more than {limits.LANGUAGE_ANSWER_MAX_BYTES:,} bytes: "
                "check language.base_url, and lower language.max_output_tokens"
            )
            raise RequestAborted(RequestFailure(error=LanguageBadAnswer(problem), billable=True))
        if parse_json_object(body) is None:
            raise RequestAborted(self.malformed_answer())
        return body

    def malformed_answer(self) -> RequestFailure:
        """Return the failure for a malformed response, such as a gateway's error page."""
        problem = (
            f"{self.who} does not answer in the form of the {self._address.provider} API: check "
            "language.provider and language.base_url"
        )
        return RequestFailure(error=LanguageUnavailable(problem), transient=True, billable=True)

    async def _refusal(self, response: httpx2.Response) -> RequestFailure:
        status = response.status_code
        body, _ = await _read_body(response, limits.LANGUAGE_REFUSAL_MAX_BYTES)
        code = find_error_code(body, ["code", "type"], self._address.key)
        told = f"({status}{', ' + code if code else ''})"
        if 300 <= status < 400:
            problem = f"{self.who} {told} sends us elsewhere, which is not followed: set \
language.base_url to where it leads"
            return RequestFailure(error=LanguageRefused(problem))
        other_form = code not in _OTHER_CAUSE_CODES and (
            status in _OTHER_FORM_STATUSES or (status in (404, 500) and _OTHER_FORM_WORDS.search(body) is not None)
        )
        if code in _QUOTA_CODES:
            return RequestFailure(error=LanguageRefused(f"{self.who} {told} {_REFUSALS[402]}"))
        if status in _TRANSIENT_STATUSES or status >= 500:
            wait = parse_retry_after(response.headers.get("retry-after", ""), self._clock())
            busy = "takes no more for now" if status == 429 else "failed: look at its own log"
            error = LanguageUnavailable(f"{self.who} {told} {busy}", wait)
            return RequestFailure(error=error, transient=True, wait_seconds=wait, other_form=other_form)
        words = _REFUSALS.get(status, "refuses: check language.base_url")
        return RequestFailure(error=LanguageRefused(f"{self.who} {told} {words}"), other_form=other_form)

    def _unreachable(self, error: httpx2.HTTPError) -> RequestFailure:
        problem = (
            f"{self.who} cannot be reached, or broke off ({type(error).__name__}): check "
            "language.base_url, and that it runs"
        )
        counts = isinstance(error, httpx2.ReadError | httpx2.RemoteProtocolError)
        return RequestFailure(error=LanguageUnavailable(problem), transient=True, billable=counts)


async def _read_body(response: httpx2.Response, most: int) -> tuple[bytes, bool]:
    """Read up to `most` bytes; return them and whether the body is complete."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        parts.append(part)
        if size > most:
            return b"".join(parts)[:most], False
    return b"".join(parts), True


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


# Requests through `pydantic_ai`. Importing it takes about a second, so this module is imported at
# the first request.

OutputForm = Literal["schema", "tool", "prompt"]
_ANSWER_TOOL = "answer"
# The transport adds the real key, so that the library cannot log it.
_PLACEHOLDER_KEY = "unset"
_FIXED_TEMPERATURE = ("openai_supports_reasoning", "anthropic_disallows_sampling_settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestion:
    """Ask for the next turn of a conversation or, with a form, for one answer of this schema."""

    instructions: str
    turns: Sequence[TalkTurn]  # checked
    tools: Sequence[ToolSpec] = ()
    form: OutputForm | None = None
    json_schema: Mapping[str, Any] = field(default_factory=dict)

    def build_messages(self) -> list[ModelMessage]:
        """Build messages. Join consecutive turns of one side, because many chat templates need
        alternating turns, and drop empty model turns, which some servers refuse."""
        spoken = [turn for turn in self.turns if not isinstance(turn, ModelTurn) or turn.text.strip() or turn.calls]
        return [self._build_message(list(turns)) for _, turns in groupby(spoken, type)]

    def build_parameters(self) -> ModelRequestParameters:
        schema = dict(self.json_schema)
        if self.form == "tool":
            tool = ToolDefinition(
                name=_ANSWER_TOOL,
                description="Give the answer by calling this.",
                parameters_json_schema=schema,
                kind="output",
            )
            return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
        if self.form == "schema":
            definition = OutputObjectDefinition(json_schema=schema, name=_ANSWER_TOOL)
            return ModelRequestParameters(output_mode="native", output_object=definition)
        tools = [
            ToolDefinition(
                name=one.name,
                description=one.description,
                parameters_json_schema=dict(one.parameters),
                strict=False,  # not every server supports strict schemas
            )
            for one in self.tools
        ]
        return ModelRequestParameters(function_tools=tools)

    def _build_message(self, turns: list[TalkTurn]) -> ModelMessage:
        words = "\n\n".join(
            turn.text
            for turn in turns
            if isinstance(turn, UserTurn) or (isinstance(turn, ModelTurn) and turn.text.strip())
        )
        if isinstance(turns[0], UserTurn):
            prompt = [UserPromptPart(content=words)]
            return ModelRequest(parts=prompt, instructions=self.instructions)
        if isinstance(turns[0], ModelTurn):
            calls = [call for turn in turns if isinstance(turn, ModelTurn) for call in turn.calls]
            said = [TextPart(content=words)] if words else []
            called = [ToolCallPart(call.name, dict(call.arguments), tool_call_id=call.id) for call in calls]
            return ModelResponse(parts=[*said, *called])
        results = [
            ToolReturnPart(
                turn.name,
                turn.text or "(nothing)",
                tool_call_id=turn.call,
                outcome="failed" if turn.failed else "success",
            )
            for turn in turns
            if isinstance(turn, ToolTurn)
        ]
        return ModelRequest(parts=results, instructions=self.instructions)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawToolCall:
    """An unchecked tool call."""

    id: str
    name: str
    arguments: str | dict[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    calls: tuple[RawToolCall, ...]
    text: str
    cut: bool  # truncated at the token limit
    declined: bool  # by a content filter
    tokens_in: int
    tokens_out: int

    @property
    def arguments(self) -> str | dict[str, Any] | None:
        """The arguments of the answer tool, if the model called it."""
        ours = [call.arguments for call in self.calls if call.name == _ANSWER_TOOL]
        return ours[0] if ours else None


class ModelClient:
    def __init__(
        self, address: ModelAddress, model: str, clock: Clock, max_output_tokens: int, temperature: float | None
    ) -> None:
        self._transport = BoundedTransport(address, clock)
        # A redirect could send texts and key to another host.
        client = httpx2.AsyncClient(transport=self._transport, trust_env=False, follow_redirects=False)
        build = _build_anthropic_model if address.provider == "anthropic" else _build_openai_model
        self._model = build(address, model, client)
        self._client = client
        self._settings = ModelSettings(max_tokens=max_output_tokens)
        # Reasoning models have no temperature, and the library would warn at every request.
        fixed = any(self._model.profile.get(name) for name in _FIXED_TEMPERATURE)
        if temperature is not None and not fixed:
            self._settings["temperature"] = temperature
        silence_libraries()
        self._loop = EventLoopThread()

    @property
    def alive(self) -> bool:
        return self._loop.alive

    def send(self, question: ModelQuestion, until: float) -> ModelReply | RequestFailure:
        """Send one request, with a deadline on the monotonic clock.

        Failures are returned, not raised, so that no library error with a prompt in it becomes the
        context of ours.
        """
        rest = until - time.monotonic()
        return self._loop.run(lambda: self._send(question, rest), rest)

    def close(self) -> None:
        if self._loop.alive:
            self._loop.run(self._client.aclose, limits.LANGUAGE_STOP_WAIT_MAX_SECONDS)
        self._loop.close()

    async def _send(self, question: ModelQuestion, rest_seconds: float) -> ModelReply | RequestFailure:
        exchange = HttpExchange()
        CURRENT_EXCHANGE.set(exchange)  # in the context of this task
        try:
            async with asyncio.timeout(rest_seconds):
                response = await model_request(
                    self._model,
                    question.build_messages(),
                    model_settings={**self._settings, "timeout": rest_seconds},
                    model_request_parameters=question.build_parameters(),
                    instrument=False,
                )
            return _parse_reply(response)
        except TimeoutError:
            return exchange.failure or self._timeout_failure(exchange)
        except UserError:
            return exchange.failure or self._unsupported_failure(question)
        except Exception:  # noqa: BLE001 (a hostile response may raise anything in the library)
            return exchange.failure or self._transport.malformed_answer()

    def _timeout_failure(self, exchange: HttpExchange) -> RequestFailure:
        problem = f"{self._transport.who} gave no whole answer in time: check that it is well, or \
raise language.timeout_seconds"
        return RequestFailure(error=LanguageUnavailable(problem), transient=True, billable=exchange.sent)

    def _unsupported_failure(self, question: ModelQuestion) -> RequestFailure:
        problem = f"{self._transport.who} cannot be talked to with tools: use another model"
        if question.form is not None:
            problem = f"{self._transport.who} cannot answer in the form {question.form}: set \
language.output to another, or to auto"
        return RequestFailure(error=LanguageRefused(problem), other_form=True)


def _build_openai_model(address: ModelAddress, model: str, client: httpx2.AsyncClient) -> Model[Any]:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    sdk = AsyncOpenAI(base_url=address.url, api_key=_PLACEHOLDER_KEY, http_client=client, max_retries=0)
    profile = OpenAIModelProfile(
        supports_tools=True,
        supports_json_schema_output=True,
        # Other servers support the older field only.
        openai_chat_supports_max_completion_tokens=address.is_home,
    )
    provider = OpenAICompatibleProvider("openai", openai_client=sdk, profile=profile)
    return OpenAIChatModel(model, provider=provider)


def _build_anthropic_model(address: ModelAddress, model: str, client: httpx2.AsyncClient) -> Model[Any]:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(
        base_url=address.url, api_key=_PLACEHOLDER_KEY, http_client=client, max_retries=0, open_telemetry=False
    )
    profile = ModelProfile(supports_tools=True, supports_json_schema_output=True)
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=sdk), profile=profile)


def _parse_reply(response: ModelResponse) -> ModelReply:
    return ModelReply(
        calls=tuple(
            RawToolCall(
                id=part.tool_call_id, name=part.tool_name, arguments=cast("str | dict[str, Any] | None", part.args)
            )
            for part in response.parts
            if isinstance(part, ToolCallPart)
        ),
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        cut=response.finish_reason == "length",
        declined=response.finish_reason == "content_filter",
        tokens_in=_clamp_tokens(response.usage.input_tokens),
        tokens_out=_clamp_tokens(response.usage.output_tokens),
    )


def _clamp_tokens(tokens: int) -> int:
    return max(0, min(int(tokens), limits.LANGUAGE_TOKENS_MAX_COUNT))
