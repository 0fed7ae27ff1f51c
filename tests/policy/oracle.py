"""The rules of disclosure a second time, as nested questions over plain sets.

It follows the text of the rules and shares no code with `tacit.policy`, so that a slip in one
of the two shows as a difference between them.
"""

from datetime import datetime

from tacit.records.memory import Memory
from tacit.records.request import Request

COLLECTIONS = (set, frozenset, list, tuple)

# Every rule, with whether it discloses, in the order of the document.
RULES = {
    "M1": True,
    "M0": False,
    "D1": False,
    "D2": False,
    "D3": False,
    "P1": True,
    "D4": False,
    "P2": True,
    "PV": False,
    "P3a": True,
    "P3b": True,
    "P4": True,
    "P0": False,
    "GS": False,
    "GV": False,
    "G1a": True,
    "G1b": True,
    "G2a": True,
    "G2b": True,
    "G3a": True,
    "G3b": True,
    "G0": False,
}


class Reading:
    """One memory as one request may understand it, with the defaults for what is missing."""

    def __init__(self, request: Request, memory: Memory) -> None:
        def people(identities: object) -> set[str]:
            if not isinstance(identities, COLLECTIONS):
                return set()
            return {request.person_by_identity.get(i, i) for i in identities if isinstance(i, str)}

        owner: object = memory.owner
        speaker: object = memory.speaker
        self.owner = people([owner])
        self.speaker = people([speaker])
        self.subjects = people(memory.subjects) or self.speaker or self.owner
        self.heard_by = people(memory.heard_by)

        chat: object = memory.learned_in
        where: object = memory.learned_kind
        known = isinstance(chat, str) and where in ("private", "group")
        self.provenance = known
        self.from_a_group = known and where == "group"
        self.from_here = self.from_a_group and (chat == request.chat or chat in request.chat_ids)

        self.portable = memory.portable is True
        self.confidential = memory.confidential is True
        self.inferred = memory.inferred is True
        self.sensitivity = self._sensitivity(memory)
        self.visibility = self._visibility(memory)
        self.current = self._current(request, memory)

        kept_from = memory.withheld_from
        readable = isinstance(kept_from, COLLECTIONS)
        names = set(kept_from) if readable else set()
        self.is_withheld = bool(names)
        here = set(request.participants) | {request.requester}
        self.withheld_here = any(
            name in request.audience_identities or request.person_by_identity.get(name, name) in here for name in names
        )

    def _sensitivity(self, memory: Memory) -> str:
        if self.inferred:
            return "sensitive"
        value: object = memory.sensitivity
        return str(value) if value in ("public", "personal", "sensitive") else "personal"

    def _visibility(self, memory: Memory) -> str:
        if self.inferred or memory.withheld_unknown is True:
            return "private_only"
        value: object = memory.visibility
        if value not in ("private_only", "room", "public_ok"):
            value = "room" if self.from_a_group else "private_only"
        if value == "room" and not self.from_a_group:
            return "private_only"
        return str(value)

    @staticmethod
    def _current(request: Request, memory: Memory) -> bool:
        state: object = memory.state
        if state != "active":
            return False
        end: object = memory.expires_at
        if end is None:
            return True
        return isinstance(end, datetime) and end > request.at


def expected(request: Request, memory: Memory) -> str:
    """The name of the first rule that matches."""
    m = Reading(request, memory)
    me = request.requester
    everybody = set(request.participants)
    if me is not None:
        everybody.add(me)
    alone = me is not None and request.kind == "private" and everybody == {me}

    if request.purpose == "manage":
        return "M1" if alone and me in m.owner else "M0"
    if not m.current:
        return "D1"
    if me is None:
        return "D2"
    if m.withheld_here:
        return "D3"
    if m.is_withheld and not alone and not request.complete:
        return "D3"
    if alone:
        return _in_private(m, me)
    if not m.provenance:
        return "D4"
    return _in_company(m, me, everybody, request)


def _in_private(m: Reading, me: str) -> str:
    if me in m.owner:
        return "P1"
    if not m.provenance:
        return "D4"
    if me in m.speaker and not m.inferred:
        return "P2"
    if m.visibility == "private_only":
        return "PV"
    if m.from_a_group:
        if me in m.subjects:
            if me in m.heard_by:
                return "P3a"
            if not m.confidential and m.portable and m.sensitivity == "public":
                return "P3b"
        if me in m.heard_by and m.sensitivity != "sensitive":
            return "P4"
    return "P0"


def _in_company(m: Reading, me: str, everybody: set[str], request: Request) -> str:
    if m.sensitivity == "sensitive":
        return "GS"
    if m.visibility == "private_only":
        return "GV"
    public = m.sensitivity == "public"
    in_group = request.kind == "group"
    if in_group and m.from_here:
        if public and not (m.subjects & everybody) - m.heard_by - m.speaker:
            return "G1a"
        if me in m.subjects or me in m.speaker:
            return "G1b"
    if m.visibility == "public_ok":
        if public and m.owner & everybody:
            return "G2a"
        if me in m.owner:
            return "G2b"
    if in_group and m.from_a_group and not m.confidential and m.portable and public:
        if me in m.subjects and not m.subjects - everybody:
            return "G3a"
        if request.complete and not everybody - m.heard_by:
            return "G3b"
    return "G0"
