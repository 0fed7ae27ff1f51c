"""Updates as they come: what we understand is kept in the inbox. Chats that are not allowed leave
nothing there."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from tacit import Update, limits
from tacit.errors import InvalidInput
from tacit.surfaces.chat import wording
from tacit.surfaces.chat.heard import Came, Heard, Pressed, Said, Went
from tacit.surfaces.chat.working import Log
from tacit.surfaces.telegram.fields import Fields, part, words
from tacit.surfaces.telegram.line import Call, Line
from tacit.surfaces.telegram.reading import Reading
from tacit.surfaces.telegram.sending import number

_ID = "/id"


class Taking:
    def __init__(
        self, reading: Reading, take_in: Callable[[Sequence[Update]], int], line: Line, log: Log
    ) -> None:
        self._parser = reading
        self._take_in = take_in
        self._client = line
        self._log = log

    def __call__(self, raw: Sequence[Fields]) -> None:
        """When this returns, what is to be kept is kept, and Telegram may forget it."""
        updates: list[Update] = []
        answers: list[Call[object]] = []
        for one in raw:
            heard = self._parse(one)
            if heard is None:
                continue
            if not self._parser.allows(heard.chat):
                answers += [_told_id(heard)] if _asks_for_id(heard) else []
                continue
            update = _update(heard, one)
            if len(update.payload.encode()) > limits.UPDATE_MAX_BYTES:
                self._log.tell("update left out", problem="it is too large")
                continue
            updates.append(update)
            if isinstance(heard, Pressed):
                answers.append(_seen(words(part(one, "callback_query"), "id")))
        self._keep(updates)
        self._client.call_in_background(answers)

    def _parse(self, raw: Fields) -> Heard | None:
        try:
            return self._parser.parse(raw)
        except Exception as error:  # noqa: BLE001 - one odd update must not hold up all others
            self._log.failed("update left out", error)
            return None

    def _keep(self, updates: Sequence[Update]) -> None:
        """All at once; if one of them cannot be kept, all others."""
        if not updates:
            return
        try:
            self._take_in(updates)
        except InvalidInput as error:
            if len(updates) == 1:
                self._log.failed("update left out", error)
                return
            for update in updates:
                self._keep([update])


def _update(heard: Heard, raw: Fields) -> Update:
    people = heard.people if isinstance(heard, Came | Went) else ()
    who = heard.who or next(iter(people), None)
    return Update(
        id=heard.update,
        chat=heard.chat.id,
        payload=json.dumps(raw, ensure_ascii=True, separators=(",", ":")),
        person=None if who is None else who.key,
    )


def _seen(query: str) -> Call[object]:
    """Telegram shows a pressed button as busy until it is told that somebody saw it."""
    return lambda bot: bot.answer_callback_query(query)


def _asks_for_id(heard: Heard) -> bool:
    return isinstance(heard, Said) and not heard.edited and heard.text.strip() == _ID


def _told_id(heard: Heard) -> Call[object]:
    """The chat's alone; nothing is read or kept for it."""
    told = f"{wording.NOT_HERE}\nchat {heard.chat.id}"
    topic = None if heard.thread is None else int(heard.thread)
    return lambda bot: bot.send_message(number(heard.chat.id), told, message_thread_id=topic)
