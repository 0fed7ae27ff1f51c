"""Compose a memory from a draft: provenance, sensitivity floor, audience and expiry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from tacit import limits
from tacit.errors import Conflict, InvalidInput
from tacit.learning.extraction.locale import Lexicon, list_locales, load_lexicon, load_profile_forms
from tacit.policy.rules import decide
from tacit.records import validation
from tacit.records.drafts import Draft
from tacit.records.memory import CATEGORY_OF_KIND, ChatKind, Kind, Memory, Sensitivity, Source, State, Trust, Visibility
from tacit.records.request import Request
from tacit.records.results import Remembered
from tacit.storage import learned_facts, memories, people
from tacit.storage.erasures import hard_delete
from tacit.storage.learned_facts import PendingProposal
from tacit.storage.memories import NO_VECTORS, Transaction
from tacit.storage.spaces import load_identities
from tacit.text import fold_case, split_key

# The sensitivity floor of a write: the least sensitivity that its words allow, in any locale.
#
# Every write asks for it, so the common answer must be cheap. The exact patterns of the lexicon
# take hundreds of microseconds for a sentence, since they try each of some 700 words at each
# position and ignore case. Gates hold the same alternatives, sorted by first letter, for a text
# in lower case: where they find nothing, no exact pattern can match. Where they find something,
# the exact patterns decide.

_WORDS = re.compile(r"\\b\(\?:(?P<ways>.*)\)\\b", re.DOTALL)
_GROUP = "(?:"
_CASED = re.compile(r"\(\?-i:")
_CAPITAL = re.compile(r"\\.|[A-ZÄÖÜ]")
_ASIDE = re.compile(r"\(\?<?!")
_BEFORE = re.compile(r"^(?:\\b|(?:\\w|\[\\w\.\])[*+])")
_DIGITS = re.compile(r"^\\d\+")
_QUANTIFIERS = frozenset("?*{")
_REPEATS = ("*", "+", "{")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """The topics of one sensitivity, in every locale."""

    sensitivity: Sensitivity
    gates: tuple[re.Pattern[str], ...]
    topics: tuple[Lexicon, ...]

    def touches(self, text: str, lowered: str) -> bool:
        for gate in self.gates:
            if gate.search(lowered) is not None:
                return any(topic.match.search(text) for topic in self.topics)
        return False


def find_floor(text: str, above: Sensitivity = Sensitivity.PUBLIC) -> Sensitivity:
    """Return the least sensitivity of a text, and no less than `above`. Write a key last: some
    words, such as "phone", count at the end of a text only."""
    lowered = fold_case(text)
    for level in _levels():
        if level.sensitivity.rank > above.rank and level.touches(text, lowered):
            return level.sensitivity
    return above


def join_words(
    content: str,
    *,
    key: str | None = None,
    slot: str | None = None,
    tags: Iterable[str] = (),
    data: Mapping[str, Any] | None = None,
) -> str:
    """Return everything that a memory says as one text to classify. `monthly_salary` and
    `monthlySalary` are words like any other."""
    parts = [content, *tags]
    if data:
        parts.extend(list_texts(data))
    if slot:
        parts.append(split_key(slot))
    if key:
        parts += [key, split_key(key)]
    # What ends with a space ends with no key.
    return " ".join(parts) if key or slot else " ".join(parts) + " "


def list_texts(value: object) -> Iterator[str]:
    """Yield each string of a JSON value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield str(name)
            yield split_key(str(name))
            yield from list_texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from list_texts(one)


@cache
def _levels() -> tuple[_Level, ...]:
    """The strictest first. Read on the first write: the data files are large."""
    topics = [topic for code in list_locales() for topic in load_lexicon(code)]
    by_rank = sorted({topic.sensitivity for topic in topics}, key=lambda one: -one.rank)
    return tuple(
        _Level(
            sensitivity=one,
            gates=_gates([topic for topic in topics if topic.sensitivity is one]),
            topics=tuple(topic for topic in topics if topic.sensitivity is one),
        )
        for one in by_rank
    )


def _gates(topics: Iterable[Lexicon]) -> tuple[re.Pattern[str], ...]:
    """Two patterns for a text as `low` makes it, which find at least what a topic would find: one
    for words that begin with a letter of their own, and one for everything else."""
    by_letter: dict[str, list[str]] = {}
    loose: list[str] = []
    for topic in topics:
        # `low` folds "ß"; and a text in lower case has no capitals to insist on.
        pattern = _CAPITAL.sub(_lowered, _CASED.sub("(?:", topic.match.pattern)).replace("ß", "ss")
        for part in _ways(pattern):
            whole = _WORDS.fullmatch(part)
            if whole is None or not _is_balanced(whole["ways"]):
                loose.append(_loosened(part))
                continue
            for way in _flat(whole["ways"]):
                if way[:1].isalpha() and way[1:2] not in _QUANTIFIERS:
                    by_letter.setdefault(way[0].lower(), []).append(way[1:])
                else:
                    loose.append(_loosened(way))
    words = "|".join(f"{letter}(?:{'|'.join(ends)})" for letter, ends in sorted(by_letter.items()))
    anywhere = "|".join(sorted(set(loose)))
    return re.compile(rf"\b(?:{words})\b"), re.compile(anywhere)


def _lowered(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("\\") else found[0].lower()


def _loosened(way: str) -> str:
    r"""Without what may stand before it, which is slow to look for: `\w*allerg` is `allerg`."""
    return _DIGITS.sub(r"\\d", _BEFORE.sub("", way))


def _flat(ways: str) -> Iterator[str]:
    """Each alternative without its conditions; where it begins with a group, once for each way
    through that: `(?:net|gross) pay` is `net pay` and `gross pay`."""
    for way in map(_unconditional, _ways(ways)):
        if not way.startswith(_GROUP):
            yield way
            continue
        end = next(at for at, depth in _depths(way) if depth == 0)
        firsts, rest = [*_ways(way[len(_GROUP) : end])], way[end + 1 :]
        if rest.startswith("?"):
            firsts, rest = [*firsts, ""], rest[1:]
        if rest[:1] in _REPEATS:
            yield way
        else:
            for first in firsts:
                yield from _flat(first + rest)


def _unconditional(way: str) -> str:
    """Without a negative look around at its beginning, which only ever rules something out."""
    while _ASIDE.match(way):
        end = next(at for at, depth in _depths(way) if depth == 0)
        way = way[end + 1 :]
    return way


def _ways(pattern: str) -> Iterator[str]:
    """The alternatives of a pattern, as they are divided by bars outside of groups and classes."""
    start = 0
    for at, depth in _depths(pattern):
        if depth == 0 and pattern[at] == "|":
            yield pattern[start:at]
            start = at + 1
    yield pattern[start:]


def _is_balanced(pattern: str) -> bool:
    """Whether no group ends that did not begin here."""
    return all(depth >= 0 for _, depth in _depths(pattern))


def _depths(pattern: str) -> Iterator[tuple[int, int]]:
    """Each character that is neither escaped nor in a class, with the groups that are open."""
    at = depth = 0
    while at < len(pattern):
        here = pattern[at]
        if here == "\\":
            at += 2
            continue
        if here == "[":
            at += 2 if pattern[at + 1] in "]^" else 1
            while pattern[at] != "]":
                at += 2 if pattern[at] == "\\" else 1
        elif here == "(":
            depth += 1
        elif here == ")":
            depth -= 1
        yield at, depth
        at += 1


# What a memory is made of: fields that were said, taken over, or settled by where it was said.

Ttls = dict[str, int]  # days, by kind


def compose_memory(tx: Transaction, draft: Draft, old: Memory | None, ttls: Ttls) -> Memory:
    """A memory as this chat's provenance makes it; what is not said is taken over from `old`."""
    request, subject = tx.request, tx.request.subject
    if old is not None and not request.private:
        old = _as_heard_here(request, old)
    subjects = _about(tx, draft, old)
    withheld = _withheld(tx, draft, old)
    key = draft.key or (old.key if old else None)
    slot = draft.slot or (old.slot if old else None)
    content = draft.content or (old.content if old else "")
    tags = draft.tags if draft.tags is not None else (old.tags if old else ())
    data = merge_data(draft, old)
    said = join_words(content, key=key, slot=slot, tags=tags, data=data)
    kind = draft.kind or (old.kind if old else Kind.KNOWLEDGE)
    in_group = request.kind is ChatKind.GROUP
    learned = request.kind if in_group or request.private else None
    plain = Visibility.ROOM if draft.for_room else Visibility.PRIVATE_ONLY
    return Memory(
        id=memories.draw_memory_id(tx),
        space=tx.space,
        owner=None if draft.for_room else subject,
        speaker=subject,
        subjects=subjects,
        learned_in=request.chat if learned else None,
        learned_kind=learned,
        heard_by=list_listeners_of_both(tx, draft, old),
        confidential=in_group and request.confidential,
        kind=kind,
        category=draft.category or (old.category if old else CATEGORY_OF_KIND[kind]),
        key=key,
        slot=slot,
        content=content,
        version=1,
        visibility=draft.visibility or (old.visibility if old else plain),
        sensitivity=_sensitivity(tx, draft, old, said),
        portable=_portable(draft, old),
        withheld_from=withheld,
        withheld_unknown=has_unidentified_person(tx, withheld),
        inferred=False,
        trust=draft.trust or _trust(tx, subjects),
        importance=draft.importance or (old.importance if old else limits.IMPORTANCE_DEFAULT),
        confidence=_first(draft.confidence, old.confidence if old else None),
        pinned=_first(draft.pinned, old.pinned if old else False) or False,
        tags=tags,
        source=make_source(tx, draft),
        thread=tx.thread,
        agent=draft.agent,
        run=draft.run,
        role=draft.role,
        created_at=min(draft.created_at or tx.at, tx.at),
        updated_at=tx.at,
        observed_at=draft.observed_at or tx.at,
        expires_at=draft.expires_at or compute_expiry(kind, tx.at, ttls),
        last_accessed_at=None,
        access_count=0,
        state=State.ACTIVE,
        purge_at=None,
        superseded_by=None,
        overridden=False,
        data=data,
    )


def change_fields(tx: Transaction, memory: Memory, draft: Draft, ttls: Ttls) -> Memory:
    """The memory with the fields that were named, and no others, changed."""
    kind = draft.kind or memory.kind
    expires = draft.expires_at or memory.expires_at
    said_again = draft.content is not None and _lapsed(memory, tx.at)
    if draft.expires_at is None and (kind is not memory.kind or said_again):
        expires = compute_expiry(kind, tx.at, ttls)
    # What came from elsewhere is the owner's own as soon as they say it themselves.
    said = draft.content is not None and draft.trust is None and memory.owner in tx.request.own_identities
    own_now = said and memory.trust is Trust.IMPORTED
    subjects = _about(tx, draft, memory)
    return replace(
        add_withheld_people(tx, memory, draft),
        kind=kind,
        trust=_trust(tx, subjects) if own_now else memory.trust,
        category=draft.category or memory.category,
        slot=draft.slot or memory.slot,
        subjects=subjects,
        visibility=draft.visibility or memory.visibility,
        sensitivity=_sensitivity(tx, draft, memory, _said_anew(draft, memory)),
        portable=_portable(draft, memory),
        importance=draft.importance or memory.importance,
        confidence=_first(draft.confidence, memory.confidence),
        pinned=_first(draft.pinned, memory.pinned) or False,
        tags=draft.tags if draft.tags is not None else memory.tags,
        observed_at=draft.observed_at or memory.observed_at,
        expires_at=expires,
        agent=draft.agent or memory.agent,
        run=draft.run or memory.run,
        role=draft.role or memory.role,
        data=merge_data(draft, memory),
    )


def _as_heard_here(request: Request, old: Memory) -> Memory:
    """Words are said anew. Data is not, and stays where it was said and might be heard."""
    allowed = decide(request, old).allowed
    if old.learned_in in request.chat_ids:
        return old if allowed else replace(old, data=None)
    return replace(old, data=None) if allowed else _told_elsewhere(old)


def _told_elsewhere(old: Memory) -> Memory:
    """Of a memory that this room may not hear, a new one takes over what makes it stricter."""
    room = old.visibility is Visibility.ROOM
    return replace(
        old,
        visibility=Visibility.PRIVATE_ONLY if room else old.visibility,
        subjects=frozenset(),
        kind=Kind.KNOWLEDGE,
        slot=None,
        tags=(),
        data=None,
        portable=False,
        importance=limits.IMPORTANCE_DEFAULT,
        confidence=None,
        pinned=False,
    )


def add_withheld_people(tx: Transaction, memory: Memory, draft: Draft) -> Memory:
    """The memory, withheld from whom the draft names too; nothing else of it moves."""
    withheld = _withheld(tx, draft, memory)
    if withheld == memory.withheld_from:
        return memory
    return replace(memory, withheld_from=withheld, withheld_unknown=has_unidentified_person(tx, withheld))


def list_listeners(tx: Transaction) -> frozenset[str]:
    """Return the audience by their identities of this moment: a link may end later."""
    return tx.request.present if tx.request.kind is ChatKind.GROUP else frozenset()


def list_listeners_of_both(tx: Transaction, draft: Draft, old: Memory | None) -> frozenset[str]:
    """Return the audience; content and data that are kept were heard only by the earlier one."""
    if old is None:
        return list_listeners(tx)
    data_is_old = old.data is not None and draft.data is None
    return list_listeners(tx) & old.heard_by if data_is_old or draft.content is None else list_listeners(tx)


def merge_data(draft: Draft, old: Memory | None) -> Mapping[str, Any] | None:
    """What is said of it replaces all of it, and an empty object clears it."""
    if draft.data is None:
        return old.data if old else None
    return draft.data or None


def make_source(tx: Transaction, draft: Draft) -> Source:
    request = tx.request
    return Source(channel=request.channel, chat=request.chat, message=draft.message)


def stricter_sensitivity(one: Sensitivity, other: Sensitivity) -> Sensitivity:
    return max(one, other, key=lambda s: s.rank)


def compute_expiry(kind: Kind, at: datetime, ttls: Ttls) -> datetime | None:
    days = ttls.get(kind.value)
    return None if days is None else at + timedelta(days=days)


def _about(tx: Transaction, draft: Draft, old: Memory | None) -> frozenset[str]:
    if draft.about is None:
        return old.subjects if old else frozenset()
    return people.resolve_or_create_people(tx, draft.about, "about")


def _withheld(tx: Transaction, draft: Draft, old: Memory | None) -> frozenset[str]:
    """Return the people to withhold it from. This only grows; nothing here removes a person."""
    before = old.withheld_from if old else frozenset()
    if draft.withheld_from is None:
        return before
    return before | people.resolve_or_create_people(tx, draft.withheld_from, people.WITHHELD_FIELD)


def has_unidentified_person(tx: Transaction, withheld: frozenset[str]) -> bool:
    """Whether one of them is known by nothing but a name."""
    if not withheld:
        return False
    known = load_identities(tx.connection, tx.space, withheld).is_recognizable
    return not all(known(person) for person in withheld)


def _sensitivity(tx: Transaction, draft: Draft, old: Memory | None, said: str) -> Sensitivity:
    """The stricter of what the caller asks for and what the words that are said allow."""
    asked = draft.sensitivity or (old.sensitivity if old else Sensitivity.PERSONAL)
    if old is not None and (draft.by_model or not tx.request.private):
        asked = stricter_sensitivity(asked, old.sensitivity)
    return asked if draft.classified else find_floor(said, asked)


def _said_anew(draft: Draft, memory: Memory) -> str:
    """The words of a change; none where the wording and the data stay. Those were classified when
    they were said, and their owner may have lowered that since. Tags and slots that an owner adds
    in private reach no room, so what they say must not take a memory out of one."""
    data = merge_data(draft, memory)
    if draft.content in (None, memory.content) and validation.is_same_json(data, memory.data):
        return ""
    return join_words(
        draft.content or memory.content,
        key=memory.key,
        slot=draft.slot or memory.slot,
        tags=memory.tags if draft.tags is None else draft.tags,
        data=data,
    )


def _portable(draft: Draft, old: Memory | None) -> bool:
    """Whether the kind is a lasting one; False if it was not given."""
    if draft.portable is not None:
        return draft.portable
    if old is not None:
        return old.portable
    return draft.kind is not None and draft.kind.lasting


def _trust(tx: Transaction, subjects: frozenset[str]) -> Trust:
    mine = {tx.request.person(s) for s in subjects}
    return Trust.STATED if not mine or tx.request.requester in mine else Trust.HEARSAY


def _lapsed(memory: Memory, at: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at <= at


def _first(one: Any, other: Any) -> Any:
    return other if one is None else one


# Only the person may state their name and home, even if other people know them.
PROFILE_SLOTS = frozenset({"name", "pronouns", "home_city", "home", "language"})

# Profile fields that a model writes wait for the person's consent.
#
# A person's name, pronouns, home and language are theirs to state. A tool that writes one, about
# the requester or another person, makes a proposal.

_REASON = "a model would keep it, and it is yours to say"
_PROFILE = CATEGORY_OF_KIND[Kind.IDENTITY]
# The name or language of a project is not personal.
_OF_THINGS = frozenset({"project", "task_state", "goal", "event", "procedure"})


def needs_profile_consent(draft: Draft, old: Memory | None = None) -> bool:
    """Return whether a model writes a profile field: by its key or slot, or by its words."""
    if not draft.by_model:
        return False
    slot = draft.slot or (old.slot if old else None) or ""
    if slot.partition(":")[0] in PROFILE_SLOTS:
        return True
    category = draft.category or (old.category if old else None)
    category = category or CATEGORY_OF_KIND[draft.kind or Kind.KNOWLEDGE]
    if category in _OF_THINGS:
        return False
    key, content = draft.key or (old.key if old else None), draft.content or ""
    names = [word.casefold() for word in split_key(key or "").split()]
    for code in list_locales():
        one = load_profile_forms(code)
        if names and names[-1] in one.keys and one.things.isdisjoint(names):
            return True
        if one.called.search(content) or (category == _PROFILE and one.lived.search(content)):
            return True
    return False


def refuse_profile_sentence(content: str, field: str) -> None:
    """Refuse a sentence that states a person's name or pronouns."""
    refuse_profile(Draft(content=content, by_model=True), field)


def refuse_profile(draft: Draft, field: str, old: Memory | None = None) -> None:
    """Refuse a profile field if the model's tool cannot ask the person about it."""
    if needs_profile_consent(draft, old):
        raise InvalidInput(
            field,
            "says a name, pronouns, a home or a language, which the person is asked about first; "
            "keep that with memory_put or add_memory, and leave it out here",
        )


def propose_profile_field(tx: Transaction, draft: Draft, old: Memory | None, ttls: Ttls) -> Remembered:
    """Insert the draft as a proposal to the requester.

    `old` is the memory that an approval replaces; for a key, it is the value that the requester
    holds. Outside a private chat the answer does not depend on stored memories.
    """
    if old is not None and old.owner is None:
        raise InvalidInput("update", "is the room's own: a member says so in the room itself")
    if draft.visibility is Visibility.PUBLIC_OK or draft.for_room:
        raise InvalidInput("visibility", "is asked about once the value is kept; leave it out")
    if draft.category is None and draft.key is not None:
        draft = replace(draft, category=CATEGORY_OF_KIND[draft.kind or Kind.KNOWLEDGE])
    if old is None and draft.key is not None:
        old = _holder(tx, draft)
    taken_over = None if old is None else replace(old, visibility=Visibility.PRIVATE_ONLY)
    memory = replace(compose_memory(tx, draft, taken_over, ttls), state=State.PENDING)
    if old is not None and _says_the_same(old, memory) and tx.request.private:
        return Remembered(id=old.id, state=old.state, version=old.version, created=False)
    before = _asked_before(tx, memory)
    if before is None and _is_declined(tx, memory):
        if tx.request.private:
            raise Conflict("the person said no to this before: it is not kept, nor asked about")
    elif before is None:
        # No search returns a proposal, so it has no neighbors: its vector is created later.
        memories.insert_memory(replace(tx, vectors=NO_VECTORS, added=[]), memory, in_delta=False)
        assert memory.owner is not None
        replaced = old.id if old is not None and old.owner == memory.owner else None
        learned_facts.insert_proposal(tx, memory.id, memory.owner, _REASON, replaced, signals=1)
    elif tx.request.private:
        learned_facts.add_proposal_signal(tx, before.memory_id)
        return _waits(before.memory_id)
    return _waits(memory.id)


def decline_key(memory: Memory) -> str:
    """Return the digest under which a declined proposal is stored."""
    if memory.key is None:
        return learned_facts.normalized_digest(memory.content)
    return learned_facts.normalized_digest(f"keep {memory.category} {memory.key} {memory.content}")


def lock_current_values(tx: Transaction, memory: Memory) -> list[Memory]:
    """Lock and return the values that a keyed memory replaces."""
    if memory.key is None:
        return []
    rows = memories.list_key_holders(tx, memory.category, memory.key, for_room=False)
    found = [memories.get_for_update(tx, row.id) for row in rows if row.owner == memory.owner]
    return [one for one in found if one is not None]


def _waits(id: str) -> Remembered:
    return Remembered(id=id, state=State.PENDING, version=1, created=True)


def _holder(tx: Transaction, draft: Draft) -> Memory | None:
    """Return the current value: the writer's own, or that of a linked identity."""
    assert draft.category is not None
    assert draft.key is not None
    rows = memories.list_key_holders(tx, draft.category, draft.key, for_room=False)
    rows.sort(key=lambda row: (row.owner != tx.request.subject, row.overridden))
    return memories.get_for_update(tx, rows[0].id) if rows else None


def _asked_before(tx: Transaction, memory: Memory) -> PendingProposal | None:
    """Return the same proposal if it waits already. Another value of the key replaces it."""
    for waiting in learned_facts.list_proposals(tx.connection, tx.space, tx.request.own_identities, tx.at):
        other = memories.get_for_update(tx, waiting.memory_id)
        if other is None or other.category != memory.category or other.key != memory.key:
            continue
        if other.visibility is not Visibility.PRIVATE_ONLY:
            continue  # a proposal to share a value is a separate one
        if _says_the_same(other, memory) and other.subjects == memory.subjects:
            return waiting
        if memory.key is not None:
            learned_facts.delete_proposal(tx, waiting.memory_id)
            hard_delete(tx, [waiting.memory_id])
    return None


def _is_declined(tx: Transaction, memory: Memory) -> bool:
    return learned_facts.is_declined(tx, tx.request.own_identities, decline_key(memory))


def _says_the_same(one: Memory, other: Memory) -> bool:
    return one.content == other.content and validation.is_same_json(one.data, other.data)
