"""What a session came to, as a JSON document that an agent wrote."""

from __future__ import annotations

import json

from tacit import SessionDraft, limits
from tacit.errors import InvalidInput
from tacit.surfaces.cli import files
from tacit.surfaces.wire import taking


def read(name: str) -> SessionDraft:
    """From a file, or with `-` from standard input."""
    with files.opened(name) as source:
        raw = source.read(limits.IMPORT_LINE_MAX_BYTES + 1)
    if len(raw) > limits.IMPORT_LINE_MAX_BYTES:
        raise InvalidInput("draft", "is too long; sum the session up")
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidInput("draft", "is no JSON") from None
    return taking.draft(found)
