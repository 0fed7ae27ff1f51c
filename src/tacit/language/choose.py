"""Which language model is asked for. The library is imported when it is asked the first time."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal

from tacit.errors import InvalidInput
from tacit.language.asking import EndpointModel, Output
from tacit.language.budget import Allowance, Prices
from tacit.language.port import LanguageModel

PROVIDERS = ("none", "openai", "anthropic")


def language_model(
    provider: str,
    *,
    model: str,
    base_url: str,
    api_key_env: str,
    environ: Mapping[str, str],
    timeout_seconds: float,
    retries: int,
    max_output_tokens: int,
    temperature: float | None,
    output: Output,
    prices: Prices,
) -> LanguageModel | None:
    """The model, or None for learning by rules alone. `environ` is where the key is.

    Everything is the operator's word; empty text stands for what is not set. `none` takes every
    other argument as it is, so that switching off is one change.
    """
    if provider not in PROVIDERS:
        raise InvalidInput("language.provider", f"choose one of {', '.join(PROVIDERS)}")
    if provider == "none":
        return None
    if not model.strip():
        raise InvalidInput("language.model", f"is needed by the provider {provider}: set it")
    return EndpointModel(
        "anthropic" if provider == "anthropic" else "openai",
        model,
        base_url=base_url or None,
        api_key=_key(api_key_env, environ),
        timeout_seconds=timeout_seconds,
        retries=retries,
        max_output_tokens=max_output_tokens,
        temperature=temperature,
        output=output,
        prices=prices,
    )


def allowance(
    prices: Prices, *, tokens_per_day: int | None, cost_per_day: float | None
) -> Allowance:
    """What a space may spend in a day. A bound on cost needs prices to count with."""
    if cost_per_day is None:
        return Allowance(tokens_per_day=tokens_per_day)
    if not prices.in_per_million and not prices.out_per_million:
        raise InvalidInput(
            "language.cost_per_day",
            "cannot be kept without prices: set language.price_in_per_million and "
            "language.price_out_per_million",
        )
    try:
        micros = int((Decimal(str(cost_per_day)) * 1_000_000).to_integral(ROUND_FLOOR))
    except (ArithmeticError, ValueError):
        micros = -1
    if micros < 0:
        raise InvalidInput("language.cost_per_day", "is not an amount of money: use 0 or more")
    return Allowance(tokens_per_day=tokens_per_day, cost_micros_per_day=micros)


def _key(variable: str, environ: Mapping[str, str]) -> str | None:
    if not variable:
        return None
    key = environ.get(variable, "").strip()
    if not key:  # the name is not repeated, because some write the key itself there
        raise InvalidInput(
            "language.api_key_env",
            "names a variable of the environment that is not set: set it, or correct the name",
        )
    return key
