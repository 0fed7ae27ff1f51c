"""The bot behind every channel: what it does with each thing that is heard, and what it says."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from tacit import limits
from tacit.clock import Clock, system_clock
from tacit.errors import Conflict, StoreError, TacitError
from tacit.memory import DisabledView, Memory, View
from tacit.records.conversation import Message, Role
from tacit.records.memory import ChatKind
from tacit.records.request import Requester
from tacit.records.results import Accepted
from tacit.settings import ChatSettings, ConsoleSettings
from tacit.surfaces.chat import wording
from tacit.surfaces.chat.agent import Agent, name_of
from tacit.surfaces.chat.answers import Answers
from tacit.surfaces.chat.commands import Commands, spelled_out, taken_apart
from tacit.surfaces.chat.consent import Consent
from tacit.surfaces.chat.heard import Came, Heard, Moved, Pressed, Quoted, Said, Unsaid, Went
from tacit.surfaces.chat.questions import ClosingOutlet, OpenQuestions
from tacit.surfaces.chat.recent import Recent, Turn
from tacit.surfaces.chat.say import Outlet, Say, Span, say, worded
from tacit.surfaces.chat.working import Log

# After these, what was said before may be just what is not to be said again.
_FORGETTING = frozenset({"confidential", "forget", "link", "mem", "memory", "undo", "unlink"})


class Bot:
    """One for all chats of a process; each chat is heard by one thread at a time. Raises what went
    wrong with the store, and nothing for what people or models write: then it may be asked again,
    and nothing is learned twice."""

    def __init__(
        self,
        memory: Memory,
        how: ChatSettings,
        clock: Clock = system_clock,
        *,
        console: ConsoleSettings | None = None,  # None: there is none that people reach
    ) -> None:
        self._memory, self._commands = memory, Commands(memory, console or ConsoleSettings())
        self._recent = Recent(how.recent, clock)
        self._consent, self._questions = Consent(), OpenQuestions()
        self._answers = Answers(memory, self._consent)
        self.agent = Agent(memory, how, self._recent, self._consent)

    def hear(self, heard: Heard, outlet: Outlet) -> list[Say]:
        says = self._dispatch(heard, ClosingOutlet(outlet, self._questions))
        self._questions.record(heard, says)
        return says

    def _dispatch(self, heard: Heard, outlet: Outlet) -> list[Say]:
        if isinstance(heard, Came):
            if heard.bot_joined:
                self._memory.left(heard.chat.id)
                self._recent.reset_chat(heard.chat.id)
            for one in heard.people:
                self._add_member(heard, one)
        elif isinstance(heard, Went):
            for one in _people(heard.people):
                self._memory.left(heard.chat.id, one.key)
                self._recent.remove_person(heard.chat.id, one.key)
        elif isinstance(heard, Moved):
            self._memory.migrated(heard.before, heard.chat.id)
            self._recent.move_chat(heard.before, heard.chat.id)
        elif isinstance(heard, Unsaid):
            self._unlearn(self._view(heard), heard, heard.message)
            self._recent.remove_message(heard.chat.id, heard.message)
        elif isinstance(heard, Pressed):
            return self._handle_button(heard, outlet)
        elif isinstance(heard, Said):
            return self._handle_text(_readable(heard), outlet)
        return []

    def log_counts(self, log: Log, channel: str) -> None:
        """For operators, when it stops: how often a model had to look something up."""
        counts = self.agent.counts
        log.tell("talked", channel=channel, turns=counts.turns, with_recall=counts.with_recall)

    def _view(self, heard: Heard) -> View | DisabledView:
        return self._memory.view(heard.who, heard.chat, thread=heard.conversation)

    def _add_member(self, heard: Heard, who: Requester) -> None:
        """Bots are not people, but they listen: they bring a new page all the same. Who is in a
        place of which nobody can tell what it is, is not noted as being in a group."""
        if not who.is_bot and heard.chat.kind is ChatKind.GROUP:
            self._memory.joined(heard.chat.id, who.key)
        self._recent.add_person(heard.chat.id, who.key)

    def _handle_text(self, said: Said, outlet: Outlet) -> list[Say]:
        if said.chat.kind is not ChatKind.PRIVATE:
            for one in _present(said):
                if not self._recent.has_person(said.chat.id, one.key):
                    self._add_member(said, one)
        view = self._view(said)
        command = taken_apart(said.text)
        if command is not None:
            if said.edited:  # what it said before is not said any more
                self._unlearn(view, said, said.message)
                self._recent.remove_message(said.chat.id, said.message)
            return self._run_command(view, said, command[0], outlet)
        if said.edited and not self._handle_edit(view, said):
            return []
        if not said.text.strip() and not said.quoted:
            return []  # a picture, say
        if not said.addressed:
            self._learn(view, said)
            self._add_recent_turn(view, said)
            return []
        if self._memory.has_model():
            answered = self._answer_open_question(view, said, outlet) or self._answer_with_model(
                view, said
            )
        else:
            answered = self._answer_open_question(view, said, outlet) or self._answer_without_model(
                view, said, outlet
            )
        if said.chat.kind is ChatKind.PRIVATE:
            return answered
        return [replace(one, answers=said.message) for one in answered]

    def _run_command(
        self, view: View | DisabledView, said: Said, name: str, outlet: Outlet
    ) -> list[Say]:
        own = _own(view, said.who) if name in _FORGETTING else []
        told = self._commands.run(view, said, outlet)
        self._recent.forget(*own)
        return told

    def _handle_edit(self, view: View | DisabledView, said: Said) -> bool:
        """An edited message: what it taught in its earlier words goes. Says whether it is to be
        answered; otherwise it is learned again here, in silence."""
        newest = self._recent.last_message(said.chat.id, said.thread) == said.message
        self._unlearn(view, said, said.message)
        if said.addressed and newest:
            self._recent.remove_message(said.chat.id, said.message)
            return True
        self._learn(view, said)
        self._recent.edit_message(said.chat.id, said.message, said.text)
        return False

    def _answer_with_model(self, view: View | DisabledView, said: Said) -> list[Say]:
        answered = self.agent.answer(view, said)
        accepted = None if answered.wrote else self._learn(view, said)
        refused = () if accepted is None else accepted.refused
        if not refused:
            self._add_recent_turn(view, said)
            if not answered.failed and view.enabled and said.who is not None:
                ours = Turn(text=answered.text, who=said.who.key, message=said.message, ours=True)
                self._recent.add(said.chat.id, said.thread, ours)
        asked = self._consent.ask_with_buttons(view, said.who, keeping=not self.agent.asks)
        spans = worded(answered.text) if answered.failed else (Span(answered.text),)
        return [say(*spans), *_secret(refused), *asked]

    def _answer_open_question(
        self, view: View | DisabledView, said: Said, outlet: Outlet
    ) -> list[Say]:
        """The reply to a question what to forget, or whether to erase everything, if it is one."""
        question = self._questions.find(said)
        if question is None or not (question.forgets or question.erases_all):
            return []
        own = _own(view, said.who)
        told = self._commands.choose(view, said, outlet, question)
        if told:
            self._recent.forget(*own)
        return told

    def _answer_without_model(
        self, view: View | DisabledView, said: Said, outlet: Outlet
    ) -> list[Say]:
        replied = None
        if isinstance(view, View):
            replied = self._answers.reply(view, said, self._questions.find(said))
        if replied is not None and not replied.says_more:
            return replied.messages
        command = None if replied is not None else spelled_out(said.text)
        if command is not None and command[1] and said.chat.kind is not ChatKind.PRIVATE:
            return [say(wording.IN_PRIVATE)]
        if command is not None:
            spelled = replace(said, text=" ".join((f"/{command[0]}", *command[1])))
            return self._run_command(view, spelled, command[0], outlet)
        before = self._answers.snapshot_versions(view, said)
        accepted = self._learn(view, replace(said, text=wording.as_statement(said.text)))
        refused = () if accepted is None else accepted.refused
        if refused:
            return _secret(refused)
        if replied is not None:
            return [*replied.messages, *self._answers.ask_new(view, said)]
        return self._answers.answer(view, said, before, learned=bool(accepted))

    def _learn(self, view: View | DisabledView, said: Said) -> Accepted | None:
        """What the sender wrote themselves, and no word of what they passed on."""
        if not said.text.strip() or not view.enabled:
            return None
        step = limits.CONTENT_MAX_CHARS
        whole = said.text[: limits.CHAT_TEXT_MAX_CHARS]
        parts = (whole[start : start + step] for start in range(0, len(whole), step))
        messages = [
            Message(Role.USER, part, at=said.at, id=said.message) for part in parts if part.strip()
        ]
        try:
            return view.once(f"{_key(said)}/learn").learn(messages)
        except StoreError:
            raise
        except TacitError:
            return None  # learned before, switched off, or nothing that could be kept

    def _unlearn(self, view: View | DisabledView, heard: Heard, message: str) -> None:
        """What was learned from a message, and what the model kept for it by a tool."""
        with suppress(Conflict):  # done before
            view.once(f"{_key(heard)}/unlearn").unlearn(message)

    def _add_recent_turn(self, view: View | DisabledView, said: Said) -> None:
        if view.enabled and said.who is not None:
            turn = Turn(
                text=said.text, who=said.who.key, name=name_of(said.who), message=said.message
            )
            self._recent.add(said.chat.id, said.thread, turn)

    def _handle_button(self, pressed: Pressed, outlet: Outlet) -> list[Say]:
        view = self._view(pressed)
        settled = self._consent.handle_button(view, pressed.data, _key(pressed))
        if settled is not None:
            # The list is gone from the screen with its button: what still waits is listed anew.
            lists = settled[0].instead and not self._memory.has_model()
            left = self._consent.ask(view, pressed.who, again=True, left=True) if lists else []
            return [*settled, *left]
        own = _own(view, pressed.who)
        told = self._commands.press(view, pressed, outlet)
        if told is not None:
            self._recent.forget(*own)
        return [say(*worded(wording.OLD_BUTTON))] if told is None else told


def _readable(said: Said) -> Said:
    """People's devices send halves of characters, too, and nobody can keep or send these. What is
    somebody else's as a whole has no words of the sender's, also where a channel took it so."""
    passed_on = (Quoted(text=said.text),) if said.forwarded and said.text.strip() else ()
    return replace(
        said,
        text="" if said.forwarded else _whole(said.text),
        quoted=tuple(replace(one, text=_whole(one.text)) for one in (*passed_on, *said.quoted)),
    )


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def _present(said: Said) -> list[Requester]:
    """Everybody who is known to be there."""
    some = [one if isinstance(one, Requester) else Requester(one) for one in said.chat.participants]
    return [*some, *((said.who,) if said.who is not None else ())]


def _people(some: Iterable[Requester]) -> Iterable[Requester]:
    return (one for one in some if not one.is_bot)


def _own(view: View | DisabledView, who: Requester | None) -> list[str]:
    """Their keys, as long as they are theirs: whoever forgets does so for all of them."""
    return [] if who is None else [who.key, *view.identities()]


def _key(heard: Heard) -> str:
    return f"{heard.channel}:{heard.update}"


def _secret(kinds: tuple[str, ...]) -> list[Say]:
    return [say(wording.A_SECRET.format(kinds=", ".join(kinds)))] if kinds else []
