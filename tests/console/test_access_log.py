"""Who looked at memories: told to whom it concerns, and to operators."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, BOB, OPERATOR, person
from tests.console.watching import faults, is_wider_than_its_window

ODD = "<b>ada</b>"


def test_a_person_is_told_who_looked_at_what_is_theirs(
    seeded: World, visiting: Callable[[World], Visit]
) -> None:
    id = person(seeded.memory, ALICE).remember("Has a cat").id
    seeded.memory.operator(ODD).show(id)
    page = visiting(seeded)("/access-log", person=ALICE, phone=True, dark=True)
    card = page.get_by_role("listitem").filter(has_text=ODD)
    expect(card).to_contain_text("opened a memory")
    expect(card).to_contain_text("1 memory of yours")
    expect(card.get_by_role("link")).to_have_attribute("href", f"/memories/{id}")
    assert page.locator("main b").count() == 0
    assert faults(page) == []
    assert not is_wider_than_its_window(page)
    assert "No entries." in Caller(seeded, seeded.cookie(person=BOB)).get("/access-log").text


def test_an_operator_is_told_of_every_look(seeded: World, visit: Visit) -> None:
    for one in person(seeded.memory, BOB).list():
        seeded.memory.operator("grace").show(one.id)
    page = visit("/access-log", operator=OPERATOR)
    expect(page.get_by_text("grace").first).to_be_visible()
    expect(page.get_by_text("of yours")).to_have_count(0)
    assert faults(page) == []


def test_older_looks_are_on_the_next_page(seeded: World) -> None:
    id = person(seeded.memory, ALICE).remember("Has a cat").id
    operator = seeded.memory.operator(OPERATOR)
    for _ in range(51):
        operator.show(id)
    alice = Caller(seeded, seeded.cookie(person=ALICE))
    first = alice.get("/access-log").text
    assert first.count('class="card"') == 50
    cursor = first.partition("/access-log?cursor=")[2].partition('"')[0]
    assert alice.get(f"/access-log?cursor={cursor}").text.count('class="card"') == 1
    assert alice.get("/access-log?cursor=nonsense").status_code == 422
