"""Whom a statement is about, as people and not as words: the speaker's own words for them first,
then who is here; somebody new is noted, and who could be two people is not guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity import external_keys
from tacit.learn.facts import Mention, Statement
from tacit.learn.reading.tongue import Tongue
from tacit.records.accounts import NameKind
from tacit.records.validation import fold_name
from tacit.storage import people
from tacit.storage.memories import Transaction
from tacit.storage.schema import person_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributed:
    about: frozenset[str]  # identities
    withheld_from: tuple[str, ...]  # identities
    hearsay: bool
    unclear: bool = False  # it is not certain who all of these are: nobody else may hear it


class Ambiguous(Exception):
    """Somebody could be one of two people; the message is the name that was said."""


def attribute(w: Transaction, statement: Statement) -> Attributed:
    assert w.request.subject is not None
    about = {w.request.subject} if statement.about_speaker else set()
    about |= {_person(w, one, statement) for one in statement.about}
    withheld, unclear = withheld_people(w, statement.withheld_from)
    return Attributed(
        about=frozenset(about),
        withheld_from=tuple(sorted(withheld)),
        hearsay=bool(about)
        and (w.request.subject not in about or (statement.whole and statement.hearsay)),
        unclear=unclear,
    )


def withheld_people(w: Transaction, said: Sequence[Mention]) -> tuple[frozenset[str], bool]:
    """The identities of those from whom a hold keeps it, and whether one of them stays unclear:
    several people have the name (all of them are among these), or it cannot be kept as a name."""
    names = list(dict.fromkeys(map(_spoken, said)))
    most = limits.PEOPLE_PER_MEMORY_MAX_COUNT
    found: set[str] = set()
    unclear = len(names) > most
    for name in names[:most]:
        try:
            found |= people.resolve_or_create_people(
                w.connection, w.dialect, w.request, [name], people.WITHHELD_FIELD, w.at
            )
        except InvalidInput:
            unclear = True
            found.update(people.find_people(w.connection, w.request, name, withholding=True)[0])
    # The owner has it anyway, and could never take that back: it is theirs alone instead.
    unclear = unclear or not found.isdisjoint(w.request.own_identities)
    return frozenset(found - w.request.own_identities), unclear


def of_family(w: Transaction, said: Statement | None, whom: Attributed, tongue: Tongue) -> bool:
    """Whether the speaker tells it in private, of their own family and of nobody with a key of
    their own, as far as the speaker knows: a child's allergy is a parent's to tell."""
    if said is None or not said.about or not (whom.hearsay and w.request.private):
        return False
    others = whom.about - {w.request.subject}
    known = [
        one for one in people.list_known_people(w.connection, w.request) if one.identities & others
    ]
    ids = others.union(*(one.identities for one in known))
    if any(not id.startswith(f"{external_keys.PERSON_PREFIX}:") for id in ids):
        return False
    family = tongue.words["family"]
    kin = [one for one in known if any(name.text in family for name in one.names)]
    named = {fold_name(name.text) for one in kin for name in one.names}
    return all(one.relation in family or fold_name(one.name or "") in named for one in said.about)


def _person(w: Transaction, said: Mention, statement: Statement) -> str:
    named = _found(w, [one for one in (said.username, said.name) if one])
    related = _found(w, [said.relation]) if said.relation else None
    calls = said.username or said.name
    if calls is None:
        return related or _created(w, said.relation or said.text, NameKind.RELATION)
    if named is None and related is not None and not _has_name(w, related):
        # "My wife" was known without a name, and now has one.
        _call(w, related, calls, NameKind.NAME)
        return related
    person = named or _created(w, calls, NameKind.NAME)
    if said.relation and related != person:
        if related is not None and statement.slot == said.relation:
            _no_longer(w, said.relation)  # there is one boss at a time
        if related is None or statement.slot == said.relation:
            _call(w, person, said.relation, NameKind.RELATION)
    return person


def _found(w: Transaction, names: Sequence[str]) -> str | None:
    for name in names:
        found, _ = people.find_people(w.connection, w.request, name)
        if len(found) > 1:
            raise Ambiguous(name)
        if found:
            return found[0]
    return None


def _created(w: Transaction, name: str, kind: NameKind) -> str:
    # Two writers may meet somebody new at once: the second finds whom the first made.
    w.dialect.acquire_lock(w.connection, f"{w.space} {w.request.subject} {fold_name(name)}")
    return _found(w, [name]) or people.create_person(
        w.connection, w.dialect, w.request, name, w.at, kind=kind
    )


def _call(w: Transaction, person: str, name: str, kind: NameKind) -> None:
    people.add_person_name(w.connection, w.dialect, w.request, person, name, kind, w.at)


def _has_name(w: Transaction, person: str) -> bool:
    known = people.list_known_people(w.connection, w.request)
    named = (one.names for one in known if person in one.identities)
    return any(name.kind is not NameKind.RELATION for names in named for name in names)


def _no_longer(w: Transaction, relation: str) -> None:
    n = person_names.c
    w.connection.execute(
        delete(person_names).where(
            n.space_id == w.space,
            n.known_to.in_(sorted(w.request.own_identities)),
            n.kind == NameKind.RELATION.value,
            n.folded == fold_name(relation),
        )
    )


def _spoken(said: Mention) -> str:
    return said.username or said.name or said.relation or said.text
