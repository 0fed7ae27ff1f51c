"""What every page has: a way in and out, live search, and names that are true."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, person

FIRST_PAGE_MAX_BYTES = 120_000
TRANSFERRED = """() => ["navigation", "resource"]
    .flatMap((kind) => performance.getEntriesByType(kind)).map((one) => one.transferSize)"""


def test_a_link_signs_in_once_and_the_button_signs_out(anywhere: World, visiting: Callable[[World], Visit]) -> None:
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


FIELD = "form[data-live] input[type=search]"


def test_an_answer_that_was_overtaken_is_dropped(page: Page) -> None:
    late: list[Route] = []

    def answer(route: Route) -> None:
        if "words=t&" in f"{route.request.url}&":
            late.append(route)
        else:
            route.fulfill(body="<p data-tell>about tea</p>", content_type="text/html")

    page.route("**/?*words=*", answer)
    with page.expect_request("**/?*words=t"):
        page.locator(FIELD).fill("t")
    page.locator(FIELD).fill("tea")
    expect(page.locator("#found")).to_have_text("about tea")
    late[0].fulfill(body="<p data-tell>about t</p>", content_type="text/html")
    expect(page).to_have_url("/?words=tea")
    expect(page.locator("#found")).to_have_text("about tea")
    expect(page.locator("[data-telling]")).to_have_text("about tea")


def test_who_is_signed_out_meanwhile_is_told_so(page: Page) -> None:
    page.context.clear_cookies()
    page.locator(FIELD).fill("tea")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_what_is_no_part_of_a_page_is_not_put_into_one(page: Page) -> None:
    """An answer of something in between, or a problem as programs are told it."""

    def answer(route: Route) -> None:
        if "x-tacit-fragment" in route.request.headers:
            told = '{"detail": "<form id=strange></form>"}'
            route.fulfill(body=told, content_type="application/problem+json")
        else:
            route.continue_()

    page.route("**/?*words=*", answer)
    page.locator(FIELD).fill("tea")
    expect(page).to_have_url(re.compile(r"/\?words=tea"))  # the page itself
    expect(page.locator("#found")).to_contain_text("Prefers tea")
    expect(page.locator("#strange")).to_have_count(0)


ROOM, WHERE_YOU_ARE = "This group", "Shareable"


def test_what_was_said_in_private_is_for_no_room(world: World) -> None:
    own = person(world.memory, ALICE)
    done = own.remember("Lives in Ulm")
    own.set_visibility(done.id, "room")
    alice = Caller(world, world.cookie(person=ALICE))
    shown = alice.get(f"/memories/{done.id}").text
    assert ROOM not in shown
    assert "Private" in shown
    choices = alice.get(f"/memories/{done.id}/visibility").text
    assert ROOM not in choices
    assert WHERE_YOU_ARE in choices
    assert "Current visibility." in choices
    assert "as if you asked there" in choices
