"""A fact as a language model gives it, made a statement; slips of form that need no guess are put
right: "I live in Rome", "tomorrow", another capital in a quote."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from tacit import limits
from tacit.learn.claim_subject import resolved
from tacit.learn.facts import Statement
from tacit.learn.reading.mentions import is_name, possessive, subject, turned
from tacit.learn.reading.person import third, within
from tacit.learn.reading.readings import written_out
from tacit.learn.reading.tongue import Tongue
from tacit.learn.reading.when import When, mark, spelled
from tacit.learn.turn import Turn
from tacit.learn.verify import pronouns
from tacit.records.memory import Kind, Sensitivity

ABOUT_MAX_COUNT = 5
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# What models call the writer although they were given a name.
_WRITER = re.compile(r"^(?:the )?(?:writer|user|speaker|author)\b", re.IGNORECASE)


def _at_most(count: int) -> dict[str, dict[str, int]]:
    """For servers that hold a model to a schema while it writes: it comes to an end. An answer that
    has more is no bad answer; what is too much is left out."""
    return {"json_schema_extra": {"maxItems": count}}


@dataclass
class Fact:
    """As a model is asked to give it. The quote comes first: what is copied is then put into other
    words. What is not asked for, such as how far it may go, it cannot decide."""

    quote: str
    content: str
    about_speaker: bool
    about: list[str] = field(metadata=_at_most(ABOUT_MAX_COUNT))
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
    facts: list[Fact] = field(
        default_factory=list, metadata=_at_most(limits.LEARN_WRITES_PER_TURN_MAX_COUNT)
    )


@dataclass
class Reworded:
    content: str


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
            content = self._in_third_person(self.dated(replace(statement, quote=quote)))
            content = turned(content, self.speaker, self.tongue)  # "hates noise in my street"
            content = self._introduced(self._named(self._owned(content)), fact.about)
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

    def _owned(self, content: str) -> str:
        """ "Hates noise in her street", where the message says "my street": it is the speaker's."""
        whose = possessive(self.speaker, self.tongue)
        mine = "|".join(form.pattern for form, new in self.tongue.turned if new == "{whose}")
        for word in dict.fromkeys(pronouns(content, self.speaker, self.tongue)):
            for thing in re.findall(rf"(?<!\w){re.escape(word)} (\w+)", content):
                theirs = re.compile(rf"(?<!\w){re.escape(word)} {thing}\b", re.IGNORECASE)
                own = re.search(rf"(?:{mine}) {thing}\b", self.turn.text, re.IGNORECASE)
                if own and not theirs.search(self.turn.text):
                    # Split and joined: a name may hold what a template would read.
                    content = f"{whose} {thing}".join(theirs.split(content))
        return content

    def _named(self, content: str) -> str:
        """Pronouns as whom they stand for, where that is no guess; and a fact that somebody is said
        to know, as the fact: "Ana knows that the lift is out" where Ana says so."""
        content = resolved(content, self.turn.text, self.speaker, self.tongue)
        told = None
        if content.casefold().startswith(self.speaker.casefold()):
            told = self.tongue.patterns["told_that"].match(content[len(self.speaker) :])
        if told is None:
            return content
        content = content[len(self.speaker) + told.end() :]
        content = content[:1].upper() + content[1:]
        return resolved(content, self.turn.text, self.speaker, self.tongue)

    def _introduced(self, content: str, about: list[str]) -> str:
        """ "Wanda's manager is away" of Ingrid, whom the message says to be the manager."""
        whose = f"{possessive(self.speaker, self.tongue)} "
        kin = None
        if content.casefold().startswith(whose.casefold()):
            kin = self.tongue.patterns["kin"].match(content[len(whose) :])
        unnamed = [
            one for one in about[:ABOUT_MAX_COUNT] if one.casefold() not in content.casefold()
        ]
        if kin is None or len(unnamed) != 1 or not is_name(unnamed[0], self.tongue, named=True):
            return content
        name = unnamed[0]
        called = re.search(
            rf"\b{re.escape(kin['kin'])}((?: \w+){{0,2}}),? {re.escape(name)}\b(?!['’])",
            self.turn.text,
            re.IGNORECASE,
        )
        between = called[1].strip().lower() if called else "?"
        being = between in {"", *self.tongue.words["verbs_being"]}
        if not being and not self.tongue.has("names_listed", between):
            return content
        end = len(whose) + kin.end()
        return f"{content[:end]} {name}{content[end:]}"

    def _marked(self, text: str) -> tuple[str, list[When]]:
        past = self.tongue.has("past", text) and not self.tongue.has("to_come", text)
        return mark(text, self.turn.said_at, self.tongue, past=past)

    def says_when(self, text: str) -> bool:
        """Whether words name a day, an hour or something that comes back, other than now."""
        return bool(self._marked(text)[1]) and not self.tongue.has("momentary", text)

    def dated(self, statement: Statement) -> str:
        """The content with days that count from another written out; as the message means them,
        where both name one."""
        marked, whens = self._marked(statement.content)
        if not any(when.relative for when in whens):
            return statement.content
        meant = self._days(statement.quote)
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
