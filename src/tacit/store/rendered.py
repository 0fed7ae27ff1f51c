"""Statements whose text is made once for each length of their lists.

SQLAlchemy writes out the lists of a statement anew at every execution, which costs more than most
of ours take to run. Here the text is kept, and only the values are filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Executable
from sqlalchemy.engine.interfaces import Dialect as Grammar

Lengths = tuple[tuple[str, int], ...]


def execute(connection: Connection, statement: Any, params: Mapping[str, Any]) -> Any:
    """As `connection.execute`, for parameters of plain types."""
    lengths = lengths_of(params)
    if not all(length for _, length in lengths):
        return connection.execute(statement, params)  # an empty list has a spelling of its own
    sql, order, constants = render(connection.dialect, statement, tuple(params), lengths)
    return connection.exec_driver_sql(sql, filled(params, order, constants))


def lengths_of(params: Mapping[str, Any]) -> Lengths:
    return tuple((n, len(v)) for n, v in params.items() if isinstance(v, list))


def filled(
    params: Mapping[str, Any], order: tuple[str, ...] | None, constants: Mapping[str, Any]
) -> Any:
    """The values as the driver takes them: by position, or by name."""
    flat: dict[str, Any] = dict(constants)
    for name, value in params.items():
        if isinstance(value, list):
            for number, one in enumerate(value, start=1):
                flat[f"{name}_{number}"] = one
        else:
            flat[name] = value
    return flat if order is None else tuple([flat[name] for name in order])


@lru_cache(maxsize=2048)
def render(
    grammar: Grammar, statement: Executable, names: tuple[str, ...], lengths: Lengths
) -> tuple[str, tuple[str, ...] | None, dict[str, Any]]:
    """The SQL; the order of its parameters, where the driver takes them by position; and those
    parameters that belong to the statement itself."""
    samples: dict[str, Any] = dict.fromkeys(names, "")
    samples |= {name: [""] * length for name, length in lengths}
    clause: Any = statement
    known = clause.compile(dialect=grammar).params
    compiled = clause.params({n: v for n, v in samples.items() if n in known}).compile(
        dialect=grammar, compile_kwargs={"render_postcompile": True}
    )
    order = compiled.positiontup
    constants = {name: value for name, value in known.items() if name not in samples}
    return str(compiled), None if order is None else tuple(order), constants
