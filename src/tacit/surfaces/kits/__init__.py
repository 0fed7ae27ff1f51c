"""Memory for a model that calls functions: the tools of a view in the forms of OpenAI, Anthropic
and pydantic-ai, and the answers to their calls."""

from __future__ import annotations

from tacit.surfaces.kits.for_anthropic import AnthropicKit, anthropic_kit
from tacit.surfaces.kits.for_openai import OpenAIKit, openai_kit
from tacit.surfaces.kits.for_pydantic_ai import pydantic_ai_tools

__all__ = ["AnthropicKit", "OpenAIKit", "anthropic_kit", "openai_kit", "pydantic_ai_tools"]
