"""The agent: prompt, recent turns, a model with memory tools, and its answer."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, dropwhile
from typing import Any

from tacit import limits
from tacit.bots import texts
from tacit.bots.consent import Consent, WriteGuard, find_same_proposal
from tacit.bots.conversations import RecentTurn, RecentTurns, list_learned_from, prompt_name
from tacit.bots.messages import Quote, TextMessage
from tacit.bots.phrases import asks_to_keep, covers_content, mentions_content, parse_yes_no
from tacit.errors import InvalidInput, LanguageFailed, LanguageOverBudget, TacitError
from tacit.memory import Memory, View, wrap_in_fence
from tacit.records.conversation import ModelTurn, TalkTurn, ToolCall, ToolSpec, ToolTurn, UserTurn
from tacit.records.memory import Sensitivity
from tacit.records.request import Requester
from tacit.records.results import Proposal
from tacit.records.token_counts import estimate_tokens
from tacit.settings import ChatSettings
from tacit.tools import Answer, Tool, tools
from tacit.tools.tool import boolean_schema, dump_json, object_schema, string_schema

# Tools: what the model may call while it answers one message, within the limits of one turn.

ANSWER_PROPOSAL = "answer_proposal"
RECALL_TOOLS = frozenset({"memory_query", "search_memories"})
_FACT_TOOLS = frozenset({"add_to_memory", "add_memory"})
_INSERT_TOOLS = _FACT_TOOLS | {"memory_put"}
_DELETE_TOOLS = frozenset({"memory_delete", "memory_delete_namespace"})
_WRITE_TOOLS = _INSERT_TOOLS | {"update_memory"}


def list_offered_tools(view: View, said: TextMessage, *, asks: bool) -> list[ToolSpec]:
    """Return the tools for a message, the same and in the same order for every turn of a chat.

    In a group no tool inserts or deletes: learning stores what is said as the group's, a tool
    would store it for one person; and the prompt contains text of other members. A message that
    only forwards text gets no tool that writes.
    """
    left_out = frozenset() if said.private else _INSERT_TOOLS | _DELETE_TOOLS
    own = bool(said.text.strip())
    found = [
        ToolSpec(one.name, one.description, one.parameters)
        for one in tools(view)
        if one.always_available and one.name not in left_out and (own or one.read_only)
    ]
    return [*found, _ANSWER_PROPOSAL_TOOL] if asks and own else found


@dataclass(slots=True, kw_only=True)
class TurnTools:
    """The calls of one turn."""

    view: View
    said: TextMessage
    consent: Consent
    guard: WriteGuard
    names: frozenset[str]  # of the offered tools
    answerable: tuple[Proposal, ...]  # proposals that the message can be an answer to
    recalls_left: int
    tokens_left: int
    chars_left: int = limits.CHAT_TOOL_ANSWERS_MAX_CHARS
    recalled: bool = False  # the model called a recall tool
    kept: bool = False  # something was stored, or a proposal was answered
    _wrote: bool = False
    _left_to_learning: bool = False  # a write was refused, and learning must store the fact
    _calls: Counter[str] = field(default_factory=Counter)

    @property
    def wrote(self) -> bool:
        """Whether a tool stored the message's facts, so that it need not be learned."""
        return self._wrote and not self._left_to_learning

    def answer(self, call: ToolCall) -> Answer:
        if self.chars_left <= 0:
            return _refuse(texts.RECALL_LIMIT_REACHED)
        answer = self._answer(call)
        self.chars_left -= len(answer.text)
        return replace(answer, text=answer.text[: limits.CHAT_TOOL_ANSWER_MAX_CHARS])

    def _answer(self, call: ToolCall) -> Answer:
        if call.broken or call.name not in self.names:
            return _refuse(texts.NO_SUCH_TOOL)
        if call.name == ANSWER_PROPOSAL:
            return self._answer_proposal(call.arguments)
        if call.name in RECALL_TOOLS:
            return self._recall(call)
        if call.name in _FACT_TOOLS and (settled := self._approve_same(call.arguments)) is not None:
            return settled
        return self._call_tool(call.name, call.arguments)

    def _call_tool(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        written = ""
        if name in _WRITE_TOOLS:
            written = " ".join(one for one in arguments.values() if isinstance(one, str))
        if written and self.guard.refuses(self.view, written, arguments.get("memory_id")):
            self._left_to_learning = True
            return _refuse(texts.LEFT_TO_LEARNING)
        done = self._tool(name, self.guard.minimum_sensitivity(written)).call(arguments)
        stored = not done.failed and (done.data or {}).get("stored", True)
        # After a crash the message is answered again: it may have been stored the first time.
        if name in _WRITE_TOOLS and (stored or list_learned_from(self.view, self.said)):
            self._wrote = self.kept = True
        return Answer(text=done.text, failed=done.failed)

    def _tool(self, name: str, least: Sensitivity | None = None) -> Tool:
        """Return the tool; one that is not idempotent gets an idempotency key of this message."""
        plain = _find_tool(name, tools(self.view, self.said.message, least))
        if plain.idempotent:
            return plain
        self._calls[name] += 1
        key = f"{self.said.key}/{name}/{self._calls[name]}"
        return _find_tool(name, tools(self.view.once(key), self.said.message, least))

    def _recall(self, call: ToolCall) -> Answer:
        if self.recalls_left <= 0 or self.tokens_left <= 0:
            return _refuse(texts.RECALL_LIMIT_REACHED)
        self.recalls_left -= 1
        self.recalled = True
        arguments = dict(call.arguments)
        if call.name == "memory_query":
            given = arguments.get("budget_tokens")
            most = min(self.tokens_left, limits.BUDGET_MAX_TOKENS)
            if given is None or (isinstance(given, int) and given > most):
                arguments["budget_tokens"] = most
        found = self._tool(call.name).call(arguments)
        text = found.text if found.failed else _fit_tokens(found, self.tokens_left)
        self.tokens_left -= estimate_tokens(text)
        return Answer(text=text, failed=found.failed)

    def _answer_proposal(self, arguments: Mapping[str, Any]) -> Answer:
        def act(given: dict[str, Any]) -> Answer:
            id, yes = given["id"], given["yes"]
            if id not in {one.id for one in self.answerable} or self._contradicts_reply(yes):
                return _refuse(texts.NOT_ANSWERED_YET)
            if not self.consent.apply_answer(self.view, id, self.said.key, yes=yes):
                return _refuse(texts.NOT_YOUR_PROPOSAL)
            self.kept = True
            text = texts.TOOL_PROPOSAL_KEPT.format(id=id) if yes else texts.TOOL_PROPOSAL_DECLINED
            return Answer(text=text)

        spec = _ANSWER_PROPOSAL_TOOL
        tool = Tool(
            name=spec.name,
            title="Answer a proposal",
            description=spec.description,
            parameters=spec.parameters,
            act=act,
            needs=("write",),
        )
        return tool.call(arguments)

    def _contradicts_reply(self, yes: bool) -> bool:
        """Whether the person's own plain yes or no is the opposite of the model's answer."""
        return parse_yes_no(self.said.text) is (not yes)

    def _approve_same(self, arguments: Mapping[str, Any]) -> Answer | None:
        """Approve the proposal with the same content instead of adding a duplicate.

        A model adds a fact that waits for approval after it got a yes. The proposal has the
        person's own words and their source.
        """
        content = arguments.get("content")
        if not isinstance(content, str):
            return None
        one = find_same_proposal(content, self.answerable, self.said.who)
        if one is None:
            return None
        if self._contradicts_reply(True):
            return _refuse(texts.NOT_ANSWERED_YET)
        if not self.consent.apply_answer(self.view, one.id, self.said.key, yes=True):
            return None
        self.kept = True
        return Answer(text=texts.TOOL_PROPOSAL_KEPT.format(id=one.id))


def _refuse(text: str) -> Answer:
    return Answer(text=text, failed=True)


def _find_tool(name: str, among: Sequence[Tool]) -> Tool:
    return next(one for one in among if one.name == name)


def _fit_tokens(found: Answer, most_tokens: int) -> str:
    """Drop the worst results until the rest fits."""
    name, listed = next(iter((found.data or {}).items()), ("", []))
    rows = list(listed)
    while True:
        text = wrap_in_fence([dump_json({name: rows})])
        if not rows or estimate_tokens(text) <= most_tokens:
            return text
        rows.pop()


_ANSWER_PROPOSAL_TOOL = ToolSpec(
    ANSWER_PROPOSAL,
    "Record the user's yes or no to a proposal that is listed as waiting. Call it only after they answered themselves.",
    object_schema(
        {
            "id": string_schema("The id of the proposal", maxLength=limits.ID_CHARS),
            "yes": boolean_schema("Whether they want it stored"),
        },
        "id",
        "yes",
    ),
)


@dataclass(frozen=True, slots=True)
class AgentCounts:
    """Turns that the agent of this process answered, and those with a call of a recall tool."""

    turns: int = 0
    with_recall: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    text: str
    wrote: bool = False  # the model stored the message's facts with a tool
    failed: bool = False  # the model did not answer; `text` says so


class Agent:
    """Answer messages with a model that has memory tools. Safe to share between threads."""

    def __init__(self, memory: Memory, how: ChatSettings, recent: RecentTurns, consent: Consent) -> None:
        self._memory, self._how = memory, how
        self._recent, self._consent = recent, consent
        self.counts = AgentCounts()
        self._lock = threading.Lock()

    @property
    def asks(self) -> bool:
        """Whether the model asks for consent in its own words, instead of buttons."""
        return self._how.consent != "buttons"

    def answer(self, view: View, said: TextMessage) -> AgentAnswer:
        if not view.enabled:
            return self._answer_without_memory(said)
        asked = self._consent.list_pending(view, said.who)
        before = self._recent.turns(said.chat.id, said.thread)
        tools = list_offered_tools(view, said, asks=self.asks)
        guard = WriteGuard(
            memory=self._memory,
            who=said.who,
            said=said.text,
            before=[one.text for one in before if not one.ours],
            waiting=[one.content for one in asked],
        )
        calling = TurnTools(
            view=view,
            said=said,
            consent=self._consent,
            guard=guard,
            names=frozenset(one.name for one in tools),
            answerable=tuple(one for one in asked if _is_answerable(said, one, before)),
            recalls_left=self._how.recall_calls,
            tokens_left=self._how.recall_tokens,
        )
        try:
            instructions = self._instructions(view, said)
            turns = build_turns(before, self._last_turn(view, said, asked))
            text = self._run_rounds(instructions, turns, tools, calling)
        except (InvalidInput, LanguageFailed) as failed:  # also a prompt that is too long
            return replace(_failure_answer(failed), wrote=calling.wrote)
        finally:
            self._count(recalled=calling.recalled)
        if not calling.kept:
            self._apply_plain_answer(view, said, asked, before)
        return AgentAnswer(text=text, wrote=calling.wrote)

    def _run_rounds(
        self, instructions: str, turns: list[TalkTurn], tools: Sequence[ToolSpec], calling: TurnTools
    ) -> str:
        """Call the model until it makes no more tool calls; return its last text."""
        text = ""
        for _ in range(limits.CHAT_ROUNDS_MAX_COUNT):
            reply = self._memory.llm.talk(instructions, turns, tools)
            text = reply.text.strip() or text
            if not reply.calls:
                break
            turns.append(ModelTurn(reply.text, reply.calls))
            for call in reply.calls:
                answer = calling.answer(call)
                turns.append(ToolTurn(call.id, call.name, answer.text, answer.failed))
        return text or texts.NO_ANSWER

    def _answer_without_memory(self, said: TextMessage) -> AgentAnswer:
        """Answer an unknown sender, without the earlier messages of the chat."""
        instructions = _join_paragraphs(texts.RULES_WITHOUT_MEMORY, self._how.instructions)
        try:
            reply = self._memory.llm.talk(instructions, [UserTurn(_format_message(said))])
        except (InvalidInput, LanguageFailed) as failed:
            return _failure_answer(failed)
        return AgentAnswer(text=reply.text.strip() or texts.NO_ANSWER)

    def _instructions(self, view: View, said: TextMessage) -> str:
        """Join the instructions, the most stable part first, for prompt caching."""
        private = texts.IN_PRIVATE_CHAT.format(name=prompt_name(said.who))
        where = private if said.private else texts.IN_GROUP_CHAT
        asking = "" if self.asks else texts.ASKED_BY_BUTTONS
        return _join_paragraphs(texts.AGENT_RULES, where, asking, self._how.instructions, view.block().text)

    def _last_turn(self, view: View, said: TextMessage, asked: Sequence[Proposal]) -> str:
        name = prompt_name(said.who)
        query = said.text or "\n".join(one.text for one in said.quoted)
        waiting = ""
        if asked and self.asks:
            lines = (f"- [id:{one.id}] {one.content}" for one in asked)
            waiting = "\n".join((texts.PENDING_PROPOSALS.format(name=name), *lines))
        fresh = view.fresh(query[: limits.CHAT_TEXT_MAX_CHARS])
        return _join_paragraphs(fresh.text, waiting, _format_message(said))

    def _apply_plain_answer(
        self, view: View, said: TextMessage, asked: Sequence[Proposal], before: Sequence[RecentTurn]
    ) -> None:
        """Apply a plain yes or no to the agent's own question if the model called no tool for it.

        Does nothing unless it is clear which proposal the question was about.
        """
        answer, who = parse_yes_no(said.text), said.who
        if answer is None or who is None or len(asked) != 1 or not before:
            return
        last = before[-1]
        if not last.ours or last.who != who.key or not asks_to_keep(last.text):
            return
        theirs = [turn.text for turn in before if turn.message == last.message]
        if covers_content(" ".join(theirs), asked[0].content, who):
            self._consent.apply_answer(view, asked[0].id, said.key, yes=answer)

    def _count(self, *, recalled: bool) -> None:
        with self._lock:
            known = self.counts
            self.counts = AgentCounts(known.turns + 1, known.with_recall + recalled)


def build_turns(before: Sequence[RecentTurn], last: str) -> list[TalkTurn]:
    """Return the last turns that fit, starting with one of a person, not of the bot."""
    turns: list[TalkTurn] = []
    room = limits.CHAT_RECENT_SHOWN_MAX_CHARS
    sizes = accumulate(len(one.text) for one in reversed(before))
    fitting = sum(1 for size in sizes if size <= room)
    for one in dropwhile(lambda turn: turn.ours, before[len(before) - fitting :]):
        text = _format_turn(one.name or texts.UNKNOWN_NAME, one.text)
        turns.append(ModelTurn(one.text) if one.ours else UserTurn(text))
    return [*turns, UserTurn(last)]


def _is_answerable(said: TextMessage, one: Proposal, before: Sequence[RecentTurn]) -> bool:
    """Whether a message can answer this proposal: it follows a question of the bot, is a plain yes
    or no, or mentions the proposal's content."""
    if said.who is None or not said.text.strip():
        return False
    last = before[-1] if before else None
    just_asked = last is not None and last.ours and last.who == said.who.key and "?" in last.text
    plain = parse_yes_no(said.text) is not None
    return just_asked or plain or mentions_content(said.text, one.content, said.who)


def _format_turn(name: str, text: str) -> str:
    """Indent further lines, so that no line can imitate the start of another person's turn."""
    return f"{name}: " + "\n  ".join(text.splitlines())


def _format_message(said: TextMessage) -> str:
    """Format the message to answer, after its quotes, whose lines are marked with ">"."""
    name = prompt_name(said.who)
    own = said.text[: limits.CHAT_TEXT_MAX_CHARS]
    quoted = _join_paragraphs(*(_format_quote(name, one) for one in said.quoted))
    # Cut at the end, so that each line keeps its mark.
    shown = quoted[: limits.CHAT_TEXT_MAX_CHARS]
    return _join_paragraphs(shown, _format_turn(name, own if own.strip() else texts.NO_OWN_TEXT))


def _format_quote(name: str, one: Quote) -> str:
    by = prompt_name(Requester("nobody:0", name=one.by)) if one.by else ""
    intro = texts.QUOTE_INTRO_BY if by else texts.QUOTE_INTRO
    head = (texts.QUOTE_INTRO_OWN if one.ours else intro).format(name=name, by=by)
    lines = one.text[: limits.CHAT_TEXT_MAX_CHARS].splitlines()
    return "\n".join((head, *(f"> {line}" for line in lines)))


def _join_paragraphs(*parts: str) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def _failure_answer(failed: TacitError) -> AgentAnswer:
    over = isinstance(failed, LanguageOverBudget)
    return AgentAnswer(text=texts.MODEL_OVER_BUDGET if over else texts.MODEL_UNREACHABLE, failed=True)
