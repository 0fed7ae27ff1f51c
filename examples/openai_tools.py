"""Memory tools for a model of OpenAI, or of any server compatible with its Chat Completions API.

Run it (answers vary by model; the output below is from a scripted one):

    pip install '.[language]'
    OPENAI_API_KEY=… MODEL=gpt-5-mini python examples/openai_tools.py

It prints:

    Alice, in private: Noted.
    Alice, later: Green tea.
    Bob, in the group: I do not know.
"""

import os
from typing import Any

from openai import OpenAI

import tacit
from tacit.tools.kits import openai_kit

INSTRUCTIONS = "Keep what people tell you about themselves, and look up what they ask you."
ROUNDS_MAX_COUNT = 6

memory = tacit.open("sqlite://")
client = OpenAI()
alice = tacit.Requester("telegram:1001", name="Alice")
bob = tacit.Requester("telegram:2002", name="Bob")
group = tacit.Chat.group("telegram:-5", [alice, bob])


def ask(view: tacit.View, text: str) -> str:
    kit = openai_kit(view)
    messages: list[Any] = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": text}]
    for _ in range(ROUNDS_MAX_COUNT):
        completion = client.chat.completions.create(model=os.environ["MODEL"], messages=messages, tools=kit.tools)
        answers = kit.answer(completion)  # runs the tool calls
        if not answers:
            return completion.choices[0].message.content or ""
        messages += [completion.choices[0].message, *answers]
    return "…"


private = memory.view(alice, tacit.Chat.private("telegram:1001"))
print("Alice, in private:", ask(private, "I drink green tea and nothing else."))
print("Alice, later:", ask(private, "What do I drink?"))
print("Bob, in the group:", ask(memory.view(bob, group), "What does Alice drink?"))
memory.close()
