"""What is looked for among memories, as somebody who looks after them asks: words and filters."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tacit.model.words import Kind, Sensitivity, State, Visibility

ANY: Final = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Each field narrows what is found; None: not by this."""

    words: str | None = None  # each begins some word of it, whatever its case and accents
    category: str | None = None
    kind: Kind | str | None = None
    # Whom it is about: a key, a person: id or, among one's own memories, a name.
    about: str | None = None
    chat: str | None = None  # where it was learned
    visibility: Visibility | str | None = None
    sensitivity: Sensitivity | str | None = None
    state: State | str | None = None  # None: active; ANY: in every state
    pinned: bool | None = None
    since: datetime | None = None  # created then or later
    until: datetime | None = None  # created before
    owner: str | None = None  # whose, by a key: for operators, who look at everybody's


EVERYTHING: Final = Search()
