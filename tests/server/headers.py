"""Who asks, as headers: written out here once more, and not by the client that we try."""

from urllib.parse import quote

import tacit
from tests.server.story import At


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def vouching(token: str, at: At) -> dict[str, str]:
    """As a channel adapter says who asks, where, and who else is there."""
    return {
        **bearer(token),
        "X-Tacit-Requester": quote(at.who.key),
        "X-Tacit-Name": quote(at.who.name or ""),
        "X-Tacit-Chat": quote(at.chat.id),
        "X-Tacit-Chat-Kind": at.chat.kind.value,
        **_others(at.chat),
    }


def _others(chat: tacit.Chat) -> dict[str, str]:
    if not chat.participants:
        return {}
    people = [p if isinstance(p, tacit.Requester) else tacit.Requester(p) for p in chat.participants]
    written = ",".join(f"{quote(p.key)};{quote(p.name or '')}" for p in people)
    return {"X-Tacit-Participants": written, "X-Tacit-Complete": str(chat.complete).lower()}
