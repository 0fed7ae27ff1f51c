"""What the settings say about how memories age, merge and go."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """Made by the composition root; each part of the lifecycle has its fields here."""
