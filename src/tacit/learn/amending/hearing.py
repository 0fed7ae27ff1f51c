"""Reads a message for what it may correct."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tacit.learn.amending.change import Tone
from tacit.learn.amending.clause import Gist, finite_at
from tacit.learn.amending.cues import Cues
from tacit.learn.amending.gist import clauses_of, fragment
from tacit.learn.amending.heard import Ending, Exchange, Heard, telling, topics_of
from tacit.learn.amending.restate import restated
from tacit.learn.amending.typed import ELLIPSIS, tokens
from tacit.learn.needed import low, may_match
from tacit.learn.reading.sentences import blanked, sentences
from tacit.learn.reading.tongue import Tongue

_ELLIPSIS_MAX_COUNT = 6  # words
_HEARD_MAX_CHARS = 400
_NO_ELLIPSIS: tuple[None, frozenset[str], bool] = (None, frozenset(), False)


def hear(text: str, own: Cues, tongue: Tongue) -> Heard | None:
    """A message read for what it may correct; None where it states nothing."""
    if tongue.takes_back("not_meant", text[:_HEARD_MAX_CHARS]):
        return None
    seen = restated(blanked(text[:_HEARD_MAX_CHARS], tongue), own.code)
    stated = [
        piece.text
        for piece in sentences(seen, tongue)
        if not piece.asked and not tongue.has("question", piece.text)
    ]
    said = ". ".join(one for one in stated if not tongue.takes_back("sentence_veto", one))
    if not said:
        return None
    clauses = _explained(clauses_of(said, own, tongue), own)
    vetoed = [one.segment for one in clauses if tongue.has("veto", one.segment)]
    clauses = [
        one for one in clauses if one.segment not in vetoed and not own.has("once", one.segment)
    ]
    # Whether "if I sold the boat" is all that a sentence says is not for a pattern to tell.
    plain = ". ".join(one for one in stated if not any(part in one for part in vetoed))
    tone = _tone(said, clauses, own)
    ellipsis, not_that, late = _ellipsis(said, own, tongue, starred=text.lstrip()[:1] == "*")
    return Heard(
        clauses=tuple(clauses),
        tone=tone,
        stems=frozenset().union(*(clause.stems for clause in clauses)),
        every=_every(clauses, own),
        settings=frozenset().union(*(clause.settings for clause in clauses)),
        exchanges=tuple(_exchanges(plain, own)) if tone.turned else (),
        endings=tuple(_endings(plain, own)),
        topics=() if tone.added else tuple(topics_of(clauses, tone, own)),
        ellipsis=ellipsis,
        not_that=not_that,
        late=late,
        gone=_gone(plain, own),
    )


def _every(clauses: list[Gist], own: Cues) -> frozenset[str]:
    """The words by which something known may be reached. Who is "with" a firm works there."""
    dropped = own.among("speaker", "mine", "articles", "prepositions", "joining")
    found = {word.stem for one in clauses for word in one.words if word.low not in dropped}
    if not any(one.speaks and one.verb in own.words["being"] for one in clauses):
        found -= own.words["being"]  # nearly everything that is known has it
    posted = any(one.preposition in own.words["posts"] and one.speaks for one in clauses)
    return frozenset(found | own.words["posted"] if posted else found)


def _tone(said: str, clauses: list[Gist], own: Cues) -> Tone:
    # "…, too" belongs to all of it; "moved to another team" to its own clause.
    trailing = any(one.added and one.verb is None for one in clauses)
    return Tone(
        strong=own.has("strong", said),
        weak=own.has("weak", said) or _consequence(clauses, own),
        added=trailing or (len(clauses) == 1 and clauses[0].added),
        corrects=own.has("corrects", said),
        done=own.has("done", said),
    )


def _consequence(clauses: list[Gist], own: Cues) -> bool:
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


def _exchanges(said: str, own: Cues) -> Iterator[Exchange]:
    for pattern in own.exchanges:
        for match in pattern.finditer(said):
            old = telling(match["old"], own)
            new = _value_of(match["new"], own)
            fresh = telling(new, own) - old
            if fresh and old - own.words["verbs"]:
                yield Exchange(old=old, new=new, fresh=fresh)


def _value_of(said: str, own: Cues) -> str:
    """The value of a clause, without what leads up to it and what trails behind."""
    lead = own.patterns["before_value"].match(said)
    said = said[lead.end() :] if lead else said
    return own.patterns["after_value"].sub("", said).strip()


def _endings(said: str, own: Cues) -> Iterator[Ending]:
    seen = low(said)
    for pattern, needs in own.endings:
        for match in pattern.finditer(said) if may_match(needs, seen) else ():
            what = _named_over(match["what"], own)
            if what and not own.has("momentary", said[match.start() :]):
                died = own.has("died", match[0])
                yield Ending(what=what, said=match["what"], died=died)


def _named_over(said: str, own: Cues) -> frozenset[str]:
    """What is over, without when it ended; all of it where that alone tells nothing."""
    plain = own.among("generic", "neutral", "duties", "likes")
    days = {own.stem(day) for day in own.words["weekdays"]}
    for text in (own.patterns["dated"].sub("", said), said):
        found = telling(text, own) - plain
        if found - days:
            return found
    return telling(said, own) - own.words["generic"] - own.words["neutral"] - days


def _gone(said: str, own: Cues) -> str:
    found = own.patterns["gone"].search(said)
    return found["what"].casefold() if found else ""


def _ellipsis(
    said: str, own: Cues, tongue: Tongue, *, starred: bool
) -> tuple[Gist | None, frozenset[str], bool]:
    """The words that stand alone behind "no wait" and the like, and what they deny."""
    lead = own.patterns["lead"].match(said)
    rest = said[lead.end() :] if lead else said
    match = own.patterns["elliptical"].match(rest)
    if match is None:
        # "The clinic rang, it's the 10th instead": how it is known, and then what it is.
        told = own.patterns["reporting"].match(rest)
        match = own.patterns["elliptical"].match(rest[told.end() :]) if told else None
        sure = match is not None and (match["told"] or own.has("reported", told[0] if told else ""))
        lead, match = (told, match) if sure else (None, None)
    if match is None:
        return _NO_ELLIPSIS
    late = not (lead or starred or match["told"] or match["old"])
    new = match["new"].strip()
    if not new or len(new.split()) > _ELLIPSIS_MAX_COUNT or own.has("whole", new):
        return _NO_ELLIPSIS
    words = tokens(f"{ELLIPSIS} {new}", own)[1:]  # it opens no sentence: a capital tells
    verbs = any(finite_at(words, at, own) for at in range(len(words)))
    # "He's in Dublin now" speaks of somebody: what a pronoun means is for `bind` to tell.
    whom = rest.split(None, 1)[0].partition("'")[0].casefold() in own.words["pronouns"]
    if late and (verbs or whom or not match.groupdict().get("late")):
        return _NO_ELLIPSIS
    found = fragment(f"{ELLIPSIS} {new}", words, own, tongue)
    return found, telling(match["old"] or "", own), late


def _explained(clauses: list[Gist], own: Cues) -> list[Gist]:
    """Pronouns and bare names put to the noun of the clause before: "got a new laptop, it's a
    Framework", "we have a new landlord, Mrs Dunmore"."""
    found: list[Gist] = []
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


def _bare_value(clause: Gist, own: Cues) -> bool:
    """ "Mrs Dunmore", after "we have a new landlord": a value, and nothing else."""
    first = clause.words[0].low
    denied = first in own.words["negations"] or first in own.words["adverbs"]
    return clause.verb is None and not clause.subject and bool(clause.values) and not denied


def _opened(clause: Gist, own: Cues) -> bool:
    """Whether a clause announces what the next one says: "new record:", "got a new landlord,"."""
    if clause.verb is None or clause.verb in own.words["changes"]:
        return True
    return clause.speaks and clause.verb in own.words["neutral"] - own.words["being"]


def _noun(clause: Gist, own: Cues) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    if clause.subject:
        return clause.subject, clause.plain
    dropped = own.among("small", "passing_mods", "adverbs")
    nouns = [w for w in clause.said if w.low not in dropped and w.low[:1].isalnum()]
    if not clause.speaks or not nouns:
        return None
    return tuple(word.stem for word in nouns), tuple(word.text for word in nouns)
