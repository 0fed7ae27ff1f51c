"""Keep the inbox of channel updates, and ask the language model, for bots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tacit import limits
from tacit.admin.space import SpaceContext
from tacit.errors import InvalidInput
from tacit.identity import external_keys
from tacit.learning.extraction.holds import has_hold
from tacit.learning.extraction.locale import AUTO
from tacit.learning.pipeline import choose_locale
from tacit.lifecycle.inferred import estimate_sensitivity, make_budget
from tacit.records import validation
from tacit.records.conversation import PendingUpdate, TalkReply, TalkTurn, ToolSpec, Update
from tacit.records.memory import Sensitivity
from tacit.records.validation import check_storable
from tacit.storage import queue

# The inbox: an update is stored before the channel gets its acknowledgement, and handled after.
#
# A process that stops in between finds the rest when it starts again; a repeated update is
# ignored.

_FIELD = "updates"


class Inbox(SpaceContext):
    """Updates of channels that wait to be handled."""

    def add(self, channel: str, updates: Iterable[Update]) -> int:
        """Keep what a channel brought, all of it or nothing, in this order; when this returns, the
        channel can be told that it arrived. Says how many were new. A `channel` is one sequence of
        ids: two bots of one space take two."""
        where, brought = _parse_channel(channel), _parse_updates(updates)
        if not brought:
            return 0
        return self._storage.write_as(
            self._space, "system", lambda tx: queue.insert_updates(tx, where, brought)
        )

    def pending(
        self, channel: str, *, after: int = 0, limit: int = limits.UPDATES_DEFAULT_COUNT
    ) -> list[PendingUpdate]:
        """What was taken in and is not done, in order, behind the `seq` of the last one seen."""
        where = _parse_channel(channel)
        behind = validation.parse_int("after", after, 0, limits.SEQ_MAX)
        most = validation.parse_int("limit", limit, 1, limits.UPDATES_MAX_COUNT)
        with self._storage.database.read() as connection:
            return queue.list_waiting_updates(connection, self._space, where, behind, most)

    def complete(self, channel: str, id: str) -> None:
        """Nothing of it is kept but its id, so that a repeat is known as one."""
        where, which = _parse_channel(channel), _parse_update_id(id)
        self._storage.write_as(
            self._space, "system", lambda tx: queue.finish_update(tx, where, which)
        )

    def fail(self, channel: str, id: str) -> bool:
        """Whether it is to be tried again. After some failures it is set aside, and waits no
        longer; a week later it goes."""
        where, which = _parse_channel(channel), _parse_update_id(id)
        return self._storage.write_as(
            self._space, "system", lambda tx: queue.fail_update(tx, where, which)
        )


def _parse_channel(value: object) -> str:
    return validation.parse_channel(
        "channel", validation.parse_identifier("channel", value, limits.LABEL_MAX_CHARS)
    )


def _parse_update_id(value: object) -> str:
    return validation.parse_identifier("id", value, limits.LABEL_MAX_CHARS)


def _parse_updates(updates: object) -> list[Update]:
    """Each once, in the order given, with whoever sent it as an identity of ours."""
    if isinstance(updates, str | bytes) or not isinstance(updates, Iterable):
        raise InvalidInput(_FIELD, "expected a list of tacit.Update")
    found: dict[str, Update] = {}
    for number, one in enumerate(updates):
        if number >= limits.UPDATES_MAX_COUNT:
            raise InvalidInput(_FIELD, f"takes at most {limits.UPDATES_MAX_COUNT:,} at a time")
        checked = _parse_update(one)
        found.setdefault(checked.id, checked)
    return list(found.values())


def _parse_update(update: object) -> Update:
    if not isinstance(update, Update):
        raise InvalidInput(_FIELD, "expected a list of tacit.Update")
    most = limits.UPDATE_MAX_BYTES
    payload = validation.check_storable("payload", update.payload, most)
    if len(payload.encode()) > most:
        raise InvalidInput("payload", f"takes at most {most:,} bytes: hand over less of it")
    return replace(
        update,
        id=_parse_update_id(update.id),
        chat=validation.parse_identifier("chat", update.chat, limits.EXTERNAL_KEY_MAX_CHARS),
        person=None
        if update.person is None
        else external_keys.parse_subject(update.person, "person"),
    )


# The language model of the settings, for agents that run in this process.


class Llm(SpaceContext):
    """The language model of the settings, within its budget."""

    @property
    def available(self) -> bool:
        """Whether there is a language model to talk with."""
        return self._runtime.model is not None

    def has_hold(self, words: str) -> bool:
        """Whether these words say themselves that not everybody may hear them: a surprise, a
        confidence. An agent leaves such a message to `learn`, which keeps it from whom it names;
        what a tool writes down instead would not."""
        return has_hold(_parse_text(words))

    def sensitivity_of(self, words: str) -> Sensitivity:
        """How sensitive a fact is by its words: personal at the least."""
        said = _parse_text(words)
        return estimate_sensitivity(said, choose_locale(AUTO, said))

    def talk(
        self, instructions: str, turns: Sequence[TalkTurn], tools: Sequence[ToolSpec] = ()
    ) -> TalkReply:
        """What the model says next, or which of these tools it calls. It hears what is given here
        and nothing else: what of memory goes in is up to the caller. Blocks for as long as
        `language.timeout_seconds`, and spends from this space's budget for the day. Raises a
        `LanguageFailed` where there is no answer."""
        model = self._runtime.model
        if model is None:
            raise InvalidInput("language", "no model is set; choose one with language.provider")
        budget = make_budget(self._storage, self._space, self._runtime.allowance)
        return model.talk(instructions, turns, tools, budget=budget).reply


def _parse_text(given: object) -> str:
    return check_storable("words", given, limits.LANGUAGE_TEXT_MAX_CHARS)
