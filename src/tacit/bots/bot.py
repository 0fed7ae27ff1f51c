"""The bot behind every channel: handle inbound messages, with or without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from tacit import limits
from tacit.bots import phrases, texts
from tacit.bots.agent import Agent
from tacit.bots.commands import Commands, make_undo_button
from tacit.bots.consent import Consent
from tacit.bots.conversations import OpenQuestions, RecentTurn, RecentTurns, list_learned_from, prompt_name
from tacit.bots.messages import (
    BotLog,
    ButtonPressed,
    ChannelSender,
    ChatMoved,
    InboundMessage,
    MembersJoined,
    MembersLeft,
    MessageDeleted,
    OpenQuestion,
    OutboundMessage,
    Quote,
    Span,
    TextMessage,
    format_text,
    make_message,
    reply,
    shorten,
    strong_span,
)
from tacit.clock import Clock, system_clock
from tacit.errors import Conflict, InvalidInput, StoreError, TacitError
from tacit.memory import Memory, View
from tacit.records.conversation import Message, Role
from tacit.records.memory import ChatKind, State
from tacit.records.memory import Memory as Record
from tacit.records.queries import INCLUDE_MEMORIES
from tacit.records.request import Requester
from tacit.records.results import Accepted, Bullet, Recalled
from tacit.settings import ChatSettings, ConsoleSettings

# Answers without a language model: “remember …”, questions and consent.

MemoryVersions = frozenset[tuple[str, int]]  # ids of memories and their versions
# A name in the question raises the similarity of all memories about that person. Measured with two
# common names and ten questions: relevant memories score 0.65 and above, others rarely.
_CLOSE_MEANING_NAMED = 0.65


@dataclass(frozen=True, slots=True)
class DecisionReply:
    messages: list[OutboundMessage]
    says_more: bool = False  # the message says more than an answer, and must be learned too


@dataclass(frozen=True, slots=True)
class PlainAnswers:
    memory: Memory
    consent: Consent

    def snapshot_versions(self, view: View, said: TextMessage) -> MemoryVersions:
        """Return the memories before a request to remember is learned in a group.

        A view of a group does not tell which message a memory is from, so new ones are found by
        comparison.
        """
        if said.private or not phrases.asks_to_remember(said.text):
            return frozenset()
        return frozenset((one.id, one.version) for one in _list_newest(view))

    def reply(self, view: View, said: TextMessage, asked: OpenQuestion | None) -> DecisionReply | None:
        """Apply a yes, a no or numbers to the open question; return None if it is no such answer.

        An unclear answer is asked about again.
        """
        if said.who is None:
            return None
        waiting = self.consent.list_pending(view, said.who)
        if asked is not None and (asked.forgets or asked.erases_all):
            asked = None  # that question is not about proposals
        ids = asked.ids if asked is not None else ()
        shown = ids or tuple(one.id for one in waiting)
        words = {one.id: phrases.distinctive_words(one.content, said.who) for one in waiting}
        decision = phrases.parse_decision(
            said.text, [words.get(id, frozenset()) for id in shown], left=asked is not None and asked.is_remainder
        )
        if decision is None or (decision.says_more and (len(shown) > 1 or not ids)):
            return None
        clear = bool(ids)
        if decision.bare:
            clear = clear and not self.consent.has_asked_to_share(view, said.who)
        if decision.says_more and not clear:
            return None
        if not clear or decision == phrases.UNCLEAR:
            again = self.consent.ask(view, said.who, again=True, before=texts.UNCLEAR_REPLY)
            return DecisionReply(again)
        done = self.consent.answer(view, shown, decision, said.key)
        if decision.says_more:
            return DecisionReply([done], says_more=True)
        still_waiting = self.consent.ask(view, said.who, again=True, left=True)
        return DecisionReply([done, *still_waiting])

    def ask_new(self, view: View, said: TextMessage) -> list[OutboundMessage]:
        """Ask about proposals that a message has led to."""
        self._wait_for_learning(said)
        return self.consent.ask(view, said.who)

    def answer(self, view: View, said: TextMessage, before: MemoryVersions, *, learned: bool) -> list[OutboundMessage]:
        """Answer a message that was given to learning, if `learned`."""
        if not view.enabled:
            return [reply(texts.UNKNOWN_SENDER)]
        if not said.text.strip():
            return []
        if phrases.asks_to_remember(said.text):
            if not learned and not said.private:
                return []
            replies = self._confirm_request(view, said, before)
            if replies or phrases.is_plain_request(said.text):
                return replies or self._explain_nothing_kept(said)
        if phrases.asks_about_all(said.text):
            return self._list_everything(view, said)
        if phrases.is_question(said.text):
            return self._answer_question(view, said)
        if learned:
            self._wait_for_learning(said)
        kept = list_learned_from(view, said) if said.private else []
        replies = [_confirm_remembered(said, one) for one in kept]
        replies += self.consent.ask(view, said.who)
        return replies if replies or not said.private else self._answer_small_talk(view, said)

    def _answer_small_talk(self, view: View, said: TextMessage) -> list[OutboundMessage]:
        """Answer every message in a private chat, also one that taught nothing."""
        if self.memory.jobs.pending().turns:
            return [reply(texts.STILL_READING)]
        waiting = self.consent.ask(view, said.who, again=True)
        return waiting or [make_message(phrases.answer_small_talk(said.text) or texts.GOT_IT)]

    def _answer_question(self, view: View, said: TextMessage) -> list[OutboundMessage]:
        found = answer_question(view, said)
        waiting = self.consent.ask_about(view, said.who, said.text)
        if found is None:
            return waiting or [reply(texts.NOTHING_KNOWN)]
        return [found, *waiting]

    def _list_everything(self, view: View, said: TextMessage) -> list[OutboundMessage]:
        """List the person's visible memories and their proposals."""
        found = list_everything_known(view, said)
        waiting = self.consent.ask(view, said.who, again=True, every=True, before=texts.NOT_SAVED_YET)
        if found is not None:
            return [found, *waiting]
        if waiting:
            return waiting
        return [reply(texts.NOTHING_YET if said.private else texts.NOTHING_HERE)]

    def _confirm_request(self, view: View, said: TextMessage, before: MemoryVersions) -> list[OutboundMessage]:
        """Confirm what was stored, as far as it is visible in this chat; empty if nothing was."""
        self._wait_for_learning(said)
        kept = list_learned_from(view, said) if said.private else _list_new(view, said, before)
        asked = self.consent.ask(view, said.who)
        replies = [_confirm_remembered(said, one) for one in kept]
        if not replies and not asked and said.private:
            replies = [make_message(texts.KNOWN_ALREADY, strong_span(one)) for one in _find_same(view, said)]
        return [*replies, *asked]

    def _explain_nothing_kept(self, said: TextMessage) -> list[OutboundMessage]:
        if not said.private:
            return [reply(texts.NOTED_SEE_PRIVATE)]
        late = self.memory.jobs.pending().turns
        return [reply(texts.NOTED_PENDING if late else texts.NOT_UNDERSTOOD)]

    def _wait_for_learning(self, said: TextMessage) -> None:
        with suppress(InvalidInput):  # learning is disabled
            self.memory.jobs.wait_for_learning(limits.CHAT_LEARNED_WAIT_SECONDS, thread=said.conversation)


def answer_question(view: View, said: TextMessage) -> OutboundMessage | None:
    """Answer with relevant memories; None if there are none.

    A question about oneself that finds nothing is repeated with the person's name. Then only
    memories close in meaning count: a match of the name is not enough.
    """
    text = said.text[: limits.CHAT_TEXT_MAX_CHARS]
    found = _recall_bullets(view, text, phrases.is_relevant)
    if not found and phrases.is_about_me(text):
        named = f"{text} {prompt_name(said.who)}"
        found = _recall_bullets(view, named, _is_close)
    if not found:
        return None
    lines = (f"\n• {_bullet_line(one)}" for one in found)
    return make_message(texts.KNOWN_INTRO, *islice(lines, limits.CHAT_RESULTS_COUNT))


def _bullet_line(one: Bullet) -> str:
    line = one.text.partition("] ")[2] or one.text
    is_turn = one.recalled is not None and one.recalled.memory.is_turn
    return line.replace(" the user said: ", " you said: ", 1) if is_turn else line


def _recall_bullets(view: View, query: str, wanted: Callable[[Recalled], bool]) -> list[Bullet]:
    """Return results that match the question itself, not only another result."""
    listed = view.query(query, top_k=limits.CHAT_RESULTS_COUNT, form="full")
    found = {one.id: one for one in listed}.values()
    return [one for one in found if one.recalled is not None and wanted(one.recalled)]


def _is_close(one: Recalled) -> bool:
    return one.signals.meaning >= _CLOSE_MEANING_NAMED


def list_everything_known(view: View, said: TextMessage) -> OutboundMessage | None:
    """The newest of what may be said here: in private, whatever is theirs or about them; where
    others listen, what they said there or is about them."""
    if said.who is None:
        return None
    most = limits.CHAT_ABOUT_ME_COUNT
    if said.private:
        own = list(view.list(state=State.ACTIVE, limit=most + 1))
    else:
        me = f"ext:{said.who.key}"
        own = [one for one in view.list(limit=most + 1) if me in (one.owner, one.speaker)]
    about = view.people.about(said.who.key, limit=most + 1)
    found = {one.id: one for one in (*own, *about) if not one.is_turn}
    if not found:
        return None
    newest = sorted(found.values(), key=lambda one: (one.created_at, one.id))[-most:]
    spans = [Span(f"\n• {_memory_line(one)}") for one in newest]
    more = format_text(f"\n{texts.MORE_KNOWN}") if len(found) > most else ()
    return make_message(texts.KNOWN_INTRO, *spans, *more)


def _memory_line(one: Record) -> str:
    return shorten(one.content if one.key is None else f"{one.key}: {one.content}")


def _find_same(view: View, said: TextMessage) -> list[str]:
    """Return the content of an older memory that says the same: at most one."""
    text = said.text[: limits.CHAT_TEXT_MAX_CHARS]
    found = view.recall(text, top_k=limits.CHAT_RESULTS_COUNT, include=[INCLUDE_MEMORIES])
    contents = (one.memory.content for one in found)
    return [one for one in contents if phrases.covers_content(said.text, one, said.who)][:1]


def _list_new(view: View, said: TextMessage, before: MemoryVersions) -> list[Record]:
    """Return memories that are new since `before`, by the sender, and cover the message."""
    own = None if said.who is None else f"ext:{said.who.key}"
    return [
        one
        for one in _list_newest(view)
        if (one.id, one.version) not in before
        and one.speaker == own
        and phrases.covers_content(said.text, one.content, said.who)
    ]


def _list_newest(view: View) -> Iterable[Record]:
    return view.list(limit=limits.CHAT_NEWEST_MEMORIES_COUNT)


def _confirm_remembered(said: TextMessage, kept: Record) -> OutboundMessage:
    assert said.who is not None
    button = make_undo_button(said.who, kept.id, kept.version)
    return make_message(texts.REMEMBERED, strong_span(kept.content), buttons=((button,),))


# After these commands the recent turns are dropped: they may contain what was just forgotten.
_COMMANDS_THAT_FORGET = frozenset({"confidential", "forget", "link", "mem", "memory", "undo", "unlink"})


class Bot:
    """Handle messages of all chats of a process; one thread at a time per chat.

    Raises only storage errors. A message may then be handled again: nothing is learned twice.
    """

    def __init__(
        self, memory: Memory, how: ChatSettings, clock: Clock = system_clock, *, console: ConsoleSettings | None = None
    ) -> None:
        self._memory, self._recent = memory, RecentTurns(how.recent, clock)
        self._consent, self._questions = Consent(), OpenQuestions()
        self._commands = Commands(memory, console or ConsoleSettings(), self._questions.close)
        self._answers = PlainAnswers(memory, self._consent)
        self.agent = Agent(memory, how, self._recent, self._consent)

    def hear(self, heard: InboundMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        says = self._dispatch(heard, outlet)
        self._questions.record(heard, says)
        return says

    def _dispatch(self, heard: InboundMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        if isinstance(heard, MembersJoined):
            if heard.bot_joined:
                self._memory.chats.leave(heard.chat.id)
                self._recent.reset_chat(heard.chat.id)
            for one in heard.people:
                self._add_member(heard, one)
        elif isinstance(heard, MembersLeft):
            for one in (who for who in heard.people if not who.is_bot):
                self._memory.chats.leave(heard.chat.id, one.key)
                self._recent.remove_person(heard.chat.id, one.key)
        elif isinstance(heard, ChatMoved):
            self._memory.chats.migrate(heard.before, heard.chat.id)
            self._recent.move_chat(heard.before, heard.chat.id)
        elif isinstance(heard, MessageDeleted):
            self._unlearn(self._view(heard), heard, heard.message)
            self._recent.edit_message(heard.chat.id, heard.message)
        elif isinstance(heard, ButtonPressed):
            return self._handle_button(heard, outlet)
        elif isinstance(heard, TextMessage):
            return self._handle_text(_clean_message(heard), outlet)
        return []

    def log_counts(self, log: BotLog, channel: str) -> None:
        """Log at shutdown how often the model called a recall tool."""
        counts = self.agent.counts
        log.tell("talked", channel=channel, turns=counts.turns, with_recall=counts.with_recall)

    def _view(self, heard: InboundMessage) -> View:
        return self._memory.view(heard.who, heard.chat, thread=heard.conversation)

    def _add_member(self, heard: InboundMessage, who: Requester) -> None:
        """Record a member and drop the recent turns, which they have not read.

        A bot is no member of the group in memory, but it reads, so the turns are dropped too. In a
        chat of unknown kind no membership is recorded.
        """
        if not who.is_bot and heard.chat.kind is ChatKind.GROUP:
            self._memory.chats.join(heard.chat.id, who.key)
        self._recent.add_person(heard.chat.id, who.key)

    def _handle_text(self, said: TextMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        if not said.private:
            for one in _list_present(said):
                if not self._recent.has_person(said.chat.id, one.key):
                    self._add_member(said, one)
        view = self._view(said)
        command = phrases.parse_command(said.text)
        if command is not None:
            if said.edited:  # the earlier text of the message is withdrawn
                self._unlearn(view, said, said.message)
                self._recent.edit_message(said.chat.id, said.message)
            return self._run_command(view, said, command[0], outlet)
        if said.edited and not self._handle_edit(view, said):
            return []
        if not said.text.strip() and not said.quoted:
            return []  # no text, such as a picture
        if not said.addressed:
            self._learn(view, said)
            self._add_recent_turn(view, said)
            return []
        answered = self._answer_open_question(view, said, outlet)
        if not answered and self._memory.llm.available:
            answered = self._answer_with_model(view, said)
        elif not answered:
            answered = self._answer_without_model(view, said, outlet)
        if said.private:
            return answered
        return [replace(one, answers=said.message) for one in answered]

    def _run_command(self, view: View, said: TextMessage, name: str, outlet: ChannelSender) -> list[OutboundMessage]:
        own = _own_keys(view, said.who) if name in _COMMANDS_THAT_FORGET else []
        replies = self._commands.run(view, said, outlet)
        self._recent.forget(*own)
        return replies

    def _handle_edit(self, view: View, said: TextMessage) -> bool:
        """Unlearn the earlier text of a message; return whether the new one needs an answer.

        If not, the new text is learned here.
        """
        newest = self._recent.last_message(said.chat.id, said.thread) == said.message
        self._unlearn(view, said, said.message)
        if said.addressed and newest:
            self._recent.edit_message(said.chat.id, said.message)
            return True
        self._learn(view, said)
        self._recent.edit_message(said.chat.id, said.message, said.text)
        return False

    def _answer_with_model(self, view: View, said: TextMessage) -> list[OutboundMessage]:
        answered = self.agent.answer(view, said)
        accepted = None if answered.wrote else self._learn(view, said)
        refused = () if accepted is None else accepted.refused
        if not refused:
            self._add_recent_turn(view, said)
            if not answered.failed and view.enabled and said.who is not None:
                ours = RecentTurn(text=answered.text, who=said.who.key, message=said.message, ours=True)
                self._recent.add(said.chat.id, said.thread, ours)
        asked = self._consent.ask_with_buttons(view, said.who, keeping=not self.agent.asks)
        spans = format_text(answered.text) if answered.failed else (Span(answered.text),)
        return [make_message(*spans), *_refuse_secret(refused), *asked]

    def _answer_open_question(self, view: View, said: TextMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        """Handle a reply to the question what to forget or erase; empty if it is none."""
        question = self._questions.find(said)
        if question is None or not (question.forgets or question.erases_all):
            return []
        own = _own_keys(view, said.who)
        replies = self._commands.choose(view, said, outlet, question)
        if replies:
            self._recent.forget(*own)
        return replies

    def _answer_without_model(self, view: View, said: TextMessage, outlet: ChannelSender) -> list[OutboundMessage]:
        replied = None
        if view.enabled:
            replied = self._answers.reply(view, said, self._questions.find(said))
        if replied is not None and not replied.says_more:
            return replied.messages
        command = None if replied is not None else phrases.parse_plain_command(said.text)
        if command is not None and command[1] and not said.private:
            return [reply(texts.TELL_IN_PRIVATE)]
        if command is not None:
            spelled = replace(said, text=" ".join((f"/{command[0]}", *command[1])))
            return self._run_command(view, spelled, command[0], outlet)
        before = self._answers.snapshot_versions(view, said)
        accepted = self._learn(view, replace(said, text=phrases.as_statement(said.text)))
        refused = () if accepted is None else accepted.refused
        if refused:
            return _refuse_secret(refused)
        if replied is not None:
            return [*replied.messages, *self._answers.ask_new(view, said)]
        return self._answers.answer(view, said, before, learned=bool(accepted))

    def _learn(self, view: View, said: TextMessage) -> Accepted | None:
        """Learn the sender's own text, without quotes."""
        if not said.text.strip() or not view.enabled:
            return None
        step = limits.CONTENT_MAX_CHARS
        whole = said.text[: limits.CHAT_TEXT_MAX_CHARS]
        parts = (whole[start : start + step] for start in range(0, len(whole), step))
        messages = [Message(Role.USER, part, at=said.at, id=said.message) for part in parts if part.strip()]
        try:
            return view.once(f"{said.key}/learn").learn(messages)
        except StoreError:
            raise
        except TacitError:
            return None  # learned before, disabled, or refused

    def _unlearn(self, view: View, heard: InboundMessage, message: str) -> None:
        """Forget what was learned from a message, also what the model stored with a tool."""
        with suppress(Conflict):  # done before
            view.once(f"{heard.key}/unlearn").unlearn(message)

    def _add_recent_turn(self, view: View, said: TextMessage) -> None:
        if view.enabled and said.who is not None:
            turn = RecentTurn(text=said.text, who=said.who.key, name=prompt_name(said.who), message=said.message)
            self._recent.add(said.chat.id, said.thread, turn)

    def _handle_button(self, pressed: ButtonPressed, outlet: ChannelSender) -> list[OutboundMessage]:
        view = self._view(pressed)
        settled = self._consent.handle_button(view, pressed.data, pressed.key)
        if settled is not None:
            # The message with the list was replaced: list again what still waits.
            lists = settled[0].instead and not self._memory.llm.available
            left = self._consent.ask(view, pressed.who, again=True, left=True) if lists else []
            return [*settled, *left]
        own = _own_keys(view, pressed.who)
        replies = self._commands.press(view, pressed, outlet)
        if replies is None:
            return [reply(texts.OLD_BUTTON)]
        self._recent.forget(*own)
        return replies


def _clean_message(said: TextMessage) -> TextMessage:
    """Replace lone surrogates, and treat a fully forwarded message as a quote."""
    passed_on = (Quote(text=said.text),) if said.forwarded and said.text.strip() else ()
    return replace(
        said,
        text="" if said.forwarded else _clean_text(said.text),
        quoted=tuple(replace(one, text=_clean_text(one.text)) for one in (*passed_on, *said.quoted)),
    )


def _clean_text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def _list_present(said: TextMessage) -> list[Requester]:
    """Return all people who are known to be present."""
    some = [one if isinstance(one, Requester) else Requester(one) for one in said.chat.participants]
    return [*some, *((said.who,) if said.who is not None else ())]


def _own_keys(view: View, who: Requester | None) -> list[str]:
    """Return all keys of the person: forgetting applies to all of their accounts."""
    return [] if who is None else [who.key, *view.account.identities()]


def _refuse_secret(kinds: tuple[str, ...]) -> list[OutboundMessage]:
    return [make_message(texts.SECRET_REFUSED.format(kinds=", ".join(kinds)))] if kinds else []
