"""The settings of upkeep."""

from __future__ import annotations
