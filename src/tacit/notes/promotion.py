"""Promote what a person asked to keep into their long-term index, and make room in it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tacit import limits
from tacit.learning import memory_writes
from tacit.learning.claims import has_negation
from tacit.learning.extraction import rules
from tacit.learning.extraction.locale import Locale
from tacit.learning.extraction.mentions import mark_dates
from tacit.learning.extraction.sentences import LOOKED_AT_MAX_CHARS
from tacit.learning.facts import StatedFact
from tacit.learning.verification import check_form, check_support, classify_statement
from tacit.notes import merge, paths
from tacit.notes.drafts import EndedConversation
from tacit.notes.lexicon import get_lexicon
from tacit.notes.writers import ViewNoteWriter, draft_item
from tacit.policy.rules import ChangeAction, RequesterRole, may_change
from tacit.prompts import readable_notes
from tacit.prompts.readable_notes import MemoryFilter
from tacit.records import notes
from tacit.records.conversation import ParsedMessage, Role, select_last_messages
from tacit.records.drafts import Draft
from tacit.records.memory import ChatKind, Kind, Memory, State
from tacit.records.notes import CHECKBOX_SECTIONS, NoteItem, NoteKind, NoteRef, Section, SessionDraft
from tacit.records.validation import fold_name
from tacit.screening import secrets
from tacit.screening.instructions import find_instruction
from tacit.storage import learned_facts, memories
from tacit.storage.memories import Transaction
from tacit.storage.notes import NoteRow, ensure_note, list_visible_items, put_item, remove_item, update_note
from tacit.text import split_terms

# What enters a person's long-term index: very little, and only what they asked to keep.

_GOAL = "goal"  # the slot of a goal
_KINDS_ELSEWHERE = (Kind.TASK, Kind.EVENT, Kind.RELATIONSHIP, Kind.PREFERENCE, Kind.IDENTITY)
_DAY_SECONDS = 86_400
_STATES = ("thing_passes", "thing_fails", "shared_passes")  # patterns of temporary states
_WORD = re.compile(r"\b[^\W\d_]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    content: str
    section: Section  # GOALS or KEY_FACTS


def find_promotion(draft: SessionDraft, talk: EndedConversation, index: Sequence[NoteItem] = ()) -> Promotion | None:
    """Find at most one lasting thing that the person explicitly asked to keep; None in doubt.

    What the draft names must have been asked for in the messages, if there are any; otherwise the
    messages are searched. `index` is what the index holds already.
    """
    if not get_lexicon(talk.locale.code).passing:
        return None  # no lexicon: nothing tells what lasts
    choice = _PromotionReader(talk.speaker, talk.at, talk.locale)
    requests = choice.requests(talk.messages)
    if draft.promote is not None:
        found = choice.read_named(draft.promote, requests, asked=not talk.messages)
    else:
        found = choice.read(requests)
    held = [one.content for one in index]
    fresh = [one for one in found if not any(merge.is_alike(one.content, old) for old in held)]
    if not fresh:
        return None
    # The last of the weightiest: later statements prevail.
    best = max(enumerate(fresh), key=lambda one: (one[1].importance or 0, one[0]))[1]
    goal = choice.is_goal(best) or (draft.promote and draft.promote_to is Section.GOALS)
    return Promotion(content=best.content, section=Section.GOALS if goal else Section.KEY_FACTS)


KeepRequest = tuple[str, bool]  # a text, and whether all of it is asked for, not only a part


@dataclass(frozen=True, slots=True)
class _PromotionReader:
    speaker: str
    said_at: datetime
    locale: Locale

    def requests(self, messages: Sequence[ParsedMessage]) -> list[KeepRequest]:
        """Return the parts of the person's own messages that ask to keep something."""
        found: list[KeepRequest] = []
        before = ""
        for said in select_last_messages(messages):
            own = said.name is None or fold_name(said.name) == fold_name(self.speaker)
            if said.role is not Role.USER or not own:
                continue
            text = said.content.strip()[:LOOKED_AT_MAX_CHARS]
            if find_instruction(text) or secrets.find_secret(text):
                before = ""
                continue
            found += self._asked(text, before)
            before = text
        return found

    def read(self, requests: Sequence[KeepRequest]) -> list[StatedFact]:
        """Return what the rules read in the requests and the index may hold."""
        found = []
        for text, whole in requests:
            for one in rules.extract_by_rules(text, self.speaker, self.said_at, self.locale):
                one = classify_statement(one, self.locale, self.said_at)
                if (whole or one.explicit) and self._may_enter(one):
                    found.append(one)
        return found

    def read_named(self, content: str, requests: Sequence[KeepRequest], *, asked: bool) -> list[StatedFact]:
        """Return what the draft says was requested.

        `asked`: there are no messages to check it against.
        """
        content = " ".join(content.split())
        read = rules.extract_by_rules(content, self.speaker, self.said_at, self.locale)
        if len(read) > 1:
            return []
        made = self._statement(content, read[0] if read else None)
        if not asked and not any(self._is_requested(text, made) for text, _ in requests):
            return []
        whole = classify_statement(made, self.locale, self.said_at)
        return [whole] if self._may_enter(whole) else []

    def _statement(self, content: str, read: StatedFact | None) -> StatedFact:
        """Build a statement from a sentence, whose speaker the rules treat as a third person."""
        if read is not None:
            others = tuple(one for one in read.about if fold_name(one.name or "") != fold_name(self.speaker))
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
        goals = get_lexicon(self.locale.code).kept_goal
        return statement.slot == _GOAL or bool(goals & set(_split_words(statement.content)))

    def _asked(self, text: str, before: str) -> list[KeepRequest]:
        """Return requests; for a bare "put that into long-term memory", the message before it."""
        own, locale = get_lexicon(self.locale.code), self.locale
        found: list[KeepRequest] = []
        for sentence in filter(None, _SENTENCE_END.split(text)):
            if own.asks.search(sentence):
                bare = own.asked_tail.sub("", own.asked_lead.sub("", sentence)).strip()
                found.append((bare or before, True))
            elif locale.patterns["asked_to_keep"].fullmatch(sentence) and sentence == text:
                found.append((before, True))
            elif locale.has("explicit", sentence) or locale.has("asked_to_keep", sentence):
                found.append((text, False))
            before = sentence
        return [one for one in dict.fromkeys(found) if one[0]]

    def _is_requested(self, text: str, statement: StatedFact) -> bool:
        """Report whether a request supports it and nothing in it belongs elsewhere."""
        quoted = replace(statement, quote=text)
        if check_support(quoted, text, self.speaker, self.locale) is not None:
            return False
        read = rules.extract_by_rules(text, self.speaker, self.said_at, self.locale)
        same = [one for one in read if merge.is_alike(one.content, statement.content)]
        return all(self._may_enter(classify_statement(one, self.locale, self.said_at)) for one in same)

    def _may_enter(self, statement: StatedFact) -> bool:
        content, locale = statement.content, self.locale
        unfit = check_form(content, self.speaker, locale) or find_instruction(content)
        if unfit or secrets.find_secret(content) or self._passes(statement):
            return False
        # What is told of people, or ruled out, is stored as such, as are profile, preferences
        # and tasks.
        if statement.hearsay or statement.about or has_negation(content, locale):
            return False
        if get_lexicon(locale.code).rules_out & set(_split_words(content)):
            return False
        if statement.slot == _GOAL:
            return True
        # Of a person it tells what they are or do; of a thing of theirs it may enter.
        of_person = f"{content.casefold()} ".startswith(f"{self.speaker.strip().casefold()} ")
        if statement.kind is not Kind.KNOWLEDGE or of_person:
            return False
        personal = statement.about_speaker or not statement.quote
        if personal and (statement.slot or any(locale.has(f"kind_{k}", content) for k in _KINDS_ELSEWHERE)):
            return False
        return not locale.has("kind_task", content)

    def _passes(self, statement: StatedFact) -> bool:
        """Report whether it has a date or is temporary."""
        if statement.observed_at is not None or statement.expires_at is not None:
            return True
        content, locale = statement.content, self.locale
        if mark_dates(content, self.said_at, locale, past=False)[1]:
            return True
        said = [content[found.start() :] for found in _WORD.finditer(content)]
        states = [locale.patterns[one] for one in _STATES if one in locale.patterns]
        if any(one.match(rest) for one in states for rest in said):
            return True
        return bool(get_lexicon(locale.code).passing & set(_split_words(content)))


def select_overflow(
    items: Sequence[NoteItem],
    uses: Mapping[str, tuple[int, datetime]],
    *,
    items_max: int = limits.LONG_TERM_ITEMS_MAX_COUNT,
    chars_max: int = limits.LONG_TERM_MAX_CHARS,
) -> tuple[str, ...]:
    """Return the ids that leave a full index: the least and longest ago used, tasks last.

    `uses` has the number of uses and the time of the last one, or else when it was said. An item
    without an id or a use is new, and stays.
    """
    count, chars = len(items), sum(len(one.content) for one in items)
    left: list[str] = []

    def weight(item: NoteItem) -> tuple[bool, float]:
        """Weigh uses, halved with each half-life since the last one."""
        used, at = uses[item.id or ""]
        days = at.timestamp() / _DAY_SECONDS / limits.EVICTION_HALF_LIFE_DAYS
        is_open = item.section in CHECKBOX_SECTIONS and not item.done
        return is_open, math.log2(1 + max(0, used)) + days

    for item in sorted((one for one in items if one.id in uses), key=weight):
        if count <= items_max and chars <= chars_max:
            break
        left.append(item.id or "")
        count, chars = count - 1, chars - len(item.content)
    return tuple(left)


def _split_words(text: str) -> list[str]:
    """Split words as written and without accents."""
    return [*text.casefold().replace("’", "'").split(), *split_terms(text)]


# Write into the long-term index of the person whose private chat it is: at most one thing per
# session; the least used item leaves a full index.


def promote(writer: ViewNoteWriter, session: str, usable: MemoryFilter, what: Promotion) -> str | None:
    """Return the id of what entered the index, or None.

    `session` is the path of the session's note, which tells whether it had its one.
    """
    tx, request = writer.tx, writer.tx.request
    if request.subject is None or not request.private:
        return None
    found = readable_notes.list_index_items(tx.connection, tx.audiences, request, lambda _: True)
    index = {memory.id: memory for _, memory in found}
    known = _find_known(tx, usable, what.content)
    had = any(memory.run == session for memory in index.values())
    if had or (known is not None and known.id in index):
        return None
    ttls = writer.retention.ttls
    if known is None:
        filed = notes.filing_of_section(what.section)
        draft = draft_item(tx, what.content, filed, agent=writer.agent, run=session)
        id = memory_writes.remember(tx, draft, ttls).id
    else:
        id = known.id
        memory_writes.update_memory(tx, known, RequesterRole.OWNER, Draft(run=session), ttls)
    row = NoteRow(
        path=paths.note_path(NoteRef(kind=NoteKind.LONG_TERM, subject=request.subject)),
        kind=NoteKind.LONG_TERM,
        created_at=tx.at,
        updated_at=tx.at,
        subject=request.subject,
        chat=request.chat,
        chat_kind=ChatKind.PRIVATE,
    )
    path = ensure_note(tx, row).path
    put_item(tx, path, id, what.section, added_on=tx.at.date())
    rows = list_visible_items(tx.connection, tx.audiences, request, [path])[path]
    items = [notes.item_from_memory(memory, item.section) for item, memory in rows]
    uses = {
        memory.id: (memory.access_count, memory.last_accessed_at or memory.created_at)
        for _, memory in rows
        if memory.id != id
    }
    for old in select_overflow(items, uses):
        remove_item(tx, path, old)
    update_note(tx, path, updated_at=tx.at)
    return id


def _find_known(tx: Transaction, usable: MemoryFilter, content: str) -> Memory | None:
    """Find the person's memory with the same words."""
    said = learned_facts.normalized_digest(content)
    found = learned_facts.list_similar_facts(tx.connection, tx.space, tx.request.own_identities, [said], [], 1)
    memory = memories.get_for_update(tx, found[0].id) if found else None
    if memory is None or memory.state is not State.ACTIVE or not memory.kind.lasting:
        return None
    if not usable(memory) or learned_facts.normalized_digest(memory.content) != said:
        return None
    own = may_change(ChangeAction.UPDATE, tx.request, memory) is RequesterRole.OWNER
    return memory if own else None
