"""Secrets are refused: what kind of secret a text holds, and never the secret itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.screening.disguise import readings
from tacit.screening.keys import KEYS
from tacit.screening.kind import SecretKind
from tacit.screening.numbers import NUMBERS
from tacit.screening.places import PLACES
from tacit.screening.stated import STATED
from tacit.screening.tokens import TOKENS

_SHAPED = (*TOKENS, *KEYS, *PLACES, *NUMBERS)
# In the order in which they are looked for: what says more about itself comes first.
KINDS: tuple[SecretKind, ...] = (*_SHAPED, *STATED)
# No key, address or number is written without one of these: a mark, a digit in something long, or
# a long number. Most sentences are.
_TELLING = re.compile(
    r"[_=:/@$+~]|-----|[A-Za-z0-9-]{6}[0-9]|[0-9][A-Za-z0-9-]{6}|[0-9][0-9\s./-]{6}"
)

_HINTS = {
    kinds: tuple({hint for kind in kinds for hint in kind.hints}) for kinds in (KINDS, STATED)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """That there is one, and of which kind. Neither the text nor the place of it is kept."""

    kind: str
    says: str  # one sentence for people


def screen(text: str) -> Secret | None:
    """The first kind of secret that a text holds; None where it holds none that we know."""
    for reading in readings(text):
        # Every write waits for this: most texts hold no hint of anything.
        hinted = reading.lower()
        kinds = KINDS if _TELLING.search(reading) else STATED
        present = {hint for hint in _HINTS[kinds] if hint in hinted}
        for kind in kinds if present else ():
            if not present.isdisjoint(kind.hints) and kind.found(reading):
                return Secret(kind=kind.name, says=kind.says)
    return None


def may_name(words: str) -> bool:
    """Whether what stands under this name may be a secret for that alone: a password, a code."""
    return any(hint in one.lower() for one in readings(words) for hint in _HINTS[STATED])
