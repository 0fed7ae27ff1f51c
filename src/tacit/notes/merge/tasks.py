"""Tasks that a later session finished: which of the open ones of recent days are ticked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tacit.learning.claims import has_negation
from tacit.learning.corrections.cues import CorrectionCues, load_cues
from tacit.learning.corrections.messages import CorrectionMessage, read_message
from tacit.learning.corrections.outlines import ClauseOutline
from tacit.learning.extraction.dates import mark_dates
from tacit.learning.extraction.locale import Locale
from tacit.learning.extraction.mentions import replace_speaker
from tacit.learning.verification import check_form
from tacit.notes.merge import similar
from tacit.notes.merge.lexical import lexical
from tacit.records.notes import CHECKBOX_SECTIONS, NoteItem, SessionDraft

_MARK = re.compile(r"⟦[dt]\d⟧")
_WANTED_MIN_COUNT = 2


def finished(draft: SessionDraft) -> tuple[str, ...]:
    """The texts of the tasks and follow-ups that a session says are done."""
    return tuple(one.text for one in (*draft.tasks, *draft.follow_ups) if one.done)


def ticked(done: Sequence[str], items: Sequence[NoteItem]) -> tuple[NoteItem, ...]:
    """Those of the items (of recent notes, in any section of tasks) that are open and are finished
    by what is done, each with `done` set. Doubt leaves a task open."""
    open_ones = [
        one
        for one in items
        if one.section in CHECKBOX_SECTIONS and not one.done and not one.conflict
    ]
    return tuple(
        replace(one, done=True)
        for one in open_ones
        if any(similar.same_words(_first(one.content), _first(text)) for text in done)
    )


def refiled(new: Sequence[NoteItem], known: Sequence[NoteItem]) -> tuple[NoteItem, ...]:
    """What a session finished, under the section in which it was waiting: a follow-up that is done
    is no task that is done."""
    waiting = [one for one in known if one.section in CHECKBOX_SECTIONS and not one.conflict]
    return tuple(
        _filed(one, waiting) if one.section in CHECKBOX_SECTIONS and one.done else one
        for one in new
    )


def happened(text: str, said_at: datetime, tongue: Locale) -> CorrectionMessage | None:
    """A message that tells of what was done; None where it tells of plans, or of nothing."""
    if tongue.has("kind_task", text):
        return None
    if any(
        when.at and when.at > said_at for when in mark_dates(text, said_at, tongue, past=False)[1]
    ):
        return None
    return read_message(text, load_cues(tongue.code), tongue)


def finishes(
    heard: CorrectionMessage, task: str, speaker: str, said_at: datetime, tongue: Locale
) -> bool:
    """Whether what a message tells of is what a task asks for: "I've paid the rent", "the rent is
    paid". A plan, question or denial is not, nor what somebody else did."""
    wanted = _wanted(task, speaker, said_at, tongue)
    if len(wanted) < _WANTED_MIN_COUNT:
        return False
    own = load_cues(tongue.code)
    told = [one for one in heard.clauses if heard.tone.done or one.past]
    return any(_tells(one, wanted, own, tongue) for one in told)


def duties(text: str, who: str, said_at: datetime, tongue: Locale) -> list[str]:
    """What a message says its writer has to do, on no day in particular: "I need to call the
    plumber" is "Call the plumber". What has a day is read as a statement."""
    own = load_cues(tongue.code)
    heard = read_message(text, own, tongue) if tongue.has("kind_task", text) else None
    found: list[str] = []
    for clause in heard.clauses if heard else ():
        said = clause.segment
        meant = clause.speaks and not clause.negated and tongue.has("kind_task", said)
        if (
            meant
            and not has_negation(said, tongue)
            and not mark_dates(said, said_at, tongue, past=False)[1]
        ):
            line = _duty(clause, who, own, tongue)
            telling = similar.keywords(line, tongue) - similar.keywords(who, tongue)
            if len(telling) >= _WANTED_MIN_COUNT and check_form(line, who, tongue) is None:
                found.append(line)
    return found


def _duty(clause: ClauseOutline, who: str, own: CorrectionCues, tongue: Locale) -> str:
    """What stands behind "need to", or nothing."""
    owed = own.words["duties"] | own.words["obligations"]
    place = next((n for n, word in enumerate(clause.words) if word.stem in owed), None)
    rest = clause.words[place + 1 :] if place is not None else ()
    leads = own.words["towards"] | own.words["adverbs"] | own.words["obligations"]
    while rest and rest[0].low in leads:
        rest = rest[1:]
    if not rest:
        return ""
    said = replace_speaker(clause.text[rest[0].start : rest[-1].end], who, tongue).strip(" ,.")
    return said[:1].upper() + said[1:]


def _filed(item: NoteItem, waiting: Sequence[NoteItem]) -> NoteItem:
    same = [one for one in waiting if similar.same_words(_first(one.content), _first(item.content))]
    sections = {one.section for one in same}
    return item if len(sections) != 1 else replace(item, section=sections.pop())


def _wanted(task: str, speaker: str, said_at: datetime, tongue: Locale) -> frozenset[str]:
    """The words of a task that somebody who did it would say again: not when, nor who has to."""
    own = load_cues(tongue.code)
    bare = _MARK.sub(" ", mark_dates(_first(task), said_at, tongue, past=False)[0])
    ours = similar.keywords(speaker, tongue) | own.words["duties"] | own.words["obligations"]
    return similar.keywords(bare, tongue) - ours


def _tells(
    clause: ClauseOutline, wanted: frozenset[str], own: CorrectionCues, tongue: Locale
) -> bool:
    if clause.negated or clause.other is not None or has_negation(clause.segment, tongue):
        return False
    every = {_root(word.stem, tongue) for word in clause.words}
    roots = {_root(one, tongue) for one in wanted}
    if not roots <= every:
        return False
    subject = {_root(one, tongue) for one in clause.subject}
    passive = bool(subject) and subject <= roots
    passive = passive and any(word.low in own.words["be"] for word in clause.words)
    doing = _root(clause.verb or "", tongue) in roots or clause.verb in own.words["auxiliaries"]
    return passive or (clause.speaks and doing and not _meant_to(clause, roots, own, tongue))


def _meant_to(clause: ClauseOutline, roots: set[str], own: CorrectionCues, tongue: Locale) -> bool:
    """ "Wanted to call", "tried to pay": it is still to be done."""
    return any(
        before.low in own.words["towards"] and _root(word.stem, tongue) in roots
        for before, word in zip(clause.words, clause.words[1:], strict=False)
        if word.stem == clause.verb or clause.verb not in roots
    )


def _root(stem: str, tongue: Locale) -> str:
    """A stem without the mark of a past form: gekauft, kaufen; angerufen, anrufen."""
    return stem.replace(prefix, "", 1) if (prefix := lexical(tongue.code).participle) else stem


def _first(content: str) -> str:
    return content.partition("\n")[0]
