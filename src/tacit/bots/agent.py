"""The agent: prompt, recent turns, a model with memory tools, and its answer."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, dropwhile
from typing import Any

from tacit import limits
from tacit.bots import texts
from tacit.bots.consent import (
    Consent,
    WriteGuard,
    covers_content,
    find_same_proposal,
    mentions_content,
)
from tacit.bots.conversations import RecentTurn, RecentTurns
from tacit.bots.messages import Quote, TextMessage
from tacit.errors import InvalidInput, LanguageFailed, LanguageOverBudget, TacitError
from tacit.memory import Memory, View, wrap_in_fence
from tacit.records.conversation import ModelTurn, TalkTurn, ToolCall, ToolSpec, ToolTurn, UserTurn
from tacit.records.memory import Memory as Record
from tacit.records.memory import Sensitivity
from tacit.records.request import Requester
from tacit.records.results import Proposal
from tacit.records.text import estimate_tokens
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


class TurnTools:
    """The calls of one turn."""

    def __init__(
        self,
        view: View,
        said: TextMessage,
        how: ChatSettings,
        consent: Consent,
        *,
        guard: WriteGuard,
        names: Collection[str],  # of the offered tools
        answerable: Collection[Proposal],  # proposals that the message can be an answer to
    ) -> None:
        self._view, self._said, self._consent, self._guard = view, said, consent, guard
        self._names, self._answerable = frozenset(names), tuple(answerable)
        self._calls: Counter[str] = Counter()
        self._chars_left = limits.CHAT_TOOL_ANSWERS_MAX_CHARS
        self._update = said.key
        self._recalls_left = how.recall_calls
        self._tokens_left = how.recall_tokens
        self.recalled = False  # the model called a recall tool
        self._wrote = False
        self._left_to_learning = False  # a write was refused, and learning must store the fact
        self.kept = False  # something was stored, or a proposal was answered

    @property
    def wrote(self) -> bool:
        """Whether a tool stored the message's facts, so that it need not be learned."""
        return self._wrote and not self._left_to_learning

    def answer(self, call: ToolCall) -> Answer:
        if self._chars_left <= 0:
            return Answer(text=texts.RECALL_LIMIT_REACHED, failed=True)
        answer = self._answer(call)
        self._chars_left -= len(answer.text)
        return replace(answer, text=answer.text[: limits.CHAT_TOOL_ANSWER_MAX_CHARS])

    def _answer(self, call: ToolCall) -> Answer:
        if call.broken or call.name not in self._names:
            return Answer(text=texts.NO_SUCH_TOOL, failed=True)
        if call.name == ANSWER_PROPOSAL:
            return self._answer_proposal(call.arguments)
        if call.name in RECALL_TOOLS:
            return self._recall(call)
        if call.name in _FACT_TOOLS and (settled := self._approve_same(call.arguments)) is not None:
            return settled
        return self._call_tool(call.name, call.arguments)

    def _call_tool(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        written = _join_arguments(arguments) if name in _WRITE_TOOLS else ""
        if written and self._guard.refuses(self._view, written, arguments.get("memory_id")):
            self._left_to_learning = True
            return Answer(text=texts.LEFT_TO_LEARNING, failed=True)
        done = self._tool(name, self._guard.minimum_sensitivity(written)).call(arguments)
        stored = not done.failed and (done.data or {}).get("stored", True)
        # After a crash the message is answered again: it may have been stored the first time.
        if name in _WRITE_TOOLS and (stored or list_learned_from(self._view, self._said)):
            self._wrote = self.kept = True
        return Answer(text=done.text, failed=done.failed)

    def _tool(self, name: str, least: Sensitivity | None = None) -> Tool:
        """Return the tool; one that is not idempotent gets an idempotency key of this message."""
        plain = _find_tool(name, tools(self._view, self._said.message, least))
        if plain.idempotent:
            return plain
        self._calls[name] += 1
        key = f"{self._update}/{name}/{self._calls[name]}"
        return _find_tool(name, tools(self._view.once(key), self._said.message, least))

    def _recall(self, call: ToolCall) -> Answer:
        if self._recalls_left <= 0 or self._tokens_left <= 0:
            return Answer(text=texts.RECALL_LIMIT_REACHED, failed=True)
        self._recalls_left -= 1
        self.recalled = True
        tool = self._tool(call.name)
        arguments = dict(call.arguments)
        if call.name == "memory_query":
            given = arguments.get("budget_tokens")
            most = min(self._tokens_left, limits.BUDGET_MAX_TOKENS)
            if given is None or (isinstance(given, int) and given > most):
                arguments["budget_tokens"] = most
        found = tool.call(arguments)
        text = found.text if found.failed else _fit_tokens(found, self._tokens_left)
        self._tokens_left -= estimate_tokens(text)
        return Answer(text=text, failed=found.failed)

    def _answer_proposal(self, arguments: Mapping[str, Any]) -> Answer:
        def act(given: dict[str, Any]) -> Answer:
            id, yes = given["id"], given["yes"]
            if id not in {one.id for one in self._answerable} or self._contradicts_reply(yes):
                return Answer(text=texts.NOT_ANSWERED_YET, failed=True)
            if not self._consent.apply_answer(self._view, id, self._update, yes=yes):
                return Answer(text=texts.NOT_YOUR_PROPOSAL, failed=True)
            self.kept = True
            text = texts.TOOL_PROPOSAL_KEPT.format(id=id) if yes else texts.TOOL_PROPOSAL_DECLINED
            return Answer(text=text)

        tool = Tool(
            name=ANSWER_PROPOSAL,
            title="Answer a proposal",
            description=_ANSWER_PROPOSAL_TOOL.description,
            parameters=_ANSWER_PROPOSAL_TOOL.parameters,
            act=act,
            needs=("write",),
        )
        return tool.call(arguments)

    def _contradicts_reply(self, yes: bool) -> bool:
        """Whether the person's own plain yes or no is the opposite of the model's answer."""
        return texts.parse_yes_no(self._said.text) is (not yes)

    def _approve_same(self, arguments: Mapping[str, Any]) -> Answer | None:
        """Approve the proposal with the same content instead of adding a duplicate.

        A model adds a fact that waits for approval after it got a yes. The proposal has the
        person's own words and their source.
        """
        content, own = arguments.get("content"), self._said.who
        if not isinstance(content, str):
            return None
        one = find_same_proposal(content, self._answerable, own)
        if one is not None and self._contradicts_reply(True):
            return Answer(text=texts.NOT_ANSWERED_YET, failed=True)
        if one is None or not self._consent.apply_answer(
            self._view, one.id, self._update, yes=True
        ):
            return None
        self.kept = True
        return Answer(text=texts.TOOL_PROPOSAL_STORED.format(id=one.id))


def list_learned_from(view: View, said: TextMessage) -> list[Record]:
    """Return the newest visible memories that were learned from this message."""
    here = view.list(limit=limits.CHAT_NEWEST_MEMORIES_COUNT)
    return [
        one
        for one in here
        if one.source.message == said.message and said.chat.id in (one.source.chat, one.learned_in)
    ]


def _join_arguments(arguments: Mapping[str, Any]) -> str:
    return " ".join(one for one in arguments.values() if isinstance(one, str))


def _find_tool(name: str, among: Sequence[Tool]) -> Tool:
    return next(one for one in among if one.name == name)


def _fit_tokens(found: Answer, most_tokens: int) -> str:
    """Drop the worst results until the rest fits."""
    data = dict(found.data or {})
    name, listed = next(iter(data.items()), ("", []))
    rows: Sequence[Any] = list(listed)
    text = wrap_in_fence([dump_json({name: rows})])
    while rows and estimate_tokens(text) > most_tokens:
        rows = rows[:-1]
        text = wrap_in_fence([dump_json({name: rows})])
    return text


_ANSWER_PROPOSAL_TOOL = ToolSpec(
    ANSWER_PROPOSAL,
    "Record the user's yes or no to a proposal that is listed as waiting. Call it only after they "
    "answered themselves.",
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

    def __init__(
        self, memory: Memory, how: ChatSettings, recent: RecentTurns, consent: Consent
    ) -> None:
        self._memory, self._how = memory, how
        self._recent, self._consent = recent, consent
        self._counts = AgentCounts()
        self._lock = threading.Lock()

    @property
    def counts(self) -> AgentCounts:
        return self._counts

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
        calling = TurnTools(
            view,
            said,
            self._how,
            self._consent,
            guard=WriteGuard(
                memory=self._memory,
                who=said.who,
                said=said.text,
                before=[one.text for one in before if not one.ours],
                waiting=[one.content for one in asked],
            ),
            names=[one.name for one in tools],
            answerable=[one for one in asked if _is_answerable(said, one, before)],
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
        self,
        instructions: str,
        turns: list[TalkTurn],
        tools: Sequence[ToolSpec],
        calling: TurnTools,
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
        where = (
            texts.IN_PRIVATE_CHAT.format(name=prompt_name(said.who))
            if said.private
            else texts.IN_GROUP_CHAT
        )
        asking = "" if self.asks else texts.ASKED_BY_BUTTONS
        return _join_paragraphs(
            texts.AGENT_RULES, where, asking, self._how.instructions, view.block().text
        )

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
        answer, who = texts.parse_yes_no(said.text), said.who
        if answer is None or who is None or len(asked) != 1 or not before:
            return
        last = before[-1]
        if not last.ours or last.who != who.key or not texts.asks_to_keep(last.text):
            return
        theirs = [turn.text for turn in before if turn.message == last.message]
        if covers_content(" ".join(theirs), asked[0].content, who):
            self._consent.apply_answer(view, asked[0].id, said.key, yes=answer)

    def _count(self, *, recalled: bool) -> None:
        with self._lock:
            known = self._counts
            self._counts = AgentCounts(known.turns + 1, known.with_recall + recalled)


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
    plain = texts.parse_yes_no(said.text) is not None
    return just_asked or plain or mentions_content(said.text, one.content, said.who)


def prompt_name(who: Requester | None) -> str:
    """Return a name for a prompt: one line of letters, digits and few marks."""
    given = (who.name or who.username or "") if who else ""
    plain = "".join(one if one.isalnum() or one in " .'-_" else " " for one in given)
    return " ".join(plain.split())[: limits.CHAT_NAME_MAX_CHARS] or texts.UNKNOWN_NAME


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
    return AgentAnswer(
        text=texts.MODEL_OVER_BUDGET if over else texts.MODEL_UNREACHABLE, failed=True
    )
