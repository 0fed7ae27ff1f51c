"""Statements from a message without a model: plain forms only, and nothing where it would guess."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from tacit.learn.amending.comments import is_comment
from tacit.learn.amending.slots import replaces
from tacit.learn.facts import Hold, Statement
from tacit.learn.reading.coordination import read_all
from tacit.learn.reading.coverage import complete, supported
from tacit.learn.reading.elision import headless
from tacit.learn.reading.holds import reach, silenced
from tacit.learn.reading.mentions import Subject, subject
from tacit.learn.reading.readings import stripped
from tacit.learn.reading.sentences import LOOKED_AT_MAX_CHARS, Piece, blanked, clauses, sentences
from tacit.learn.reading.setting import Setting
from tacit.learn.reading.tongue import Tongue
from tacit.records.validation import clean_display_name

STATEMENTS_MAX_COUNT = 3  # writes per turn, as the design has it


def extract(text: str, speaker: str, said_at: datetime, tongue: Tongue) -> list[Statement]:
    """What a message states, at most three things; [] where that would have to be guessed."""
    seen = blanked(text, tongue)
    if not seen.strip() or tongue.takes_back("not_meant", text[:LOOKED_AT_MAX_CHARS]):
        return []
    setting = Setting(
        speaker=clean_display_name(speaker) or tongue.texts["nobody"],
        said_at=said_at,
        locale=tongue,
        lower=not any(char.isupper() for char in seen),
    )
    held = reach(seen, tongue)
    if held.hold is Hold.UNKEPT:
        return []
    setting = replace(setting, weighty=held.guarded)
    if len(held.withheld_from) == 1:
        setting = replace(setting, meant=held.withheld_from[0].name)
    found = _found(text, silenced(seen, tongue), setting)
    turned = tongue.has("turned", seen)
    if tongue.has("asked_to_keep", seen):
        found = [replace(statement, explicit=True) for statement in found]
    found = [
        replace(statement, hold=held.hold, withheld_from=held.withheld_from, turned=turned)
        for statement in _distinct(found)
        if not _known_already(statement, setting)
        and not is_comment(statement)
        and not tongue.has("garbled", statement.content)
        and supported(statement, text, setting)
    ]
    return sorted(found, key=lambda s: not s.explicit)[:STATEMENTS_MAX_COUNT]


def _found(text: str, seen: str, setting: Setting) -> list[Statement]:
    found: list[Statement] = []
    last: Subject | None = None
    for sentence in sentences(seen, setting.locale):
        made, last = _of_sentence(text, sentence, setting, last)
        found += made
    return found


def _of_sentence(
    text: str, sentence: Piece, setting: Setting, last: Subject | None
) -> tuple[list[Statement], Subject | None]:
    tongue = setting.locale
    pieces = _stated(sentence, tongue)
    setting = replace(
        setting, laughing=tongue.has("laugh", text[sentence.start : sentence.end + 6])
    )
    found: list[Statement] = []
    inherited: str | None = None
    topic: str | None = None
    before: tuple[Piece, int] | None = None  # the clause that was read last, and where it begins
    for piece in pieces:
        piece = _about(topic, piece, tongue)
        topic = _topic(piece, tongue) or topic
        shared = headless(piece.text, tongue)
        if shared and not piece.opened:
            if inherited is None:
                before = None
                continue
            alone, piece = piece, replace(piece, text=f"{inherited} {piece.text}")
        reading, made = read_all(piece, text[piece.start : piece.end], setting, last)
        if reading.statement is None and shared and before and not piece.opened:
            both = _together(before[0], alone, sentence)
            found[before[1] :] = read_all(both, text[both.start : both.end], setting, last)[1]
        setting = replace(setting, explicit=setting.explicit or reading.explicit)
        inherited = _speaking(piece, tongue) or _shared(_subject(piece, setting), tongue)
        before = (piece, len(found)) if reading.statement else None
        if reading.statement:
            found += made
            inherited = _shared(reading.subject, tongue)
        if reading.subject and reading.subject.mentions and not reading.subject.owns:
            last = reading.subject
    return complete(text, pieces, found, setting), last


def _together(first: Piece, second: Piece, sentence: Piece) -> Piece:
    """Two clauses of one subject, the second of which no rule reads, as one."""
    between = sentence.text[first.end - sentence.start : second.start - sentence.start]
    return replace(first, end=second.end, text=f"{first.text}{between}{second.text}")


def _topic(piece: Piece, tongue: Tongue) -> str | None:
    """What a clause says has changed, for the next to say how: "the exam was moved, it's on …"."""
    match = tongue.patterns["topic"].match(piece.text)
    if match is None:
        return None
    role = match["role"] or match["newcomer"]
    return match["topic"] or f"{tongue.texts['my']} {role}"


def _about(topic: str | None, piece: Piece, tongue: Tongue) -> Piece:
    match = tongue.patterns["it_is"].match(piece.text) if topic else None
    if match is None:
        return piece
    verb = f"{tongue.texts['is']} " if match["is"] else ""
    return replace(piece, text=f"{topic} {verb}{piece.text[match.end() :].lstrip()}")


def _speaking(piece: Piece, tongue: Tongue) -> str | None:
    """A clause of the speaker's that no form knows still says who goes on: "I sold it and …"."""
    own = tongue.patterns["self"].match(piece.text) and not tongue.has("veto", piece.text)
    return tongue.texts["self"] if own else None


def _shared(subject: Subject | None, tongue: Tongue) -> str | None:
    """Who a verb without a subject of its own is about: "I live in Bonn and work as a nurse"."""
    if subject is None or subject.owns or subject.through:
        return None
    if subject.plural and not (subject.kin and len(subject.mentions) == 1):
        return None
    if subject.speaks:
        return tongue.texts["self"]
    return subject.mentions[0].text


def _subject(piece: Piece, setting: Setting) -> Subject | None:
    """Who a clause begins with, whether or not a rule reads it."""
    parsed = subject(stripped(piece.text, setting.locale), setting.speaker, setting.locale, None)
    return parsed[0] if parsed and not parsed[0].speaks else None


def _stated(sentence: Piece, tongue: Tongue) -> list[Piece]:
    """The clauses of a sentence that state something. A question does not, but what leads up
    to it may: "I'm vegetarian, what can I order?" """
    if tongue.takes_back("sentence_veto", sentence.text):
        return []
    if sentence.start and tongue.has("aside", sentence.text):
        return []
    pieces = clauses(sentence, tongue)
    if tongue.patterns["explicit"].match(sentence.text):
        return pieces
    if sentence.asked:
        asking = next((i for i, p in enumerate(pieces) if tongue.has("question", p.text)), None)
        return pieces[:asking] if asking else []
    # "… and am on an inhaler" has the subject of the clause before it.
    elided = tongue.patterns["elided"]
    return [
        piece
        for piece in pieces
        if not tongue.has("question", piece.text)
        or (not piece.opened and elided.match(piece.text))
        or tongue.has("likewise", piece.text)
    ]


def _known_already(statement: Statement, setting: Setting) -> bool:
    """That somebody has the name that they speak under says nothing."""
    own = statement.about_speaker and statement.slot == "name" and not statement.explicit
    return own and statement.value in setting.speaker.casefold().split()


def _distinct(found: list[Statement]) -> list[Statement]:
    """Each once, and without what the message itself corrects: "I'm Kat, but call me Kasia"."""
    once = list({statement.content: statement for statement in reversed(found)}.values())[::-1]
    return [old for i, old in enumerate(once) if not any(map(_corrects(old), once[i + 1 :]))]


def _corrects(old: Statement) -> Callable[[Statement], bool]:
    return lambda new: not old.negated and not new.negated and replaces(old, new)
