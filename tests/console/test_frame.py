"""What every page has: a way in and out, a frame that all can use, and nothing from outside."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tacit.console.labels import excerpt
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, person
from tests.console.watching import faults, is_wider_than_its_window

FIRST_PAGE_MAX_BYTES = 120_000
TRANSFERRED = """() => ["navigation", "resource"]
    .flatMap((kind) => performance.getEntriesByType(kind)).map((one) => one.transferSize)"""


def test_a_link_signs_in_once_and_the_button_signs_out(
    anywhere: World, visiting: Callable[[World], Visit]
) -> None:
    token = anywhere.memory.console.create_link(person=ALICE).token
    page = visiting(anywhere)(f"/sign-in?token={token}")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Memories")).to_be_visible()
    expect(page.get_by_text("Prefers tea to coffee")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(f"/sign-in?token={token}")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("does not work")


def test_the_first_page_keeps_nobody_out(page: Page) -> None:
    assert faults(page) == []


def test_it_fits_on_a_phone_in_the_dark(look: Visit) -> None:
    page = look(person=ALICE, phone=True, dark=True)
    assert faults(page) == []
    assert not is_wider_than_its_window(page)


ODD = (
    "<script>document.title='owned'</script>",
    '<img src=x onerror="document.title=1"><iframe src="https://elsewhere.example"></iframe>',
    "<b class=live>bold</b> **bold** [here](https://elsewhere.example) {{ 7 * 7 }} {% raw %}",
    "\u202egnp.exe\u202c \u2067right to left\u2069 \u05e9\u05dc\u05d5\u05dd",
    "w" * 2_000,
    "</ul></main><form action=https://elsewhere.example><input name=words>",
)

LIVE = "main script, main img, iframe, b, .live, [action*=elsewhere], [href*=elsewhere]"


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_whatever_people_wrote_is_shown_as_text(
    world: World, visiting: Callable[[World], Visit], phone: bool
) -> None:
    for one in ODD:
        person(world.memory, ALICE).remember(one, category="fact")
    page = visiting(world)(person=ALICE, phone=phone)
    for one in ODD:
        shown = page.locator(".words").get_by_text(excerpt(one), exact=True)
        expect(shown).to_have_text(excerpt(one))
    assert page.title() == "Memories · Tacit"
    assert page.locator(LIVE).count() == 0
    assert not is_wider_than_its_window(page)
    assert faults(page) == []


def test_the_first_visit_costs_little(world: World, visiting: Callable[[World], Visit]) -> None:
    alice = person(world.memory, ALICE)
    for number in range(60):
        alice.remember(f"Thing number {number} of some length, as they are", category="fact")
    page = visiting(world)(person=ALICE)
    page.wait_for_load_state("networkidle")
    parts: list[int] = page.evaluate(TRANSFERRED)
    assert len(parts) >= 3
    assert 0 < sum(parts) < FIRST_PAGE_MAX_BYTES


def test_without_scripts_a_page_works_as_well(look: Visit) -> None:
    page = look(person=ALICE, scripts=False)
    expect(page.get_by_text("Prefers tea to coffee")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
