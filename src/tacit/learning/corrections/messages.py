"""Read a message for the corrections that it may state, and link the values it changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tacit.learning.corrections.comparison import (
    CorrectionLink,
    Tone,
    has_name,
    is_same_subject,
    match_values,
    values_within,
)
from tacit.learning.corrections.cues import (
    ELLIPSIS,
    LABEL,
    CorrectionCues,
    CorrectionTopic,
    TypedValue,
    WordToken,
    restate_message,
    tokenize,
)
from tacit.learning.corrections.outlines import ClauseOutline, is_finite, outline_clauses, outline_fragment
from tacit.learning.extraction.locale import Locale, may_match
from tacit.learning.extraction.sentences import blank_quotations, split_sentences
from tacit.text import fold_case

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
    said = [(clause, clause.segment, fold_case(clause.segment)) for clause in clauses if not clause.added]
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
    people = people and people | {stem for stem, text in zip(old.subject, old.plain, strict=True) if text[:1].isupper()}
    if people and not old.role and not people & heard.stems:
        return any(clause.referring for clause in heard.clauses)
    strangers = [
        clause.other for clause in heard.clauses if clause.other and clause.other not in old.stems and not clause.role
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


def find_same_ending(old: ClauseOutline, new: ClauseOutline, own: CorrectionCues) -> tuple[WordToken, ...] | None:
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
    clauses = [one for one in clauses if one.segment not in vetoed and not own.has("once", one.segment)]
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


def _correction(said: str, own: CorrectionCues, locale: Locale) -> tuple[ClauseOutline | None, frozenset[str]]:
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


def _noun(clause: ClauseOutline, own: CorrectionCues) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    if clause.subject:
        return clause.subject, clause.plain
    dropped = own.among("small", "passing_mods", "adverbs")
    mine = [at for at, word in enumerate(clause.words) if word.low in own.words["mine"]]
    said = clause.words[mine[-1] + 1 :] if mine else clause.said
    nouns = [tx for tx in said if tx.low not in dropped and tx.low[:1].isalnum()]
    if not (clause.speaks or mine) or not nouns:
        return None
    return tuple(word.stem for word in nouns), tuple(word.text for word in nouns)


# Links from a message to a known fact that it gives another value or count.

# A thing that is known, named again with another value: "the rent went up to 950".

_NAMED = frozenset({"name", "places", "code"})
_TIMED = frozenset({"day", "clock", "month", "year", "number"})
_EXACT = frozenset({"day", "clock", "money", "number", "code"})
_CHANGED = "the same thing, changed"


def link_named_value(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> CorrectionLink | None:
    """ "The rent went up to 950": a thing that is known, with another value of the same sort."""
    if heard.tone.added or (not heard.tone.turned and heard.stems.isdisjoint(old.stems)):
        return None
    if settings_differ(old, heard) or old.over or old.past:
        return None
    for clause in heard.clauses:
        if clause.negated or clause.added or clause.verb in own.words["ending_verbs"]:
            continue
        if not clause.stated:
            continue
        plainly = not heard.tone.turned
        if (plainly and not _definite(old, clause, own)) or not _same_side(old, clause, own):
            continue
        if plainly:
            if link := _valued(old, clause, heard, own):
                return link
            continue
        if link := _versioned(old, clause):
            return link
        link = _moved_on(old, clause, heard, own) or _valued(old, clause, heard, own)
        if link:
            return link
    return None


def _definite(old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """ "The cleaner comes on Wednesdays", of a cleaner on Fridays: with no word of change, the
    thing itself says that of it there is one, and the value is an hour, a day or a sum."""
    if clause.past or clause.referring or not clause.subject or not clause.values:
        return False
    if old.speaks and not set(clause.subject) <= old.stems:
        return False
    if not old.speaks and set(clause.subject) != set(old.subject):
        return False
    if has_name(clause) or set(clause.subject) & own.among("people", "many_nouns"):
        return False
    first = clause.words[0].low
    definite = clause.owned or first in own.words["articles"] - own.words["indefinite"]
    said = values_within(clause, clause.said)
    precise = bool(said) and {value.sort for value in said} <= _EXACT
    return definite and precise and _weekly(old, own) == _weekly(clause, own)


def _weekly(gist: ClauseOutline, own: CorrectionCues) -> bool:
    return any(word.low in own.words["weekdays"] and word.low.endswith("s") for word in gist.words)


def _versioned(old: ClauseOutline, clause: ClauseOutline) -> CorrectionLink | None:
    """ "Django 4", "Django 5"; "Python 3.11", "Python 3.13"."""
    for one in _numbered(old):
        for other in _numbered(clause):
            if one[0].stem == other[0].stem and one[1].low != other[1].low:
                span = (one[1].start, one[1].end)
                return CorrectionLink(score=4, reason=_CHANGED, span=span, new=other[1].text)
    return None


def _numbered(gist: ClauseOutline) -> list[tuple[WordToken, WordToken]]:
    """Names, each with the number behind it."""
    pairs = zip(gist.words, gist.words[1:], strict=False)
    return [(one, other) for one, other in pairs if one.text[:1].isupper() and other.low[:1].isdecimal()]


def _valued(
    old: ClauseOutline, clause: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues
) -> CorrectionLink | None:
    if not _things(old, clause, own) or old.sides != clause.sides:
        return None
    if _another_deed(old, clause, own):
        return None
    known = {value.plain for value in old.values}
    again = {value.plain for value in values_within(old, old.said) if value.sort in _NAMED}
    if old.role and again & {value.plain for value in _told(clause, heard)}:
        return None  # the value is the one that is known
    said = {value.plain for value in _told(clause, heard)}
    told = [value for value in _told(clause, heard) if value.plain not in known]
    kept = [value for value in old.values if value.plain not in said]
    pairs = match_values(kept, told) or match_values([v for v in _core(old, own) if v in kept], told)
    if not pairs:
        return None
    source = next(one for one in heard.clauses if pairs[0][1] in one.values)
    if len(pairs) > 1:
        return link_rescheduled(old, source, pairs)
    content = {old.verb, source.verb} - own.words["neutral"] - own.words["changes"] - {None}
    if len(content) > 1:
        return None  # when it starts is not when it ends
    if pairs[0][0].sort in _NAMED and not (_same_act(old, source, own) or _same_lead(old, source, pairs[0], own)):
        return None
    new = text_of_value(source, pairs[0][1])
    if pairs[0][0].sort in _NAMED and new[-1:].isdecimal() and old.speaks and source.speaks:
        return None  # "owes Bob 20", "owe Ann 30": another person, and another sum
    return CorrectionLink(score=4, reason=_CHANGED, span=span_of_value(old, pairs[0][0]), new=new)


def link_rescheduled(
    old: ClauseOutline, clause: ClauseOutline, pairs: list[tuple[TypedValue, TypedValue]]
) -> CorrectionLink | None:
    """Another day and another hour at once."""
    timed = all(one.sort in _TIMED and one.unit == "" for pair in pairs for one in pair)
    if len(pairs) < 2 or not timed:
        return None
    first, last = pairs[0], pairs[-1]
    start, end = span_of_value(old, first[0])[0], span_of_value(old, last[0])[1]
    new = clause.text[span_of_value(clause, first[1])[0] : span_of_value(clause, last[1])[1]]
    return CorrectionLink(score=4, reason=_CHANGED, span=(start, end), new=new) if new else None


def _another_deed(old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """ "Rafe does judo on Fridays", "Rafe does piano on Mondays now": all they share is Rafe."""
    if not clause.subject or not clause.said or old.verb in own.words["being"]:
        return False
    person = has_name(clause) or bool(set(clause.subject) & own.words["people"])
    whom = person and set(clause.subject) <= set(old.subject) and bool(old.said)
    first = [tx for tx in clause.said if tx.low not in own.words["small"]][:1]
    known = {word.stem for word in old.words}
    return whom and bool(first) and first[0].stem in find_untyped_stems(clause) and first[0].stem not in known


def _same_act(old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """Names of all sorts look alike: what is done with them has to be the same."""
    held = clause.role and (old.role or set(clause.subject) <= set(old.subject))
    named = {old.verb, clause.verb} <= own.words["naming"]
    told = old.role or clause.role or clause.speaks or is_same_subject(old, clause, own)
    naming = (named and told) or held
    which = old.owned and old.verb in own.words["naming"] and clause.speaks
    same = old.verb == clause.verb and (
        old.verb not in own.words["being"] or old.speaks or is_same_subject(old, clause, own)
    )
    return same or clause.verb in own.words["changes"] or naming or which


def _same_lead(
    old: ClauseOutline, clause: ClauseOutline, pair: tuple[TypedValue, TypedValue], own: CorrectionCues
) -> bool:
    """ "Size M", "size L"; and a thing that is "in Dropbox", then "in iCloud"."""
    leads = [
        gist.words[value.start - 1] if value.start else None for gist, value in zip((old, clause), pair, strict=True)
    ]
    if leads[0] is None or leads[1] is None or leads[0].stem != leads[1].stem:
        return False
    if leads[0].low not in own.words["small"]:
        return True
    people = set(clause.subject) & own.words["people"] or clause.speaks or old.role
    being = {old.verb, clause.verb} & own.words["being"]
    return bool(being) and not people and leads[0].low in own.words["prepositions"]


def _moved_on(
    old: ClauseOutline, clause: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues
) -> CorrectionLink | None:
    """ "I switched to the fraud team", "I changed gyms"."""
    if clause.verb not in own.words["changes"] or not heard.tone.strong:
        return None
    words = find_same_ending(old, clause, own)
    alike = (clause.speaks and old.speaks) or is_same_subject(old, clause, own)
    # "My desk is on the second floor", "we've been moved to the ground floor".
    alike = alike or (clause.speaks and old.owned and old.preposition in own.words["locations"])
    if words and clause.preposition in own.words["towards"] and alike:
        bare = own.patterns["article"].sub("", clause.said_text)
        return CorrectionLink(score=4, reason=_CHANGED, span=(words[0].start, words[-1].end), new=bare)
    there = old.verb in own.words["being"] or (
        old.verb in own.words["attending"] and old.preposition in own.words["towards"]
    )
    placed = there and old.preposition and not old.speaks
    elsewhere = clause.said and not clause.values and not clause.preposition
    timed = {value.sort for value in values_within(old, old.said)} & _TIMED
    if placed and elsewhere and not timed and is_same_subject(old, clause, own):
        return CorrectionLink(score=4, reason=_CHANGED)  # "is in Lisbon", "has been moved online"
    to = clause.preposition in own.words["towards"] and bool(clause.said)
    when = {value.sort for value in values_within(clause, clause.said)} & _TIMED
    if placed and to and not (timed or when) and is_same_subject(old, clause, own):
        place = (old.said[0].start, old.said[-1].end)
        return CorrectionLink(score=4, reason=_CHANGED, span=place, new=clause.said_text)
    kinds = {word.stem for word in clause.said[:1]}
    named = old.owned and old.verb in own.words["naming"] and kinds == set(old.subject[-1:])
    if not named or not clause.speaks or clause.preposition is not None:
        return None
    after = heard.clauses[heard.clauses.index(clause) + 1 :]
    names = [text_of_value(one, v) for one in after for v in one.values if v.sort in _NAMED]
    span = (old.said[0].start, old.said[-1].end) if old.said else None
    return CorrectionLink(score=4, reason=_CHANGED, span=span, new=names[0] if names else None)


def _core(old: ClauseOutline, own: CorrectionCues) -> list[TypedValue]:
    """The values before the first preposition: Dr Bloom, of "Dr Bloom at Parkside"."""
    end = next((n for n, tx in enumerate(old.said) if tx.low in own.words["prepositions"]), None)
    return values_within(old, old.said[:end])


def _told(clause: ClauseOutline, heard: CorrectionMessage) -> list[TypedValue]:
    """The values of a clause, or of what follows it where it has none itself."""
    if clause.values:
        return list(clause.values)
    place = heard.clauses.index(clause)
    after = heard.clauses[place + 1 :]
    before = [one for one in heard.clauses[:place] if one.referring]
    return next((list(one.values) for one in (*after, *before) if one.values), [])


def _things(old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> frozenset[str]:
    """Nouns that both speak of, where nothing beside them makes it another one."""
    known = {value.plain for value in old.values}
    fresh = [value for value in clause.values if value.plain not in known]
    valued = {word.stem for v in fresh for word in clause.words[v.start : v.end]}
    shared = (old.stems & clause.stems) - valued - own.words["times"]
    shared -= {old.verb, clause.verb} - set(old.subject) - set(clause.subject)
    # A number that both have says nothing of what they are about: "07700 …".
    nouns = {stem for stem in shared if not stem[:1].isdecimal()}
    return frozenset(stem for stem in nouns if not _beside(stem, old, clause, own))


def _beside(stem: str, old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """A word before the noun, or a phrase behind it, that the known thing does not have."""
    plain = own.among("small", "passing_mods", "adverbs")
    towards = own.words["towards"]
    for position, word in enumerate(clause.words):
        if word.stem != stem:
            continue
        before = clause.words[position - 1] if position else None
        another = before and before.low not in plain and before.low[:1].isalpha()
        if another and before and before.stem not in old.stems | own.words["verbs"]:
            return True
        after = clause.words[position + 1 : position + 4]
        if after and _goes_on(after[0], old, clause, own):
            return True  # the team of "team meeting" is not that of "team dinner"
        moved = clause.verb in own.words["changes"] and after[:1] and after[0].low in towards
        if after and after[0].low in own.words["belonging"] and not moved:
            if _whereabouts(old, clause, after[0].low, own):
                continue
            told = [tx for tx in after[1:] if tx.low not in plain and tx.low[:1].isalpha()]
            if told and told[0].stem not in old.stems:
                return True
    return False


def _goes_on(word: WordToken, old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """Whether a noun goes on in another one that the known thing does not have."""
    plain = own.among("small", "adverbs", "prepositions")
    if not word.low.isalpha() or word.low in plain or word.low in own.words["auxiliaries"]:
        return False
    verb = word.stem in own.words["verbs"] or word.stem == clause.verb
    return not verb and word.stem in find_untyped_stems(clause) and word.stem not in old.stems


def _whereabouts(old: ClauseOutline, clause: ClauseOutline, preposition: str, own: CorrectionCues) -> bool:
    """ "I go to the gym at Ironworks" says which gym it is, where that is what is known."""
    what = old.owned and old.verb in own.words["naming"] and old.preposition is None
    return what and clause.speaks and preposition in own.words["place_prepositions"]


def _same_side(old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """Neither is about a person whom the other does not know."""
    if clause.other and (clause.other not in old.stems or clause.other in old.subject) and (clause.other != old.other):
        return False
    if old.other and old.other not in clause.stems:
        return False
    if clause.verb in own.words["changes"] and old.stems & find_untyped_stems(clause):
        return True  # "my doctor upped the dose": who did it does not matter
    if clause.subject and not clause.role:
        return bool(set(clause.subject) & old.stems) and set(clause.subject) <= old.stems
    return True


# How many there are, said anew: "3 cats now", "we're seven engineers since May".


def link_count(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> CorrectionLink | None:
    """Another number of the same things, where nothing beside them makes them other things."""
    if heard.tone.added or (not heard.tone.turned and heard.stems.isdisjoint(old.stems)):
        return None
    if settings_differ(old, heard) or old.past or old.over:
        return None
    for clause in heard.clauses:
        if clause.added or clause.negated or not clause.values or not clause.stated:
            continue
        if not (heard.tone.turned or _named_again(old, clause, own)):
            continue
        if not _same_owner(old, clause, own):
            continue
        for value in clause.values:
            known = _counted(old, value)
            if known and known.plain != value.plain and _nothing_else(old, clause, value, own):
                new = text_of_value(clause, value)
                return CorrectionLink(score=4, reason="another number of them", span=span_of_value(old, known), new=new)
    return None


def _counted(old: ClauseOutline, value: TypedValue) -> TypedValue | None:
    if value.sort != "number" or not value.unit or value.unit.endswith(LABEL):
        return None
    found = [one for one in old.values if one.sort == "number" and one.unit and not one.unit.endswith(LABEL)]
    if len(found) != 1:
        return None
    same = found[0].unit == value.unit or value.unit in old.stems
    return found[0] if same else None


def _named_again(old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """ "We're at 34 members in the chess club": what has that many of them is named again."""
    named = bool(old.subject) and set(old.subject) <= clause.stems
    there = clause.referring and clause.verb in own.words["being"]  # "there are 19 guppies"
    return (named or there) and not clause.past and clause.verb in own.words["neutral"] | {None}


def _same_owner(old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    if clause.other != old.other and clause.other:
        return False
    kin = set(old.subject) & own.words["people"]
    if clause.speaks or clause.referring or not clause.subject:
        return not kin and not old.other
    counted = {word.stem for v in clause.values for word in clause.words[v.start : v.end]}
    return set(clause.subject) - counted <= old.stems


def _nothing_else(old: ClauseOutline, clause: ClauseOutline, value: TypedValue, own: CorrectionCues) -> bool:
    """Whatever the clause says beside the number is known, or says since when and with whom."""
    plain = own.among("small", "adverbs", "prepositions")
    for position, word in enumerate(clause.words):
        if position >= value.end and word.low in own.words["since"]:
            return True
        if value.start <= position < value.end or word.low in plain:
            continue
        told = word.stem in old.stems or word.stem in own.words["neutral"]
        told = told or (word.stem in own.words["leaving"] and position >= value.end)  # "two left"
        if not told and word.low[:1].isalnum() and word.stem != value.unit:
            return False
    return True
