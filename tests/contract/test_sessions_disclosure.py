"""What a room is told of sessions comes from memories that may be heard there, word for word."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, select

import tacit
from tacit import SessionDraft, TaskDraft, TopicDraft
from tacit.memory import Memory
from tacit.policy.rules import decide
from tacit.records.memory import Memory as Record
from tacit.records.notes import NoteLink, Section
from tacit.records.request import Request
from tacit.storage.memory_reads import MEMORY_COLUMNS, to_memory
from tacit.storage.schema import memories_table, note_items, notes_table
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, TEAM, SetClock, group, private
from tests.contract.sessions import ARCHIVE, CANARY, plain, told

WORLDS = count()
PEOPLE = {"Alice": ALICE, "Bob": BOB, "Carol": CAROL}

words = st.integers(1, 8)
act = st.one_of(
    st.tuples(st.just("end"), st.integers(0, 6), words),
    st.tuples(st.just("end"), st.integers(0, 6), words),
    st.tuples(st.just("withhold"), st.integers(0, 9), st.integers(0, 2)),
    st.tuples(st.just("forget"), st.integers(0, 9), st.none()),
    st.tuples(st.just("erase"), st.integers(0, 9), st.none()),
    st.tuples(st.just("narrow"), st.integers(0, 9), st.none()),
    st.tuples(st.just("confide"), st.sampled_from([TEAM, FAMILY]), st.booleans()),
    st.tuples(st.just("leave"), st.sampled_from([TEAM, FAMILY]), st.sampled_from(list(PEOPLE))),
    st.tuples(st.just("link"), st.sampled_from(["Alice", "Bob"]), st.none()),
    st.tuples(st.just("later"), st.sampled_from([600, 90_000, 500_000]), st.none()),
)


def rooms(memory: Memory) -> list[View]:
    everybody = (ALICE, BOB, CAROL)
    return [
        private(memory, ALICE),
        private(memory, BOB),
        group(memory, ALICE),
        group(memory, BOB, here=everybody),
        group(memory, CAROL, here=everybody, complete=True, thread="main"),
        group(memory, BOB, FAMILY),
        private(memory, ALICE, "main"),
    ]


class Story:
    """Acts on one space, each with words that nothing else has."""

    def __init__(self, memory: Memory, clock: SetClock) -> None:
        self.memory, self.clock = memory, clock
        self.canaries = count(1)

    def word(self) -> str:
        return f"zq{next(self.canaries)}z"

    def end(self, room: int, shape: int) -> None:
        about = ["", "Carol ", "Bob "][shape % 3]
        draft = SessionDraft(
            summary=f"Talked of {self.word()}." if shape % 2 else "",
            topics=(TopicDraft(topic=self.word(), event=self.word()),) if shape > 5 else (),
            facts=(f"{about}{self.word()}",) if shape in (1, 2, 3, 6) else (),
            tasks=(TaskDraft(text=f"Do {self.word()}", done=shape > 6),) if shape > 3 else (),
            links=(NoteLink(text=self.word(), target="a.md"),) if shape == 4 else (),
            tags=(self.word(),) if shape == 3 else (),
            promote=ARCHIVE if shape == 8 else None,
        )
        rooms(self.memory)[room].sessions.end(draft=draft)

    def on_one(self, number: int, change: Callable[[View, str], Any]) -> None:
        """Whoever may do it to the memory does it."""
        held = [one for one in every(self.memory) if CANARY.search(one.content)]
        if number < len(held):
            for view in rooms(self.memory):
                try:
                    change(view, held[number].id)
                except (tacit.NotFound, tacit.InvalidInput, tacit.Conflict):
                    continue
                return

    def happen(self, what: str, first: Any, second: Any) -> None:
        if what == "end":
            self.end(first, second)
        elif what == "withhold":
            whom = [ALICE, BOB, CAROL][second].key
            self.on_one(first, lambda view, id: view.withhold_from(id, [whom]))
        elif what == "narrow":
            self.on_one(first, lambda view, id: view.set_visibility(id, "private_only"))
        elif what in ("forget", "erase"):
            self.on_one(first, lambda view, id: getattr(view, what)(id))
        elif what == "confide":
            self.memory.chats.set_confidential(first, second)
        elif what == "leave":
            self.memory.chats.leave(first, PEOPLE[second].key)
        elif what == "link":
            with suppress(tacit.Conflict):
                self.memory.admin.link(PEOPLE[first].key, f"acct:{first.lower()}")
        else:
            self.clock.forward(seconds=first)


def every(memory: Memory) -> list[Record]:
    """The rows themselves, whoever may hear them."""
    store = memory._storage
    with store.database.read() as connection:
        rows = connection.execute(
            select(*MEMORY_COLUMNS)
            .where(memories_table.c.space_id == memory._space)
            .order_by(memories_table.c.created_at, memories_table.c.id)
        ).all()
        at = MEMORY_COLUMNS.index(memories_table.c.audience)
        heard = store.audiences.get_people(connection, memory._space, [row[at] for row in rows])
        return [to_memory(row, heard[row[at]]) for row in rows]


def standing(memory: Memory) -> Iterator[tuple[Any, Section, str]]:
    """Which memory stands in which session's note."""
    n, i = notes_table.c, note_items.c
    both = select(n.path, i.section, i.memory_id).where(
        n.space_id == memory._space, i.space_id == n.space_id, i.path == n.path
    )
    with memory._storage.database.read() as connection:
        for path, section, id in connection.execute(both):
            yield path, Section(section), id


def asked(view: View) -> Request:
    def request(_: Connection, found: Request) -> Request:
        return found

    return view._context.read(request)


def check(memory: Memory, view: View) -> None:
    request, said = asked(view), told(view)
    heard = {m.id: m for m in every(memory) if not m.overridden and decide(request, m).allowed}
    allowed = set(CANARY.findall(" ".join(m.content for m in heard.values())))
    own = own_words(memory, request)
    assert set(CANARY.findall(said)) <= allowed | own
    woken = view.sessions.begin()
    assert request.private or not woken.long_term
    for item in woken.long_term:
        assert heard[item.id or ""].owner in request.own_identities
    there = list(standing(memory))
    for one in woken.recent:
        in_it = [(section, id) for path, section, id in there if path == one.path and id in heard]
        sections = [section for section, _ in in_it]
        assert one.tasks.total == sections.count(Section.TASKS)
        assert one.follow_ups.total == sections.count(Section.FOLLOW_UPS)
        assert in_it or own_note(memory, request, one.path)
    shown = view.block("summary")
    assert set(shown.ids) <= set(heard)


def own_note(memory: Memory, request: Request, path: str) -> bool:
    n = notes_table.c
    row = select(n.subject, n.chat_kind).where(n.space_id == memory._space, n.path == path)
    with memory._storage.database.read() as connection:
        subject, kind = connection.execute(row).one()
    return request.private and kind == "private" and subject in request.own_identities


def own_words(memory: Memory, request: Request) -> set[str]:
    """Of links and tags of one's own private sessions, which no rule is about."""
    n = notes_table.c
    rows = select(n.path, n.links, n.tags).where(n.space_id == memory._space)
    with memory._storage.database.read() as connection:
        found = connection.execute(rows).all()
    return {
        word
        for path, links, tags in found
        if own_note(memory, request, path)
        for word in CANARY.findall(f"{links} {tags}")
    }


def test_every_word_that_any_room_is_told_may_be_heard_there(memory: Memory, clock: SetClock) -> None:
    start = clock.now

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(act, min_size=1, max_size=14))
    def tell(acts: list[tuple[str, Any, Any]]) -> None:
        clock.now = start
        world = memory.space(f"world{next(WORLDS)}")
        story = Story(world, clock)
        for one in acts:
            story.happen(*one)
        clock.forward(seconds=5_000)  # all of it is in the next conversation's block
        for view in [*rooms(world), private(world, CAROL), unknown(world)]:
            check(world, view)

    tell()


def unknown(memory: Memory) -> View:
    view = memory.view(ALICE, tacit.Chat.unknown("web:1"))
    assert isinstance(view, View)
    return view


def test_whatever_happens_in_private_the_group_is_told_the_same(memory: Memory, clock: SetClock) -> None:
    start = clock.now
    hidden = st.lists(st.tuples(st.sampled_from([0, 1, 5, 6]), words), max_size=6)

    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(hidden, st.lists(st.tuples(st.sampled_from([2, 3]), words), max_size=3))
    def tell(unheard: list[tuple[int, int]], open_: list[tuple[int, int]]) -> None:
        answers = []
        for acts in (unheard, []):
            clock.now = start
            world = memory.space(f"world{next(WORLDS)}")
            answers.append(observed(world, clock, acts, open_))
        assert answers[0] == answers[1]

    tell()


def observed(world: Memory, clock: SetClock, unheard: list[tuple[int, int]], open_: list[tuple[int, int]]) -> list[str]:
    """What the group's rooms are told, after what nobody there heard and what they all did."""
    story, hidden = Story(world, clock), Story(world, clock)
    hidden.canaries = count(1_000)
    for room in rooms(world):
        room.sessions.begin()
        room.remember("we are here")  # everybody is known from the start
    moment: datetime = clock.now
    for number in range(max(len(unheard), len(open_))):
        for one in unheard[number : number + 1]:
            hidden.end(*one)
        for two in open_[number : number + 1]:
            story.end(*two)
    clock.now = moment
    clock.forward(seconds=5_000)
    return [plain(view) for view in rooms(world)[2:4]]
