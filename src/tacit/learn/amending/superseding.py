"""What of the things known a new message takes the place of: one pure decision, with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tacit.learn.amending.amend import amended
from tacit.learn.amending.cues import cues
from tacit.learn.amending.hearing import hear
from tacit.learn.amending.known import Known
from tacit.learn.amending.slots import replaces
from tacit.learn.facts import Statement
from tacit.learn.reading.tongue import Tongue


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """One thing known that no longer holds."""

    old: Known
    new: Statement | None  # the statement of the message that takes its place
    content: str | None  # what holds now; None where the old one simply ended
    reason: str  # in plain words, for the history


def supersedes(
    text: str,
    statements: Sequence[Statement],
    speaker: str,
    known: Sequence[Known],
    tongue: Tongue,
    *,
    said_at: datetime,
    asked: str = "",
) -> list[Supersession]:
    """Which of `known` (the speaker's own memories, newest first) a message puts an end to. Its
    statements are compared first; where none of them replaces anything, the message is read once
    more in the light of what is known ("Thursday, not Monday"). `asked` is the question that the
    assistant put in between. [] where nothing is replaced: what is not decided here stays."""
    found = [made for new in statements for made in _by_statement(new, known)]
    if found:
        return list({made.old.content: made for made in reversed(found)}.values())[::-1]
    heard = hear(text, cues(tongue.code), tongue) if known else None
    amendment = None
    if heard:
        amendment = amended(heard, speaker, known, tongue, said_at=said_at, asked=asked)
    if amendment is None:
        # What the whole message says as a change, its statement alone may not show.
        turned = heard is not None and heard.tone.turned and len(heard.clauses) > 1
        told = [replace(new, turned=True) for new in statements if turned and not new.turned]
        return [made for new in told for made in _by_statement(new, known)]
    new = _carrying(amendment.content, statements)
    if new is None and amendment.content is None and not amendment.ends:
        return []  # a value that cannot be put in words removes nothing
    return [
        Supersession(
            old=amendment.corrects,
            new=new,
            content=new.content if new else amendment.content,
            reason=amendment.reason,
        )
    ]


def _by_statement(new: Statement, known: Sequence[Known]) -> list[Supersession]:
    return [
        Supersession(
            old=old,
            new=new,
            content=None if new.negated else new.content,
            reason="ended" if new.negated else "another value of the same",
        )
        for old in known
        if replaces(old, new)
    ]


def _carrying(content: str | None, statements: Sequence[Statement]) -> Statement | None:
    """The statement that already says what the amendment would: the only one of the message."""
    if len(statements) == 1 and not statements[0].negated:
        return statements[0]
    return next((one for one in statements if one.content == content), None)


def known_from(statement: Statement, said_at: datetime) -> Known:
    """A statement as it is known to the speaker's next message."""
    return Known(
        content=statement.content,
        slot=statement.slot,
        value=statement.value,
        about_speaker=statement.about_speaker,
        said_at=said_at,
        about=statement.about,
        negated=statement.negated,
        just_said=True,
    )
