"""Every check that the doctor makes, in the order it makes them. A further one is a `Check` in a
file of its own, and a line here."""

from __future__ import annotations

from tacit.lifecycle.doctor import (
    audiences,
    contradictions,
    flags,
    links,
    persons,
    promises,
    speakers,
    states,
    vectors,
    words,
)
from tacit.lifecycle.doctor.check import Check

CHECKS: tuple[Check, ...] = (
    links.ORPHANS,
    words.WORDS,  # before whatever changes memories: a change rewrites words that must be there
    promises.VERSIONS,
    promises.HISTORY,
    promises.PEOPLE,
    promises.THREADS,
    audiences.MISSING,
    audiences.UNUSED,
    links.SUCCESSORS,
    links.IDENTITIES,
    flags.SHADOWED,
    flags.UNKNOWN,
    flags.CONFIDENTIAL,
    states.KEYS,
    states.PURGE_DATES,
    states.PROPOSALS,
    speakers.SPEAKERS,
    persons.DUPLICATES,
    contradictions.CONTRADICTIONS,
    vectors.STRAY,
    vectors.MISSING,
    states.OVERDUE,
    states.PARKED,
)
