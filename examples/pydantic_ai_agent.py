"""One pydantic-ai agent for many people: each run gets the memory tools of its person.

Run it (answers vary by model; the output below is from a scripted one):

    pip install '.[language]'
    OPENAI_API_KEY=… MODEL=openai:gpt-5-mini python examples/pydantic_ai_agent.py

It prints:

    Alice, in private: Noted.
    Alice, later: Green tea.
    Bob, in the group: I do not know.
"""

import asyncio
import os

from pydantic_ai import Agent, FunctionToolset

import tacit
from tacit.tools.kits import pydantic_ai_tools

memory = tacit.open("sqlite://")
alice = tacit.Requester("telegram:1001", name="Alice")
bob = tacit.Requester("telegram:2002", name="Bob")
group = tacit.Chat.group("telegram:-5", [alice, bob])

agent = Agent(
    os.environ["MODEL"], instructions="Keep what people tell you about themselves, and look up what they ask you."
)


async def ask(view: tacit.View, text: str) -> str:
    tools = FunctionToolset(pydantic_ai_tools(view))
    return (await agent.run(text, toolsets=[tools])).output


async def main() -> None:
    private = memory.view(alice, tacit.Chat.private("telegram:1001"))
    async with agent:  # closes the connections to the model
        print("Alice, in private:", await ask(private, "I drink green tea and nothing else."))
        print("Alice, later:", await ask(private, "What do I drink?"))
        print("Bob, in the group:", await ask(memory.view(bob, group), "What does Alice drink?"))


asyncio.run(main())
memory.close()
