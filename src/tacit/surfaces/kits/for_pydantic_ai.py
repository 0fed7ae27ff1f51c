"""For pydantic-ai: tools of an agent, or of one run of it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from tacit.errors import MissingExtra
from tacit.surfaces.kits.offering import AnyView, fitting, offering, schema

if TYPE_CHECKING:
    import pydantic_ai

    from tacit.surfaces.tools import Tool


def pydantic_ai_tools(
    view: AnyView, *, only: Collection[str] | None = None, message: str | None = None
) -> list[pydantic_ai.Tool[Any]]:
    """None where memory is disabled. `only` names those that are offered; `message` is the
    channel's id of what they are called for, with which what they keep can be taken back."""
    return [_tool(one) for one in offering(view, only, message).tools]


def _tool(tool: Tool) -> pydantic_ai.Tool[Any]:
    try:
        import pydantic_ai
        from pydantic_core import SchemaValidator, core_schema
    except ImportError:
        raise MissingExtra("language", "tools for pydantic-ai") from None
    made = pydantic_ai.Tool[Any].from_schema(
        _called(tool), tool.name, tool.description, schema(tool)
    )
    # It takes any JSON, and would break off the run over what is no object.
    keys = core_schema.dict_schema(core_schema.str_schema())
    made.function_schema.validator = SchemaValidator(keys)
    return made


def _called(tool: Tool) -> Callable[..., str]:
    """Not a coroutine: pydantic-ai runs it in a worker thread."""
    from pydantic_ai import ToolFailed

    def call(**arguments: Any) -> str:
        answer = fitting(tool.call(arguments))
        if answer.failed:
            raise ToolFailed(answer.text)
        return answer.text

    return call
