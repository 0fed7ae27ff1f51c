"""Decide which known facts a message supersedes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from tacit.learning.corrections.comparison import TIME_SORTS, CorrectionLink, Tone, is_comment, link_same_frame
from tacit.learning.corrections.cues import CorrectionCues, load_cues, parse_full_date
from tacit.learning.corrections.links import (
    asks_about,
    link_abridged,
    link_done,
    link_ending,
    link_exchange,
    link_opposite,
    link_successor,
    link_topic,
)
from tacit.learning.corrections.messages import CorrectionMessage, link_count, link_named_value, read_message
from tacit.learning.corrections.outlines import (
    POSSESSIVE_ENDING,
    ClauseOutline,
    find_known_stems,
    find_known_topics,
    outline_known,
)
from tacit.learning.extraction.locale import Locale, guess_locale, load_locale
from tacit.learning.extraction.mentions import mark_dates, name_speaker_once, replace_speaker
from tacit.learning.facts import Mention, StatedFact

# What is remembered of a speaker, as a correction looks at it, and what a correction says.


class KnownFact(NamedTuple):  # made for everything that is known, for each turn
    """One existing memory of the speaker's own."""

    content: str
    slot: str | None
    value: str | None
    about_speaker: bool
    said_at: datetime
    about: tuple[Mention, ...] = ()  # others whom it is about
    negated: bool = False
    # Stated in the speaker's message before this one: what a bare "I meant Porto" may correct.
    just_said: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One existing memory that a message corrects or ends."""

    corrects: KnownFact
    content: str | None  # what holds now, in the third person; None where it simply ended
    reason: str  # in plain words, for the history
    ends: bool  # the message says that it is over, and no value in its place


# Whether a newer statement takes the place of an older one: same slot, same subject, new value.

# Whose these are is said one time and left out the next: "my exam", "the exam".
_OF_THINGS = frozenset({"event", "thing"})
# A person holds it, and who does is its value: "Ivo is the team lead".
_ROLE = "role"
# Of these there may be two at a time: only what is said as a change takes another's place.
_SEVERAL = frozenset(
    {"job", "schedule", "plan", "pet_name", "roommate", "neighbour", "teacher", "trainer"}
    | {"nanny", "commute", "goal", "reading", "school", "frame", _ROLE}
)
# Ends whatever closes with its value: "sold the boat" what "has a boat" said.
_END = "end"
# What a person likes, does or learns may have been said in other words: "uses Duolingo".
_LOOSE_ENDS = frozenset({_END, "likes", "activity", "learning"})
_LOOSE = frozenset({"", "frame", "schedule"})
_LOOSE_FRAMES = frozenset({"", "frame"})
_YEAR = re.compile(r"\b(?:19|20)\d\d$")  # the year in which something happened
_PARTNER = "partner"
_DATED = re.compile(r" (?:\w+ )?\d.*$")  # a date behind the words that count
# The value of an end that names nothing: "I quit my job" ends whatever the job was.
_WHATEVER = frozenset({None, "none", "0"})
_FRAME = "frame"
_MEASURED = frozenset({"rent", "salary", "price", "weight", "height", "age", "thing"})
_WHOSE = re.compile(r"\w+'s ([a-z-]+)\b")
_COUNTED = re.compile(r"(?P<who>[a-z]+) \d+")
_WITH = re.compile(r"\bwith ([A-Z]\w+) (?:is|are|starts|begins)\b")
_SETTABLE = frozenset({"phone", "computer", "car", "email", "thing", "device", "bike"})
_SWAPPED_MAX_COUNT = 3  # words
_TELLING_MIN_CHARS = 4
_OPENING_COUNT = 2  # words


def replaces(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    """Whether `new` puts an end to what `old` says: another value of the same single-valued slot
    of the same subject, an opposite preference (the slot of a taste is the thing, its value yes
    or no), or a negation. The same value again is the same fact, and replaces nothing. Slots of
    which there may be several need `new` to be said as a change ("now", "instead"), so compare
    statements with this function, never by their slots alone."""
    return _takes_place(old, new) and not (is_comment(new) or _stands_beside(old, new))


def _takes_place(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    if _kind_of(old) == _ROLE == _kind_of(new):
        return _role_passed(old, new)
    if not _same_subject(old, new):
        return False
    if new.negated and _kind_of(new) in _LOOSE_ENDS and _ended(old, new):
        return True
    if old.slot is None or old.slot != new.slot:
        return _gained(old, new) or _swapped(old, new) or _one_at_a_time(old, new)
    if _happened_twice(old, new):
        return False
    if _kind_of(new) in _SEVERAL and not (new.turned or new.negated or old.negated):
        return _one_at_a_time(old, new)
    if old.negated:
        # What has ended is followed by what holds now: "left Lidl", then "works at Aldi".
        return not new.negated and old.value != new.value
    if new.negated:
        return new.value in _WHATEVER or _ends(old, new)
    if old.slot == _PARTNER and new.turned and old.content != new.content:
        return True  # "Ola is my wife now": the same one, no longer the same
    return old.value is not None and new.value is not None and old.value != new.value


def _stands_beside(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    """ "Also works at a bar", "the one-to-one with Ingrid", "a phone for work": of these there
    are two, whatever their slots say."""
    if new.negated:
        return False
    own = load_cues(guess_locale(new.quote or new.content))
    if own.has("beside", new.content) or own.has("beside", new.quote):
        return True
    if _relations_differ(old, new, own.code) or _differ_twice(old, new):
        return True
    if _number_and_word(old, new):
        return True  # "the rent is 800", "the rent is late"
    if new.content.split()[-1] in own.words["manifold"]:
        return True  # "a morning person", "a dog person"
    if _kind_of(new) in _OF_THINGS and _met(old.content) and _met(new.content):
        return _met(old.content) != _met(new.content)
    if new.turned:
        return False
    values = {one.value for one in (old, new)}
    wide = {value for value in values if value in own.words["countries"]}
    if len(wide) == 1 and len(values) > 1 and _same_opening(old, new):
        return True  # England, and a town in it
    return own.has("beside", old.content) or _set_apart(old, new, own)


def _relations_differ(old: StatedFact | KnownFact, new: StatedFact, code: str) -> bool:
    """ "Kim's daughter goes by Liz", "Kim's niece goes by Beth"."""
    found = [_WHOSE.match(one.content) for one in (old, new)]
    kin = load_locale(code).kin
    words = [match[1].casefold() for match in found if match and match[1].casefold() in kin]
    return len(words) == len(found) and kin[words[0]].word != kin[words[1]].word


def _differ_twice(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    """ "Owes Bob 20", "owes Ann 30": another person, and another sum."""
    sides = [_COUNTED.fullmatch(one.value or "") for one in (old, new)]
    if not sides[0] or not sides[1]:
        return False
    return sides[0]["who"] != sides[1]["who"] and _kind_of(new) == _FRAME


def _number_and_word(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    sides = [one.value or "" for one in (old, new)]
    counted = [any(char.isdecimal() for char in side) for side in sides]
    words = [side.isalpha() and side not in _WHATEVER for side in sides]
    return counted[0] != counted[1] and any(words) and _kind_of(new) in _MEASURED


def _met(content: str) -> str | None:
    match = _WITH.search(content)
    return match[1] if match else None


def _same_opening(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    """The same subject and verb."""
    words = [one.content.split(None, _OPENING_COUNT)[:_OPENING_COUNT] for one in (old, new)]
    return words[0] == words[1]


def _set_apart(old: StatedFact | KnownFact, new: StatedFact, own: CorrectionCues) -> bool:
    """One is for work, the other is not."""
    found = [own.patterns["setting"].findall(one.content) for one in (old, new)]
    return bool(found[0]) != bool(found[1]) and _kind_of(new) in _SETTABLE


def _role_passed(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    """A role has another holder, or its holder another role."""
    if not new.turned or old.negated:
        return False
    return (old.slot == new.slot) != (old.value == new.value)


def _ended(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    thing = new.value if new.slot == _END else (new.slot or "").partition(":")[2]
    if old.negated or not thing or (new.slot != _END and _kind_of(old) not in _LOOSE):
        return False
    named = thing in (old.value, (old.slot or "").partition(":")[2])
    return named or _last_words(old.content, thing)


def _last_words(content: str, value: str) -> bool:
    plain = _plain(_DATED.sub("", content))
    return plain.endswith((f" {value}", f" {value}s"))


def _gained(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    """ "Has no car", "has a Fiat"."""
    return old.slot == f"has:{new.slot}" and old.value == "no" and not new.negated


def _swapped(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    """Two statements without slots of their own that differ in a word or two before a word that
    tells: "drinks oat milk", and "drinks soy milk" said as a change."""
    loose = _kind_of(old) in _LOOSE and _kind_of(new) in _LOOSE
    if not (loose and new.turned) or old.negated or new.negated:
        return False
    before, after = _plain(old.content).split(), _plain(new.content).split()
    front = _shared(before, after)
    back = _shared(before[front:][::-1], after[front:][::-1])
    changed = max(len(before), len(after)) - front - back
    both = min(len(before), len(after)) > front + back
    telling = any(len(word) >= _TELLING_MIN_CHARS for word in after[len(after) - back :])
    return both and front > 1 and changed <= _SWAPPED_MAX_COUNT and telling


def _one_at_a_time(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    """Two statements without slots of their own whose subject and verb are the same, and whose
    verb or noun has one value by its nature: "starts at 9", "starts at 10"."""
    loose = _kind_of(old) in _LOOSE_FRAMES and _kind_of(new) in _LOOSE_FRAMES
    # The cheap question first: this is asked of everything that is known.
    if not loose or not _same_opening(old, new) or old.negated or new.negated:
        return False
    code = guess_locale(f"{old.content} {new.content}")
    tone = Tone(strong=False, weak=new.turned, added=False, corrects=False, done=False)
    before, after = outline_known(old.content, "", code), outline_known(new.content, "", code)
    return link_same_frame(before, after, tone, load_cues(code)) is not None


def _happened_twice(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    """ "Moved to Norwich in 2008", "moved to Sheffield in 2017": two events, each in its year."""
    years = [_YEAR.search(one.content) for one in (old, new)]
    if new.turned or not (years[0] and years[1]) or years[0][0] == years[1][0]:
        return False
    code = guess_locale(f"{old.content} {new.content}")
    return all(outline_known(one.content, "", code).past for one in (old, new))


def _shared(one: list[str], other: list[str]) -> int:
    """How many words two lists begin with alike."""
    count = 0
    for this, that in zip(one, other, strict=False):
        if this != that:
            break
        count += 1
    return count


def _ends(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    """Whether an end speaks of the value that held. Tastes and habits say it as yes and no."""
    if new.value in ("yes", "no"):
        return old.value != new.value
    return old.value is None or old.value == new.value


def _same_subject(old: StatedFact | KnownFact, new: StatedFact) -> bool:
    of_thing = _kind_of(new) in _OF_THINGS
    if old.about_speaker or new.about_speaker:
        both = old.about_speaker and new.about_speaker
        return both or (of_thing and not _others(old) and not _others(new))
    if not old.about or not new.about:
        return not old.about and not new.about
    return _same(old.about[0], new.about[0])


def _kind_of(statement: StatedFact | KnownFact) -> str:
    return (statement.slot or "").split(":", 1)[0]


def _others(statement: StatedFact | KnownFact) -> bool:
    return bool(statement.about) and not statement.about_speaker


def _same(one: Mention, other: Mention) -> bool:
    """Names count before relations: of two brothers, one is Erik."""
    for this, that in ((one.username, other.username), (one.name, other.name)):
        if this and that:
            return _plain(this) == _plain(that)
    if one.name or other.name or one.username or other.username:
        return False
    return one.relation is not None and one.relation == other.relation


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())


# Which of the things already known a message corrects, and how it reads from now on; None where
# that would have to be guessed.

_NTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)")
_DAY = re.compile(r"\b\d{1,2}(?P<ending>st|nd|rd|th)?\b")
_RECENT_MAX = timedelta(hours=1)
_NEAR_DAY_MAX = timedelta(days=14)


def find_correction(
    text: str, speaker: str, known: Sequence[KnownFact], locale: Locale, *, said_at: datetime | None = None
) -> Correction | None:
    """The one memory that a message corrects or ends. `known` is newest first; `said_at`, the
    moment of the message, tells which of them are recent enough for "actually it's Thursday"."""
    heard = read_message(text, load_cues(locale.code), locale) if known else None
    return find_correction_in(heard, speaker, known, locale, said_at=said_at) if heard else None


def find_correction_in(
    heard: CorrectionMessage,
    speaker: str,
    known: Sequence[KnownFact],
    locale: Locale,
    *,
    said_at: datetime | None = None,
    asked: str = "",
) -> Correction | None:
    """The same of a message that has been heard, after a question of the assistant's."""
    found = _best(heard, speaker, known, load_cues(locale.code), said_at, asked)
    if found is None:
        return None
    old, link = found
    content = _exchanged(old, link, speaker, locale, said_at)
    if content == old.content:
        return None  # the same day, said another way
    if heard.correction is not None and (content is None or not _corrects(old, heard.correction, content, locale)):
        return None  # a correction that cannot be put in words removes nothing
    return Correction(corrects=old, content=content, reason=link.reason, ends=link.new is None)


def _best(
    heard: CorrectionMessage,
    speaker: str,
    known: Sequence[KnownFact],
    own: CorrectionCues,
    said_at: datetime | None,
    asked: str,
) -> tuple[KnownFact, CorrectionLink] | None:
    """The strongest link, if one known thing alone has it."""
    oldest = _recent_since(known, said_at)
    found: list[tuple[KnownFact, CorrectionLink]] = []
    fields = {topic.name for topic, _ in heard.topics}
    for old in known:
        near = oldest is not None and old.said_at >= oldest
        if not (near or _touched(old, heard, fields, own)):
            continue
        gist = outline_known(old.content, speaker, own.code)
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


def _abridged(
    old: KnownFact, gist: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues, asked: str
) -> CorrectionLink | None:
    """A correction without a subject: of the value that it names as wrong, or of what the speaker
    said in the message before; never one that may answer a question about something else."""
    if not (heard.not_that or old.just_said):
        return None
    link = link_abridged(gist, heard, own)
    if link is None or link.span is None:
        return None
    start, end = link.span
    return link if not asked or asks_about(asked, gist.text[start:end], own) else None


def _corrects(old: KnownFact, new: ClauseOutline, content: str, locale: Locale) -> bool:
    """Whether a value fits the sentence that it would stand in: a weekday puts right another one,
    or a day about as near; a date in the words of one language fits no sentence of another."""
    times = [value for value in new.values if value.sort in TIME_SORTS]
    if not times:
        return True
    before, after = parse_full_date(old.content, locale), parse_full_date(content, locale)
    if guess_locale(old.content) != locale.code or (len(times) > 1 and before is not None):
        return False
    weekdays = load_cues(locale.code).among("weekdays", "days")
    said = {word.low for word in new.words} & weekdays
    if not said:
        return True
    if before is not None:
        return after is not None and abs(after - before) <= _NEAR_DAY_MAX
    words = {word.casefold() for word in old.content.split()}
    return bool(words & weekdays)


def _touched(old: KnownFact, heard: CorrectionMessage, fields: set[str], own: CorrectionCues) -> bool:
    """Whether a message may be about something known at all: cheap, for it is asked of all."""
    if heard.every & find_known_stems(old.content, own.code):
        return True
    return bool(fields) and bool(fields & find_known_topics(old.content, own.code))


def _link(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> CorrectionLink | None:
    for clause in heard.clauses:
        if clause.added or not clause.stated:
            continue
        link = link_same_frame(old, clause, heard.tone, own) or link_opposite(old, clause, heard.tone, own)
        if link:
            return link
    for rule in (link_exchange, link_successor, link_named_value, link_count, link_done, link_ending, link_topic):
        link = rule(old, heard, own)
        if link:
            return link
    return None


def _recent_since(known: Sequence[KnownFact], said_at: datetime | None) -> datetime | None:
    """From when on something counts as just said; None where nothing does."""
    last = max(old.said_at for old in known)
    if said_at is not None and said_at - last > _RECENT_MAX:
        return None
    return last - _RECENT_MAX


def _exchanged(
    old: KnownFact, link: CorrectionLink, speaker: str, locale: Locale, said_at: datetime | None
) -> str | None:
    """The old sentence with the new value in it; None where there is no new value, or where it
    cannot be said without a pronoun."""
    if link.span is None or not link.new:
        return None
    known = outline_known(old.content, speaker, locale.code).text
    new = replace_speaker(link.new, speaker, locale).strip(" ,.")
    start, end = link.span
    if known[start:end] == new:
        return None
    if nth := _NTH.fullmatch(new):
        # Another day of the month that is known: "the 14th", of "12 March 2027".
        said = new
        new = _DAY.sub(lambda day: said if day["ending"] else nth[1], known[start:end], count=1)
    elif said_at is not None and known[start:end][-4:].isdecimal():
        # A day in full is followed by a day in full: "Thursday" is one of many.
        whens = mark_dates(new, said_at, locale, past=False)[1]
        if not whens and new[:1].isdecimal():
            whens = mark_dates(f"on the {new}", said_at, locale, past=False)[1]
        dates = [when.text for when in whens if when.full]
        new = dates[0].removeprefix(locale.dates.say["day"].split("{")[0]) if dates else new
    if known[end:] == POSSESSIVE_ENDING:
        end = len(known)  # "at Nonna's", "at Wagama"
    words = {word.casefold() for word in new.split()}
    if not new or words & locale.words["pronouns"]:
        return None
    content = _fitting(known[:start], new, load_cues(locale.code)) + known[end:]
    return name_speaker_once(content, speaker, locale)


def _fitting(before: str, new: str, own: CorrectionCues) -> str:
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


# What of the things known a new message takes the place of: one pure decision, with reasons.


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """One thing known that no longer holds."""

    old: KnownFact
    new: StatedFact | None  # the statement of the message that takes its place
    content: str | None  # what holds now; None where the old one simply ended
    reason: str  # in plain words, for the history


def find_superseded(
    text: str,
    statements: Sequence[StatedFact],
    speaker: str,
    known: Sequence[KnownFact],
    locale: Locale,
    *,
    said_at: datetime,
    asked: str = "",
) -> list[Supersession]:
    """Which of `known` (the speaker's own memories, newest first) a message puts an end to. Its
    statements are compared first; where none of them replaces anything, the message is read once
    more in the light of what is known ("Thursday, not Monday"). `asked` is the question that the
    assistant put in between. [] where nothing is replaced: what is not decided here stays."""
    found = [made for new in statements for made in _by_statement(new, known)]
    if found:
        return list({made.old.content: made for made in reversed(found)}.values())[::-1]
    heard = read_message(text, load_cues(locale.code), locale) if known else None
    amendment = None
    if heard:
        amendment = find_correction_in(heard, speaker, known, locale, said_at=said_at, asked=asked)
    if amendment is None:
        # What the whole message says as a change, its statement alone may not show.
        turned = heard is not None and heard.tone.turned and len(heard.clauses) > 1
        told = [replace(new, turned=True) for new in statements if turned and not new.turned]
        return [made for new in told for made in _by_statement(new, known)]
    new = _carrying(amendment.content, statements)
    if new is None and amendment.content is None and not amendment.ends:
        return []  # a value that cannot be put in words removes nothing
    return [
        Supersession(
            old=amendment.corrects, new=new, content=new.content if new else amendment.content, reason=amendment.reason
        )
    ]


def _by_statement(new: StatedFact, known: Sequence[KnownFact]) -> list[Supersession]:
    return [
        Supersession(
            old=old,
            new=new,
            content=None if new.negated else new.content,
            reason="ended" if new.negated else "another value of the same",
        )
        for old in known
        if replaces(old, new)
    ]


def _carrying(content: str | None, statements: Sequence[StatedFact]) -> StatedFact | None:
    """The statement that already says what the amendment would: the only one of the message."""
    if len(statements) == 1 and not statements[0].negated:
        return statements[0]
    return next((one for one in statements if one.content == content), None)


def make_known_fact(statement: StatedFact, said_at: datetime) -> KnownFact:
    """A statement as it is known to the speaker's next message."""
    return KnownFact(
        content=statement.content,
        slot=statement.slot,
        value=statement.value,
        about_speaker=statement.about_speaker,
        said_at=said_at,
        about=statement.about,
        negated=statement.negated,
        just_said=True,
    )
