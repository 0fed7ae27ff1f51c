"""Preview which memories a requester would see in a chat, now and after a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from tacit import limits
from tacit.console import labels, people
from tacit.console.labels import PersonLabels
from tacit.console.sessions import Visitor
from tacit.errors import InvalidInput
from tacit.limits import AUDIENCE_CHATS_MAX_COUNT, AUDIENCE_PEOPLE_MAX_COUNT, AUDIENCE_RECALL_COUNT
from tacit.memory import RULE_TEXTS
from tacit.records.accounts import Person
from tacit.records.memory import ChatKind
from tacit.records.queries import INCLUDE_MEMORIES, Search
from tacit.records.request import Chat, Requester
from tacit.records.results import AudienceChat, AudiencePreview, AudienceReport, Explanation

# A person previews only their own memories, an operator all memories of the space.


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewSetting:
    """The chat and requester that a visitor chose."""

    room: str | None  # id of the group; None: the requester's private chat
    by: str | None  # external key of the requester; None: the visitor

    def chat(self, visitor: Visitor) -> Chat:
        if self.room is not None:
            return Chat.group(self.room)
        return Chat.private(self.by or visitor.name)

    @property
    def requester(self) -> Requester | None:
        return None if self.by is None else Requester(self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class DisclosurePreview:
    shown: tuple[AudiencePreview, ...] = ()
    withheld: tuple[AudiencePreview, ...] = ()
    cursor: str | None = None  # of the next page of both
    reasons: Mapping[str, str] = field(default_factory=dict)  # why a memory is recalled, by its id


def list_groups(visitor: Visitor) -> tuple[AudienceChat, ...]:
    """List the groups to choose from. An operator may type others."""
    if visitor.is_operator:
        return visitor.operator.audience.chats(limit=AUDIENCE_CHATS_MAX_COUNT).items
    return tuple(room for room in visitor.view.audience.chats() if room.kind is ChatKind.GROUP)


def list_requesters(visitor: Visitor, groups: Iterable[AudienceChat]) -> dict[str, str]:
    """Map external keys to names of the people to choose from, besides the visitor.

    An operator may type others. People who are known only by name cannot be requesters.
    """
    found: Iterable[Person] = (one for group in groups for one in group.people)
    if visitor.is_operator:
        found = visitor.operator.people.list(limit=limits.PAGE_MAX_COUNT).items
    named = {key: labels.person_label(one) for one in found for key in people.list_external_keys(one)}
    by_name = sorted(named.items(), key=lambda one: (one[1].casefold(), one[0]))
    return dict(by_name[:AUDIENCE_PEOPLE_MAX_COUNT])


def choose_setting(
    visitor: Visitor, groups: Sequence[AudienceChat], room: str | None, by: str | None
) -> PreviewSetting:
    """Check the choice: a person may choose only their own groups and members of these."""
    chosen = PreviewSetting(room=room, by=by)
    if visitor.is_operator:
        return chosen
    candidates = [one for one in groups if room in (None, one.id)]
    if room is not None and not candidates:
        raise InvalidInput("room", "is not a group of yours; choose one from the list")
    known = {key for one in candidates for person in one.people for key in people.list_external_keys(person)}
    if by is not None and by not in known:
        raise InvalidInput("by", "is not a member of your groups; choose a person from the list")
    return chosen


def preview_list(visitor: Visitor, at: PreviewSetting, search: Search, cursor: str | None) -> DisclosurePreview:
    """Preview one page of memories, newest first."""
    found = visitor.api.audience.preview(
        at.chat(visitor), at.requester, search, limit=limits.PAGE_DEFAULT_COUNT, cursor=cursor
    )
    return DisclosurePreview(
        shown=tuple(one for one in found if one.allowed),
        withheld=tuple(one for one in found if not one.allowed),
        cursor=found.cursor,
    )


def preview_answer(
    visitor: Visitor, at: PreviewSetting, question: str, search: Search, cursor: str | None
) -> DisclosurePreview:
    """Preview what a question recalls there; for an operator, beside all that is withheld."""
    if not visitor.is_operator:
        return _preview_own_answer(visitor, at, question)
    found = visitor.operator.audience.recall(at.chat(visitor), at.requester, question, AUDIENCE_RECALL_COUNT)
    shown = tuple(
        AudiencePreview(memory=one.memory, allowed=True, rule=one.rule, says=RULE_TEXTS[one.rule]) for one in found
    )
    reasons = {one.memory.id: one.why for one in found}
    rest = preview_list(visitor, at, search, cursor)
    return replace(rest, shown=shown, reasons=reasons)


def _preview_own_answer(visitor: Visitor, at: PreviewSetting, question: str) -> DisclosurePreview:
    """Recall the person's own memories in private and check each against the chosen chat.

    The rank among memories of other people there is not disclosed to them.
    """
    view, names = visitor.view, labels.labels_for(visitor)
    recalled = view.recall(question, top_k=AUDIENCE_RECALL_COUNT, user=visitor.name, include=[INCLUDE_MEMORIES])
    found = [
        AudiencePreview(memory=one.memory, **asdict(view.explain(one.memory.id, at.chat(visitor), at.requester)))
        for one in recalled
        if names.is_mine(one.memory.owner)
    ]
    return DisclosurePreview(
        shown=tuple(one for one in found if one.allowed),
        withheld=tuple(one for one in found if not one.allowed),
        reasons={one.memory.id: one.why for one in recalled},
    )


# The audience of one memory before and after a change.


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceEntry:
    """A group with its members, or one person in their private chat."""

    room: str | None  # id of the group; None: a private chat
    people: tuple[str, ...]
    more: bool  # the group has more members than these
    says: str  # the reason after the change


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceChanges:
    gains: list[AudienceEntry] = field(default_factory=list)
    loses: list[AudienceEntry] = field(default_factory=list)
    still: list[AudienceEntry] = field(default_factory=list)
    never: list[AudienceEntry] = field(default_factory=list)


def compare_audiences(now: AudienceReport, then: AudienceReport, names: PersonLabels) -> AudienceChanges:
    before = {key: result.allowed for key, _, result in _each_entry(now, names)}
    found = AudienceChanges()
    for key, entry, result in _each_entry(then, names):
        if result.allowed:
            (found.still if before.get(key) else found.gains).append(entry)
        else:
            (found.loses if before.get(key) else found.never).append(entry)
    return found


def count_gains(several: Iterable[AudienceChanges]) -> list[tuple[AudienceEntry, int]]:
    """Count for each chat or person how many of several memories they could newly see."""
    found: dict[tuple[str | None, tuple[str, ...]], tuple[AudienceEntry, int]] = {}
    for changes in several:
        for one in changes.gains:
            first, count = found.get((one.room, one.people), (one, 0))
            found[one.room, one.people] = first, count + 1
    return list(found.values())


def _each_entry(report: AudienceReport, names: PersonLabels) -> Iterator[tuple[str, AudienceEntry, Explanation]]:
    for chat, result in report.rooms:
        yield f"room {chat.id}", _chat_entry(chat, result, names), result
    for person, result in report.people:
        name = names.of(person.id)
        label = labels.person_label(person) if name == labels.external_key(person.id) else name
        yield f"person {person.id}", _person_entry(label, result), result


def _chat_entry(chat: AudienceChat, result: Explanation, names: PersonLabels) -> AudienceEntry:
    if chat.kind is ChatKind.PRIVATE:
        return _person_entry(names.of(f"ext:{chat.id}"), result)
    members = tuple(labels.person_label(one) for one in chat.people)
    return AudienceEntry(room=chat.id, people=members, more=not chat.complete, says=result.says)


def _person_entry(name: str, result: Explanation) -> AudienceEntry:
    return AudienceEntry(room=None, people=(name,), more=False, says=result.says)
