"""/memory, /mem, /forget and /undo: list, forget, erase and restore memories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, islice

from tacit import limits
from tacit.bots import texts
from tacit.bots.commands.request import (
    BUTTON_ERASE_ALL,
    BUTTON_FORGET,
    BUTTON_PAGE,
    BUTTON_PAGE_VISIBILITY,
    BUTTON_RESTORE,
    EVERYTHING,
    FORGET_COMMAND,
    CommandRequest,
    make_button,
    parse_plain_command,
    reply,
    strip_id,
)
from tacit.bots.consent import distinctive_words
from tacit.bots.decisions import UNCLEAR, parse_decision
from tacit.bots.messages import (
    Button,
    OpenQuestion,
    OutboundMessage,
    Span,
    code_span,
    format_text,
    make_message,
    strong_span,
)
from tacit.errors import Conflict, NotFound
from tacit.memory import View
from tacit.records.memory import HistoryEntry, HistoryEvent, Memory, Sensitivity, State, Visibility
from tacit.records.results import Change, Recalled
from tacit.records.text import show_with_key

# Whether something that came to mind has to do with the words that were said.

# Measured with the embedder that comes along: some of what people meant in other words was at 0.41
# to 0.45, what had nothing to do with their words at 0.37 and below.
_CLOSE_MEANING = 0.4


def is_relevant(one: Recalled) -> bool:
    """It shares a word that counts, is about somebody who was named, tells of the requester what
    they ask about themselves, or is close in meaning. With few memories the best one is otherwise
    just the least far away."""
    signals = one.signals
    named = signals.words > 0 or signals.person > 0 or signals.own > 0
    return named or signals.meaning >= _CLOSE_MEANING


# How a memory is put into a line of a list.


def shorten(content: str) -> str:
    """On one line, and no longer than a list can bear."""
    line = " ".join(content.split())
    most = limits.CHAT_LISTED_MAX_CHARS
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def format_with_key(memory: Memory) -> str:
    return show_with_key(memory.key, memory.content)


def format_briefly(memory: Memory) -> str:
    return shorten(format_with_key(memory))


# /forget, and deleting by id: one thing, by its id or its words, or everything.

_ALL_WORDS = frozenset({"everything", "all", "alles"})
_OWN_WORDS = frozenset({"my", "mein", "meine", "meinen"})
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


def run_forget(asked: CommandRequest) -> list[OutboundMessage]:
    """/forget <id>, and in private /forget <words> and /forget everything"""
    match asked.words:
        case ():
            return reply(texts.HOW_TO_FORGET)
        case (one,) if not asked.private:
            return (
                reply(texts.PRIVATE_ONLY)
                if one in _ALL_WORDS
                else forget_by_id(asked, strip_id(one))
            )
        case _ if not asked.private:
            return reply(texts.PRIVATE_ONLY)
        case (one,) if one.lower() in _ALL_WORDS:
            return [_ask_to_erase_all(asked)]
        case (one,):
            try:
                return forget_by_id(asked, strip_id(one))
            except NotFound:
                pass  # a word that has the form of an id, or somebody else's: both read alike
    return _forget_by_words(asked, " ".join(asked.words))


def forget_by_id(asked: CommandRequest, id: str) -> list[OutboundMessage]:
    """Where others listen, not even its owner is told what it said."""
    known = _find_content(asked.view, id)
    asked.idempotent_view("forget").forget(id)
    told = texts.DELETED_HERE
    if asked.private and known is not None:
        told = texts.DELETED.format(shorten(known))
    return [make_message(told, buttons=_restore_buttons(asked, [id]))]


def _forget_all(asked: CommandRequest, ids: Sequence[str]) -> list[OutboundMessage]:
    """Forget memories, and say no to what waits. What is gone meanwhile is left out."""
    waiting = {one.id: one.content for one in asked.view.proposals.list()}
    forgotten: dict[str, str] = {}
    declined: list[str] = []
    for id in ids:
        with suppress(NotFound):
            if id in waiting:
                asked.idempotent_view(f"decline/{id}").proposals.decline(id)
                declined.append(waiting[id])
            else:
                content = format_with_key(asked.view.show(id))
                asked.idempotent_view(f"forget/{id}").forget(id)
                forgotten[id] = content
    if not forgotten and not declined:
        return reply(texts.NO_SUCH_MEMORY)
    spans = [Span(f"\n{texts.DECLINED.format(shorten(one))}") for one in declined]
    spans += [Span(f"\n{texts.FORGOTTEN.format(shorten(one))}") for one in forgotten.values()]
    restorable = texts.RESTORABLE_ONE if len(forgotten) == 1 else texts.RESTORABLE
    told = [replace(spans[0], text=spans[0].text.lstrip()), *spans[1:]]
    if not forgotten:
        return [make_message(*told)]
    return [
        make_message(
            *told, *format_text(restorable), buttons=_restore_buttons(asked, list(forgotten))
        )
    ]


def _restore_buttons(asked: CommandRequest, ids: Sequence[str]) -> tuple[tuple[Button, ...], ...]:
    return ((make_button(asked.who, texts.UNDO, BUTTON_RESTORE, ",".join(ids)),),)


def press_forget(asked: CommandRequest) -> list[OutboundMessage]:
    """One of those that were found by words."""
    (id,) = asked.words
    waits = id in {one.id for one in asked.view.proposals.list()}
    told = _forget_all(asked, [id]) if waits else forget_by_id(asked, id)
    return [replace(one, instead=True) for one in told]


def answer_which(asked: CommandRequest, question: OpenQuestion) -> list[OutboundMessage]:
    """By a reply in words to the list; nothing where it is none."""
    (text,) = asked.words
    if question.erases_all:
        return _answer_erase_all(asked, text)
    if parse_plain_command(text) == (FORGET_COMMAND, (EVERYTHING,)):
        return []  # not these alone
    words = [distinctive_words(_find_content(asked.view, id) or "", None) for id in question.ids]
    decision = parse_decision(text, [frozenset(one) for one in words], forgets=True)
    if decision is None or decision.says_more:
        return []
    if decision == UNCLEAR or (decision.bare and decision.yes and len(question.ids) > 1):
        return [replace(make_message(texts.SAY_NUMBERS), asks=question)]
    chosen = [id for place, id in enumerate(question.ids) if place in decision.yes]
    return _forget_all(asked, chosen) if chosen else reply(texts.NOTHING_FORGOTTEN)


def press_erase_all(asked: CommandRequest) -> list[OutboundMessage]:
    """By a button."""
    (answer,) = asked.words
    told = _erase_all(asked) if answer == "y" else make_message(texts.KEPT_ALL)
    return [replace(told, instead=True)]


def _answer_erase_all(asked: CommandRequest, text: str) -> list[OutboundMessage]:
    """By a reply in words. Nothing brings it back, so an "ok" alone is asked about again."""
    decision = parse_decision(text, [frozenset()], forgets=True)
    if decision is None or decision.says_more:
        return []
    if decision.no:
        return reply(texts.KEPT_ALL)
    if decision.yes and decision.certain:
        return [_erase_all(asked)]
    return [_ask_to_erase_all(asked)]


def _erase_all(asked: CommandRequest) -> OutboundMessage:
    erased = asked.idempotent_view("wipe").wipe()
    return make_message(texts.ERASED_ALL.format(erased.count))


def _ask_to_erase_all(asked: CommandRequest) -> OutboundMessage:
    yes = make_button(asked.who, texts.ERASE_ALL, BUTTON_ERASE_ALL, "y")
    no = make_button(asked.who, texts.KEEP_ALL, BUTTON_ERASE_ALL, "n")
    asks = OpenQuestion(ids=(), erases_all=True)
    return make_message(*format_text(texts.ASK_TO_ERASE_ALL), buttons=((yes, no),), asks=asks)


def _forget_by_words(asked: CommandRequest, words: str) -> list[OutboundMessage]:
    """Done at once if one memory alone holds every word that counts, and with all of these if a
    name is said or all are asked for. Anything less is asked about: it would be a guess."""
    if len(words) > limits.QUERY_MAX_CHARS:
        return reply(texts.HOW_TO_FORGET)
    wanted = distinctive_words(words, None) - _ASKING_WORDS
    recalled = asked.view.recall(words, top_k=limits.CHAT_NEWEST_MEMORIES_COUNT, user=asked.who.key)
    close = {one.memory.id: format_with_key(one.memory) for one in recalled if is_relevant(one)}
    found = _find_by_words(asked.view, wanted, [one.memory for one in recalled])
    if len(found) == 1 or _means_all(words, wanted, list(found.values())):
        return _forget_all(asked, list(found))
    choices = found or close
    return [_ask_which(asked, choices)] if choices else reply(texts.NOTHING_TO_FORGET)


def _find_by_words(view: View, wanted: set[str], recalled: Iterable[Memory]) -> dict[str, str]:
    """What holds all of these words, by its id: memories, and what waits for a yes."""
    if not wanted:
        return {}
    own = view.list(state=State.ACTIVE, limit=limits.PAGE_MAX_COUNT)
    every = {one.id: one for one in (*recalled, *own)}
    found = {one.id: format_with_key(one) for one in every.values() if wanted <= _memory_words(one)}
    waiting = (one for one in view.proposals.list() if not one.widens)
    return found | {one.id: one.content for one in waiting if wanted <= _content_words(one.content)}


def _memory_words(one: Memory) -> set[str]:
    """Also those of its key: "my timezone"."""
    return _content_words(f"{format_with_key(one)} {(one.slot or '').replace('_', ' ')}")


def _content_words(content: str) -> set[str]:
    return distinctive_words(content, None)


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
    by_name = said.isdisjoint(_OWN_WORDS) and all(wanted <= names for names in named)
    return by_name or not said.isdisjoint(_ALL_WORDS)


def _ask_which(asked: CommandRequest, found: Mapping[str, str]) -> OutboundMessage:
    several = len(found) > 1
    spans = [Span(texts.WHICH_TO_FORGET if several else texts.FORGET_THIS)]
    ids = list(found)[: limits.CHAT_CHOICES_COUNT]
    for number, id in enumerate(ids, start=1):
        spans += [Span(f"\n{number}. ["), code_span(id), Span(f"] {shorten(found[id])}")]
    rows = tuple(
        (make_button(asked.who, texts.FORGET_NUMBER.format(number), BUTTON_FORGET, id),)
        for number, id in enumerate(ids, start=1)
    )
    asks = OpenQuestion(ids=tuple(ids), forgets=True)
    ending = texts.SAY_NUMBERS if several else texts.SAY_YES_OR_NO
    return OutboundMessage(spans=(*spans, Span(f"\n{ending}")), buttons=rows, asks=asks)


def _find_content(view: View, id: str) -> str | None:
    try:
        return format_with_key(view.show(id))
    except NotFound:
        return None


# /mem and /memory: what is remembered for somebody, a page at a time, and how far each may go.

_VISIBILITIES = {"public": Visibility.PUBLIC_OK, "private": Visibility.PRIVATE_ONLY}


def run_memory(asked: CommandRequest) -> list[OutboundMessage]:
    """/memory, /memory list, /memory delete <id>"""
    match asked.words:
        case () | ("list",):
            return [_format_page(asked, 1, BUTTON_PAGE)]
        case ("delete" | "del", id):
            return forget_by_id(asked, strip_id(id))
    return reply(texts.HOW_TO_DELETE)


def run_mem(asked: CommandRequest) -> list[OutboundMessage]:
    """/mem, /mem del <id>, /mem vis <id> <public|private>"""
    match asked.words:
        case () | ("list",):
            return [_format_page(asked, 1, BUTTON_PAGE_VISIBILITY)]
        case ("del" | "delete", id):
            return forget_by_id(asked, strip_id(id))
        case ("vis", id, ("public" | "private") as how):
            return _set_visibility(asked, strip_id(id), _VISIBILITIES[how])
        case ("vis", *_):
            return reply(texts.HOW_TO_SET_VISIBILITY)
    return reply(texts.HOW_TO_DELETE)


def press_page(asked: CommandRequest) -> list[OutboundMessage]:
    return _turn_page(asked, BUTTON_PAGE)


def press_page_visibility(asked: CommandRequest) -> list[OutboundMessage]:
    return _turn_page(asked, BUTTON_PAGE_VISIBILITY)


def _set_visibility(asked: CommandRequest, id: str, wanted: Visibility) -> list[OutboundMessage]:
    asked.idempotent_view("vis").set_visibility(id, wanted)
    if wanted is Visibility.PRIVATE_ONLY:
        return reply(texts.NOW_PRIVATE)
    now = asked.view.show(id)
    sensitive = now.sensitivity is Sensitivity.SENSITIVE
    kept = sensitive or now.inferred or now.withheld_unknown
    return reply(texts.STILL_WITHHELD if kept else texts.NOW_PUBLIC)


def _turn_page(asked: CommandRequest, does: str) -> list[OutboundMessage]:
    """Another page was asked for, by its button."""
    (number,) = asked.words
    wanted = int(number) if number.isdecimal() and len(number) < 8 else 1
    return [replace(_format_page(asked, max(1, wanted), does), instead=True)]


def _format_page(asked: CommandRequest, number: int, does: str) -> OutboundMessage:
    """Counted anew each time, so that a button has no more than a number to remember. Who asks for
    a page that is not there any more gets the last one."""
    counts = _count_by_category(asked.view)
    total = sum(counts.values())
    if not total:
        return make_message(texts.NO_MEMORIES)
    size = limits.CHAT_LISTED_COUNT
    last = -(-total // size)
    number = min(number, last)
    shown = _list_slice(asked.view, counts, (number - 1) * size, size)
    spans = [strong_span(texts.LIST_TITLE)]
    for category, group in groupby(shown, key=lambda one: one.category):
        spans += [Span("\n\n"), strong_span(_category_title(category))]
        for one in group:
            spans += [Span("\n• ["), code_span(one.id), Span(f"] {format_briefly(one)}")]
            if does == BUTTON_PAGE_VISIBILITY:
                spans.append(Span(f" ({texts.VISIBILITY_LABELS[one.visibility]})"))
    ending = texts.LIST_ENDING if does == BUTTON_PAGE else texts.VISIBILITY_ENDING
    spans += [Span("\n\n"), *format_text(ending)]
    turns = [(texts.PREVIOUS_PAGE, number - 1)] * (number > 1) + [(texts.NEXT_PAGE, number + 1)] * (
        number < last
    )
    row: tuple[Button, ...] = tuple(
        make_button(asked.who, label, does, str(n)) for label, n in turns
    )
    return OutboundMessage(spans=tuple(spans), buttons=(row,) if row else ())


def _count_by_category(view: View) -> dict[str, int]:
    """How many there are in each category, by its name."""
    found = {name: view.count(name, state=State.ACTIVE) for name in view.stats().by_category}
    return {name: found[name] for name in sorted(found) if found[name]}


def _list_slice(view: View, counts: dict[str, int], skipped: int, size: int) -> Iterator[Memory]:
    """Category by category, without reading those that are passed over."""
    for category, count in counts.items():
        if size <= 0:
            return
        if skipped >= count:
            skipped -= count
            continue
        for one in islice(_list_category(view, category, skipped + size), skipped, skipped + size):
            size -= 1
            yield one
        skipped = 0


def _list_category(view: View, category: str, most: int) -> Iterator[Memory]:
    cursor = None
    while True:
        page = view.list(
            category, state=State.ACTIVE, limit=min(most, limits.PAGE_MAX_COUNT), cursor=cursor
        )
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def _category_title(category: str) -> str:
    return category.replace("_", " ").title()


# /undo and the buttons that take something back: found in what the store keeps of every change.
#
# A change is what one write did: several memories, if it forgot several.

ChangeTimes = list[tuple[datetime, str]]  # memories by when they changed, newest first
_PERSON_PREFIXES = ("ext:", "acct:")  # how actors begin who are neither the system nor an operator
_VISIBILITY_PREFIX = "visibility "
_ADDING_EVENTS = (HistoryEvent.ADD, HistoryEvent.CONSENT, HistoryEvent.RESTORE)
_NON_TEXT_DETAILS = frozenset(
    {"fields", "also"}
)  # in what a history says: what changed besides the words


@dataclass(frozen=True, slots=True, kw_only=True)
class LastChange:
    """The last thing that was done to a memory, by a person."""

    memory: Memory
    entry: HistoryEntry
    before: tuple[HistoryEntry, ...]


def run_undo(asked: CommandRequest) -> list[OutboundMessage]:
    """/undo. Said again, it takes back what it did."""
    changed = _list_change_times(asked.view)
    done = _find_last_changes(asked.view, changed)
    if not done or _was_before_unlinking(asked, done[0].entry.at):
        return reply(texts.NOTHING_TO_UNDO)
    replaced = _find_replaced_contents(asked.view, changed, done)
    told = (_undo_change(asked, one, replaced.get(one.memory.id)) for one in done)
    lines = [span for line in told for span in (Span("\n"), *line)]
    return [make_message(*lines[1:])]


def _was_before_unlinking(asked: CommandRequest, at: datetime) -> bool:
    """What was changed as the account is out of reach since: what is the last change from here was
    not the last one that the person made."""
    own = f"ext:{asked.who.key}"
    ended = (one.ended_at for one in asked.memory.admin.links(asked.who.key) if one.source == own)
    return any(end is not None and at < end for end in ended)


def press_undo(asked: CommandRequest) -> list[OutboundMessage]:
    """By the button under something that was just remembered. Pressed again it changes nothing."""
    id, number = asked.words
    version = int(number) if number.isdecimal() and len(number) < 8 else 0
    try:
        memory = asked.view.show(id)
    except NotFound:
        return [_replace_message(texts.UNDONE)]  # as it is once it was pressed
    if memory.state is not State.ACTIVE:
        return [_replace_message(texts.UNDONE)]
    if memory.version != version:
        return [_replace_message(texts.CHANGED_SINCE)]
    earlier = _content_before_version(asked.view.history(id), version)
    if earlier is None:
        asked.idempotent_view("undo").forget(id)
    else:
        asked.idempotent_view("undo").update(id, earlier)
    if not asked.private:
        return [_replace_message(texts.UNDONE)]
    if earlier is None:
        return [_replace_message(texts.REMOVED, format_briefly(memory))]
    return [_replace_message(texts.REWORDED, shorten(earlier))]


def press_restore(asked: CommandRequest) -> list[OutboundMessage]:
    """By the button under what was just deleted."""
    (words,) = asked.words
    ids = words.split(",")
    try:
        for id in ids:
            asked.idempotent_view(f"restore/{id}").restore(id)
    except Conflict:
        return [_replace_message(texts.CHANGED_SINCE)]
    if not asked.private:
        return [_replace_message(texts.UNDONE)]
    contents = "', '".join(format_briefly(asked.view.show(id)) for id in ids)
    return [_replace_message(texts.RESTORED, contents)]


def _find_last_changes(view: View, changed: ChangeTimes) -> list[LastChange]:
    """What a person changed last in this chat, or added anywhere; all of it, if it was forgotten in
    one write, and so at the same time."""
    found: list[LastChange] = []
    for at, id in changed:
        if found and at != found[0].entry.at:
            break
        last = _get_last_change(view, id)
        if last is None:
            continue
        if not found or last.entry.event is found[0].entry.event is HistoryEvent.DELETE:
            found.append(last)
    return found


def _list_change_times(view: View) -> ChangeTimes:
    told = {one.memory_id: (one.at, one.revision) for one in _list_newest_changes(view)}
    for one in view.list(state=State.ACTIVE, limit=1):
        told.setdefault(one.id, (one.created_at, 0))
    newest = sorted(told, key=lambda id: told[id], reverse=True)
    return [(told[id][0], id) for id in newest[: limits.CHAT_UNDO_SCANNED_MAX_COUNT]]


def _list_newest_changes(view: View) -> Sequence[Change]:
    """The last changes of this chat. A delta that is full tells the oldest and leaves out the
    newest: then it is looked for the place from which on it holds all there are, and not few."""
    most = limits.DELTA_MAX_COUNT
    found = view.delta().changes
    if len(found) < most:
        return found
    full, whole = 0, limits.REVISION_MAX
    newest: Sequence[Change] = ()
    while whole - full > 1 and len(newest) < max(1, most // 4):
        middle = (full + whole) // 2
        found = view.delta(middle).changes
        if len(found) >= most:
            full = middle
        else:
            whole, newest = middle, found
    return newest


def _get_last_change(view: View, id: str) -> LastChange | None:
    try:
        memory = view.show(id)
        entries = [one for one in view.history(id) if one.event is not HistoryEvent.LINK]
    except NotFound:
        return None
    if not entries or not entries[-1].actor.startswith(_PERSON_PREFIXES):
        return None
    if entries[-1].event is HistoryEvent.SUPERSEDE and memory.superseded_by is not None:
        return None  # what took its place is the change
    return LastChange(memory=memory, entry=entries[-1], before=tuple(entries[:-1]))


def _find_replaced_contents(
    view: View, changed: ChangeTimes, done: Sequence[LastChange]
) -> dict[str, str]:
    """What memories that were added said before, where they took the place of an older one: in the
    same write, and so at the same time."""
    added = {one.memory.id: one.entry.at for one in done if one.entry.event is HistoryEvent.ADD}
    found = {}
    for at, id in changed:
        if at not in added.values() or id in added:
            continue
        try:
            old = view.show(id)
        except NotFound:
            continue
        if old.superseded_by in added:
            found[old.superseded_by] = old.content
    return found


def _undo_change(asked: CommandRequest, last: LastChange, replaced: str | None) -> tuple[Span, ...]:
    memory, event = last.memory, last.entry.event
    once = asked.idempotent_view(f"undo/{memory.id}")
    try:
        if event is HistoryEvent.DELETE and not _is_key_taken(asked.view, memory):
            once.restore(memory.id)
            return format_text(texts.RESTORED, format_briefly(memory))
        if event in _ADDING_EVENTS and replaced is None:
            once.forget(memory.id)
            return format_text(texts.REMOVED, format_briefly(memory))
        earlier = replaced or _previous_content(last)
        if earlier is not None:
            once.update(memory.id, earlier)
            return format_text(texts.REWORDED, shorten(earlier))
        visibility = _previous_visibility(last)
        if visibility is not None:
            once.set_visibility(memory.id, visibility)
            public = visibility is Visibility.PUBLIC_OK
            return format_text(texts.NOW_PUBLIC if public else texts.NOW_PRIVATE)
    except Conflict:
        # All that could be in the way was looked at: this very update did it, before a crash.
        return format_text(texts.UNDONE)
    return format_text(texts.CANNOT_UNDO)


def _is_key_taken(view: View, memory: Memory) -> bool:
    return memory.key is not None and view.get(memory.category, memory.key) is not None


def _previous_content(last: LastChange) -> str | None:
    """The wording before this one, if the words and nothing else are what changed."""
    if last.entry.event is not HistoryEvent.UPDATE or not last.entry.detail.keys().isdisjoint(
        _NON_TEXT_DETAILS
    ):
        return None
    return _content_before_version(last.before, last.entry.version)


def _content_before_version(entries: Sequence[HistoryEntry], version: int) -> str | None:
    return next((e.content for e in reversed(entries) if e.version < version and e.content), None)


def _previous_visibility(last: LastChange) -> Visibility | None:
    """As they set it before. What was raised goes back to the strictest if nobody ever said; what
    was lowered is then left alone: nothing goes further than somebody once wanted."""
    now = last.entry.detail.get("fields", "")
    if last.entry.event is not HistoryEvent.UPDATE or not now.startswith(_VISIBILITY_PREFIX):
        return None
    said = (one.detail.get("fields", "") for one in reversed(last.before))
    for fields in said:
        if fields.startswith(_VISIBILITY_PREFIX):
            return Visibility(fields.removeprefix(_VISIBILITY_PREFIX))
    raised = now == f"{_VISIBILITY_PREFIX}{Visibility.PUBLIC_OK}"
    return Visibility.PRIVATE_ONLY if raised else None


def _replace_message(template: str, given: str = "") -> OutboundMessage:
    return replace(make_message(*format_text(template, given)), instead=True)
