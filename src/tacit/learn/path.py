"""The path of a turn: screen → extract → verify → classify → attribute → reconcile → consent.

Reading it, with a model or without, happens before the transaction; everything that is written for
it, and its leaving the queue, happens in one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import LanguageFailed
from tacit.learn import keep as keeping
from tacit.learn.attribute import Ambiguous, Attributed, attribute, of_family
from tacit.learn.classify import classify
from tacit.learn.compose import Ttls
from tacit.learn.consent import Circumstances, Confirm, Verdict, consent
from tacit.learn.extract import Extracted, chosen, extract, under
from tacit.learn.facts import Hold, Statement
from tacit.learn.hearsay import outranked
from tacit.learn.keep import Kept
from tacit.learn.own_name import own_name
from tacit.learn.reader import Reader
from tacit.learn.reading.sentences import squeezed
from tacit.learn.reading.tongue import AUTO, Tongue
from tacit.learn.reading.when import timely
from tacit.learn.reconcile import Decision, Judgement, by_judgement, look, reconcile
from tacit.learn.same_fact import LIKENESS_MIN, Pair, judged
from tacit.learn.screen import held_by, screen
from tacit.learn.turn import Turn
from tacit.learn.zone import zone_of
from tacit.llm.budget import Allowance, Budget
from tacit.llm.language_model import LanguageModel
from tacit.recall.recollection import Recollection
from tacit.recall.relate import neighbours
from tacit.records.conversation import Role
from tacit.records.memory import CATEGORY_OF_KIND, Kind, Memory, State
from tacit.records.request import Request
from tacit.records.results import EventNode, EventOperation, EventStatus
from tacit.storage import learned_facts, memories, memory_reads, relations
from tacit.storage.learned_facts import DatabaseLedger
from tacit.storage.memories import TextVectors, Transaction
from tacit.storage.store import FAST_PATH_MISS, Store
from tacit.telemetry.metrics import measure_operation

_ZONE_KEY = ("profile", "timezone")
_FAILED = memories.EventRecord(EventNode.HOTPATH, EventOperation.CLASSIFY, EventStatus.ERROR)
Likeness = Mapping[str, Mapping[str, float]]  # by content, then by id


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """What an operator set for all learning."""

    ttls: Ttls
    link_min: float
    confirm: Confirm = Confirm.NEVER
    daily_max: int = limits.LEARN_WRITES_DEFAULT_PER_DAY
    min_chars: int = limits.LEARN_TURN_MIN_DEFAULT_CHARS  # for a model to be asked
    debounce_seconds: int = limits.LEARN_DEBOUNCE_DEFAULT_SECONDS
    locale: str = AUTO
    quarantine: bool = True
    model: LanguageModel | None = None
    allowance: Allowance = field(default_factory=Allowance)


@dataclass(slots=True)
class Trace:
    """What happened to a turn, stage by stage, in plain words."""

    steps: list[tuple[str, str]] = field(default_factory=list)

    def note(self, stage: str, said: str) -> None:
        self.steps.append((stage, said))


@dataclass(frozen=True, slots=True)
class Told:
    """What was made of a turn before anything is written."""

    found: Extracted
    speaker: str
    locale: Tongue
    near: Likeness
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Path:
    store: Store
    retriever: Recollection
    learning: Learning

    def learn(
        self,
        space: str,
        thread: str,
        turn: Turn,
        trace: Trace,
        done: Callable[[Connection], None] = lambda _: None,
    ) -> list[Kept]:
        """`done` runs in the transaction that writes what came of the turn."""
        try:
            with measure_operation(self.store.meter, "learn_turn"):
                return self._learned(space, thread, turn, trace, done)
        except LanguageFailed:
            self.store.emit_events(space, self.store.clock(), [_FAILED])
            raise

    def _learned(
        self,
        space: str,
        thread: str,
        turn: Turn,
        trace: Trace,
        done: Callable[[Connection], None],
    ) -> list[Kept]:
        screened = screen(turn)
        trace.note("screen", f"{screened.outcome}: {screened.reason}")
        if screened.outcome == "quarantine" and self.learning.quarantine:
            return self._write(space, thread, turn, self._quarantining(turn, screened.reason), done)
        if screened.outcome != "learn":
            return self._write(space, thread, turn, lambda _: [], done)
        turn = replace(turn, text=squeezed(turn.text))
        tongue = chosen(self.learning.locale, turn.text)
        named = turn.speaker or own_name(self.store, space, turn.asking)
        speaker = named or tongue.texts["nobody"]
        turn = self._in_their_time(space, turn, tongue)
        held = held_by(turn)
        if held.hold in (Hold.ROOM, Hold.PRIVATE):
            turn = replace(turn, confidential=True)
        found = under(held, extract(turn, speaker, tongue, self._reader(space, turn)))
        _trace_extracted(trace, found)
        contents = [one.content for one in found.statements]
        vectors = self.retriever.embed_inline(contents) if contents else TextVectors()
        near, alike = self._near(space, turn, vectors)
        judgement = self._judged(space, alike)

        def work(w: Transaction) -> list[Kept]:
            told = Told(found, speaker, tongue, near, judgement)
            return self._keep(w, turn, told, trace)

        return self._write(space, thread, turn, work, done, vectors)

    def _in_their_time(self, space: str, turn: Turn, tongue: Tongue) -> Turn:
        """ "Tomorrow" is the speaker's, where their time zone is known."""
        if not timely(turn.text, tongue):
            return turn
        known = self._glanced(space, turn)
        zone = zone_of(known.content) if known else None
        return turn if zone is None else replace(turn, said_at=turn.said_at.astimezone(zone))

    def _glanced(self, space: str, turn: Turn) -> Memory | None:
        """Their time zone, as it was told."""
        category, key = _ZONE_KEY
        named = {"category": category, "key": key}
        found = self.store.get_memory_fast(space, turn.asking, "key", named)
        if found is not FAST_PATH_MISS:
            return None if found is None else found[1]
        audiences = self.store.audiences
        read = self.store.read(
            space,
            turn.asking,
            lambda c, r: memory_reads.get_memory_by_key(c, audiences, r, category, key),
        )
        return read[0] if read else None

    def _reader(self, space: str, turn: Turn) -> Reader | None:
        model = self.learning.model
        if model is None or len(turn.text) < self.learning.min_chars:
            return None
        return Reader(
            model=model,
            space=space,
            allowance=self.learning.allowance,
            ledger=DatabaseLedger(self.store.database),
            today=lambda: self.store.clock().date(),
        )

    def _near(
        self, space: str, turn: Turn, vectors: TextVectors
    ) -> tuple[Likeness, Sequence[Pair]]:
        """What each new wording is like: for edges, and for a model to judge."""
        if not vectors.by_text:
            return {}, ()
        library, link_min = self.retriever.index_cache, self.learning.link_min
        least = min(link_min, LIKENESS_MIN) if self.learning.model else link_min

        def look(connection: Connection, request: Request) -> tuple[Likeness, Sequence[Pair]]:
            found = {
                text: neighbours(library, connection, request, vector, least)
                for text, vector in vectors.by_text.items()
            }
            ids = sorted({id for near in found.values() for id in near})
            older = (
                memory_reads.list_visible(connection, self.store.audiences, request, ids)
                if self.learning.model
                else {}
            )
            pairs = [
                Pair(id=id, older=older[id][0].content, newer=text, likeness=likeness)
                for text, near in found.items()
                for id, likeness in near.items()
                if id in older and turn.may_use(older[id][0].category)
            ]
            edges = {
                text: {id: one for id, one in near.items() if one >= link_min}
                for text, near in found.items()
            }
            return edges, pairs

        return self.store.read(space, turn.asking, look)

    def _judged(self, space: str, pairs: Sequence[Pair]) -> Judgement:
        model = self.learning.model
        return judged(pairs, model, self._budget(space)) if model is not None and pairs else {}

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
        turn: Turn,
        work: Callable[[Transaction], list[Kept]],
        done: Callable[[Connection], None],
        vectors: TextVectors | None = None,
    ) -> list[Kept]:
        def whole(w: Transaction) -> list[Kept]:
            done(w.connection)
            request = replace(
                w.request,
                present=turn.present,
                confidential=w.request.confidential or turn.confidential,
            )
            kept = work(replace(w, request=request))
            if turn.role is not Role.ASSISTANT:
                memories.emit_skipped_classification(w)
            learned_facts.mark_last_turn(w.connection, w.space, w.request.subject, w.at)
            return kept

        return self.store.write(space, turn.asking, thread, whole, vectors or TextVectors())

    def _quarantining(self, turn: Turn, reason: str) -> Callable[[Transaction], list[Kept]]:
        return lambda w: [keeping.quarantine(w, turn, reason, self.learning.ttls)]

    def _keep(self, w: Transaction, turn: Turn, told: Told, trace: Trace) -> list[Kept]:
        stated = _attributed(w, turn, told, trace)
        shelf = look(w, turn, [one for one, _ in stated])
        decisions = reconcile(turn, stated, shelf, told.speaker, told.locale)
        kept: list[Kept] = []
        for decision in [by_judgement(w, turn, one, told.judgement) for one in decisions]:
            trace.note("reconcile", f"{decision.outcome}: {decision.reason}")
            whom = _whom(decision, stated)
            made = self._agreed(w, turn, decision, whom, told, trace)
            if made is None:
                continue
            kept.append(made)
            if made.state is State.ACTIVE:
                likeness = told.near.get(made.content, {})
                memories.set_event_similarity(w, made.id, likeness)
                if likeness or decision.old is not None:
                    relations.replace_found_edges(w, made.id, likeness, new=decision.old is None)
                outranked(w, decision, whom, made.id)
        return kept

    def _agreed(
        self,
        w: Transaction,
        turn: Turn,
        decision: Decision,
        whom: Attributed,
        told: Told,
        trace: Trace,
    ) -> Kept | None:
        assert w.request.subject is not None
        owner, today = w.request.subject, w.at.date()
        if (
            learned_facts.count_learned_on(w.connection, w.space, owner, today)
            >= self.learning.daily_max
        ):
            trace.note("consent", "drop: enough was learned from this person today")
            return None
        said = learned_facts.normalized_digest(decision.content)
        waiting = learned_facts.find_same_proposal(w, {owner}, said)
        circumstances = Circumstances(
            confirm=self.learning.confirm,
            own_word=not whom.hearsay and decision.content not in told.found.inferred,
            declined=learned_facts.is_declined(w, {owner}, said),
            signals=waiting.signals if waiting else 0,
            inferred=decision.content in told.found.inferred,
            of_family=of_family(w, decision.statement, whom, told.locale),
        )
        agreed = consent(decision, decision.statement, circumstances)
        trace.note("consent", f"{agreed.verdict}: {agreed.reason}")
        one = keeping.keep(w, turn, decision, whom, agreed, self.learning.ttls)
        if one is not None:
            if waiting is not None and agreed.verdict is Verdict.KEEP:
                keeping.withdraw(w, waiting)
            learned_facts.increment_learned(w.connection, w.space, owner, today)
            trace.note("kept", f"{one.state} {one.id}: {one.content}")
        return one


def _attributed(
    w: Transaction, turn: Turn, told: Told, trace: Trace
) -> list[tuple[Statement, Attributed]]:
    stated: list[tuple[Statement, Attributed]] = []
    for one in told.found.statements:
        filled = classify(one, told.locale, turn.said_at)
        memories.emit_classification(w, filled.category)
        trace.note("classify", f"{filled.kind}, {filled.sensitivity}: {filled.content}")
        if not turn.may_use(filled.category or CATEGORY_OF_KIND[filled.kind or Kind.KNOWLEDGE]):
            trace.note("classify", "left out: this agent may not use that category")
            continue
        try:
            whom = attribute(w, filled)
        except Ambiguous as name:
            trace.note("attribute", f"{name} could be several people: left out")
            continue
        trace.note("attribute", "hearsay" if whom.hearsay else "the speaker's own")
        stated.append((filled, whom))
    return stated


def _whom(decision: Decision, stated: list[tuple[Statement, Attributed]]) -> Attributed:
    for one, whom in stated:
        if one is decision.statement:
            return whom
    subjects = decision.old.subjects if decision.old else frozenset()
    return Attributed(about=subjects, withheld_from=(), hearsay=False)


def _trace_extracted(trace: Trace, found: Extracted) -> None:
    if not found.statements:
        trace.note("extract", "nothing is stated")
    for one in found.statements:
        trace.note("extract", one.content)
        trace.note("verify", "borne out by the message")
    for reason in found.refused:
        trace.note("verify", f"refused: {reason}")
