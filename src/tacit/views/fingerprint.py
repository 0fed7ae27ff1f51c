"""What was asked, as a hash: equal for the same words of a view with the same arguments."""

from __future__ import annotations

import hashlib
import hmac
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from enum import Enum
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any

from tacit import limits

_TOKEN = b"tacit: done once"
_KNOWN = (str, bytes, Mapping, list, tuple, set, frozenset)
# Of a list that may be one to be gone through only once: more than any word of a view takes.
_LISTED_MAX_COUNT = limits.PARTICIPANTS_MAX_COUNT + 1


def token_of(key: str) -> str:
    return hmac.digest(_TOKEN, key.encode(), "sha256").hex()


def fingerprint(key: str, asked: Mapping[str, Any]) -> str:
    """Keyed with the key, which nobody keeps: of the hash alone, no words can be guessed."""
    try:
        told = json.dumps(_plain(asked), sort_keys=True)
    except (RecursionError, ValueError, OverflowError):  # whoever is asked will refuse it
        told = "?"
    return hmac.digest(key.encode(), told.encode(), hashlib.sha256).hex()


def arguments(word: Callable[..., Any], args: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    """By their names, with what was left out; lists so that they can be gone through twice.
    TypeError as the word itself would raise it."""
    bound = _signature(word).bind(None, *args, **named)
    bound.apply_defaults()
    found = {name: _listed(value) for name, value in bound.arguments.items() if name != "self"}
    for rest in [name for name, value in found.items() if isinstance(value, dict)]:
        if _signature(word).parameters[rest].kind is inspect.Parameter.VAR_KEYWORD:
            found |= {name: _listed(value) for name, value in found.pop(rest).items()}
    return found


@lru_cache(maxsize=256)
def _signature(word: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(word)


def _listed(value: Any) -> Any:
    once = isinstance(value, Iterable) and not isinstance(value, _KNOWN)
    return list(islice(value, _LISTED_MAX_COUNT)) if once else value


def _plain(value: Any) -> Any:
    """As JSON, with the type beside what JSON would mix up."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _plain(value.value)
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
        pairs = [[json.dumps(_plain(k), sort_keys=True), _plain(v)] for k, v in value.items()]
        return {"map": sorted(pairs, key=itemgetter(0))}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted(json.dumps(_plain(one), sort_keys=True) for one in value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {"fields": {one.name: _plain(getattr(value, one.name)) for one in fields(value)}}
    return {"type": type(value).__qualname__}  # nothing that a word of a view would take
