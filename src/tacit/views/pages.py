"""The part of a view that reads and writes notes as files: a small tree of Markdown for a model."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.notes import view_files
from tacit.notes.document import parse_note
from tacit.notes.view_files import FileEditor, FileTree, ViewPath
from tacit.notes.writers import NoteRetention
from tacit.policy.redaction import may_enter_prompt
from tacit.records import validation as texts
from tacit.records.memory import Memory
from tacit.records.notes import Section, filing_of_section
from tacit.records.request import Request
from tacit.storage.memories import NO_VECTORS, TextVectors, Transaction
from tacit.views.access import Access

List = builtins.list


class ViewPages(Access):
    """In your own private chat the index `_index.md`, pages like `trips.md` or `work/plans.md`, and
    sessions like `2026-03-01/telegram_1001.md`; in a group that group's sessions."""

    def files(self, folder: str = "") -> List[str]:
        """The paths of all files, or of those in a folder. Of sessions the newest are listed."""
        return list(self.file_sizes(folder))

    def file_sizes(self, folder: str = "") -> dict[str, int]:
        """The same with the size of each in bytes. A file instead of a folder is told alone."""
        where = view_files.parse_view_path(folder) if folder != "" else None

        def work(connection: Connection, request: Request) -> dict[str, int]:
            tree = self._open_tree(connection, request)
            if where is not None and where.kind is not None:
                found = tree.find_files(where)
            else:
                found = tree.list_files("" if where is None else where.path)
            if where is not None and not found:
                raise NotFound("file")
            return {one.path.path: len(one.text.encode()) for one in found}

        return self._read(work)

    def read_file(self, path: str) -> str:
        """What a file says, as far as this audience may hear it."""
        where = view_files.parse_file_path(path)

        def work(connection: Connection, request: Request) -> str:
            found = self._open_tree(connection, request).open_file(where)
            if found is None:
                raise NotFound("file")
            self._record_use(*(memory for _, memory in found.shown))
            return found.text

        return self._read(work)

    def write_file(
        self, path: str, text: str, *, new: bool = False, instead_of: str | None = None
    ) -> None:
        """Make a file read like this: lines that are new are remembered, changed ones updated,
        missing ones forgotten. `new`: only if there is none yet. `instead_of` is the text you read:
        if it says something else by now, Conflict."""
        where = view_files.parse_file_path(path)
        said = _written("text", text)
        only_new = texts.parse_bool("new", new)
        before = None if instead_of is None else _text("instead_of", instead_of)
        fresh = self._new_lines(where, said)
        vectors = self._retriever.embed_inline(fresh) if fresh else NO_VECTORS
        self._write_tree(
            lambda pen: pen.write(where, said, new=only_new, instead_of=before), vectors
        )
        if fresh:  # a line may be the value of a key, which is embedded with it
            self._runtime.wake_indexer()

    def delete_file(self, path: str) -> None:
        """Forget everything in a file, or in all files of a folder."""
        where = view_files.parse_view_path(path)
        self._write_tree(lambda pen: pen.delete(where))

    def rename_file(self, old: str, new: str) -> None:
        """Give a page, or a folder of pages, another name that is free."""
        was, wanted = view_files.parse_view_path(old), view_files.parse_view_path(new)
        self._write_tree(lambda pen: pen.rename(was, wanted))

    def _open_tree(self, connection: Connection, request: Request) -> FileTree:
        allowed = self._allowed_categories(self._agent)
        has_pages = allowed is None or filing_of_section(Section.PAGE).category in allowed

        def usable(memory: Memory) -> bool:
            return self._may_use(memory) and may_enter_prompt(request, memory)

        return FileTree(connection, self._storage.audiences, request, usable, has_pages)

    def _write_tree(
        self, act: Callable[[FileEditor], None], vectors: TextVectors = NO_VECTORS
    ) -> None:
        how = NoteRetention(
            ttls=self._options.ttl_days, restorable_days=self._options.restorable_days
        )

        def work(w: Transaction) -> None:
            # A writer acts with all their identities; what they were shown is what they may read.
            union = self._options.union
            resolve = self._storage.requests.resolve
            asked = resolve(w.connection, self._space, self._raw_request, w.at, union=union)
            tree = self._open_tree(w.connection, replace(asked, at=w.at))
            act(
                FileEditor(
                    tx=w,
                    tree=tree,
                    retention=how,
                    thread=self._thread,
                    agent=self._agent,
                    may_file=self._parse_category,
                )
            )

        self._write(work, vectors)

    def _new_lines(self, where: ViewPath, said: str) -> List[str]:
        """What is not read there yet: what it means is found before anything is written."""
        assert where.kind is not None
        wanted = {item.content for item in parse_note(said.encode(), where.kind).items}
        found = self._read(lambda c, r: self._open_tree(c, r).open_file(where))
        known = {memory.content for _, memory in found.shown} if found is not None else set()
        return sorted(wanted - known)[: limits.FILE_CHANGED_LINES_MAX_COUNT]


def _text(field: str, value: object) -> str:
    return texts.check_storable(field, value, limits.NOTE_FILE_MAX_BYTES)


def _written(field: str, value: object) -> str:
    """What a file may hold: lines of text, with no character that is none."""
    said = texts.check_storable(field, value, limits.FILE_MAX_CHARS).replace("\r\n", "\n")
    for char in said:
        if char < " " and char not in "\n\t":
            raise InvalidInput(
                field, f"contains the control character U+{ord(char):04X}; remove it"
            )
    return said if not said or said.endswith("\n") else f"{said}\n"
