"""Record the outcome of a write under its idempotency key, and answer a repeat from it."""

from __future__ import annotations

import hashlib
import hmac
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from enum import Enum
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import NotFound
from tacit.lifecycle import erasure as erasing
from tacit.lifecycle import erasure_records
from tacit.lifecycle.erasure_records import RecordedErasure
from tacit.records.memory import State
from tacit.records.request import Request
from tacit.records.results import Erased, Recorded, Remembered
from tacit.storage import erasures, learned_facts
from tacit.storage.idempotency import IdempotentResult
from tacit.view.context import ViewContext
from tacit.view.operations import Arguments, Replay

# The fingerprint of a call: equal for the same operation with the same arguments.

_TOKEN_HMAC_KEY = b"tacit: done once"
_REUSABLE_TYPES = (str, bytes, Mapping, list, tuple, set, frozenset)
# Items read of a one-shot iterable: more than any operation takes.
_MATERIALIZED_MAX_COUNT = limits.PARTICIPANTS_MAX_COUNT + 1


def hash_idempotency_key(key: str) -> str:
    return hmac.digest(_TOKEN_HMAC_KEY, key.encode(), "sha256").hex()


def fingerprint_call(key: str, asked: Mapping[str, Any]) -> str:
    """Hash a call with its idempotency key, so that equal calls have equal hashes.

    The key is not stored, so the arguments cannot be guessed from the hash.
    """
    try:
        told = json.dumps(_to_canonical(asked), sort_keys=True)
    except (RecursionError, ValueError, OverflowError):  # the operation refuses such arguments
        told = "?"
    return hmac.digest(key.encode(), told.encode(), hashlib.sha256).hex()


def bind_arguments(word: Callable[..., Any], args: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    """Bind arguments by name, with defaults; turn one-shot iterables into lists.

    Raises TypeError as the operation itself does.
    """
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
    """Convert a value to JSON, with its type where JSON would not distinguish two types."""
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
    return {"type": type(value).__qualname__}  # no operation of a view takes this type


# How the outcome of each kind of write is recorded, and a repeat answered from the record.
#
# No text is recorded: a repeat reads it through the view of the caller.

StoredOutcome = tuple[
    Mapping[str, Any], Sequence[str | None]
]  # plain strings and numbers; ids of memories


def _is_still_visible(
    context: ViewContext, connection: Connection, request: Request, id: str
) -> bool:
    """Return whether the requester may know of this memory: owns it, or may see it here."""
    memory = learned_facts.get_proposed_memory(
        connection, context.storage.audiences, context.space, id
    )
    if memory is None or not context.may_use(memory):
        return False
    if memory.owner in request.own_identities:
        return True
    try:
        context.get_visible(connection, request, id)
    except NotFound:
        return False
    return True


def list_visible_ids(context: ViewContext, done: IdempotentResult) -> dict[int, str]:
    """Return the recorded memories that the requester may still see."""

    def work(connection: Connection, request: Request) -> dict[int, str]:
        ids = sorted(done.ids.items())
        return {
            place: id for place, id in ids if _is_still_visible(context, connection, request, id)
        }

    return context.read(work)


def _record_remembered(made: Remembered, _: Arguments) -> StoredOutcome:
    state = None if made.state is None else made.state.value
    told = {"state": state, "version": made.version, "created": made.created}
    return told, (made.id, made.supersedes)


def _replay_remembered(context: ViewContext, done: IdempotentResult, _: Arguments) -> Remembered:
    ids = list_visible_ids(context, done)
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


def _replay_episodes(context: ViewContext, done: IdempotentResult, _: Arguments) -> Recorded:
    ids = list_visible_ids(context, done)
    if not ids:
        raise NotFound
    return Recorded(ids=tuple(ids.values()))


def record_count(made: int, _: Arguments) -> StoredOutcome:
    return {"count": made}, ()


def _replay_count(_: ViewContext, done: IdempotentResult, __: Arguments) -> int:
    count: int = done.result["count"]
    return count


def _record_changed(_: None, asked: Arguments) -> StoredOutcome:
    ids = [asked[name] for name in ("id", "other") if name in asked]
    return {"ids": len(ids)}, ids


def _replay_changed(context: ViewContext, done: IdempotentResult, _: Arguments) -> None:
    if len(list_visible_ids(context, done)) < done.result["ids"]:
        raise NotFound


def record_nothing(_: Any, __: Arguments) -> StoredOutcome:
    return {}, ()


def _replay_nothing(_: ViewContext, __: IdempotentResult, ___: Arguments) -> None:
    return None


def _record_erased(made: RecordedErasure, _: Arguments) -> StoredOutcome:
    whole = made.counts == made.erasure.counts
    return {"erasure": made.erasure.id, "count": made.count, "whole": whole}, ()


def _replay_erased(context: ViewContext, done: IdempotentResult, _: Arguments) -> Erased:
    """Return the erasure; finish the parts of it that a lock delayed."""

    def work(connection: Connection, _: Request) -> RecordedErasure:
        erasure = erasures.get_erasure(connection, context.space, done.result["erasure"])
        secret = erasures.list_space_secrets(connection).get(context.space)
        if erasure is None or secret is None:
            raise NotFound
        return RecordedErasure(
            erasure=erasure,
            key=erasure_records.derive_certificate_key(secret),
            count=done.result["count"],
            counts=erasure.counts if done.result["whole"] else {"memories": 1},
        )

    return erasing.finish_erasure(context.storage, context.read(work), again=True)


REMEMBERED = Replay(record=_record_remembered, replay=_replay_remembered)
EPISODES = Replay(record=_record_episodes, replay=_replay_episodes)
CHANGED = Replay(record=_record_changed, replay=_replay_changed)
FORGOTTEN = Replay(record=_record_changed, replay=_replay_nothing)
COUNT = Replay(record=record_count, replay=_replay_count)
ERASED = Replay(record=_record_erased, replay=_replay_erased)
NOTHING = Replay(record=record_nothing, replay=_replay_nothing)
