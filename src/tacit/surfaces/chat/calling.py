"""What a model may do with memory while it answers one message: the tools, once each, and within
the bounds of one turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit import limits
from tacit.memory import View, wrap_in_fence
from tacit.records.conversation import ToolCall, ToolSpec
from tacit.records.memory import ChatKind, Sensitivity
from tacit.records.memory import Memory as Record
from tacit.records.results import Proposal
from tacit.records.text import estimate_tokens
from tacit.settings import ChatSettings
from tacit.surfaces.chat import wording
from tacit.surfaces.chat.consent import Consent, same_as
from tacit.surfaces.chat.guarding import Guard
from tacit.surfaces.chat.heard import Said
from tacit.tools import Answer, Tool, tools
from tacit.tools.tool import boolean_schema, dump_json, object_schema, string_schema

ANSWER_PROPOSAL = "answer_proposal"
RECALL = frozenset({"memory_query", "search_memories"})
_FACTS = frozenset({"add_to_memory", "add_memory"})
_NEW = _FACTS | {"memory_put"}
_GONE = frozenset({"memory_delete", "memory_delete_namespace"})
_KEEP = _NEW | {"update_memory"}


def offered(view: View, said: Said, *, asks: bool) -> list[ToolSpec]:
    """The same ones in every turn of a chat, in the same order. What is said in a group is learned
    as the group's; a tool would keep it for one person alone, and nobody would hear of it there.
    Nor does anything go there: the words of others stand in the same prompt. Who only passes on
    what others wrote asks for no change at all."""
    left_out = frozenset() if said.chat.kind is ChatKind.PRIVATE else _NEW | _GONE
    own = bool(said.text.strip())
    found = [
        ToolSpec(one.name, one.description, one.parameters)
        for one in tools(view)
        if one.always_available and one.name not in left_out and (own or one.read_only)
    ]
    return [*found, _ANSWER_PROPOSAL] if asks and own else found


class Calling:
    """The calls of one turn."""

    def __init__(
        self,
        view: View,
        said: Said,
        how: ChatSettings,
        consent: Consent,
        *,
        guard: Guard,
        names: Collection[str],  # of the tools that were offered
        answerable: Collection[Proposal],  # what the person's own words can be an answer to
    ) -> None:
        self._view, self._said, self._consent, self._guard = view, said, consent, guard
        self._names, self._answerable = frozenset(names), tuple(answerable)
        self._calls: Counter[str] = Counter()
        self._chars_left = limits.CHAT_TOOL_ANSWERS_MAX_CHARS
        self._update = f"{said.channel}:{said.update}"
        self._recalls_left = how.recall_calls
        self._tokens_left = how.recall_tokens
        self.recalled = False  # something was looked up
        self._wrote = False
        self._left_to_learning = (
            False  # something was left to learning, which keeps it from whom it must
        )
        self.kept = False  # something was kept, or answered for

    @property
    def wrote(self) -> bool:
        """What was said is kept by a tool, so that it need not be learned."""
        return self._wrote and not self._left_to_learning

    def answer(self, call: ToolCall) -> Answer:
        if self._chars_left <= 0:
            return Answer(text=wording.ENOUGH_LOOKED_UP, failed=True)
        answer = self._answer(call)
        self._chars_left -= len(answer.text)
        return replace(answer, text=answer.text[: limits.CHAT_TOOL_ANSWER_MAX_CHARS])

    def _answer(self, call: ToolCall) -> Answer:
        if call.broken or call.name not in self._names:
            return Answer(text=wording.NO_SUCH_TOOL, failed=True)
        if call.name == ANSWER_PROPOSAL:
            return self._answer_proposal(call.arguments)
        if call.name in RECALL:
            return self._recall(call)
        if call.name in _FACTS and (settled := self._approve_same(call.arguments)) is not None:
            return settled
        return self._call_tool(call.name, call.arguments)

    def _call_tool(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        written = _written(arguments) if name in _KEEP else ""
        if written and self._guard.refuses(self._view, written, arguments.get("memory_id")):
            self._left_to_learning = True
            return Answer(text=wording.AS_THEY_SAID_IT, failed=True)
        done = self._tool(name, self._guard.minimum_sensitivity(written)).call(arguments)
        stored = not done.failed and (done.data or {}).get("stored", True)
        # Answered again after a crash, a model finds what it kept for the same message before.
        if name in _KEEP and (stored or taught(self._view, self._said)):
            self._wrote = self.kept = True
        return Answer(text=done.text, failed=done.failed)

    def _tool(self, name: str, least: Sensitivity | None = None) -> Tool:
        """What can be done twice without harm needs no key; what cannot is done once, also if this
        message is answered again after a crash, in whatever words then."""
        plain = _named(name, tools(self._view, self._said.message, least))
        if plain.idempotent:
            return plain
        self._calls[name] += 1
        key = f"{self._update}/{name}/{self._calls[name]}"
        return _named(name, tools(self._view.once(key), self._said.message, least))

    def _recall(self, call: ToolCall) -> Answer:
        if self._recalls_left <= 0 or self._tokens_left <= 0:
            return Answer(text=wording.ENOUGH_LOOKED_UP, failed=True)
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
        told = found.text if found.failed else _fitting(found, self._tokens_left)
        self._tokens_left -= estimate_tokens(told)
        return Answer(text=told, failed=found.failed)

    def _answer_proposal(self, arguments: Mapping[str, Any]) -> Answer:
        def act(given: dict[str, Any]) -> Answer:
            id, yes = given["id"], given["yes"]
            if id not in {one.id for one in self._answerable} or self._contradicts_reply(yes):
                return Answer(text=wording.NOT_THEIR_WORD, failed=True)
            if not self._consent.apply_answer(self._view, id, self._update, yes=yes):
                return Answer(text=wording.NOT_YOURS, failed=True)
            self.kept = True
            told = wording.SETTLED_YES.format(id=id) if yes else wording.SETTLED_NO
            return Answer(text=told)

        tool = Tool(
            name=ANSWER_PROPOSAL,
            title="Answer a proposal",
            description=_ANSWER_PROPOSAL.description,
            parameters=_ANSWER_PROPOSAL.parameters,
            act=act,
            needs=("write",),
        )
        return tool.call(arguments)

    def _contradicts_reply(self, yes: bool) -> bool:
        """Who plainly says no has not said yes, whatever a model makes of it."""
        return wording.answered(self._said.text) is (not yes)

    def _approve_same(self, arguments: Mapping[str, Any]) -> Answer | None:
        """A model that adds what waits for the person's yes has heard that yes. Then that is kept,
        in the person's own words and with where they said it; not the same again beside it."""
        content, own = arguments.get("content"), self._said.who
        if not isinstance(content, str):
            return None
        one = same_as(content, self._answerable, own)
        if one is not None and self._contradicts_reply(True):
            return Answer(text=wording.NOT_THEIR_WORD, failed=True)
        if one is None or not self._consent.apply_answer(
            self._view, one.id, self._update, yes=True
        ):
            return None
        self.kept = True
        return Answer(text=wording.ALREADY_WAITED.format(id=one.id))


def taught(view: View, said: Said) -> list[Record]:
    """What this very message taught, of the newest that may be heard here."""
    here = view.list(limit=limits.CHAT_NEWEST_MEMORIES_COUNT)
    return [
        one
        for one in here
        if one.source.message == said.message and said.chat.id in (one.source.chat, one.learned_in)
    ]


def _written(arguments: Mapping[str, Any]) -> str:
    """Everything that a model puts into words with a call that keeps something."""
    return " ".join(one for one in arguments.values() if isinstance(one, str))


def _named(name: str, among: Sequence[Tool]) -> Tool:
    return next(one for one in among if one.name == name)


def _fitting(found: Answer, most_tokens: int) -> str:
    """As many of what was found as there is room for, best first."""
    data = dict(found.data or {})
    name, listed = next(iter(data.items()), ("", []))
    rows: Sequence[Any] = list(listed)
    told = wrap_in_fence([dump_json({name: rows})])
    while rows and estimate_tokens(told) > most_tokens:
        rows = rows[:-1]
        told = wrap_in_fence([dump_json({name: rows})])
    return told


_ANSWER_PROPOSAL = ToolSpec(
    ANSWER_PROPOSAL,
    "The person said yes or no to keeping something that is listed as waiting. Only after they "
    "said so themselves.",
    object_schema(
        {
            "id": string_schema("The id that it is listed with", maxLength=limits.ID_CHARS),
            "yes": boolean_schema("Whether they want it kept"),
        },
        "id",
        "yes",
    ),
)
