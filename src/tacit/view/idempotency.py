"""Record the outcome of a write under its idempotency key, and answer a repeat from it."""

from __future__ import annotations

import hashlib
import hmac
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, date, datetime
from enum import Enum
from functools import lru_cache
from itertools import islice
from operator import itemgetter
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
from tacit.view.account import build_accepted_link
from tacit.view.learning import screen_messages
from tacit.view.people import find_known_person

if TYPE_CHECKING:
    from tacit.view.view import View


# What was asked, as a hash: equal for the same words of a view with the same arguments.

_TOKEN_HMAC_KEY = b"tacit: done once"
_REUSABLE_TYPES = (str, bytes, Mapping, list, tuple, set, frozenset)
# Of a list that may be one to be gone through only once: more than any word of a view takes.
_MATERIALIZED_MAX_COUNT = limits.PARTICIPANTS_MAX_COUNT + 1


def hash_idempotency_key(key: str) -> str:
    return hmac.digest(_TOKEN_HMAC_KEY, key.encode(), "sha256").hex()


def fingerprint_call(key: str, asked: Mapping[str, Any]) -> str:
    """Keyed with the key, which nobody keeps: of the hash alone, no words can be guessed."""
    try:
        told = json.dumps(_to_canonical(asked), sort_keys=True)
    except (RecursionError, ValueError, OverflowError):  # whoever is asked will refuse it
        told = "?"
    return hmac.digest(key.encode(), told.encode(), hashlib.sha256).hex()


def bind_arguments(word: Callable[..., Any], args: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    """By their names, with what was left out; lists so that they can be gone through twice.
    TypeError as the word itself would raise it."""
    bound = _signature(word).bind(None, *args, **named)
    bound.apply_defaults()
    found = {name: _materialize(value) for name, value in bound.arguments.items() if name != "self"}
    for rest in [name for name, value in found.items() if isinstance(value, dict)]:
        if _signature(word).parameters[rest].kind is inspect.Parameter.VAR_KEYWORD:
            found |= {name: _materialize(value) for name, value in found.pop(rest).items()}
    return found


@lru_cache(maxsize=256)
def _signature(word: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(word)


def _materialize(value: Any) -> Any:
    once = isinstance(value, Iterable) and not isinstance(value, _REUSABLE_TYPES)
    return list(islice(value, _MATERIALIZED_MAX_COUNT)) if once else value


def _to_canonical(value: Any) -> Any:
    """As JSON, with the type beside what JSON would mix up."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _to_canonical(value.value)
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return {"int": f"{value:x}"}
    if isinstance(value, float):
        return {"float": repr(float(value))}
    if isinstance(value, datetime):
        moment = value.astimezone(UTC) if value.tzinfo is not None else value
        return {"at": moment.isoformat()}
    if isinstance(value, date):
        return {"day": value.isoformat()}
    if isinstance(value, Mapping):
        pairs = [
            [json.dumps(_to_canonical(k), sort_keys=True), _to_canonical(v)]
            for k, v in value.items()
        ]
        return {"map": sorted(pairs, key=itemgetter(0))}
    if isinstance(value, list | tuple):
        return [_to_canonical(one) for one in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted(json.dumps(_to_canonical(one), sort_keys=True) for one in value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {
            "fields": {one.name: _to_canonical(getattr(value, one.name)) for one in fields(value)}
        }
    return {"type": type(value).__qualname__}  # nothing that a word of a view would take


# What a view does at most once: how what came of each word is noted, and told again.
#
# Nothing that people wrote is noted. What a repeat tells is read through the view that asks.

Arguments = Mapping[str, Any]  # the arguments, by their names
StoredOutcome = tuple[
    Mapping[str, Any], Sequence[str | None]
]  # plain words and numbers; ids of memories


class RepeatedCall(Exception):
    """No failure: it undoes the transaction, and is answered."""

    def __init__(self, done: IdempotentResult) -> None:
        super().__init__()
        self.done = done


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyRule:
    """A word of a view that changes something: what is noted of what it came to, in the same
    transaction, and what a repeat is told."""

    record: Callable[[Any, Arguments], StoredOutcome]
    replay: Callable[[View, IdempotentResult, Arguments], Any]


def _is_still_visible(view: View, connection: Connection, request: Request, id: str) -> bool:
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


def _list_visible_ids(view: View, done: IdempotentResult) -> dict[int, str]:
    """Those of the memories that are still there for whoever asks."""

    def work(connection: Connection, request: Request) -> dict[int, str]:
        ids = sorted(done.ids.items())
        return {place: id for place, id in ids if _is_still_visible(view, connection, request, id)}

    return view._read(work)


def _record_remembered(made: Remembered, _: Arguments) -> StoredOutcome:
    state = None if made.state is None else made.state.value
    told = {"state": state, "version": made.version, "created": made.created}
    return told, (made.id, made.supersedes)


def _replay_remembered(view: View, done: IdempotentResult, _: Arguments) -> Remembered:
    ids = _list_visible_ids(view, done)
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


def _record_episodes(made: Sequence[str], _: Arguments) -> StoredOutcome:
    return {}, tuple(made)


def _replay_episodes(view: View, done: IdempotentResult, _: Arguments) -> Recorded:
    ids = _list_visible_ids(view, done)
    if not ids:
        raise NotFound
    return Recorded(ids=tuple(ids.values()))


def _record_count(made: int, _: Arguments) -> StoredOutcome:
    return {"count": made}, ()


def _replay_learn(_: View, done: IdempotentResult, asked: Arguments) -> Accepted:
    return Accepted(turns=done.result["count"], refused=screen_messages(asked["messages"])[1])


def _replay_count(_: View, done: IdempotentResult, __: Arguments) -> int:
    count: int = done.result["count"]
    return count


def _record_changed(_: None, asked: Arguments) -> StoredOutcome:
    ids = [asked[name] for name in ("id", "other") if name in asked]
    return {"ids": len(ids)}, ids


def _replay_changed(view: View, done: IdempotentResult, _: Arguments) -> None:
    if len(_list_visible_ids(view, done)) < done.result["ids"]:
        raise NotFound


def _record_reverted(made: Reverted, _: Arguments) -> StoredOutcome:
    return asdict(made), ()


def _replay_reverted(_: View, done: IdempotentResult, __: Arguments) -> Reverted:
    return Reverted(**done.result)


def _record_nothing(_: Any, __: Arguments) -> StoredOutcome:
    return {}, ()


def _replay_nothing(_: View, __: IdempotentResult, ___: Arguments) -> None:
    return None


def _record_erased(made: RecordedErasure, _: Arguments) -> StoredOutcome:
    whole = made.counts == made.erasure.counts
    return {"erasure": made.erasure.id, "count": made.count, "whole": whole}, ()


def _replay_erased(view: View, done: IdempotentResult, _: Arguments) -> Erased:
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


def _replay_person(view: View, _: IdempotentResult, asked: Arguments) -> Person:
    def work(connection: Connection, request: Request) -> Person:
        who = people.resolve_person(connection, request, asked["person"], "person")
        said = asked["name"], NameKind(asked["kind"])
        found = people.person_label(connection, request, who, *said) if who else None
        if found is None:
            raise NotFound("person")
        return found

    return view._read(work)


def _replay_merged(view: View, _: IdempotentResult, asked: Arguments) -> Person:
    who = asked.get("into", asked["person"])
    found = view._read(lambda connection, request: find_known_person(connection, request, who))
    if found is None:
        raise NotFound("person")
    return found


def _record_session_end(made: SessionEnded, _: Arguments) -> StoredOutcome:
    told = {name: getattr(made, name) for name in ("path", "added", "merged", "ticked")}
    return told, (made.promoted,)


def _replay_session_end(view: View, done: IdempotentResult, asked: Arguments) -> SessionEnded:
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

    promoted = _list_visible_ids(view, done).get(0)
    return SessionEnded(**done.result, promoted=promoted, note=view._read(work))


def _record_checkpoint(made: Checkpoint, _: Arguments) -> StoredOutcome:
    return {"version": made.version, "updated_at": to_micros(made.updated_at)}, ()


def _replay_checkpoint(view: View, done: IdempotentResult, asked: Arguments) -> Checkpoint:
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


def _record_accepted_link(made: LinkWaiting | None, _: Arguments) -> StoredOutcome:
    return {"accepted": made is not None}, ()


def _replay_accepted_link(view: View, done: IdempotentResult, _: Arguments) -> LinkWaiting:
    """As long as it waits. A code that was wrong is not looked for again."""
    me = view._raw_request.subject

    def work(connection: Connection, request: Request) -> auth.PendingLink | None:
        there = me is not None and request.private and done.result["accepted"]
        where = (connection, view._space, me or "", request.at)
        return auth.find_accepted_link(*where) if there else None

    found = view._read(work)
    if found is None:
        raise NotFound("code")
    return build_accepted_link(found)


def _record_link(made: Link, _: Arguments) -> StoredOutcome:
    return {"link": made.id}, ()


def _replay_link(view: View, done: IdempotentResult, _: Arguments) -> Link:
    """As it is by now."""
    me = view._raw_request.subject or ""
    found = view._read(lambda connection, _: load_identities(connection, view._space, (me,)))
    link = next((one for one in found.links if one.id == done.result["link"]), None)
    if link is None:
        raise NotFound("link")
    return link


_LINK_RULE = IdempotencyRule(record=_record_link, replay=_replay_link)
_REMEMBERED_RULE = IdempotencyRule(record=_record_remembered, replay=_replay_remembered)
_CHANGED_RULE = IdempotencyRule(record=_record_changed, replay=_replay_changed)
_COUNT_RULE = IdempotencyRule(record=_record_count, replay=_replay_count)
_ERASED_RULE = IdempotencyRule(record=_record_erased, replay=_replay_erased)
_NOTHING_RULE = IdempotencyRule(record=_record_nothing, replay=_replay_nothing)
IDEMPOTENCY_RULES: Mapping[str, IdempotencyRule] = {
    "accept_link": IdempotencyRule(record=_record_accepted_link, replay=_replay_accepted_link),
    "approve": _NOTHING_RULE,
    "confirm_link": _LINK_RULE,
    "decline": _NOTHING_RULE,
    "delete_file": _NOTHING_RULE,
    "end_session": IdempotencyRule(record=_record_session_end, replay=_replay_session_end),
    "erase": _ERASED_RULE,
    "forget": IdempotencyRule(record=_record_changed, replay=_replay_nothing),
    "forget_category": _COUNT_RULE,
    "forget_checkpoint": _NOTHING_RULE,
    "forget_key": _COUNT_RULE,
    "learn": IdempotencyRule(record=_record_count, replay=_replay_learn),
    "merge_people": IdempotencyRule(record=_record_nothing, replay=_replay_merged),
    "name": IdempotencyRule(record=_record_nothing, replay=_replay_person),
    "pin": _CHANGED_RULE,
    "propose_public": _NOTHING_RULE,
    "put": _REMEMBERED_RULE,
    "record": IdempotencyRule(record=_record_episodes, replay=_replay_episodes),
    "refuse_link": _NOTHING_RULE,
    "relate": _CHANGED_RULE,
    "remember": _REMEMBERED_RULE,
    "rename_file": _NOTHING_RULE,
    "restore": _CHANGED_RULE,
    "save_checkpoint": IdempotencyRule(record=_record_checkpoint, replay=_replay_checkpoint),
    "set_visibility": _CHANGED_RULE,
    "unlearn": IdempotencyRule(record=_record_reverted, replay=_replay_reverted),
    "unlink_me": _LINK_RULE,
    "unmerge_people": IdempotencyRule(record=_record_nothing, replay=_replay_merged),
    "update": _REMEMBERED_RULE,
    "wipe": _ERASED_RULE,
    "withhold_from": _CHANGED_RULE,
    "write_file": _NOTHING_RULE,
}
