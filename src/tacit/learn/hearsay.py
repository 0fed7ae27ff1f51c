"""A person's own word outranks what others say of them; the reverse never happens."""

from __future__ import annotations

from dataclasses import replace

from tacit.learn import remember as remembering
from tacit.learn.attribute import Attributed
from tacit.learn.reconcile import Decision
from tacit.records.memory import State
from tacit.storage import learned_facts, memories
from tacit.storage.memories import Transaction

_MAX_COUNT = 20


def outranked(w: Transaction, decision: Decision, whom: Attributed, by: str) -> None:
    """What others said of the speaker in the same slot gives way, where they heard the speaker say
    otherwise. What was said out of their hearing changes nothing for them: that it did would tell
    them of it."""
    said = decision.statement
    if said is None or not said.about_speaker or whom.hearsay or said.slot is None:
        return
    found = learned_facts.list_hearsay(
        w.connection, w.space, w.request.own_identities, said.slot, _MAX_COUNT
    )
    for kept in found:
        if not _heard(w, kept.owner) or kept.fact.value == said.value:
            continue
        held = memories.get_for_update(w, kept.id)
        if held is not None and held.state is State.ACTIVE:
            w = replace(w, why="the person's own word outranks hearsay")
            remembering.give_way(w, held, by)


def _heard(w: Transaction, owner: str | None) -> bool:
    return (
        owner is not None and owner not in w.request.own_identities and owner in w.request.present
    )
