"""A view whose every word is counted and timed. Where nothing is measured, nobody makes one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Self, cast

from tacit.errors import TacitError
from tacit.telemetry.metrics import Meter, measure_operation
from tacit.views.view import View, once_key


class MeasuredView(View):
    """Answers as a view does. What a word does by way of another one counts once: the work is that
    of a plain view."""

    def once(self, key: str) -> Self:
        return cast("Self", MeasuredOnceView(**vars(self), _given=once_key(key)))

    def _plain(self) -> View:
        return View(
            self._runtime, self._raw_request, self._space, self._thread, self._options, self._agent
        )


@dataclass(frozen=True)
class MeasuredOnceView(MeasuredView):
    _given: str = ""  # the key

    def once(self, key: str) -> Self:
        return replace(self, _given=once_key(key))

    def _plain(self) -> View:
        return super()._plain().once(self._given)


def _measured(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def ask(self: MeasuredView, *args: Any, **named: Any) -> Any:
        with measure_operation(self._storage.meter, name):
            return getattr(self._plain(), name)(*args, **named)

    return ask


def _measured_lines(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """From the first line to the last, with what the reader does between them."""

    @wraps(method)
    def ask(self: MeasuredView, *args: Any, **named: Any) -> Iterator[Any]:
        meter = self._storage.meter
        try:
            lines = getattr(self._plain(), name)(*args, **named)
        except TacitError:
            with measure_operation(meter, name):
                raise
        return _lines(meter, name, lines)

    return ask


def _lines(meter: Meter, name: str, lines: Iterator[Any]) -> Iterator[Any]:
    with measure_operation(meter, name):
        yield from lines


def _gives_lines(method: Callable[..., Any]) -> bool:
    return str(method.__annotations__.get("return", "")).startswith("Iterator")


for _name, _method in inspect.getmembers(View, inspect.isfunction):
    # The first does nothing by itself, and what the second gives counts each of its own words.
    if not _name.startswith("_") and _name not in ("once", "steps"):
        _made = _measured_lines if _gives_lines(_method) else _measured
        setattr(MeasuredView, _name, _made(_name, _method))
