"""A conversation through each SDK: what a program does that hands a kit's tools to a model."""

import asyncio
from typing import Any, Literal, Protocol

import pydantic_ai
from anthropic import Anthropic
from openai import AsyncOpenAI, OpenAI, omit
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tacit.memory import View
from tacit.tools.kits import anthropic_kit, openai_kit, pydantic_ai_tools
from tests.llm.endpoint import Endpoint

KEY = "sk-kits"
ROUNDS = 3
Sdk = Literal["chat completions", "responses", "messages", "pydantic-ai"]


class Loop(Protocol):
    def __call__(self, endpoint: Endpoint, view: View, said: str) -> str: ...


def chat_completions(endpoint: Endpoint, view: View, said: str) -> str:
    kit = openai_kit(view)
    messages: list[Any] = [{"role": "user", "content": said}]
    with OpenAI(api_key=KEY, base_url=f"{endpoint.url}/v1", max_retries=0) as client:
        for _ in range(ROUNDS):
            reply = client.chat.completions.create(model="m", messages=messages, tools=kit.tools or omit)
            messages += [reply.choices[0].message, *(answers := kit.answer(reply))]
            if not answers:
                break
    return reply.choices[0].message.content or ""


def responses(endpoint: Endpoint, view: View, said: str) -> str:
    kit = openai_kit(view)
    items: list[Any] = [{"role": "user", "content": said}]
    with OpenAI(api_key=KEY, base_url=f"{endpoint.url}/v1", max_retries=0) as client:
        for _ in range(ROUNDS):
            reply = client.responses.create(model="m", input=items, tools=kit.responses_tools)
            items += [*reply.output, *(answers := kit.answer(reply))]
            if not answers:
                break
    return reply.output_text


def messages(endpoint: Endpoint, view: View, said: str) -> str:
    kit = anthropic_kit(view)
    turns: list[Any] = [{"role": "user", "content": said}]
    with Anthropic(api_key=KEY, base_url=endpoint.url, max_retries=0) as client:
        for _ in range(ROUNDS):
            reply = client.messages.create(model="m", max_tokens=500, messages=turns, tools=kit.tools)
            answers = kit.answer(reply)
            if not answers:
                break
            turns += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": answers}]
    return "".join(block.text for block in reply.content if block.type == "text")


def by_pydantic_ai(endpoint: Endpoint, view: View, said: str) -> str:
    async def run() -> str:
        url = f"{endpoint.url}/v1"
        async with AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0) as client:
            model = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client))
            agent = pydantic_ai.Agent(model, tools=pydantic_ai_tools(view), retries=ROUNDS)
            return (await agent.run(said)).output

    return asyncio.run(run())


LOOPS: dict[Sdk, Loop] = {
    "chat completions": chat_completions,
    "responses": responses,
    "messages": messages,
    "pydantic-ai": by_pydantic_ai,
}
