"""A fact as a language model gives it, made a statement; slips of form that need no guess are put
right: "I live in Rome", "tomorrow", another capital in a quote."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from tacit import limits
from tacit.learn.facts import Statement
from tacit.learn.reading.mentions import possessive, subject, turned
from tacit.learn.reading.person import third, within
from tacit.learn.reading.readings import written_out
from tacit.learn.reading.tongue import Tongue
from tacit.learn.reading.when import When, mark, spelled
from tacit.learn.turn import Turn
from tacit.model.words import Kind, Sensitivity

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# What models call the writer although they were given a name.
_WRITER = re.compile(r"^(?:the )?(?:writer|user|speaker|author)\b", re.IGNORECASE)


@dataclass
class Fact:
    """As a model is asked to give it. What is not asked for, such as how far it may go, it cannot
    decide."""

    content: str
    quote: str
    about_speaker: bool
    about: list[str]
    kind: Literal[
        "preference",
        "identity",
        "relationship",
        "knowledge",
        "context",
        "event",
        "task",
        "observation",
    ]
    sensitivity: Literal["public", "personal", "sensitive"]
    stated: bool


@dataclass
class Facts:
    facts: list[Fact] = field(default_factory=list)


def claimed(fact: Fact) -> Statement:
    """A fact as the model put it, unchanged but for spaces."""
    return Statement(
        content=" ".join(fact.content.split()),
        quote=fact.quote.strip(),
        explicit=False,
        kind=Kind(fact.kind),
        about_speaker=fact.about_speaker,
        about=(),
        hearsay=False,
        slot=None,
        value=None,
        negated=False,
        observed_at=None,
        withheld_from=(),
        hold=None,
        sensitivity=Sensitivity(fact.sensitivity),
    )


class Wording:
    """The words of one message, and claims put into them."""

    def __init__(self, turn: Turn, speaker: str, tongue: Tongue) -> None:
        self.turn, self.speaker, self.tongue = turn, speaker, tongue
        self._words = [(m[0].casefold(), m.start(), m.end()) for m in WORD.finditer(turn.text)]
        self.words = [word for word, _, _ in self._words]

    def put(self, fact: Fact, *, mended: bool) -> Statement:
        """As the model put it; or with slips of form that need no guess put right, such as "I live
        in Rome", "tomorrow", or another capital in a quote."""
        statement = claimed(fact)
        if mended and len(statement.content) <= limits.LEARN_CONTEXT_MAX_CHARS:
            quote = self._quoted(statement.quote)
            content = self._in_third_person(self._dated(statement.content, quote))
            content = turned(content, self.speaker, self.tongue)  # "hates noise in my street"
            statement = replace(statement, content=content, quote=quote)
        return replace(statement, observed_at=self._when(statement))

    def _in_third_person(self, content: str) -> str:
        content = _WRITER.sub(lambda _: self.speaker, content)
        if content.casefold().startswith(self.speaker.casefold()):
            return content
        spoken = written_out(content, self.tongue)
        asked = self.tongue.patterns["explicit"].match(f"{spoken} ")
        spoken = spoken[asked.end() :].lstrip(" ,:-") if asked else spoken
        found = subject(spoken, self.speaker, self.tongue, None)
        if found is None or found[0].who == "name":
            return content
        who, rest = found
        rest = within(rest, self.speaker, self.tongue)
        if who.owns:
            return f"{possessive(who.words, self.tongue)} {rest}"
        return f"{who.words} {third(rest, self.tongue) if who.speaks else rest}"

    def _marked(self, text: str) -> tuple[str, list[When]]:
        past = self.tongue.has("past", text) and not self.tongue.has("to_come", text)
        return mark(text, self.turn.said_at, self.tongue, past=past)

    def _dated(self, content: str, quote: str) -> str:
        """With days that count from another written out; as the message means them, where both
        name one."""
        marked, whens = self._marked(content)
        if not any(when.relative for when in whens):
            return content
        meant = self._days(quote)
        if len(whens) == len(meant) == 1:
            whens = [replace(meant[0], mark=whens[0].mark)]
        return " ".join(spelled(marked, whens, as_said=True).split())

    def _days(self, quote: str) -> list[When]:
        _, whens = self._marked(quote[: limits.LEARN_CONTEXT_MAX_CHARS])
        return [when for when in whens if when.at is not None and when.full]

    def _when(self, statement: Statement) -> datetime | None:
        """The one day that the quoted words name."""
        days = self._days(statement.quote)
        return days[0].at if len(days) == 1 else None

    def place(self, quote: str) -> tuple[int, int] | None:
        """Where the words of a quote stand in the message, whatever is between them."""
        wanted = [m[0].casefold() for m in WORD.finditer(quote[: limits.LEARN_CONTEXT_MAX_CHARS])]
        said = self.words
        for at in range(len(said) - len(wanted) + 1 if wanted else 0):
            if said[at : at + len(wanted)] == wanted:
                return self._words[at][1], self._words[at + len(wanted) - 1][2]
        return None

    def _quoted(self, quote: str) -> str:
        place = self.place(quote)
        return quote if place is None else self.turn.text[place[0] : place[1]]
