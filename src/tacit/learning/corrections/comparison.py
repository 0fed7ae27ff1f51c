"""Compare two clause outlines: same subject, same frame, another value."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.learning.corrections.cues import (
    ELLIPSIS,
    LABEL,
    CorrectionCues,
    TypedValue,
    WordToken,
    is_same_sort,
    is_same_value,
    load_cues,
    tokenize,
)
from tacit.learning.corrections.outlines import POSSESSIVE_ENDING, ClauseOutline
from tacit.learning.extraction.locale import guess_locale
from tacit.learning.facts import StatedFact

# Whether one value may take the place of another: how the difference is said, and of what.

_SHARED_PHRASE_MAX_COUNT = 6  # words of a value
_EXACT = frozenset({"contact", "money"})
TIME_SORTS = frozenset({"day", "clock", "month", "year"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tone:
    """How a whole message is said."""

    strong: bool  # "switched", "no longer", "instead", "I meant"
    weak: bool  # "now", "these days", "since May"
    added: bool  # "also", "too": whatever it says stands beside the rest
    corrects: bool  # "typo", "I meant": the value was wrong from the start
    done: bool  # "I've renewed": it speaks of what was to be done

    @property
    def turned(self) -> bool:
        return (self.strong or self.weak) and not self.added


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """The words in which two clauses of one frame differ, and the values among them."""

    before: tuple[WordToken, ...]
    after: tuple[WordToken, ...]
    old: list[TypedValue]
    new: list[TypedValue]
    kept: bool  # words that tell something, beside the verb, are the same


def has_one_difference(
    old: ClauseOutline, new: ClauseOutline, change: ValueChange, tone: Tone, own: CorrectionCues
) -> bool:
    """Two differences make another fact: "coffee in the morning", "tea in the evening"."""
    before, after = change.before, change.after
    counted = [sum(word.low[:1].isalnum() for word in side) for side in (before, after)]
    if max(counted) > _SHARED_PHRASE_MAX_COUNT:
        return False
    parts = [_parts(words, own) for words in (before, after)]
    dated = [{value.sort for value in found} <= TIME_SORTS | {"number"} for found in (change.old, change.new)]
    if {word.stem for word in before} == {word.stem for word in after}:
        return tone.turned  # "rather tea than coffee", the other way round
    if min(map(len, parts)) > 1:
        valued = len(change.old) >= len(parts[0]) and len(change.new) >= len(parts[1])
        days = [v.plain for v in (*change.old, *change.new) if v.sort == "day"]
        # A day of the year comes once, a day of the week may come with another.
        once = bool(days) and all(day[0].isdecimal() for day in days) and not old.speaks
        return (tone.turned or once) and all(dated) and valued
    if old.settings == new.settings:
        return True
    # A setting that only one of them has leaves room for the other; two are a value each.
    return bool(old.settings) and bool(new.settings) and all(len(one) == 1 for one in parts)


def _parts(words: tuple[WordToken, ...], own: CorrectionCues) -> list[list[WordToken]]:
    parts: list[list[WordToken]] = [[]]
    for word in words:
        if word.low in own.words["prepositions"] and parts[-1]:
            parts.append([])
        elif word.low not in own.words["prepositions"]:
            parts[-1].append(word)
    return [part for part in parts if part]


def may_replace(old: ClauseOutline, new: ClauseOutline, change: ValueChange, tone: Tone, own: CorrectionCues) -> bool:
    """Whether a new clause may replace an old one that differs in these values."""
    if new.added or tone.added or ((old.past or new.past) and not tone.corrects):
        return False
    if not tone.turned and (old.added or _within_other(change, own)):
        return False
    if _counts(change, old, new):
        return True
    sorted_alike = any(is_same_sort(one, other) for one in change.old for other in change.new)
    decided = _decide_by_relation(old, new, change, tone, own, sorted_alike=sorted_alike)
    if decided is None:
        decided = _decide_by_shape(old, new, change, tone, own, sorted_alike=sorted_alike)
    if decided is None:
        decided = _decide_by_sort(old, new, change, own, sorted_alike=sorted_alike)
    return decided


def _decide_by_relation(
    old: ClauseOutline, new: ClauseOutline, change: ValueChange, tone: Tone, own: CorrectionCues, *, sorted_alike: bool
) -> bool | None:
    """Decide by the verb or preposition; None if they do not decide."""
    if old.verb in own.words["many_verbs"]:
        # The thing stays and how it is liked changes: "my steak rare", "my steak well done".
        return tone.turned and ((tone.strong and sorted_alike) or change.kept)
    if old.verb in own.words["some_verbs"]:
        measured = sorted_alike and _measured(change)
        return (change.kept and (tone.turned or measured)) or (tone.turned and measured)
    if old.verb in own.words["prefers"]:
        return _preferred(old, new) or (tone.turned and change.kept)
    if tone.corrects:
        return True
    if old.preposition in own.words["until"] and not old.speaks:
        return sorted_alike and new.preposition in own.words["until"]
    if old.speaks and old.verb in own.words["being"]:
        return _states(old, new, change, tone, own)
    if old.preposition != new.preposition and new.preposition in own.words["holding"]:
        # A key is with one person, or in one place.
        return bool(change.new) and bool(set(old.subject) & own.words["movables"] or tone.turned)
    return None


def _decide_by_shape(
    old: ClauseOutline, new: ClauseOutline, change: ValueChange, tone: Tone, own: CorrectionCues, *, sorted_alike: bool
) -> bool | None:
    """Decide by the shape of the values and subjects; None if they do not decide."""
    if {value.sort for value in change.old} & _EXACT and not change.new:
        return False  # "my email is a mess"
    if _number_and_word(change) or _name_and_number(change):
        return False  # "the rent is 800", "the rent is late"
    being = old.verb in own.words["being"]
    if being and not (sorted_alike or _shaped_alike(old, new, change, own)):
        return False
    if set(old.subject) & own.words["many_nouns"] and not has_name(old):
        return tone.turned and not old.role
    if tone.turned:
        return True
    if being and _of_person(old, own) and not _no_name(new, change, own):
        return sorted_alike and _measured(change)
    if set(new.subject) != set(old.subject) and not is_same_compound(old, new):
        return False  # "my phone" need not be "my work phone"
    return None


def _decide_by_sort(
    old: ClauseOutline, new: ClauseOutline, change: ValueChange, own: CorrectionCues, *, sorted_alike: bool
) -> bool:
    """Decide by the sorts of the values, for verbs that take one value."""
    sorts = {value.sort for value in (*change.old, *change.new)}
    unlike = not sorted_alike and ((change.old and change.new) or "colour" in sorts)
    if old.verb in own.words["naming"]:
        single = bool(set(old.subject) & own.words["single_nouns"])
        shaped = single or bool(_opening(old, own))
        return sorted_alike or (not unlike and shaped and not _name_and_word(change, new, own))
    if old.verb in own.words["single_verbs"]:
        # A person who works on Mondays may also work on Tuesdays.
        return not unlike and not ("day" in sorts and _of_person(old, own))
    return sorted_alike and _measured(change) and change.kept


def _within_other(change: ValueChange, own: CorrectionCues) -> bool:
    """ "Lives in England", "lives in Leeds": a country, and a town in it."""
    sides = [{tx.low for tx in side} & own.words["countries"] for side in (change.before, change.after)]
    return bool(sides[0]) != bool(sides[1])


def _preferred(old: ClauseOutline, new: ClauseOutline) -> bool:
    """ "Aisle seats", "window seats": one preference about one thing."""
    lasts = [gist.said[-1].stem if gist.said else None for gist in (old, new)]
    return lasts[0] == lasts[1]


def _counts(change: ValueChange, old: ClauseOutline, new: ClauseOutline) -> bool:
    """ "Two children", "three children": a number of the same things, said first."""
    for one, other in match_values(change.old, change.new):
        counted = one.sort == "number" and one.unit == other.unit != ""
        first = [old.words[one.start] == change.before[0], new.words[other.start] == change.after[0]]
        if counted and all(first) and not one.unit.endswith(LABEL):
            return True
    return False


def _measured(change: ValueChange) -> bool:
    return {value.sort for value in change.old} <= {"clock", "number", "money"}


def _no_name(new: ClauseOutline, change: ValueChange, own: CorrectionCues) -> bool:
    """A capital that only opens a sentence names no person: "Thesis is due", "the thesis is due"."""
    if set(new.subject) & own.words["people"] or not "".join(new.plain).islower():
        return False
    return bool(change.old) and {value.sort for value in (*change.old, *change.new)} <= TIME_SORTS


def _name_and_number(change: ValueChange) -> bool:
    """Who is called Rex and is four has a name and an age."""
    sides = [{value.sort for value in side} for side in (change.old, change.new)]
    return {"name"} in sides and {"number"} in sides


def _number_and_word(change: ValueChange) -> bool:
    sides = [{value.sort for value in side} for side in (change.old, change.new)]
    counted = [bool(side) and side <= {"number", "money"} for side in sides]
    return counted[0] != counted[1] and not (sides[0] and sides[1])


def _shaped_alike(old: ClauseOutline, new: ClauseOutline, change: ValueChange, own: CorrectionCues) -> bool:
    """Both in a place, or both a thing of a kind: "is a Dell", "is a ThinkPad". What is only
    called this or that has many sides: "is red", "is fast"."""
    if (change.old and change.new) or _name_and_word(change, new, own):
        return False
    if old.preposition and new.preposition:
        alike = old.preposition == new.preposition and not _of_person(old, own)
        return alike or _opening(old, own) == _opening(new, own)
    if change.kept and old.said[0].low in own.words["offices"]:
        return True  # "head of sales", "head of support"
    if set(old.subject) & own.words["single_nouns"]:
        sorts = {value.sort for value in (*change.old, *change.new)}
        people = bool(set(old.subject) & own.words["people"])
        return "colour" not in sorts and (not people or (_named_words(change)))
    return _opening(old, own) == _opening(new, own) != "" and not _of_person(old, own)


def _name_and_word(change: ValueChange, new: ClauseOutline, own: CorrectionCues) -> bool:
    """ "My phone is dead" says nothing of which phone it is."""
    if set(new.subject) & own.words["choices"]:
        return False  # a favourite may be called anything
    if new.preposition in own.words["locations"] - own.words["holding"]:
        return False  # a place may be called anything, too
    known = any(value.sort == "name" for value in change.old) and not change.new
    capital = any(word.text[:1].isupper() for word in change.after)
    if known and not capital and not _opening(new, own):
        return True
    plain = not change.old and not any(word.text[:1].isupper() for word in change.before)
    return plain and bool(change.new) and len(change.before) == 1 and capital


def _named_words(change: ValueChange) -> bool:
    return all(any(tx.text[:1].isupper() for tx in side) for side in (change.before, change.after))


def _opening(gist: ClauseOutline, own: CorrectionCues) -> str:
    first = gist.said[0].low if gist.said else ""
    if first in own.words["indefinite"] or first in own.words["one_of"]:
        return "a" if first in own.words["indefinite"] else "the"
    return ""


def _of_person(gist: ClauseOutline, own: CorrectionCues) -> bool:
    people = own.words["people"] - own.words["single_nouns"]
    return gist.speaks or bool(set(gist.subject) & people) or (has_name(gist) and not gist.owned)


def _states(old: ClauseOutline, new: ClauseOutline, change: ValueChange, tone: Tone, own: CorrectionCues) -> bool:
    """ "I'm a teacher now": what a person is has many sides, and only like replaces like."""
    pairs = match_values(change.old, change.new)
    if _opening(old, own) != _opening(new, own) and {value.sort for value in change.new} == {"number"}:
        return False  # "I'm a 39 in every brand"
    if old.preposition:
        return bool(pairs) or (tone.turned and _shaped_alike(old, new, change, own))
    lasts = [gist.said[-1].stem if gist.said else "" for gist in (old, new)]
    alike = lasts[0] == lasts[1] and lasts[0] not in own.words["manifold"]
    return tone.turned and (bool(pairs) or alike)


def keeps_detail(old: ClauseOutline, before: tuple[WordToken, ...], own: CorrectionCues) -> bool:
    """Whether something that tells is left, beside the verb and where or when it is so."""
    numbers = {value.start for value in old.values if value.sort == "number"}
    for position, word in enumerate(old.said):
        if before[0].start <= word.start < before[-1].end or word.low in own.words["small"]:
            continue
        if word.low[:1].isdecimal() or old.start + position in numbers:
            continue
        wish = position == 0 and old.preposition in own.words["towards"]
        infinitive = wish and word.stem in own.words["verbs"]
        if not infinitive and word.low not in " ".join(old.settings):
            return True
    return False


def values_within(gist: ClauseOutline, words: tuple[WordToken, ...]) -> list[TypedValue]:
    if not words:
        return []
    start, end = words[0].start, words[-1].end
    return [
        value
        for value in gist.values
        if gist.words[value.start].start >= start and gist.words[value.end - 1].end <= end
    ]


def match_values(old: list[TypedValue], new: list[TypedValue]) -> list[tuple[TypedValue, TypedValue]]:
    """Values of one sort that differ, where each side has one of that sort only."""
    found = []
    for one in old:
        others = [value for value in new if is_same_sort(one, value)]
        rivals = [value for value in old if is_same_sort(one, value)]
        if len(others) == 1 and len(rivals) == 1 and not is_same_value(one, others[0]):
            found.append((one, others[0]))
    return found


def has_name(gist: ClauseOutline) -> bool:
    return any(text[:1].isupper() for text in gist.plain)


def is_same_compound(old: ClauseOutline, new: ClauseOutline) -> bool:
    """ "Time zone", "timezone"."""
    return "".join(old.plain).casefold() == "".join(new.plain).casefold()


# Comments: "my name is misspelled", "the color is wrong", "my budget is tight". They say how a
# thing is, which is no value of it: they state no fact, and put none in the place of another.

# The value of these is a state ("is divorced"), or, where no form knows it, a number or a name.
_OPEN = frozenset({"marital_status", "diet", "frame", "blood pressure", "blutdruck"})


def is_comment(statement: StatedFact) -> bool:
    """Whether what would be the value of a slot is only a state or a judgement: "Kim's name is
    missing". Of what a person prefers or takes it may be the value: "prefers short answers"."""
    if statement.slot is None or not statement.value or statement.negated:
        return False
    if statement.slot.partition(":")[0] in _OPEN:
        return False
    own = load_cues(guess_locale(statement.quote or statement.content))
    start = statement.content.lower().rfind(statement.value.lower())  # values are written small
    if start <= 0:
        return False
    said = statement.content[start:]
    before = [word.low for word in tokenize(statement.content[:start], own)]
    while before and before[-1] in own.among("adverbs", "articles", "degrees", "fillers"):
        before.pop()
    return bool(before) and before[-1] in own.words["be"] and is_state(said, own)


def is_state(said: str, own: CorrectionCues) -> bool:
    """ "Wrong", "too bright", "gone for a walk", "dead tired", "a mess". What has a capital is a
    name ("Dead Space"), and what goes on in a noun is a thing ("cold brew")."""
    words = [word for word in tokenize(f"{ELLIPSIS} {said}", own)[1:] if word.low[:1].isalnum()]
    graded = one = False
    while words and words[0].low in own.among("adverbs", "degrees", "articles", "fillers"):
        graded = graded or words[0].low in own.words["degrees"]
        one = one or words[0].low in own.words["articles"]
        words = words[1:]
    if len(words) > 1 and words[0].low in own.words["put_down"]:
        words = words[1:]
    if not words or not (len(words) == 1 or _ends_before(words[1], own)):
        return False
    first = words[0]
    if len(words) > 1 and first.low in own.words["prepositions"]:
        return False  # "off" is a state, and "in the cellar" is a place
    if first.low in own.words["verdicts"]:
        return one or not first.text[:1].isupper()
    if one or first.text[:1].isupper():
        return False
    return graded or first.low in own.words["states"] or own.has("state_like", first.low)


def _ends_before(word: WordToken, own: CorrectionCues) -> bool:
    """Whether a complement ends before a word: "wrong in the text", "missing a letter"."""
    plain = own.among("small", "prepositions", "adverbs", "degrees", "joining", "laughs", "states")
    return word.low in plain


# Whether a clause speaks of the same thing as something known: rules that are about two outlines,
# each of which answers with a `Link` or with None where it would have to guess.

_COMPOUND_MIN_CHARS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionLink:
    """How a message reaches something known. The highest score wins; a tie is no link."""

    score: int
    reason: str
    span: tuple[int, int] | None = None  # the characters of the known content that go
    new: str | None = None  # what comes in their place, as it was said


def link_same_frame(old: ClauseOutline, new: ClauseOutline, tone: Tone, own: CorrectionCues) -> CorrectionLink | None:
    """ "Drives a Volvo", "I drive a Skoda now": one verb, one subject, another value."""
    if not is_same_subject(old, new, own) or not is_same_verb(old, new, tone, own):
        return _same_office(old, new, tone, own)
    if old.negated != new.negated or old.sides != new.sides or old.over:
        return None
    before, after = _differing(old, new, own)
    if not before or not after:
        return _other_owner(old, new, tone, own)
    change = ValueChange(
        before=before,
        after=after,
        old=values_within(old, before),
        new=values_within(new, after),
        kept=keeps_detail(old, before, own),
    )
    if _same_again(change) or {word.low for word in after} & own.words["not_values"]:
        return None
    timed = [{value.sort for value in side} & TIME_SORTS for side in (change.old, change.new)]
    if old.preposition != new.preposition and bool(timed[0]) != bool(timed[1]):
        return None  # when it is, and where
    halved = bool(old.preposition) != bool(new.preposition)
    if halved and not tone.strong and not match_values(change.old, change.new):
        return None
    if not has_one_difference(old, new, change, tone, own):
        return None
    if not may_replace(old, new, change, tone, own):
        return None
    span = (before[0].start, before[-1].end)
    said = new.text[after[0].start : after[-1].end]
    if new.verb in own.words["being"] and not new.speaks and is_state(said, own):
        return None  # "the color is wrong"
    if old.preposition and new.preposition and old.preposition != new.preposition:
        # "Behind the rack", "on the sill": the word before it changes as well.
        lead = next(word for word in old.words if word.low == old.preposition)
        if lead.end <= before[0].start and new.said:
            span = (lead.start, span[1])
            said = f"{new.preposition} {new.text[new.said[0].start : after[-1].end]}"
    return CorrectionLink(score=5, reason="the same, with another value", span=span, new=said)


def _other_owner(old: ClauseOutline, new: ClauseOutline, tone: Tone, own: CorrectionCues) -> CorrectionLink | None:
    """ "Is on Tom's car", "is on my car now": whose it is has changed, and nothing else."""
    if not tone.turned or new.added or old.past:
        return None
    sides = [_owner(gist, own) for gist in (old, new)]
    if not sides[0] or not sides[1] or sides[0] == sides[1]:
        return None
    if {word.stem for word in old.said} - _stems(sides[0]) != ({word.stem for word in new.said} - _stems(sides[1])):
        return None
    span = (sides[0][0].start, sides[0][-1].end)
    said = new.text[sides[1][0].start : sides[1][-1].end]
    return CorrectionLink(score=5, reason="the same, another's", span=span, new=said)


def _owner(gist: ClauseOutline, own: CorrectionCues) -> tuple[WordToken, ...]:
    """The words that tell whose: "my", "Tom's"."""
    for position, word in enumerate(gist.said):
        if word.low in own.words["mine"] and word.text.casefold() == word.low:
            return (word,)
        if word.low == POSSESSIVE_ENDING and position:
            return gist.said[position - 1 : position + 1]
    return ()


def _stems(words: tuple[WordToken, ...]) -> set[str]:
    return {word.stem for word in words}


def _same_again(change: ValueChange) -> bool:
    """The values are the ones that are known, in other words: "1 October", "1 October 2025"."""
    old, new = {one.plain for one in change.old}, {one.plain for one in change.new}
    return bool(new) and new <= old


def _same_office(old: ClauseOutline, new: ClauseOutline, tone: Tone, own: CorrectionCues) -> CorrectionLink | None:
    """ "Marta is the team lead", "Ivo is the team lead now"."""
    both = old.verb == new.verb and old.verb in own.among("being", "held")
    if not both or not tone.turned or not new.subject or old.owned or new.owned:
        return None
    if not (old.subject or old.speaks) or old.subject == new.subject:
        return None
    said = [[word.low for word in gist.said] for gist in (old, new)]
    office = old.said and old.said[0].low in own.words["offices"] and not old.preposition
    held = office or old.verb in own.words["held"]
    turn = tone.strong and old.preposition == new.preposition and old.preposition in own.words["on"]
    if not said[1] or said[0][: len(said[1])] != said[1] or not (held or turn):
        return None
    if old.speaks:
        return CorrectionLink(score=5, reason="held by another")
    start, end = _holder(new)
    return CorrectionLink(score=5, reason="held by another", span=_holder(old), new=new.text[start:end])


def _holder(gist: ClauseOutline) -> tuple[int, int]:
    """The characters of the subject."""
    found = [word for word in gist.words[: gist.start] if word.text in gist.plain]
    return found[0].start, found[-1].end


def is_same_subject(old: ClauseOutline, new: ClauseOutline, own: CorrectionCues) -> bool:
    if old.speaks or new.speaks:
        if old.speaks or not old.subject or old.verb != new.verb:
            return old.speaks and new.speaks
        # "Our band rehearses in …", "we rehearse at …".
        plain = own.among("neutral", "many_verbs")
        return old.subject[-1] in own.words["groups"] and old.verb not in plain
    if not old.subject or not new.subject or (new.referring and not new.explained):
        return False
    if old.other != new.other:
        return False
    compounding = bool(own.words["compounding"])  # and every noun has a capital
    named = not compounding and (has_name(old) or has_name(new))
    again = old.subject == new.subject and len(new.subject) > 1  # "our Eid lunch", "Eid lunch"
    if old.owned != new.owned and (old.other or (named and not again)):
        return False
    if is_same_thing(old.subject, new.subject) or is_same_compound(old, new):
        return True
    if set(new.subject) <= own.words["choices"] & set(old.subject):
        return True  # "my go-to", of "my go-to pizza"
    return compounding and _same_compound(old, new, own)


def _same_compound(old: ClauseOutline, new: ClauseOutline, own: CorrectionCues) -> bool:
    """ "Omas Feier", of "Omas Geburtstagsfeier": a compound by its last part; and "Zahnarzt" for
    a "Zahnarzttermin"."""
    if len(new.subject[-1]) < _COMPOUND_MIN_CHARS or old.subject[:-1] != new.subject[:-1]:
        return False
    whole, part = old.plain[-1].casefold(), new.plain[-1].casefold()
    hollow = whole.startswith(part) and own.stem(whole[len(part) :]) in own.words["hollow"]
    return hollow or old.subject[-1].endswith(new.subject[-1])


def is_same_thing(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Whether two nouns with what stands before them are one thing. Less may be said the second
    time ("the exam" for "the history exam"), never more."""
    return (old[-1:] == new[-1:] and set(new) <= set(old)) or (set(new) == set(old))


def is_same_verb(old: ClauseOutline, new: ClauseOutline, tone: Tone, own: CorrectionCues) -> bool:
    if old.verb is None or new.verb is None:
        return False
    if old.verb != new.verb:
        posts = {old.verb, new.verb} <= own.words["posted"] and new.preposition in own.words["posts"]
        if posts and tone.turned and old.preposition:
            return True  # "works at Sony", "I'm with Nintendo now"
        located = {old.verb, new.verb} <= own.words["located"] and old.preposition is not None
        located = located and bool({old.verb, new.verb} & own.words["being"])
        if located and tone.turned and old.preposition == new.preposition and _same_end(old, new):
            return True  # "lives on the first floor", "I'm on the third floor now"
        return {old.verb, new.verb} <= own.words["naming"] and not old.speaks
    places = own.words["place_prepositions"]
    one, other = old.preposition, new.preposition
    handed = other in own.words["holding"] and set(old.subject) & own.words["movables"]
    if (tone.turned or handed) and not old.speaks and {one, other} <= own.words["locations"]:
        return True
    loosely = tone.turned and not (one and other) and old.verb not in own.words["being"]
    # "Is on 12 July", "is the 21st".
    loosely = loosely or (not (one and other) and not old.speaks and _timed(old) and _timed(new))
    loosely = loosely or ({one, other} <= own.words["locations"] and _elsewhere(old, new, own))
    return one == other or {one, other} <= places or loosely


def _elsewhere(old: ClauseOutline, new: ClauseOutline, own: CorrectionCues) -> bool:
    """ "Is at the consulate in Chennai", "is in Hyderabad": two names behind the same word."""
    if old.speaks or old.verb not in own.words["being"] or set(old.subject) & own.words["people"]:
        return False
    pairs = match_values(values_within(old, old.said), values_within(new, new.said))
    places = own.words["locations"]
    return any(
        old.words[one.start - 1].low == new.words[other.start - 1].low in places
        for one, other in pairs
        if one.start and other.start
    )


def _timed(gist: ClauseOutline) -> bool:
    return any(value.sort in TIME_SORTS for value in values_within(gist, gist.said))


def _same_end(old: ClauseOutline, new: ClauseOutline) -> bool:
    return bool(old.said and new.said) and old.said[-1].stem == new.said[-1].stem


def _differing(
    old: ClauseOutline, new: ClauseOutline, own: CorrectionCues
) -> tuple[tuple[WordToken, ...], tuple[WordToken, ...]]:
    """What is left of both sides without the words that they begin and end with alike."""
    dropped = own.among("articles", "mine")
    before = tuple(word for word in old.said if word.low not in dropped)
    after = tuple(word for word in new.said if word.low not in dropped)
    while before and after and before[0].stem == after[0].stem:
        before, after = before[1:], after[1:]
    units = own.words["clock_units"]  # a part of the hour: "14 Uhr"
    while before and after and before[-1].stem == after[-1].stem and before[-1].low not in units:
        before, after = before[:-1], after[:-1]
    # Less may be said the second time: "the top shelf of the fridge", "the bottom shelf".
    at = next((n for n, tx in enumerate(before) if tx.low in own.words["prepositions"]), 0)
    while after and 0 < at <= len(before) and before[at - 1].stem == after[-1].stem:
        before, after, at = before[: at - 1], after[:-1], at - 1
    return before, after
