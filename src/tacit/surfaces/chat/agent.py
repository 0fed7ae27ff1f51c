"""The agent: what is known and what was just said, a model with memory tools, and its answer."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, dropwhile

from tacit import limits
from tacit.errors import InvalidInput, LanguageFailed, LanguageOverBudget, TacitError
from tacit.memory import DisabledView, Memory, View
from tacit.records.conversation import ModelTurn, TalkTurn, ToolSpec, ToolTurn, UserTurn
from tacit.records.memory import ChatKind
from tacit.records.request import Requester
from tacit.records.results import Proposal
from tacit.settings import ChatSettings
from tacit.surfaces.chat import wording
from tacit.surfaces.chat.calling import Calling, offered
from tacit.surfaces.chat.consent import Consent, about_the_same, mentions
from tacit.surfaces.chat.guarding import Guard
from tacit.surfaces.chat.heard import Quoted, Said
from tacit.surfaces.chat.recent import Recent, Turn


@dataclass(frozen=True, slots=True)
class Counts:
    """Of this process: how many turns the agent answered, and in how many of them the model looked
    something up that it had not been given."""

    turns: int = 0
    with_recall: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    text: str
    wrote: bool = False  # the model itself has kept what was said
    failed: bool = False  # the model did not answer; `text` says so


class Agent:
    """Safe to share between threads."""

    def __init__(self, memory: Memory, how: ChatSettings, recent: Recent, consent: Consent) -> None:
        self._memory, self._how = memory, how
        self._recent, self._consent = recent, consent
        self._counts = Counts()
        self._lock = threading.Lock()

    @property
    def counts(self) -> Counts:
        return self._counts

    @property
    def asks(self) -> bool:
        """Whether the model asks in its own words, as against buttons."""
        return self._how.consent != "buttons"

    def answer(self, view: View | DisabledView, said: Said) -> Answered:
        if isinstance(view, DisabledView) or not view.enabled:
            return self._answer_without_memory(said)
        asked = self._consent.list_pending(view, said.who)
        before = self._recent.turns(said.chat.id, said.thread)
        tools = offered(view, said, asks=self.asks)
        calling = Calling(
            view,
            said,
            self._how,
            self._consent,
            guard=Guard(
                memory=self._memory,
                who=said.who,
                said=said.text,
                before=[one.text for one in before if not one.ours],
                waiting=[one.content for one in asked],
            ),
            names=[one.name for one in tools],
            answerable=[one for one in asked if _may_answer(said, one, before)],
        )
        try:
            instructions = self._instructions(view, said)
            turns = conversation(before, self._last_turn(view, said, asked))
            text = self._run_rounds(instructions, turns, tools, calling)
        except (InvalidInput, LanguageFailed) as failed:  # or more than any model takes
            return replace(_failed(failed), wrote=calling.wrote)
        finally:
            self._count(recalled=calling.recalled)
        if not calling.kept:
            self._apply_plain_answer(view, said, asked, before)
        return Answered(text=text, wrote=calling.wrote)

    def _run_rounds(
        self,
        instructions: str,
        turns: list[TalkTurn],
        tools: Sequence[ToolSpec],
        calling: Calling,
    ) -> str:
        """What the model says in the end. Each of its calls is answered, also the refused ones."""
        words = ""
        for _ in range(limits.CHAT_ROUNDS_MAX_COUNT):
            reply = self._memory.talk(instructions, turns, tools)
            words = reply.text.strip() or words
            if not reply.calls:
                break
            turns.append(ModelTurn(reply.text, reply.calls))
            for call in reply.calls:
                answer = calling.answer(call)
                turns.append(ToolTurn(call.id, call.name, answer.text, answer.failed))
        return words or wording.NO_WORDS

    def _answer_without_memory(self, said: Said) -> Answered:
        """Nobody is known to be asking: what others said here before is not shown, either."""
        instructions = _joined(wording.FORGETFUL, self._how.instructions)
        try:
            reply = self._memory.talk(instructions, [UserTurn(_shown(said))])
        except (InvalidInput, LanguageFailed) as failed:
            return _failed(failed)
        return Answered(text=reply.text.strip() or wording.NO_WORDS)

    def _instructions(self, view: View, said: Said) -> str:
        """From what never changes to what changes least: servers keep what a prompt begins with."""
        alone = said.chat.kind is ChatKind.PRIVATE
        where = wording.ALONE.format(name=name_of(said.who)) if alone else wording.TOGETHER
        asking = "" if self.asks else wording.BY_BUTTONS
        return _joined(wording.RULES, where, asking, self._how.instructions, view.block().text)

    def _last_turn(self, view: View, said: Said, asked: Sequence[Proposal]) -> str:
        name = name_of(said.who)
        query = said.text or "\n".join(one.text for one in said.quoted)
        waiting = ""
        if asked and self.asks:
            lines = (f"- [id:{one.id}] {one.content}" for one in asked)
            waiting = "\n".join((wording.WAITING.format(name=name), *lines))
        fresh = view.fresh(query[: limits.CHAT_TEXT_MAX_CHARS])
        return _joined(fresh.text, waiting, _shown(said))

    def _apply_plain_answer(
        self, view: View, said: Said, asked: Sequence[Proposal], before: Sequence[Turn]
    ) -> None:
        """A plain yes or no to the agent's own question counts, also if the model forgot to say so
        with a tool: nothing is kept after a no, and nothing is asked twice. What the question was
        about must be clear, or nothing happens."""
        answer, who = wording.answered(said.text), said.who
        if answer is None or who is None or len(asked) != 1 or not before:
            return
        last = before[-1]
        if not last.ours or last.who != who.key or not wording.asks_to_keep(last.text):
            return
        theirs = [turn.text for turn in before if turn.message == last.message]
        if about_the_same(" ".join(theirs), asked[0].content, who):
            self._consent.apply_answer(
                view, asked[0].id, f"{said.channel}:{said.update}", yes=answer
            )

    def _count(self, *, recalled: bool) -> None:
        with self._lock:
            known = self._counts
            self._counts = Counts(known.turns + 1, known.with_recall + recalled)


def conversation(before: Sequence[Turn], last: str) -> list[TalkTurn]:
    """The turns as a model takes them, as many of the last ones as there is room for. A person
    begins: an answer whose question is no longer there is left out."""
    turns: list[TalkTurn] = []
    room = limits.CHAT_RECENT_SHOWN_MAX_CHARS
    sizes = accumulate(len(one.text) for one in reversed(before))
    fitting = sum(1 for size in sizes if size <= room)
    for one in dropwhile(lambda turn: turn.ours, before[len(before) - fitting :]):
        named = _line(one.name or wording.SOMEBODY, one.text)
        turns.append(ModelTurn(one.text) if one.ours else UserTurn(named))
    return [*turns, UserTurn(last)]


def _may_answer(said: Said, one: Proposal, before: Sequence[Turn]) -> bool:
    """Whether what the person wrote themselves can be a yes or no to this: they were just asked
    something, or it is nothing but a yes or no, or they speak of it."""
    if said.who is None or not said.text.strip():
        return False
    last = before[-1] if before else None
    just_asked = last is not None and last.ours and last.who == said.who.key and "?" in last.text
    plain = wording.answered(said.text) is not None
    return just_asked or plain or mentions(said.text, one.content, said.who)


def name_of(who: Requester | None) -> str:
    """As it stands in a prompt: one line, and nothing that could be taken for more than a name."""
    given = (who.name or who.username or "") if who else ""
    plain = "".join(one if one.isalnum() or one in " .'-_" else " " for one in given)
    return " ".join(plain.split())[: limits.CHAT_NAME_MAX_CHARS] or wording.SOMEBODY


def _line(name: str, text: str) -> str:
    """Further lines stand further in: nobody writes a line that looks like another's."""
    return f"{name}: " + "\n  ".join(text.splitlines())


def _shown(said: Said) -> str:
    """The message that is answered, and before it what it quotes, each line of that marked."""
    name = name_of(said.who)
    own = said.text[: limits.CHAT_TEXT_MAX_CHARS]
    quoted = _joined(*(_quoted(name, one) for one in said.quoted))
    # Cut at its end, so that each of its lines is marked still.
    shown = quoted[: limits.CHAT_TEXT_MAX_CHARS]
    return _joined(shown, _line(name, own if own.strip() else wording.NOTHING_OWN))


def _quoted(name: str, one: Quoted) -> str:
    by = name_of(Requester("nobody:0", name=one.by)) if one.by else ""
    told = wording.SHOWN_BY if by else wording.SHOWN
    head = (wording.SHOWN_OURS if one.ours else told).format(name=name, by=by)
    lines = one.text[: limits.CHAT_TEXT_MAX_CHARS].splitlines()
    return "\n".join((head, *(f"> {line}" for line in lines)))


def _joined(*parts: str) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def _failed(failed: TacitError) -> Answered:
    over = isinstance(failed, LanguageOverBudget)
    return Answered(text=wording.NO_MODEL_TODAY if over else wording.NO_MODEL_NOW, failed=True)
