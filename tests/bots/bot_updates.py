"""Updates as the Bot API tells them, field by field as documented there."""

from typing import Any

from tests.bots.bot_api import BOT

Json = dict[str, Any]

DATE = 1_773_000_000


def user(id: int, name: str = "Alice", **more: Any) -> Json:
    return {"id": id, "is_bot": False, "first_name": name, "language_code": "en", **more}


def private(id: int) -> Json:
    return {"id": id, "first_name": "Alice", "type": "private"}


def group(id: int, kind: str = "supergroup") -> Json:
    return {"id": id, "title": "Team", "type": kind}


def message(where: Json, by: Json | None, text: str | None = None, **more: Any) -> Json:
    """A message, without the update around it."""
    found: Json = {"message_id": 42, "date": DATE, "chat": where}
    if by is not None:
        found["from"] = by
    if text is not None:
        found["text"] = text
    return {**found, **more}


def mention(offset: int = 0) -> Json:
    return {"type": "mention", "offset": offset, "length": len(BOT["username"]) + 1}


def pressed(where: Json, by: Json, data: str, id: int = 77) -> Json:
    return {
        "callback_query": {
            "id": "4382bfdwdsb323b2d9",
            "from": by,
            "message": message(where, BOT, "Shall I?", message_id=id),
            "chat_instance": "-3490",
            "data": data,
        }
    }
