"""The façade: one open memory, and what is done to it as a whole. Reading goes through `view`."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from sqlalchemy import Connection

from tacit import limits
from tacit.errors import InvalidInput
from tacit.identity import keys
from tacit.identity.links import Link, LinkKind
from tacit.identity.resolve import parse
from tacit.learn.worker import Runner
from tacit.lifecycle import erase as erasing
from tacit.lifecycle import forget as forgetting
from tacit.lifecycle.maintain import maintain
from tacit.model import text
from tacit.model.chat import Chat, Requester
from tacit.model.results import Embedding, Erased, Maintained, Stats, Waiting
from tacit.operators import Operator
from tacit.store import counts, identities, jobs, links, places, spaces
from tacit.store.writes import Writing
from tacit.views.access import Policy
from tacit.views.disabled import DisabledView
from tacit.views.mind import Mind
from tacit.views.view import View

__all__ = ["DisabledView", "Link", "Memory", "View"]

T = TypeVar("T")

NO_IDENTITY = (
    "nobody is known to be asking, so nothing is remembered or recalled: "
    "name the requester, for example telegram:123"
)
SWITCHED_OFF = "memory is switched off: set memory.enabled to true"


class Memory:
    """Made by `tacit.open`. Safe to share between threads; close it when done."""

    def __init__(
        self, mind: Mind, policy: Policy, *, space: str = "default", enabled: bool = True
    ) -> None:
        self._mind = mind
        self._store = mind.store
        self._policy = policy
        self._space = text.space(space)
        self._enabled = enabled

    def view(
        self,
        requester: Requester | None,
        chat: Chat,
        *,
        thread: str | None = None,
        agent: str | None = None,
    ) -> View | DisabledView:
        """Memory as this requester may use it in this chat. `thread` names the conversation that
        deltas are counted for; without it the chat itself is the thread. `agent` names the one that
        uses it: where the settings have allow-lists, it gets no further than its own."""
        asking = parse(requester, chat)
        named = text.optional_identifier("thread", thread, limits.LABEL_MAX_CHARS)
        acting = text.optional_identifier("agent", agent, limits.LABEL_MAX_CHARS)
        if not self._enabled:
            return DisabledView(SWITCHED_OFF)
        if asking.subject is None:
            return DisabledView(NO_IDENTITY)
        where = (asking, self._space, named or asking.chat)
        return View(self._mind, *where, self._policy, acting)

    def space(self, name: str) -> Memory:
        """The same database, another tenant. Nothing crosses spaces."""
        return Memory(self._mind, self._policy, space=name, enabled=self._enabled)

    def spaces(self) -> list[str]:
        with self._store.database.read() as connection:
            return spaces.names(connection)

    def operator(self, name: str) -> Operator:
        """Acts that stand in history under an operator's name."""
        actor = text.identifier("operator", name, limits.LABEL_MAX_CHARS)
        return Operator(
            self._store,
            self._space,
            f"operator:{actor}",
            self._policy.ttls,
            self._mind.mind_the_gap,
        )

    # Identities

    def link(
        self, external_key: str, account: str, *, verified: bool = True, actor: str = "system"
    ) -> Link:
        """Say whose account an external key belongs to. Unverified, it changes nothing yet."""
        source, target = _external(external_key), _account(account)
        sure = text.flag("verified", verified)
        return self._begin(source, target, LinkKind.LINK, actor, verified=sure)

    def verify_link(self, external_key: str) -> Link:
        source = _external(external_key)
        return self._write(lambda w: links.verify(w.connection, w.space, source, w.at))

    def unlink(self, external_key: str) -> Link:
        """From the next read on, the key and the account are two people again."""
        source = _external(external_key)
        return self._write(lambda w: links.end(w.connection, w.space, source, LinkKind.LINK, w.at))

    def links(self, identity: str) -> list[Link]:
        """Every link an identity has had, oldest first."""
        who = keys.identity(identity, "identity")
        if who is None:
            raise InvalidInput("identity", "is not of the form telegram:123, acct:42 or person:…")
        with self._store.database.read() as connection:
            return identities.of(connection, self._space, who)

    def merge_people(self, person: str, into: str, *, actor: str = "system") -> Link:
        """Two people turned out to be one. The first must be known by name only."""
        source, target = keys.identity(person, "person"), keys.identity(into, "into")
        if source is None or target is None:
            raise InvalidInput("person", "merging takes person:… ids or keys, never names")
        return self._begin(source, target, LinkKind.MERGE, actor, verified=True)

    def unmerge_people(self, person: str) -> Link:
        """Undo the merge of this person into another."""
        source = keys.identity(person, "person")
        if source is None:
            raise InvalidInput("person", "takes a person:… id")
        return self._write(lambda w: links.end(w.connection, w.space, source, LinkKind.MERGE, w.at))

    # Chats

    def joined(self, chat: str, person: str) -> None:
        """Somebody came into a group, or spoke there."""
        room, who = keys.chat_id(chat), keys.subject(person, "person")
        self._write(lambda w: places.join(w.connection, w.dialect, w.space, room, who, w.at))

    def left(self, chat: str, person: str) -> None:
        room, who = keys.chat_id(chat), keys.subject(person, "person")
        self._write(lambda w: places.leave(w.connection, w.dialect, w.space, room, who, w.at))

    def set_confidential(self, chat: str, on: bool = True) -> None:
        """What is said in a confidential group does not leave it, whatever it is."""
        room, flag = keys.chat_id(chat), text.flag("on", on)
        self._write(
            lambda w: places.set_confidential(w.connection, w.dialect, w.space, room, flag, w.at)
        )

    def migrated(self, old: str, new: str) -> None:
        """A channel gave a group a new id."""
        was, now = keys.chat_id(old), keys.chat_id(new)
        self._write(lambda w: places.migrate_chat(w.connection, w.dialect, w.space, was, now, w.at))

    # The whole

    def erase_subject(self, subject: str) -> Erased:
        """Everything that belongs to a person, under the identities they have now."""
        who = keys.subject(subject)

        def work(w: Writing) -> int:
            now = identities.around(w.connection, w.space, [who]).now(who)
            count = erasing.erase_person(w, now)
            spaces.touch(w.connection, w.space)
            return count

        count = self._store.change(self._space, "system", work)
        return Erased(count=count, complete=erasing.scrub(self._store.database))

    def forget_subject(self, subject: str) -> int:
        """Forget everything that belongs to a person; restorable for 30 days."""
        who = keys.subject(subject)

        def work(w: Writing) -> int:
            now = identities.around(w.connection, w.space, [who]).now(who)
            return forgetting.forget_owned(w, now)

        return self._store.act(self._space, "system", work)

    def erase_space(self) -> Erased:
        """The whole space, for good."""

        def work(connection: Connection) -> int:
            self._store.database.dialect.lock_space(connection, self._space)
            return erasing.erase_space(connection, self._store.database, self._space)

        count = self._store.database.write(work)
        return Erased(count=count, complete=erasing.scrub(self._store.database))

    def stats(self) -> Stats:
        """Counts of the whole space, for its operator."""
        with self._store.database.read() as connection:
            return counts.of_space(connection, self._space, self._store.clock())

    def maintain(self) -> Maintained:
        """Check, analyse and compact the database."""
        self._store.accesses.flush()
        return maintain(self._store.database)

    def embedding(self) -> Embedding:
        """Which model makes the vectors, and how far it has come."""
        return self._mind.embedding(self._space)

    def reembed(self, progress: Callable[[int], None] = lambda _: None) -> int:
        """Make every vector that is missing, now; otherwise it happens in the background. Says how
        many were made, and `progress` hears of it on the way."""
        return self._mind.reembed(progress)

    def catch_up(self, wait_seconds: int = limits.CATCH_UP_WAIT_SECONDS) -> int:
        """Learn what waits, now and here, and wait for what others are at; otherwise it happens in
        the background. Says how many turns were learned here."""
        most = text.whole("wait_seconds", wait_seconds, 0, limits.CATCH_UP_MAX_SECONDS)
        if self._mind.path is None:
            raise InvalidInput("learn", "nothing is learned; set learn.enabled to true")
        return Runner(self._mind.path).catch_up(most)

    def keep_learning(self) -> None:
        """Learn what other processes hand over, too, until this is closed. Otherwise a process
        begins when it hands over something itself, or finds something left."""
        if self._mind.path is None:
            raise InvalidInput("learn", "nothing is learned; set learn.enabled to true")
        self._mind.accepted()

    def waiting(self) -> Waiting:
        """What was accepted in this space and is not learned yet."""
        with self._store.database.read() as connection:
            queue = jobs.queue(connection, self._space)
        return Waiting(
            turns=queue.waiting,
            parked=queue.parked,
            oldest=queue.oldest,
            problems=queue.problems,
        )

    def retry_learning(self) -> int:
        """Try again what was given up; says how many turns that are."""
        now = self._store.clock()
        count = self._store.database.write(lambda c: jobs.unpark(c, self._space, now))
        self._mind.accepted()
        return count

    def close(self) -> None:
        self._mind.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _begin(
        self, source: str, target: str, kind: LinkKind, actor: str, *, verified: bool
    ) -> Link:
        by = text.identifier("actor", actor, limits.LABEL_MAX_CHARS)

        def work(w: Writing) -> Link:
            return links.begin(
                w.connection, w.space, source, target, kind, verified=verified, actor=by, at=w.at
            )

        return self._write(work)

    def _write(self, work: Callable[[Writing], T]) -> T:
        return self._store.change(self._space, "system", work)


def _external(key: str) -> str:
    found = keys.subject_of(keys.external_key(key, "external_key"))
    if found.startswith(f"{keys.ACCOUNT}:"):
        raise InvalidInput("external_key", "is an account; name the channel's key, as telegram:123")
    return found


def _account(account: str) -> str:
    found = keys.subject_of(keys.external_key(account, "account"))
    if not found.startswith(f"{keys.ACCOUNT}:"):
        raise InvalidInput("account", "is not of the form acct:<account id>")
    return found
