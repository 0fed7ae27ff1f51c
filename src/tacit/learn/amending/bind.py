"""Pronouns that a message does not explain itself: "she works nights now" speaks of whom the last
thing said was about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.learn.amending.change import named
from tacit.learn.amending.clause import Gist
from tacit.learn.amending.cues import Cues
from tacit.learn.amending.heard import Ending, Heard, topics_of


def refers(heard: Heard) -> bool:
    """Whether a clause has a pronoun for its subject."""
    return any(clause.referring for clause in heard.clauses) or bool(heard.gone)


def bound(heard: Heard, old: Gist, own: Cues) -> Heard | None:
    """The message with its pronouns put to what the known thing is about; None where they do not
    fit it."""
    found: list[Gist] = []
    changed = False
    for clause in heard.clauses:
        if clause.referring and _fits(clause, old, found, own):
            clause = _about(clause, old)
            changed = True
        found.append(clause)
    endings = heard.endings
    if heard.gone and _gone_fits(heard.gone, old, own):
        what = _centre(old, own)
        if what:
            endings = (*endings, Ending(what=what, said=heard.gone))
            changed = True
    if not changed:
        return None
    stems = frozenset().union(*(clause.stems for clause in found))
    topics = () if heard.tone.added else tuple(topics_of(found, heard.tone, own))
    return replace(heard, clauses=tuple(found), endings=endings, stems=stems, topics=topics)


def _about(clause: Gist, old: Gist) -> Gist:
    return replace(
        clause,
        subject=old.subject,
        plain=old.plain,
        owned=old.owned,
        other=old.other,
        speaks=False,
        explained=True,
        stems=clause.stems | set(old.subject),
    )


def _fits(clause: Gist, old: Gist, before: Sequence[Gist], own: Cues) -> bool:
    """A noun of the message itself explains its pronoun first."""
    if old.speaks or not old.subject or old.role:
        return False
    head = old.subject[-1]
    nouns = any(one.subject or one.said for one in before)
    if (clause.explained or nouns) and not any(head in one.stems for one in before):
        return False
    pronoun = next((word.low for word in clause.words if word.low in own.words["pronouns"]), "")
    return _agrees(pronoun, old, own)


def _agrees(pronoun: str, old: Gist, own: Cues) -> bool:
    kin = bool(set(old.subject) & own.words["people"]) or named(old)
    if pronoun in own.among("he", "she"):
        other = own.words["women" if pronoun in own.words["he"] else "men"]
        pets = bool(set(old.subject) & own.words["pets"])
        return (kin or pets or old.role) and not set(old.subject) & other
    if pronoun in own.words["they"]:
        return bool(old.plain) and old.plain[-1].endswith("s") and not named(old)
    return not set(old.subject) & own.words["people"]


def _gone_fits(pronoun: str, old: Gist, own: Cues) -> bool:
    if pronoun in own.among("he", "she"):
        pets = {word.stem for word in old.words} & own.words["pets"]
        return bool(pets) or (not old.speaks and _agrees(pronoun, old, own))
    if old.speaks:
        return old.verb in own.among("having", "switchable", "owning")
    return _agrees(pronoun, old, own) and not named(old)


def _centre(old: Gist, own: Cues) -> frozenset[str]:
    """The thing that it is about: its subject, or what the speaker has."""
    if not old.speaks:
        return frozenset(old.subject)
    dropped = own.among("small", "prepositions")
    for word in old.said:
        if word.low in own.words["prepositions"]:
            break
        if word.low not in dropped and word.low[:1].isalpha():
            return frozenset({word.stem})
    return frozenset()
