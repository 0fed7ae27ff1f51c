"""The facts that a message states, the people they mention, and the speaker's holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from tacit.records.memory import Kind, Sensitivity


class Hold(StrEnum):
    """What a speaker said about how far it may go."""

    ROOM = "room"  # "this stays in this room", "between us" said in a group
    PRIVATE = "private"  # "between us", "keep this to yourself"
    SHARE = "share"  # "you can share this"
    UNKEPT = "unkept"  # "off the record", "you don't have to remember this": keep none of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A person named in a statement, as it was said."""

    text: str  # "Bob Lee", "@bob", "my wife", "my boss Alec"
    name: str | None  # "Bob Lee", "Alec"; None for a bare relation
    relation: str | None  # "wife", "boss": the word of the data file, singular; None for a bare name
    username: str | None  # "bob"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFact:
    """One thing worth keeping, from one message."""

    content: str  # third person, self-contained, no pronouns: "Alice prefers aisle seats"
    quote: str  # the piece of the message that supports it, verbatim
    explicit: bool  # the speaker asked for it to be remembered, or said "from now on"
    kind: Kind | None  # None until classified
    about_speaker: bool  # the speaker is one of those whom it is about
    about: tuple[Mention, ...]  # others whom it is about
    hearsay: bool  # a claim about others, not the speaker's own word about themselves
    # A single-valued attribute, such as "home_city" or "preference:seat", of the speaker where
    # `about_speaker`, else of the first of `about`. None: any number of such facts coexist.
    slot: str | None
    value: str | None  # the slot's value, normalised ("lisbon")
    negated: bool  # "I no longer work at X": ends what the slot says
    observed_at: datetime | None  # when it happens or happened, in the speaker's zone
    withheld_from: tuple[Mention, ...]
    hold: Hold | None
    whole: bool = False  # several conjuncts, of which not all were understood
    turned: bool = False  # said as a change: "now", "instead", "no longer", "actually"
    read: bool = False  # found by the trained reader, and by no rule
    # Filled by `classify`.
    category: str | None = None
    sensitivity: Sensitivity | None = None
    portable: bool | None = None
    importance: int | None = None
    expires_at: datetime | None = None
