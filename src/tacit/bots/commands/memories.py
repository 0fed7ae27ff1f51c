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
    EVERYTHING,
    FORGET_COMMAND,
    ButtonAction,
    CommandRequest,
    make_button,
    parse_plain_command,
    reply,
    strip_id,
)
from tacit.bots.consent import distinctive_words
from tacit.bots.decisions import UNCLEAR, parse_decision, word_set
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

# Measured with the bundled embedder: paraphrases score 0.41 to 0.45, unrelated memories 0.37 and
# below.
_CLOSE_MEANING = 0.4


def is_relevant(one: Recalled) -> bool:
    """Whether a result shares a word or a person with the query, is about the requester who asks
    about themselves, or is close in meaning. In a small memory the best result may be unrelated."""
    signals = one.signals
    named = signals.words > 0 or signals.person > 0 or signals.own > 0
    return named or signals.meaning >= _CLOSE_MEANING


def shorten(content: str) -> str:
    """Make one line for a list."""
    line = " ".join(content.split())
    most = limits.CHAT_LISTED_MAX_CHARS
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def format_with_key(memory: Memory) -> str:
    return show_with_key(memory.key, memory.content)


def format_briefly(memory: Memory) -> str:
    return shorten(format_with_key(memory))


# /forget: by id, by words, or everything.

_ALL_WORDS = frozenset({"everything", "all", "alles"})
_OWN_WORDS = frozenset({"my", "mein", "meine", "meinen"})
_WORD = re.compile(r"\w+")
# Words of a request that do not describe a memory, without a final s.
_ASKING_WORDS = word_set(
    "about everything all alle me mine myself i'm am is where who what which when how dass daß "
    "ich mich mir mein meine meinen meinem meiner über habe hat bin wo wer wie fact thing stuff "
    "memory memorie one do did"
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
                pass  # no id, or that of another person's memory: treat it as a word
    return _forget_by_words(asked, " ".join(asked.words))


def forget_by_id(asked: CommandRequest, id: str) -> list[OutboundMessage]:
    """Forget a memory; in a group the reply does not show its content."""
    content = _find_content(asked.view, id)
    asked.idempotent_view("forget").forget(id)
    text = texts.DELETED_HERE
    if asked.private and content is not None:
        text = texts.DELETED.format(shorten(content))
    return [make_message(text, buttons=_restore_buttons(asked, [id]))]


def _forget_all(asked: CommandRequest, ids: Sequence[str]) -> list[OutboundMessage]:
    """Forget memories and decline proposals; skip those that no longer exist."""
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
    return ((make_button(asked.who, texts.UNDO, ButtonAction.RESTORE, ",".join(ids)),),)


def press_forget(asked: CommandRequest) -> list[OutboundMessage]:
    (id,) = asked.words
    waits = id in {one.id for one in asked.view.proposals.list()}
    replies = _forget_all(asked, [id]) if waits else forget_by_id(asked, id)
    return [replace(one, instead=True) for one in replies]


def answer_which(asked: CommandRequest, question: OpenQuestion) -> list[OutboundMessage]:
    """Handle a reply in words to the list; empty if it is no reply."""
    (text,) = asked.words
    if question.erases_all:
        return _answer_erase_all(asked, text)
    if parse_plain_command(text) == (FORGET_COMMAND, (EVERYTHING,)):
        return []  # "everything" means more than this list
    words = [distinctive_words(_find_content(asked.view, id) or "", None) for id in question.ids]
    decision = parse_decision(text, [frozenset(one) for one in words], forgets=True)
    if decision is None or decision.says_more:
        return []
    if decision == UNCLEAR or (decision.bare and decision.yes and len(question.ids) > 1):
        return [replace(make_message(texts.SAY_NUMBERS), asks=question)]
    chosen = [id for place, id in enumerate(question.ids) if place in decision.yes]
    return _forget_all(asked, chosen) if chosen else reply(texts.NOTHING_FORGOTTEN)


def press_erase_all(asked: CommandRequest) -> list[OutboundMessage]:
    (answer,) = asked.words
    done = _erase_all(asked) if answer == "y" else make_message(texts.KEPT_ALL)
    return [replace(done, instead=True)]


def _answer_erase_all(asked: CommandRequest, text: str) -> list[OutboundMessage]:
    """Handle a reply in words. It cannot be undone, so an "ok" alone is asked about again."""
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
    yes = make_button(asked.who, texts.ERASE_ALL, ButtonAction.ERASE_ALL, "y")
    no = make_button(asked.who, texts.KEEP_ALL, ButtonAction.ERASE_ALL, "n")
    asks = OpenQuestion(ids=(), erases_all=True)
    return make_message(*format_text(texts.ASK_TO_ERASE_ALL), buttons=((yes, no),), asks=asks)


def _forget_by_words(asked: CommandRequest, words: str) -> list[OutboundMessage]:
    """Forget the one memory that has all distinctive words, or several if a name or "all" is said.

    Otherwise ask which one is meant.
    """
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
    """Return memories and proposals with all of these words: contents by id."""
    if not wanted:
        return {}
    own = view.list(state=State.ACTIVE, limit=limits.PAGE_MAX_COUNT)
    every = {one.id: one for one in (*recalled, *own)}
    found = {one.id: format_with_key(one) for one in every.values() if wanted <= _memory_words(one)}
    waiting = (one for one in view.proposals.list() if not one.widens)
    return found | {
        one.id: one.content for one in waiting if wanted <= distinctive_words(one.content, None)
    }


def _memory_words(one: Memory) -> set[str]:
    """Return the words of the content, the key and the slot: "my timezone"."""
    return distinctive_words(f"{format_with_key(one)} {(one.slot or '').replace('_', ' ')}", None)


def _means_all(words: str, wanted: set[str], found: Sequence[str]) -> bool:
    """Whether all results are meant: "all" was said, or only a name that each of them contains."""
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
        (make_button(asked.who, texts.FORGET_NUMBER.format(number), ButtonAction.FORGET, id),)
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


# /mem and /memory: list memories in pages, and set their visibility.

_VISIBILITIES = {"public": Visibility.PUBLIC_OK, "private": Visibility.PRIVATE_ONLY}


def run_memory(asked: CommandRequest) -> list[OutboundMessage]:
    """/memory, /memory list, /memory delete <id>"""
    match asked.words:
        case () | ("list",):
            return [_format_page(asked, 1, ButtonAction.PAGE)]
        case ("delete" | "del", id):
            return forget_by_id(asked, strip_id(id))
    return reply(texts.HOW_TO_DELETE)


def run_mem(asked: CommandRequest) -> list[OutboundMessage]:
    """/mem, /mem del <id>, /mem vis <id> <public|private>"""
    match asked.words:
        case () | ("list",):
            return [_format_page(asked, 1, ButtonAction.PAGE_VISIBILITY)]
        case ("del" | "delete", id):
            return forget_by_id(asked, strip_id(id))
        case ("vis", id, ("public" | "private") as name):
            return _set_visibility(asked, strip_id(id), _VISIBILITIES[name])
        case ("vis", *_):
            return reply(texts.HOW_TO_SET_VISIBILITY)
    return reply(texts.HOW_TO_DELETE)


def _set_visibility(asked: CommandRequest, id: str, wanted: Visibility) -> list[OutboundMessage]:
    asked.idempotent_view("vis").set_visibility(id, wanted)
    if wanted is Visibility.PRIVATE_ONLY:
        return reply(texts.NOW_PRIVATE)
    now = asked.view.show(id)
    sensitive = now.sensitivity is Sensitivity.SENSITIVE
    withheld = sensitive or now.inferred or now.withheld_unknown
    return reply(texts.STILL_WITHHELD if withheld else texts.NOW_PUBLIC)


def press_page(asked: CommandRequest, action: ButtonAction) -> list[OutboundMessage]:
    (number,) = asked.words
    wanted = int(number) if number.isdecimal() and len(number) < 8 else 1
    return [replace(_format_page(asked, max(1, wanted), action), instead=True)]


def _format_page(asked: CommandRequest, number: int, action: ButtonAction) -> OutboundMessage:
    """Format a page, counted anew so that a button needs only its number; the last if beyond."""
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
            if action == ButtonAction.PAGE_VISIBILITY:
                spans.append(Span(f" ({texts.VISIBILITY_LABELS[one.visibility]})"))
    ending = texts.LIST_ENDING if action == ButtonAction.PAGE else texts.VISIBILITY_ENDING
    spans += [Span("\n\n"), *format_text(ending)]
    turns = [(texts.PREVIOUS_PAGE, number - 1)] * (number > 1) + [(texts.NEXT_PAGE, number + 1)] * (
        number < last
    )
    row: tuple[Button, ...] = tuple(
        make_button(asked.who, label, action, str(n)) for label, n in turns
    )
    return OutboundMessage(spans=tuple(spans), buttons=(row,) if row else ())


def _count_by_category(view: View) -> dict[str, int]:
    """Return the counts of memories by category, sorted by name."""
    found = {name: view.count(name, state=State.ACTIVE) for name in view.stats().by_category}
    return {name: found[name] for name in sorted(found) if found[name]}


def _list_slice(view: View, counts: dict[str, int], skipped: int, size: int) -> Iterator[Memory]:
    """Yield memories category by category, without reading skipped categories."""
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


# /undo and its buttons: find the last change in the history. A change is one write, which may
# forget several memories.

ChangeTimes = list[tuple[datetime, str]]  # times of change and ids of memories, newest first
_PERSON_PREFIXES = ("ext:", "acct:")  # of actors that are people, not the system or an operator
_VISIBILITY_PREFIX = "visibility "
_ADDING_EVENTS = (HistoryEvent.ADD, HistoryEvent.CONSENT, HistoryEvent.RESTORE)
_NON_TEXT_DETAILS = frozenset({"fields", "also"})  # details of changes other than the content


@dataclass(frozen=True, slots=True, kw_only=True)
class LastChange:
    """The last change of a memory, made by a person."""

    memory: Memory
    entry: HistoryEntry
    before: tuple[HistoryEntry, ...]


def run_undo(asked: CommandRequest) -> list[OutboundMessage]:
    """/undo. A second one undoes the first."""
    changed = _list_change_times(asked.view)
    done = _find_last_changes(asked.view, changed)
    if not done or _was_before_unlinking(asked, done[0].entry.at):
        return reply(texts.NOTHING_TO_UNDO)
    replaced = _find_replaced_contents(asked.view, changed, done)
    undone = (_undo_change(asked, one, replaced.get(one.memory.id)) for one in done)
    lines = [span for line in undone for span in (Span("\n"), *line)]
    return [make_message(*lines[1:])]


def _was_before_unlinking(asked: CommandRequest, at: datetime) -> bool:
    """Whether a change was before an unlinking: later changes in the other account are not visible
    here, so this may not be the person's last one."""
    own = f"ext:{asked.who.key}"
    ended = (one.ended_at for one in asked.memory.admin.links(asked.who.key) if one.source == own)
    return any(end is not None and at < end for end in ended)


def press_undo(asked: CommandRequest) -> list[OutboundMessage]:
    """Undo a new memory with the button under it. Pressed again it does nothing."""
    id, number = asked.words
    version = int(number) if number.isdecimal() and len(number) < 8 else 0
    try:
        memory = asked.view.show(id)
    except NotFound:
        return [_replace_message(texts.UNDONE)]  # the button was pressed before
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
    """Restore forgotten memories with the button under the reply."""
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
    """Return the person's last change; several if they were forgotten in one write, at one time."""
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
    times = {one.memory_id: (one.at, one.revision) for one in _list_newest_changes(view)}
    for one in view.list(state=State.ACTIVE, limit=1):
        times.setdefault(one.id, (one.created_at, 0))
    newest = sorted(times, key=lambda id: times[id], reverse=True)
    return [(times[id][0], id) for id in newest[: limits.CHAT_UNDO_SCANNED_MAX_COUNT]]


def _list_newest_changes(view: View) -> Sequence[Change]:
    """Return the last changes of this chat.

    A delta has a maximum and lists the oldest first, so a full one may lack the newest. Then a
    binary search finds a later start from which all changes fit.
    """
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
        return None  # the memory that replaced it is the change
    return LastChange(memory=memory, entry=entries[-1], before=tuple(entries[:-1]))


def _find_replaced_contents(
    view: View, changed: ChangeTimes, done: Sequence[LastChange]
) -> dict[str, str]:
    """Map added memories to the content of the one that each replaced in the same write."""
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
        # Other causes were checked before: this update did it already, before a crash.
        return format_text(texts.UNDONE)
    return format_text(texts.CANNOT_UNDO)


def _is_key_taken(view: View, memory: Memory) -> bool:
    return memory.key is not None and view.get(memory.category, memory.key) is not None


def _previous_content(last: LastChange) -> str | None:
    """Return the earlier content if only the content changed."""
    if last.entry.event is not HistoryEvent.UPDATE or not last.entry.detail.keys().isdisjoint(
        _NON_TEXT_DETAILS
    ):
        return None
    return _content_before_version(last.before, last.entry.version)


def _content_before_version(entries: Sequence[HistoryEntry], version: int) -> str | None:
    return next((e.content for e in reversed(entries) if e.version < version and e.content), None)


def _previous_visibility(last: LastChange) -> Visibility | None:
    """Return the visibility that the person set before.

    Without one, a raise goes back to private and a lowering is not undone, so that nothing becomes
    more visible than a person once wanted.
    """
    now = last.entry.detail.get("fields", "")
    if last.entry.event is not HistoryEvent.UPDATE or not now.startswith(_VISIBILITY_PREFIX):
        return None
    for fields in (one.detail.get("fields", "") for one in reversed(last.before)):
        if fields.startswith(_VISIBILITY_PREFIX):
            return Visibility(fields.removeprefix(_VISIBILITY_PREFIX))
    raised = now == f"{_VISIBILITY_PREFIX}{Visibility.PUBLIC_OK}"
    return Visibility.PRIVATE_ONLY if raised else None


def _replace_message(template: str, given: str = "") -> OutboundMessage:
    return replace(make_message(*format_text(template, given)), instead=True)
