"""How each file of `examples/` is run: with which model at the other end, or none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.examples.asked import Asked, Called, Model, Spoken, Wire


@dataclass(frozen=True, kw_only=True)
class Case:
    """What it prints is in its docstring. With nothing else said, it asks no model and no server:
    whoever reaches for one fails."""

    model: Model | None = None  # what it answers to each request, in whichever API
    sent: Callable[[Sequence[Asked]], None] | None = None  # asserts what the model was sent
    served: bool = False  # a server of Tacit is at TACIT_URL, with a key in TACIT_KEY
    environ: Mapping[str, str] = field(default_factory=dict)  # further variables


TEA = "Alice drinks green tea"


def attentive(asked: Asked) -> Spoken:
    """A model that keeps what it is told, and looks up what it is asked."""
    if not asked.results:
        if "I drink" in asked.said:
            return Called("add_to_memory", {"content": TEA, "category": "preference"})
        return [Called("memory_query", {"query": asked.said}), Called("memory_list", {}, "second")]
    if asked.results[0].startswith("Stored"):
        return "Noted."
    return "Green tea." if all(TEA in one for one in asked.results) else "I do not know."


def by(wire: Wire) -> Callable[[Sequence[Asked]], None]:
    """Asked over this wire, with tools; and in the group no word came of what was private."""

    def sent(asked: Sequence[Asked]) -> None:
        assert {one.wire for one in asked} == {wire}
        assert all("memory_query" in one.tools for one in asked)
        in_group = [one for one in asked if "What does Alice drink?" in one.text]
        assert len(in_group) == 2
        assert not any("green tea" in one.text for one in in_group)

    return sent


CASES: dict[str, Case] = {
    "01_ten_lines.py": Case(),
    "02_learning.py": Case(),
    "03_prompt.py": Case(),
    "anthropic_tools.py": Case(model=attentive, sent=by("messages")),
    "group_bot.py": Case(),
    "import_memories.py": Case(),
    "mcp_client.py": Case(),
    "langgraph_agent.py": Case(),
    "langgraph_store.py": Case(),
    "mem0_script.py": Case(),
    "openai_responses.py": Case(model=attentive, sent=by("responses")),
    "openai_tools.py": Case(model=attentive, sent=by("chat completions")),
    "pydantic_ai_agent.py": Case(model=attentive, sent=by("responses"), environ={"MODEL": "openai:scripted"}),
    "rest_client.py": Case(served=True),
}
