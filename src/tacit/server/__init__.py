"""The REST and MCP server."""

from __future__ import annotations
