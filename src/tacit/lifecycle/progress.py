"""Work that is done in steps: each is one transaction, and says where to go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a piece of work has come, since it began."""

    cursor: str | None = None  # where to go on; None: it is done, or has not begun
    counts: Mapping[str, int] = field(default_factory=dict)  # by plain words; no ids, no content

    def advance(self, cursor: str | None, **counts: int) -> Progress:
        """After one more step."""
        total = dict(self.counts)
        for what, count in counts.items():
            total[what] = total.get(what, 0) + count
        return Progress(cursor=cursor, counts=total)


# To be called in the transaction of a step, last: fails where somebody else has taken over.
Save = Callable[[Connection, Progress], None]
Work = Callable[[str, Progress, Save], Progress]  # a space, how far it is, and how to say so


def run(work: Work, space: str) -> Progress:
    """All of it, here and now."""
    done = work(space, Progress(), _unsaved)
    while done.cursor is not None:
        done = work(space, done, _unsaved)
    return done


def _unsaved(_: Connection, __: Progress) -> None:
    """Whoever waits for the end needs no note of how far it is."""
