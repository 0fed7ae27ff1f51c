"""What was handed in is refused, by the name of the part that was wrong."""

from collections.abc import Callable
from typing import Any

import pytest

import tacit


def refuses(call: Callable[..., object], field: str, /, *given: Any, **named: Any) -> None:
    with pytest.raises(tacit.InvalidInput) as refusal:
        call(*given, **named)
    assert refusal.value.field == field
    assert str(refusal.value).startswith(f"{field}: ")
