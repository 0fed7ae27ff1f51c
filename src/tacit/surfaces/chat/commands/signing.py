"""/console: a link that signs the one who asks in to the console, once."""

from __future__ import annotations

from dataclasses import replace

from tacit.server.authentication import sign_in_url
from tacit.surfaces.chat.commands import wording
from tacit.surfaces.chat.commands.asked import Asked, tell
from tacit.surfaces.chat.say import Say, link, say


def console(asked: Asked) -> list[Say]:
    where = asked.console.url if asked.console.enabled else ""
    if not where:
        return tell(wording.NO_CONSOLE)
    offered = asked.memory.offer_sign_in(person=asked.who.key)
    minutes = asked.console.link_minutes
    lasting = wording.CONSOLE.format("a minute" if minutes == 1 else f"{minutes} minutes")
    return [replace(say(lasting, link(sign_in_url(where, offered.token))), alone=True)]
