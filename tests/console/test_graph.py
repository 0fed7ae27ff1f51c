"""Memories and people as a picture: readable however many there are, and a list for those who do
not see it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tacit.limits import GRAPH_FIRST_COUNT
from tacit.memory import Memory
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, OPERATOR, person

MANY = 470
FRIENDS = 30
CATEGORIES = ("fact", "preference", "project", "event", "profile")
DRAWN = ".canvas:not([aria-busy])[data-drawn]"
BOXES = """(elements) => elements.map((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return { left, right, top, bottom };
})"""


def fill(memory: Memory) -> None:
    alice = person(memory, ALICE)
    for number in range(MANY):
        friend = f"Friend {number % FRIENDS} of a {'long ' * (number % 4)}name"
        alice.remember(
            f"Thing {number}, told at some length so that it has to be cut",
            category=CATEGORIES[number % len(CATEGORIES)],
            about=[friend] if number % 2 == 0 else None,
        )


@pytest.fixture(scope="module")
def many(serving: World) -> World:
    one = replace(serving, memory=serving.memory.space("many"))
    fill(one.memory)
    return one


@pytest.fixture
def crowded(many: World, visiting: Callable[[World], Visit]) -> Page:
    page = visiting(many)("/graph?most=500", person=ALICE)
    page.wait_for_selector(DRAWN)
    return page


def boxes(page: Page, selector: str) -> list[dict[str, float]]:
    found: list[dict[str, float]] = page.locator(selector).evaluate_all(BOXES)
    return found


def overlapping(found: list[dict[str, float]]) -> Iterator[tuple[Any, Any]]:
    for place, one in enumerate(found):
        for other in found[place + 1 :]:
            across = one["left"] < other["right"] and other["left"] < one["right"]
            if across and one["top"] < other["bottom"] and other["top"] < one["bottom"]:
                yield one, other


def outside(page: Page, found: list[dict[str, float]]) -> list[dict[str, float]]:
    (canvas,) = boxes(page, ".canvas")
    return [
        one
        for one in found
        if one["left"] < canvas["left"] - 1
        or one["right"] > canvas["right"] + 1
        or one["top"] < canvas["top"] - 1
        or one["bottom"] > canvas["bottom"] + 1
    ]


def settle(page: Page) -> None:
    """Whatever was done is drawn with the next frame."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def scale(page: Page) -> float:
    settle(page)
    found = page.locator(".lines").get_attribute("transform") or ""
    return float(found.partition("scale(")[2].removesuffix(")"))


def test_five_hundred_nodes_are_readable(crowded: Page) -> None:
    marks = boxes(crowded, ".canvas .mark")
    assert len(marks) == 500
    assert outside(crowded, marks) == []
    names = boxes(crowded, ".canvas .name")
    assert len(names) >= 15
    assert list(overlapping(names)) == []
    assert outside(crowded, names) == []
    middles = {(round(one["left"] + one["right"]), round(one["top"] + one["bottom"])) for one in marks}
    assert len(middles) > 490  # hardly any hides another
    before = crowded.locator(".canvas .name").count()
    crowded.get_by_role("button", name="Zoom in").click()
    crowded.get_by_role("button", name="Zoom in").click()
    settle(crowded)
    near = boxes(crowded, ".canvas .name")
    assert list(overlapping(near)) == []
    crowded.get_by_role("button", name="Fit").click()
    expect(crowded.locator(".canvas .name")).to_have_count(before)


def test_keys_lead_through_it_and_open_what_they_come_to(crowded: Page) -> None:
    crowded.get_by_role("button", name="Fit").focus()
    crowded.keyboard.press("Tab")
    first = crowded.locator(".canvas .node").first
    expect(first).to_be_focused()
    crowded.keyboard.press("PageDown")
    expect(crowded.locator(".canvas .node").nth(1)).to_be_focused()
    crowded.keyboard.press("ArrowRight")
    expect(crowded.locator(".canvas .node").nth(1)).not_to_be_focused()
    focused = crowded.locator(".canvas .node:focus")
    expect(focused).to_have_attribute("tabindex", "0")
    assert crowded.locator(".canvas [tabindex='0']").count() == 1
    for key in ("+", "+", "+", "+", "Shift+ArrowLeft", "ArrowLeft", "ArrowRight"):
        crowded.keyboard.press(key)
    settle(crowded)
    assert outside(crowded, boxes(crowded, ".node:focus .mark")) == []
    label = (focused.get_attribute("aria-label") or "").rpartition(", ")[0]
    crowded.keyboard.press("Enter")
    expect(crowded.locator("main")).to_contain_text(label)
    expect(crowded.locator(".canvas")).to_have_count(0)


def test_what_is_looked_for_stands_out(crowded: Page) -> None:
    field = crowded.get_by_label("Find in the graph")
    field.fill("thing 123,")
    expect(crowded.locator("[data-telling]")).to_have_text("1 found in the graph")
    expect(crowded.locator(".node.matches")).to_have_count(1)
    expect(crowded.locator(".canvas .name").first).to_contain_text("Thing 123")
    field.press("Enter")
    expect(crowded.locator(".node.matches")).to_be_focused()
    field.fill("")
    expect(crowded.locator(".node.matches")).to_have_count(0)


def test_some_are_drawn_at_first_and_more_when_asked_for(many: World, visiting: Callable[[World], Visit]) -> None:
    page = visiting(many)("/graph", person=ALICE)
    page.wait_for_selector(DRAWN)
    assert page.locator(".node").count() <= GRAPH_FIRST_COUNT
    page.get_by_role("link", name="Show up to 500").click()
    page.wait_for_selector(DRAWN)
    assert page.locator(".node").count() > GRAPH_FIRST_COUNT
    expect(page.get_by_text("more memories are not shown")).to_have_count(0)
    page.goto(f"{many.url}/graph?most=none")
    expect(page.get_by_role("alert")).to_contain_text("Write a whole number")


def test_dragging_moves_it_and_a_click_opens(crowded: Page) -> None:
    crowded.get_by_role("button", name="Zoom in").click()
    settle(crowded)
    node = crowded.locator(".node.person").first
    before = node.bounding_box()
    assert before is not None
    crowded.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    crowded.mouse.down()
    crowded.mouse.move(before["x"] + 60, before["y"] + 40, steps=4)
    crowded.mouse.up()
    settle(crowded)
    after = node.bounding_box()
    assert after is not None
    assert after["x"] > before["x"] + 20
    assert crowded.url.endswith("/graph?most=500")
    far, lines = scale(crowded), crowded.locator(".lines")
    seen = lines.get_attribute("transform") or ""
    crowded.keyboard.down("Control")
    crowded.mouse.wheel(0, -200)
    expect(lines).not_to_have_attribute("transform", seen)
    crowded.keyboard.up("Control")
    assert scale(crowded) > far
    crowded.get_by_role("button", name="Fit").click()
    crowded.get_by_label("Find in the graph").fill("Friend 8 ")
    crowded.locator(".node.matches").first.click()
    expect(crowded.get_by_role("heading", level=1)).to_contain_text("Friend 8")


def test_without_scripts_there_is_the_list(look: Visit, shared: World) -> None:
    page = look("/graph", person=ALICE, scripts=False)
    expect(page.locator(".canvas")).to_be_hidden()
    row = page.get_by_role("row").filter(has_text="Prefers tea to coffee")
    expect(row).to_contain_text("Preference")
    row.get_by_role("link").first.click()
    expect(page.locator(".wording")).to_have_text("Prefers tea to coffee")


def test_an_operator_sees_the_whole_space_and_it_is_noted(seeded: World, visiting: Callable[[World], Visit]) -> None:
    page = visiting(seeded)("/graph", operator=OPERATOR)
    page.wait_for_selector(DRAWN)
    assert len(boxes(page, ".node:not(.person)")) == 6
    assert {"Alice", "Bob"} <= set(page.locator(".name.person").all_text_contents())
    assert "graph" in {one.word for one in person(seeded.memory, ALICE).audit.access_log()}
