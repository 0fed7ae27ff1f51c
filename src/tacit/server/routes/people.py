"""People the caller knows, relations, counts, and links between identities."""

from __future__ import annotations

from dataclasses import dataclass, replace

from starlette.responses import Response

from tacit.records.accounts import Person, Scope
from tacit.server.responses import record_response
from tacit.server.routing import Context, Router
from tacit.server.schemas import AssignableNameKind, NamedPerson

people_router = Router("people")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Whether memory is enabled for the caller."""

    enabled: bool
    why_disabled: str | None


@people_router.add("GET", "/api/view", scope=Scope.READ, gives=Standing)
def show_view(context: Context) -> Response:
    """Show whether memory is enabled for this caller, and if not, why."""
    view = context.view
    return record_response(Standing(enabled=view.enabled, why_disabled=view.why_disabled))


def _hide_person(person: Person) -> Person:
    return replace(person, names=(), identities=frozenset())


@people_router.serve("people.list")
def list_people() -> None:
    """List the people whom the caller has named, and the participants of this chat."""


@people_router.serve("people.name", body="NameRequest", types={"kind": AssignableNameKind}, hide=_hide_person)
def name_person() -> None:
    """Name a person for the caller: a name, a username, an alias or a relation. A key that may not
    read gets their id alone."""


_BY_ID = {"person": NamedPerson}


@people_router.serve("people.merge", body="MergeRequest", types=_BY_ID, hide=_hide_person)
def merge_people() -> None:
    """Merge two people whom the caller named, for the caller alone and in private chats."""


@people_router.serve("people.unmerge", body="UnmergeRequest", types=_BY_ID, hide=_hide_person)
def unmerge_people() -> None:
    """Undo the merge of a person into another."""


@people_router.serve("people.about")
def list_about() -> None:
    """List memories about a person that are visible here, of any speaker. An unknown person has none."""


@people_router.serve("relate", body="RelateRequest")
def relate_memories() -> None:
    """Relate two memories of the caller, from the first to the second."""


@people_router.serve("stats")
def show_stats() -> None:
    """Count the caller's own memories, in a private chat; elsewhere none."""


# Links between two identities of one person: a code, its acceptance, and a confirmation. Linked
# identities read as one person, so that a key needs the scopes read and write.

account_router = Router("linking")


@account_router.serve("account.offer_link", also_read=True, problems=(409,))
def offer_link() -> None:
    """Create a code to enter once from the caller's other identity. It voids an earlier one."""


@account_router.serve("account.accept_link", body="AcceptRequest", also_read=True)
def accept_link() -> None:
    """Accept a code; returns whose it is. Nothing is shared before they confirm."""


@account_router.serve("account.pending_link", absent="link")
def show_link_waiting() -> None:
    """Show who accepted the caller's code and waits for confirmation."""


@account_router.serve("account.confirm_link", also_read=True)
def confirm_link() -> None:
    """Confirm a link: from now on, both identities are one person."""


@account_router.serve("account.refuse_link")
def refuse_link() -> None:
    """Refuse a link: the caller's code and their acceptance of another's are void."""


@account_router.serve("account.unlink")
def unlink_me() -> None:
    """Unlink the identity of this request from its account."""


@account_router.serve("account.identities")
def list_identities() -> None:
    """List the caller's identities, in a private chat; elsewhere none."""
