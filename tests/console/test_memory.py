"""One memory: what is told of it, and all that can be done to it and taken back."""

import pytest
from playwright.sync_api import Page, expect

from tacit.records.memory import Memory
from tacit.records.queries import Search
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, person
from tests.console.watching import faults_by_day_and_night

TEA = "Prefers tea to coffee"


def memory_that_says(world: World, words: str, key: str = ALICE, state: str = "any") -> Memory:
    """The newest one."""
    found = person(world.memory, key).browse(Search(state=state))
    memory: Memory = next(one for one in found if one.content == words)
    return memory


def path_of(world: World, words: str = TEA) -> str:
    return f"/memories/{memory_that_says(world, words).id}"


@pytest.fixture
def tea(seeded: World, visit: Visit) -> Page:
    return visit(path_of(seeded), person=ALICE)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def told(page: Page, words: str) -> None:
    expect(page.locator(".said[role=status]")).to_contain_text(words)


def known(page: Page, name: str) -> str:
    return page.locator(f"dt:text-is('{name}') + dd").inner_text()


def test_all_that_is_known_is_told_in_plain_words(shared: World, look: Visit) -> None:
    page = look(path_of(shared, "The release is on Thursday"), person=ALICE)
    assert known(page, "Speaker") == "You"
    assert known(page, "About") == "You"
    assert known(page, "Chat") == "Group telegram:-100"
    assert known(page, "Present") == "You, Bob"
    assert known(page, "Visibility") == "This group"
    assert known(page, "Certainty") == "Said by its subject."


def test_forgetting_restoring_and_pinning_are_taken_back_by_one_button(seeded: World, tea: Page) -> None:
    press(tea, "Forget")
    told(tea, "Forgotten.")
    press(tea, "Undo")
    told(tea, "Undone.")
    assert memory_that_says(seeded, TEA).state == "active"
    press(tea, "Forget")
    press(tea, "Restore")
    told(tea, "Restored.")
    press(tea, "Undo")
    told(tea, "Undone.")
    assert memory_that_says(seeded, TEA).state == "forgotten"
    press(tea, "Restore")
    press(tea, "Pin")
    told(tea, "Pinned.")
    expect(tea.locator(".badge.pinned")).to_be_visible()
    press(tea, "Undo")
    expect(tea.locator(".badge.pinned")).to_have_count(0)
    assert not memory_that_says(seeded, TEA).pinned
    press(tea, "Pin")
    press(tea, "Unpin")
    told(tea, "Unpinned.")


def test_another_wording_by_keyboard_and_the_earlier_one_again(seeded: World, tea: Page) -> None:
    tea.get_by_role("link", name="Edit").focus()
    tea.keyboard.press("Enter")
    field = tea.get_by_role("dialog").get_by_role("textbox", name="Text")
    expect(field).to_be_focused()
    field.fill("Prefers green tea")
    tea.keyboard.press("Tab")
    tea.keyboard.press("Enter")
    told(tea, "Saved.")
    expect(tea.locator(".wording")).to_have_text("Prefers green tea")
    first = tea.locator(".timeline li").first
    expect(first.locator("ins")).to_have_text("green")
    expect(first.locator("del")).to_have_text("to coffee")
    press(tea, "Undo")
    told(tea, "Undone.")
    expect(tea.locator(".wording")).to_have_text(TEA)
    assert memory_that_says(seeded, TEA).version == 3


def test_where_somebody_was_quicker_both_wordings_are_shown(seeded: World, visit: Visit) -> None:
    id = memory_that_says(seeded, TEA).id
    page = visit(f"/memories/{id}/edit", person=ALICE)
    person(seeded.memory, ALICE).update(id, "Prefers water")
    page.get_by_role("textbox", name="Text").fill("Prefers cocoa")
    press(page, "Save")
    expect(page.get_by_role("alert")).to_contain_text("version 2 by now")
    both = page.get_by_role("region", name="Edited meanwhile")
    expect(both.get_by_text("Prefers water", exact=True)).to_be_visible()
    expect(both.get_by_text("Prefers cocoa", exact=True)).to_be_visible()
    expect(both.locator("ins")).to_have_text("cocoa")
    assert faults_by_day_and_night(page) == []
    assert person(seeded.memory, ALICE).show(id).content == "Prefers water"
    expect(page.get_by_role("textbox", name="Text")).to_have_value("Prefers cocoa")
    press(page, "Save")
    expect(page.locator(".wording")).to_have_text("Prefers cocoa")


def test_what_was_said_in_a_room_gets_a_new_place_with_its_new_wording(seeded: World, visit: Visit) -> None:
    words = "The release is on Thursday"
    page = visit(f"{path_of(seeded, words)}/edit", person=ALICE)
    expect(page.get_by_text("only you see it")).to_be_visible()
    page.get_by_role("textbox", name="Text").fill("The release is on Friday")
    press(page, "Save")
    expect(page.locator(".wording")).to_have_text("The release is on Friday")
    assert memory_that_says(seeded, words).state == "superseded"
    press(page, "Undo")
    told(page, "The earlier text is back as a private memory.")
    assert known(page, "Chat") == "Private chat"
    expect(page.locator(".wording")).to_have_text(words)
    old = memory_that_says(seeded, words, state="superseded")
    page.goto(f"/memories/{old.id}")
    page.get_by_role("link", name=words).click()
    expect(page.get_by_role("button", name="Forget")).to_be_visible()


def test_erasing_shows_what_is_pending_in_the_files(tea: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.lifecycle.erasure.scrub_files", lambda _: False)
    tea.get_by_role("link", name="Erase…").click()
    tea.get_by_label("To continue, type erase").fill("erase")
    tea.keyboard.press("Enter")
    expect(tea.get_by_text("Pending. No request can find it")).to_be_visible()
    expect(tea.get_by_role("listitem").filter(has_text="tacit maintain")).to_be_visible()
    assert faults_by_day_and_night(tea) == []


def test_erasing_takes_a_typed_word_and_gives_a_certificate(seeded: World, tea: Page) -> None:
    id = memory_that_says(seeded, TEA).id
    tea.get_by_role("link", name="Erase…").click()
    box = tea.get_by_role("dialog")
    box.get_by_label("To continue, type erase").fill("yes")
    box.get_by_role("button", name="Erase", exact=True).click()
    expect(tea.get_by_role("alert")).to_contain_text("Type the word erase")
    assert person(seeded.memory, ALICE).show(id).content == TEA
    tea.get_by_label("To continue, type erase").fill("erase")
    tea.keyboard.press("Enter")
    expect(tea.get_by_text("1 memory erased permanently.")).to_be_visible()
    assert faults_by_day_and_night(tea) == []
    expect(tea.get_by_text("No database file contains it.")).to_be_visible()
    tea.get_by_text("Certificate file").click()
    assert seeded.memory.admin.verify_certificate(tea.locator("pre").inner_text())
    tea.goto(f"/memories/{id}")
    expect(tea.get_by_role("heading", name="Page not found")).to_be_visible()
