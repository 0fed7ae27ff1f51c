"""Slash commands and buttons, in any channel: where each may be used, and its handler."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from itertools import chain, groupby, islice
from typing import Literal

from tacit import Requester, limits
from tacit.bots import phrases, texts
from tacit.bots.last_change import LastChange, content_before_version, find_last_changes
from tacit.bots.messages import (
    Attachment,
    Button,
    ButtonPressed,
    ChannelSender,
    InboundMessage,
    NotSent,
    OpenQuestion,
    OutboundMessage,
    Span,
    TextMessage,
    code_span,
    format_text,
    link_span,
    make_message,
    reply,
    shorten,
    strong_span,
)
from tacit.errors import Conflict, NotFound, StoreError, TacitError, TooManyRequests
from tacit.memory import Memory, View, iter_pages
from tacit.records.memory import ChatKind, HistoryEvent, Sensitivity, State, Visibility
from tacit.records.memory import Memory as Record
from tacit.records.queries import INCLUDE_MEMORIES
from tacit.server.authentication import sign_in_url
from tacit.settings import ConsoleSettings
from tacit.text import show_with_key

_ID_PUNCTUATION = "[](){}<>`'\".,"  # people copy it along with an id


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    memory: Memory
    view: View
    message: InboundMessage
    words: tuple[str, ...]  # arguments of the command or the button
    sender: ChannelSender  # for messages to another person
    on_send: Callable[[str], None]  # is told the key of that person
    console: ConsoleSettings

    @property
    def who(self) -> Requester:
        """The sender, who is known in all commands but the public ones."""
        assert self.message.who is not None
        return self.message.who

    @property
    def private(self) -> bool:
        return self.message.private

    def idempotent_view(self, action: str) -> View:
        """Return a view for one write, which a repeated update does not repeat."""
        return self.view.once(f"{self.message.key}/{action}")


# Buttons. Their data contains an action, ids and a tag of the person, never text of a memory.


class ButtonAction(StrEnum):
    PAGE = "m"
    PAGE_VISIBILITY = "mv"
    FORGET = "d"
    UNDO = "u"
    RESTORE = "r"
    ERASE_ALL = "w"
    LINK = "l"
    LINK_ACCEPT = "la"


_TAG_CHARS = 8
_NUMBER_MAX_CHARS = 7


def make_button(who: Requester, label: str, action: ButtonAction, *words: str) -> Button:
    """Make a button that only this person can press: its data ends with their tag."""
    return Button(label=label, data=":".join((action, *words, _person_tag(who))))


def make_undo_button(who: Requester, id: str, version: int = 1) -> Button:
    """Make a button that undoes a new memory while it still has this version."""
    return make_button(who, texts.UNDO, ButtonAction.UNDO, id, str(version))


def _person_tag(who: Requester) -> str:
    return hashlib.sha256(f"tacit button {who.key}".encode()).hexdigest()[:_TAG_CHARS]


def _parse_number(word: str, otherwise: int) -> int:
    return int(word) if word.isdecimal() and len(word) <= _NUMBER_MAX_CHARS else otherwise


# Memories in lists.


def _format_with_key(memory: Record) -> str:
    return show_with_key(memory.key, memory.content)


def _format_briefly(memory: Record) -> str:
    return shorten(_format_with_key(memory))


def _find_content(view: View, id: str) -> str | None:
    try:
        return _format_with_key(view.show(id))
    except NotFound:
        return None


# /memory and /mem: list memories in pages, and set their visibility.

_VISIBILITIES = {"public": Visibility.PUBLIC_OK, "private": Visibility.PRIVATE_ONLY}


def _run_memory(asked: CommandRequest) -> OutboundMessage:
    """/memory, /memory list, /memory delete <id>"""
    match asked.words:
        case () | ("list",):
            return _format_page(asked, 1, ButtonAction.PAGE)
        case ("delete" | "del", id):
            return _forget_by_id(asked, id)
    return reply(texts.HOW_TO_DELETE)


def _run_mem(asked: CommandRequest) -> OutboundMessage:
    """/mem, /mem del <id>, /mem vis <id> <public|private>"""
    match asked.words:
        case () | ("list",):
            return _format_page(asked, 1, ButtonAction.PAGE_VISIBILITY)
        case ("vis", id, ("public" | "private") as name):
            return _set_visibility(asked, id.strip(_ID_PUNCTUATION), _VISIBILITIES[name])
        case ("vis", *_):
            return reply(texts.HOW_TO_SET_VISIBILITY)
    return _run_memory(asked)


def _set_visibility(asked: CommandRequest, id: str, wanted: Visibility) -> OutboundMessage:
    asked.idempotent_view("vis").set_visibility(id, wanted)
    if wanted is Visibility.PRIVATE_ONLY:
        return reply(texts.NOW_PRIVATE)
    now = asked.view.show(id)
    sensitive = now.sensitivity is Sensitivity.SENSITIVE
    withheld = sensitive or now.inferred or now.withheld_unknown
    return reply(texts.STILL_WITHHELD if withheld else texts.NOW_PUBLIC)


def _press_page(asked: CommandRequest, action: ButtonAction) -> OutboundMessage:
    (number,) = asked.words
    return _format_page(asked, max(1, _parse_number(number, 1)), action)


def _format_page(asked: CommandRequest, number: int, action: ButtonAction) -> OutboundMessage:
    """Format a page, counted anew so that a button needs only its number; the last if beyond."""
    categories = sorted(asked.view.stats().by_category)
    total = sum(asked.view.count(name, state=State.ACTIVE) for name in categories)
    if not total:
        return make_message(texts.NO_MEMORIES)
    size = limits.CHAT_LISTED_COUNT
    last = -(-total // size)
    number = min(number, last)
    read = min(number * size, limits.PAGE_MAX_COUNT)
    every = chain.from_iterable(_list_category(asked.view, name, read) for name in categories)
    shown = islice(every, (number - 1) * size, number * size)
    labels = {
        Visibility.PRIVATE_ONLY: texts.LABEL_PRIVATE,
        Visibility.ROOM: texts.LABEL_ROOM,
        Visibility.PUBLIC_OK: texts.LABEL_PUBLIC,
    }
    spans = [strong_span(texts.LIST_TITLE)]
    for category, group in groupby(shown, key=lambda one: one.category):
        spans += [Span("\n\n"), strong_span(category.replace("_", " ").title())]
        for one in group:
            spans += [Span("\n• ["), code_span(one.id), Span(f"] {_format_briefly(one)}")]
            if action is ButtonAction.PAGE_VISIBILITY:
                spans.append(Span(f" ({labels[one.visibility]})"))
    ending = texts.LIST_ENDING if action is ButtonAction.PAGE else texts.VISIBILITY_ENDING
    turns = [(texts.PREVIOUS_PAGE, number - 1), (texts.NEXT_PAGE, number + 1)]
    row = tuple(make_button(asked.who, label, action, str(n)) for label, n in turns if 1 <= n <= last)
    return make_message(*spans, "\n\n", *format_text(ending), buttons=(row,) if row else ())


def _list_category(view: View, category: str, read: int) -> Iterator[Record]:
    """Yield memories, reading only so many at a time."""
    return iter_pages(lambda cursor: view.list(category, state=State.ACTIVE, limit=read, cursor=cursor))


# /forget: by id, by words, or everything.

_OWN_WORDS = frozenset({"my", "mein", "meine", "meinen"})


def _run_forget(asked: CommandRequest) -> OutboundMessage:
    """/forget <id>, and in private /forget <words> and /forget everything"""
    match asked.words:
        case ():
            return reply(texts.HOW_TO_FORGET)
        case (word,) if not asked.private and word not in phrases.load_phrases().words["everything"]:
            return _forget_by_id(asked, word)
        case _ if not asked.private:
            return reply(texts.PRIVATE_ONLY)
        case (word,) if word.lower() in phrases.load_phrases().words["everything"]:
            return _ask_to_erase_all(asked)
        case (word,):
            with suppress(NotFound):  # no id, or that of another person's memory: it is a word
                return _forget_by_id(asked, word)
    return _forget_by_words(asked, " ".join(asked.words))


def _forget_by_id(asked: CommandRequest, word: str) -> OutboundMessage:
    """Forget a memory; in a group the reply does not show its content."""
    id = word.strip(_ID_PUNCTUATION)
    content = _find_content(asked.view, id)
    asked.idempotent_view("forget").forget(id)
    text = texts.DELETED_HERE
    if asked.private and content is not None:
        text = texts.DELETED.format(shorten(content))
    return make_message(text, buttons=_restore_buttons(asked, [id]))


def _forget_all(asked: CommandRequest, ids: Sequence[str]) -> OutboundMessage:
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
                content = _format_with_key(asked.view.show(id))
                asked.idempotent_view(f"forget/{id}").forget(id)
                forgotten[id] = content
    if not forgotten and not declined:
        return reply(texts.NO_SUCH_MEMORY)
    lines = [texts.DECLINED.format(shorten(one)) for one in declined]
    told = "\n".join([*lines, *(texts.FORGOTTEN.format(shorten(one)) for one in forgotten.values())])
    if not forgotten:
        return make_message(told)
    restorable = format_text(texts.RESTORABLE_ONE if len(forgotten) == 1 else texts.RESTORABLE)
    return make_message(told, *restorable, buttons=_restore_buttons(asked, list(forgotten)))


def _restore_buttons(asked: CommandRequest, ids: Sequence[str]) -> tuple[tuple[Button, ...], ...]:
    return ((make_button(asked.who, texts.UNDO, ButtonAction.RESTORE, ",".join(ids)),),)


def _press_forget(asked: CommandRequest) -> OutboundMessage:
    (id,) = asked.words
    waits = id in {one.id for one in asked.view.proposals.list()}
    return _forget_all(asked, [id]) if waits else _forget_by_id(asked, id)


def _answer_which(asked: CommandRequest, question: OpenQuestion) -> OutboundMessage | None:
    """Handle a reply in words to the list; None if it is no reply."""
    (text,) = asked.words
    if question.erases_all:
        return _answer_erase_all(asked, text)
    if phrases.parse_plain_command(text) == (phrases.FORGET_COMMAND, (phrases.EVERYTHING,)):
        return None  # "everything" means more than this list
    words = [phrases.distinctive_words(_find_content(asked.view, id) or "") for id in question.ids]
    decision = phrases.parse_decision(text, words, forgets=True)
    if decision is None or decision.says_more:
        return None
    if decision == phrases.UNCLEAR or (decision.bare and decision.yes and len(question.ids) > 1):
        return make_message(texts.SAY_NUMBERS, asks=question)
    chosen = [id for place, id in enumerate(question.ids) if place in decision.yes]
    return _forget_all(asked, chosen) if chosen else reply(texts.NOTHING_FORGOTTEN)


def _press_erase_all(asked: CommandRequest) -> OutboundMessage:
    return _erase_all(asked) if asked.words == ("y",) else reply(texts.KEPT_ALL)


def _answer_erase_all(asked: CommandRequest, text: str) -> OutboundMessage | None:
    """Handle a reply in words. It cannot be undone, so an "ok" alone is asked about again."""
    decision = phrases.parse_decision(text, [frozenset()], forgets=True)
    if decision is None or decision.says_more:
        return None
    if decision.no:
        return reply(texts.KEPT_ALL)
    certain = decision.yes and decision.certain
    return _erase_all(asked) if certain else _ask_to_erase_all(asked)


def _erase_all(asked: CommandRequest) -> OutboundMessage:
    return reply(texts.ERASED_ALL, asked.idempotent_view("wipe").wipe().count)


def _ask_to_erase_all(asked: CommandRequest) -> OutboundMessage:
    yes = make_button(asked.who, texts.ERASE_ALL, ButtonAction.ERASE_ALL, "y")
    no = make_button(asked.who, texts.KEEP_ALL, ButtonAction.ERASE_ALL, "n")
    asks = OpenQuestion(ids=(), erases_all=True)
    return make_message(*format_text(texts.ASK_TO_ERASE_ALL), buttons=((yes, no),), asks=asks)


def _forget_by_words(asked: CommandRequest, words: str) -> OutboundMessage:
    """Forget the one memory that has all distinctive words, or several if a name or "all" is said.

    Otherwise ask which one is meant.
    """
    if len(words) > limits.QUERY_MAX_CHARS:
        return reply(texts.HOW_TO_FORGET)
    wanted = phrases.distinctive_words(words) - phrases.load_phrases().words["forget_fillers"]
    recalled = asked.view.recall(
        words, top_k=limits.CHAT_NEWEST_MEMORIES_COUNT, user=asked.who.key, include=[INCLUDE_MEMORIES]
    )
    close = {one.memory.id: _format_with_key(one.memory) for one in recalled if phrases.is_relevant(one)}
    found = _find_by_words(asked.view, wanted, [one.memory for one in recalled])
    if len(found) == 1 or _means_all(words, wanted, list(found.values())):
        return _forget_all(asked, list(found))
    choices = found or close
    return _ask_which(asked, choices) if choices else reply(texts.NOTHING_TO_FORGET)


def _find_by_words(view: View, wanted: frozenset[str], recalled: Sequence[Record]) -> dict[str, str]:
    """Return memories and proposals with all of these words: contents by id.

    The words of a memory are those of its content, key and slot: "my timezone".
    """
    if not wanted:
        return {}
    own = view.list(state=State.ACTIVE, limit=limits.PAGE_MAX_COUNT)
    every = {one.id: one for one in (*recalled, *own)}
    contents = {id: _format_with_key(one) for id, one in every.items()}
    slots = {id: (one.slot or "").replace("_", " ") for id, one in every.items()}
    waiting = {one.id: one.content for one in view.proposals.list() if not one.widens}
    return {
        id: content
        for id, content in (contents | waiting).items()
        if wanted <= phrases.distinctive_words(f"{content} {slots.get(id, '')}")
    }


def _means_all(words: str, wanted: frozenset[str], found: Sequence[str]) -> bool:
    """Whether all results are meant: "all" was said, or only a name that each of them contains."""
    said = set(words.casefold().split())
    if not found or len(found) > limits.CHAT_CHOICES_COUNT:
        return False
    by_name = all(wanted <= phrases.capitalized_words(one) for one in found)
    every = not said.isdisjoint(phrases.load_phrases().words["everything"])
    return every or (by_name and said.isdisjoint(_OWN_WORDS))


def _ask_which(asked: CommandRequest, found: Mapping[str, str]) -> OutboundMessage:
    several = len(found) > 1
    spans = [Span(texts.WHICH_TO_FORGET if several else texts.FORGET_THIS)]
    ids = tuple(islice(found, limits.CHAT_CHOICES_COUNT))
    rows = []
    for number, id in enumerate(ids, start=1):
        spans += [Span(f"\n{number}. ["), code_span(id), Span(f"] {shorten(found[id])}")]
        label = texts.FORGET_NUMBER.format(number)
        rows.append((make_button(asked.who, label, ButtonAction.FORGET, id),))
    ending = texts.SAY_NUMBERS if several else texts.SAY_YES_OR_NO
    asks = OpenQuestion(ids=ids, forgets=True)
    return make_message(*spans, f"\n{ending}", buttons=tuple(rows), asks=asks)


# /undo and its buttons.

_ADDING_EVENTS = (HistoryEvent.ADD, HistoryEvent.CONSENT, HistoryEvent.RESTORE)


def _run_undo(asked: CommandRequest) -> OutboundMessage:
    """/undo. A second one undoes the first."""
    done = find_last_changes(asked.view)
    if not done or _was_before_unlinking(asked, done[0].entry.at):
        return reply(texts.NOTHING_TO_UNDO)
    lines = [span for one in done for span in (Span("\n"), *_undo_change(asked, one))]
    return make_message(*lines[1:])


def _was_before_unlinking(asked: CommandRequest, at: datetime) -> bool:
    """Whether a change was before an unlinking: later changes in the other account are not visible
    here, so this may not be the person's last one."""
    own = f"ext:{asked.who.key}"
    ended = (one.ended_at for one in asked.memory.admin.links(asked.who.key) if one.source == own)
    return any(end is not None and at < end for end in ended)


def _press_undo(asked: CommandRequest) -> OutboundMessage:
    """Undo a new memory with the button under it. Pressed again it does nothing."""
    id, number = asked.words
    version = _parse_number(number, 0)
    try:
        memory = asked.view.show(id)
    except NotFound:
        return reply(texts.UNDONE)  # the button was pressed before
    if memory.state is not State.ACTIVE:
        return reply(texts.UNDONE)
    if memory.version != version:
        return reply(texts.CHANGED_SINCE)
    earlier = content_before_version(asked.view.history(id), version)
    if earlier is None:
        asked.idempotent_view("undo").forget(id)
    else:
        asked.idempotent_view("undo").update(id, earlier)
    if not asked.private:
        return reply(texts.UNDONE)
    if earlier is None:
        return reply(texts.REMOVED, _format_briefly(memory))
    return reply(texts.REWORDED, shorten(earlier))


def _press_restore(asked: CommandRequest) -> OutboundMessage:
    """Restore forgotten memories with the button under the reply."""
    ids = asked.words[0].split(",")
    try:
        for id in ids:
            asked.idempotent_view(f"restore/{id}").restore(id)
    except Conflict:
        return reply(texts.CHANGED_SINCE)
    if not asked.private:
        return reply(texts.UNDONE)
    return reply(texts.RESTORED, "', '".join(_format_briefly(asked.view.show(id)) for id in ids))


def _undo_change(asked: CommandRequest, last: LastChange) -> tuple[Span, ...]:
    memory, event = last.memory, last.entry.event
    once = asked.idempotent_view(f"undo/{memory.id}")
    try:
        if event is HistoryEvent.DELETE and not _is_key_taken(asked.view, memory):
            once.restore(memory.id)
            return format_text(texts.RESTORED, _format_briefly(memory))
        if event in _ADDING_EVENTS and last.replaced is None:
            once.forget(memory.id)
            return format_text(texts.REMOVED, _format_briefly(memory))
        earlier = last.previous_content()
        if earlier is not None:
            once.update(memory.id, earlier)
            return format_text(texts.REWORDED, shorten(earlier))
        visibility = last.previous_visibility()
        if visibility is not None:
            once.set_visibility(memory.id, visibility)
            public = visibility is Visibility.PUBLIC_OK
            return format_text(texts.NOW_PUBLIC if public else texts.NOW_PRIVATE)
    except Conflict:
        # Other causes were checked before: this update did it already, before a crash.
        return format_text(texts.UNDONE)
    return format_text(texts.CANNOT_UNDO)


def _is_key_taken(view: View, memory: Record) -> bool:
    return memory.key is not None and view.get(memory.category, memory.key) is not None


# /link and /unlink: link two accounts with a one-time code and a confirmation on both sides.

_MARK_CHARS = 8


def _run_link(asked: CommandRequest) -> OutboundMessage:
    """/link, /link CODE, /link yes, /link no"""
    match tuple(word.lower() for word in asked.words):
        case ():
            return _offer_link(asked)
        case ("yes",):
            return _confirm_link(asked)
        case ("no",):
            return _refuse_link(asked)
    code_said = "".join(filter(str.isalnum, "".join(asked.words))).upper()
    if len(code_said) != limits.LINK_CODE_CHARS or not code_said.isascii():
        return reply(texts.LINK_CODE_INVALID)
    yes = make_button(asked.who, texts.LINK_BOTH_MINE, ButtonAction.LINK_ACCEPT, code_said)
    no = make_button(asked.who, texts.NO_BUTTON, ButtonAction.LINK, "x")
    return make_message(texts.LINK_CONFIRM, buttons=((yes, no),))


def _press_link(asked: CommandRequest) -> OutboundMessage:
    (word,) = asked.words
    if word == "c":  # the message with the code stays
        return _ask_pending_link(asked) or make_message(texts.LINK_NOT_YET)
    if word.startswith("y"):
        told = _confirm_link(asked, word)
    else:
        told = _refuse_link(asked) if word == "n" else reply(texts.NOT_LINKED)
    return replace(told, instead=True)


def _press_link_accept(asked: CommandRequest) -> OutboundMessage:
    """Accept a code. Nothing is shared before the other account confirms."""
    (given,) = asked.words
    try:
        waiting = asked.idempotent_view("link").account.accept_link(given)
    except NotFound:
        return reply(texts.LINK_CODE_INVALID)
    except TooManyRequests as wait:
        return reply(texts.LINK_TOO_MANY, -(-wait.retry_after_seconds // 60))
    except Conflict:
        return reply(texts.LINK_TAKEN)
    # If the other account is on another channel, its next /link asks for the confirmation.
    question = _ask_to_link(Requester(waiting.identity), asked.who.key)
    _tell_other_account(asked, waiting.identity, question)
    stop = make_button(asked.who, texts.LINK_STOP, ButtonAction.LINK, "n")
    return make_message(texts.LINK_WAITS, code_span(waiting.identity), ".", buttons=((stop,),))


def _run_unlink(asked: CommandRequest) -> OutboundMessage:
    try:
        asked.idempotent_view("unlink").account.unlink()
    except NotFound:
        return reply(texts.NOTHING_TO_UNLINK)
    return reply(texts.UNLINKED)


def _offer_link(asked: CommandRequest) -> OutboundMessage:
    """Ask a pending confirmation again, or offer a new code if there is none."""
    pending = _ask_pending_link(asked)
    if pending is not None:
        return pending
    offer = asked.view.account.offer_link()
    how = texts.LINK_OFFER.format(limits.LINK_CODE_MINUTES)
    sent = make_button(asked.who, texts.LINK_SENT, ButtonAction.LINK, "c")
    return make_message(texts.LINK_CODE, code_span(offer.code), how, buttons=((sent,),))


def _ask_pending_link(asked: CommandRequest) -> OutboundMessage | None:
    waiting = asked.view.account.pending_link()
    return None if waiting is None else _ask_to_link(asked.who, waiting.identity)


def _ask_to_link(who: Requester, other: str) -> OutboundMessage:
    yes = make_button(who, texts.LINK_BOTH_MINE, ButtonAction.LINK, _yes_argument(other))
    no = make_button(who, texts.NO_BUTTON, ButtonAction.LINK, "n")
    return make_message(code_span(other), texts.LINK_ASKED, buttons=((yes, no),))


def _yes_argument(other: str) -> str:
    """Return a button argument that confirms only this identity."""
    return f"y{hashlib.sha256(other.encode()).hexdigest()[:_MARK_CHARS]}"


def _tell_other_account(asked: CommandRequest, other: str, what: OutboundMessage) -> None:
    """Send a private message to the other account if it is on this channel."""
    if other.partition(":")[0] == asked.message.channel:
        asked.on_send(other)
        with suppress(NotSent):
            asked.sender.send(asked.message.chat, Requester(other), replace(what, alone=True))


def _confirm_link(asked: CommandRequest, meant: str | None = None) -> OutboundMessage:
    """Confirm the link, and warn the other account, which may have been tricked into it."""
    waiting = asked.view.account.pending_link()
    if waiting is not None and meant not in (None, _yes_argument(waiting.identity)):
        return reply(texts.LINK_NOTHING_WAITS)
    try:
        asked.idempotent_view("link").account.confirm_link()
    except NotFound:
        return reply(texts.LINK_NOTHING_WAITS)
    except Conflict:
        return reply(texts.LINK_TAKEN)
    if waiting is not None:
        warning = format_text(texts.LINKED_WARNING)
        now = make_message(texts.LINKED_WITH, code_span(asked.who.key), *warning)
        _tell_other_account(asked, waiting.identity, now)
    return reply(texts.LINKED)


def _refuse_link(asked: CommandRequest) -> OutboundMessage:
    asked.idempotent_view("link").account.refuse_link()
    return reply(texts.NOT_LINKED)


# /start, /help, /id, /privacy, /export, /console, /confidential


def _run_start(asked: CommandRequest) -> OutboundMessage:
    if not asked.private:
        return reply(texts.WELCOME_GROUP)
    model = () if asked.memory.llm.available else (texts.WELCOME_WITHOUT_MODEL,)
    return reply("\n\n".join((texts.WELCOME, *model, _help_text(asked))))


def _run_help(asked: CommandRequest) -> OutboundMessage:
    return reply(_help_text(asked) if asked.private else texts.HELP_GROUP)


def _help_text(asked: CommandRequest) -> str:
    offered = asked.console.enabled and asked.console.url
    return texts.HELP + (texts.HELP_CONSOLE if offered else "")


def _run_id(asked: CommandRequest) -> OutboundMessage:
    """Show the id of the chat; the person's key only in private."""
    chat = asked.message.chat
    spans: list[str | Span] = ["chat ", code_span(chat.id), f", {chat.kind}"]
    if asked.private and asked.message.who is not None:
        spans += ["\nyou ", code_span(asked.who.key)]
    return make_message(*spans)


def _run_privacy(asked: CommandRequest) -> OutboundMessage:
    if not asked.private:
        return reply(texts.PRIVACY_GROUP)
    return reply(texts.PRIVACY, asked.view.count(state=State.ACTIVE))


def _run_export(asked: CommandRequest) -> OutboundMessage:
    match asked.words:
        case ():
            lines, name = asked.view.export(everything=True), "memories.jsonl"
        case ("markdown" | "md",):
            lines, name = asked.view.export(format="markdown"), "memories.md"
        case _:
            return reply(texts.EXPORT_FORMS)
    found, size = [], 0
    for line in lines:
        size += len(line) + 1
        if size > limits.CHAT_EXPORT_MAX_CHARS:
            return reply(texts.EXPORT_TOO_LARGE)
        found.append(line)
    file = Attachment(name=name, text="\n".join(found) + "\n")
    return replace(make_message(texts.EXPORT_READY), attachment=file)


def _run_console(asked: CommandRequest) -> OutboundMessage:
    where = asked.console.url if asked.console.enabled else ""
    if not where:
        return reply(texts.NO_CONSOLE)
    offered = asked.memory.console.create_link(person=asked.who.key)
    minutes = asked.console.link_minutes
    text = texts.CONSOLE_LINK.format("a minute" if minutes == 1 else f"{minutes} minutes")
    return replace(make_message(text, link_span(sign_in_url(where, offered.token))), alone=True)


def _run_confidential(asked: CommandRequest) -> OutboundMessage:
    """Let an admin of the group set whether it is confidential."""
    chat = asked.message.chat
    if chat.kind is not ChatKind.GROUP:
        return reply(texts.GROUPS_ONLY)
    if asked.words not in ((), ("on",), ("off",)):
        return reply(texts.HOW_CONFIDENTIAL)
    if not asked.sender.is_admin(chat, asked.who):
        return reply(texts.ADMINS_ONLY)
    on = asked.words != ("off",)
    asked.memory.chats.set_confidential(chat.id, on)
    return reply(texts.CONFIDENTIAL if on else texts.NOT_CONFIDENTIAL)


CommandHandler = Callable[[CommandRequest], OutboundMessage | None]
# "public": anywhere, also for unknown senders.
COMMANDS: Mapping[str, tuple[Literal["public", "private", "anywhere"], CommandHandler]] = {
    "start": ("public", _run_start),
    "help": ("public", _run_help),
    "id": ("public", _run_id),
    "mem": ("private", _run_mem),
    "memory": ("private", _run_memory),
    "undo": ("private", _run_undo),
    "export": ("private", _run_export),
    "link": ("private", _run_link),
    "unlink": ("private", _run_unlink),
    "console": ("private", _run_console),
    "forget": ("anywhere", _run_forget),
    "privacy": ("anywhere", _run_privacy),
    "confidential": ("anywhere", _run_confidential),
}


def _in_place(handler: Callable[[CommandRequest], OutboundMessage]) -> CommandHandler:
    """Replace the message with the button by the reply."""
    return lambda asked: replace(handler(asked), instead=True)


_BUTTON_HANDLERS: Mapping[ButtonAction, CommandHandler] = {
    ButtonAction.PAGE: _in_place(partial(_press_page, action=ButtonAction.PAGE)),
    ButtonAction.PAGE_VISIBILITY: _in_place(partial(_press_page, action=ButtonAction.PAGE_VISIBILITY)),
    ButtonAction.FORGET: _in_place(_press_forget),
    ButtonAction.UNDO: _in_place(_press_undo),
    ButtonAction.RESTORE: _in_place(_press_restore),
    ButtonAction.ERASE_ALL: _in_place(_press_erase_all),
    ButtonAction.LINK: _press_link,
    ButtonAction.LINK_ACCEPT: _in_place(_press_link_accept),
}
# The others work only in a private chat.
_BUTTONS_ANYWHERE = (ButtonAction.UNDO, ButtonAction.RESTORE)


@dataclass(frozen=True, slots=True)
class Commands:
    """Run commands and buttons. Raises only storage errors, after which a retry is safe."""

    memory: Memory
    console: ConsoleSettings = field(default_factory=ConsoleSettings)
    on_send: Callable[[str], None] = lambda _: None  # before a message to another person

    def run(self, view: View, said: TextMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        found = phrases.parse_command(said.text)
        if found is None or said.edited:
            return []  # an edited command was run when it was first sent
        where, handler = COMMANDS.get(found[0], (None, None))
        if handler is None:  # in a group it may be meant for another bot
            replies = [reply(texts.UNKNOWN_COMMAND)] if said.private else []
        elif where != "public" and (not view.enabled or said.who is None):
            replies = [reply(texts.MEMORY_DISABLED)]
        elif where == "private" and not said.private:
            replies = [reply(texts.PRIVATE_ONLY)]
        else:
            replies = self._act(handler, view, said, outlet, found[1])
        return replies if said.private else [replace(one, answers=said.message) for one in replies]

    def press(self, view: View, pressed: ButtonPressed, outlet: ChannelSender) -> list[OutboundMessage] | None:
        """Handle a button; return None for an unknown one, nothing for another person's."""
        name, *words = pressed.data.split(":")
        if name not in {*ButtonAction}:
            return None
        action = ButtonAction(name)
        if len(words) != (3 if action is ButtonAction.UNDO else 2):
            return None
        if pressed.who is None or words[-1] != _person_tag(pressed.who) or not view.enabled:
            return []
        if action not in _BUTTONS_ANYWHERE and not pressed.private:
            return []
        return self._act(_BUTTON_HANDLERS[action], view, pressed, outlet, tuple(words[:-1]))

    def choose(
        self, view: View, said: TextMessage, outlet: ChannelSender, question: OpenQuestion
    ) -> list[OutboundMessage]:
        """Handle a reply to the question what to forget or erase; empty if it is no such reply."""
        if not view.enabled or said.who is None or not said.private:
            return []
        handler = partial(_answer_which, question=question)
        return self._act(handler, view, said, outlet, (said.text,))

    def _act(
        self,
        handler: CommandHandler,
        view: View,
        message: InboundMessage,
        outlet: ChannelSender,
        words: tuple[str, ...],
    ) -> list[OutboundMessage]:
        """Turn errors into replies. A missing and a forbidden memory get the same one."""
        asked = CommandRequest(
            memory=self.memory,
            view=view,
            message=message,
            words=words,
            sender=outlet,
            on_send=self.on_send,
            console=self.console,
        )
        try:
            told = handler(asked)
        except StoreError:
            raise
        except NotFound:
            told = reply(texts.NO_SUCH_MEMORY)
        except TacitError:
            told = reply(texts.NOT_POSSIBLE)
        return [] if told is None else [told]
