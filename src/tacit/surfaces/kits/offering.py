"""Which tools of a view are offered to a model, and what its calls of them come to: whatever it
wrote, each call has an answer, and all answers together have a bound."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from tacit.errors import InvalidInput
from tacit.memory import FENCE_CLOSE, DisabledView, View
from tacit.surfaces.tools import Answer, Tool, tools

if TYPE_CHECKING:
    from tacit.surfaces.client import RemoteView

AnyView: TypeAlias = "View | DisabledView | RemoteView"

CALLS_MAX_COUNT = 64  # in one message of a model's
ARGUMENTS_MAX_CHARS = 1_000_000  # of one call
ANSWER_MAX_CHARS = 40_000
ANSWERS_MAX_CHARS = 200_000  # of one message's calls, together

_NO_SUCH_TOOL = "there is no such tool here"
_TOO_MANY = "this is more than can be answered at once: call it again, after these answers"
_CUT = "\n… (cut off here: ask for less at once)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a model asks for. Arguments that are text may be JSON, or not."""

    id: str
    name: str
    arguments: object


@dataclass(frozen=True, slots=True)
class Offering:
    tools: tuple[Tool, ...]

    def answers(
        self, calls: Iterable[Call], leave: Collection[str] = ()
    ) -> Iterator[tuple[Call, Answer]]:
        """In the order of the calls, without those of the names in `leave`: their answers are
        somebody else's to give. Nothing is done any more after too much was asked."""
        _refuse_text("leave", leave)
        room = ANSWERS_MAX_CHARS
        left = tuple(leave)  # a name may be anything, also what no set can be asked for
        ours = (call for call in calls if call.name not in left)
        for number, call in enumerate(ours):
            if number >= CALLS_MAX_COUNT or room <= 0:
                yield call, Answer(text=_TOO_MANY, failed=True)
                continue
            answer = self.answer(call)
            room -= len(answer.text)
            yield call, answer

    def answer(self, call: Call) -> Answer:
        tool = next((one for one in self.tools if one.name == call.name), None)
        if tool is None:
            return Answer(text=_NO_SUCH_TOOL, failed=True)
        try:
            arguments = _read(call.arguments)
        except InvalidInput as error:
            return Answer(text=str(error), failed=True)
        return fitting(tool.call(arguments))


def offering(view: AnyView, only: Collection[str] | None, message: str | None) -> Offering:
    _require_view(view)
    # A view at the other end of the wire has every word that the tools use.
    offered = tools(cast("View | DisabledView", view), message)
    if only is None or not offered:
        return Offering(offered)
    _refuse_text("only", only)
    known = [one.name for one in offered]
    for name in only:
        if name not in known:
            raise InvalidInput("only", f"there is no tool {name!r}; use some of {', '.join(known)}")
    return Offering(tuple(one for one in offered if one.name in only))


def _require_view(given: object) -> None:
    if isinstance(given, View | DisabledView):
        return
    from tacit.surfaces.client import RemoteView  # seldom needed, and not quick to load

    if not isinstance(given, RemoteView):
        raise InvalidInput(
            "view", "expected a view: memory.view(requester, chat), or one of tacit.connect(…)"
        )


def schema(tool: Tool) -> dict[str, Any]:
    """A copy to the last level: a caller may change what they are given."""
    return deepcopy(dict(tool.parameters))


def fitting(answer: Answer) -> Answer:
    if len(answer.text) <= ANSWER_MAX_CHARS:
        return answer
    cut = (
        f"{_CUT}\n{FENCE_CLOSE}" if answer.text.endswith(FENCE_CLOSE) else _CUT
    )  # the fence stays closed
    return replace(answer, text=answer.text[: ANSWER_MAX_CHARS - len(cut)] + cut)


def field(thing: object, name: str) -> Any:
    """Of a record of an SDK, or of what such a record is as JSON."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def has(thing: object, name: str) -> bool:
    return name in thing if isinstance(thing, Mapping) else hasattr(thing, name)


def listed(thing: object, name: str) -> list[Any]:
    """The same, where it is a list: not every server keeps to the form."""
    found = field(thing, name)
    return found if isinstance(found, list) else []


def _refuse_text(name: str, given: Collection[str]) -> None:
    """A single name is a collection of letters to Python, and its parts would count."""
    if isinstance(given, str):
        raise InvalidInput(name, "expected names of tools in a list")


def _read(arguments: object) -> object:
    if not isinstance(arguments, str):
        return arguments
    if len(arguments) > ARGUMENTS_MAX_CHARS:
        problem = f"are too long; write at most {ARGUMENTS_MAX_CHARS:,} characters"
        raise InvalidInput("arguments", problem)
    try:
        return json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        raise InvalidInput("arguments", "expected a JSON object") from None
