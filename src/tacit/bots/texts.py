"""Texts of the bots by name, from texts.yaml: `texts.NOT_LINKED`."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def _load_texts() -> dict[str, str]:
    import yaml

    source = resources.files("tacit.bots").joinpath("texts.yaml").read_text("utf-8")
    found: dict[str, str] = yaml.safe_load(source)
    return found


def __getattr__(name: str) -> str:
    """Return a text, which is a plain attribute from then on; a test checks the names in the package."""
    if name not in _load_texts():
        raise AttributeError(f"texts.yaml has no {name}")
    text: str = globals().setdefault(name, _load_texts()[name])
    return text
