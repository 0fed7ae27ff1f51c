"""What a visitor does to memories: a person to their own alone, an operator as far as operators go.

What was done has a mark, by which it is taken back: an id, with what it was before or is since, so
that nothing is taken back which somebody changed again.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import Conflict, NotFound
from tacit.records.memory import Memory, State, Visibility
from tacit.records.results import Erased
from tacit.surfaces.console.naming import key_of
from tacit.surfaces.console.visitor import Visitor

_BETWEEN = "-"
_GONE = (State.FORGOTTEN, State.SUPERSEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    id: str  # under which it is found since
    changed: bool = True  # false: it was so already
    undo_tokens: tuple[str, ...] = ()  # none: it cannot be taken back


def memory_of(visitor: Visitor, id: str) -> Memory:
    """One that is theirs to look after. What others let them hear is not, and here it is as if it
    were not there."""
    if visitor.is_operator:
        return visitor.operator.show(id)
    memory = visitor.view.show(id)
    if memory.is_turn or memory.owner is None:
        raise NotFound
    if key_of(memory.owner) not in visitor.view.identities():
        raise NotFound
    return memory


def forget(visitor: Visitor, id: str) -> Done:
    memory = memory_of(visitor, id)
    if memory.state is State.PENDING:
        raise Conflict("it waits for a yes: say no to it among the proposals")
    visitor.api.forget(id)
    return _done(id, memory.state not in _GONE)


def restore(visitor: Visitor, id: str) -> Done:
    memory = memory_of(visitor, id)
    visitor.api.restore(id)
    if memory.state is State.EXPIRED:
        return Done(id=id)  # expired again is not what forgetting would make it
    return _done(id, memory.state is State.FORGOTTEN)


def pin(visitor: Visitor, id: str) -> Done:
    return _pin(visitor, id, on=True)


def unpin(visitor: Visitor, id: str) -> Done:
    return _pin(visitor, id, on=False)


def _pin(visitor: Visitor, id: str, *, on: bool) -> Done:
    memory = memory_of(visitor, id)
    visitor.view.pin(id, on)
    return _done(id, memory.pinned is not on)


def set_visibility(visitor: Visitor, id: str, to: Visibility) -> Done:
    memory = memory_of(visitor, id)
    changed = memory.visibility is not to
    if visitor.is_operator:
        visitor.operator.lower_visibility(id, to)
        return Done(id=id, changed=changed)  # only its owner raises it again
    visitor.view.set_visibility(id, to)
    return _done(id, changed, mark(id, memory.visibility, to))


def reword(visitor: Visitor, id: str, content: str, version: int) -> Done:
    """Marked with its version, and with what it took the place of, if it did."""
    memory = memory_of(visitor, id)
    if visitor.is_operator:
        visitor.operator.update(id, content, if_version=version)
        return Done(id=id, undo_tokens=(mark(id, str(version + 1)),))
    done = visitor.view.update(id, content, if_version=version)
    replaced = () if done.supersedes is None else (done.supersedes,)
    changed = done.id != id or done.version != memory.version
    return _done(done.id, changed, mark(done.id, str(done.version)), *replaced)


def withhold(visitor: Visitor, id: str, who: str) -> Done:
    """For good: it can be withheld from more people, and from no fewer."""
    memory_of(visitor, id)
    visitor.api.withhold_from(id, [who])
    return Done(id=id)


def erase(visitor: Visitor, id: str, *, turns: bool = False) -> Erased:
    memory_of(visitor, id)
    if visitor.is_operator:
        return visitor.operator.erase(id)
    return visitor.view.erase(id, turns=turns)


def _done(id: str, changed: bool, *marks: str) -> Done:
    return Done(id=id, changed=changed, undo_tokens=(marks or (id,)) if changed else ())


def mark(*parts: str) -> str:
    return _BETWEEN.join(parts)


def parts_of(marked: str, count: int) -> list[str]:
    found = marked.split(_BETWEEN)
    if len(found) != count:
        raise NotFound
    return found
