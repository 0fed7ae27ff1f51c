"""What a request may hear, kept at hand between questions and never a write behind.

A reach holds ids that came through the disclosure predicate, with the revisions of the doors they
came through. The revisions are read again in the snapshot of every question, and what moved is
asked for anew. Whatever is chosen from a reach goes through the predicate once more before it is
said, so that nothing kept here can disclose anything.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from sqlalchemy import Connection

from tacit import limits
from tacit.clock import to_micros
from tacit.policy.predicate import AccessPath, PredicateBranch, predicate_parameters
from tacit.recall import shelf as s
from tacit.recall.library import Held, Library
from tacit.recall.within import Within
from tacit.records.accounts import Person
from tacit.records.request import Request
from tacit.storage import memory_reads, people
from tacit.storage.memory_reads import Candidate
from tacit.storage.revisions import (
    Revisions,
    chat_path,
    home_path,
    is_audience_path,
    person_path,
    read_revisions,
)

_UNSEEN = (0, 0)


class TooMany(Exception):
    """More is within reach than is kept at hand."""


@dataclass(slots=True)
class _Unit:
    """One branch, or one owner's share of one."""

    token: Any  # the revisions that it holds for
    ids: Held


class Reach:
    """Of one request, whatever the question and whenever it is asked."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self._identity_rev: int | None = None
        self._branches: dict[tuple[bool, int, str | None], _Unit] = {}
        self._candidates: Within | None = None

    def load(self, connection: Connection, library: Library, requests: Sequence[Request]) -> Within:
        """Everything within reach in this snapshot. To be called under the lock."""
        request = requests[0]
        if self._identity_rev != request.identity_rev:
            self._branches.clear()
            self._candidates = None
            self._identity_rev = request.identity_rev
        revisions = read_revisions(connection, request)
        tokens = [unit.token for unit in self._branches.values()]
        moved: set[str] | None = set()
        for asked in requests:
            for number, branch in enumerate(memory_reads.policy_branches(asked)):
                for owner in _owners(asked, branch) if branch.by_owner else [None]:
                    some = self._refresh(connection, asked, revisions, number, owner, branch)
                    moved = None if moved is None or some is None else moved | some
        if self._candidates is None or moved is None:
            held: Held = {}
            for unit in self._branches.values():
                held.update(unit.ids)
            self._candidates = library.build_candidates(
                connection, request, held, known_to(connection, request)
            )
        elif tokens != [unit.token for unit in self._branches.values()]:
            changes = {id: self._find_id(id) for id in moved}
            known = known_to(connection, request)
            self._candidates = library.update_candidates(
                connection, request, self._candidates, changes, known
            )
        self._drop_expired(connection, library, request)
        self.count = len(self._candidates)
        return self._candidates

    def _drop_expired(self, connection: Connection, library: Library, request: Request) -> None:
        """What has expired is not only left out of answers: it must not count in them either."""
        within, at = self._candidates, to_micros(request.at)
        if within is None or within.static_scores.valid_until > at:
            return
        lapsed = [within.id(one) for one in np.flatnonzero(within.facts[s.EXPIRES] <= at).tolist()]
        for unit in self._branches.values():
            for id in lapsed:
                unit.ids.pop(id, None)
        changes = dict.fromkeys(lapsed)
        known = known_to(connection, request)
        self._candidates = library.update_candidates(connection, request, within, changes, known)

    def _find_id(self, id: str) -> tuple[int, str] | None:
        return next((unit.ids[id] for unit in self._branches.values() if id in unit.ids), None)

    def _refresh(
        self,
        connection: Connection,
        request: Request,
        revisions: Revisions,
        number: int,
        owner: str | None,
        branch: PredicateBranch,
    ) -> set[str] | None:
        """The ids that this may have changed; None where all of it was asked for anew. Of one owner
        only what changed since is, unless something of theirs was erased."""
        if owner is None:
            token, cleared = _through(branch.access_path, request, revisions), None
        else:
            token, cleared = revisions.get(person_path(owner), _UNSEEN)
        key = (request.turns, number, owner)
        unit = self._branches.get(key)
        if unit is not None and unit.token == token:
            return set()
        if owner is not None and unit is not None and cleared <= unit.token < token:
            changed = {
                id
                for id, _ in memory_reads.list_changed(connection, request.space, owner, unit.token)
            }
            held = self._query_ids(connection, request, number, owner, unit.token)
            for id in changed:
                unit.ids.pop(id, None)
            unit.ids.update(held)
            unit.token = token
            return changed
        held = self._query_ids(connection, request, number, owner)
        self._branches[key] = _Unit(token, held)
        return _differing(unit.ids, held) if unit is not None else None

    def _query_ids(
        self,
        connection: Connection,
        request: Request,
        number: int,
        owner: str | None,
        since: int | None = None,
    ) -> Held:
        most = limits.PERMITTED_SET_MAX_COUNT
        found = memory_reads.list_candidates(
            connection, request, number, most + 1, owner=owner, since=since
        )
        key = (request.turns, number, owner)
        others = sum(len(unit.ids) for at, unit in self._branches.items() if at != key)
        own = len(self._branches[key].ids) if since is not None else 0
        if len(found) + others + own > most:
            raise TooMany
        return held_of(found)


def known_to(connection: Connection, request: Request) -> list[Person]:
    """By the names that may be said here: what one calls somebody in private stays there."""
    return people.list_known_people(connection, request, own_names=request.private)


def _differing(one: Held, other: Held) -> set[str] | None:
    """Where two differ; None where that is most of them."""
    differ = {id for id, _ in one.items() ^ other.items()}
    return differ if 2 * len(differ) <= len(other) else None


def held_of(found: Iterable[Candidate]) -> Held:
    return {one.id: (one.stamp, home_path(one.owner, one.learned_in)) for one in found}


def _owners(request: Request, branch: PredicateBranch) -> list[str]:
    params = predicate_parameters(request)
    owners: list[str] = params["p_me" if branch.access_path is AccessPath.ME else "p_here"]
    return owners


def _through(door: AccessPath, request: Request, revisions: Revisions) -> Any:
    """The revisions that a branch's answer depends on."""
    if door is AccessPath.ME:
        doors = [person_path(one) for one in sorted(request.own_identities)]
        return tuple(revisions.get(one, _UNSEEN) for one in doors)
    if door is AccessPath.ROOM:
        return tuple(revisions.get(chat_path(one), _UNSEEN) for one in sorted(request.chat_ids))
    return frozenset(item for item in revisions.items() if is_audience_path(item[0]))


class Reaches:
    """The reaches of those who asked lately."""

    def __init__(self, library: Library) -> None:
        self._index_cache = library
        self._permitted_sets: OrderedDict[Any, Reach] = OrderedDict()
        self._lock = Lock()

    def load(self, connection: Connection, requests: Sequence[Request]) -> Within:
        """`requests` are one request, for memories or turns or both."""
        request = requests[0]
        key = (
            request.space,
            request.requester,
            request.own_identities,
            request.chat,
            request.kind,
            request.audience,
            request.present,
            request.complete,
            request.purpose,
            tuple(one.turns for one in requests),
        )
        with self._lock:
            reach = self._permitted_sets.setdefault(key, Reach())
            self._permitted_sets.move_to_end(key)
        try:
            with reach.lock:
                return reach.load(connection, self._index_cache, requests)
        except BaseException:
            with self._lock:
                self._permitted_sets.pop(key, None)
            raise
        finally:
            self._evict()

    def _evict(self) -> None:
        with self._lock:
            count = sum(reach.count for reach in self._permitted_sets.values())
            while len(self._permitted_sets) > 1 and (
                count > limits.PERMITTED_SETS_TOTAL_MAX_COUNT
                or len(self._permitted_sets) > limits.PERMITTED_SETS_CACHED_MAX_COUNT
            ):
                _, reach = self._permitted_sets.popitem(last=False)
                count -= reach.count
