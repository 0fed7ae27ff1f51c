"""What happened: day by day, with its reasons, and how often."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tacit.console import charts
from tacit.records.memory import HistoryEvent
from tacit.records.results import ActivityEntry, DayCounts
from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, BOB, OPERATOR, person
from tests.console.watching import faults, is_wider_than_its_window

ODD = "<img src=x onerror=document.title=1>\u202e " + "w" * 300


def test_what_happened_today_is_told_and_leads_to_the_memory(
    seeded: World, visiting: Callable[[World], Visit]
) -> None:
    alice = person(seeded.memory, ALICE)
    (tea,) = [one for one in alice.list() if "tea" in one.content]
    alice.update(tea.id, "Prefers cocoa")
    alice.forget(tea.id)
    page = visiting(seeded)("/activity", person=ALICE)
    today = page.get_by_role("region", name="Today")
    first = today.get_by_role("listitem").first
    expect(first).to_contain_text("Forgotten: Prefers cocoa")
    expect(first).to_contain_text("by you")
    expect(today).to_contain_text("Edited: Prefers cocoa")
    expect(today).to_contain_text("Pinned or unpinned: Lives in Lyon")
    expect(today).not_to_contain_text("surprise")
    expect(page.get_by_role("img", name="Learned: 4 in 30 days")).to_be_visible()
    page.get_by_text("Show as a table").click()
    row = page.get_by_role("row").nth(1)
    expect(row.get_by_role("cell").first).to_have_text("4")
    assert faults(page) == []
    first.get_by_role("link").click()
    expect(page.locator(".wording")).to_have_text("Prefers cocoa")


def test_older_things_are_a_page_further(world: World, visiting: Callable[[World], Visit]) -> None:
    alice = person(world.memory, ALICE)
    for number in range(55):
        alice.remember(f"Thing {number}", category="fact")
    page = visiting(world)("/activity", person=ALICE, scripts=False)
    page.get_by_role("link", name="Older").click()
    expect(page.locator("section .cards .card").first).to_contain_text("Thing 4")
    page.get_by_role("link", name="Newest").click()
    expect(page.locator("section .cards .card").first).to_contain_text("Thing 54")


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_whatever_happened_is_shown_as_text(
    world: World, visiting: Callable[[World], Visit], phone: bool
) -> None:
    person(world.memory, ALICE).remember(ODD, category="fact")
    page = visiting(world)("/activity", person=ALICE, phone=phone, dark=phone)
    expect(page.locator(".words").first).to_contain_text("<img src=x")
    assert page.locator("main img").count() == 0
    assert page.title() == "Activity · Tacit"
    assert not is_wider_than_its_window(page)
    assert faults(page) == []


def test_what_happened_to_others_is_not_told(shared: World) -> None:
    answer = Caller(shared, shared.cookie(person=BOB)).get("/activity")
    assert answer.status_code == 200
    assert "surprise" in answer.text
    assert "walnuts" not in answer.text


def test_an_operator_is_told_whose_it_was_and_that_is_noted(
    seeded: World, visiting: Callable[[World], Visit]
) -> None:
    page = visiting(seeded)("/activity", operator=OPERATOR)
    card = page.get_by_role("listitem").filter(has_text="Plans a surprise")
    expect(card).to_contain_text("of telegram:2002")
    assert faults(page) == []
    assert "activity" in {one.word for one in person(seeded.memory, BOB).audit.access_log()}


def test_people_graph_and_activity_are_there_on_both_databases(anywhere: World) -> None:
    alice = Caller(anywhere, anywhere.cookie(person=ALICE))
    ops = Caller(anywhere, anywhere.cookie(operator=OPERATOR))
    for path, says in (("/people", "Bob"), ("/graph", "walnuts"), ("/activity", "walnuts")):
        for caller in (alice, ops):
            answer = caller.get(path)
            assert (answer.status_code, says in answer.text) == (200, True)
        assert "surprise" not in alice.get(path).text
    assert "likes chess" in alice.get("/people/ext:telegram:2002").text
    assert "likes chess" in ops.get("/people/ext:telegram:2002").text


def test_a_cursor_that_is_none_of_ours_is_said(shared: World) -> None:
    answer = Caller(shared, shared.cookie(person=BOB)).get("/activity?cursor=nonsense")
    assert answer.status_code == 422
    assert "start again without it" in answer.text


def happened(event: HistoryEvent, reason: str | None, at: datetime) -> ActivityEntry:
    return ActivityEntry(
        at=at,
        event=event,
        memory_id="AAAAAAAA",
        category="fact",
        content="x",
        actor="ext:telegram:1",
        reason=reason,
    )


def test_reasons_are_told_in_plain_words() -> None:
    now = datetime(2026, 3, 14, 12, tzinfo=UTC)
    found = [
        happened(HistoryEvent.UPDATE, "visibility public_ok", now),
        happened(HistoryEvent.UPDATE, "tags, importance", now - timedelta(days=1)),
        happened(HistoryEvent.UPDATE, "named as replaced", now - timedelta(days=1)),
        happened(HistoryEvent.LINK, "related_to", now - timedelta(days=40)),
    ]
    told = [
        (day.title, [(one.says, one.because) for one in day.lines])
        for day in charts.group_by_day(found, now)
    ]
    assert told == [
        ("Today", [("Visibility: shareable", None)]),
        ("Yesterday", [("Changed: tags, importance", None), ("Changed", "named as replaced")]),
        ("2 February 2026", [("Linked: related to", None)]),
    ]


def test_charts_are_as_high_as_their_own_busiest_day() -> None:
    counts = [
        DayCounts(day=date(2026, 3, 1), counts={"learned": 2}),
        DayCounts(day=date(2026, 3, 2)),
        DayCounts(day=date(2026, 3, 3), counts={"learned": 4, "expired": 1}),
    ]
    found = {one.title: one for one in charts.build_charts(counts)}
    assert list(found) == ["Learned", "Updated", "Forgotten", "Merged", "Expired"]
    assert [bar.height for bar in found["Learned"].bars] == [24, 48]
    assert found["Learned"].says == "Learned: 6 in 3 days, most on 3 March 2026: 4"
    assert found["Updated"].bars == []
