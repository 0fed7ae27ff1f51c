"""The inbox: what channels bring is kept before they are told that it arrived, and worked on after.

Whoever stops in the middle finds the rest when they come back; a channel that brings something
again brings nothing new."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tacit import limits
from tacit.errors import InvalidInput
from tacit.facade.opened import Opened
from tacit.identity import external_keys
from tacit.records import validation
from tacit.records.conversation import PendingUpdate, Update
from tacit.storage import queue

_FIELD = "updates"


class MemoryInbox(Opened):
    def take_in(self, channel: str, updates: Iterable[Update]) -> int:
        """Keep what a channel brought, all of it or nothing, in this order; when this returns, the
        channel can be told that it arrived. Says how many were new. A `channel` is one sequence of
        ids: two bots of one space take two."""
        where, brought = _channel(channel), _parse(updates)
        if not brought:
            return 0
        return self._storage.write_as(
            self._space, "system", lambda w: queue.insert_updates(w, where, brought)
        )

    def waiting_updates(
        self, channel: str, *, after: int = 0, limit: int = limits.UPDATES_DEFAULT_COUNT
    ) -> list[PendingUpdate]:
        """What was taken in and is not done, in order, behind the `seq` of the last one seen."""
        where = _channel(channel)
        behind = validation.parse_int("after", after, 0, limits.SEQ_MAX)
        most = validation.parse_int("limit", limit, 1, limits.UPDATES_MAX_COUNT)
        with self._storage.database.read() as connection:
            return queue.list_waiting_updates(connection, self._space, where, behind, most)

    def update_done(self, channel: str, id: str) -> None:
        """Nothing of it is kept but its id, so that a repeat is known as one."""
        where, which = _channel(channel), _id(id)
        self._storage.write_as(
            self._space, "system", lambda w: queue.finish_update(w, where, which)
        )

    def update_failed(self, channel: str, id: str) -> bool:
        """Whether it is to be tried again. After some failures it is set aside, and waits no
        longer; a week later it goes."""
        where, which = _channel(channel), _id(id)
        return self._storage.write_as(
            self._space, "system", lambda w: queue.fail_update(w, where, which)
        )


def _channel(value: object) -> str:
    return validation.parse_channel(
        "channel", validation.parse_identifier("channel", value, limits.LABEL_MAX_CHARS)
    )


def _id(value: object) -> str:
    return validation.parse_identifier("id", value, limits.LABEL_MAX_CHARS)


def _parse(updates: object) -> list[Update]:
    """Each once, in the order given, with whoever sent it as an identity of ours."""
    if isinstance(updates, str | bytes) or not isinstance(updates, Iterable):
        raise InvalidInput(_FIELD, "expected a list of tacit.Update")
    found: dict[str, Update] = {}
    for number, one in enumerate(updates):
        if number >= limits.UPDATES_MAX_COUNT:
            raise InvalidInput(_FIELD, f"takes at most {limits.UPDATES_MAX_COUNT:,} at a time")
        checked = _checked(one)
        found.setdefault(checked.id, checked)
    return list(found.values())


def _checked(update: object) -> Update:
    if not isinstance(update, Update):
        raise InvalidInput(_FIELD, "expected a list of tacit.Update")
    most = limits.UPDATE_MAX_BYTES
    payload = validation.check_storable("payload", update.payload, most)
    if len(payload.encode()) > most:
        raise InvalidInput("payload", f"takes at most {most:,} bytes: hand over less of it")
    return replace(
        update,
        id=_id(update.id),
        chat=validation.parse_identifier("chat", update.chat, limits.EXTERNAL_KEY_MAX_CHARS),
        person=None
        if update.person is None
        else external_keys.parse_subject(update.person, "person"),
    )
