"""Link a message to a known fact that it gives another value or count."""

from __future__ import annotations

from tacit.learning.corrections.comparison import (
    CorrectionLink,
    has_name,
    is_same_subject,
    match_values,
    values_within,
)
from tacit.learning.corrections.cues import CorrectionCues
from tacit.learning.corrections.messages import (
    CorrectionMessage,
    find_same_ending,
    find_untyped_stems,
    settings_differ,
    span_of_value,
    text_of_value,
)
from tacit.learning.corrections.outlines import ClauseOutline
from tacit.learning.corrections.values import LABEL, TypedValue, WordToken

# A thing that is known, named again with another value: "the rent went up to 950".

_NAMED = frozenset({"name", "places", "code"})
_TIMED = frozenset({"day", "clock", "month", "year", "number"})
_PRECISE = frozenset({"day", "clock", "money", "number", "code"})
_CHANGED = "the same thing, changed"


def link_named_value(
    old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues
) -> CorrectionLink | None:
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
    precise = bool(said) and {value.sort for value in said} <= _PRECISE
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
    return [
        (one, other) for one, other in pairs if one.text[:1].isupper() and other.low[:1].isdecimal()
    ]


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
    pairs = match_values(kept, told) or match_values(
        [v for v in _core(old, own) if v in kept], told
    )
    if not pairs:
        return None
    source = next(one for one in heard.clauses if pairs[0][1] in one.values)
    if len(pairs) > 1:
        return link_rescheduled(old, source, pairs)
    content = {old.verb, source.verb} - own.words["neutral"] - own.words["changes"] - {None}
    if len(content) > 1:
        return None  # when it starts is not when it ends
    if pairs[0][0].sort in _NAMED and not (
        _same_act(old, source, own) or _same_lead(old, source, pairs[0], own)
    ):
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
    return (
        whom
        and bool(first)
        and first[0].stem in find_untyped_stems(clause)
        and first[0].stem not in known
    )


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
    old: ClauseOutline,
    clause: ClauseOutline,
    pair: tuple[TypedValue, TypedValue],
    own: CorrectionCues,
) -> bool:
    """ "Size M", "size L"; and a thing that is "in Dropbox", then "in iCloud"."""
    leads = [
        gist.words[value.start - 1] if value.start else None
        for gist, value in zip((old, clause), pair, strict=True)
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
        return CorrectionLink(
            score=4, reason=_CHANGED, span=(words[0].start, words[-1].end), new=bare
        )
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


def _goes_on(
    word: WordToken, old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues
) -> bool:
    """Whether a noun goes on in another one that the known thing does not have."""
    plain = own.among("small", "adverbs", "prepositions")
    if not word.low.isalpha() or word.low in plain or word.low in own.words["auxiliaries"]:
        return False
    verb = word.stem in own.words["verbs"] or word.stem == clause.verb
    return not verb and word.stem in find_untyped_stems(clause) and word.stem not in old.stems


def _whereabouts(
    old: ClauseOutline, clause: ClauseOutline, preposition: str, own: CorrectionCues
) -> bool:
    """ "I go to the gym at Ironworks" says which gym it is, where that is what is known."""
    what = old.owned and old.verb in own.words["naming"] and old.preposition is None
    return what and clause.speaks and preposition in own.words["place_prepositions"]


def _same_side(old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """Neither is about a person whom the other does not know."""
    if (
        clause.other
        and (clause.other not in old.stems or clause.other in old.subject)
        and (clause.other != old.other)
    ):
        return False
    if old.other and old.other not in clause.stems:
        return False
    if clause.verb in own.words["changes"] and old.stems & find_untyped_stems(clause):
        return True  # "my doctor upped the dose": who did it does not matter
    if clause.subject and not clause.role:
        return bool(set(clause.subject) & old.stems) and set(clause.subject) <= old.stems
    return True


# How many there are, said anew: "3 cats now", "we're seven engineers since May".


def link_count(
    old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues
) -> CorrectionLink | None:
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
                return CorrectionLink(
                    score=4,
                    reason="another number of them",
                    span=span_of_value(old, known),
                    new=new,
                )
    return None


def _counted(old: ClauseOutline, value: TypedValue) -> TypedValue | None:
    if value.sort != "number" or not value.unit or value.unit.endswith(LABEL):
        return None
    found = [
        one
        for one in old.values
        if one.sort == "number" and one.unit and not one.unit.endswith(LABEL)
    ]
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


def _nothing_else(
    old: ClauseOutline, clause: ClauseOutline, value: TypedValue, own: CorrectionCues
) -> bool:
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
