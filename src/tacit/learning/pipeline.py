"""Learn from a turn: screen, extract, classify, attribute, reconcile, ask, write."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput, LanguageFailed
from tacit.learning import memory_writes
from tacit.learning.claims import LlmReader, LlmReading
from tacit.learning.composition import Ttls
from tacit.learning.episodes import drop_known_decisions, lock_source
from tacit.learning.extraction import rules
from tacit.learning.extraction.locale import AUTO, Locale, guess_locale, load_locale
from tacit.learning.extraction.mentions import may_hold_date, name_speaker_once
from tacit.learning.extraction.sentences import HoldScope, combine_holds, squeeze_spaces
from tacit.learning.facts import Hold, StatedFact
from tacit.learning.judge import KNOWN_MAX_COUNT, judge_statements
from tacit.learning.memory_writes import LearnedFact, supersede_hearsay
from tacit.learning.reading import ReadableTurn, find_reader, read_message
from tacit.learning.reconciliation import (
    LIKENESS_MIN,
    AmbiguousPerson,
    Attribution,
    Confirm,
    ConsentContext,
    ConsentVerdict,
    FactPair,
    Judgment,
    ReconcileDecision,
    apply_judgment,
    attribute_statement,
    decide_consent,
    hold_as_episode,
    is_about_family,
    judge_pairs,
    load_known_memories,
    reconcile_statements,
)
from tacit.learning.turns import QueuedTurn, find_own_name, parse_timezone, read_turn_holds, screen_turn
from tacit.learning.verification import classify_statement
from tacit.llm.budget import Allowance, Budget
from tacit.llm.language_model import LanguageModel
from tacit.records.conversation import Role
from tacit.records.memory import CATEGORY_OF_KIND, ChatKind, Kind, Memory, Sensitivity, State
from tacit.records.request import Request
from tacit.records.results import EventNode, EventOperation, EventStatus
from tacit.retrieval.index_cache import find_neighbors
from tacit.retrieval.retriever import Retriever
from tacit.storage import learned_facts, memories, memory_reads, relations
from tacit.storage.learned_facts import ComparedMemory, DatabaseLedger
from tacit.storage.memories import TextVectors, Transaction
from tacit.storage.store import FAST_PATH_MISS, Store
from tacit.telemetry.metrics import measure_operation

# Procedures: numbered steps that a person asks the assistant to remember.

_NUMBERED = re.compile(r"(?:^|[\s;,.])(?:\d{1,2}[.)]|step \d{1,2}[:.)]?|[-*•])\s+", re.IGNORECASE)
_STEPS_MIN_COUNT, _STEPS_MAX_COUNT = 2, 20


def read_procedure(text: str, locale: Locale) -> StatedFact | None:
    """Return the procedure that the text asks to remember; None without at least two steps."""
    match = locale.patterns["procedure"].match(text.strip())
    if match is None or not match["steps"]:
        return None
    steps = _steps(match["steps"], locale)
    if not _STEPS_MIN_COUNT <= len(steps) <= _STEPS_MAX_COUNT:
        return None
    goal = match["goal"].strip(" :,.")
    numbered = " ".join(f"{n}. {step}" for n, step in enumerate(steps, start=1))
    content = locale.texts["how_to"].format(goal=goal, steps=numbered)
    if len(content) > limits.PROCEDURE_MAX_CHARS:
        return None
    return StatedFact(
        content=content,
        quote=text.strip(),
        explicit=True,
        kind=Kind.PROCEDURE,
        about_speaker=False,
        about=(),
        hearsay=False,
        slot=f"procedure:{' '.join(goal.casefold().split())}"[: limits.SLOT_MAX_CHARS],
        value=" ".join(numbered.casefold().split()),
        negated=False,
        observed_at=None,
        withheld_from=(),
        hold=None,
        sensitivity=Sensitivity.PUBLIC,
        portable=False,
    )


def _steps(text: str, locale: Locale) -> list[str]:
    pieces = _NUMBERED.split(text)
    if len(pieces) <= _STEPS_MIN_COUNT:
        pieces = locale.patterns["then"].split(text)
    found = (piece.strip(" \n\t.,;:") for piece in pieces)
    return [_imperative(piece, locale) for piece in found if piece]


def _imperative(step: str, locale: Locale) -> str:
    """Convert a step to the imperative: "You then run the tests" becomes "Run the tests."."""
    bare = locale.patterns["step_lead"].sub("", step).strip()
    return f"{bare[:1].upper()}{bare[1:]}."


# Extract what a turn states: by rules, or by a language model whose claims are verified.

_SAME_MIN_SHARE = 0.6  # minimum share of common significant words
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    statements: tuple[StatedFact, ...]
    inferred: frozenset[str]  # contents that a model inferred
    refused: tuple[str, ...] = ()  # reasons for rejecting further statements


def choose_locale(locale: str, text: str) -> Locale:
    """Return the locale to read a text in."""
    return load_locale(guess_locale(text) if locale == AUTO else locale)


def extract_statements(turn: QueuedTurn, speaker: str, locale: Locale, reader: LlmReader | None) -> Extraction:
    """Extract what a turn states: by rules, and by the language model or, without one, by the trained reader."""
    found = _extracted(turn, speaker, locale, reader)
    return Extraction(
        statements=tuple(
            replace(one, content=name_speaker_once(one.content, speaker, locale)) for one in found.statements
        ),
        inferred=frozenset(name_speaker_once(one, speaker, locale) for one in found.inferred),
        refused=found.refused,
    )


def apply_hold(held: HoldScope, found: Extraction) -> Extraction:
    """Apply the hold of the whole turn, in any language, to its statements.

    The hold can only make them stricter. Only the extraction can mark a statement as shareable.
    """
    if not held.guarded:
        return found
    return replace(found, statements=tuple(_held(one, held) for one in found.statements))


def _held(statement: StatedFact, held: HoldScope) -> StatedFact:
    own = HoldScope(hold=statement.hold, withheld_from=statement.withheld_from)
    both = combine_holds([own, held])
    return replace(statement, hold=both.hold, withheld_from=both.withheld_from)


def _extracted(turn: QueuedTurn, speaker: str, locale: Locale, reader: LlmReader | None) -> Extraction:
    how = read_procedure(turn.text, locale)
    if how is not None:
        return Extraction(statements=(how,), inferred=frozenset())
    plain = rules.extract_by_rules(turn.text, speaker, turn.said_at, locale)
    trained = find_reader(locale) if reader is None else None
    if trained is not None:
        readable = ReadableTurn(
            text=turn.text,
            before=turn.said_before,
            asked=turn.question_before,
            said_at=turn.said_at,
            group=turn.asking.kind is not ChatKind.PRIVATE,
        )
        plain = read_message(trained, plain, readable, speaker, locale)
    if reader is None:
        return Extraction(statements=tuple(plain[: limits.LEARN_WRITES_PER_TURN_MAX_COUNT]), inferred=frozenset())
    return merge_readings(plain, reader.read(turn, speaker, locale), speaker, locale)


def merge_readings(plain: Sequence[StatedFact], read: LlmReading, speaker: str, locale: Locale) -> Extraction:
    """Merge the statements of the rules and of the model.

    If both found the same statement, use the wording, people and slot of the rules and the stricter
    sensitivity. Other statements of the model follow.
    """
    kept = list(plain)
    further: list[StatedFact] = []
    for one in read.statements:
        words = _words(one.content, speaker, locale)
        alike = [(n, _words(known.content, speaker, locale)) for n, known in enumerate(kept)]
        same = [n for n, known in alike if _same(words, known)]
        for n in same:
            kept[n] = _stricter(kept[n], one)
        part = any(words <= known for _, known in alike)
        if not same and not part:
            further.append(_without_slot_of(one, plain))
    kept += further
    return Extraction(
        statements=tuple(kept[: limits.LEARN_WRITES_PER_TURN_MAX_COUNT]),
        inferred=read.inferred - {one.content for one in plain},
        refused=read.refused,
    )


def _stricter(plain: StatedFact, read: StatedFact) -> StatedFact:
    if read.sensitivity is None:
        return plain
    if plain.sensitivity is not None and plain.sensitivity.rank >= read.sensitivity.rank:
        return plain
    return replace(plain, sensitivity=read.sensitivity)


def _without_slot_of(read: StatedFact, plain: Sequence[StatedFact]) -> StatedFact:
    """Remove the slot of a model's statement if a rule filled the same slot in this turn."""
    if any(one.slot == read.slot for one in plain):
        return replace(read, slot=None, value=None, negated=False)
    return read


def _words(content: str, speaker: str, locale: Locale) -> frozenset[str]:
    own = {*_WORD.findall(speaker.casefold()), "s"}
    return frozenset(_WORD.findall(content.casefold())) - own - locale.words["small"]


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _SAME_MIN_SHARE * max(len(one), len(other), 1)


# The stages of a turn: screen → extract → verify → classify → attribute → reconcile → consent.
#
# Extraction, with or without a model, runs before the transaction. One transaction writes all
# results and removes the turn from the queue.

_ZONE_KEY = ("profile", "timezone")
_FAILED = memories.EventRecord(EventNode.HOTPATH, EventOperation.CLASSIFY, EventStatus.ERROR)
Likeness = Mapping[str, Mapping[str, float]]  # content → memory id → similarity


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningOptions:
    """Options that an operator set for all learning."""

    ttls: Ttls
    link_min: float
    confirm: Confirm = Confirm.NEVER
    daily_max: int = limits.LEARN_WRITES_DEFAULT_PER_DAY
    min_chars: int = limits.LEARN_TURN_MIN_DEFAULT_CHARS  # minimum length for a model call
    debounce_seconds: int = limits.LEARN_DEBOUNCE_DEFAULT_SECONDS
    locale: str = AUTO
    quarantine: bool = True
    model: LanguageModel | None = None
    allowance: Allowance = field(default_factory=Allowance)


@dataclass(slots=True)
class LearningTrace:
    """What happened to a turn, stage by stage."""

    steps: list[tuple[str, str]] = field(default_factory=list)

    def note(self, stage: str, said: str) -> None:
        self.steps.append((stage, said))


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """The result of reading a turn, before any write."""

    found: Extraction
    speaker: str
    locale: Locale
    near: Likeness
    judgement: Judgment


@dataclass(frozen=True, slots=True)
class LearningPipeline:
    store: Store
    retriever: Retriever
    learning: LearningOptions

    def learn(
        self,
        space: str,
        thread: str,
        turn: QueuedTurn,
        trace: LearningTrace,
        done: Callable[[Connection], None] = lambda _: None,
    ) -> list[LearnedFact]:
        """Learn from a turn. `done` runs in the transaction that writes the results."""
        try:
            with measure_operation(self.store.meter, "learn_turn"):
                return self._learned(space, thread, turn, trace, done)
        except LanguageFailed:
            self.store.emit_events(space, self.store.clock(), [_FAILED])
            raise

    def _learned(
        self, space: str, thread: str, turn: QueuedTurn, trace: LearningTrace, done: Callable[[Connection], None]
    ) -> list[LearnedFact]:
        screened = screen_turn(turn)
        trace.note("screen", f"{screened.outcome}: {screened.reason}")
        if screened.outcome == "quarantine" and self.learning.quarantine:
            return self._write(space, thread, turn, self._quarantining(turn, screened.reason), done)
        if screened.outcome != "learn":
            return self._write(space, thread, turn, lambda _: [], done)
        turn = replace(turn, text=squeeze_spaces(turn.text))
        locale = choose_locale(self.learning.locale, turn.text)
        named = turn.speaker or find_own_name(self.store, space, turn.asking)
        speaker = named or locale.texts["unnamed"]
        turn = self._in_their_time(space, turn, locale)
        held = read_turn_holds(turn)
        if held.hold in (Hold.ROOM, Hold.PRIVATE):
            turn = replace(turn, confidential=True)
        found = apply_hold(held, extract_statements(turn, speaker, locale, self._reader(space, turn)))
        _trace_extracted(trace, found)
        contents = [one.content for one in found.statements]
        vectors = self.retriever.embed_inline(contents) if contents else TextVectors()
        near, alike = self._near(space, turn, vectors)
        judgement = {**self._judged_by_reader(space, turn, found.statements, locale), **self._judged(space, alike)}

        def work(tx: Transaction) -> list[LearnedFact]:
            told = ReadTurn(found, speaker, locale, near, judgement)
            return self._keep(tx, turn, told, trace)

        return self._write(space, thread, turn, work, done, vectors)

    def _in_their_time(self, space: str, turn: QueuedTurn, locale: Locale) -> QueuedTurn:
        """Convert the time of the turn to the speaker's time zone, if it is known."""
        if not may_hold_date(turn.text, locale):
            return turn
        known = self._glanced(space, turn)
        zone = parse_timezone(known.content) if known else None
        return turn if zone is None else replace(turn, said_at=turn.said_at.astimezone(zone))

    def _glanced(self, space: str, turn: QueuedTurn) -> Memory | None:
        """Return the memory with the speaker's time zone, by the fast path if possible."""
        category, key = _ZONE_KEY
        named = {"category": category, "key": key}
        found = self.store.get_memory_fast(space, turn.asking, "key", named)
        if found is not FAST_PATH_MISS:
            return None if found is None else found[1]
        audiences = self.store.audiences
        read = self.store.read(
            space, turn.asking, lambda c, r: memory_reads.get_memory_by_key(c, audiences, r, category, key)
        )
        return read[0] if read else None

    def _reader(self, space: str, turn: QueuedTurn) -> LlmReader | None:
        model = self.learning.model
        if model is None or len(turn.text) < self.learning.min_chars:
            return None
        return LlmReader(
            model=model,
            space=space,
            allowance=self.learning.allowance,
            ledger=DatabaseLedger(self.store.database),
            today=lambda: self.store.clock().date(),
        )

    def _near(self, space: str, turn: QueuedTurn, vectors: TextVectors) -> tuple[Likeness, Sequence[FactPair]]:
        """Find the neighbors of each new wording, for relations and for the model's verdict."""
        if not vectors.by_text:
            return {}, ()
        library, link_min = self.retriever.index_cache, self.learning.link_min
        least = min(link_min, LIKENESS_MIN) if self.learning.model else link_min

        def look(connection: Connection, request: Request) -> tuple[Likeness, Sequence[FactPair]]:
            found = {
                text: find_neighbors(library, connection, request, vector, least)
                for text, vector in vectors.by_text.items()
            }
            ids = sorted({id for near in found.values() for id in near})
            older = (
                memory_reads.list_visible(connection, self.store.audiences, request, ids) if self.learning.model else {}
            )
            pairs = [
                FactPair(id=id, older=older[id][0].content, newer=text, likeness=likeness)
                for text, near in found.items()
                for id, likeness in near.items()
                if id in older and turn.may_use(older[id][0].category)
            ]
            edges = {text: {id: one for id, one in near.items() if one >= link_min} for text, near in found.items()}
            return edges, pairs

        return self.store.read(space, turn.asking, look)

    def _judged_by_reader(
        self, space: str, turn: QueuedTurn, statements: Sequence[StatedFact], locale: Locale
    ) -> Judgment:
        """Judge new statements against what this chat may hear of the speaker's own facts."""
        reader = find_reader(locale) if statements and self.learning.model is None else None
        if reader is None:
            return {}

        def look(connection: Connection, request: Request) -> list[ComparedMemory]:
            mine = request.own_identities
            known = learned_facts.list_newest_facts(connection, request.space, mine, KNOWN_MAX_COUNT)
            heard = memory_reads.list_visible(connection, self.store.audiences, request, [one.id for one in known])
            # A value under a key changes with that key alone.
            unkeyed = {id for id, (memory, _) in heard.items() if memory.key is None}
            return [one for one in known if one.id in unkeyed and turn.may_use(one.category)]

        return judge_statements(reader, statements, self.store.read(space, turn.asking, look))

    def _judged(self, space: str, pairs: Sequence[FactPair]) -> Judgment:
        model = self.learning.model
        return judge_pairs(pairs, model, self._budget(space)) if model is not None and pairs else {}

    def _budget(self, space: str) -> Budget:
        return Budget(
            space=space,
            day=self.store.clock().date(),
            allowance=self.learning.allowance,
            ledger=DatabaseLedger(self.store.database),
        )

    def _write(
        self,
        space: str,
        thread: str,
        turn: QueuedTurn,
        work: Callable[[Transaction], list[LearnedFact]],
        done: Callable[[Connection], None],
        vectors: TextVectors | None = None,
    ) -> list[LearnedFact]:
        def whole(tx: Transaction) -> list[LearnedFact]:
            done(tx.connection)
            request = replace(
                tx.request, present=turn.present, confidential=tx.request.confidential or turn.confidential
            )
            kept = work(replace(tx, request=request))
            if turn.role is not Role.ASSISTANT:
                memories.emit_skipped_classification(tx)
            if not turn.again:
                learned_facts.mark_last_turn(tx.connection, tx.space, tx.request.subject, tx.at)
            return kept

        return self.store.write(space, turn.asking, thread, whole, vectors or TextVectors())

    def _quarantining(self, turn: QueuedTurn, reason: str) -> Callable[[Transaction], list[LearnedFact]]:
        return lambda tx: [memory_writes.quarantine_turn(tx, turn, reason, self.learning.ttls)]

    def _keep(self, tx: Transaction, turn: QueuedTurn, told: ReadTurn, trace: LearningTrace) -> list[LearnedFact]:
        episode = lock_source(tx, turn)
        if episode is None and turn.recorded is not None:
            trace.note("screen", "skip: the turn was deleted meanwhile")
            return []
        if episode is not None and episode.confidential:  # a hold that was said after the turn was queued
            tx = replace(tx, request=replace(tx.request, confidential=True))
        stated = [(said, hold_as_episode(whom, episode)) for said, whom in _attributed(tx, turn, told, trace)]
        shelf = load_known_memories(tx, turn, [one for one, _ in stated])
        decisions = reconcile_statements(turn, stated, shelf, told.speaker, told.locale)
        decisions = [apply_judgment(tx, turn, one, told.judgement) for one in decisions]
        if turn.again and episode is not None:
            decisions = drop_known_decisions(tx, episode, decisions, self.learning.ttls)
        kept: list[LearnedFact] = []
        for decision in decisions:
            trace.note("reconcile", f"{decision.outcome}: {decision.reason}")
            whom = _whom(decision, stated)
            made = self._agreed(tx, turn, decision, whom, told, trace)
            if made is None:
                continue
            kept.append(made)
            if made.state is State.ACTIVE:
                likeness = told.near.get(made.content, {})
                memories.set_event_similarity(tx, made.id, likeness)
                if likeness or decision.old is not None:
                    relations.replace_found_edges(tx, made.id, likeness, new=decision.old is None)
                supersede_hearsay(tx, decision, whom, made.id)
        return kept

    def _agreed(
        self,
        tx: Transaction,
        turn: QueuedTurn,
        decision: ReconcileDecision,
        whom: Attribution,
        told: ReadTurn,
        trace: LearningTrace,
    ) -> LearnedFact | None:
        assert tx.request.subject is not None
        owner, today = tx.request.subject, tx.at.date()
        if learned_facts.count_learned_on(tx.connection, tx.space, owner, today) >= self.learning.daily_max:
            trace.note("consent", "drop: enough was learned from this person today")
            return None
        said = learned_facts.normalized_digest(decision.content)
        waiting = learned_facts.find_same_proposal(tx, {owner}, said)
        circumstances = ConsentContext(
            confirm=self.learning.confirm,
            own_word=not whom.hearsay and decision.content not in told.found.inferred,
            declined=learned_facts.is_declined(tx, {owner}, said),
            signals=waiting.signals if waiting else 0,
            inferred=decision.content in told.found.inferred,
            of_family=is_about_family(tx, decision.statement, whom, told.locale),
        )
        agreed = decide_consent(decision, decision.statement, circumstances)
        trace.note("consent", f"{agreed.verdict}: {agreed.reason}")
        one = memory_writes.write_decision(tx, turn, decision, whom, agreed, self.learning.ttls)
        if one is not None:
            if waiting is not None and agreed.verdict is ConsentVerdict.KEEP:
                memory_writes.withdraw_proposal(tx, waiting)
            learned_facts.increment_learned(tx.connection, tx.space, owner, today)
            trace.note("kept", f"{one.state} {one.id}: {one.content}")
        return one


def _attributed(
    tx: Transaction, turn: QueuedTurn, told: ReadTurn, trace: LearningTrace
) -> list[tuple[StatedFact, Attribution]]:
    stated: list[tuple[StatedFact, Attribution]] = []
    for one in told.found.statements:
        filled = classify_statement(one, told.locale, turn.said_at)
        memories.emit_classification(tx, filled.category)
        trace.note("classify", f"{filled.kind}, {filled.sensitivity}: {filled.content}")
        if not turn.may_use(filled.category or CATEGORY_OF_KIND[filled.kind or Kind.KNOWLEDGE]):
            trace.note("classify", "left out: this agent may not use that category")
            continue
        try:
            whom = attribute_statement(tx, filled)
        except AmbiguousPerson as name:
            trace.note("attribute", f"{name} could be several people: left out")
            continue
        except InvalidInput:
            trace.note("attribute", "whom it is about cannot be stored as a name: left out")
            continue
        trace.note("attribute", "hearsay" if whom.hearsay else "the speaker's own")
        stated.append((filled, whom))
    return stated


def _whom(decision: ReconcileDecision, stated: list[tuple[StatedFact, Attribution]]) -> Attribution:
    for one, whom in stated:
        if one is decision.statement:
            return whom
    subjects = decision.old.subjects if decision.old else frozenset()
    return Attribution(about=subjects, withheld_from=(), hearsay=False)


def _trace_extracted(trace: LearningTrace, found: Extraction) -> None:
    if not found.statements:
        trace.note("extract", "nothing is stated")
    for one in found.statements:
        trace.note("extract", one.content)
        trace.note("verify", "borne out by the message")
    for reason in found.refused:
        trace.note("verify", f"refused: {reason}")
