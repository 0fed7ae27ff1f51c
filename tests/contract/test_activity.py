"""What happened lately to a person's own memories: newest first, by the page, and by the day."""

from datetime import date, timedelta

import tacit
from tacit.memory import Memory
from tacit.records.results import ActivityEntry
from tests.contract.hostile import NAIVE
from tests.contract.refusals import refuses
from tests.contract.rooms import ALICE, BOB, SetClock, group, in_pages, kept, private

ACCOUNT = "acct:alice"


def told(page: tacit.Page[ActivityEntry]) -> list[tuple[str, str | None]]:
    return [(one.event.value, one.content) for one in page]


def lived(memory: Memory, clock: SetClock) -> str:
    """A memory of Alice's that saw something of life, a minute apart."""
    view = private(memory, ALICE)
    id = kept(view, "I live in Rome", category="profile")
    for step in (
        lambda: view.update(id, "I live in Porto"),
        lambda: view.set_visibility(id, "public_ok"),
        lambda: view.forget(id),
        lambda: view.restore(id),
    ):
        clock.forward(seconds=60)
        step()
    return id


def test_what_happened_is_told_newest_first_with_the_wording_of_its_time(memory: Memory, clock: SetClock) -> None:
    id = lived(memory, clock)
    page = private(memory, ALICE).audit.activity()
    assert told(page) == [
        ("RESTORE", "I live in Porto"),
        ("DELETE", "I live in Porto"),
        ("UPDATE", "I live in Porto"),
        ("UPDATE", "I live in Porto"),
        ("ADD", "I live in Rome"),
    ]
    assert page.cursor is None
    newest = page.items[0]
    assert (newest.at, newest.memory_id, newest.category) == (clock.now, id, "profile")
    assert (newest.actor, newest.reason, newest.owner) == ("ext:telegram:1001", None, None)
    assert page.items[2].reason == "visibility public_ok"
    recent = private(memory, ALICE).audit.activity(since=clock.now - timedelta(seconds=60))
    assert [one.event.value for one in recent] == ["RESTORE", "DELETE"]


def test_pages_follow_one_another_though_everything_happened_in_one_moment(memory: Memory) -> None:
    view = private(memory, ALICE)
    ids = {kept(view, f"Fact {n}") for n in range(7)}
    seen = [one.memory_id for one in in_pages(view.audit.activity, limit=3)]
    assert (len(seen), set(seen)) == (7, ids)


def test_all_identities_of_a_person_are_told_together(memory: Memory, clock: SetClock) -> None:
    kept(private(memory, ALICE), "First")
    clock.forward(seconds=1)
    memory.admin.link("telegram:1001", ACCOUNT)
    kept(private(memory, tacit.Requester(ACCOUNT)), "Second")
    clock.forward(seconds=1)
    kept(private(memory, ALICE), "Third")
    view = private(memory, ALICE)
    assert [one.content for one in view.audit.activity()] == ["Third", "Second", "First"]
    first = view.audit.activity(limit=2)
    assert [one.content for one in view.audit.activity(limit=2, cursor=first.cursor)] == ["First"]
    assert view.audit.daily_counts(1)[0].counts == {"learned": 3}


def test_nobody_is_told_what_happens_to_what_is_not_theirs(memory: Memory, clock: SetClock) -> None:
    lived(memory, clock)
    kept(group(memory, ALICE), "The team meets at nine", for_room=True)
    kept(group(memory, ALICE), "I like tea", visibility="room", sensitivity="public")
    others = [private(memory, BOB), group(memory, ALICE), group(memory, BOB)]
    for view in others:
        assert (view.audit.activity().items, view.audit.activity().cursor) == ((), None)
    assert group(memory, ALICE).audit.daily_counts() == ()
    assert all(not one.counts for one in private(memory, BOB).audit.daily_counts())
    own = private(memory, ALICE)
    assert "The team meets at nine" not in [one.content for one in own.audit.activity()]


def test_what_is_erased_takes_what_happened_along(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    id = lived(memory, clock)
    view.erase(id)
    assert view.audit.activity().items == ()
    assert view.audit.daily_counts(1)[0].counts == {}


def test_days_are_counted_in_utc_each_with_its_own_words(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    clock.now = clock.now.replace(hour=23, minute=59, second=59)
    kept(view, "Late")
    clock.forward(seconds=1)
    lived(memory, clock)
    days = view.audit.daily_counts(3)
    assert [one.day for one in days] == [date(2026, 2, 28), date(2026, 3, 1), date(2026, 3, 2)]
    assert [one.counts for one in days] == [
        {},
        {"learned": 1},
        {"forgotten": 1, "learned": 1, "restored": 1, "updated": 2},
    ]
    assert [one.day for one in view.audit.daily_counts(1)] == [date(2026, 3, 2)]
    assert len(view.audit.daily_counts()) == 30


def test_ageing_says_why(memory: Memory, clock: SetClock) -> None:
    view = private(memory, ALICE)
    kept(view, "It rains", expires_at=clock.now + timedelta(days=1))
    clock.forward(days=2)
    memory.jobs.expire()
    newest = view.audit.activity().items[0]
    assert (newest.event.value, newest.reason, newest.actor) == ("TTL", "expired", "system")
    assert view.audit.daily_counts(1)[0].counts == {"expired": 1}


def test_what_is_asked_for_is_bounded_and_a_cursor_was_given(memory: Memory) -> None:
    view = private(memory, ALICE)
    refuses(view.audit.activity, "limit", limit=501)
    refuses(view.audit.daily_counts, "days", 367)
    refuses(view.audit.activity, "since", since=NAIVE)
    for cursor in ("", "?", "MTIz", "x" * 500, 7, "MSBBQUFBQUFBQSAx8J+YgA"):
        refuses(view.audit.activity, "cursor", cursor=cursor)
