"""What `add` keeps: messages as they are, what is learned from them, or how a task is done."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit import Chat, Message, Requester, limits
from tacit.compat.mem0.messages import Said
from tacit.compat.mem0.metadata import Given
from tacit.compat.mem0.scope import Scope
from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.records import drafts, validation
from tacit.records.conversation import Role, UserTurn
from tacit.records.drafts import MemoryFields
from tacit.records.memory import Kind

if TYPE_CHECKING:
    from tacit.memory import DisabledView, Memory, View

Item = dict[str, Any]

PROCEDURAL = "procedural_memory"
_log = logging.getLogger(__name__)
_HOW_IT_WAS_DONE = (
    "Below is what an agent and others said while a task was done. Write down, for the agent that "
    "does it next time, what the task was, which steps were taken in which order, what each of "
    "them gave, and where it stands. Leave out small talk. Answer with that text alone."
)
_EVENTS = {"created": "ADD", "restored": "ADD", "updated": "UPDATE", "merged": "UPDATE"}


def view_of(
    memory: Memory, scope: Scope, *, thread: str | None = None, acting: bool = True
) -> View | DisabledView:
    """The person in their own chat. Whoever acts as an agent gets no further than its allow-list
    does."""
    whose = Requester(scope.key, scope.name), Chat.private(scope.key)
    return memory.view(*whose, thread=thread, agent=scope.agent if acting else None)


def add_raw(memory: Memory, scope: Scope, said: Sequence[Said], given: Given) -> list[Item]:
    """Each message is a memory. What cannot be kept is refused before anything is."""
    told = [one for one in said if one.role != Role.SYSTEM]
    fields = [_fields(scope, given, one) for one in told]
    for one, more in zip(told, fields, strict=True):
        drafts.parse_draft({"content": one.content, **more}, ())
    view = view_of(memory, scope)
    made = []
    for one, more in zip(told, fields, strict=True):
        if kept := view.remember(one.content, **more):
            made.append(
                {
                    "id": scope.id_of(kept.id),
                    "memory": one.content,
                    "event": "ADD",
                    "actor_id": one.name,
                    "role": one.role,
                }
            )
    return made


def add_learned(memory: Memory, scope: Scope, said: Sequence[Said], given: Given) -> list[Item]:
    """What the stages of learning make of it, now and here. They know what they did by a thread of
    its own; what they ask about first is not among it, and waits as a proposal."""
    validation.parse_data(given.data)
    thread = f"mem0-{secrets.token_hex(8)}"
    view = view_of(memory, scope, thread=thread)
    if not _handed_over(view, [one.message(scope.user) for one in said]):
        return []
    # A model is asked once a conversation is still; whoever calls `add` has said all of it.
    memory.catch_up() if memory.has_model() else memory.catch_up(thread=thread)
    made = []
    for change in reversed(view.delta().changes):
        event = _EVENTS.get(change.event)
        if event is None or change.content is None:
            continue
        try:
            _say_more(view, change.memory_id, scope, given)
        except (Conflict, NotFound):
            continue  # gone meanwhile, or replaced
        id = scope.id_of(change.memory_id)
        made.append({"id": id, "memory": change.content, "event": event})
    return made


def add_procedure(
    memory: Memory, scope: Scope, said: Sequence[Said], given: Given, prompt: str | None
) -> list[Item]:
    """How something was done, told by a model; without one, as it was said."""
    for one in said:
        validation.parse_content(one.content, "messages")  # before a model hears of it
    words = "\n".join(f"{one.role}: {one.content}" for one in said)
    if not words:
        raise InvalidInput("messages", "say nothing; give the steps of what was done")
    if memory.has_model():
        reply = memory.talk(prompt or _HOW_IT_WAS_DONE, [UserTurn(words)])
        words = reply.text.strip() or words
    fields = _fields(scope, given)
    fields["data"] = {**given.data, "memory_type": PROCEDURAL}
    fields["kind"] = Kind.PROCEDURE
    kept = view_of(memory, scope).remember(words, **fields)
    return [{"id": scope.id_of(kept.id), "memory": words, "event": "ADD"}] if kept else []


def _fields(scope: Scope, given: Given, said: Said | None = None) -> MemoryFields:
    return {
        "role": None if said is None else said.role,
        "agent": scope.agent,
        "run": scope.run,
        "data": given.with_actor(None if said is None else said.name),
        "expires_at": given.expires_at,
    }


def _handed_over(view: View | DisabledView, messages: Sequence[Message]) -> bool:
    """Whether any of them waits to be learned."""
    count = 0
    for start in range(0, len(messages), limits.MESSAGES_MAX_COUNT):
        accepted = view.learn(messages[start : start + limits.MESSAGES_MAX_COUNT])
        count += accepted.turns
        if accepted.refused:
            kinds = ", ".join(accepted.refused)
            _log.warning("messages were left out: they hold secrets (%s)", kinds)
    return count > 0


def _say_more(view: View | DisabledView, id: str, scope: Scope, given: Given) -> None:
    """Learning knows of an agent, and not of runs, metadata and dates."""
    if scope.run is None and not given.data and given.expires_at is None:
        return
    said: MemoryFields = {"run": scope.run, "expires_at": given.expires_at}
    before = view.show(id).data or {}
    if whole := {**before, **given.data}:
        said["data"] = whole
    try:
        view.update(id, **said)
    except InvalidInput:  # too much together: what is said now counts
        said["data"] = given.data
        view.update(id, **said)
