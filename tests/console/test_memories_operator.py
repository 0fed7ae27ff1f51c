"""What operators see and do on the pages of memories: all of the space, under their name."""

from playwright.sync_api import expect

from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, BOB, OPERATOR, person
from tests.console.test_memories import choose, shown
from tests.console.test_memory import memory_that_says, path_of, press, told

SURPRISE, LYON = "Plans a surprise for Alice", "Lives in Lyon"


def test_an_operator_sees_whose_each_is(look: Visit) -> None:
    page = look(operator=OPERATOR)
    assert len(shown(page)) == 6
    of_bob = page.get_by_role("listitem").filter(has_text=SURPRISE)
    expect(of_bob).to_contain_text(f"Owner: {BOB}")
    expect(of_bob).to_contain_text("Private")
    expect(page.get_by_role("button", name="Pin")).to_have_count(0)


def test_an_operator_rewords_and_takes_it_back(seeded: World, visit: Visit) -> None:
    page = visit(path_of(seeded, LYON), operator=OPERATOR)
    expect(page.locator("dt:text-is('Owner') + dd")).to_have_text(f"Owner: {ALICE}")
    page.get_by_role("link", name="Edit").click()
    box = page.get_by_role("dialog")
    expect(box).to_contain_text("no longer has a speaker")
    box.get_by_role("textbox").fill("Lives in Paris")
    box.get_by_role("button", name="Save").click()
    told(page, "Saved.")
    expect(page.locator(".timeline li").first).to_contain_text(f"by the operator {OPERATOR}")
    press(page, "Undo")
    told(page, "Undone.")
    assert memory_that_says(seeded, LYON).version == 3


def test_an_operator_lowers_visibility_and_never_raises_it(seeded: World, visit: Visit) -> None:
    page = visit(f"{path_of(seeded, LYON)}/visibility", operator=OPERATOR)
    page.get_by_label("Private").check()
    gone = page.get_by_role("region", name="Could no longer see it")
    expect(gone).to_contain_text("telegram:-100")
    press(page, "Change visibility")
    told(page, "Visibility changed.")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    assert memory_that_says(seeded, LYON).visibility == "private_only"
    page.goto(f"{path_of(seeded, LYON)}/visibility")
    expect(page.get_by_role("radio")).to_have_count(1)


def test_an_operator_forgets_many_and_is_told_what_was_refused(seeded: World, visit: Visit) -> None:
    page = visit(operator=OPERATOR)
    choose(page, SURPRISE, LYON)
    press(page, "Forget")
    told(page, "2 forgotten.")
    assert person(seeded.memory, BOB).browse_count() == 1
    press(page, "Undo")
    choose(page, SURPRISE, LYON)
    page.get_by_label("Visibility of the selected memories").select_option("room")
    press(page, "Change")
    expect(page.get_by_text("Only the owner raises it")).to_be_visible()
    told(page, "Visibility changed.")
    assert memory_that_says(seeded, LYON).visibility == "room"
