"""Which of the things already known a message corrects, and how it reads from now on; None where
that would have to be guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from tacit.learn.amending.abridged import abridged, asks_about
from tacit.learn.amending.change import TIMES
from tacit.learn.amending.clause import OWNED, Gist
from tacit.learn.amending.compare import Link, same_frame
from tacit.learn.amending.counts import recounted
from tacit.learn.amending.cues import Cues, cues
from tacit.learn.amending.flips import flipped
from tacit.learn.amending.gist import fields_of, known_gist, words_of
from tacit.learn.amending.heard import Heard
from tacit.learn.amending.hearing import hear
from tacit.learn.amending.known import Amendment, Known
from tacit.learn.amending.links import done, ended, exchanged, topical
from tacit.learn.amending.named import named_again
from tacit.learn.amending.succeed import succeeded
from tacit.learn.amending.weekdays import day_of
from tacit.learn.reading.mentions import named_once, turned
from tacit.learn.reading.tongue import Tongue, guess
from tacit.learn.reading.when import mark

_NTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)")
_DAY = re.compile(r"\b\d{1,2}(?P<ending>st|nd|rd|th)?\b")
_RECENT_MAX = timedelta(hours=1)
_NEAR_DAY_MAX = timedelta(days=14)


def amend(
    text: str,
    speaker: str,
    known: Sequence[Known],
    tongue: Tongue,
    *,
    said_at: datetime | None = None,
) -> Amendment | None:
    """The one memory that a message corrects or ends. `known` is newest first; `said_at`, the
    moment of the message, tells which of them are recent enough for "actually it's Thursday"."""
    heard = hear(text, cues(tongue.code), tongue) if known else None
    return amended(heard, speaker, known, tongue, said_at=said_at) if heard else None


def amended(
    heard: Heard,
    speaker: str,
    known: Sequence[Known],
    tongue: Tongue,
    *,
    said_at: datetime | None = None,
    asked: str = "",
) -> Amendment | None:
    """The same of a message that has been heard, after a question of the assistant's."""
    found = _best(heard, speaker, known, cues(tongue.code), said_at, asked)
    if found is None:
        return None
    old, link = found
    content = _exchanged(old, link, speaker, tongue, said_at)
    if content == old.content:
        return None  # the same day, said another way
    if heard.correction is not None and (
        content is None or not _corrects(old, heard.correction, content, tongue)
    ):
        return None  # a correction that cannot be put in words removes nothing
    return Amendment(corrects=old, content=content, reason=link.reason, ends=link.new is None)


def _best(
    heard: Heard,
    speaker: str,
    known: Sequence[Known],
    own: Cues,
    said_at: datetime | None,
    asked: str,
) -> tuple[Known, Link] | None:
    """The strongest link, if one known thing alone has it."""
    oldest = _recent_since(known, said_at)
    found: list[tuple[Known, Link]] = []
    fields = {topic.name for topic, _ in heard.topics}
    for old in known:
        near = oldest is not None and old.said_at >= oldest
        if not (near or _touched(old, heard, fields, own)):
            continue
        gist = known_gist(old.content, speaker, own.code)
        if heard.correction is not None:
            link = _abridged(old, gist, heard, own, asked) if near else None
        else:
            link = _link(gist, heard, own)
        if link:
            found.append((old, link))
    best = max((link.score for _, link in found), default=0)
    chosen = [(old, link) for old, link in found if link.score == best]
    if len(chosen) > 1 and heard.correction:
        # What was said last is what a correction speaks of.
        chosen = [(old, link) for old, link in chosen if old.just_said]
    return chosen[0] if len(chosen) == 1 else None


def _abridged(old: Known, gist: Gist, heard: Heard, own: Cues, asked: str) -> Link | None:
    """A correction without a subject: of the value that it names as wrong, or of what the speaker
    said in the message before; never one that may answer a question about something else."""
    if not (heard.not_that or old.just_said):
        return None
    link = abridged(gist, heard, own)
    if link is None or link.span is None:
        return None
    start, end = link.span
    return link if not asked or asks_about(asked, gist.text[start:end], own) else None


def _corrects(old: Known, new: Gist, content: str, tongue: Tongue) -> bool:
    """Whether a value fits the sentence that it would stand in: a weekday puts right another one,
    or a day about as near; a date in the words of one language fits no sentence of another."""
    times = [value for value in new.values if value.sort in TIMES]
    if not times:
        return True
    before, after = day_of(old.content, tongue), day_of(content, tongue)
    if guess(old.content) != tongue.code or (len(times) > 1 and before is not None):
        return False
    weekdays = cues(tongue.code).among("weekdays", "days")
    said = {word.low for word in new.words} & weekdays
    if not said:
        return True
    if before is not None:
        return after is not None and abs(after - before) <= _NEAR_DAY_MAX
    words = {word.casefold() for word in old.content.split()}
    return bool(words & weekdays)


def _touched(old: Known, heard: Heard, fields: set[str], own: Cues) -> bool:
    """Whether a message may be about something known at all: cheap, for it is asked of all."""
    if heard.every & words_of(old.content, own.code):
        return True
    return bool(fields) and bool(fields & fields_of(old.content, own.code))


def _link(old: Gist, heard: Heard, own: Cues) -> Link | None:
    for clause in heard.clauses:
        if clause.added or not clause.stated:
            continue
        link = same_frame(old, clause, heard.tone, own) or flipped(old, clause, heard.tone, own)
        if link:
            return link
    for rule in (exchanged, succeeded, named_again, recounted, done, ended, topical):
        link = rule(old, heard, own)
        if link:
            return link
    return None


def _recent_since(known: Sequence[Known], said_at: datetime | None) -> datetime | None:
    """From when on something counts as just said; None where nothing does."""
    last = max(old.said_at for old in known)
    if said_at is not None and said_at - last > _RECENT_MAX:
        return None
    return last - _RECENT_MAX


def _exchanged(
    old: Known, link: Link, speaker: str, tongue: Tongue, said_at: datetime | None
) -> str | None:
    """The old sentence with the new value in it; None where there is no new value, or where it
    cannot be said without a pronoun."""
    if link.span is None or not link.new:
        return None
    known = known_gist(old.content, speaker, tongue.code).text
    new = turned(link.new, speaker, tongue).strip(" ,.")
    start, end = link.span
    if known[start:end] == new:
        return None
    if nth := _NTH.fullmatch(new):
        # Another day of the month that is known: "the 14th", of "12 March 2027".
        said = new
        new = _DAY.sub(lambda day: said if day["ending"] else nth[1], known[start:end], count=1)
    elif said_at is not None and known[start:end][-4:].isdecimal():
        # A day in full is followed by a day in full: "Thursday" is one of many.
        whens = mark(new, said_at, tongue, past=False)[1]
        if not whens and new[:1].isdecimal():
            whens = mark(f"on the {new}", said_at, tongue, past=False)[1]
        dates = [when.text for when in whens if when.full]
        new = dates[0].removeprefix(tongue.dates.say["day"].split("{")[0]) if dates else new
    if known[end:] == OWNED:
        end = len(known)  # "at Nonna's", "at Wagama"
    words = {word.casefold() for word in new.split()}
    if not new or words & tongue.words["pronouns"]:
        return None
    content = _fitting(known[:start], new, cues(tongue.code)) + known[end:]
    return named_once(content, speaker, tongue)


def _fitting(before: str, new: str, own: Cues) -> str:
    """A value behind the article that it takes: "a Skoda", "an Opel"."""
    article = before.split()[-1:] if before.endswith(" ") else []
    first = new.partition(" ")[0].casefold()
    if not article or article[0].casefold() not in own.among("articles", "mine"):
        return before + new
    bare = before.rstrip()[: -len(article[0])]
    if first in own.words["articles"]:
        return bare + new
    if article[0] in own.words["before_vowels"]:
        return f"{bare}{'an' if first[:1] in 'aeiou' else 'a'} {new}"
    return before + new
