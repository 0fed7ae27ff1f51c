"""Read a message for the corrections that it may state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tacit.learning.corrections.comparison import Tone
from tacit.learning.corrections.cues import CorrectionCues, CorrectionTopic, restate_message
from tacit.learning.corrections.outlines import (
    ClauseOutline,
    is_finite,
    outline_clauses,
    outline_fragment,
)
from tacit.learning.corrections.values import ELLIPSIS, TypedValue, WordToken, tokenize
from tacit.learning.extraction.locale import Locale
from tacit.learning.extraction.sentences import blank_quotations, split_sentences
from tacit.learning.regex_prefilter import fold_case, may_match

# A message read for what it may correct, and what is asked of it together with something known.

_PRECISE = frozenset({"day", "clock", "month", "year", "number", "money", "name", "contact"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueExchange:
    """ "Swapped the Volvo for a Skoda"."""

    old: frozenset[str]  # stems
    new: str
    fresh: frozenset[str]  # stems of the new that are none of the old


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedEnding:
    """ "Sold the boat"."""

    what: frozenset[str]  # stems
    said: str
    died: bool = False  # a dead person lives and works nowhere
    leads: bool = False  # it is named first, as a subject: "the boat is sold"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionMessage:
    """One message, read for what it may correct."""

    clauses: tuple[ClauseOutline, ...]  # pronouns already explained by the clause before
    tone: Tone
    stems: frozenset[str]
    every: frozenset[str]  # stems, also of words that tell little
    settings: frozenset[str]
    exchanges: tuple[ValueExchange, ...]
    endings: tuple[StatedEnding, ...]
    topics: tuple[tuple[CorrectionTopic, ClauseOutline], ...]  # with the clause that speaks of each
    correction: ClauseOutline | None  # "actually it's the 14th": a value that corrects another
    not_that: frozenset[str]  # stems of what the correction says it is not


def find_topics(
    clauses: Sequence[ClauseOutline], tone: Tone, own: CorrectionCues
) -> Iterator[tuple[CorrectionTopic, ClauseOutline]]:
    said = [
        (clause, clause.segment, fold_case(clause.segment))
        for clause in clauses
        if not clause.added
    ]
    for topic in own.topics:
        if not (topic.plain or tone.turned):
            continue
        for clause, segment, seen in said:
            if may_match(topic.needs, seen) and topic.said.search(segment):
                yield topic, clause


def may_concern(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> bool:
    """Whether a message may be about whom the known thing is about: for another person's things,
    they have to be named."""
    people = {stem for stem in old.subject if stem in own.words["people"]}
    people |= {old.other} if old.other else set()
    people = people and people | {
        stem for stem, text in zip(old.subject, old.plain, strict=True) if text[:1].isupper()
    }
    if people and not old.role and not people & heard.stems:
        return any(clause.referring for clause in heard.clauses)
    strangers = [
        clause.other
        for clause in heard.clauses
        if clause.other and clause.other not in old.stems and not clause.role
    ]
    kin = {stem for clause in heard.clauses for stem in clause.subject if not clause.role}
    kin &= own.words["people"]
    return not strangers and (kin <= old.stems or old.role)


def settings_differ(old: ClauseOutline, heard: CorrectionMessage) -> bool:
    """ "At work", "at home": another setting is another fact."""
    both = bool(old.settings) and bool(heard.settings)
    return both and not old.settings & heard.settings


def find_content_stems(said: str, own: CorrectionCues) -> frozenset[str]:
    small, titles = own.words["small"], own.words["titles"]
    return frozenset(
        word.stem
        for word in tokenize(said, own)
        if word.low not in small and word.low not in titles and word.low[:1].isalnum()
    )


def find_span(old: ClauseOutline, stems: frozenset[str]) -> tuple[int, int] | None:
    """The characters of what is known that say all of these words."""
    if not stems or not stems <= {word.stem for word in old.words}:
        return None
    at = [word for word in old.words if word.stem in stems]
    return at[0].start, at[-1].end


def span_of_value(old: ClauseOutline, value: TypedValue) -> tuple[int, int]:
    return old.words[value.start].start, old.words[value.end - 1].end


def text_of_value(gist: ClauseOutline, value: TypedValue) -> str:
    return gist.text[gist.words[value.start].start : gist.words[value.end - 1].end]


def find_untyped_stems(gist: ClauseOutline) -> frozenset[str]:
    """The words of a clause that are no day, hour, number or name."""
    typed = {n for v in gist.values if v.sort in _PRECISE for n in range(v.start, v.end)}
    return frozenset(word.stem for n, word in enumerate(gist.words) if n not in typed)


def find_same_ending(
    old: ClauseOutline, new: ClauseOutline, own: CorrectionCues
) -> tuple[WordToken, ...] | None:
    """ "Oat milk" for "soy milk"."""
    last = [word for word in new.said if word.low[:1].isalnum()][-1:]
    if not last or last[0].stem not in find_untyped_stems(new):
        return None
    for position, word in enumerate(old.words):
        if word.stem == last[0].stem and position:
            start = position - 1
            if old.words[start].low in own.words["small"]:
                return None
            return old.words[start : position + 1]
    return None


# Reads a message for what it may correct.

_VALUE_MAX_COUNT = 4  # words
_HEARD_MAX_CHARS = 400


def read_message(text: str, own: CorrectionCues, locale: Locale) -> CorrectionMessage | None:
    """A message read for what it may correct; None where it states nothing."""
    if locale.takes_back("not_meant", text[:_HEARD_MAX_CHARS]):
        return None
    seen = restate_message(blank_quotations(text[:_HEARD_MAX_CHARS], locale), own.code)
    stated = [
        piece.text
        for piece in split_sentences(seen, locale)
        if not piece.asked and not locale.has("question", piece.text)
    ]
    said = ". ".join(one for one in stated if not locale.takes_back("sentence_veto", one))
    if not said:
        return None
    clauses = _explained(outline_clauses(said, own, locale), own)
    vetoed = [one.segment for one in clauses if locale.has("veto", one.segment)]
    clauses = [
        one for one in clauses if one.segment not in vetoed and not own.has("once", one.segment)
    ]
    # Whether "if I sold the boat" is all that a sentence says is not for a pattern to tell.
    plain = ". ".join(one for one in stated if not any(part in one for part in vetoed))
    tone = _tone(said, clauses, own)
    starred = text.lstrip()[:1] == "*"
    correction, not_that = _correction(f"*{said}" if starred else said, own, locale)
    told = [one for one in clauses if one.stated]
    done = [one for one in clauses if one.stated or (one.verb is not None and one.referring)]
    return CorrectionMessage(
        clauses=tuple(clauses),
        tone=tone,
        stems=frozenset().union(*(clause.stems for clause in clauses)),
        every=_every(clauses, own),
        settings=frozenset().union(*(clause.settings for clause in clauses)),
        exchanges=tuple(_exchanges(plain, own)) if tone.turned and done else (),
        endings=tuple(one for one in _endings(plain, own) if _said_in(one, done)),
        topics=() if tone.added else tuple(find_topics(told, tone, own)),
        correction=correction,
        not_that=not_that,
    )


def _every(clauses: list[ClauseOutline], own: CorrectionCues) -> frozenset[str]:
    """The words by which something known may be reached. Who is "with" a firm works there."""
    dropped = own.among("speaker", "mine", "articles", "prepositions", "joining")
    found = {word.stem for one in clauses for word in one.words if word.low not in dropped}
    if not any(one.speaks and one.verb in own.words["being"] for one in clauses):
        found -= own.words["being"]  # nearly everything that is known has it
    posted = any(one.preposition in own.words["posts"] and one.speaks for one in clauses)
    return frozenset(found | own.words["posted"] if posted else found)


def _tone(said: str, clauses: list[ClauseOutline], own: CorrectionCues) -> Tone:
    # "…, too" belongs to all of it; "moved to another team" to its own clause.
    trailing = any(one.added and one.verb is None for one in clauses)
    return Tone(
        strong=own.has("strong", said),
        weak=own.has("weak", said) or _consequence(clauses, own),
        added=trailing or (len(clauses) == 1 and clauses[0].added),
        corrects=own.has("corrects", said),
        done=own.has("done", said),
    )


def _consequence(clauses: list[ClauseOutline], own: CorrectionCues) -> bool:
    """ "The neighbours complained, so we rehearse at the hall": what happened, and what is so."""
    happened = False
    helping = own.words["auxiliaries"]
    for clause in clauses if len(clauses) > 1 else ():
        about = clause.speaks or bool(clause.subject)
        if happened and about and clause.verb and not (clause.past or clause.negated):
            return True
        done = any(
            two.low.endswith("ed") and (one.low in helping or one.low in own.words["be"])
            for one, two in zip(clause.words, clause.words[1:], strict=False)
        )
        happened = happened or ((clause.past or done) and not clause.over)
    return False


def _exchanges(said: str, own: CorrectionCues) -> Iterator[ValueExchange]:
    for pattern in own.exchanges:
        for match in pattern.finditer(said):
            old = find_content_stems(match["old"], own)
            new = _value_of(match["new"], own)
            fresh = find_content_stems(new, own) - old
            if fresh and old - own.words["verbs"]:
                yield ValueExchange(old=old, new=new, fresh=fresh)


def _value_of(said: str, own: CorrectionCues) -> str:
    """The value of a clause, without what leads up to it and what trails behind."""
    lead = own.patterns["before_value"].match(said)
    said = said[lead.end() :] if lead else said
    return own.patterns["after_value"].sub("", said).strip()


def _endings(said: str, own: CorrectionCues) -> Iterator[StatedEnding]:
    seen = fold_case(said)
    for pattern, needs in own.endings:
        for match in pattern.finditer(said) if may_match(needs, seen) else ():
            what = _named_over(match["what"], own)
            if what and not own.has("momentary", said[match.start() :]):
                died = own.has("died", match[0])
                leads = match.start("what") == match.start()
                yield StatedEnding(what=what, said=match["what"], died=died, leads=leads)


def _named_over(said: str, own: CorrectionCues) -> frozenset[str]:
    """What is over, without when it ended; all of it where that alone tells nothing."""
    plain = own.among("generic", "neutral", "duties", "likes")
    days = {own.stem(day) for day in own.words["weekdays"]}
    for text in (own.patterns["dated"].sub("", said), said):
        found = find_content_stems(text, own) - plain
        if found - days:
            return found
    return find_content_stems(said, own) - own.words["generic"] - own.words["neutral"] - days


def _said_in(ending: StatedEnding, clauses: list[ClauseOutline]) -> bool:
    """Whether a person or something does it: "no more coffee" is an answer."""
    opening = " ".join(ending.said.split()[:2])
    return ending.leads or any(opening in one.segment for one in clauses)


def _correction(
    said: str, own: CorrectionCues, locale: Locale
) -> tuple[ClauseOutline | None, frozenset[str]]:
    """The value that words of correction put in the place of another, and what they deny: "Porto,
    not Lisbon", "I meant Porto". Nothing without such words."""
    ways = (own.patterns[name].match(said) for name in ("denying", "denied", "meant"))
    match = next((way for way in ways if way), None)
    polite = own.words["polite"]  # what is asked for corrects nothing
    if match is None or any(word.low in polite for word in tokenize(said, own)):
        return None, frozenset()
    new = own.patterns["article"].sub("", match["new"].strip())
    words = tokenize(f"{ELLIPSIS} {new}", own)[1:]  # it opens no sentence: a capital tells
    if not 0 < len(words) <= _VALUE_MAX_COUNT:
        return None, frozenset()
    found = outline_fragment(f"{ELLIPSIS} {new}", words, own, locale)
    parted = match.groupdict().get("parted", ",")
    if _vague(found, own, locale) or not (parted or found.values):
        return None, frozenset()
    return found, find_content_stems(match.groupdict().get("old", ""), own)


def _vague(new: ClauseOutline, own: CorrectionCues, locale: Locale) -> bool:
    """ "Another one", "somewhere warmer", "maybe": no value that stands alone."""
    vague = locale.words["never"] | locale.words["passing"] | own.among("adverbs", "choosing")
    typed = {n for value in new.values for n in range(value.start, value.end)}
    rest = [word for n, word in enumerate(new.words) if n not in typed]
    return any(word.low in vague or is_finite(word, own) for word in rest)


def _explained(clauses: list[ClauseOutline], own: CorrectionCues) -> list[ClauseOutline]:
    """Pronouns and bare names put to the noun of the clause before: "got a new laptop, it's a
    Framework", "we have a new landlord, Mrs Dunmore"."""
    found: list[ClauseOutline] = []
    noun: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    opened = False
    for clause in clauses:
        if clause.referring and noun[0] and clause.words[0].low not in own.words["expletive"]:
            clause = replace(clause, subject=noun[0], plain=noun[1], owned=True, explained=True)
        elif opened and noun[0] and _bare_value(clause, own):
            clause = replace(
                clause,
                subject=noun[0],
                plain=noun[1],
                owned=True,
                explained=True,
                verb=min(own.words["being"]),
                start=0,
                end=len(clause.words),
                speaks=False,
            )
        found.append(clause)
        noun = _noun(clause, own) or noun
        opened = _opened(clause, own)
    return found


def _bare_value(clause: ClauseOutline, own: CorrectionCues) -> bool:
    """ "Mrs Dunmore", after "we have a new landlord": a value, and nothing else."""
    first = clause.words[0].low
    denied = first in own.words["negations"] or first in own.words["adverbs"]
    return clause.verb is None and not clause.subject and bool(clause.values) and not denied


def _opened(clause: ClauseOutline, own: CorrectionCues) -> bool:
    """Whether a clause announces what the next one says: "new record:", "got a new landlord,"."""
    if clause.verb is None or clause.verb in own.words["changes"]:
        return True
    return clause.speaks and clause.verb in own.words["neutral"] - own.words["being"]


def _noun(
    clause: ClauseOutline, own: CorrectionCues
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    if clause.subject:
        return clause.subject, clause.plain
    dropped = own.among("small", "passing_mods", "adverbs")
    mine = [at for at, word in enumerate(clause.words) if word.low in own.words["mine"]]
    said = clause.words[mine[-1] + 1 :] if mine else clause.said
    nouns = [tx for tx in said if tx.low not in dropped and tx.low[:1].isalnum()]
    if not (clause.speaks or mine) or not nouns:
        return None
    return tuple(word.stem for word in nouns), tuple(word.text for word in nouns)
