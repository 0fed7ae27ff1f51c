"""Keep the inbox of channel updates, and ask the language model, for bots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity import parse_subject
from tacit.learning.extraction.locale import AUTO
from tacit.learning.extraction.sentences import has_hold
from tacit.learning.pipeline import choose_locale
from tacit.lifecycle.inferred import estimate_sensitivity, make_budget
from tacit.records import validation
from tacit.records.conversation import PendingUpdate, TalkReply, TalkTurn, ToolSpec, Update
from tacit.records.memory import Sensitivity
from tacit.records.validation import check_storable
from tacit.storage import queue
from tacit.view.context import SpaceContext

# The inbox: an update is stored before the channel gets its acknowledgement, and handled after.
#
# A process that stops in between finds the rest when it starts again; a repeated update is
# ignored.

_FIELD = "updates"


class Inbox(SpaceContext):
    """Updates of channels that wait to be handled."""

    def add(self, channel: str, updates: Iterable[Update]) -> int:
        """Insert the updates of a channel, in this order, in one transaction.

        When this returns, the channel may be sent its acknowledgement. Return how many updates were
        new. A `channel` is one sequence of ids: two bots of one space use two channels.
        """
        where, brought = _parse_channel(channel), _parse_updates(updates)
        if not brought:
            return 0
        return self._storage.write_as(self._space, "system", lambda tx: queue.insert_updates(tx, where, brought))

    def pending(
        self, channel: str, *, after: int = 0, limit: int = limits.UPDATES_DEFAULT_COUNT
    ) -> list[PendingUpdate]:
        """List the unhandled updates in order, after the `seq` of the last one seen."""
        where = _parse_channel(channel)
        behind = validation.parse_int("after", after, 0, limits.SEQ_MAX)
        most = validation.parse_int("limit", limit, 1, limits.UPDATES_MAX_COUNT)
        with self._storage.database.read() as connection:
            return queue.list_waiting_updates(connection, self._space, where, behind, most)

    def complete(self, channel: str, id: str) -> None:
        """Delete an update except for its id, which identifies a repeat."""
        where, which = _parse_channel(channel), _parse_update_id(id)
        self._storage.write_as(self._space, "system", lambda tx: queue.finish_update(tx, where, which))

    def fail(self, channel: str, id: str) -> bool:
        """Record a failure; return whether to try the update again.

        After several failures the update no longer waits; a week later it is deleted.
        """
        where, which = _parse_channel(channel), _parse_update_id(id)
        return self._storage.write_as(self._space, "system", lambda tx: queue.fail_update(tx, where, which))


def _parse_channel(value: object) -> str:
    return validation.parse_channel("channel", validation.parse_label("channel", value))


def _parse_update_id(value: object) -> str:
    return validation.parse_label("id", value)


def _parse_updates(updates: object) -> list[Update]:
    """Parse updates in the given order, each id once, with the sender as an identity."""
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
        person=None if update.person is None else parse_subject(update.person, "person"),
    )


# The language model of the settings, for agents that run in this process.


class Llm(SpaceContext):
    """The language model of the settings, within its budget."""

    @property
    def available(self) -> bool:
        """Return whether a language model is configured."""
        return self._runtime.model is not None

    def has_hold(self, words: str) -> bool:
        """Return whether a text contains a hold, such as for a surprise or a confidence.

        An agent passes such a message to `learn`, which withholds it from the people it names. A
        memory that a tool writes would not be withheld.
        """
        return has_hold(_parse_text(words))

    def sensitivity_of(self, words: str) -> Sensitivity:
        """Return the sensitivity of a fact by its words: at least personal."""
        said = _parse_text(words)
        return estimate_sensitivity(said, choose_locale(AUTO, said))

    def talk(self, instructions: str, turns: Sequence[TalkTurn], tools: Sequence[ToolSpec] = ()) -> TalkReply:
        """Return the model's next message, or the tool that it calls.

        The model gets only what is passed here; the caller decides which memories to include.
        Blocks for at most `language.timeout_seconds`, and spends from this space's daily budget.
        Raises `LanguageFailed` if there is no answer.
        """
        model = self._runtime.model
        if model is None:
            raise InvalidInput("language", "no model is set; choose one with language.provider")
        budget = make_budget(self._storage, self._space, self._runtime.allowance)
        return model.talk(instructions, turns, tools, budget=budget).reply


def _parse_text(given: object) -> str:
    return check_storable("words", given, limits.LANGUAGE_TEXT_MAX_CHARS)
