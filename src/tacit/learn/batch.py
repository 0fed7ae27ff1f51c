"""The messages of one call that may be kept, each with the hold that it is under.

A hold is read from the words of a message and from the messages around it: the parts of one long
message share their holds, a message that is nothing but a hold ("but don't tell Quinn") is about
the message before it, and an answer is under the holds of what it answers, because it repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.learn.facts import Hold
from tacit.learn.reading.holds import Reach, combined, is_bare, read_holds
from tacit.records.conversation import ParsedMessage, Role


@dataclass(frozen=True, slots=True)
class HeldMessage:
    """A message that may be kept."""

    said: ParsedMessage
    scope: Reach
    hold_words: tuple[str, ...] = ()  # other messages of the batch whose holds are on this one


def read_batch(said: Sequence[ParsedMessage]) -> list[HeldMessage]:
    """The messages without those that the speaker asked not to remember."""
    own = [_own_hold(one) for one in said]
    if not any(one.guarded for one in own):
        return [HeldMessage(one, reach) for one, reach in zip(said, own, strict=True)]
    sources = _sources(said, own)
    whole = [combined(own[n] for n in found) for found in sources]
    return [
        HeldMessage(one, whole[n], tuple(said[m].content for m in sorted(sources[n]) if m != n))
        for n, one in enumerate(said)
        if whole[n].hold is not Hold.UNKEPT
    ]


def _own_hold(said: ParsedMessage) -> Reach:
    found = read_holds(said.content)
    if found.hold is Hold.UNKEPT and said.role is not Role.USER:
        # Only a person asks for that: others who use the words repeat them, or quote a page.
        return replace(found, hold=Hold.PRIVATE)
    return found


def _sources(said: Sequence[ParsedMessage], own: Sequence[Reach]) -> list[set[int]]:
    """For each message, the messages whose holds it is under."""
    found = [{n} if own[n].guarded else set[int]() for n in range(len(said))]
    spoken: dict[str | None, int] = {}  # the last message of each speaker
    for n, one in enumerate(said):
        if one.role is not Role.USER:
            continue
        before = spoken.get(one.name)
        if before is not None and own[n].guarded and is_bare(one.content):
            found[before].add(n)
        spoken[one.name] = n
    for parts in _parts(said):
        shared = set[int]().union(*(found[n] for n in parts))
        for n in parts:
            found[n] |= shared
    answered: set[int] = set()
    for n, one in enumerate(said):
        if one.role is Role.USER:
            answered = found[n]
        else:
            found[n] |= answered
    return found


def _parts(said: Sequence[ParsedMessage]) -> list[list[int]]:
    """Messages that a channel cut into several, which have its one id."""
    by_id: dict[tuple[str, str | None, str], list[int]] = {}
    for n, one in enumerate(said):
        if one.id is not None:
            by_id.setdefault((one.role, one.name, one.id), []).append(n)
    return [parts for parts in by_id.values() if len(parts) > 1]
