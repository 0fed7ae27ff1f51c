"""How often a model has to look something up, although it is given what is known and what is fresh.

One person has told more than fits into a prompt and asks about any of it. The model here answers if
what it was given holds the answer, asks `memory_query` if not, and then answers or gives up.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import islice

import tacit
from bench.sentences import said
from tacit.bots.bot import Bot
from tacit.bots.messages import TextMessage
from tacit.bots.terminal import TerminalConversation
from tacit.settings import LearnSettings, Settings
from tests.bots.scripted import Called, Prompt, ScriptedModel, Spoken

FACTS = 300  # a block holds fifty
TURNS = 100
_WHO = tacit.Requester("telegram:1001", name="Alice")
_CHAT = tacit.Chat.private("telegram:1001")
_UNKNOWN = "I do not know."
_SHORT_CHARS = 3  # such words tell little


@dataclass(frozen=True, slots=True)
class LookedUp:
    turns: int
    recalled: int
    answered: int


class _Silent:
    def ask(self) -> str | None:
        return None

    def show(self, what: object, first: int) -> None:
        pass

    def note(self, text: str) -> None:
        pass


class _Model:
    """Knows the answer that it is asked for, as somebody who marks its work would."""

    def __init__(self) -> None:
        self.question, self.fact = "", ""

    def __call__(self, prompt: Prompt) -> Spoken:
        if self.fact in prompt.text:
            return self.fact
        if prompt.results:
            return _UNKNOWN
        return Called("memory_query", {"query": self.question})


def looked_up(turns: int = TURNS) -> LookedUp:
    chance, knows, answered = random.Random(8), _Model(), 0
    facts = list(islice(said(), FACTS))
    with ScriptedModel(knows) as model:
        # Learning is of no interest here, and would ask the model, too.
        settings = Settings(language=model.settings, learn=LearnSettings(enabled=False))
        with tacit.open("sqlite://", settings=settings, embedder=None) as memory:
            view = memory.view(_WHO, _CHAT)
            for fact in facts:
                view.remember(fact)
            bot = Bot(memory, settings.chat)
            outlet = TerminalConversation(bot, _WHO, _CHAT, _Silent())
            for number in range(turns):
                knows.fact = chance.choice(facts)
                knows.question = _question(knows.fact, chance)
                told = bot.hear(_said(number, knows.question), outlet)
                answered += any(knows.fact in one.text for one in told)
            counts = bot.agent.counts
    return LookedUp(counts.turns, counts.with_recall, answered)


def _question(fact: str, chance: random.Random) -> str:
    """Some of its words, as one remembers them."""
    words = [word for word in fact.split() if len(word) > _SHORT_CHARS]
    return f"What was that again about {' and '.join(chance.sample(words, 2))}?"


def _said(number: int, text: str) -> TextMessage:
    return TextMessage(channel="bench", update=str(number), chat=_CHAT, who=_WHO, text=text, message=str(number))
