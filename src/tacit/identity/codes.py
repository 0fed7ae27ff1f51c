"""Codes that show that two identities are one person's: short enough to copy by hand."""

from __future__ import annotations

import secrets

from tacit import limits
from tacit.errors import InvalidInput

# Without 0 and O, 1 and I: of these, nobody mistakes one for another. 32 of them: 5 bits each.
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_HALF = limits.LINK_CODE_CHARS // 2
# What stands between the halves, and what keyboards make of it.
_BETWEEN = str.maketrans("", "", " \t\n\u00a0-\u2010\u2011\u2012\u2013\u2014\u2212")
_WRITTEN_MAX_CHARS = 4 * limits.LINK_CODE_CHARS
NO_CODE = ""  # what stands for everything that cannot be one


def new_code() -> str:
    """As it is shown: XXXXX-XXXXX."""
    code = "".join(secrets.choice(ALPHABET) for _ in range(limits.LINK_CODE_CHARS))
    return f"{code[:_HALF]}-{code[_HALF:]}"


def plain(code: object) -> str:
    """A code in its one spelling, however somebody wrote it. What cannot be one is no error: it is
    looked for like any other, and not found."""
    if not isinstance(code, str):
        raise InvalidInput("code", "expected the code as text, as it was shown")
    if len(code) > _WRITTEN_MAX_CHARS:
        return NO_CODE
    found = code.translate(_BETWEEN)
    # Only then: other alphabets have letters whose capitals are some of ours.
    found = found.upper() if found.isascii() else NO_CODE
    good = len(found) == limits.LINK_CODE_CHARS and set(found) <= set(ALPHABET)
    return found if good else NO_CODE
