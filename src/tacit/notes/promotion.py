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
from tacit.learning.composition import Ttls, stricter_sensitivity
from tacit.learning.extraction import rules
from tacit.learning.extraction.dates import mark_dates
from tacit.learning.extraction.locale import Locale
from tacit.learning.extraction.sentences import LOOKED_AT_MAX_CHARS
from tacit.learning.facts import StatedFact
from tacit.learning.verification import check_form, check_support, classify_statement
from tacit.notes import merge, paths
from tacit.notes.lexicon import get_lexicon
from tacit.notes.writers import chat_sensitivity
from tacit.policy.permissions import ChangeAction, RequesterRole, may_change
from tacit.prompts import readable_notes
from tacit.prompts.readable_notes import MemoryFilter
from tacit.records import notes
from tacit.records.conversation import ParsedMessage, Role, select_last_messages
from tacit.records.drafts import Draft
from tacit.records.memory import ChatKind, Kind, Memory, Sensitivity, State
from tacit.records.notes import (
    CHECKBOX_SECTIONS,
    NoteItem,
    NoteKind,
    NoteRef,
    Section,
    SessionDraft,
)
from tacit.records.text import split_terms
from tacit.records.validation import fold_name
from tacit.screening import secrets
from tacit.screening.instructions import find_instruction
from tacit.storage import learned_facts, memories
from tacit.storage.memories import Transaction
from tacit.storage.notes import (
    NoteRow,
    ensure_note,
    list_visible_items,
    put_item,
    remove_item,
    update_note,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemUse:
    """How much an index item is used, to choose what leaves the index."""

    count: int  # how often it was used
    at: datetime  # of the last use, or else when it was said


def find_promotion(
    draft: SessionDraft,
    messages: Sequence[ParsedMessage],
    speaker: str,
    said_at: datetime,
    locale: Locale,
    index: Sequence[NoteItem] = (),
) -> Promotion | None:
    """Find at most one lasting thing that the person explicitly asked to keep; None in doubt.

    What the draft names must have been asked for in the messages, if there are any; otherwise the
    messages are searched. `index` is what the index holds already.
    """
    if not get_lexicon(locale.code).passing:
        return None  # no lexicon: nothing tells what lasts
    choice = _PromotionReader(speaker, said_at, locale)
    requests = choice.requests(messages)
    if draft.promote is not None:
        found = choice.read_named(draft.promote, requests, asked=not messages)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeepRequest:
    text: str
    whole: bool  # all of it is requested; else the part that the rules find


@dataclass(frozen=True, slots=True)
class _PromotionReader:
    speaker: str
    said_at: datetime
    locale: Locale

    def requests(self, messages: Sequence[ParsedMessage]) -> list[_KeepRequest]:
        """Return the parts of the person's own messages that ask to keep something."""
        found: list[_KeepRequest] = []
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

    def read(self, requests: Sequence[_KeepRequest]) -> list[StatedFact]:
        """Return what the rules read in the requests and the index may hold."""
        found = []
        for request in requests:
            for one in rules.extract_by_rules(
                request.text, self.speaker, self.said_at, self.locale
            ):
                one = classify_statement(one, self.locale, self.said_at)
                if (request.whole or one.explicit) and self._may_enter(one):
                    found.append(one)
        return found

    def read_named(
        self, content: str, requests: Sequence[_KeepRequest], *, asked: bool
    ) -> list[StatedFact]:
        """Return what the draft says was requested.

        `asked`: there are no messages to check it against.
        """
        content = " ".join(content.split())
        read = rules.extract_by_rules(content, self.speaker, self.said_at, self.locale)
        if len(read) > 1:
            return []
        made = self._statement(content, read[0] if read else None)
        if not asked and not any(self._is_requested(request.text, made) for request in requests):
            return []
        whole = classify_statement(made, self.locale, self.said_at)
        return [whole] if self._may_enter(whole) else []

    def _statement(self, content: str, read: StatedFact | None) -> StatedFact:
        """Build a statement from a sentence, whose speaker the rules treat as a third person."""
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
        goals = get_lexicon(self.locale.code).kept_goal
        return statement.slot == _GOAL or bool(goals & set(_split_words(statement.content)))

    def _own_text(self, said: ParsedMessage) -> bool:
        return said.name is None or fold_name(said.name) == fold_name(self.speaker)

    def _asked(self, text: str, before: str) -> list[_KeepRequest]:
        """Return requests; for a bare "put that into long-term memory", the message before it."""
        own, locale = get_lexicon(self.locale.code), self.locale
        found: list[_KeepRequest] = []
        for sentence in filter(None, _SENTENCE_END.split(text)):
            if own.asks.search(sentence):
                bare = own.asked_tail.sub("", own.asked_lead.sub("", sentence)).strip()
                found.append(_KeepRequest(text=bare or before, whole=True))
            elif locale.patterns["asked_to_keep"].fullmatch(sentence) and sentence == text:
                found.append(_KeepRequest(text=before, whole=True))
            elif locale.has("explicit", sentence) or locale.has("asked_to_keep", sentence):
                found.append(_KeepRequest(text=text, whole=False))
            before = sentence
        return [one for one in dict.fromkeys(found) if one.text]

    def _is_requested(self, text: str, statement: StatedFact) -> bool:
        """Report whether a request supports it and nothing in it belongs elsewhere."""
        quoted = replace(statement, quote=text)
        if check_support(quoted, text, self.speaker, self.locale) is not None:
            return False
        read = rules.extract_by_rules(text, self.speaker, self.said_at, self.locale)
        same = [one for one in read if merge.is_alike(one.content, statement.content)]
        return all(
            self._may_enter(classify_statement(one, self.locale, self.said_at)) for one in same
        )

    def _may_enter(self, statement: StatedFact) -> bool:
        content, locale = statement.content, self.locale
        if (
            check_form(content, self.speaker, locale)
            or find_instruction(content)
            or secrets.find_secret(content)
        ):
            return False
        return self._own_place(statement) is None and not self._passes(statement)

    def _own_place(self, statement: StatedFact) -> str | None:
        """Return where it is stored instead: profile, preferences, people, holds, tasks."""
        content, locale = statement.content, self.locale
        if statement.hearsay or statement.about:
            return "people"
        if has_negation(content, locale) or get_lexicon(locale.code).rules_out & set(
            _split_words(content)
        ):
            return "rules"
        if statement.slot == _GOAL:
            return None
        if statement.kind is not Kind.KNOWLEDGE or self._leads_with_person(content):
            return str(statement.kind)
        personal = statement.about_speaker or not statement.quote
        if personal and (
            statement.slot or any(locale.has(f"kind_{k}", content) for k in _KINDS_ELSEWHERE)
        ):
            return "profile"
        return "task" if locale.has("kind_task", content) else None

    def _leads_with_person(self, content: str) -> bool:
        """Report whether it tells what a person is or does, not a thing of theirs."""
        return f"{content.casefold()} ".startswith(f"{self.speaker.strip().casefold()} ")

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
    uses: Mapping[str, ItemUse],
    *,
    items_max: int = limits.LONG_TERM_ITEMS_MAX_COUNT,
    chars_max: int = limits.LONG_TERM_MAX_CHARS,
) -> tuple[str, ...]:
    """Return the ids that leave a full index: the least and longest ago used, tasks last.

    An item without an id or a use is new, and stays.
    """
    count, chars = len(items), sum(len(one.content) for one in items)
    known = [one for one in items if one.id is not None and one.id in uses]
    left: list[str] = []
    for item in sorted(
        known,
        key=lambda one: (
            one.section in CHECKBOX_SECTIONS and not one.done,
            _use_weight(uses[one.id or ""]),
        ),
    ):
        if count <= items_max and chars <= chars_max:
            break
        left.append(item.id or "")
        count, chars = count - 1, chars - len(item.content)
    return tuple(left)


def _use_weight(use: ItemUse) -> float:
    """Weigh uses, halved with each half-life since the last one."""
    days = use.at.timestamp() / _DAY_SECONDS
    return math.log2(1 + max(0, use.count)) + days / limits.EVICTION_HALF_LIFE_DAYS


def _split_words(text: str) -> list[str]:
    """Split words as written and without accents."""
    return [*text.casefold().replace("’", "'").split(), *split_terms(text)]


# Write into the long-term index of the person whose private chat it is: at most one thing per
# session; the least used item leaves a full index.


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionWriter:
    tx: Transaction
    session: str  # the path of its note, which tells whether it had its one
    ttls: Ttls
    usable: MemoryFilter
    agent: str | None = None

    def promote(self, what: Promotion) -> str | None:
        """Return the id of what entered the index, or None."""
        tx, request = self.tx, self.tx.request
        if request.subject is None or not request.private:
            return None
        index = [
            memory
            for _, memory in readable_notes.list_index_items(
                tx.connection, tx.audiences, request, lambda _: True
            )
        ]
        if any(memory.run == self.session for memory in index):
            return None
        known = self._find_known(what.content)
        if known is not None and known.id in {memory.id for memory in index}:
            return None
        if known is None:
            id = self._remember(what)
        else:
            id, changed = known.id, Draft(run=self.session)
            memory_writes.update_memory(self.tx, known, RequesterRole.OWNER, changed, self.ttls)
        path = self._ensure_index()
        put_item(tx, path, id, what.section, added_on=tx.at.date())
        self._make_room(path, id)
        update_note(tx, path, updated_at=tx.at)
        return id

    def _remember(self, what: Promotion) -> str:
        filed = notes.filing_of_section(what.section)
        draft = Draft(
            content=what.content,
            kind=filed.kind,
            category=filed.category,
            sensitivity=stricter_sensitivity(Sensitivity.PERSONAL, chat_sensitivity(what.content)),
            agent=self.agent,
            run=self.session,
        )
        return memory_writes.remember(self.tx, draft, self.ttls).id

    def _find_known(self, content: str) -> Memory | None:
        """Find the person's memory with the same words."""
        tx, said = self.tx, learned_facts.normalized_digest(content)
        found = learned_facts.list_similar_facts(
            tx.connection, tx.space, tx.request.own_identities, [said], [], 1
        )
        memory = memories.get_for_update(tx, found[0].id) if found else None
        if memory is None or memory.state is not State.ACTIVE or not memory.kind.lasting:
            return None
        if not self.usable(memory) or learned_facts.normalized_digest(memory.content) != said:
            return None
        own = may_change(ChangeAction.UPDATE, tx.request, memory) is RequesterRole.OWNER
        return memory if own else None

    def _ensure_index(self) -> str:
        tx, request = self.tx, self.tx.request
        place = NoteRef(kind=NoteKind.LONG_TERM, subject=request.subject)
        row = NoteRow(
            path=paths.note_path(place),
            kind=place.kind,
            created_at=tx.at,
            updated_at=tx.at,
            subject=request.subject,
            chat=request.chat,
            chat_kind=ChatKind.PRIVATE,
        )
        return ensure_note(tx, row).path

    def _make_room(self, path: str, new: str) -> None:
        tx = self.tx
        rows = list_visible_items(tx.connection, tx.audiences, tx.request, [path])[path]
        items = [notes.item_from_memory(memory, row.section, row.added_on) for row, memory in rows]
        uses = {
            memory.id: ItemUse(
                count=memory.access_count, at=memory.last_accessed_at or memory.created_at
            )
            for _, memory in rows
            if memory.id != new
        }
        for id in select_overflow(items, uses):
            remove_item(tx, path, id)
