"""The doctor's findings, in plain words, on a page of the operator's."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from sqlalchemy import text

from tacit.console import site
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, OPERATOR, person
from tests.console.watching import faults


def test_a_healthy_space_is_told_so_and_when(seeded: World, visit: Visit) -> None:
    page = visit("/doctor", operator=OPERATOR, scripts=False)
    expect(page.get_by_text("No check has run")).to_be_visible()
    page.get_by_role("button", name="Check the space").click()
    expect(page.get_by_text("No problems found.")).to_be_visible()
    page.goto("/doctor")
    expect(page.get_by_text("Healthy")).to_be_visible()
    expect(page.get_by_text("Checked just now")).to_be_visible()


def test_what_is_wrong_is_told_in_plain_words_and_changed_by_nobody(
    seeded: World, visit: Visit
) -> None:
    id = person(seeded.memory, ALICE).remember("Has a cat").id
    broken = text("DELETE FROM history WHERE memory_id = :id")
    seeded.memory._storage.database.write(lambda connection: connection.execute(broken, {"id": id}))
    page = visit("/doctor", operator=OPERATOR, phone=True)
    page.get_by_role("button", name="Check the space").click()
    heading = page.get_by_role("heading", name="Memories have no first history entry")
    expect(heading).to_be_visible()
    expect(page.get_by_text("1 found, 1 of them can be repaired")).to_be_visible()
    page.get_by_text("Some of the memories").click()
    expect(page.get_by_role("link", name=id)).to_have_attribute("href", f"/memories/{id}")
    expect(page.locator("main")).not_to_contain_text("cat")
    assert faults(page) == []
    assert not seeded.memory.admin.doctor().healthy


def test_a_look_that_takes_long_comes_onto_the_page_when_it_is_done(
    world: World, visiting: Callable[[World], Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "TASK_WAIT_SECONDS", 0)
    page = visiting(world)("/doctor", operator=OPERATOR)
    page.get_by_role("button", name="Check the space").click()
    expect(page.get_by_text("No problems found.")).to_be_visible()
