"""The part of a remote view that keeps notes: sessions, files, and where an agent had got to."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tacit import limits
from tacit.errors import InvalidInput, NoteOutside, NotFound
from tacit.records import validation as texts
from tacit.records.checkpoints import Checkpoint, dump_checkpoint
from tacit.records.conversation import Message
from tacit.records.notes import SessionDraft, SessionEnded, SessionStart
from tacit.surfaces.client.calling import Calling, messages_told, part, said

List = builtins.list


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """A file as the server tells of it."""

    path: str
    size_bytes: int


class RemoteNotes(Calling):
    def begin_session(self, session: str | None = None) -> SessionStart:
        woken: SessionStart = self._ask(
            SessionStart, "/api/sessions/begin", **said(session=session)
        )
        return woken

    def end_session(
        self,
        messages: Iterable[Message] = (),
        *,
        draft: SessionDraft | None = None,
        session: str | None = None,
    ) -> SessionEnded:
        if draft is not None and not isinstance(draft, SessionDraft):
            raise InvalidInput("draft", "expected a tacit.SessionDraft")
        ended: SessionEnded = self._write(
            SessionEnded,
            "POST",
            "/api/sessions/end",
            messages=messages_told(messages),
            **said(draft=draft, session=session),
        )
        return ended

    def files(self, folder: str = "") -> List[str]:
        return list(self.file_sizes(folder))

    def file_sizes(self, folder: str = "") -> dict[str, int]:
        where = _named(folder) if folder != "" else None
        listed = self._list_all(_Listed, "/api/files", folder=where)
        return {one.path: one.size_bytes for one in listed}

    def read_file(self, path: str) -> str:
        found: dict[str, Any] = self._get(dict[str, Any], _file(path))
        text: str = self._decode(str, found.get("text"))
        return text

    def write_file(
        self, path: str, text: str, *, new: bool = False, instead_of: str | None = None
    ) -> None:
        self._write(None, "PUT", _file(path), text=text, new=new, **said(instead_of=instead_of))

    def delete_file(self, path: str) -> None:
        self._write(None, "DELETE", _file(path))

    def rename_file(self, old: str, new: str) -> None:
        self._write(None, "POST", "/api/rename-file", old=_named(old), new=_named(new))

    def save_checkpoint(
        self, data: Any, *, thread: str | None = None, version: int | None = None
    ) -> Checkpoint:
        dump_checkpoint(data)  # what would not come back the same is refused before it is sent
        saved: Checkpoint = self._write(
            Checkpoint, "PUT", _checkpoint(thread), data=data, **said(version=version)
        )
        return saved

    def checkpoint(self, thread: str | None = None) -> Checkpoint | None:
        try:
            found: Checkpoint = self._get(Checkpoint, _checkpoint(thread))
        except NotFound:
            return None
        return found

    def forget_checkpoint(self, thread: str | None = None) -> None:
        self._write(None, "DELETE", _checkpoint(thread))


def _named(path: object) -> str:
    """A path that can be sent. Whether it names anything, the server says."""
    if not isinstance(path, str) or not path or "\n" in path:
        raise NoteOutside("is no path; write it like trips.md or work/plans.md")
    try:
        return texts.check_storable("path", path, limits.NOTE_PATH_MAX_BYTES)
    except InvalidInput as wrong:
        raise NoteOutside(wrong.problem) from None


def _file(path: object) -> str:
    return f"/api/files/{part(_named(path))}"


def _checkpoint(thread: object) -> str:
    named = texts.parse_optional_identifier("thread", thread, limits.LABEL_MAX_CHARS)
    return "/api/checkpoints" if named is None else f"/api/checkpoints/{part(named)}"
