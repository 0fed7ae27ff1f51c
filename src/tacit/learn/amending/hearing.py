"""Reads a message for what it may correct."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tacit.learn.amending.change import Tone
from tacit.learn.amending.clause import Gist, finite
from tacit.learn.amending.cues import Cues
from tacit.learn.amending.gist import clauses_of, fragment
from tacit.learn.amending.heard import Ending, Exchange, Heard, telling, topics_of
from tacit.learn.amending.restate import restated
from tacit.learn.amending.typed import ELLIPSIS, tokens
from tacit.learn.needed import low, may_match
from tacit.learn.reading.sentences import blanked, sentences
from tacit.learn.reading.tongue import Tongue

_VALUE_MAX_COUNT = 4  # words
_HEARD_MAX_CHARS = 400


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
    starred = text.lstrip()[:1] == "*"
    correction, not_that = _correction(f"*{said}" if starred else said, own, tongue)
    told = [one for one in clauses if one.stated]
    done = [one for one in clauses if one.stated or (one.verb is not None and one.referring)]
    return Heard(
        clauses=tuple(clauses),
        tone=tone,
        stems=frozenset().union(*(clause.stems for clause in clauses)),
        every=_every(clauses, own),
        settings=frozenset().union(*(clause.settings for clause in clauses)),
        exchanges=tuple(_exchanges(plain, own)) if tone.turned and done else (),
        endings=tuple(one for one in _endings(plain, own) if _said_in(one, done)),
        topics=() if tone.added else tuple(topics_of(told, tone, own)),
        correction=correction,
        not_that=not_that,
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
                leads = match.start("what") == match.start()
                yield Ending(what=what, said=match["what"], died=died, leads=leads)


def _named_over(said: str, own: Cues) -> frozenset[str]:
    """What is over, without when it ended; all of it where that alone tells nothing."""
    plain = own.among("generic", "neutral", "duties", "likes")
    days = {own.stem(day) for day in own.words["weekdays"]}
    for text in (own.patterns["dated"].sub("", said), said):
        found = telling(text, own) - plain
        if found - days:
            return found
    return telling(said, own) - own.words["generic"] - own.words["neutral"] - days


def _said_in(ending: Ending, clauses: list[Gist]) -> bool:
    """Whether somebody or something does it: "no more coffee" is an answer."""
    opening = " ".join(ending.said.split()[:2])
    return ending.leads or any(opening in one.segment for one in clauses)


def _correction(said: str, own: Cues, tongue: Tongue) -> tuple[Gist | None, frozenset[str]]:
    """The value that words of correction put in the place of another, and what they deny: "Porto,
    not Lisbon", "I meant Porto". Nothing without such words."""
    ways = (own.patterns[name].match(said) for name in ("denying", "denied", "meant"))
    match = next((way for way in ways if way), None)
    polite = own.words["polite"]  # what is asked for corrects nothing
    if match is None or any(word.low in polite for word in tokens(said, own)):
        return None, frozenset()
    new = own.patterns["article"].sub("", match["new"].strip())
    words = tokens(f"{ELLIPSIS} {new}", own)[1:]  # it opens no sentence: a capital tells
    if not 0 < len(words) <= _VALUE_MAX_COUNT:
        return None, frozenset()
    found = fragment(f"{ELLIPSIS} {new}", words, own, tongue)
    parted = match.groupdict().get("parted", ",")
    if _vague(found, own, tongue) or not (parted or found.values):
        return None, frozenset()
    return found, telling(match.groupdict().get("old", ""), own)


def _vague(new: Gist, own: Cues, tongue: Tongue) -> bool:
    """ "Another one", "somewhere warmer", "maybe": no value that stands alone."""
    vague = tongue.words["never"] | tongue.words["passing"] | own.among("adverbs", "choosing")
    typed = {n for value in new.values for n in range(value.start, value.end)}
    rest = [word for n, word in enumerate(new.words) if n not in typed]
    return any(word.low in vague or finite(word, own) for word in rest)


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
    mine = [at for at, word in enumerate(clause.words) if word.low in own.words["mine"]]
    said = clause.words[mine[-1] + 1 :] if mine else clause.said
    nouns = [w for w in said if w.low not in dropped and w.low[:1].isalnum()]
    if not (clause.speaks or mine) or not nouns:
        return None
    return tuple(word.stem for word in nouns), tuple(word.text for word in nouns)
