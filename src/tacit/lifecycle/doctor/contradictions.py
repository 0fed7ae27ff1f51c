"""Two active memories of one owner that cannot both hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, and_, or_, select

from tacit.clock import from_micros, to_micros
from tacit.learning import memory_writes as remembering
from tacit.learning.corrections.supersession import KnownFact, replaces
from tacit.learning.facts import Mention, StatedFact
from tacit.lifecycle.doctor.check import Case, Check, Patient, each
from tacit.records.memory import State
from tacit.storage import integrity, memories
from tacit.storage.learned_facts import unpack_mentions
from tacit.storage.memories import Transaction
from tacit.storage.schema import learned, memories_table, memory_versions

_COMPARED_MAX_COUNT = 40  # of one slot, the newest
_WHY = "another value of the same"
_M = memories_table.c
_L = learned.c
_V = memory_versions.c
_FACTS = (
    select(
        _M.id, _M.content, _M.speaker, _M.pinned, _M.updated_at, _M.owner,
        _L.slot, _L.value, _L.negated, _L.about_speaker, _L.about,
    )
    .join(learned, and_(_L.space_id == _M.space_id, _L.memory_id == _M.id))
    .outerjoin(
        memory_versions,
        and_(_V.space_id == _M.space_id, _V.memory_id == _M.id, _V.version == _M.version),
    )
    .where(_M.state == State.ACTIVE.value, _M.is_turn.is_(False))
    .order_by(_V.created_at.desc(), _M.id.desc())
    .limit(_COMPARED_MAX_COUNT)
)  # fmt: skip


def _find(connection: Connection, patient: Patient) -> Iterator[Case]:
    now = to_micros(patient.store.clock())
    for slot in integrity.list_broken_rows(connection, integrity.DUPLICATE_SLOTS, patient.space):
        of = (_L.space_id == patient.space, _L.owner == slot.owner, _L.slot == slot.slot)
        holds = or_(_M.expires_at.is_(None), _M.expires_at > now)
        yield from _pairs(connection.execute(_FACTS.where(*of, holds)).all())


def _pairs(newest_first: Any) -> Iterator[Case]:
    """Each older one once, with the newest that puts an end to it."""
    for at, old in enumerate(newest_first):
        by = next((new for new in newest_first[:at] if replaces(_known(old), _said(new))), None)
        if by is not None:
            yield Case((old.id, by.id), old.id, repairable=_plain(old, by))


def _plain(old: Any, new: Any) -> bool:
    """The same person said both, and nobody asked for the older one to be kept."""
    same = old.speaker is not None and old.speaker == new.speaker
    return same and old.owner is not None and old.owner == new.owner and not old.pinned


def _about(row: Any) -> tuple[Mention, ...]:
    return tuple(
        Mention(text=text, name=name, relation=relation, username=username)
        for text, name, relation, username in unpack_mentions(row.about)
    )


def _known(row: Any) -> KnownFact:
    return KnownFact(
        content=row.content,
        slot=row.slot,
        value=row.value,
        about_speaker=bool(row.about_speaker),
        said_at=from_micros(row.updated_at),
        about=_about(row),
        negated=bool(row.negated),
    )


def _said(row: Any) -> StatedFact:
    return StatedFact(
        content=row.content,
        quote="",
        explicit=False,
        kind=None,
        about_speaker=bool(row.about_speaker),
        about=_about(row),
        hearsay=False,
        slot=row.slot,
        value=row.value,
        negated=bool(row.negated),
        observed_at=None,
        withheld_from=(),
        hold=None,
    )


def _mend(w: Transaction, case: Case) -> bool:
    """As learning would have done, had it compared the two."""
    old, new = (memories.get_for_update(w, id) for id in case.key)
    if old is None or new is None or old.state is not State.ACTIVE:
        return True
    if new.state is not State.ACTIVE or old.speaker != new.speaker:
        return False
    remembering.supersede_memory(replace(w, why=_WHY), old, new.id)
    return True


CONTRADICTIONS = Check(
    name="contradictions",
    description="memories say something that a newer one of the same owner contradicts",
    remedy="lets the older give way where the same person said both and did not pin it; otherwise "
    "ask its owner which holds",
    find=_find,
    repair=each(_mend),
)
