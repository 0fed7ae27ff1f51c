"""An operator's acts on a space: few, and audited under their name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tacit.errors import Conflict, InvalidInput, NotFound
from tacit.identity import external_keys
from tacit.learning import memory_writes as learning
from tacit.learning.composition import find_floor, join_words
from tacit.lifecycle import erasure, quarantine, revert
from tacit.lifecycle import forget as forgetting
from tacit.operators.access import OperatorAccess
from tacit.policy.permissions import effective_visibility
from tacit.records import drafts, validation
from tacit.records.memory import HistoryEvent, Memory, Visibility
from tacit.records.results import Erased, Quarantined, Reverted
from tacit.storage import memories
from tacit.storage.memories import Transaction
from tacit.storage.memory_reads import effective_subjects


class OperatorActs(OperatorAccess):
    def update(self, id: str, content: str, *, if_version: int | None = None) -> None:
        """Put other words in its place. They are nobody's own: the memory loses its speaker.
        `if_version` is the version you read: if it moved on, Conflict."""
        wording = validation.parse_content(content)
        if if_version is not None:
            validation.parse_int("if_version", if_version, 1, 2**31)

        def work(w: Transaction) -> None:
            memory = _held(w, id)
            if if_version not in (None, memory.version):
                raise Conflict(f"the memory is at version {memory.version} by now: read it again")
            memories.update_content(
                w,
                replace(
                    memory,
                    content=wording,
                    version=memory.version + 1,
                    subjects=effective_subjects(memory),
                    speaker=None,
                    sensitivity=find_floor(join_words(wording, key=memory.key), memory.sensitivity),
                    updated_at=w.at,
                ),
            )

        self._write(work)
        self._runtime.wake_indexer()

    def forget(self, id: str) -> None:
        self._write(
            lambda w: forgetting.forget_memory(w, _held(w, id), self._options.restorable_days)
        )

    def restore(self, id: str) -> None:
        self._write(lambda w: forgetting.restore_memory(w, _held(w, id), self._options.ttl_days))

    def erase(self, id: str) -> Erased:
        done = self._write(lambda w: erasure.erase_memory(w, _held(w, id, turns=True)))
        return erasure.finish_erasure(self._storage, done)

    def erase_source(self, source: str) -> Erased:
        """As `revert`, and for good: what was learned from a source is gone with its wordings and
        the turns that were recorded there. What people said themselves since stays."""
        done = erasure.erase_source(self._write, revert.parse_source(source))
        self._runtime.wake_indexer()
        return erasure.finish_erasure(self._storage, done)

    def lower_visibility(self, id: str, visibility: Visibility | str) -> None:
        wanted = validation.parse_enum("visibility", visibility, Visibility)

        def work(w: Transaction) -> None:
            memory = _held(w, id)
            if wanted.rank > effective_visibility(memory).rank:
                raise InvalidInput("visibility", "only the owner raises it")
            changed = replace(memory, visibility=wanted, updated_at=w.at)
            memories.update_fields(
                w, changed, HistoryEvent.UPDATE, "updated", {"fields": f"visibility {wanted}"}
            )

        self._write(work)

    def withhold_from(self, id: str, who: Iterable[str]) -> None:
        """People by their keys: an operator knows nobody by name."""
        named = tuple(
            external_keys.parse_identity(one, "who") or _unnamed(one)
            for one in drafts.parse_people("who", who)
        )
        self._write(lambda w: learning.withhold_memory(w, _held(w, id), named))

    def revert(self, source: str, *, dry_run: bool = False) -> Reverted:
        """Undo what was learned from one source: a chat (`telegram:-100`), one message in it
        (`telegram:-100/42`), `agent:NAME` or `role:tool`. What people said themselves since stays;
        done again, it finds nothing more to do. A dry run counts, and changes nothing."""
        origin = revert.parse_source(source)
        rehearsal = validation.parse_bool("dry_run", dry_run)
        done = revert.revert_source(self._write, origin, dry_run=rehearsal)
        if not rehearsal:
            self._runtime.wake_indexer()
        return done

    def quarantined(self) -> list[Quarantined]:
        """What was set aside, newest first, with where it came from. Its words are its owner's to
        read: `view.list(state="quarantined")`."""
        with self._storage.database.read() as connection:
            return quarantine.list_quarantined(connection, self._space)

    def release(self, id: str) -> None:
        """Out of quarantine: a memory like others, that counts as untrusted."""
        self._write(lambda w: quarantine.release_memory(w, _held(w, id), self._options.ttl_days))
        self._runtime.wake_indexer()

    def discard(self, id: str) -> Erased:
        """Out of quarantine, for good."""
        done = self._write(lambda w: quarantine.discard_memory(w, _held(w, id)))
        return erasure.finish_erasure(self._storage, done)


def _held(w: Transaction, id: str, *, turns: bool = False) -> Memory:
    good = validation.parse_memory_id(id)
    memory = memories.get_for_update(w, good) if good is not None else None
    if memory is None or (memory.is_turn and not turns):
        raise NotFound
    return memory


def _unnamed(one: object) -> str:
    raise InvalidInput("who", f"{one!r} is a name; use a key such as telegram:123")
