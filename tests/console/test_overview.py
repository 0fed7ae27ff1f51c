"""What happened and who looked: activity and access log, and that every look is logged."""

from collections.abc import Callable

from playwright.sync_api import expect

from tacit.console.app import PAGE_GROUPS
from tacit.console.requests import FRAGMENT_HEADER
from tacit.console.site import PageAccess, PageRoute
from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, BOB, OPERATOR, person


def test_what_happened_today_is_told_and_leads_to_the_memory(seeded: World, visiting: Callable[[World], Visit]) -> None:
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
    first.get_by_role("link").click()
    expect(page.locator(".wording")).to_have_text("Prefers cocoa")


def test_a_page_goes_on_at_its_cursor_and_at_no_other(seeded: World) -> None:
    id = person(seeded.memory, ALICE).remember("Has a cat").id
    for _ in range(51):
        seeded.memory.operator(OPERATOR).show(id)
        person(seeded.memory, ALICE).pin(id)
        person(seeded.memory, ALICE).pin(id, False)
    alice = Caller(seeded, seeded.cookie(person=ALICE))
    for path in ("/activity", "/access-log"):
        first = alice.get(path).text
        cursor = first.partition(f"{path}?cursor=")[2].partition('"')[0]
        second = alice.get(f"{path}?cursor={cursor}")
        assert (second.status_code, second.text == first, cursor != "") == (200, False, True)
        assert "Newest" in second.text
        wrong = alice.get(f"{path}?cursor=nonsense")
        assert wrong.status_code == 422
        assert "start again without it" in wrong.text


ODD = "<b>ada</b>"


def test_a_person_is_told_who_looked_at_what_is_theirs(seeded: World, visiting: Callable[[World], Visit]) -> None:
    id = person(seeded.memory, ALICE).remember("Has a cat").id
    seeded.memory.operator(ODD).show(id)
    page = visiting(seeded)("/access-log", person=ALICE, phone=True, dark=True)
    card = page.get_by_role("listitem").filter(has_text=ODD)
    expect(card).to_contain_text("opened a memory")
    expect(card).to_contain_text("1 memory of yours")
    expect(card.get_by_role("link")).to_have_attribute("href", f"/memories/{id}")
    assert page.locator("main b").count() == 0
    assert "No entries." in Caller(seeded, seeded.cookie(person=BOB)).get("/access-log").text


PAGES = [
    page
    for topic in PAGE_GROUPS
    for page in topic.routes
    if page.method == "GET" and page.who in (PageAccess.BOTH, PageAccess.OPERATOR)
]
WORDS = "urprise for Alice"


def addresses(page: PageRoute, id: str) -> list[str]:
    """Of Bob and what is his: as it stands, and asked for what makes it fail half-way."""
    who = f"ext:{BOB}" if page.path.startswith("/people") else id
    path = page.path.replace("{id}", who)
    return [path, f"{path}?by={ALICE}&question=surprise&words=surp", f"{path}?cursor=nonsense"]


def test_what_an_operator_sees_is_told_to_whom_it_concerns(seeded: World) -> None:
    bob = person(seeded.memory, BOB)
    (own,) = (one for one in bob.browse() if WORDS in one.content)
    operator = Caller(seeded, seeded.cookie(operator=OPERATOR))
    shown = set()
    for number, path in enumerate(one for page in PAGES for one in addresses(page, own.id)):
        before = {one.id for one in bob.audit.access_log()}
        found = operator.get(path, **({FRAGMENT_HEADER: "1"} if number % 2 else {}))
        assert found.status_code in (200, 404, 422), path
        told = {one.id for one in bob.audit.access_log()} - before
        assert told or WORDS not in found.text, path
        shown |= {path} if WORDS in found.text else set()
    assert {"/", "/graph", f"/memories/{own.id}"} <= {path.partition("?")[0] for path in shown}
