"""The headers that a request may have, as the document tells of them."""

from __future__ import annotations

from typing import Any

from tacit import limits
from tacit.records.accounts import Scope
from tacit.records.memory import ChatKind
from tacit.surfaces.rest import named

Document = dict[str, Any]
ONCE = "Idempotency-Key"
THREAD = "X-Tacit-Thread"
# They are percent-encoded UTF-8, so what is no UTF-8 is no value. A lone % stands for itself.
_HEX = "[0-9A-Fa-f]"
_LONE = f"%(?!{_HEX}{{2}})"
_NEXT = f"%[89ABab]{_HEX}"
_BEYOND_LATIN = (
    f"%([Cc][4-9A-Fa-f]|[Dd]{_HEX}){_NEXT}"
    f"|%([Ee]0%[ABab]{_HEX}|[Ee][1-9A-CEFa-cef]{_NEXT}|[Ee][Dd]%[89]{_HEX}){_NEXT}"
    f"|%([Ff]0%[9ABab]{_HEX}|[Ff][1-3]{_NEXT}|[Ff]4%8{_HEX}){_NEXT}{_NEXT}"
)
_ANY = f"{_LONE}|%[0-7]{_HEX}|%[Cc][23]{_NEXT}|{_BEYOND_LATIN}"
# Neither a space nor invisible, as far as Latin goes.
_SEEN_LATIN = f"%2[1-9A-Fa-f]|%[3-6]{_HEX}|%7[0-9A-Ea-e]|%[Cc]2%[Aa][1-9A-CEFa-cef]"
_SEEN = f"([!-$&-~]|{_LONE}|{_SEEN_LATIN}|%[Cc]2%[Bb]{_HEX}|%[Cc]3{_NEXT}|{_BEYOND_LATIN})"
_INSIDE = f"( |%20|%[Cc]2%[Aa]0|{_SEEN})"
_LABEL = {"pattern": f"^{_SEEN}({_INSIDE}{{0,{limits.LABEL_MAX_CHARS - 2}}}{_SEEN})?$"}
_NAME = {"pattern": f"^([\t -$&-~]|{_ANY})*$"}
_CALLED = rf"(;([\t -$&-+\--:<-~]|{_ANY})*)"  # neither a comma nor a semicolon
_SHORT = f"(?=[^,; \t]{{1,{limits.EXTERNAL_KEY_MAX_CHARS}}}([,; \t]|$))"
_PERSON = f"({_SHORT}{named.SOMEBODY}[ \t]*{_CALLED}{{0,2}})?"
_PEOPLE = {"pattern": f"^[ \t]*{_PERSON}(,[ \t]*{_PERSON})*$", "examples": ["telegram:2;Bob"]}
_TOKEN = {"pattern": f"^[!-~]{{1,{limits.IDEMPOTENCY_KEY_MAX_CHARS}}}$"}

WHO: dict[str, tuple[str, Document]] = {
    "X-Tacit-Requester": ("Who asks, as their channel knows them: telegram:1001.", named.PERSON),
    "X-Tacit-Name": ("What they are called.", _NAME),
    "X-Tacit-Username": ("Their name on the channel.", _NAME),
    "X-Tacit-Chat": ("Where the answer goes; without it, their own private chat.", named.CHAT),
    "X-Tacit-Chat-Kind": ("What kind of chat that is.", {"enum": [str(k) for k in ChatKind]}),
    "X-Tacit-Participants": (
        f"Up to {limits.PARTICIPANTS_MAX_COUNT:,} who are there: telegram:2;Bob;bob_l,slack:T1:U2.",
        _PEOPLE,
    ),
    "X-Tacit-Complete": ("Whether that is everybody.", {"enum": ["true", "false"]}),
    THREAD: (
        f"The conversation, in at most {limits.LABEL_MAX_CHARS} characters; without it, the chat.",
        _LABEL,
    ),
    "X-Tacit-Agent": (
        f"The agent that asks, in at most {limits.LABEL_MAX_CHARS} characters.",
        _LABEL,
    ),
}
ALSO: dict[str, tuple[str, Document]] = {
    ONCE: ("Done at most once, however often it is sent.", _TOKEN),
    "If-Match": ("The ETag of the version that is changed.", {}),
    "If-None-Match": ("The ETag of the version that is known.", {}),
}
# For nobody in particular: there is no view, and so nobody who asks through it.
_NOBODY = (Scope.ADMIN, Scope.ACT_AS)


def taken(scope: str, path: str) -> list[str]:
    """Which of those that say who asks a route looks at. A thread in its path is the one meant."""
    if scope in _NOBODY:
        return []
    return [name for name in WHO if name != THREAD or "{thread}" not in path]


def described() -> Document:
    return {
        name: {
            "name": name,
            "in": "header",
            "description": says,
            "required": False,
            "schema": {"type": "string", **shape},
        }
        for name, (says, shape) in {**WHO, **ALSO}.items()
    }
