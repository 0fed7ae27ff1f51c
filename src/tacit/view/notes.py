"""Begin and end sessions, and read and write notes as Markdown files."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput, NotFound
from tacit.identity import EXTERNAL_PREFIX
from tacit.learning.extraction.locale import AUTO
from tacit.learning.pipeline import choose_locale
from tacit.lifecycle.inferred import make_budget
from tacit.notes import drafts, sessions, view_files
from tacit.notes.document import parse_note
from tacit.notes.drafts import EndedConversation
from tacit.notes.sessions import NoteSession, SessionContext, SessionEnding, SessionPlan, SessionReader
from tacit.notes.view_files import FileEditor, FileTree, ViewPath
from tacit.notes.writers import NoteRetention, ViewNoteWriter
from tacit.policy.rules import may_enter_prompt
from tacit.records import validation
from tacit.records.conversation import Message, ParsedMessage
from tacit.records.memory import Memory
from tacit.records.notes import Note, Section, SessionDraft, SessionEnded, SessionStart, filing_of_section
from tacit.records.request import Request
from tacit.storage.idempotency import IdempotentResult
from tacit.storage.memories import NO_VECTORS, TextVectors, Transaction
from tacit.view import context as operations
from tacit.view.context import Arguments, Replay, Resource, ViewContext, not_found, read, write
from tacit.view.idempotency import NOTHING, StoredOutcome, list_visible_ids
from tacit.view.learning import screen_messages


def _record_session_end(made: SessionEnded, _: Arguments) -> StoredOutcome:
    told = {name: getattr(made, name) for name in ("path", "added", "merged", "ticked")}
    return told, (made.promoted,)


def _replay_session_end(context: ViewContext, done: IdempotentResult, asked: Arguments) -> SessionEnded:
    """Return the outcome with the current note; without a note on a later day."""
    named = validation.parse_optional_label("session", asked["session"])

    def work(connection: Connection, request: Request) -> Note | None:
        here = sessions.find_session(request, context.thread, named)
        if here is None or here.path != done.result["path"]:
            return None
        audiences = context.storage.audiences
        return SessionReader(connection, audiences, request, context.may_use).load_note(here)

    promoted = list_visible_ids(context, done).get(0)
    return SessionEnded(**done.result, promoted=promoted, note=context.read(work))


SESSION_END = Replay(record=_record_session_end, replay=_replay_session_end)


class Sessions(Resource, name="sessions"):
    """Sessions and their notes."""

    @read("POST /api/sessions/begin", disabled=SessionStart(session=""))
    def begin(self, session: str | None = None) -> SessionStart:
        """Return the context that a session starts with.

        It has what the person asked to keep (in their own private chat only), the summaries of
        recent sessions, and today's note of this session. Without `session`, the name is that of
        this thread.
        """
        named = _parse_session_name(session)

        def work(connection: Connection, request: Request) -> SessionStart:
            here = sessions.find_session(request, self._context.thread, named)
            if here is None:
                return SessionStart(session=named or self._context.thread)
            seen = self._load_session(connection, request, here, ending=False)
            return SessionStart(session=here.name, long_term=seen.index, recent=seen.recent, today=seen.today)

        return self._context.read(work)

    @write("POST /api/sessions/end", disabled=SessionEnded(path=""), replay=SESSION_END)
    def end(
        self, messages: Iterable[Message] = (), *, draft: SessionDraft | None = None, session: str | None = None
    ) -> SessionEnded:
        """Write the outcome of a session to its note of the day, from the messages or a draft.

        Repeated lines are merged. Finished tasks are ticked in the notes of recent days. At most
        one thing that the person asked to keep for good is added to their index, and only in their
        own private chat.
        """
        named = _parse_session_name(session)
        said, _ = screen_messages(messages)
        wanted = None if draft is None else drafts.check_draft(draft)
        path, seen, private = self._context.read(lambda c, r: self._read_session(c, r, named))
        if wanted is None and not said:
            return SessionEnded(path=path)
        plan = sessions.plan_session(seen, self._build_session_input(said, wanted), wanted, private=private)
        if not plan.has_note and plan.promoted is None:
            return SessionEnded(path=path)
        for category in plan.categories:
            self._context.parse_category(category)
        vectors = self._context.retriever.embed_inline(plan.texts)
        ended = self._context.write(lambda tx: self._write_session_end(tx, named, seen, plan), vectors)
        self._context.runtime.wake_indexer()
        return ended

    def _read_session(
        self, connection: Connection, request: Request, named: str | None
    ) -> tuple[str, SessionContext, bool]:
        here = self._require_session(request, named)
        seen = self._load_session(connection, request, here, ending=True)
        return here.path, seen, request.private

    def _load_session(
        self, connection: Connection, request: Request, here: NoteSession, *, ending: bool
    ) -> SessionContext:
        audiences, usable = self._context.storage.audiences, self._context.may_use
        reader = SessionReader(connection, audiences, request, usable)
        return reader.load_context(here, self._context.options.note_days, ending=ending)

    def _require_session(self, request: Request, named: str | None) -> NoteSession:
        here = sessions.find_session(request, self._context.thread, named)
        if here is None:
            raise InvalidInput("chat", "has no notes: say which kind it is, private or group, and who is in it")
        return here

    def _write_session_end(
        self, tx: Transaction, named: str | None, seen: SessionContext, plan: SessionPlan
    ) -> SessionEnded:
        retention = NoteRetention(ttls=self._context.options.ttl_days)
        subject = (self._context.raw_request.subject or "").removeprefix(f"{EXTERNAL_PREFIX}:")
        private = tx.request.private
        ending = SessionEnding(
            writer=ViewNoteWriter(tx, retention, self._context.agent, by_model=False),
            session=self._require_session(tx.request, named),
            usable=self._context.may_use,
            contact=(subject, self._requester_name("name")) if private else (None, None),
        )
        return ending.save(seen, plan)

    def _build_session_input(self, said: Sequence[ParsedMessage], draft: SessionDraft | None) -> EndedConversation:
        learning = self._context.runtime.learning
        spoken = " ".join(one.content for one in said) or sessions.join_draft_text(draft)
        locale = choose_locale(learning.locale if learning is not None else AUTO, spoken)
        model = learning.model if learning is not None else None
        budget = None
        if learning is not None and model is not None:
            budget = make_budget(self._context.storage, self._context.space, learning.allowance)
        return EndedConversation(
            messages=said,
            speaker=self._requester_name("name") or locale.texts["unnamed"],
            at=self._context.storage.clock(),
            locale=locale,
            model=model,
            budget=budget,
        )

    def _requester_name(self, what: str) -> str | None:
        """Return the requester's name as the channel gives it."""
        own = self._context.raw_request.subject
        names = (name for who, kind, name in self._context.raw_request.names if who == own and kind == what)
        return next(names, None)


def _parse_session_name(session: object) -> str | None:
    if session is None:
        return None
    return validation.parse_screened_identifier("session", session, limits.LABEL_MAX_CHARS)


List = builtins.list


class Files(Resource, name="files"):
    """Notes as files.

    In your own private chat: the index `_index.md`, pages like `trips.md` or `work/plans.md`, and
    sessions like `2026-03-01/telegram_1001.md`. In a group: the sessions of that group.
    """

    @operations.read("GET /api/files", disabled=List, paged=True)
    def list(self, folder: str = "") -> List[str]:
        """List the paths of all files, or of a folder, with only the newest sessions."""
        return list(self.sizes(folder))

    @operations.read("GET /api/files", disabled=dict, paged=True)
    def sizes(self, folder: str = "") -> dict[str, int]:
        """Return the size in bytes of each file that `list` returns. The path may name one file."""
        where = view_files.parse_view_path(folder) if folder != "" else None

        def work(connection: Connection, request: Request) -> dict[str, int]:
            found = self._open_tree(connection, request).find_files(where)
            if where is not None and not found:
                raise NotFound("file")
            return {one.path.path: len(one.text.encode()) for one in found}

        return self._context.read(work)

    @operations.read("GET /api/files/{path:rest}", disabled=not_found("file"))
    def read(self, path: str) -> str:
        """Return the text of a file, with the lines that this audience may see."""
        where = view_files.parse_file_path(path)

        def work(connection: Connection, request: Request) -> str:
            found = self._open_tree(connection, request).open_file(where)
            if found is None:
                raise NotFound("file")
            self._context.record_use(*(memory for _, memory in found.shown))
            return found.text

        return self._context.read(work)

    @operations.write("PUT /api/files/{path:rest}", disabled=None, replay=NOTHING)
    def write(self, path: str, text: str, *, new: bool = False, instead_of: str | None = None) -> None:
        """Replace the text of a file: remember new lines, update changed ones, forget missing ones.

        `new` requires that the file does not exist. `instead_of` is the text you read; raises
        Conflict if the file differs from it by now.
        """
        where = view_files.parse_file_path(path)
        said = _parse_file_text("text", text)
        only_new = validation.parse_bool("new", new)
        before = (
            None
            if instead_of is None
            else validation.check_storable("instead_of", instead_of, limits.NOTE_FILE_MAX_BYTES)
        )
        fresh = self._new_lines(where, said)
        vectors = self._context.retriever.embed_inline(fresh) if fresh else NO_VECTORS
        self._write_tree(lambda pen: pen.write(where, said, new=only_new, instead_of=before), vectors)
        if fresh:  # a line may be the value of a key; the key is embedded with it
            self._context.runtime.wake_indexer()

    @operations.write("DELETE /api/files/{path:rest}", disabled=None, replay=NOTHING)
    def delete(self, path: str) -> None:
        """Forget everything in a file, or in all files of a folder."""
        where = view_files.parse_view_path(path)
        self._write_tree(lambda pen: pen.delete(where))

    @operations.write("POST /api/rename-file", disabled=None, replay=NOTHING)
    def rename(self, old: str, new: str) -> None:
        """Rename a page or a folder of pages. The new name must be free."""
        was, wanted = view_files.parse_view_path(old), view_files.parse_view_path(new)
        self._write_tree(lambda pen: pen.rename(was, wanted))

    def _open_tree(self, connection: Connection, request: Request) -> FileTree:
        allowed = self._context.permitted_categories
        has_pages = allowed is None or filing_of_section(Section.PAGE).category in allowed

        def usable(memory: Memory) -> bool:
            return self._context.may_use(memory) and may_enter_prompt(request, memory)

        return FileTree(connection, self._context.storage.audiences, request, usable, has_pages)

    def _write_tree(self, act: Callable[[FileEditor], None], vectors: TextVectors = NO_VECTORS) -> None:
        how = NoteRetention(ttls=self._context.options.ttl_days, restorable_days=self._context.options.restorable_days)

        def work(tx: Transaction) -> None:
            # A writer acts with all their identities, but reads only what this view may show.
            union = self._context.options.union
            resolve = self._context.storage.requests.resolve
            asked = resolve(tx.connection, self._context.space, self._context.raw_request, tx.at, union=union)
            tree = self._open_tree(tx.connection, replace(asked, at=tx.at))
            act(
                FileEditor(
                    tx=tx,
                    tree=tree,
                    retention=how,
                    thread=self._context.thread,
                    agent=self._context.agent,
                    may_file=self._context.parse_category,
                )
            )

        self._context.write(work, vectors)

    def _new_lines(self, where: ViewPath, said: str) -> List[str]:
        """Return the lines that are new in the file, to embed them before the transaction."""
        assert where.kind is not None
        wanted = {item.content for item in parse_note(said.encode(), where.kind).items}
        found = self._context.read(lambda c, r: self._open_tree(c, r).open_file(where))
        known = {memory.content for _, memory in found.shown} if found is not None else set()
        return sorted(wanted - known)[: limits.FILE_CHANGED_LINES_MAX_COUNT]


def _parse_file_text(field: str, value: object) -> str:
    """Parse the text of a file: lines of text without invalid characters."""
    said = validation.check_storable(field, value, limits.FILE_MAX_CHARS).replace("\r\n", "\n")
    for char in said:
        if char < " " and char not in "\n\t":
            raise InvalidInput(field, f"contains the control character U+{ord(char):04X}; remove it")
    return said if not said or said.endswith("\n") else f"{said}\n"
