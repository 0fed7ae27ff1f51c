"""Whose a note is, and who acts when its file is changed."""

from __future__ import annotations

from datetime import datetime

from tacit.errors import InvalidInput
from tacit.identity import external_keys
from tacit.identity.resolution import RawRequest, parse_request
from tacit.notes.mirror.heads import keepable
from tacit.notes.text.document import UNDATED
from tacit.notes.text.names import path_of
from tacit.records.memory import ChatKind
from tacit.records.notes import Frontmatter, NoteKind, NoteLink, NoteRef
from tacit.records.request import Chat, Requester
from tacit.storage.notes import NoteRow
from tacit.storage.store import Store


def row_for(
    place: NoteRef, head: Frontmatter, links: tuple[NoteLink, ...], at: datetime
) -> NoteRow | None:
    """The note that a file is, of which the store knows nothing yet. None where nobody can tell
    whose it is."""
    try:
        return _row(place, head, links, at)
    except InvalidInput:
        return None


def asking_of(store: Store, space: str, row: NoteRow) -> RawRequest | None:
    """The person whose note it is, in their private chat; None where it is a room's."""
    if row.subject is None:
        return None
    key = row.subject.removeprefix(f"{external_keys.EXTERNAL_PREFIX}:")
    asking = parse_request(Requester(key), Chat.private(row.chat or key))
    alone = store.read(space, asking, lambda _, request: request.private)
    if alone or row.chat in (None, key):
        return asking
    return parse_request(
        Requester(key), Chat.private(key)
    )  # of a chat that is somebody else's by now


def _row(
    place: NoteRef, head: Frontmatter, links: tuple[NoteLink, ...], at: datetime
) -> NoteRow | None:
    session = place.kind is NoteKind.SESSION
    named = head.session_id if session else None
    subject = head.subject_id if session else place.subject or head.subject_id
    if subject is not None:
        subject = external_keys.parse_subject(subject)
    which = NoteRef(
        kind=place.kind,
        subject=None if session else subject,
        day=place.day,
        session=place.session or named,
        name=place.name,
    )
    if not session and subject is None:
        return None
    if not session and head.subject_id not in (None, subject):
        return None  # the folder and the head name two people
    chat = _chat(head, which.session, subject)
    if chat is None:
        return None
    private = subject is not None
    created = at if head.created_at == UNDATED else min(head.created_at, at)
    return NoteRow(
        path=path_of(which),
        kind=place.kind,
        subject=subject,
        day=place.day,
        session=which.session,
        chat=chat,
        chat_kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        thread=chat,
        created_at=created,
        updated_at=created if head.updated_at == UNDATED else min(head.updated_at, at),
        source=_kept(head.source),
        channel=_kept(head.channel),
        contact_id=_kept(head.contact_id),
        contact_nickname=_kept(head.contact_nickname),
        tags=head.tags if keepable(head.tags) else (),
        links=tuple(link for link in links if keepable(link)),
    )


def _kept(value: str | None) -> str | None:
    return value if keepable(value) else None


def _chat(head: Frontmatter, session: str | None, subject: str | None) -> str | None:
    """A session's name begins with its chat; the channel in the head may be one too."""
    for named in (head.channel, (session or "").partition("/")[0]):
        if named and ":" in named:
            try:
                chat = external_keys.parse_chat_id(named)
            except InvalidInput:
                continue
            kind = external_keys.infer_chat_kind(chat)
            wanted = ChatKind.PRIVATE if subject is not None else ChatKind.GROUP
            if kind in (None, wanted):
                return chat
    return None if subject is None else subject.removeprefix(f"{external_keys.EXTERNAL_PREFIX}:")
