"""Turn a fact from a language model into a statement in our wording."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from tacit import limits
from tacit.learning.extraction.clauses import expand_contractions
from tacit.learning.extraction.locale import Locale
from tacit.learning.extraction.mentions import (
    DateMention,
    is_name,
    make_possessive,
    mark_dates,
    read_subject,
    replace_speaker,
    spell_dates,
)
from tacit.learning.extraction.sentences import replace_inner_speaker, to_third_person
from tacit.learning.facts import StatedFact
from tacit.learning.turns import QueuedTurn
from tacit.learning.verification import find_pronouns
from tacit.records.memory import Kind, Sensitivity

# Whom or what a sentence begins with; and pronouns in it that can stand for no other person.

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SUBJECT_MAX_WORDS = 5
_VERBS = (
    "verbs_being",
    "verbs_having",
    "verbs_denying",
    "verbs_able",
    "verbs_to_come",
    "verbs_needing",
    "verbs_helping",
    "verbs_of_things",
)
_PEOPLE = ("kin", "jobs", "someone", "titles")
_NO_PEOPLE = ("months", "weekdays", "places", "languages", "nationalities")
_NEGATED_END = "n't"
_IS_END = "'s"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadingSubject:
    """The subject of a sentence."""

    words: str
    person: bool
    plural: bool = False
    gender: str | None = None


def is_finite_verb(word: str, locale: Locale) -> bool:
    """Whether a word is a verb with a subject, as far as the lists know it."""
    folded = word.lower().replace("’", "'")
    tags = locale.frames.get(folded, frozenset())
    return (
        any(folded in locale.words[name] for name in _VERBS)
        or folded in locale.verbs.irregular.values()
        or folded.endswith(_NEGATED_END)
        or any(tag.endswith((":now", ":past")) for tag in tags)
    )


def _bare(word: str, locale: Locale) -> bool:
    tags = locale.frames.get(word.lower(), frozenset())
    return any(tag.endswith(":bare") for tag in tags)


def words_before_verb(text: str, locale: Locale) -> str | None:
    """The words that come before the first verb, up to a comma; None where there is no verb, and
    "" where the verb comes first."""
    found = list(_WORD.finditer(text.partition(",")[0]))[: _SUBJECT_MAX_WORDS + 1]
    for position, match in enumerate(found):
        word = match[0].replace("’", "'")
        if position and word.lower().endswith(_IS_END) and position == len(found) - 1:
            break  # "the dog's": a thing of its follows, or nothing
        if is_finite_verb(word, locale) or (not position and _bare(word, locale)):
            return text[: match.start()].strip()
    return None


def read_leading_subject(content: str, speaker: str, locale: Locale) -> LeadingSubject | None:
    """Whom a content is about: the speaker, a thing or a person of theirs, or "the" thing."""
    folded, whose = content.lower(), make_possessive(speaker, locale)
    owned = folded.startswith(f"{whose.lower()} ")
    if folded.startswith(f"{speaker.lower()} ") and not owned:
        return _with_another(content, speaker, locale)
    words = words_before_verb(content, locale)
    if words is None:
        return None
    named = [m[0] for m in _WORD.finditer(words[len(whose) :] if owned else words)]
    if not named or {one.lower() for one in named} & locale.words["conjunctions"]:
        return None
    kin = next((locale.kin[tx.lower()] for tx in named if tx.lower() in locale.kin), None)
    if owned and kin:
        return LeadingSubject(words=words, person=True, plural=kin.plural, gender=kin.gender)
    if owned or named[0].lower() in locale.words["definite"]:
        return None if kin else LeadingSubject(words=words, person=_somebody(words, locale))
    alone = len(named) == 1 and named[0].lower() in locale.words["first_names"]
    return LeadingSubject(words=words, person=True) if alone else None


def _with_another(content: str, speaker: str, locale: Locale) -> LeadingSubject | None:
    """The speaker alone, or with one other who has a name."""
    itself = content[: len(speaker)]
    first, _, rest = content[len(speaker) :].lstrip().partition(" ")
    if first.lower() not in locale.words["conjunctions"]:
        return LeadingSubject(words=itself, person=True)
    other = _WORD.match(rest)
    if other is None or not is_name(other[0], locale):
        return None
    return LeadingSubject(words=f"{itself} {first} {other[0]}", person=True, plural=True)


def resolve_pronouns(content: str, text: str, speaker: str, locale: Locale) -> str:
    """The content with "his" as "Bob's", where Bob is the only one whom it can mean: the sentence
    begins with him and names no other person before it."""
    subject = read_leading_subject(content, speaker, locale)
    if subject is None:
        return content
    reach = _Reach(content, subject, _group(content, text, subject, speaker, locale), text, locale)
    made, last = subject.words, len(subject.words)
    for match in _WORD.finditer(content, last):
        said = reach.named(match)
        if said:
            made, last = f"{made}{content[last : match.start()]}{said}", match.end()
    return made + content[last:]


def _group(content: str, text: str, subject: LeadingSubject, speaker: str, locale: Locale) -> frozenset[str]:
    """The pronouns that a sentence may use for its subject; none where two sorts of people are
    spoken of, or where the message itself speaks of a person so: a speaker says I."""
    words = locale.words
    if not subject.person or subject.plural:
        return words["pronouns_they" if subject.plural else "pronouns_it"]
    used = {m[0].lower().replace("’", "'").partition("'")[0] for m in _WORD.finditer(content)}
    heard = {m[0].lower() for m in _WORD.finditer(text)}
    sorts = {one: words[f"pronouns_{one}"] for one in ("he", "she")}
    spoken = [one for one, own in sorts.items() if used & own]
    if len(spoken) != 1 or (subject.gender and subject.gender != spoken[0]):
        return frozenset()
    own = sorts[spoken[0]]
    itself = subject.words.lower() == speaker.lower()
    return frozenset() if itself and heard & own else own


class _Reach:
    """How far the subject of a sentence reaches: to the next that may be meant instead."""

    def __init__(self, content: str, subject: LeadingSubject, group: frozenset[str], text: str, locale: Locale) -> None:
        self.content, self.subject, self.group = content, subject, group
        self.text, self.locale = text, locale
        first, _, rest = subject.words.partition(" ")
        the = first.lower() in locale.words["definite"]
        self.words = f"{first.lower()} {rest}" if the else subject.words

    def named(self, match: re.Match[str]) -> str | None:
        """What a word stands for; None for words that stand for nothing, or for who knows whom."""
        word, _, contracted = match[0].lower().replace("’", "'").partition("'")
        if word not in self.group or self._others(match.start(), own=self._owns(word, match)):
            return None
        if contracted:
            is_it = contracted == "s"
            return f"{self.words} {self.locale.texts['is']}" if is_it else None
        if self._owns(word, match):
            return None if self._anothers(match) else self._possessive()
        if word in self.locale.words["pronouns_own"] | self.locale.words["pronouns_object"]:
            # "Bob likes him" is of another: whom a person meets is not themselves.
            between = self.content[len(self.subject.words) : match.start()]
            parts = set(between.lower().split()) & self.locale.words["conjunctions"]
            return self.words if parts or "," in between else None
        return self.words

    def _owns(self, word: str, match: re.Match[str]) -> bool:
        """Whether a thing follows: "her jackets", not "met her"."""
        words = self.locale.words
        after = re.match(r" ([^\W_]+)", self.content[match.end() :])
        before = self.content[: match.start()].lower().split()[-1:]
        small = after is None or after[1].lower() in words["small"]
        if word in words["pronouns_object"] and set(before) & words["verbs_of_giving"]:
            return False  # "makes her nervous", "gave her roses"
        return word in words["pronouns_own"] and not small

    def _possessive(self) -> str | None:
        declined = self.words != self.subject.words and self.locale.texts["names"] != "capital"
        return None if declined else make_possessive(self.words, self.locale)

    def _anothers(self, match: re.Match[str]) -> bool:
        """Whether the message has the thing with another word before it: "the garden"."""
        after = _WORD.search(self.content, match.end())
        others = self.locale.words["articles"] | self.locale.words["definite"]
        if after is None or not self.subject.person:
            return False
        found = re.findall(rf"(\w+) {re.escape(after[0])}\b", self.text, re.IGNORECASE)
        return any(one.lower() in others and not self.locale.patterns["mine"].match(f"{one} x") for one in found)

    def _others(self, end: int, *, own: bool) -> bool:
        between = [m[0] for m in _WORD.finditer(self.content[len(self.subject.words) : end])]
        folded = {one.lower() for one in between}
        words = self.locale.words
        if not self.subject.person:
            return bool(folded & (words["articles"] | words["definite"] | words["where"]))
        if any(folded & words[name] for name in (*_PEOPLE, "first_names")):
            return True
        if self.subject.plural and (folded & words["numbers"] - words["articles"] or any(map(self._many, folded))):
            return True
        known = frozenset().union(*(words[name] for name in _NO_PEOPLE))
        mine = {m[0].lower() for m in _WORD.finditer(self.subject.words)}
        capital = any(tx[0].isupper() and tx.lower() not in known | mine for tx in between)
        # Where all nouns have a capital, only "sie" may mean things as well.
        return capital and (self.locale.texts["names"] == "capital" or not own)

    def _many(self, word: str) -> bool:
        """Whether a word may stand for several things, and "they" for them."""
        return word.endswith("s") and not is_finite_verb(word, self.locale)


def _somebody(words: str, locale: Locale) -> bool:
    listed = {m[0].lower() for m in _WORD.finditer(words)}
    return any(listed & locale.words[name] for name in _PEOPLE)


# A fact as a language model gives it, made a statement; slips of form that need no guess are put
# right: "I live in Rome", "tomorrow", another capital in a quote.

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
    kind: Literal["preference", "identity", "relationship", "knowledge", "context", "event", "task", "observation"]
    sensitivity: Literal["public", "personal", "sensitive"]
    stated: bool


@dataclass
class Facts:
    facts: list[Fact] = field(default_factory=list, metadata=_at_most(limits.LEARN_WRITES_PER_TURN_MAX_COUNT))


@dataclass
class Reworded:
    content: str


def make_statement(fact: Fact) -> StatedFact:
    """A fact as the model put it, unchanged but for spaces."""
    return StatedFact(
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


class ClaimWording:
    """The words of one message, and claims put into them."""

    def __init__(self, turn: QueuedTurn, speaker: str, locale: Locale) -> None:
        self.turn, self.speaker, self.locale = turn, speaker, locale
        self._words = [(m[0].casefold(), m.start(), m.end()) for m in WORD.finditer(turn.text)]
        self.words = [word for word, _, _ in self._words]

    def put(self, fact: Fact, *, mended: bool) -> StatedFact:
        """As the model put it; or with slips of form that need no guess put right, such as "I live
        in Rome", "tomorrow", or another capital in a quote."""
        statement = make_statement(fact)
        if mended and len(statement.content) <= limits.LEARN_CONTEXT_MAX_CHARS:
            quote = self._quoted(statement.quote)
            content = self._in_third_person(self.dated(replace(statement, quote=quote)))
            content = replace_speaker(content, self.speaker, self.locale)  # "hates noise in my street"
            content = self._introduced(self._named(self._owned(content)), fact.about)
            statement = replace(statement, content=content, quote=quote)
        return replace(statement, observed_at=self._when(statement))

    def _in_third_person(self, content: str) -> str:
        content = _WRITER.sub(lambda _: self.speaker, content)
        if content.casefold().startswith(self.speaker.casefold()):
            return content
        spoken = expand_contractions(content, self.locale)
        asked = self.locale.patterns["explicit"].match(f"{spoken} ")
        spoken = spoken[asked.end() :].lstrip(" ,:-") if asked else spoken
        found = read_subject(spoken, self.speaker, self.locale, None)
        if found is None or found[0].who == "name":
            return content
        who, rest = found
        rest = replace_inner_speaker(rest, self.speaker, self.locale)
        if who.owns:
            return f"{make_possessive(who.words, self.locale)} {rest}"
        return f"{who.words} {to_third_person(rest, self.locale) if who.speaks else rest}"

    def _owned(self, content: str) -> str:
        """ "Hates noise in her street", where the message says "my street": it is the speaker's."""
        whose = make_possessive(self.speaker, self.locale)
        mine = "|".join(form.pattern for form, new in self.locale.turned if new == "{whose}")
        for word in dict.fromkeys(find_pronouns(content, self.speaker, self.locale)):
            for thing in re.findall(rf"(?<!\w){re.escape(word)} (\w+)", content):
                theirs = re.compile(rf"(?<!\w){re.escape(word)} {thing}\b", re.IGNORECASE)
                own = re.search(rf"(?:{mine}) {thing}\b", self.turn.text, re.IGNORECASE)
                if own and not theirs.search(self.turn.text):
                    # Split and joined: a name may hold what a template would read.
                    content = f"{whose} {thing}".join(theirs.split(content))
        return content

    def _named(self, content: str) -> str:
        """Pronouns as whom they stand for, where that is no guess; and a fact that a person is said
        to know, as the fact: "Ana knows that the lift is out" where Ana says so."""
        content = resolve_pronouns(content, self.turn.text, self.speaker, self.locale)
        told = None
        if content.casefold().startswith(self.speaker.casefold()):
            told = self.locale.patterns["told_that"].match(content[len(self.speaker) :])
        if told is None:
            return content
        content = content[len(self.speaker) + told.end() :]
        content = content[:1].upper() + content[1:]
        return resolve_pronouns(content, self.turn.text, self.speaker, self.locale)

    def _introduced(self, content: str, about: list[str]) -> str:
        """ "Wanda's manager is away" of Ingrid, whom the message says to be the manager."""
        whose = f"{make_possessive(self.speaker, self.locale)} "
        kin = None
        if content.casefold().startswith(whose.casefold()):
            kin = self.locale.patterns["kin"].match(content[len(whose) :])
        unnamed = [one for one in about[:ABOUT_MAX_COUNT] if one.casefold() not in content.casefold()]
        if kin is None or len(unnamed) != 1 or not is_name(unnamed[0], self.locale, named=True):
            return content
        name = unnamed[0]
        called = re.search(
            rf"\b{re.escape(kin['kin'])}((?: \w+){{0,2}}),? {re.escape(name)}\b(?!['’])", self.turn.text, re.IGNORECASE
        )
        between = called[1].strip().lower() if called else "?"
        being = between in {"", *self.locale.words["verbs_being"]}
        if not being and not self.locale.has("names_listed", between):
            return content
        end = len(whose) + kin.end()
        return f"{content[:end]} {name}{content[end:]}"

    def _marked(self, text: str) -> tuple[str, list[DateMention]]:
        past = self.locale.has("past", text) and not self.locale.has("to_come", text)
        return mark_dates(text, self.turn.said_at, self.locale, past=past)

    def says_when(self, text: str) -> bool:
        """Whether words name a day, an hour or something that comes back, other than now."""
        return bool(self._marked(text)[1]) and not self.locale.has("momentary", text)

    def dated(self, statement: StatedFact) -> str:
        """The content with days that count from another written out; as the message means them,
        where both name one."""
        marked, whens = self._marked(statement.content)
        if not any(when.relative for when in whens):
            return statement.content
        meant = self._days(statement.quote)
        if len(whens) == len(meant) == 1:
            whens = [replace(meant[0], mark=whens[0].mark)]
        return " ".join(spell_dates(marked, whens, as_said=True).split())

    def _days(self, quote: str) -> list[DateMention]:
        _, whens = self._marked(quote[: limits.LEARN_CONTEXT_MAX_CHARS])
        return [when for when in whens if when.at is not None and when.full]

    def _when(self, statement: StatedFact) -> datetime | None:
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
