"""How people, chats and accounts are named, as shapes for the document. The library checks them."""

from __future__ import annotations

from typing import Any

from tacit import limits

Shape = dict[str, Any]
_PART = "[A-Za-z0-9._@+=-]+"
_ACCOUNT = f"acct:{_PART}"
_NUMBER = "[1-9][0-9]{0,18}"
_PERSON_ID = "[A-Za-z0-9]{8}"


def _other_than(*channels: str) -> str:
    """Whatever else there is: its parts are as the channel likes them."""
    return f"(?!({'|'.join(channels)}):)[a-z][a-z0-9_-]*(:{_PART})+"


_REST = _other_than("telegram", "slack", "acct", "ext", "person")
_OUTSIDE = f"telegram:{_NUMBER}|slack:{_PART}:{_PART}|{_REST}"
SOMEBODY = f"({_OUTSIDE}|{_ACCOUNT})"


def _shape(pattern: str, example: str) -> Shape:
    # Without an example, tools that look for the smallest one find none.
    return {
        "type": "string",
        "pattern": f"^({pattern})$",
        "maxLength": limits.EXTERNAL_KEY_MAX_CHARS,
        "examples": [example],
    }


PERSON = _shape(SOMEBODY, "telegram:1001")
# A key of a channel, which is what can be linked to an account.
OUTSIDE = _shape(_OUTSIDE, "telegram:1001")
ACCOUNT = _shape(_ACCOUNT, "acct:42")
IDENTITY = _shape(f"(ext:)?({_OUTSIDE})|{_ACCOUNT}|person:{_PERSON_ID}", "telegram:1001")
NAMED = _shape(f"person:{_PERSON_ID}", "person:k3Xq81Zb")  # somebody known by name
CHAT = _shape(f"telegram:-?{_NUMBER}|{_other_than('telegram', 'ext', 'person')}", "telegram:-5")
ID: Shape = {"type": "string", "pattern": f"^[A-Za-z0-9]{{{limits.ID_CHARS}}}$"}
