"""A memory that learns with a model behind a real HTTP endpoint, whose answers a test writes."""

from typing import Any

from tacit.settings import Settings
from tacit.settings.sections import LanguageSettings, LearnSettings
from tests.llm.endpoint import Endpoint, Step
from tests.llm.replies import says

# What the rules make nothing of, so that whatever is kept came from the model.
HEDGEHOGS = "you will laugh, but the garden has become a home for eleven hedgehogs"
RADIOS = "turns out Bob restores old radios for a living"
TANGO = "fun fact, tango evenings are what keeps me going"
INSULIN = "insulin three times a day has become routine over here"


def by_model(endpoint: Endpoint | str, *, confirm: str = "never", **language: Any) -> Settings:
    """Learns when a test says so, and asks once unless a test says otherwise."""
    url = endpoint if isinstance(endpoint, str) else endpoint.url
    usual = {"provider": "openai", "model": "tiny", "base_url": url, "retries": 0}
    learn = LearnSettings(workers=0, debounce_seconds=0, confirm=confirm)  # type: ignore[arg-type]
    return Settings(language=LanguageSettings(**{**usual, **language}), learn=learn)


def fact(content: str, quote: str, **more: Any) -> dict[str, Any]:
    """As a model writes one; about the speaker unless a test says otherwise."""
    usual: dict[str, Any] = {"about_speaker": True, "about": [], "kind": "knowledge"}
    return {**usual, "content": content, "quote": quote, "sensitivity": "public", "stated": True} | more


def facts(*listed: dict[str, Any]) -> Step:
    return says({"facts": list(listed)})


GARDEN = fact(
    "Alice's garden has become a home for eleven hedgehogs",
    "the garden has become a home for eleven hedgehogs",
    kind="context",
)
GOOD = facts(GARDEN)
