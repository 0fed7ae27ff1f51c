"""A turn on its way from being accepted to being learned: what was said, by whom, before whom."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from tacit.identity.resolution import RawRequest
from tacit.records.conversation import Role
from tacit.records.memory import ChatKind
from tacit.storage import queue

LEARN = queue.LEARN_JOB  # the kind of its job
_ASKS = re.compile(r"[?\uff1f]\W*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Everything that learning needs later. Who listened is settled when it is said: somebody who
    joins before it is learned did not hear it."""

    text: str
    role: Role
    said_at: datetime
    message: str | None  # the channel's id of it
    agent: str | None
    asking: RawRequest
    present: frozenset[str]  # the identities of those who heard it
    confidential: bool
    before: tuple[str, ...] = ()  # what was said just before, oldest first, for a model to read
    recorded: str | None = None  # its id, where turns are kept
    hold_words: tuple[str, ...] = ()  # other messages that say how far this one may go
    only: tuple[str, ...] | None = None  # the categories that may be learned; None: all

    def may_use(self, category: str) -> bool:
        return self.only is None or category in self.only

    @property
    def speaker(self) -> str:
        """What the requester goes by; empty where they gave no name."""
        own = self.asking.subject
        names = [name for who, kind, name in self.asking.names if who == own and kind == "name"]
        return names[0] if names else ""

    @property
    def question_before(self) -> str:
        """What the assistant asked between the speaker's last message and this one; empty where
        its words end in no question."""
        said: list[str] = []
        for one in reversed(self.before):
            who, _, words = one.partition(": ")
            if who != Role.ASSISTANT:
                break
            said.insert(0, words)
        whole = " ".join(said)
        return whole if is_question(whole) else ""

    def pack(self) -> str:
        fields = asdict(self)
        fields["said_at"] = self.said_at.isoformat()
        fields["present"] = sorted(self.present)
        fields["asking"]["participants"] = sorted(self.asking.participants)
        return json.dumps(fields, ensure_ascii=False, sort_keys=True)


def is_question(text: str) -> bool:
    """Whether the last thing that a text says is a question."""
    return _ASKS.search(text) is not None


def unpacked(payload: str) -> Turn:
    fields: dict[str, Any] = json.loads(payload)
    asking = fields.pop("asking")
    return Turn(
        text=fields["text"],
        role=Role(fields["role"]),
        said_at=datetime.fromisoformat(fields["said_at"]),
        message=fields["message"],
        agent=fields["agent"],
        asking=RawRequest(
            subject=asking["subject"],
            chat=asking["chat"],
            kind=ChatKind(asking["kind"]),
            participants=frozenset(asking["participants"]),
            complete=asking["complete"],
            names=tuple((who, kind, name) for who, kind, name in asking["names"]),
            vouched=asking.get("vouched", True),  # turns of earlier versions do not say
        ),
        present=frozenset(fields["present"]),
        confidential=fields["confidential"],
        before=tuple(fields["before"]),
        recorded=fields["recorded"],
        hold_words=tuple(fields.get("hold_words", ())),  # as above
        only=None if fields.get("only") is None else tuple(fields["only"]),
    )
