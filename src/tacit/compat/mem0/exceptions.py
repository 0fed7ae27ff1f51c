"""The one error of mem0's own that its open-source memory raises for what it is handed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.errors import InvalidInput


class ValidationError(InvalidInput):
    """With the attributes that scripts read from mem0's; here it is a ValueError, too."""

    def __init__(
        self, field: str, problem: str, error_code: str, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(field, problem)
        self.message = str(self)
        self.error_code = error_code
        self.details = dict(details or {})
        self.suggestion = problem
