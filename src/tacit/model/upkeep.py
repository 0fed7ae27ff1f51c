"""What upkeep answers with."""

from __future__ import annotations
