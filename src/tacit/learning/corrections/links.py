"""Link a message to a known fact that it exchanges, ends, completes or contradicts."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher

from tacit.learning.corrections.comparison import (
    TIME_SORTS,
    CorrectionLink,
    Tone,
    has_name,
    is_same_subject,
    is_same_thing,
    match_values,
    values_within,
)
from tacit.learning.corrections.cues import (
    CorrectionCues,
    CorrectionTopic,
    TypedValue,
    is_same_sort,
    is_same_value,
    parse_full_date,
    tokenize,
)
from tacit.learning.corrections.messages import (
    CorrectionMessage,
    find_content_stems,
    find_span,
    link_rescheduled,
    may_concern,
    settings_differ,
    span_of_value,
    text_of_value,
)
from tacit.learning.corrections.outlines import ClauseOutline
from tacit.learning.extraction.locale import load_locale

# How a message as a whole reaches something known: an exchange, an end, a thing done, or a field
# of a life that has one value at a time.


def link_exchange(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> CorrectionLink | None:
    """ "Swapped the Volvo for a Skoda", "Tuesday, not Monday": the old value is named as such."""
    for one in heard.exchanges:
        span = find_span(old, one.old)
        office = bool(old.said) and old.said[0].low in own.words["offices"]
        held = office and not old.owned and old.verb in own.words["being"]
        held = held or _all_told(old, heard, own)
        if not held and not one.old & {word.stem for word in old.said}:
            continue  # named is what it is a value of
        if span is None or one.fresh <= old.stems or settings_differ(old, heard):
            continue
        # Soy milk in coffee is not what gave way to tea.
        beyond = _before_preposition(old, span[0], own) - heard.stems
        if not beyond and may_concern(old, heard, own) and not _other_act(old, heard, own):
            whole = _whole(old, span)
            return CorrectionLink(score=6, reason="named as replaced", span=whole, new=one.new)
    return None


def _whole(old: ClauseOutline, span: tuple[int, int]) -> tuple[int, int]:
    """All of a value of which a part is named: "the ThinkPad" is the ThinkPad T14."""
    start, end = span
    for value in old.values:
        words = old.words[value.start : value.end]
        if words[0].start <= start and end <= words[-1].end:
            return words[0].start, words[-1].end
    for word in old.words:
        if word.start == end + 1 and word.low.isdecimal():
            end = word.end
    return start, end


def _all_told(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> bool:
    """Whether what is said of a person is all in the message: then another person has it now."""
    told = {word.stem for word in old.said if word.low not in own.words["small"]}
    told -= {word.stem for v in old.values for word in old.words[v.start : v.end]} & own.words["days"]
    return has_name(old) and bool(told) and told <= heard.stems | own.words["generic"]


def _other_act(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> bool:
    """ "Had lunch with Ann, not Jo" says nothing about whom the speaker lives with."""
    plain = own.among("being", "having", "changes", "ending_verbs")
    content = {clause.verb for clause in heard.clauses if clause.verb} - plain
    lunch = any(clause.past and clause.verb in own.words["having"] for clause in heard.clauses)
    known = old.verb is not None and old.verb not in own.words["neutral"]
    if _all_told(old, heard, own):
        return False
    return known and old.verb not in content and (bool(content) or lunch)


def _before_preposition(old: ClauseOutline, start: int, own: CorrectionCues) -> frozenset[str]:
    """What a value stands behind: the soy milk of "soy milk in coffee"."""
    lead = [word for word in old.said if word.end <= start]
    while lead and lead[-1].low not in own.words["prepositions"]:
        lead.pop()
    return frozenset(word.stem for word in lead if word.low not in own.words["small"])


def link_ending(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> CorrectionLink | None:
    """ "Sold the boat", "Stu left": what is named is over, and with it what was known of it."""
    for one in heard.endings:
        wanted = old.verb in own.words["duties"] and old.preposition in own.words["towards"]
        what = one.what - own.words["pursued"] if wanted else one.what
        if not what or not what <= old.stems or old.negated or old.past:
            continue
        if set(old.subject) & own.words["never_over"] or (one.died and not _lived(old, own)):
            continue
        if not (one.died or _ends(old, what) or _discarded(one.said, heard, own)):
            continue
        if _only_left(old, one.said, heard, own):
            continue
        if _part_of_more(old, what, own):
            continue
        if settings_differ(old, heard) or _by_another(old, one.said, heard, own):
            continue
        if what & {word.stem for word in old.said} or may_concern(old, heard, own):
            return CorrectionLink(score=4, reason="named as over", span=find_span(old, what))
    return None


def _lived(old: ClauseOutline, own: CorrectionCues) -> bool:
    """Whether a person or something with a name is spoken of: a phone that died is charged."""
    if any(word.stem in own.among("people", "pets") for word in old.words):
        return True
    if any(word.low in own.words["called"] for word in old.words):
        return True
    return has_name(old) or (not old.owned and any(value.sort == "name" for value in old.values))


def _verbs_about(what: str, heard: CorrectionMessage) -> set[str]:
    return {one.verb for one in heard.clauses if one.verb and what in one.segment}


def _discarded(what: str, heard: CorrectionMessage, own: CorrectionCues) -> bool:
    """What is cancelled or sold is a thing, whatever it is called."""
    return any(one.verb in own.words["discarding"] and what in one.said_text for one in heard.clauses)


def _only_left(old: ClauseOutline, what: str, heard: CorrectionMessage, own: CorrectionCues) -> bool:
    """Who leaves the beach likes it as before."""
    tastes = own.among("likes", "dislikes")
    return old.verb in tastes and bool(_verbs_about(what, heard) & own.words["leaving"])


def _part_of_more(old: ClauseOutline, what: frozenset[str], own: CorrectionCues) -> bool:
    """A phone that is dead leaves phone calls as they were."""
    last = max(n for n, word in enumerate(old.words) if word.stem in what)
    after = old.words[last + 1] if last + 1 < len(old.words) else None
    verb = old.words[last].stem == old.verb or (old.verb is None and last == old.start)
    if after is None or not after.low[:1].isalpha() or verb:
        return False
    if old.words[last].text[:1].isupper() or old.words[last].text[:1].isdecimal():
        return False  # the Samsung of "a Samsung phone" is the phone
    if after.low in own.words["pursued"] and old.verb not in own.words["playing"]:
        return False  # who has given up pottery goes to no pottery class
    noun = after.low not in own.among("small", "prepositions", "be")
    return noun and after.stem != old.verb and after.stem not in old.settings


def _by_another(old: ClauseOutline, what: str, heard: CorrectionMessage, own: CorrectionCues) -> bool:
    """ "Nacho quit coffee" ends nothing for the speaker."""
    for clause in heard.clauses:
        has_person = has_name(clause) or bool(set(clause.subject) & own.words["people"])
        if has_person and not clause.role and what in clause.segment:
            return not set(clause.subject) & old.stems
    return False


def _ends(old: ClauseOutline, what: frozenset[str]) -> bool:
    """A person who leaves is no longer what they were to the speaker, but is as old as before;
    and a thing that is gone takes along what was known of it."""
    if old.role or old.speaks:
        return True
    names = {word.stem for word in old.words if word.text[:1].isupper() and not word.first}
    names |= {stem for stem, text in zip(old.subject, old.plain, strict=True) if text[:1].isupper()}
    return not what <= names or bool(what & {word.stem for word in old.said})


def link_done(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> CorrectionLink | None:
    """ "Needs to renew the passport", "I've renewed my passport"; looked for, and found."""
    sought = bool(old.stems & own.words["sought"])
    duty = old.verb in own.words["duties"] and (
        old.preposition in own.words["towards"] or old.verb in own.words["obligations"]
    )
    if not (sought or duty) or heard.tone.added:
        return None
    for clause in heard.clauses:
        passive = bool(clause.subject) and set(clause.subject) <= old.stems
        passive = passive and any(word.low in own.words["be"] for word in clause.words)
        if _for_another(clause, own):
            continue
        if not (clause.speaks or passive) or clause.negated or not (sought or heard.tone.done):
            continue
        every = {word.stem for word in clause.words}
        if sought and clause.verb in own.words["finding"]:
            wanted = _head(old, own)
        else:
            wanted = old.stems - own.words["duties"] if not sought else frozenset()
        if wanted and wanted <= every:
            return CorrectionLink(score=4, reason="done")
    return None


def _for_another(clause: ClauseOutline, own: CorrectionCues) -> bool:
    """ "Found a job for my brother"."""
    return any(
        word.stem in own.words["people"] and clause.words[at - 1].low in own.words["mine"]
        for at, word in enumerate(clause.words)
        if at
    )


def _head(old: ClauseOutline, own: CorrectionCues) -> frozenset[str]:
    """What is looked for: the flat of "a flat near the park"."""
    found: list[str] = []
    for word in old.said:
        if found and word.low in own.words["prepositions"]:
            break
        if word.low not in own.words["small"] and word.stem not in own.words["sought"]:
            found.append(word.stem)
    return frozenset(found[-1:])


def link_topic(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> CorrectionLink | None:
    """ "Moved to Leeds" for "lives in York": a field of a life that has one value."""
    for topic, clause in heard.topics:
        if old.over or settings_differ(old, heard) or not topic.known.search(old.text):
            continue
        left = topic.named and bool(clause.subject) and set(clause.subject) <= old.stems
        if not (left or _named_thing(topic, clause, own) or _same_person(old, clause, own)):
            continue
        if not topic.opposite and _told_already(old, clause, own):
            continue
        if clause.preposition in own.words["towards"] and _only_times(clause):
            continue  # "moved to Tuesday" is no home
        if topic.named and _others_named(old, heard):
            continue
        if topic.thing and not (set(old.subject) or _head(old, own) or {""}) <= clause.stems:
            continue
        if old.negated and not topic.plain and not clause.stems & {tx.stem for tx in old.said}:
            continue  # who eats no meat may eat fish again
        if clause.settings and all(tx.low in " ".join(clause.settings) for tx in clause.said):
            continue  # when it is done, not what
        if old.verb in own.words["being"] and old.past:
            continue  # "the first car was a Fiat"
        if old.past and clause.past and old.values and clause.values:
            continue  # two things that happened, each at its time
        return CorrectionLink(score=2, reason=f"said to have changed: {topic.name}")
    return None


def _named_thing(topic: CorrectionTopic, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """ "Police found my bike": any subject may have done it."""
    words = {word.low for word in clause.words}
    return topic.thing and bool(words & own.words["mine"]) and not words & own.words["theirs"]


def _only_times(clause: ClauseOutline) -> bool:
    times = [value for value in clause.values if value.sort in TIME_SORTS]
    timed = {n for value in times for n in range(value.start, value.end)}
    return bool(clause.said) and timed >= set(range(clause.start, clause.end))


def _told_already(old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """The same again, or an end of something else: "I don't work for the post"."""
    if clause.negated and clause.said:
        said = {word.stem for word in clause.said if word.low not in own.words["small"]}
        return not said & old.stems
    if clause.verb in own.among("ending_verbs", "changes"):
        return bool(clause.said) and clause.said_text in old.text and not clause.past
    names = [text_of_value(clause, v) for v in values_within(clause, clause.said) if v.sort == "name"]
    known = {word.stem for word in old.said if word.low not in own.words["small"]}
    again = bool(known) and known <= {word.stem for word in clause.said}
    return again or any(name in old.text for name in names)


def _others_named(old: ClauseOutline, heard: CorrectionMessage) -> bool:
    names = [text_of_value(one, v) for one in heard.clauses for v in one.values if v.sort == "name"]
    # "Gustavo and I": a name that opens the sentence, and is all of its clause.
    alone = [one for one in heard.clauses if one.verb is None and len(one.words) == 1]
    names += [one.segment for one in alone if not one.speaks]
    return bool(names) and not any(name in old.text for name in names)


def _same_person(old: ClauseOutline, clause: ClauseOutline, own: CorrectionCues) -> bool:
    if old.speaks or old.role:
        told = bool(clause.subject) and set(clause.subject) <= old.stems
        return clause.speaks or clause.role or told
    if clause.speaks or not clause.subject or not old.subject:
        named = old.owned and old.verb in own.words["naming"]
        return clause.speaks and (named or (old.owned and not set(old.subject) & own.words["people"]))
    both = set(clause.subject) <= old.stems and set(old.subject) <= set(clause.subject)
    return clause.other == old.other and (both or is_same_thing(old.subject, clause.subject))


# Opposites: what was liked is disliked, what was not done is done.


def link_opposite(old: ClauseOutline, new: ClauseOutline, tone: Tone, own: CorrectionCues) -> CorrectionLink | None:
    """ "Hates techno", "I like techno": the same thing with the opposite sign."""
    if tone.added or not is_same_subject(old, new, own):
        return None
    if old.negated and not new.negated and _gained(old, new, own):
        return CorrectionLink(score=5, reason="the opposite of what was known")
    one, other = _sign(old, own), _sign(new, own)
    tastes = own.among("likes", "dislikes")
    same_verb = old.verb == new.verb or {old.verb, new.verb} <= tastes
    if one == other or not same_verb or not _same_words(old, new, own):
        return None
    return CorrectionLink(score=5, reason="the opposite of what was known")


def _gained(old: ClauseOutline, new: ClauseOutline, own: CorrectionCues) -> bool:
    """ "Has no car", "I've bought a car"."""
    both = old.verb in own.words["having"] and new.verb in own.words["gaining"]
    return both and bool(old.said) and old.said[-1].stem == (new.said or old.words)[-1].stem


def _sign(gist: ClauseOutline, own: CorrectionCues) -> bool:
    return gist.negated == (gist.verb in own.words["dislikes"])


def _same_words(old: ClauseOutline, new: ClauseOutline, own: CorrectionCues) -> bool:
    """Both speak of the same: what only one of them adds is small words and words of change."""
    tastes = own.among("likes", "dislikes") | {old.verb, new.verb}
    dropped = own.among("small", "negations", "adverbs")
    sides = [
        {word.stem for word in gist.said if word.low not in dropped and word.low[:1].isalnum()} - tastes
        for gist in (old, new)
    ]
    return sides[0] == sides[1] and (bool(sides[0]) or old.verb == new.verb)


# What held is named, something happened to it, and another of its sort comes next: "Allianz put
# the price up, so I took out a policy with AXA".

_NAMED = frozenset({"name", "places"})
_A = "a"  # one of a make: "a Golf"
_TITLE = "title"
_ADJECTIVES_MAX_COUNT = 3


def link_successor(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> CorrectionLink | None:
    """The only name of what is known, met again in a clause that tells what became of it; and in
    a later clause of the speaker's a new name, led up to by the same word."""
    if len(heard.clauses) < 2 or not old.values or heard.stems.isdisjoint(old.stems):
        return None
    if heard.tone.added or old.past or old.over or old.negated or settings_differ(old, heard):
        return None
    known = [value for value in values_within(old, old.said) if value.sort in _NAMED]
    naming = old.owned and old.verb in own.words["naming"]  # who it is is named, not what
    for position, clause in enumerate(heard.clauses[:-1] if known else ()):
        met = [value for value in known if _met(old, value, clause)]
        if len(met) != 1 or not _befell(old, met[0], clause, own):
            continue
        if not (naming or may_concern(old, heard, own)):
            continue
        for later in heard.clauses[position + 1 :]:
            new = _taken_up(old, met[0], later, own)
            if new:
                return CorrectionLink(
                    score=4,
                    reason="named, and another in its place",
                    span=span_of_value(old, met[0]),
                    new=text_of_value(later, new),
                )
    return None


def _met(old: ClauseOutline, value: TypedValue, clause: ClauseOutline) -> bool:
    stems = {word.stem for word in old.words[value.start : value.end] if word.low.isalpha()}
    return bool(stems) and stems <= {word.stem for word in clause.words}


def _befell(old: ClauseOutline, value: TypedValue, clause: ClauseOutline, own: CorrectionCues) -> bool:
    """Something happened to it, or it did something, beside talk: "Ann rang, so I …" puts no person
    in her place."""
    happened = clause.past or clause.negated or clause.verb in own.words["having"]
    happened = happened or own.has("strong", clause.segment)
    if not happened or clause.added or clause.verb in own.words["talking"]:
        return False
    stems = {word.stem for word in old.words[value.start : value.end]}
    return bool(stems & set(clause.subject)) or clause.verb in own.words["losing"]


def _taken_up(old: ClauseOutline, value: TypedValue, clause: ClauseOutline, own: CorrectionCues) -> TypedValue | None:
    if clause.added or clause.negated:
        return None
    speaks = not clause.subject or clause.referring
    taken = own.among("taking", "being") | {old.verb}
    names = [one for one in clause.values if one.sort in _NAMED]
    fresh = [one for one in names if not _met(clause, one, old)]
    if len(fresh) != 1 or len(names) != 1:
        return None
    leads = _lead(old, value, own), _lead(clause, fresh[0], own)
    if set(leads) == {_TITLE}:  # "Mrs Hale has retired, Mr Finch does my books"
        told = {word.low for word in clause.words} & own.among("speaker", "mine")
        return fresh[0] if told and not (clause.role and not old.role) else None
    if not speaks or clause.verb not in taken or _goes_on(clause, fresh[0], own):
        return None
    on = old.verb in own.words["switchable"] and leads[1] in own.among("on", "holding")
    if not leads[0] and on and clause.verb in own.words["being"]:
        return fresh[0]  # "uses Spotify", "I'm on Tidal"
    alike = leads[0] == leads[1] or set(leads) <= own.words["place_prepositions"] | {"in", "into"}
    return fresh[0] if leads[0] and leads[1] and alike else None


def _goes_on(clause: ClauseOutline, value: TypedValue, own: CorrectionCues) -> bool:
    """A Bosch drill is no Bosch."""
    after = clause.words[value.end] if value.end < len(clause.words) else None
    plain = own.among("small", "prepositions", "adverbs")
    return after is not None and after.low.isalpha() and after.low not in plain


def _lead(gist: ClauseOutline, value: TypedValue, own: CorrectionCues) -> str:
    """The word that a name is led up to by, over what describes it: "a red Bianchi"."""
    if gist.words[value.start].low in own.words["titles"]:
        return _TITLE
    for position in range(value.start - 1, max(-1, value.start - 2 - _ADJECTIVES_MAX_COUNT), -1):
        low = gist.words[position].low
        if low in own.words["indefinite"]:
            return _A
        if low in own.words["prepositions"]:
            return low
        if low in own.words["auxiliaries"] or gist.words[position].stem in own.words["verbs"]:
            return ""
    return ""


# A correction that says no subject: "no, Porto, not Lisbon", "actually it's the 14th". It
# counts only with words that say so, and for a value of the same type. All other messages
# without a subject (answers, choices, orders, thanks) correct nothing.

_NTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NAMES = frozenset({"name", "places"})
_SPELT_ALIKE_MIN_RATIO = 0.75
_PERSON, _PLACE = "person", "place"


def link_abridged(old: ClauseOutline, heard: CorrectionMessage, own: CorrectionCues) -> CorrectionLink | None:
    """The value of something known that the message corrects; None where its type differs, or
    cannot be told."""
    new = heard.correction
    if new is None:
        return None
    if heard.not_that:
        return _named_as_wrong(old, new, heard.not_that, own)
    if not _only_values(new, own):
        return None
    reason = "the last thing said, corrected"
    if len(new.values) > 1:
        moved = link_rescheduled(old, new, match_values(list(old.values), list(new.values)))
        return replace(moved, score=3, reason=reason) if moved else None
    fits = [value for value in values_within(old, old.said) if _same_type(old, value, new, own)]
    if len(fits) != 1 or is_same_value(fits[0], new.values[0]):
        return None
    return CorrectionLink(
        score=3, reason=reason, span=span_of_value(old, fits[0]), new=text_of_value(new, new.values[0])
    )


def asks_about(asked: str, value: str, own: CorrectionCues) -> bool:
    """Whether a question repeats a value and offers no choice: an answer to any other question says
    nothing of the value."""
    words = {word.stem for word in tokenize(asked, own)}
    told = {word for word in find_content_stems(value, own) if not _YEAR.fullmatch(word)}
    return bool(told) and told <= words and words.isdisjoint(own.words["or"])


def _named_as_wrong(
    old: ClauseOutline, new: ClauseOutline, denied: frozenset[str], own: CorrectionCues
) -> CorrectionLink | None:
    """ "Porto, not Lisbon": the old value is named, and what is said in its place may be of a type
    that cannot be told, but of no other type."""
    named = denied & {word.stem for word in old.said}
    span = find_span(old, denied) if named else _on_that_day(old, denied, own)
    if span is None:
        return None
    typed = [value for value in old.values if _overlaps(span_of_value(old, value), span)]
    told = [value for value in typed if new.values and _same_type(old, value, new, own)]
    names = all(value.sort in _NAMES for value in typed)
    unknown = all(not _type(old, value, own) for value in typed)
    untold = _untold_name(new, own) if new.values else unknown
    if told and _only_values(new, own):
        span = span_of_value(old, told[0])
    elif not (names and untold):
        return None
    return CorrectionLink(score=6, reason="named as wrong", span=span, new=new.said_text)


def _overlaps(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _untold_name(new: ClauseOutline, own: CorrectionCues) -> bool:
    return all(value.sort in _NAMES and not _type(new, value, own) for value in new.values)


def _only_values(new: ClauseOutline, own: CorrectionCues) -> bool:
    """Whether a correction says values and nothing else: "the red one" is a choice."""
    typed = {n for value in new.values for n in range(value.start, value.end)}
    plain = own.among("articles", "prepositions")
    rest = [word.low for n, word in enumerate(new.words) if n not in typed]
    return bool(typed) and all(low in plain or not low[:1].isalnum() for low in rest)


def _same_type(old: ClauseOutline, value: TypedValue, new: ClauseOutline, own: CorrectionCues) -> bool:
    other = new.values[0]
    if not is_same_sort(value, other):
        return False
    if value.sort not in _NAMES or _spelt_alike(old, value, new):
        return True
    known = _type(old, value, own) or _type_of_holder(old, own)
    return known != "" and known == _type(new, other, own)


def _spelt_alike(old: ClauseOutline, value: TypedValue, new: ClauseOutline) -> bool:
    """ "*Smokey", for Smoky: the same name, spelled right."""
    sides = text_of_value(old, value).casefold(), text_of_value(new, new.values[0]).casefold()
    return SequenceMatcher(None, *sides).ratio() >= _SPELT_ALIKE_MIN_RATIO


def _type(gist: ClauseOutline, value: TypedValue, own: CorrectionCues) -> str:
    """Whether a name is a person's or a place's, by the lists of its language; "" where neither
    has it."""
    words = load_locale(own.code).words
    named = [word.low for word in gist.words[value.start : value.end]]
    if value.sort == "places" or any(low in words["places"] for low in named):
        return _PLACE
    person = named[0] in words["first_names"] or named[0] in own.words["titles"]
    return _PERSON if person else ""


def _type_of_holder(old: ClauseOutline, own: CorrectionCues) -> str:
    """A sister is a person, whatever the name; a school that she goes to is
    none."""
    named = old.verb in own.words["naming"] and old.preposition is None
    return _PERSON if named and set(old.subject) & own.among("people", "pets", "named_things") else ""


def _on_that_day(old: ClauseOutline, denied: frozenset[str], own: CorrectionCues) -> tuple[int, int] | None:
    """ "Not Tuesday" or "not the 17th", of something that is known for "17 June 2025"."""
    if len(denied) != 1:
        return None
    language = load_locale(own.code)
    named = language.dates.words["weekdays"]
    wanted = {number for word, number in named.items() if own.stem(word) in denied}
    nth = _NTH.fullmatch(min(denied))
    for value in old.values:
        day = parse_full_date(text_of_value(old, value), language) if value.sort == "day" else None
        if day is not None and (day.weekday() in wanted or (nth and day.day == int(nth[1]))):
            return span_of_value(old, value)
    return None
