"""Checkpoints of agents and steps of LangGraph graphs, checked for names and sizes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput
from tacit.records import validation
from tacit.records.validation import JsonLimits

_CHECKPOINT_LIMITS = JsonLimits(
    field="data", bytes=limits.CHECKPOINT_MAX_BYTES, depth=limits.CHECKPOINT_DEPTH_MAX_COUNT
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The last saved state of one person and thread. False from a disabled view."""

    thread: str
    data: Any  # a JSON value
    version: int  # counts saves; pass it with the next save
    updated_at: datetime

    def __bool__(self) -> bool:
        return self.version > 0


def dump_checkpoint(data: object) -> str:
    """Encode as JSON; refuse secrets and values above the size limit."""
    return validation.encode_json_value(data, _CHECKPOINT_LIMITS)


# Steps of a graph: LangGraph's checkpoints, as its serializer writes them.

# Made once: building an encoder takes longer than encoding a step.
dump_compact_json = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStep:
    """The state of a graph after a step, without the values of its channels."""

    thread: str
    ns: str = ""  # of a subgraph; the graph itself has none
    id: str  # sorts by time
    parent: str | None = None
    type: str  # how `data` is written
    data: bytes
    metadata: Mapping[str, Any] = field(default_factory=dict)  # JSON; searchable
    versions: Mapping[str, str] = field(default_factory=dict)  # channel → version of its value
    run: str | None = None
    saved_at: datetime | None = None  # None: not yet


@dataclass(frozen=True, slots=True, kw_only=True)
class StepValue:
    """One version of the value of a channel."""

    channel: str
    version: str
    type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StepWrite:
    """What a task wrote to a channel after a step."""

    task: str
    index: int
    channel: str
    type: str
    data: bytes
    path: str = ""  # of the task; writes are ordered by (path, task, index)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGraphStep:
    step: GraphStep
    values: tuple[StepValue, ...] = ()  # of the channels that have one
    writes: tuple[StepWrite, ...] = ()


def check_step(step: GraphStep) -> str:
    """Check a step and return its metadata as JSON."""
    if not isinstance(step, GraphStep):
        raise InvalidInput("step", "expected a GraphStep")
    parse_thread(step.thread)
    parse_namespace(step.ns)
    parse_step_name("id", step.id)
    parse_step_name("type", step.type)
    if step.parent is not None:
        parse_step_name("parent", step.parent)
    if step.run is not None:
        parse_step_name("run", step.run)
    _check_data("step", step.data)
    if len(step.versions) > limits.STEP_PARTS_MAX_COUNT:
        raise InvalidInput("step", f"has more than {limits.STEP_PARTS_MAX_COUNT:,} channels")
    for channel, version in step.versions.items():
        parse_step_name("channel", channel, limits.STEP_CHANNEL_MAX_BYTES)
        parse_step_name("version", version)
    return dump_metadata(step.metadata)


def check_step_parts(parts: Sequence[StepValue | StepWrite]) -> None:
    if len(parts) > limits.STEP_PARTS_MAX_COUNT:
        most = limits.STEP_PARTS_MAX_COUNT
        raise InvalidInput("step", f"takes at most {most:,} values or writes at once")
    for one in parts:
        parse_step_name("channel", one.channel, limits.STEP_CHANNEL_MAX_BYTES)
        parse_step_name("type", one.type)
        _check_data("value", one.data)
        if isinstance(one, StepValue):
            parse_step_name("version", one.version)
        else:
            parse_step_name("task", one.task)
            _check_byte_length("path", one.path, limits.STEP_PATH_MAX_BYTES)
            validation.parse_int("index", one.index, -(2**31), 2**31 - 1)


def parse_thread(value: object) -> str:
    return parse_step_name("thread", value, limits.STEP_THREAD_MAX_BYTES)


def parse_namespace(value: object) -> str:
    return _check_byte_length("ns", value, limits.STEP_NS_MAX_BYTES)


def parse_step_name(field: str, value: object, most: int = limits.STEP_NAME_MAX_BYTES) -> str:
    if value == "":
        raise InvalidInput(field, "must not be empty")
    return _check_byte_length(field, value, most)


def _check_byte_length(field: str, value: object, most: int) -> str:
    """Check the length in bytes: the value is part of an index key."""
    found = validation.check_storable(field, value, most)
    if not found.isascii() and len(found.encode()) > most:
        raise InvalidInput(field, f"is longer than {most:,} bytes: shorten it")
    return found


def _check_data(field: str, value: object) -> None:
    if not isinstance(value, bytes):
        raise InvalidInput(field, f"expected bytes, got {type(value).__name__}")
    if len(value) > limits.STEP_PART_MAX_BYTES:
        raise InvalidInput(
            field,
            f"is {len(value):,} bytes long; at most {limits.STEP_PART_MAX_BYTES:,} are kept: "
            "keep large things elsewhere, and their address in the state",
        )


def dump_metadata(value: object) -> str:
    if not isinstance(value, Mapping):
        raise InvalidInput("metadata", "expected names and values")
    try:
        whole = dump_compact_json(dict(value))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("metadata", "holds a value that JSON cannot represent") from None
    if len(whole) > limits.STEP_METADATA_MAX_CHARS:
        most = limits.STEP_METADATA_MAX_CHARS
        raise InvalidInput("metadata", f"is longer than {most:,} characters: shorten it")
    return whole


def parse_step_names(field: str, values: object, check: Callable[[object], str]) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InvalidInput(field, "expected a list")
    if len(values) > limits.STEP_NAMES_MAX_COUNT:
        raise InvalidInput(field, f"takes at most {limits.STEP_NAMES_MAX_COUNT:,} at once")
    return sorted({check(one) for one in values})
