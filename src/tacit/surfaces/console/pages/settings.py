"""How the server is set up and what is in the space, in numbers. Secrets are not shown."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from typing import Any

from starlette.responses import Response

import tacit
from tacit.settings import Settings, variable_name
from tacit.settings.load import declared_fields, file_only_readers
from tacit.settings.values import CategorySetting
from tacit.surfaces.console.asking import Asked
from tacit.surfaces.console.routes import Pages, Who

pages = Pages()
NOT_SHOWN = "not shown"
_NONE, _OFF = "none", "off"
_UNITS = (("h", 3_600), ("m", 60), ("s", 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    key: str
    value: str
    usual: str | None  # the default, where it is set to something else
    variable: str | None  # None: a settings file alone can hold it


@pages.get("/settings", who=Who.OPERATOR, nav="Settings")
def show(asked: Asked) -> Response:
    memory = asked.visitor.memory
    return asked.render(
        "settings.html",
        groups=groups(asked.site.settings),
        stats=memory.stats(),
        embedding=memory.embedding(),
        space=asked.visitor.session.space,
        versions={"Tacit": tacit.__version__, "Python": platform.python_version()},
    )


def groups(settings: Settings) -> dict[str, list[Setting]]:
    """By the first word of their keys."""
    found: dict[str, list[Setting]] = {}
    for one in _every(settings):
        found.setdefault(one.key.partition(".")[0], []).append(one)
    return found


def _every(settings: Settings) -> Iterator[Setting]:
    for key, place in declared_fields().items():
        value: Any = reduce(getattr, key.split("."), settings)
        is_set, usual = value != place.default, _written(place.default)
        if not is_set:
            shown = usual
        elif not place.repr:  # a secret, or where people write one: that it is set is all
            shown = NOT_SHOWN
        elif value is None and isinstance(place.default, timedelta):
            shown = _OFF
        else:
            shown = _written(value)
        yield Setting(
            key=key, value=shown, usual=usual if is_set else None, variable=variable_name(key)
        )
    for key in file_only_readers():
        given = getattr(settings, key)
        yield Setting(key=key, value=_written(given), usual=_NONE if given else None, variable=None)


def _written(value: object) -> str:
    """As a settings file has it."""
    if value is None or value == "":
        return _NONE
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, timedelta):
        return _period(value)
    if isinstance(value, CategorySetting):
        return f"{value.name} ({value.context})"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_written(one)}" for key, one in value.items()) or _NONE
    if isinstance(value, tuple | frozenset):
        return ", ".join(map(_written, value)) or _NONE
    return str(value)


def _period(value: timedelta) -> str:
    seconds, parts = int(value.total_seconds()), []
    for unit, length in _UNITS:
        count, seconds = divmod(seconds, length)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0s"
