"""What a session comes to, as the rules tell that learning reads with: in every language that they
know, and without a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from tacit import limits
from tacit.learning.extraction import rules
from tacit.learning.extraction.holds import read_holds
from tacit.learning.extraction.locale import Locale
from tacit.learning.extraction.sentences import squeeze_spaces
from tacit.learning.facts import Hold, StatedFact
from tacit.learning.verification import classify_statement
from tacit.notes.merge.merging import merged_links
from tacit.notes.merge.tasks import duties, finishes, happened
from tacit.records.conversation import ParsedMessage, Role, select_last_messages
from tacit.records.memory import Kind, Sensitivity
from tacit.records.notes import NoteLink, SessionDraft, TaskDraft, TopicDraft
from tacit.screening import secrets
from tacit.screening.instructions import find_instruction

T = TypeVar("T")
_SUMMARY_MAX_COUNT = 3  # things that a summary by rules tells of
_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)  # where only whether something is said matters
_LINK_TEXT_MAX_CHARS = 60
_URL = re.compile(r"https?://[^\s<>()\[\]\"'`|\\]{3,500}")
_URL_ENDS = ".,;:!?*_"
# What somebody is and likes is kept as such, and is no fact of the day.
_OF_THE_DAY = frozenset({Kind.CONTEXT, Kind.KNOWLEDGE, Kind.OBSERVATION})


def draft_by_rules(
    messages: Sequence[ParsedMessage],
    speaker: str,
    said_at: datetime,
    tongue: Locale,
    open_tasks: Sequence[str] = (),
) -> SessionDraft:
    """What the messages state, without a model: facts, tasks, links, and which of the open tasks
    they say are done. A message without a name is the speaker's. Empty where nothing is said."""
    heard = shareable(messages, tongue)
    stated: list[tuple[ParsedMessage, StatedFact]] = []
    owed: list[str] = []
    for said in (one for one in heard if one.role is Role.USER):
        who, at = said.name or speaker, said.at or said_at
        found = rules.extract_by_rules(said.content, who, at, tongue)
        whole = (classify_statement(one, tongue, at) for one in found)
        stated += [(said, one) for one in whole if _public(one)]
        own = [one for one in duties(said.content, who, at, tongue) if _harmless(one, tongue)]
        owed += [f"{said.name}: {one}" if said.name else one for one in own]
    lines = [one for _, one in stated]
    open_ones = list(dict.fromkeys(open_tasks))[: limits.DRAFT_OPEN_TASKS_MAX_COUNT]
    done = _done(open_ones, heard, speaker, said_at, tongue)
    return SessionDraft(
        summary=_summary(lines),
        topics=few(
            TopicDraft(
                topic=one.content, users=said.name or speaker, when=moment(said.at or said_at)
            )
            for said, one in stated
            if one.kind is Kind.EVENT
        ),
        facts=few(one.content for one in lines if one.kind in _OF_THE_DAY),
        tasks=few(
            [
                *(TaskDraft(text=one, done=True) for one in done),
                *(TaskDraft(text=one.content) for one in lines if one.kind is Kind.TASK),
                *(TaskDraft(text=one) for one in owed),
            ]
        ),
        links=few(_links(heard)),
    )


def shareable(messages: Sequence[ParsedMessage], tongue: Locale) -> list[ParsedMessage]:
    """What a note may draw on: notes are read by others, so nothing that is to stay between a few,
    with the answers to it; nothing that reads like an instruction, and no secret. Of a long
    conversation, the end."""
    kept: list[ParsedMessage] = []
    last = select_last_messages(messages)
    hushed = len(messages) > len(last)  # until somebody speaks again
    for one in last:
        said = replace(one, content=squeeze_spaces(one.content))
        if said.role not in (Role.USER, Role.ASSISTANT):
            continue
        if said.role is Role.USER:
            hushed = read_holds(said.content).guarded
            if hushed and not rules.extract_by_rules(said.content, "", said.at or _ANY_DAY, tongue):
                _unsay(kept)  # "ok, but keep that between us" speaks of what was said before
        if (
            not hushed
            and not find_instruction(said.content)
            and not secrets.find_secret(said.content)
        ):
            kept.append(said)
    return kept


def moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M %Z}".strip()


def _unsay(kept: list[ParsedMessage]) -> None:
    """The last message of a person, and what was answered to it."""
    while kept and kept[-1].role is not Role.USER:
        kept.pop()
    del kept[-1:]


def _public(statement: StatedFact) -> bool:
    held = statement.hold in (Hold.PRIVATE, Hold.ROOM) or bool(statement.withheld_from)
    return not held and statement.sensitivity is not Sensitivity.SENSITIVE


def _harmless(line: str, tongue: Locale) -> bool:
    return not any(
        one.sensitivity is Sensitivity.SENSITIVE and one.match.search(line)
        for one in tongue.lexicon
    )


def _summary(lines: Sequence[StatedFact]) -> str:
    """The weightiest things, in the order in which they were said, as far as they fit."""
    weighty = sorted(lines, key=lambda one: -(one.importance or 0))[:_SUMMARY_MAX_COUNT]
    said = ""
    for one in dict.fromkeys(one.content for one in lines if one in weighty):
        longer = f"{said}; {one}" if said else one
        if len(longer) <= limits.DRAFT_LINE_MAX_CHARS:
            said = longer
    return said


def _done(
    tasks: Sequence[str],
    heard: Sequence[ParsedMessage],
    speaker: str,
    said_at: datetime,
    tongue: Locale,
) -> list[str]:
    """Those of the tasks that the speaker says are done."""
    own = [one for one in heard if one.role is Role.USER and one.name is None] if tasks else []
    told = [happened(one.content, one.at or said_at, tongue) for one in own]
    return [
        task
        for task in tasks
        if any(one and finishes(one, task, speaker, said_at, tongue) for one in told)
    ]


def _links(heard: Sequence[ParsedMessage]) -> tuple[NoteLink, ...]:
    targets = (match.rstrip(_URL_ENDS) for said in heard for match in _URL.findall(said.content))
    return merged_links((), [NoteLink(text=_named(one), target=one) for one in targets])


def _named(target: str) -> str:
    """Where it leads, without what nobody reads."""
    return target.partition("://")[2].partition("?")[0].rstrip("/")[:_LINK_TEXT_MAX_CHARS]


def few(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(found))[: limits.DRAFT_LINES_MAX_COUNT]
