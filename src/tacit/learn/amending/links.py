"""How a message as a whole reaches something known: an exchange, an end, a thing done, or a field
of a life that has one value at a time."""

from __future__ import annotations

from tacit.learn.amending.change import TIMES, named, within
from tacit.learn.amending.clause import Gist
from tacit.learn.amending.compare import Link, same_thing
from tacit.learn.amending.cues import Cues, Topic
from tacit.learn.amending.heard import Heard, reaches, settings_differ, span_of, text_of


def exchanged(old: Gist, heard: Heard, own: Cues) -> Link | None:
    """ "Swapped the Volvo for a Skoda", "Tuesday, not Monday": the old value is named as such."""
    for one in heard.exchanges:
        span = span_of(old, one.old)
        office = bool(old.said) and old.said[0].low in own.words["offices"]
        held = office and not old.owned and old.verb in own.words["being"]
        held = held or _all_told(old, heard, own)
        if not held and not one.old & {word.stem for word in old.said}:
            continue  # named is what it is a value of
        if span is None or one.fresh <= old.stems or settings_differ(old, heard):
            continue
        # Soy milk in coffee is not what gave way to tea.
        beyond = _before_preposition(old, span[0], own) - heard.stems
        if not beyond and reaches(old, heard, own) and not _other_act(old, heard, own):
            whole = _whole(old, span)
            return Link(score=6, reason="named as replaced", span=whole, new=one.new)
    return None


def _whole(old: Gist, span: tuple[int, int]) -> tuple[int, int]:
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


def _all_told(old: Gist, heard: Heard, own: Cues) -> bool:
    """Whether what is said of somebody is all in the message: then somebody else has it now."""
    told = {word.stem for word in old.said if word.low not in own.words["small"]}
    told -= {word.stem for v in old.values for word in old.words[v.start : v.end]} & own.words[
        "days"
    ]
    return named(old) and bool(told) and told <= heard.stems | own.words["generic"]


def _other_act(old: Gist, heard: Heard, own: Cues) -> bool:
    """ "Had lunch with Ann, not Jo" says nothing about whom the speaker lives with."""
    plain = own.among("being", "having", "changes", "ending_verbs")
    content = {clause.verb for clause in heard.clauses if clause.verb} - plain
    lunch = any(clause.past and clause.verb in own.words["having"] for clause in heard.clauses)
    known = old.verb is not None and old.verb not in own.words["neutral"]
    if _all_told(old, heard, own):
        return False
    return known and old.verb not in content and (bool(content) or lunch)


def _before_preposition(old: Gist, start: int, own: Cues) -> frozenset[str]:
    """What a value stands behind: the soy milk of "soy milk in coffee"."""
    lead = [word for word in old.said if word.end <= start]
    while lead and lead[-1].low not in own.words["prepositions"]:
        lead.pop()
    return frozenset(word.stem for word in lead if word.low not in own.words["small"])


def ended(old: Gist, heard: Heard, own: Cues) -> Link | None:
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
        if what & {word.stem for word in old.said} or reaches(old, heard, own):
            return Link(score=4, reason="named as over", span=span_of(old, what))
    return None


def _lived(old: Gist, own: Cues) -> bool:
    """Whether somebody or something with a name is spoken of: a phone that died is charged."""
    if any(word.stem in own.among("people", "pets") for word in old.words):
        return True
    if any(word.low in own.words["called"] for word in old.words):
        return True
    return named(old) or (not old.owned and any(value.sort == "name" for value in old.values))


def _verbs_about(what: str, heard: Heard) -> set[str]:
    return {one.verb for one in heard.clauses if one.verb and what in one.segment}


def _discarded(what: str, heard: Heard, own: Cues) -> bool:
    """What is cancelled or sold is a thing, whatever it is called."""
    return any(
        one.verb in own.words["discarding"] and what in one.said_text for one in heard.clauses
    )


def _only_left(old: Gist, what: str, heard: Heard, own: Cues) -> bool:
    """Who leaves the beach likes it as before."""
    tastes = own.among("likes", "dislikes")
    return old.verb in tastes and bool(_verbs_about(what, heard) & own.words["leaving"])


def _part_of_more(old: Gist, what: frozenset[str], own: Cues) -> bool:
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


def _by_another(old: Gist, what: str, heard: Heard, own: Cues) -> bool:
    """ "Nacho quit coffee" ends nothing for the speaker."""
    for clause in heard.clauses:
        somebody = named(clause) or bool(set(clause.subject) & own.words["people"])
        if somebody and not clause.role and what in clause.segment:
            return not set(clause.subject) & old.stems
    return False


def _ends(old: Gist, what: frozenset[str]) -> bool:
    """Somebody who leaves is no longer what they were to the speaker, but is as old as before;
    and a thing that is gone takes along what was known of it."""
    if old.role or old.speaks:
        return True
    names = {word.stem for word in old.words if word.text[:1].isupper() and not word.first}
    names |= {stem for stem, text in zip(old.subject, old.plain, strict=True) if text[:1].isupper()}
    return not what <= names or bool(what & {word.stem for word in old.said})


def done(old: Gist, heard: Heard, own: Cues) -> Link | None:
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
            return Link(score=4, reason="done")
    return None


def _for_another(clause: Gist, own: Cues) -> bool:
    """ "Found a job for my brother"."""
    return any(
        word.stem in own.words["people"] and clause.words[at - 1].low in own.words["mine"]
        for at, word in enumerate(clause.words)
        if at
    )


def _head(old: Gist, own: Cues) -> frozenset[str]:
    """What is looked for: the flat of "a flat near the park"."""
    found: list[str] = []
    for word in old.said:
        if found and word.low in own.words["prepositions"]:
            break
        if word.low not in own.words["small"] and word.stem not in own.words["sought"]:
            found.append(word.stem)
    return frozenset(found[-1:])


def topical(old: Gist, heard: Heard, own: Cues) -> Link | None:
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
        if old.negated and not topic.plain and not clause.stems & {w.stem for w in old.said}:
            continue  # who eats no meat may eat fish again
        if clause.settings and all(w.low in " ".join(clause.settings) for w in clause.said):
            continue  # when it is done, not what
        if old.verb in own.words["being"] and old.past:
            continue  # "the first car was a Fiat"
        if old.past and clause.past and old.values and clause.values:
            continue  # two things that happened, each at its time
        return Link(score=2, reason=f"said to have changed: {topic.name}")
    return None


def _named_thing(topic: Topic, clause: Gist, own: Cues) -> bool:
    """ "Police found my bike": whoever did it."""
    words = {word.low for word in clause.words}
    return topic.thing and bool(words & own.words["mine"]) and not words & own.words["theirs"]


def _only_times(clause: Gist) -> bool:
    times = [value for value in clause.values if value.sort in TIMES]
    timed = {n for value in times for n in range(value.start, value.end)}
    return bool(clause.said) and timed >= set(range(clause.start, clause.end))


def _told_already(old: Gist, clause: Gist, own: Cues) -> bool:
    """The same again, or an end of something else: "I don't work for the post"."""
    if clause.negated and clause.said:
        said = {word.stem for word in clause.said if word.low not in own.words["small"]}
        return not said & old.stems
    if clause.verb in own.among("ending_verbs", "changes"):
        return bool(clause.said) and clause.said_text in old.text and not clause.past
    names = [text_of(clause, v) for v in within(clause, clause.said) if v.sort == "name"]
    known = {word.stem for word in old.said if word.low not in own.words["small"]}
    again = bool(known) and known <= {word.stem for word in clause.said}
    return again or any(name in old.text for name in names)


def _others_named(old: Gist, heard: Heard) -> bool:
    names = [text_of(one, v) for one in heard.clauses for v in one.values if v.sort == "name"]
    # "Gustavo and I": a name that opens the sentence, and is all of its clause.
    alone = [one for one in heard.clauses if one.verb is None and len(one.words) == 1]
    names += [one.segment for one in alone if not one.speaks]
    return bool(names) and not any(name in old.text for name in names)


def _same_person(old: Gist, clause: Gist, own: Cues) -> bool:
    if old.speaks or old.role:
        told = bool(clause.subject) and set(clause.subject) <= old.stems
        return clause.speaks or clause.role or told
    if clause.speaks or not clause.subject or not old.subject:
        named = old.owned and old.verb in own.words["naming"]
        return clause.speaks and (
            named or (old.owned and not set(old.subject) & own.words["people"])
        )
    both = set(clause.subject) <= old.stems and set(old.subject) <= set(clause.subject)
    return clause.other == old.other and (both or same_thing(old.subject, clause.subject))
