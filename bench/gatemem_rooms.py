"""Which room a turn of an episode is said in. The mapping is told at the top of gatemem.py."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from bench.gatemem_data import AGENT, Episode, Person, Turn

CHANNEL = "gatemem"
OPEN = "open"

_CARE = frozenset({"nurse", "pharmacist", "lab_tech", "social_worker"})
_DESK = frozenset({"reception", "scheduler"})
_BILLING = frozenset({"billing"})
_TREATING = frozenset({"assigned_clinician", "covering_clinician", "consulting_clinician"})
_SPOKEN = frozenset({"dialogue", "portal_message"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    id: str
    members: frozenset[str]
    scope: str  # the patient or the project that it is about, or OPEN
    about: str | None = None  # the person whose matters are talked about here
    own_facts: bool = False  # what is said here is the room's, and about nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    room: Room
    speaker: str  # whose view it goes through: of the assistant's notes, whom it worked for


class Rooms(Protocol):
    def place(self, turn: Turn) -> Placed: ...


def rooms_of(episode: Episode) -> Rooms:
    return Clinic(episode) if episode.domain == "medical" else Office(episode)


def named_in(text: str, name: str) -> int | None:
    """Where a name first stands in a text as whole words."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    return found.start() if found else None


class Clinic:
    """A chart with a ladder of rooms for each patient, and a room for each outsider."""

    def __init__(self, episode: Episode) -> None:
        self._people = episode.people
        self._bonds = episode.bonds
        self._patients = [p.id for p in episode.people.values() if p.role == "patient"]
        self._treating = self._treated()
        self._dealt_with: dict[str, str] = {}  # staff: the patient they last talked with
        self._last: tuple[str, str] | None = None  # speaker and patient of the turn before
        self._worked_for: dict[str, str] = {}  # patient: who of the chart spoke last

    def place(self, turn: Turn) -> Placed:
        person = self._people[turn.speaker]
        patient = self._patient(person, turn)
        if person.role == AGENT:
            # Bots are not people: the assistant notes through the view of whom it works for.
            return Placed(
                room=self._room(patient, "chart", self._chart(patient)), speaker=self._worked_for.get(patient, patient)
            )
        if person.role == "clinician" and not self._bonds and not self._treating[patient]:
            # Where nothing says who treats whom: the first clinician who speaks does.
            self._treating[patient].add(person.id)
        room = self._room_for(person, patient, turn)
        self._last = (person.id, patient)
        if not self._outside(person, patient):
            self._dealt_with[person.id] = patient
            if person.id in self._chart(patient):
                self._worked_for[patient] = person.id
        return Placed(room=room, speaker=person.id)

    def _room_for(self, person: Person, patient: str, turn: Turn) -> Room:
        if self._outside(person, patient):
            return self._outsiders(person.id, patient)
        before = self._people[self._last[0]] if self._last and self._last[1] == patient else None
        if before and turn.kind in _SPOKEN and self._outside(before, patient):
            answering = self._outsiders(before.id, patient)
            if person.id in answering.members:
                return answering
        role = person.role
        if role == "patient":
            role = before.role if before and turn.kind == "dialogue" else "nurse"
        if role in _BILLING:
            everybody = self._staff(_CARE | _DESK | _BILLING)
            return self._room(patient, "billing", self._chart(patient) | everybody)
        if role in _DESK:
            return self._room(patient, "desk", self._chart(patient) | self._staff(_DESK))
        return self._room(patient, "chart", self._chart(patient))

    def _patient(self, person: Person, turn: Turn) -> str:
        if person.role == "patient":
            return person.id
        if person.role == "family_member":
            for bond in self._bonds:
                if bond.get("family_id") == person.id:
                    return bond["patient_id"]
            return self._patients[0]
        named = [p for p in self._patients if self._names(turn.text, p)]
        if len(named) == 1:
            return named[0]
        if self._last and self._outside(self._people[self._last[0]], "") and not named:
            return self._last[1]  # an answer to a patient or to an outsider
        last = self._last[1] if self._last else self._patients[0]
        return self._dealt_with.get(person.id, last)

    def _names(self, text: str, patient: str) -> bool:
        full = self._people[patient].name
        first = full.split()[0]
        alone = sum(p.name.split()[0] == first for p in self._people.values()) == 1
        return any(named_in(text, n) is not None for n in ([full, first] if alone else [full]))

    def _outside(self, person: Person, patient: str) -> bool:
        """Family, other patients, and clinicians who do not treat this one."""
        if person.role == "clinician":
            return patient in self._treating and person.id not in self._treating[patient]
        return person.role in ("family_member", "patient") and person.id != patient

    def _treated(self) -> dict[str, set[str]]:
        treating: dict[str, set[str]] = {patient: set() for patient in self._patients}
        for bond in self._bonds:
            if bond["type"] in _TREATING:
                treating[bond["patient_id"]].add(bond["clinician_id"])
        return treating

    def _chart(self, patient: str) -> frozenset[str]:
        return frozenset({patient} | self._treating[patient]) | self._staff(_CARE)

    def _staff(self, roles: Collection[str]) -> frozenset[str]:
        return frozenset(p.id for p in self._people.values() if p.role in roles)

    def _outsiders(self, outsider: str, patient: str) -> Room:
        members = self._chart(patient) | self._staff(_DESK) | {outsider}
        return self._room(patient, f"with-{outsider}", members)

    def _room(self, patient: str, name: str, members: frozenset[str]) -> Room:
        return Room(id=f"{CHANNEL}:{patient}:{name}", members=members, scope=patient, about=patient)


class Office:
    """A core room for each project, and an open one where everybody is."""

    def __init__(self, episode: Episode) -> None:
        self._everybody = frozenset(p.id for p in episode.people.values() if p.role != AGENT)
        self._members: dict[str, set[str]] = {}
        for bond in episode.bonds:
            project = bond.get("project_id")
            if project and bond["type"] != "contractor_for_project":
                self._members.setdefault(project, set()).add(bond["principal_id"])
        self._last: dict[str, str] = {}  # member: the project they last spoke of

    @property
    def projects(self) -> list[str]:
        return [project_name(project) for project in self._members]

    def place(self, turn: Turn) -> Placed:
        speaker = turn.speaker
        mine = [project for project, who in self._members.items() if speaker in who]
        if not mine:
            room = Room(id=f"{CHANNEL}:{OPEN}", members=self._everybody, scope=OPEN, own_facts=True)
            return Placed(room=room, speaker=speaker)
        places = {p: named_in(turn.text, project_name(p)) for p in mine}
        named = sorted((at, p) for p, at in places.items() if at is not None)
        project = named[0][1] if named else self._last.get(speaker, mine[0])
        self._last[speaker] = project
        return Placed(
            room=Room(
                id=f"{CHANNEL}:{project}:core", members=frozenset(self._members[project]), scope=project, own_facts=True
            ),
            speaker=speaker,
        )


def project_name(project: str) -> str:
    return project.removeprefix("project_").replace("_", " ")
