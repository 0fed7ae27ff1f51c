"""The library behind the port: one request through `pydantic_ai`, in a loop of its own thread.

Imported only when a question is asked; then it takes about a second.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Literal, cast

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
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
from tacit.errors import LanguageRefused, LanguageUnavailable
from tacit.language import quiet
from tacit.language.address import Address
from tacit.language.loop import Loop
from tacit.language.talking import Conversation, talk_messages, talk_parameters
from tacit.language.wire import EXCHANGE, BoundedTransport, Exchange, Trouble

Form = Literal["schema", "tool", "prompt"]
_TOOL = "answer"
# The transport puts the real key in, so that the library cannot show it.
_NO_KEY = "unset"
_FIXED_TEMPERATURE = ("openai_supports_reasoning", "anthropic_disallows_sampling_settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    instructions: str
    turns: tuple[str, ...]  # ours, the model's, ours again
    json_schema: dict[str, Any]
    form: Form
    max_output_tokens: int
    temperature: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A call as it came: nothing of it is checked."""

    id: str
    name: str
    arguments: str | dict[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    calls: tuple[Called, ...]
    text: str
    cut: bool  # ended for its length
    declined: bool  # by a filter there
    tokens_in: int
    tokens_out: int

    @property
    def arguments(self) -> str | dict[str, Any] | None:
        """Of the one tool that a question with a schema has, if it was called."""
        ours = [call.arguments for call in self.calls if call.name == _TOOL]
        return ours[0] if ours else None


class Engine:
    def __init__(self, address: Address, model: str, clock: Clock) -> None:
        self._transport = BoundedTransport(address, clock)
        # A redirect could carry texts and key to another host: none is followed.
        client = httpx2.AsyncClient(
            transport=self._transport, trust_env=False, follow_redirects=False
        )
        build = _anthropic if address.provider == "anthropic" else _openai
        self._model = build(address, model, client)
        self._client = client
        quiet.hush()
        self._loop = Loop()

    @property
    def alive(self) -> bool:
        return self._loop.alive

    def send(self, question: Question | Conversation, until: float) -> Reply | Trouble:
        """One request, over by `until` on the monotonic clock. Nothing is raised for the model's
        part, so that no error of a library with a prompt in it hangs behind ours."""
        rest = until - time.monotonic()
        return self._loop.run(lambda: self._send(question, rest), rest)

    def close(self) -> None:
        if self._loop.alive:
            self._loop.run(self._client.aclose, limits.LANGUAGE_STOP_WAIT_MAX_SECONDS)
        self._loop.close()

    async def _send(
        self, question: Question | Conversation, rest_seconds: float
    ) -> Reply | Trouble:
        exchange = Exchange()
        EXCHANGE.set(exchange)  # of this task alone
        try:
            messages, parameters = _written(question)
            async with asyncio.timeout(rest_seconds):
                response = await model_request(
                    self._model,
                    messages,
                    model_settings=self._settings(question, rest_seconds),
                    model_request_parameters=parameters,
                    instrument=False,
                )
            return _reply(response)
        except TimeoutError:
            return exchange.failure or self._timeout_failure(exchange)
        except UserError:
            return exchange.failure or self._unsupported_failure(question)
        except Exception:  # noqa: BLE001 (answers are hostile: the library may stumble anyhow)
            return exchange.failure or self._transport.malformed_answer()

    def _settings(self, question: Question | Conversation, rest_seconds: float) -> ModelSettings:
        settings = ModelSettings(max_tokens=question.max_output_tokens, timeout=rest_seconds)
        # Models that reason take no temperature, and the library would warn at every question.
        fixed = any(self._model.profile.get(name) for name in _FIXED_TEMPERATURE)
        if question.temperature is not None and not fixed:
            settings["temperature"] = question.temperature
        return settings

    def _timeout_failure(self, exchange: Exchange) -> Trouble:
        problem = f"{self._transport.who} gave no whole answer in time: check that it is well, or \
raise language.timeout_seconds"
        return Trouble(error=LanguageUnavailable(problem), transient=True, billable=exchange.sent)

    def _unsupported_failure(self, question: Question | Conversation) -> Trouble:
        problem = f"{self._transport.who} cannot be talked to with tools: use another model"
        if isinstance(question, Question):
            problem = f"{self._transport.who} cannot answer in the form {question.form}: set \
language.output to another, or to auto"
        return Trouble(error=LanguageRefused(problem), other_form=True)


def _openai(address: Address, model: str, client: httpx2.AsyncClient) -> Model[Any]:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    sdk = AsyncOpenAI(base_url=address.url, api_key=_NO_KEY, http_client=client, max_retries=0)
    profile = OpenAIModelProfile(
        supports_tools=True,
        supports_json_schema_output=True,
        # The older field is the one that other servers know.
        openai_chat_supports_max_completion_tokens=address.is_home,
    )
    provider = OpenAICompatibleProvider("openai", openai_client=sdk, profile=profile)
    return OpenAIChatModel(model, provider=provider)


def _anthropic(address: Address, model: str, client: httpx2.AsyncClient) -> Model[Any]:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(
        base_url=address.url,
        api_key=_NO_KEY,
        http_client=client,
        max_retries=0,
        open_telemetry=False,
    )
    profile = ModelProfile(supports_tools=True, supports_json_schema_output=True)
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=sdk), profile=profile)


def _written(
    question: Question | Conversation,
) -> tuple[list[ModelMessage], ModelRequestParameters]:
    if isinstance(question, Conversation):
        return talk_messages(question), talk_parameters(question)
    return _messages(question), _parameters(question)


def _messages(question: Question) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for number, turn in enumerate(question.turns):
        if number % 2:
            messages.append(ModelResponse(parts=[TextPart(content=turn)]))
        else:
            parts = [UserPromptPart(content=turn)]
            messages.append(ModelRequest(parts=parts, instructions=question.instructions))
    return messages


def _parameters(question: Question) -> ModelRequestParameters:
    schema = dict(question.json_schema)
    if question.form == "tool":
        tool = ToolDefinition(
            name=_TOOL,
            description="Give the answer by calling this.",
            parameters_json_schema=schema,
            kind="output",
        )
        return ModelRequestParameters(
            output_mode="tool", output_tools=[tool], allow_text_output=False
        )
    if question.form == "schema":
        definition = OutputObjectDefinition(json_schema=schema, name=_TOOL)
        return ModelRequestParameters(output_mode="native", output_object=definition)
    return ModelRequestParameters()


def _reply(response: ModelResponse) -> Reply:
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    return Reply(
        calls=tuple(
            Called(
                id=call.tool_call_id,
                name=call.tool_name,
                arguments=cast("str | dict[str, Any] | None", call.args),
            )
            for call in calls
        ),
        text=text,
        cut=response.finish_reason == "length",
        declined=response.finish_reason == "content_filter",
        tokens_in=_believable(response.usage.input_tokens),
        tokens_out=_believable(response.usage.output_tokens),
    )


def _believable(tokens: int) -> int:
    return max(0, min(int(tokens), limits.LANGUAGE_TOKENS_MAX_COUNT))
