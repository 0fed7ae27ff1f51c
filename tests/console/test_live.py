"""Search as you type: the address keeps step, and an answer that comes too late is dropped."""

import re

from playwright.sync_api import Page, Route, expect

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
