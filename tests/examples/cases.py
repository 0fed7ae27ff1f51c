"""How each file of `examples/` is run: with which model at the other end, or none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.examples.asked import Asked, Model


@dataclass(frozen=True, kw_only=True)
class Case:
    """What it prints is in its docstring. With nothing else said, it asks no model and no server:
    whoever reaches for one fails."""

    model: Model | None = None  # what it answers to each request, in whichever API
    sent: Callable[[Sequence[Asked]], None] | None = None  # asserts what the model was sent
    served: bool = False  # a server of Tacit is at TACIT_URL, with a key in TACIT_KEY
    environ: Mapping[str, str] = field(default_factory=dict)  # further variables


CASES: dict[str, Case] = {
    "01_ten_lines.py": Case(),
}
