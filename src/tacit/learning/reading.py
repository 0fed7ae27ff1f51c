"""Extract the facts of a message with the trained reader."""

from __future__ import annotations

import logging
import re
from datetime import datetime, timedelta

from tacit.errors import LanguageFailed
from tacit.learning.extraction.locale import Locale
from tacit.learning.facts import StatedFact
from tacit.learning.reader.reader import MessageReading, ReadSpan, TrainedReader, load_reader
from tacit.learning.wording import SpanToWord, word_fact
from tacit.records.memory import Kind, Sensitivity

_LOG = logging.getLogger(__name__)

# Chosen on two writers whose messages trained nothing (`training/README.md`).
KEPT_MIN_SCORE = 0.7
ASKED_MIN_SCORE = 0.5  # where the person asks to have it remembered
_ASKS_MIN_CHANCE = 0.5
_NOTHING_MIN_CHANCE = 0.5  # that a message is one of which nothing is kept
_DOUBTED_MIN_CHANCE = 0.8
_DOUBTED_MIN_SCORE = 0.85
_SENSITIVE_MIN_CHANCE = 0.25
_PUBLIC_MIN_CHANCE = 0.6
_CHANGE_MIN_CHANCE = 0.5
_QUOTED_MIN_WORDS = 3  # fewer say nothing without what was said before

TRAINED_LOCALE = "en"
_NOTHING = ("paste", "injection", "secret", "off")
_DOUBTED = ("hypothetical", "joke", "quote", "question")
_KINDS = {"instruction": Kind.PREFERENCE}
_PASSES_AFTER = timedelta(days=60)  # "for a few weeks or months"
_WORD = re.compile(r"\w+")


def find_reader(locale: Locale) -> TrainedReader | None:
    """Return the reader for a language; None where it was not trained, or where its files are damaged."""
    if locale.code != TRAINED_LOCALE:
        return None
    try:
        return load_reader()
    except LanguageFailed as error:
        _LOG.error("The trained reader cannot be used, and only plain sentences are understood: %s", error)
        return None


def read_facts(
    reader: TrainedReader, text: str, before: str, speaker: str, said_at: datetime, locale: Locale
) -> list[StatedFact]:
    """Return what a message states, in the order in which it states it."""
    reading = reader.read(text, before)
    if any(reading.chances["rest"][label] >= _NOTHING_MIN_CHANCE for label in _NOTHING):
        return []
    asked = reading.chances["ask"]["yes"] >= _ASKS_MIN_CHANCE
    least = _least_score(reading, asked=asked)
    facts = [_stated(one, text, speaker, said_at, locale, asked=asked) for one in reading.spans if one.score >= least]
    return [one for one in facts if one is not None]


def _least_score(reading: MessageReading, *, asked: bool) -> float:
    if asked:
        return ASKED_MIN_SCORE
    if any(reading.chances["rest"][label] >= _DOUBTED_MIN_CHANCE for label in _DOUBTED):
        return _DOUBTED_MIN_SCORE
    return KEPT_MIN_SCORE


def _stated(
    span: ReadSpan, text: str, speaker: str, said_at: datetime, locale: Locale, *, asked: bool
) -> StatedFact | None:
    quote = text[span.start : span.end]
    about = span.best("about")
    worded = word_fact(
        SpanToWord(
            words=quote,
            about=about,
            who=span.who,
            order=span.best("kind") == "instruction",
            task=span.best("kind") == "task",
        ),
        speaker,
        said_at,
        locale,
    )
    if worded.quoted and len(_WORD.findall(quote)) < _QUOTED_MIN_WORDS:
        return None
    kind = span.best("kind")
    passes = span.best("lasts") == "while"
    return StatedFact(
        content=worded.content,
        quote=quote,
        explicit=asked or kind == "instruction",
        kind=_KINDS.get(kind) or Kind(kind),
        about_speaker=worded.about_speaker,
        about=worded.about,
        hearsay=bool(worded.about) and not worded.about_speaker,
        slot=None,
        value=None,
        negated=False,
        observed_at=worded.observed_at,
        withheld_from=(),
        hold=None,
        turned=span.chances["change"]["none"] < _CHANGE_MIN_CHANCE,
        sensitivity=_sensitivity(span),
        expires_at=said_at + _PASSES_AFTER if passes else None,
    )


def _sensitivity(span: ReadSpan) -> Sensitivity:
    """The level that the reader sees, and the stricter one where it is in doubt."""
    chances = span.chances["sens"]
    if chances["sensitive"] >= _SENSITIVE_MIN_CHANCE:
        return Sensitivity.SENSITIVE
    return Sensitivity.PUBLIC if chances["public"] >= _PUBLIC_MIN_CHANCE else Sensitivity.PERSONAL
