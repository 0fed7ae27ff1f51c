"""Which keys of `language` go together. Each alone may be right, and the whole mean nothing."""

from __future__ import annotations

from tacit.errors import InvalidInput
from tacit.settings.keys import variable
from tacit.settings.records import LanguageSettings


def language_mistake(language: LanguageSettings) -> InvalidInput | None:
    """The first key that is missing or cannot be kept, with the fix; None if they go together.

    `none` may have all of them, so that switching off is one change.
    """
    provider = language.provider
    if provider == "none":
        return None
    if not language.model:
        return _missing("model", f"language.provider is {provider}", "the endpoint's name for it")
    if not language.base_url and not language.api_key_env:
        return _missing(
            "api_key_env",
            f"language.provider is {provider}, at its own address",
            "the name of the variable that holds the key, or language.base_url to a server of "
            "your own",
        )
    free = not language.price_in_per_million and not language.price_out_per_million
    if language.cost_per_day is not None and free:
        return InvalidInput(
            "language.cost_per_day",
            "cannot be kept without prices; set language.price_in_per_million and "
            "language.price_out_per_million, or bound language.tokens_per_day instead",
        )
    return None


def _missing(name: str, why: str, like: str) -> InvalidInput:
    key = f"language.{name}"
    return InvalidInput(key, f"is empty, but {why}; set {key} or {variable(key)} to {like}")
