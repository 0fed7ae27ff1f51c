"""Notes as somebody may hear them: every item by the rules, and of a private note nobody else."""

from dataclasses import replace
from datetime import date, timedelta

from sqlalchemy import Connection

from tacit.memory import Memory
from tacit.records.request import Request
from tacit.storage import notes
from tacit.storage.notes import NoteRow
from tacit.view.view import View
from tests.contract.noting import DAY, INDEX, OWN, ROOM, SPACE, act, noted
from tests.contract.rooms import ALICE, BOB, SetClock, group, kept, private

OPEN = {"visibility": "room", "sensitivity": "public", "for_room": True}


def recent(view: View, since: date = DAY, limit: int = 50) -> list[str]:
    audiences = view._context.storage.audiences
    rows = view._context.read(lambda c, request: notes.list_recent_sessions(c, audiences, request, since, limit))
    return [row.path for row in rows]


def heard(view: View, *paths: str, managing: bool = False) -> dict[str, list[str]]:
    audiences = view._context.storage.audiences

    def work(connection: Connection, request: Request) -> dict[str, notes.ItemMemories]:
        asked = request.for_management() if managing else request
        return notes.list_visible_items(connection, audiences, asked, paths)

    return {path: [one.content for _, one in rows] for path, rows in view._context.read(work).items()}


def test_a_room_note_with_a_subject_is_no_way_round_the_rules(memory: Memory) -> None:
    team = group(memory, BOB)
    id = kept(team, "Alice gets a party", withheld_from=[ALICE.key], **OPEN)
    noted(memory, replace(ROOM, subject=INDEX.subject), id)
    assert recent(private(memory, ALICE)) == recent(group(memory, ALICE)) == []


def test_a_summary_is_heard_by_the_rules_too(memory: Memory) -> None:
    team = group(memory, ALICE)
    id = kept(team, "We planned a party", withheld_from=[BOB.key], **OPEN)
    noted(memory, ROOM)
    act(memory, lambda w: notes.update_note(w, ROOM.path, summary_id=id))
    for who, told in ((ALICE, ["We planned a party"]), (BOB, [])):
        view = private(memory, who)
        audiences = view._context.storage.audiences

        def work(connection: Connection, request: Request) -> list[str]:
            row = notes.get_note(connection, SPACE, ROOM.path)
            assert row is not None
            found = notes.list_visible_summaries(connection, audiences, request, [row])  # noqa: B023
            return [one.content for one in found.values()]

        assert view._context.read(work) == told
        assert recent(view) == ([ROOM.path] if told else [])


def days(memory: Memory, count: int) -> list[NoteRow]:
    rows = []
    for number in range(count):
        day = DAY - timedelta(days=number)
        rows.append(replace(OWN, path=f"{day}/telegram_1001.md", day=day))
        noted(memory, rows[-1])
    return rows


def test_recent_sessions_are_the_newest_first_and_no_older_than_asked(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.remember("so that she is known")
    paths = [row.path for row in days(memory, 9)]
    later = replace(OWN, path="2026-03-01/b.md", updated_at=OWN.updated_at + timedelta(hours=1))
    noted(memory, later)
    assert recent(own, DAY - timedelta(days=6)) == [later.path, *paths[:7]]
    assert recent(own, DAY - timedelta(days=6), limit=3) == [later.path, *paths[:2]]


def test_many_sessions_are_looked_through_page_by_page(memory: Memory) -> None:
    team = group(memory, ALICE)
    kept(private(memory, BOB), "so that he is known")
    secret = kept(team, "Bob gets a party", withheld_from=[BOB.key], **OPEN)
    opened = kept(team, "Standup is at 9", **OPEN)
    for number in range(120):
        noted(memory, replace(ROOM, path=f"2026-03-01/a{number:03}.md"), secret)
    noted(memory, replace(ROOM, path="2026-03-01/z.md"), opened)
    assert recent(private(memory, BOB), limit=5) == ["2026-03-01/z.md"]
    assert len(recent(private(memory, ALICE), limit=500)) == 121


def test_what_is_past_its_time_is_heard_by_its_owner_who_asks_for_it(memory: Memory, clock: SetClock) -> None:
    own = private(memory, ALICE)
    id, gone = kept(own, "Rain today", expires_at=clock.now + timedelta(days=1)), kept(own, "x")
    noted(memory, OWN, id, gone)
    own.forget(gone)
    clock.forward(days=2)
    assert heard(own, OWN.path) == {OWN.path: []}
    assert heard(own, OWN.path, managing=True) == {OWN.path: ["Rain today"]}
    memory.jobs.expire()
    assert heard(own, OWN.path, managing=True) == {OWN.path: ["Rain today"]}
