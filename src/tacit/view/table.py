"""List every operation of a view by its full name, and declare the names of their metrics."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tacit.telemetry.metrics import register_operations
from tacit.view.operations import Operation, Repeat, list_operations
from tacit.view.view import View


def _collect() -> Mapping[str, Operation]:
    found: dict[str, Operation] = {}
    for operation in list_operations(View):
        assert operation.name not in found, f"{operation.name} is declared twice"
        replayed = operation.repeat is Repeat.REPLAYED
        assert replayed == (operation.replay is not None), f"{operation.name}: replay and repeat"
        found[operation.name] = operation
    return MappingProxyType(found)


VIEW_OPERATIONS = _collect()
register_operations(operation.measured_as for operation in VIEW_OPERATIONS.values())
