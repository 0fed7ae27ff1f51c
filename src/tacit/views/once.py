"""What a view does at most once: how what came of each word is noted, and told again.

Nothing that people wrote is noted. What a repeat tells is read through the view that asks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from tacit import limits
from tacit.clock import from_micros, to_micros
from tacit.errors import NotFound
from tacit.lifecycle import erasure as erasing
from tacit.lifecycle import erasure_records
from tacit.lifecycle.erasure_records import RecordedErasure
from tacit.notes import sessions
from tacit.records import validation
from tacit.records.accounts import Link, LinkWaiting, NameKind, Person
from tacit.records.checkpoints import Checkpoint, dump_checkpoint
from tacit.records.memory import State
from tacit.records.notes import Note, SessionEnded
from tacit.records.request import Request
from tacit.records.results import Accepted, Erased, Recorded, Remembered, Reverted
from tacit.storage import auth, erasures, learned_facts, people
from tacit.storage.idempotency import IdempotentResult
from tacit.storage.spaces import load_identities
from tacit.views.learning import screened
from tacit.views.linking import accepted
from tacit.views.merging import whoever

if TYPE_CHECKING:
    from tacit.views.view import View

Asked = Mapping[str, Any]  # the arguments, by their names
Noting = tuple[Mapping[str, Any], Sequence[str | None]]  # plain words and numbers; ids of memories


class Repeated(Exception):
    """No failure: it undoes the transaction, and is answered."""

    def __init__(self, done: IdempotentResult) -> None:
        super().__init__()
        self.done = done


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word of a view that changes something: what is noted of what it came to, in the same
    transaction, and what a repeat is told."""

    record: Callable[[Any, Asked], Noting]
    replay: Callable[[View, IdempotentResult, Asked], Any]


def _still(view: View, connection: Connection, request: Request, id: str) -> bool:
    """Whether the requester may know that this is there: it is theirs, or they may hear it here."""
    memory = learned_facts.get_proposed_memory(connection, view._storage.audiences, view._space, id)
    if memory is None or not view._may_use(memory):
        return False
    if memory.owner in request.own_identities:
        return True
    try:
        view._get_visible(connection, request, id)
    except NotFound:
        return False
    return True


def _there(view: View, done: IdempotentResult) -> dict[int, str]:
    """Those of the memories that are still there for whoever asks."""

    def work(connection: Connection, request: Request) -> dict[int, str]:
        ids = sorted(done.ids.items())
        return {place: id for place, id in ids if _still(view, connection, request, id)}

    return view._read(work)


def _note_remembered(made: Remembered, _: Asked) -> Noting:
    state = None if made.state is None else made.state.value
    told = {"state": state, "version": made.version, "created": made.created}
    return told, (made.id, made.supersedes)


def _tell_remembered(view: View, done: IdempotentResult, _: Asked) -> Remembered:
    ids = _there(view, done)
    if 0 not in ids:
        raise NotFound
    state = done.result["state"]
    return Remembered(
        id=ids[0],
        state=None if state is None else State(state),
        version=done.result["version"],
        created=done.result["created"],
        supersedes=ids.get(1),
    )


def _note_recorded(made: Sequence[str], _: Asked) -> Noting:
    return {}, tuple(made)


def _tell_recorded(view: View, done: IdempotentResult, _: Asked) -> Recorded:
    ids = _there(view, done)
    if not ids:
        raise NotFound
    return Recorded(ids=tuple(ids.values()))


def _note_count(made: int, _: Asked) -> Noting:
    return {"count": made}, ()


def _tell_accepted(_: View, done: IdempotentResult, asked: Asked) -> Accepted:
    return Accepted(turns=done.result["count"], refused=screened(asked["messages"])[1])


def _tell_count(_: View, done: IdempotentResult, __: Asked) -> int:
    count: int = done.result["count"]
    return count


def _note_changed(_: None, asked: Asked) -> Noting:
    ids = [asked[name] for name in ("id", "other") if name in asked]
    return {"ids": len(ids)}, ids


def _tell_changed(view: View, done: IdempotentResult, _: Asked) -> None:
    if len(_there(view, done)) < done.result["ids"]:
        raise NotFound


def _note_reverted(made: Reverted, _: Asked) -> Noting:
    return asdict(made), ()


def _tell_reverted(_: View, done: IdempotentResult, __: Asked) -> Reverted:
    return Reverted(**done.result)


def _note_nothing(_: Any, __: Asked) -> Noting:
    return {}, ()


def _tell_nothing(_: View, __: IdempotentResult, ___: Asked) -> None:
    return None


def _note_erased(made: RecordedErasure, _: Asked) -> Noting:
    whole = made.counts == made.erasure.counts
    return {"erasure": made.erasure.id, "count": made.count, "whole": whole}, ()


def _tell_erased(view: View, done: IdempotentResult, _: Asked) -> Erased:
    """What was left to do of it, because somebody was in the way, is done now."""

    def work(connection: Connection, _: Request) -> RecordedErasure:
        erasure = erasures.get_erasure(connection, view._space, done.result["erasure"])
        secret = erasures.list_space_secrets(connection).get(view._space)
        if erasure is None or secret is None:
            raise NotFound
        return RecordedErasure(
            erasure=erasure,
            key=erasure_records.derive_certificate_key(secret),
            count=done.result["count"],
            counts=erasure.counts if done.result["whole"] else {"memories": 1},
        )

    return erasing.finish_erasure(view._storage, view._read(work), again=True)


def _tell_person(view: View, _: IdempotentResult, asked: Asked) -> Person:
    def work(connection: Connection, request: Request) -> Person:
        who = people.resolve_person(connection, request, asked["person"], "person")
        said = asked["name"], NameKind(asked["kind"])
        found = people.person_label(connection, request, who, *said) if who else None
        if found is None:
            raise NotFound("person")
        return found

    return view._read(work)


def _tell_merged(view: View, _: IdempotentResult, asked: Asked) -> Person:
    who = asked.get("into", asked["person"])
    found = view._read(lambda connection, request: whoever(connection, request, who))
    if found is None:
        raise NotFound("person")
    return found


def _note_ended(made: SessionEnded, _: Asked) -> Noting:
    told = {name: getattr(made, name) for name in ("path", "added", "merged", "ticked")}
    return told, (made.promoted,)


def _tell_ended(view: View, done: IdempotentResult, asked: Asked) -> SessionEnded:
    """With its note as it is by now, as long as it is the same day."""
    named = validation.parse_optional_identifier(
        "session", asked["session"], limits.LABEL_MAX_CHARS
    )

    def work(connection: Connection, request: Request) -> Note | None:
        here = sessions.find_session(request, view._thread, named)
        if here is None or here.path != done.result["path"]:
            return None
        where = (connection, view._storage.audiences, request, here)
        return sessions.load_session_note(*where, view._may_use)

    promoted = _there(view, done).get(0)
    return SessionEnded(**done.result, promoted=promoted, note=view._read(work))


def _note_checkpoint(made: Checkpoint, _: Asked) -> Noting:
    return {"version": made.version, "updated_at": to_micros(made.updated_at)}, ()


def _tell_checkpoint(view: View, done: IdempotentResult, asked: Asked) -> Checkpoint:
    """What was asked is the data; somebody may have gone on from there, but it is not gone."""
    kept = view.checkpoint(asked["thread"])
    if kept is None or kept.version < done.result["version"]:
        raise NotFound("checkpoint")
    return Checkpoint(
        thread=kept.thread,
        data=json.loads(dump_checkpoint(asked["data"])),
        version=done.result["version"],
        updated_at=from_micros(done.result["updated_at"]),
    )


def _note_accepted(made: LinkWaiting | None, _: Asked) -> Noting:
    return {"accepted": made is not None}, ()


def _tell_accepted_link(view: View, done: IdempotentResult, _: Asked) -> LinkWaiting:
    """As long as it waits. A code that was wrong is not looked for again."""
    me = view._raw_request.subject

    def work(connection: Connection, request: Request) -> auth.PendingLink | None:
        there = me is not None and request.private and done.result["accepted"]
        where = (connection, view._space, me or "", request.at)
        return auth.find_accepted_link(*where) if there else None

    found = view._read(work)
    if found is None:
        raise NotFound("code")
    return accepted(found)


def _note_link(made: Link, _: Asked) -> Noting:
    return {"link": made.id}, ()


def _tell_link(view: View, done: IdempotentResult, _: Asked) -> Link:
    """As it is by now."""
    me = view._raw_request.subject or ""
    found = view._read(lambda connection, _: load_identities(connection, view._space, (me,)))
    link = next((one for one in found.links if one.id == done.result["link"]), None)
    if link is None:
        raise NotFound("link")
    return link


_LINKED = Word(record=_note_link, replay=_tell_link)
_REMEMBERED = Word(record=_note_remembered, replay=_tell_remembered)
_CHANGED = Word(record=_note_changed, replay=_tell_changed)
_COUNTED = Word(record=_note_count, replay=_tell_count)
_ERASED = Word(record=_note_erased, replay=_tell_erased)
_NOTHING = Word(record=_note_nothing, replay=_tell_nothing)
WORDS: Mapping[str, Word] = {
    "accept_link": Word(record=_note_accepted, replay=_tell_accepted_link),
    "approve": _NOTHING,
    "confirm_link": _LINKED,
    "decline": _NOTHING,
    "delete_file": _NOTHING,
    "end_session": Word(record=_note_ended, replay=_tell_ended),
    "erase": _ERASED,
    "forget": Word(record=_note_changed, replay=_tell_nothing),
    "forget_category": _COUNTED,
    "forget_checkpoint": _NOTHING,
    "forget_key": _COUNTED,
    "learn": Word(record=_note_count, replay=_tell_accepted),
    "merge_people": Word(record=_note_nothing, replay=_tell_merged),
    "name": Word(record=_note_nothing, replay=_tell_person),
    "pin": _CHANGED,
    "propose_public": _NOTHING,
    "put": _REMEMBERED,
    "record": Word(record=_note_recorded, replay=_tell_recorded),
    "refuse_link": _NOTHING,
    "relate": _CHANGED,
    "remember": _REMEMBERED,
    "rename_file": _NOTHING,
    "restore": _CHANGED,
    "save_checkpoint": Word(record=_note_checkpoint, replay=_tell_checkpoint),
    "set_visibility": _CHANGED,
    "unlearn": Word(record=_note_reverted, replay=_tell_reverted),
    "unlink_me": _LINKED,
    "unmerge_people": Word(record=_note_nothing, replay=_tell_merged),
    "update": _REMEMBERED,
    "wipe": _ERASED,
    "withhold_from": _CHANGED,
    "write_file": _NOTHING,
}
