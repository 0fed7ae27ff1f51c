"""Extract the facts of a message with the trained reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tacit.errors import LanguageFailed
from tacit.learning.extraction.locale import Locale
from tacit.learning.facts import StatedFact
from tacit.learning.reader.reader import MessageReading, ReadSpan, TrainedReader, load_reader
from tacit.learning.wording import SpanToWord, word_fact
from tacit.records.memory import Kind, Sensitivity
from tacit.text import stem_words

# Chosen with weights that had not seen the writers looked at (`training/README.md`).
KEPT_MIN_SCORE = 0.6
ASKED_MIN_SCORE = 0.5  # where the person asks to have it remembered
_ASKS_MIN_CHANCE = 0.5
_NOTHING_MIN_CHANCE = 0.5  # that a message is one of which nothing is kept
_DOUBTED_MIN_CHANCE = 0.8
_DOUBTED_MIN_SCORE = 0.85
_REPLIED_MIN_SCORE = 0.9  # for words without a subject in a reply
_CHOICE_MAX_WORDS = 4  # a reply of as many that names no subject is taken for a choice
_SENSITIVE_MIN_CHANCE = 0.25
_PUBLIC_MIN_CHANCE = 0.6
_CHANGE_MIN_CHANCE = 0.7  # that it is said as no change; below, it is
_TOLD_MIN_SHARE = 0.5
_COVERED_MIN_SHARE = 0.7  # of the words of a fact, in those of another
_SENTENCE_MAX_CHARS = 220

TRAINED_LOCALE = "en"
_NOTHING = ("paste", "injection", "secret", "off")
_DOUBTED = ("hypothetical", "joke", "quote", "question")
_KINDS = {"instruction": Kind.PREFERENCE}
# How long what passes is kept, after the moment that it is about.
_PASSES_AFTER = {Kind.TASK: timedelta(days=45), Kind.EVENT: timedelta(days=180)}
_PASSES_AFTER_DEFAULT = timedelta(days=120)  # "for a few weeks or months"
_PASSING_KINDS = (Kind.CONTEXT, Kind.EVENT, Kind.TASK)
_OWN = re.compile(r"\W*(?:i|i['’]?m|i['’]?ve|i['’]ll|i['’]d|we|we['’]?re|we['’]?ve)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?<!\w)(?:i|i['’]?m|i['’]?ve|i['’]ll|i['’]d|me|my|mine|we|we['’]?re|we['’]?ve|us|our|ours)\b", re.IGNORECASE
)
_ENDS = re.compile(r"[.!?]+(?=\s)|\n+")
_QUESTION = re.compile(r"[^.!?\n]{3,120}\?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableTurn:
    """What the reader needs of a turn."""

    text: str
    before: str  # what was said just before
    asked: str  # the assistant's question that it may answer
    said_at: datetime
    group: bool


def find_reader(locale: Locale) -> TrainedReader | None:
    """Return the reader for a language; None where it was not trained, or where its files are damaged."""
    if locale.code != TRAINED_LOCALE:
        return None
    try:
        return load_reader()
    except LanguageFailed:
        return None  # it was logged once


def read_message(
    reader: TrainedReader,
    plain: Sequence[StatedFact],
    turn: ReadableTurn,
    speaker: str,
    locale: Locale,
) -> list[StatedFact]:
    """Return what a message states: by the rules (`plain`), and by the reader.

    Where both read the same words, those of the rules are kept, which know their slot, with the reader's labels.
    """
    text = turn.text
    reading = reader.read(text, turn.before)
    read = _read_facts(reading, turn, speaker, locale)
    found = [_labelled(one, [new for new in read if _is_told_by(new, one)]) for one in plain]
    return found + [new for new in read if not any(_is_same(new, one, text) for one in plain)]


def _is_same(new: StatedFact, old: StatedFact, text: str) -> bool:
    return _is_told_by(new, old) or _share(new, old, text) >= _COVERED_MIN_SHARE


def _share(new: StatedFact, old: StatedFact, text: str) -> float:
    """How much of the words of one fact are among those of another."""
    first, start = text.find(new.quote), text.find(old.quote)
    if first < 0 or start < 0:
        return 0.0
    shared = min(first + len(new.quote), start + len(old.quote)) - max(first, start)
    return max(0, shared) / max(1, len(new.quote))


def _is_told_by(new: StatedFact, old: StatedFact) -> bool:
    """Whether the words of one fact are among those of the sentence of another."""
    words, told = set(stem_words(new.quote)), set(stem_words(old.content))
    return len(words & told) >= _TOLD_MIN_SHARE * max(1, len(words))


def _labelled(plain: StatedFact, read: Sequence[StatedFact]) -> StatedFact:
    """A statement of the rules, as sensitive as the reader takes its words for."""
    if not read:
        return plain
    levels = [one.sensitivity for one in (plain, *read) if one.sensitivity]
    return replace(
        plain,
        sensitivity=max(levels, key=lambda one: one.rank, default=None),
        turned=plain.turned or any(one.turned for one in read),
    )


def _read_facts(reading: MessageReading, turn: ReadableTurn, speaker: str, locale: Locale) -> list[StatedFact]:
    """Return what the reader found, in the order in which it was said."""
    kept = kept_spans(reading)
    text, before = turn.text, turn.before
    message = _Message(
        text=text,
        spans=reading.spans,
        question=_last_question(turn.asked),
        speaker=speaker,
        said_at=turn.said_at,
        locale=locale,
    )
    facts: dict[str, StatedFact] = {}
    own = True  # a subject that is left out is the speaker, as far as the message has spoken of nobody else
    for span in reading.spans:
        own = _OWN.match(text[span.start : span.end]) is not None or (own and span.best("about") in ("me", "us"))
        if span in kept and not _may_be_choice(text, span, reply=bool(before)):
            fact = _stated(span, message, own=own, asked=_asks(reading))
            if not (turn.group and span.best("about") == "other" and not fact.about):
                facts.setdefault(fact.content, fact)  # a group keeps nothing of somebody who is not named
    return list(facts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    text: str
    spans: tuple[ReadSpan, ...]
    question: str  # the one that it answers; "" where there is none
    speaker: str
    said_at: datetime
    locale: Locale

    def stretch(self, span: ReadSpan) -> tuple[int, int]:
        """Return the sentence around a span; the span alone where the sentence is long or tells of other people too."""
        first = max((match.end() for match in _ENDS.finditer(self.text, 0, span.start)), default=0)
        after = _ENDS.search(self.text, max(span.end - 1, span.start))
        last = max(after.start() if after else len(self.text), span.end)
        whom = (span.best("about") == "other", span.who)
        mixed = any(
            one.start < last and one.end > first and (one.best("about") == "other", one.who) != whom
            for one in self.spans
            if one.best("about") == "other" or whom[0]
        )
        if mixed or last - first > _SENTENCE_MAX_CHARS:
            first, last = span.start, min(span.end, span.start + _SENTENCE_MAX_CHARS)
        return first, last


def _last_question(before: str) -> str:
    """The last sentence of what was said before, where it is a short question."""
    found = _QUESTION.findall(before)
    return found[-1].strip() if found and before.rstrip().endswith("?") else ""


def _may_be_choice(text: str, span: ReadSpan, *, reply: bool) -> bool:
    """Whether words that name no subject may be a choice: "vegetarian please", "120 a night max"."""
    if span.best("about") not in ("me", "us") or _SUBJECT.search(text, span.start, span.end):
        return False
    sure = span.score >= _REPLIED_MIN_SCORE
    # Of a few words alone, what was said before may not have been passed.
    return (reply or not sure) if len(text.split()) <= _CHOICE_MAX_WORDS else (reply and not sure)


def kept_spans(reading: MessageReading) -> list[ReadSpan]:
    """Return the spans that are worth keeping."""
    if any(reading.chances["rest"][label] >= _NOTHING_MIN_CHANCE for label in _NOTHING):
        return []
    least = KEPT_MIN_SCORE
    if _asks(reading):
        least = ASKED_MIN_SCORE
    elif any(reading.chances["rest"][label] >= _DOUBTED_MIN_CHANCE for label in _DOUBTED):
        least = _DOUBTED_MIN_SCORE
    return [one for one in reading.spans if one.score >= least]


def _asks(reading: MessageReading) -> bool:
    return reading.chances["ask"]["yes"] >= _ASKS_MIN_CHANCE


def _stated(span: ReadSpan, message: _Message, *, own: bool, asked: bool) -> StatedFact:
    quote, said_at = message.text[span.start : span.end], message.said_at
    first, last = message.stretch(span)
    worded = word_fact(
        SpanToWord(
            words=quote,
            sentence=message.text[first:last],
            asked=message.question,
            about=span.best("about"),
            who=span.who,
            own=own,
            order=span.best("kind") == "instruction",
            task=span.best("kind") == "task",
        ),
        message.speaker,
        said_at,
        message.locale,
    )
    # A quotation is as sensitive as anything in it.
    told = [one for one in message.spans if one.start < last and one.end > first] if worded.quoted else [span]
    said_kind = span.best("kind")
    kind = _KINDS.get(said_kind) or Kind(said_kind)
    stays = span.best("lasts") == "stays"
    if stays and kind in _PASSING_KINDS:
        kind = Kind.IDENTITY if worded.about_speaker else Kind.KNOWLEDGE
    return StatedFact(
        content=worded.content,
        quote=quote,
        explicit=asked,
        kind=kind,
        about_speaker=worded.about_speaker,
        about=worded.about,
        hearsay=span.best("about") == "other" and not worded.about_speaker,
        slot=None,
        value=None,
        negated=False,
        observed_at=worded.observed_at,
        withheld_from=(),
        hold=None,
        turned=span.chances["change"]["none"] < _CHANGE_MIN_CHANCE,
        sensitivity=max((find_sensitivity(one) for one in told), key=lambda one: one.rank),
        read=True,
        expires_at=None if stays else _expiry(kind, worded.observed_at, said_at),
    )


def find_sensitivity(span: ReadSpan) -> Sensitivity:
    """The level that the reader sees, and the stricter one where it is in doubt."""
    chances = span.chances["sens"]
    if chances["sensitive"] >= _SENSITIVE_MIN_CHANCE:
        return Sensitivity.SENSITIVE
    return Sensitivity.PUBLIC if chances["public"] >= _PUBLIC_MIN_CHANCE else Sensitivity.PERSONAL


def _expiry(kind: Kind, observed_at: datetime | None, said_at: datetime) -> datetime:
    begins = max(said_at, observed_at) if observed_at else said_at
    return begins + _PASSES_AFTER.get(kind, _PASSES_AFTER_DEFAULT)
