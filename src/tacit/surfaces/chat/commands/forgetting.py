"""/forget, and deleting by id: one thing, by its id or its words, or everything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from tacit import limits
from tacit.errors import NotFound
from tacit.memory import View
from tacit.records.memory import Memory, State
from tacit.surfaces.chat.commands import wording
from tacit.surfaces.chat.commands.asked import Asked, as_id, tell
from tacit.surfaces.chat.commands.buttons import FORGET, RESTORE, WIPE, button
from tacit.surfaces.chat.commands.fitting import fits
from tacit.surfaces.chat.commands.showing import shortened, with_key
from tacit.surfaces.chat.commands.spelling import ALL, spelled_out
from tacit.surfaces.chat.commands.spelling import FORGET as FORGET_COMMAND
from tacit.surfaces.chat.consent import telling_words
from tacit.surfaces.chat.decisions import UNCLEAR, parse_decision
from tacit.surfaces.chat.say import Button, Question, Say, Span, code, say, worded

_EVERYTHING = frozenset({"everything", "all", "alles"})
_OWN = frozenset({"my", "mein", "meine", "meinen"})
_WORD = re.compile(r"\w+")
# Words of a request that say nothing of what is meant; without their last s.
_ASKING_WORDS = frozenset(
    re.findall(
        r"\S+",
        "about everything all alle me mine myself i'm am is where who what which when how dass "
        "daß ich mich mir mein meine meinen meinem meiner über habe hat bin wo wer wie fact "
        "thing stuff memory memorie one do did",
    )
)


def forget(asked: Asked) -> list[Say]:
    """/forget <id>, and in private /forget <words> and /forget everything"""
    match asked.words:
        case ():
            return tell(wording.HOW_TO_FORGET)
        case (one,) if not asked.private:
            return tell(wording.PRIVATE_ONLY) if one in _EVERYTHING else delete(asked, as_id(one))
        case _ if not asked.private:
            return tell(wording.PRIVATE_ONLY)
        case (one,) if one.lower() in _EVERYTHING:
            return [_ask_about_everything(asked)]
        case (one,):
            try:
                return delete(asked, as_id(one))
            except NotFound:
                pass  # a word that has the form of an id, or somebody else's: both read alike
    return _by_words(asked, " ".join(asked.words))


def delete(asked: Asked, id: str) -> list[Say]:
    """Where others listen, not even its owner is told what it said."""
    known = _content(asked.view, id)
    asked.idempotent_view("forget").forget(id)
    told = wording.DELETED_HERE
    if asked.private and known is not None:
        told = wording.DELETED.format(shortened(known))
    return [say(told, buttons=_undo(asked, [id]))]


def _drop(asked: Asked, ids: Sequence[str]) -> list[Say]:
    """Forget memories, and say no to what waits. What is gone meanwhile is left out."""
    waiting = {one.id: one.content for one in asked.view.proposals()}
    forgotten: dict[str, str] = {}
    declined: list[str] = []
    for id in ids:
        with suppress(NotFound):
            if id in waiting:
                asked.idempotent_view(f"decline/{id}").decline(id)
                declined.append(waiting[id])
            else:
                content = with_key(asked.view.show(id))
                asked.idempotent_view(f"forget/{id}").forget(id)
                forgotten[id] = content
    if not forgotten and not declined:
        return tell(wording.NO_SUCH)
    spans = [Span(f"\n{wording.NOT_KEPT.format(shortened(one))}") for one in declined]
    spans += [Span(f"\n{wording.FORGOTTEN.format(shortened(one))}") for one in forgotten.values()]
    restorable = wording.RESTORABLE_ONE if len(forgotten) == 1 else wording.RESTORABLE
    told = [replace(spans[0], text=spans[0].text.lstrip()), *spans[1:]]
    if not forgotten:
        return [say(*told)]
    return [say(*told, *worded(restorable), buttons=_undo(asked, list(forgotten)))]


def _undo(asked: Asked, ids: Sequence[str]) -> tuple[tuple[Button, ...], ...]:
    return ((button(asked.who, wording.UNDO, RESTORE, ",".join(ids)),),)


def chosen(asked: Asked) -> list[Say]:
    """One of those that were found by words."""
    (id,) = asked.words
    waits = id in {one.id for one in asked.view.proposals()}
    told = _drop(asked, [id]) if waits else delete(asked, id)
    return [replace(one, instead=True) for one in told]


def choose(asked: Asked, question: Question) -> list[Say]:
    """By a reply in words to the list; nothing where it is none."""
    (text,) = asked.words
    if question.erases_all:
        return _answer_about_everything(asked, text)
    if spelled_out(text) == (FORGET_COMMAND, (ALL,)):
        return []  # not these alone
    words = [telling_words(_content(asked.view, id) or "", None) for id in question.ids]
    decision = parse_decision(text, [frozenset(one) for one in words], forgets=True)
    if decision is None or decision.says_more:
        return []
    if decision == UNCLEAR or (decision.bare and decision.yes and len(question.ids) > 1):
        return [replace(say(wording.WHICH_NUMBERS), asks=question)]
    chosen = [id for place, id in enumerate(question.ids) if place in decision.yes]
    return _drop(asked, chosen) if chosen else tell(wording.KEPT_THEM)


def wipe(asked: Asked) -> list[Say]:
    """By a button."""
    (answer,) = asked.words
    told = _wiped(asked) if answer == "y" else say(wording.KEPT_ALL)
    return [replace(told, instead=True)]


def _answer_about_everything(asked: Asked, text: str) -> list[Say]:
    """By a reply in words. Nothing brings it back, so an "ok" alone is asked about again."""
    decision = parse_decision(text, [frozenset()], forgets=True)
    if decision is None or decision.says_more:
        return []
    if decision.no:
        return tell(wording.KEPT_ALL)
    if decision.yes and decision.certain:
        return [_wiped(asked)]
    return [_ask_about_everything(asked)]


def _wiped(asked: Asked) -> Say:
    erased = asked.idempotent_view("wipe").wipe()
    return say(wording.ERASED_ALL.format(erased.count))


def _ask_about_everything(asked: Asked) -> Say:
    yes = button(asked.who, wording.ERASE_ALL, WIPE, "y")
    no = button(asked.who, wording.KEEP_ALL, WIPE, "n")
    asks = Question(ids=(), erases_all=True)
    return say(*worded(wording.ALL_OF_IT), buttons=((yes, no),), asks=asks)


def _by_words(asked: Asked, words: str) -> list[Say]:
    """Done at once if one memory alone holds every word that counts, and with all of these if a
    name is said or all are asked for. Anything less is asked about: it would be a guess."""
    if len(words) > limits.QUERY_MAX_CHARS:
        return tell(wording.HOW_TO_FORGET)
    wanted = telling_words(words, None) - _ASKING_WORDS
    recalled = asked.view.recall(words, top_k=limits.CHAT_NEWEST_MEMORIES_COUNT, user=asked.who.key)
    close = {one.memory.id: with_key(one.memory) for one in recalled if fits(one)}
    found = _holding(asked.view, wanted, [one.memory for one in recalled])
    if len(found) == 1 or _means_all(words, wanted, list(found.values())):
        return _drop(asked, list(found))
    choices = found or close
    return [_which(asked, choices)] if choices else tell(wording.NOTHING_FOUND)


def _holding(view: View, wanted: set[str], recalled: Iterable[Memory]) -> dict[str, str]:
    """What holds all of these words, by its id: memories, and what waits for a yes."""
    if not wanted:
        return {}
    own = view.list(state=State.ACTIVE, limit=limits.PAGE_MAX_COUNT)
    every = {one.id: one for one in (*recalled, *own)}
    found = {one.id: with_key(one) for one in every.values() if wanted <= _words(one)}
    waiting = (one for one in view.proposals() if not one.widens)
    return found | {one.id: one.content for one in waiting if wanted <= _telling(one.content)}


def _words(one: Memory) -> set[str]:
    """Also those of its key: "my timezone"."""
    return _telling(f"{with_key(one)} {(one.slot or '').replace('_', ' ')}")


def _telling(content: str) -> set[str]:
    return telling_words(content, None)


def _means_all(words: str, wanted: set[str], found: Sequence[str]) -> bool:
    """Whether all that was found is meant: it is asked for all, or by a name and nothing else, as
    each of them writes it."""
    said = set(words.casefold().split())
    if not found or len(found) > limits.CHAT_CHOICES_COUNT:
        return False
    named = (
        {word.casefold().removesuffix("s") for word in _WORD.findall(one) if word[0].isupper()}
        for one in found
    )
    by_name = said.isdisjoint(_OWN) and all(wanted <= names for names in named)
    return by_name or not said.isdisjoint(_EVERYTHING)


def _which(asked: Asked, found: Mapping[str, str]) -> Say:
    several = len(found) > 1
    spans = [Span(wording.WHICH if several else wording.WHICH_THIS)]
    ids = list(found)[: limits.CHAT_CHOICES_COUNT]
    for number, id in enumerate(ids, start=1):
        spans += [Span(f"\n{number}. ["), code(id), Span(f"] {shortened(found[id])}")]
    rows = tuple(
        (button(asked.who, wording.FORGET_IT.format(number), FORGET, id),)
        for number, id in enumerate(ids, start=1)
    )
    asks = Question(ids=tuple(ids), forgets=True)
    ending = wording.WHICH_NUMBERS if several else wording.YES_OR_NO
    return Say(spans=(*spans, Span(f"\n{ending}")), buttons=rows, asks=asks)


def _content(view: View, id: str) -> str | None:
    try:
        return with_key(view.show(id))
    except NotFound:
        return None
