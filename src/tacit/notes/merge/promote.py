"""What enters a person's long-term index: very little, and only what they asked to be kept."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tacit import limits
from tacit.learning.claims import has_negation
from tacit.learning.extraction import rules
from tacit.learning.extraction.dates import mark_dates
from tacit.learning.extraction.locale import Locale
from tacit.learning.extraction.sentences import LOOKED_AT_MAX_CHARS
from tacit.learning.facts import StatedFact
from tacit.learning.verification import check_form, check_support, classify_statement
from tacit.notes.merge import similar
from tacit.notes.merge.lexical import lexical
from tacit.records.conversation import ParsedMessage, Role, select_last_messages
from tacit.records.memory import Kind
from tacit.records.notes import CHECKBOX_SECTIONS, NoteItem, Section, SessionDraft
from tacit.records.text import split_terms
from tacit.records.validation import fold_name
from tacit.screening import secrets
from tacit.screening.instructions import find_instruction

_GOAL = "goal"  # the slot of a goal
_ELSEWHERE = (Kind.TASK, Kind.EVENT, Kind.RELATIONSHIP, Kind.PREFERENCE, Kind.IDENTITY)
_DAY_SECONDS = 86_400
_STATES = ("thing_passes", "thing_fails", "shared_passes")  # patterns: what is so for now
_WORD = re.compile(r"\b[^\W\d_]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    content: str
    section: Section  # GOALS or KEY_FACTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How much an item of the index is used, for choosing what leaves it."""

    count: int  # how often it came up
    at: datetime  # when it was last used, or else said


def promotion(
    draft: SessionDraft,
    messages: Sequence[ParsedMessage],
    speaker: str,
    said_at: datetime,
    tongue: Locale,
    index: Sequence[NoteItem] = (),
) -> Promotion | None:
    """At most one thing that the person explicitly asked to be kept and that lasts; None in doubt.

    What the draft names must have been asked for in the messages, where there are any; what it does
    not name is looked for in them. `index` is what the long-term index holds already.
    """
    if not lexical(tongue.code).passing:
        return None  # of this language nobody can tell what lasts
    choice = _Choice(speaker, said_at, tongue)
    requests = choice.requests(messages)
    if draft.promote is not None:
        found = choice.read_named(draft.promote, requests, asked=not messages)
    else:
        found = choice.read(requests)
    held = [one.content for one in index]
    fresh = [one for one in found if not any(similar.alike(one.content, old) for old in held)]
    if not fresh:
        return None
    # The last of the weightiest: what was said later is what holds.
    best = max(enumerate(fresh), key=lambda one: (one[1].importance or 0, one[0]))[1]
    goal = choice.is_goal(best) or (draft.promote and draft.promote_to is Section.GOALS)
    return Promotion(content=best.content, section=Section.GOALS if goal else Section.KEY_FACTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    text: str
    whole: bool  # all of it is asked for; else what of it the rules read as asked for


@dataclass(frozen=True, slots=True)
class _Choice:
    speaker: str
    said_at: datetime
    tongue: Locale

    def requests(self, messages: Sequence[ParsedMessage]) -> list[_Request]:
        """What of the person's own messages asks for something to be kept."""
        found: list[_Request] = []
        before = ""
        for said in select_last_messages(messages):
            if said.role is not Role.USER or not self._own_text(said):
                continue
            text = said.content.strip()[:LOOKED_AT_MAX_CHARS]
            if find_instruction(text) or secrets.find_secret(text):
                before = ""
                continue
            found += self._asked(text, before)
            before = text
        return found

    def read(self, requests: Sequence[_Request]) -> list[StatedFact]:
        """What the rules read in the requests, as far as it may enter."""
        found = []
        for request in requests:
            for one in rules.extract_by_rules(
                request.text, self.speaker, self.said_at, self.tongue
            ):
                one = classify_statement(one, self.tongue, self.said_at)
                if (request.whole or one.explicit) and self._may_enter(one):
                    found.append(one)
        return found

    def read_named(
        self, content: str, requests: Sequence[_Request], *, asked: bool
    ) -> list[StatedFact]:
        """What somebody else says was asked for. `asked`: there is nothing to hold it against."""
        content = " ".join(content.split())
        read = rules.extract_by_rules(content, self.speaker, self.said_at, self.tongue)
        if len(read) > 1:
            return []
        made = self._statement(content, read[0] if read else None)
        if not asked and not any(self._is_requested(request.text, made) for request in requests):
            return []
        whole = classify_statement(made, self.tongue, self.said_at)
        return [whole] if self._may_enter(whole) else []

    def _statement(self, content: str, read: StatedFact | None) -> StatedFact:
        """A sentence of which nothing is known but what the rules read in it. To them, the speaker
        is somebody else in it."""
        if read is not None:
            others = tuple(
                one for one in read.about if fold_name(one.name or "") != fold_name(self.speaker)
            )
            own = len(others) < len(read.about)
            return replace(
                read,
                content=content,
                explicit=True,
                about=others,
                about_speaker=read.about_speaker or own,
                hearsay=read.hearsay and not (own and not others),
            )
        return StatedFact(
            content=content,
            quote="",
            explicit=True,
            kind=None,
            about_speaker=False,
            about=(),
            hearsay=False,
            slot=None,
            value=None,
            negated=False,
            observed_at=None,
            withheld_from=(),
            hold=None,
        )

    def is_goal(self, statement: StatedFact) -> bool:
        goals = lexical(self.tongue.code).kept_goal
        return statement.slot == _GOAL or bool(goals & set(_words(statement.content)))

    def _own_text(self, said: ParsedMessage) -> bool:
        return said.name is None or fold_name(said.name) == fold_name(self.speaker)

    def _asked(self, text: str, before: str) -> list[_Request]:
        """Where it says no more than "put that into long-term memory", what was said before it."""
        own, tongue = lexical(self.tongue.code), self.tongue
        found: list[_Request] = []
        for sentence in filter(None, _SENTENCE_END.split(text)):
            if own.asks.search(sentence):
                bare = own.asked_tail.sub("", own.asked_lead.sub("", sentence)).strip()
                found.append(_Request(text=bare or before, whole=True))
            elif tongue.patterns["asked_to_keep"].fullmatch(sentence) and sentence == text:
                found.append(_Request(text=before, whole=True))
            elif tongue.has("explicit", sentence) or tongue.has("asked_to_keep", sentence):
                found.append(_Request(text=text, whole=False))
            before = sentence
        return [one for one in dict.fromkeys(found) if one.text]

    def _is_requested(self, text: str, statement: StatedFact) -> bool:
        """A request bears it out, and nothing that the rules read in it has its own place."""
        quoted = replace(statement, quote=text)
        if check_support(quoted, text, self.speaker, self.tongue) is not None:
            return False
        read = rules.extract_by_rules(text, self.speaker, self.said_at, self.tongue)
        same = [one for one in read if similar.alike(one.content, statement.content)]
        return all(
            self._may_enter(classify_statement(one, self.tongue, self.said_at)) for one in same
        )

    def _may_enter(self, statement: StatedFact) -> bool:
        content, tongue = statement.content, self.tongue
        if (
            check_form(content, self.speaker, tongue)
            or find_instruction(content)
            or secrets.find_secret(content)
        ):
            return False
        return self._own_place(statement) is None and not self._passes(statement)

    def _own_place(self, statement: StatedFact) -> str | None:
        """What it is, where that is kept elsewhere: profile, preferences, people, bans, tasks."""
        content, tongue = statement.content, self.tongue
        if statement.hearsay or statement.about:
            return "people"
        if has_negation(content, tongue) or lexical(tongue.code).rules_out & set(_words(content)):
            return "rules"
        if statement.slot == _GOAL:
            return None
        if statement.kind is not Kind.KNOWLEDGE or self._leads_with_person(content):
            return str(statement.kind)
        personal = statement.about_speaker or not statement.quote
        if personal and (
            statement.slot or any(tongue.has(f"kind_{k}", content) for k in _ELSEWHERE)
        ):
            return "profile"
        return "task" if tongue.has("kind_task", content) else None

    def _leads_with_person(self, content: str) -> bool:
        """What somebody is or does, and not what a thing of theirs is."""
        return f"{content.casefold()} ".startswith(f"{self.speaker.strip().casefold()} ")

    def _passes(self, statement: StatedFact) -> bool:
        """Whether it has a day, or will not be so for long."""
        if statement.observed_at is not None or statement.expires_at is not None:
            return True
        content, tongue = statement.content, self.tongue
        if mark_dates(content, self.said_at, tongue, past=False)[1]:
            return True
        said = [content[found.start() :] for found in _WORD.finditer(content)]
        states = [tongue.patterns[one] for one in _STATES if one in tongue.patterns]
        if any(one.match(rest) for one in states for rest in said):
            return True
        return bool(lexical(tongue.code).passing & set(_words(content)))


def overflow(
    items: Sequence[NoteItem],
    uses: Mapping[str, Use],
    *,
    items_max: int = limits.LONG_TERM_ITEMS_MAX_COUNT,
    chars_max: int = limits.LONG_TERM_MAX_CHARS,
) -> tuple[str, ...]:
    """The ids that leave an index that holds too much: the least and longest ago used, open tasks
    last of all. An item without an id or a use is new, and stays."""
    count, chars = len(items), sum(len(one.content) for one in items)
    known = [one for one in items if one.id is not None and one.id in uses]
    left: list[str] = []
    for item in sorted(known, key=lambda one: (_is_open(one), _worth(uses[one.id or ""]))):
        if count <= items_max and chars <= chars_max:
            break
        left.append(item.id or "")
        count, chars = count - 1, chars - len(item.content)
    return tuple(left)


def _worth(use: Use) -> float:
    """Each half-life without a use weighs as much as half of the uses."""
    days = use.at.timestamp() / _DAY_SECONDS
    return math.log2(1 + max(0, use.count)) + days / limits.EVICTION_HALF_LIFE_DAYS


def _is_open(item: NoteItem) -> bool:
    return item.section in CHECKBOX_SECTIONS and not item.done


def _words(text: str) -> list[str]:
    """As people write them, and without accents."""
    return [*text.casefold().replace("’", "'").split(), *split_terms(text)]
