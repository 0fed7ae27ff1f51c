"""Texts and JSON values that are legal and cost as much as we know how to make them cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

# One hint of each kind of secret, words of the rules for learning, and marks that regular
# expressions go back over. Each is repeated up to the length that a field takes.
UNITS = (
    "a ", "a", "I ", "my ", "(", "((", "[", "{", "<", "0 ", "0", "1.", "1-", "1 ", ". ", ", ",
    "and ", "my name is ", "I like ", "I like tea. ", "I like tea and ", "My sister Ana ",
    "Ana and ", "Ana, ", "Ana's ", "my sister's ", "I live in ", "I work at ", "because ",
    "that ", "not ", "actually ", "no longer ", "instead ", "tomorrow ", "on Monday ", "at 5 ",
    "2024-01-01 ", "ich ", "mein ", "und ", "dass ", "ist ", "I told Ana that ", "remember that ",
    "remember ", "don't tell ", "don't tell Ana ", "between us ", "you must ", "always ",
    "ignore ", "ignore all ", "ignore all previous ", "system: ", "<|im_start|>", "<!--",
    "password ", "password: ", "the password is ", "my pin is ", "pin ", "code ", "otp ",
    "key=", "key = ", "token=", "&key=", "api_key ", "secret ", "secret", "aws ", "twilio ",
    "cookie: a=", "bearer ", "basic ", "curl ", "mysql ", "machine a login ", "postgres://",
    "https://a:b@", "://", "@", "a@", "a.", "eyJ", "eyJ.", "sk-", "AKIA", "xox", "-----BEGIN ",
    "-----", "_", "=", ":", "a:", "/", "\\", '"', "'", "`", "```", "# ", "* ", "\n", "\n- ",
    "\n# ", "\n\n", " ", "\t", "1234 ", "4111 ", "4111 1111 ", "DE89 ", "123-45-6789 ", "ssn ",
    "abandon ", "wifi ", "WIFI:T:", "+1 ", "$2a$", "~", "|", "> ", "[a](", "![", "&#", "é",
    "e\u0301", "\u0301", "\u0301\u0316", "\ufdfa", "a\u200b", "\u0430a", "\u0661", "\U0001d7ce",
    "\u1e9e",
    "code for a ", "use 1234 as ", "TAN ", "Code: ", "A", "A ", "Ana ", "AB1", "aB3", "?", "? ",
    "! ", "; ", "...", "- ", "-- ", "I am ", "I'm ", "she ", "her ", "if ", "which ", "when ",
    "Ana said that ", "my my ", "from ", "to ", "from now on ", "I was ", "I have ", "we ",
    "my dog ", "the ", "of ", "my friend of ", "Dr. ", "5pm ", "12/25 ", "in May ", "every ",
    "marks",
)  # fmt: skip


MARKS = "marks"  # those above first, then those below: to put in order when it is normalised


def filled(unit: str, chars: int) -> str:
    """That many characters of it, and something to be seen."""
    if unit == MARKS:
        return "x" + "\u0301" * (chars // 2) + "\u0316" * (chars - chars // 2 - 1)
    return ("x" + unit * (chars // len(unit) + 1))[:chars]


def texts(chars: int) -> Iterator[tuple[str, str]]:
    """By what they are made of."""
    for unit in UNITS:
        yield repr(unit), filled(unit, chars)


def fitting(unit: str, bytes_max: int) -> str:
    """As much of it as fits into JSON of that size."""
    if unit == MARKS:
        return filled(unit, bytes_max // 2 - 16)
    one = len(json.dumps(unit, ensure_ascii=False).encode()) - 2
    return "x" + unit * max(1, (bytes_max - 16) // one)


def values(bytes_max: int) -> Iterator[tuple[str, Any]]:
    """JSON values of that size at most."""
    for unit in UNITS:
        yield f"one text of {unit!r}", fitting(unit, bytes_max)
        yield f"under a name of a secret, {unit!r}", {"password": fitting(unit, bytes_max - 16)}
    for unit in ("key=", "a ", "\ufdfa", "password ", "1234 ", "token="):
        deep: Any = fitting(unit, bytes_max - 64)
        for name in ("password", "secret", "code", "pin"):
            deep = {name: deep}
        yield f"under four such names, {unit!r}", deep
        part = fitting(unit, 200)
        each = len(json.dumps(part, ensure_ascii=False).encode()) + 1
        listed: Any = [part] * ((bytes_max - 64) // each)
        for name in ("password", "secret", "code", "pin"):
            listed = {name: listed}
        yield f"a list under four such names, {unit!r}", listed
    yield "many numbers", [0] * (bytes_max // 2 - 8)
    yield "many numbers that may be codes", {"pin": [1234] * (bytes_max // 5 - 8)}
    yield "many numbers that may be cards", [411111111111] * (bytes_max // 13 - 8)
    yield "many short texts", ["a"] * (bytes_max // 4 - 8)
    yield "many short texts under a name", {"pin": ["a"] * (bytes_max // 4 - 8)}
    yield "many names", {f"{n:06}": 0 for n in range(bytes_max // 11 - 8)}
    yield "many names of secrets", {f"pin{n:06}": 1234 for n in range(bytes_max // 17 - 8)}
    yield "many names with texts", {f"pin{n:06}": "a" for n in range(bytes_max // 16 - 8)}
    yield "many empty lists", [[]] * (bytes_max // 3 - 8)
    yield "many empty objects", [{}] * (bytes_max // 3 - 8)
    records = [{"name": "pin", "value": "a"}] * (bytes_max // 28 - 8)
    yield "many records that say their names", records
