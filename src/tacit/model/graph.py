"""Memories and people as a picture: who and what there is, and what belongs together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    id: str  # of a memory, or an identity of a person
    kind: Literal["memory", "person"]
    label: str  # the beginning of what it says, or what they are called
    category: str | None = None  # of a memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """From a memory to a person whom it is about or who said it, or between two memories."""

    source: str
    target: str
    kind: Literal["about", "said_by", "related"]
    strength: float = 1.0  # from 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()  # both ends of each are among the nodes
    left_out: int = 0  # memories for which there was no room
