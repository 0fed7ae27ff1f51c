"""Tools for models, bound to a view: one registry for MCP, bots and function calling alike."""

from __future__ import annotations

from tacit.tools.registry import tools
from tacit.tools.tool import Answer, Tool

__all__ = ["Answer", "Tool", "tools"]
