"""Memory tools for a model of Anthropic, with the Messages API.

Run it (answers vary by model; the output below is from a scripted one):

    pip install '.[language]'
    ANTHROPIC_API_KEY=… MODEL=claude-haiku-4-5 python examples/anthropic_tools.py

It prints:

    Alice, in private: Noted.
    Alice, later: Green tea.
    Bob, in the group: I do not know.
"""

import os
from typing import Any

from anthropic import Anthropic

import tacit
from tacit.tools.kits import anthropic_kit

INSTRUCTIONS = "Keep what people tell you about themselves, and look up what they ask you."
ROUNDS_MAX_COUNT = 6

memory = tacit.open("sqlite://")
client = Anthropic()
alice = tacit.Requester("telegram:1001", name="Alice")
bob = tacit.Requester("telegram:2002", name="Bob")
group = tacit.Chat.group("telegram:-5", [alice, bob])


def ask(view: tacit.View, text: str) -> str:
    kit = anthropic_kit(view)
    messages: list[Any] = [{"role": "user", "content": text}]
    for _ in range(ROUNDS_MAX_COUNT):
        message = client.messages.create(
            model=os.environ["MODEL"], max_tokens=1_000, system=INSTRUCTIONS, messages=messages, tools=kit.tools
        )
        results = kit.answer(message)  # runs the tool calls
        if not results:
            return "".join(block.text for block in message.content if block.type == "text")
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    return "…"


private = memory.view(alice, tacit.Chat.private("telegram:1001"))
print("Alice, in private:", ask(private, "I drink green tea and nothing else."))
print("Alice, later:", ask(private, "What do I drink?"))
print("Bob, in the group:", ask(memory.view(bob, group), "What does Alice drink?"))
memory.close()
