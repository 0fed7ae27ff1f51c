"""The hand of a view: what a model writes into a note, as the person it works for may say it there.

In a group it is said to everybody. Whom the words are about settles who may hear them, so that is
found out before they are kept; and what is too private for a room is not put into its note.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.learning import memory_writes as learning
from tacit.learning.composition import stricter_sensitivity
from tacit.learning.consent import refuse_profile
from tacit.notes.mirror.hands import Known, OwnHand, sensitivity_of
from tacit.policy.permissions import ChangeAction, may_change
from tacit.records import validation
from tacit.records.drafts import Draft
from tacit.records.memory import ChatKind, Memory, Sensitivity
from tacit.records.notes import Filing
from tacit.retrieval.text_features import KnownNames
from tacit.storage import memories, people


@dataclass(frozen=True, slots=True)
class ViewHand(OwnHand):
    agent: str | None = None
    _names: list[KnownNames] = field(default_factory=list)

    def remember(self, content: str, filed: Filing, known: Known | None = None) -> Memory:
        """Always as something new: a model knows of no ids."""
        assert known is None
        said, room = validation.parse_content(content), self.tx.request.kind is ChatKind.GROUP
        if room:
            _check_open(said)
        asked = Draft(
            content=said,
            kind=filed.kind,
            category=filed.category,
            tags=filed.tags,
            sensitivity=Sensitivity.PUBLIC if room else _own(said),
            about=tuple(sorted(self._find_subjects(said))) or None if room else None,
            for_room=room,
            agent=self.agent,
            by_model=True,
        )
        refuse_profile(asked, "text")
        done = learning.remember(self.tx, asked, self.retention.ttls)
        memory = memories.get_for_update(self.tx, done.id)
        assert memory is not None
        return memory

    def reword(self, memory: Memory, content: str) -> Memory:
        refuse_profile(Draft(content=content, by_model=True), "text", memory)
        if memory.owner is not None:
            return OwnHand.reword(self, memory, content)
        _check_open(content)
        if self._resolve_people(self._find_subjects(content)) == self._resolve_people(
            memory.subjects
        ):
            return OwnHand.reword(self, memory, content)
        if may_change(ChangeAction.UPDATE, self.tx.request, memory) is None:
            raise NotFound
        # Words of a room about other people reach others: another memory.
        new = self.remember(content, Filing(memory.kind, memory.category, memory.tags))
        learning.supersede_memory(self.tx, memory, new.id)
        return new

    def _resolve_people(self, identities: frozenset[str]) -> set[str]:
        return {self.tx.request.person(one) for one in identities}

    def _find_subjects(self, content: str) -> frozenset[str]:
        """As far as whoever says it knows people by name."""
        if not self._names:
            known = people.list_known_people(self.tx.connection, self.tx.request)
            self._names.append(KnownNames(self.tx.request, known))
        found = frozenset[str]().union(*self._names[0].find_in(content).values())
        return frozenset(sorted(found)[: limits.PEOPLE_PER_MEMORY_MAX_COUNT])


def _own(content: str) -> Sensitivity:
    return stricter_sensitivity(Sensitivity.PERSONAL, sensitivity_of(content))


def _check_open(content: str) -> None:
    if sensitivity_of(content) is not Sensitivity.PUBLIC:
        raise InvalidInput(
            "text", "has a line that is too private for a note of the whole group; leave it out"
        )
